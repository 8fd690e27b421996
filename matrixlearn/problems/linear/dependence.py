"""Which rows of whole numbers follow from others, and how, without rounding.

    q_i A_i = sum over k in K of N_ik A_k,      i not in K,     q, N whole, the A_k (k in K) independent

K is found by elimination modulo a prime p, the rows in the order in which they are independent numerically, and with
it S^{-1} mod p of a square part S of A_K. The weights solve w S = a, a the same columns of A_i: their digits in base p
come one after the other (Dixon 1982), and fractions are read off as soon as there are digits enough. What they say of
all columns is then proved modulo so many primes that their product exceeds twice what the two sides can differ by. All
of that is products of floating point numbers that are whole and below 2^53: a second for 500 rows of 1,300 entries.

References
----------
Dixon (1982), "Exact solution of linear equations using p-adic expansions".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from math import isqrt

import numpy as np

from matrixlearn.linalg.pivoting import pivot_order
from matrixlearn.problems.linear.whole import EXACT, last_bit, odd_part

PRIMES = (1048573, 1048571, 1048559, 1048549, 1048517, 1048507, 1048447, 1048433, 1048423, 1048391, 1048387, 1048367)
"""The primes below 2^20: sums of 2^13 products of remainders are below 2^53."""

LONGEST = 2**13
"""More rows than are taken."""

BLOCK = 32
"""Rows that are eliminated together."""

FIRST = 8
"""Rows that are tried first: where data are decimals, the weights have more digits than are looked for."""

DIGITS = 24
"""The most digits in base p."""

LARGEST = 2.0**900
"""The largest whole number."""

WORK = 2_000_000
"""The most products of Python's whole numbers, where floating point has not enough digits."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """The rows A = W 2^e, W whole.

    Attributes
    ----------
    kept, dropped : ndarray of int
        The rows that are independent, and those that follow from them.
    places : ndarray of int
        As many columns in which the former are independent, too: the first ones.
    numerators : ndarray of int, shape (len(dropped), len(kept))
    denominators : ndarray of int, shape (len(dropped),)
        q_i W_i = sum_k N_ik W_k; Python's whole numbers.
    exponents : ndarray of int
        e, for each row.
    """

    kept: np.ndarray
    dropped: np.ndarray
    places: np.ndarray
    numerators: np.ndarray
    denominators: np.ndarray
    exponents: np.ndarray

    def weights(self) -> np.ndarray:
        """M with A_dropped = M A_kept, to rounding."""
        e = self.exponents
        quotients = np.array(self.numerators / self.denominators[:, None], dtype=float).reshape(self.numerators.shape)
        return np.ldexp(quotients, e[self.dropped][:, None] - e[self.kept])

    def null_vectors(self) -> np.ndarray | None:
        """(m, len(dropped)): a basis of {z : sum_j z_j A_j = 0}; None where it has more digits than floating point."""
        e, whole = self.exponents, self.numerators
        out = np.zeros((len(e), len(self.dropped)))
        if any(odd_part(int(k)) > EXACT for k in (*whole.reshape(-1), *self.denominators)):
            return None
        out[self.kept] = np.ldexp(-whole.astype(float).T, -e[self.kept][:, None])
        out[self.dropped, np.arange(len(self.dropped))] = np.ldexp(self.denominators.astype(float), -e[self.dropped])
        return out


def dependence(rows: np.ndarray, last: int = 0) -> Dependence | None:
    """What the rows, (m, N), have to do with each other; None where it takes too much. So many rows at the end are kept
    only where they do not follow from those before.
    """
    m = len(rows)
    if not 0 < m < LONGEST:
        return None
    exponents = np.array([last_bit(row) for row in rows])
    with np.errstate(over="ignore"):  # what is too large is left alone
        whole = np.ldexp(rows, -exponents[:, None])
    sizes = np.abs(whole).max(axis=1)
    if not np.all(sizes < LARGEST):
        return None
    first = (whole / np.where(sizes > 0, sizes, 1.0)[:, None])[: m - last]
    order = np.append(pivot_order(first.T), np.arange(m - last, m))
    found = (_by_digits(whole, order, exponents, p) for p in PRIMES[:2])  # one may divide a minor
    return next((each for each in found if each is not None), None)


def _by_digits(whole: np.ndarray, order: np.ndarray, exponents: np.ndarray, p: int) -> Dependence | None:
    """What rows of whole numbers have to do with each other, by digits in base p."""
    pivots, places, _ = _eliminated(np.remainder(whole[order], p), p)
    kept = order[pivots]
    dropped, S = np.setdiff1d(np.arange(len(whole)), kept), whole[kept][:, places]
    inverse = _inverse(np.remainder(S, p), p)

    def proved(those: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        candidates = _weights(S, whole[those][:, places], inverse, p)
        return next((pair for pair in candidates if _follow(whole[kept], whole[those], *pair)), None)

    few = dropped[:FIRST]
    found = proved(dropped) if len(few) == len(dropped) or proved(few) is not None else None
    return None if found is None else Dependence(kept, dropped, places, *found, exponents)


def _eliminated(rows: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(rows that are independent mod p, the first columns in which they are, their reduced echelon form mod p), of
    remainders.
    """
    form, places, pivots = np.zeros((0, rows.shape[1])), list[int](), list[int]()
    for start in range(0, len(rows), BLOCK):
        if len(places) == rows.shape[1]:
            break
        block = rows[start : start + BLOCK]
        block = np.remainder(block - np.remainder(block[:, places] @ form, p), p)
        new, at = list[int](), list[int]()
        for i in range(len(block)):
            nonzero = np.flatnonzero(block[i])
            if len(nonzero) == 0:
                continue
            new.append(i)
            at.append(int(nonzero[0]))
            block[i] = np.remainder(block[i] * pow(int(block[i, at[-1]]), -1, p), p)
            times = block[:, at[-1]].copy()
            times[i] = 0.0
            used = np.flatnonzero(times)
            block[used] = np.remainder(block[used] - np.outer(times[used], block[i]), p)
        if new:
            form = np.remainder(form - np.remainder(form[:, at] @ block[new], p), p)
            form = np.vstack([form, block[new]])
            places += at
            pivots += [start + i for i in new]
    return np.array(pivots, dtype=int), np.array(places, dtype=int), form


def _inverse(S: np.ndarray, p: int) -> np.ndarray:
    """The inverse mod p of a square matrix that has one."""
    r = len(S)
    _, places, form = _eliminated(np.hstack([S, np.eye(r)]), p)
    out = np.zeros((r, r))
    out[places] = form[:, r:]
    return out


def _weights(S: np.ndarray, a: np.ndarray, inverse: np.ndarray, p: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Candidates (N, q) for N_i / q_i = a_i S^{-1}: the fractions that 1, 2, 4, ... digits in base p suggest, and whole
    numbers where the digits end.
    """
    if a.size == 0:
        yield np.zeros(a.shape, dtype=object), np.ones(len(a), dtype=object)
        return
    left, total, power = a, np.zeros(a.shape, dtype=object), 1
    most = len(S) * float(np.abs(S).max()) * p
    for k in range(1, DIGITS + 1):
        x = np.remainder(np.remainder(left, p).astype(float) @ inverse, p)
        x = np.where(x > p // 2, x - p, x)
        if most + float(np.abs(left).max()) < EXACT:
            left = (left - x @ S) / p
        elif k * a.size * len(S) > WORK:
            return
        else:
            left = (_integers(left) - _integers(x).dot(_integers(S))) // p
        total, power = total + _integers(x) * power, power * p
        if not np.any(left):
            yield total, np.ones(len(a), dtype=object)
            return
        if k & (k - 1) == 0 or k == DIGITS:
            read = [row for row in takewhile(bool, (_fractions(row, power) for row in total)) if row is not None]
            if len(read) == len(total):
                yield np.array([N for N, _ in read], dtype=object), np.array([q for _, q in read], dtype=object)


def _integers(A: np.ndarray) -> np.ndarray:
    """Whole floating point numbers as Python's."""
    return A if A.dtype == object else np.array([int(k) for k in A.reshape(-1).tolist()], dtype=object).reshape(A.shape)


def _fractions(residues: np.ndarray, power: int) -> tuple[list[int], int] | None:
    """(N, q) with N = q residues mod ``power``, all at most (power / 2)^1/2; None where there are none."""
    most, q = isqrt(power // 2), 1
    for residue in residues.tolist():
        value = _around_zero(residue * q, power)
        if abs(value) > most:  # Euclid's algorithm, stopped half way
            (before, above), (value, below) = (power, 0), (value % power, 1)
            while value > most:
                times = before // value
                (before, above), (value, below) = (value, below), (before - times * value, above - times * below)
            q *= abs(below)
            if q > most:
                return None
    N = [_around_zero(residue * q, power) for residue in residues.tolist()]
    return (N, q) if max(map(abs, N)) <= most else None


def _around_zero(value: int, power: int) -> int:
    """The number of least size that is the same mod ``power``."""
    value %= power
    return value - power if value > power // 2 else value


def _follow(kept: np.ndarray, dropped: np.ndarray, N: np.ndarray, q: np.ndarray) -> bool:
    """Whether q_i dropped_i = sum_k N_ik kept_k, exactly."""
    if N.size == 0:
        return not np.any(dropped)
    most = len(kept) * int(np.abs(N).max()) * int(np.abs(kept).max()) + int(q.max()) * int(np.abs(dropped).max())
    product = 1
    for p in PRIMES:
        left = np.remainder(np.remainder(N, p).astype(float) @ np.remainder(kept, p), p)
        right = np.remainder(np.remainder(q, p).astype(float)[:, None] * np.remainder(dropped, p), p)
        if not np.array_equal(left, right):
            return False
        product *= p
        if product > 2 * most:
            return True
    return False
