"""Whole-number combinations of rows that are short: what rows say that depend on each other nearly.

    Z = U A,   A = M Z,   M of full column rank,      Z_k apart from the span of Z_1, ..., Z_{k-1} by a part of ||Z_k||

The rows A and A + e B of floating point numbers span the same lattice as A and e B, and the difference is exact.
Lattice reduction finds such combinations however rows were mixed. Combinations that shorten nothing are left alone, so
that digits do not grow. Orthogonalization is in floating point, and only guides what is done in whole numbers.

References
----------
Lenstra, Lenstra and Lovasz (1982), "Factoring polynomials with rational coefficients".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.maps import LinearMap
from matrixlearn.problems.linear.echelon import Echelon, entries_of, one_over, symmetric
from matrixlearn.problems.linear.whole import EXACT, odd_part, whole_numbers

SHORTER = 0.7
"""Times its length, that a row must come down to where multiples of others are taken off."""

LOVASZ = 0.5
"""Part of the square of the distance of the row before, below which the distance of a row makes the two change."""

WORK = 1_000_000
"""The most products of whole numbers in a round over all rows."""

STEPS = 100
"""For each row, on average."""


def shortened(family: LinearMap, right: np.ndarray) -> Echelon | None:
    """Short rows Z, z that say what the equalities <A_j, X> = b_j say; None where none of these gets shorter, where
    they contradict each other, and where it takes too much.
    """
    known = entries_of(family)
    if known is None or len(right) ** 2 * known[0].shape[1] > WORK:
        return None
    rows, i, k = known
    units = one_over(np.max(np.abs(rows), axis=1, initial=0.0))
    used = np.append(np.any(rows != 0, axis=0), True)
    whole, e = whole_numbers(np.column_stack([rows, right])[:, used] * units[:, None])
    lattice = Lattice.of(whole)
    if not lattice.is_reduced():
        return None
    powers = np.array([max(abs(int(value)) for value in row[:-1]).bit_length() for row in lattice.rows])
    out = np.zeros((len(powers), len(used)))
    out[:, used] = [[int(value) / 2**p for value in row] for row, p in zip(lattice.rows, powers.tolist(), strict=True)]
    digits = max(odd_part(int(value)) for part in (lattice.rows, lattice.M) for value in part.reshape(-1))
    return Echelon(
        symmetric(out[:, :-1], i, k, family.shape[1]),
        out[:, -1],
        np.ldexp(lattice.M.astype(float), powers + e) / units[:, None],
        0.0 if digits <= EXACT else EPS,
        np.ldexp(lattice.U.astype(float), -(powers + e)[:, None]) * units,
    )


@dataclass(eq=False)
class Lattice:
    """Rows Z with their right sides, (k, N + 1), and M and U; whole numbers of Python."""

    rows: np.ndarray
    M: np.ndarray
    U: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> Lattice:
        """The rows as they are."""
        eye = np.array([[int(i == j) for j in range(len(rows))] for i in range(len(rows))], dtype=object)
        return cls(rows.copy(), eye, eye.copy())

    def is_reduced(self) -> bool:
        """Reduce; whether that ends, has shortened a row, and leaves no row 0 = z with z other than 0."""
        m, k, shorter = len(self.rows), 0, False
        largest = max((abs(int(value)) for value in self.rows[:, :-1].reshape(-1)), default=0) or 1
        for _ in range(STEPS * m):
            if k == len(self.rows):
                return shorter
            row = self.rows[k]
            if not np.any(row[:-1]):
                if row[-1]:
                    return False
                self._drop(k)
                continue
            before, here = _over(self.rows[:k, :-1], largest), _over(row[:-1], largest)
            times, distance, previous = _projected(here, before)
            if np.any(times):
                left = row - times.dot(self.rows[:k])
                if np.linalg.norm(_over(left[:-1], largest)) < SHORTER * np.linalg.norm(here):
                    self._subtract(k, times)
                    shorter = True
                    continue
            if k and distance**2 < LOVASZ * previous**2:
                times[:-1] = 0
                self._subtract(k, times)
                self._swap(k)
                k -= 1
            else:
                k += 1
        return False

    def _subtract(self, k: int, times: np.ndarray) -> None:
        """Z_k less a whole multiple of each row before it."""
        for j in np.flatnonzero(times):
            self.rows[k] = self.rows[k] - times[j] * self.rows[j]
            self.U[k] = self.U[k] - times[j] * self.U[j]
            self.M[:, j] = self.M[:, j] + times[j] * self.M[:, k]

    def _swap(self, k: int) -> None:
        """Z_k and Z_{k-1} in the other order."""
        order = np.arange(len(self.rows))
        order[[k - 1, k]] = k, k - 1
        self.rows, self.U, self.M = self.rows[order], self.U[order], self.M[:, order]

    def _drop(self, k: int) -> None:
        """Take Z_k = 0 away."""
        self.rows, self.U = np.delete(self.rows, k, axis=0), np.delete(self.U, k, axis=0)
        self.M = np.delete(self.M, k, axis=1)


def _over(whole: np.ndarray, largest: int) -> np.ndarray:
    """Whole numbers as parts of the largest."""
    return np.array([int(value) / largest for value in whole.reshape(-1)]).reshape(whole.shape)


def _projected(here: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(whole multiples of the rows before that bring a row nearest to 0, one after the other; its distance from their
    span; that of the last of them from the span of the others).
    """
    k = len(before)
    times = np.array([0] * k, dtype=object)
    if not k:
        return times, float(np.linalg.norm(here)), 0.0
    Q, R = np.linalg.qr(before.T)
    part = Q.T @ here
    apart = here - Q @ part
    distance = float(np.linalg.norm(apart - Q @ (Q.T @ apart)))
    for j in reversed(range(k)):
        times[j] = round(float(part[j] / R[j, j]))
        part[: j + 1] -= float(times[j]) * R[: j + 1, j]
    return times, distance, abs(float(R[-1, -1]))
