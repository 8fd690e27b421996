"""Equalities in reduced echelon form, exactly: the same feasible set, by rows that show what they say.

[A | b] = M [Z | z] with M of full column rank: <A_j, X> = b_j for all j exactly where <Z_k, X> = z_k for all k. This
form is the one that Gaussian elimination to the end leaves, which does not depend on how the rows were mixed: rows that
others imply are gone, and a row that says "an entry is 0" stands there as such. Its lines say how the columns of
[A | b] follow from those of its pivots (`dependence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg.pivoting import pivot_order
from matrixlearn.maps import LinearMap, SparseMap, StackedMap
from matrixlearn.problems.linear.dependence import Dependence, dependence
from matrixlearn.problems.linear.members import exact_matrix, summed_products
from matrixlearn.problems.linear.whole import EXACT, without_divisor

REFINED = 3
"""How often multipliers are corrected by what they miss."""

MODERATE = 2.0**-900, 2.0**900
"""The sizes of entries."""

MOST = 6_000_000
"""The most entries of the rows."""


@dataclass(frozen=True, eq=False)
class Echelon:
    """The rows Z, z in the place of A, b.

    Attributes
    ----------
    family : LinearMap
        Z.
    right : ndarray
        z.
    M : ndarray, shape (m, k)
        A = M Z: y of the rows A gives M^T y of the rows Z.
    rounding : float
        The entries of Z and z are off by at most this part of them: 0 where they are exact.
    U : ndarray, shape (k, m), optional
        Z = U A, where that is known.
    """

    family: LinearMap
    right: np.ndarray
    M: np.ndarray
    rounding: float = 0.0
    U: np.ndarray | None = None

    def lowered(self, y: np.ndarray) -> np.ndarray:
        """M^T y."""
        return self.M.T @ y

    def lifted(self, z: np.ndarray) -> np.ndarray:
        """A y with M^T y = z, to rounding of its terms: U^T z, rounded so that M^T y is near, or the smallest, rows and
        columns of M in even units.
        """
        both = np.vstack([z, -self.M])
        if self.U is not None:
            y = summed_products(self.U, z)[0]
            missed, _ = summed_products(both, np.append(1.0, y))
            unit = np.where(y != 0, np.spacing(np.abs(y)), 0.0)
            return y + unit * whole_near(self.M.T * unit, missed) if np.any(missed) else y
        rows, columns, inverse = self._inverse
        y = np.zeros(len(rows))
        for _ in range(REFINED):
            missed, _ = summed_products(both, np.append(1.0, y))
            y = y + rows * (inverse @ (columns * missed))
        return np.asarray(y)

    @cached_property
    def _inverse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(units of the rows, of the columns, the pseudoinverse of M^T in these units)."""
        rows = one_over(np.max(np.abs(self.M), axis=1))
        columns = one_over(np.max(np.abs(self.M * rows[:, None]), axis=0))
        return rows, columns, np.linalg.pinv((self.M * rows[:, None] * columns).T)


def whole_near(B: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Whole numbers c with B c near the target, one after the other, each for what those before have left (Babai 1986);
    B of shape (k, m), 0 for columns that depend on others.
    """
    out, used = np.zeros(B.shape[1]), pivot_order(B)[: len(B)]
    Q, R = np.linalg.qr(B[:, used])
    left = Q.T @ target
    for j in reversed(np.flatnonzero(np.abs(np.diagonal(R)) > EPS * np.linalg.norm(R))):
        out[used[j]] = np.rint(left[j] / R[j, j])
        left = left - out[used[j]] * R[:, j]
    return out


def one_over(sizes: np.ndarray) -> np.ndarray:
    """Powers of two about 1 / sizes, 1 for 0."""
    return np.asarray(np.ldexp(1.0, -np.frexp(np.where(sizes > 0, sizes, 0.5))[1]))


@dataclass(frozen=True, eq=False)
class Replaced:
    """Rows whose equalities stand in echelon form, after the others.

    Attributes
    ----------
    equal : ndarray of bool, shape (m,)
        Which of the rows before were equalities.
    by : Echelon
        What stands for them.
    """

    equal: np.ndarray
    by: Echelon

    def rows(self, family: LinearMap, right: np.ndarray) -> tuple[LinearMap, np.ndarray, np.ndarray]:
        """(family, right, equal) of the rows after."""
        others, k = np.flatnonzero(~self.equal), len(self.by.right)
        after = StackedMap(family.at(others), self.by.family) if len(others) else self.by.family
        equal = np.append(np.zeros(len(others), dtype=bool), np.ones(k, dtype=bool))
        return after, np.append(right[others], self.by.right), equal

    def lowered(self, y: np.ndarray) -> np.ndarray:
        """Multipliers of the rows after, from those before."""
        return np.append(y[~self.equal], self.by.lowered(y[self.equal]))

    def lifted(self, y: np.ndarray) -> np.ndarray:
        """Multipliers of the rows before, from those after; a trace bound as one row more is none of them."""
        out = np.zeros(len(self.equal))
        others, k = int(np.count_nonzero(~self.equal)), len(self.by.right)
        out[~self.equal], out[self.equal] = y[:others], self.by.lifted(y[others : others + k])
        return out


def entries_of(family: LinearMap) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(the entries on and above the diagonal that any member has, (m, N), their rows, their columns).

    None where they are complex or too many.
    """
    m, n = family.shape
    if isinstance(family, SparseMap):
        if np.iscomplexobj(family.rows.data):
            return None
        places = np.unique(family.rows.indices)
        i, k = places // n, places % n
        upper = i <= k
        if m * int(upper.sum()) > MOST:
            return None
        return family.rows[:, places[upper]].toarray(), i[upper], k[upper]
    i, k = np.triu_indices(n)
    if m * len(i) > MOST:
        return None
    parts = [exact_matrix(family, j) for j in range(m)]
    known = [A for A in parts if A is not None]
    if not 0 < len(known) == m or any(np.iscomplexobj(A) for A in known):
        return None
    rows = np.stack(known)
    return rows[:, i, k], i, k


def echelon(family: LinearMap, right: np.ndarray) -> Echelon | None:
    """The reduced echelon form of equalities; None where they contradict each other, or where it takes too much."""
    known = entries_of(family)
    if known is None:
        return None
    rows, i, k = known
    units = np.max(np.abs(rows), axis=1)
    if not np.all(units > 0):
        return None
    columns = np.vstack([rows.T, right])
    scaled = columns * one_over(units)
    if not (_is_moderate(columns) and _is_moderate(scaled)):
        return None
    found = dependence(scaled, last=1)
    if found is None or len(columns) - 1 in found.kept:  # 0 = 1 follows
        return None
    whole = _whole_lines(found, len(columns))
    if whole is None:
        return None
    lead = whole[np.arange(len(whole)), found.kept]
    return Echelon(symmetric(whole[:, :-1], i, k, family.shape[1]), whole[:, -1], rows[:, found.kept] / lead)


def _whole_lines(found: Dependence, columns: int) -> np.ndarray | None:
    """Line k is 0 in the columns that are kept but the kth, and says what the others have of it, in numbers that are
    whole but for powers of two; None where these have more digits than floating point.
    """
    common = lcm(*map(int, found.denominators))
    lines = np.zeros((len(found.kept), columns), dtype=object)
    lines[np.arange(len(lines)), found.kept] = common
    lines[:, found.dropped] = (found.numerators * (common // found.denominators)[:, None]).T
    lines = np.array([without_divisor(line) for line in lines])
    if max(abs(int(value)) for line in lines for value in line if value) > EXACT:
        return None
    out = np.ldexp(lines.astype(float), found.exponents - found.exponents[found.kept][:, None])
    return out if _is_moderate(out) and np.array_equal(out != 0, lines != 0) else None


def _is_moderate(A: np.ndarray) -> bool:
    """Whether powers of two take no digit from an entry: none that is not 0 is near the ends of floating point."""
    sizes = np.abs(A[A != 0])
    return bool(np.all((sizes > MODERATE[0]) & (sizes < MODERATE[1])))


def symmetric(rows: np.ndarray, i: np.ndarray, k: np.ndarray, n: int) -> SparseMap:
    """The symmetric matrices of these entries."""
    import scipy.sparse as sp

    off = i != k
    data = np.concatenate([rows, rows[:, off]], axis=1)
    place = np.concatenate([i * n + k, (k * n + i)[off]])
    members, which = np.nonzero(data)
    return SparseMap(sp.csr_array((data[members, which], (members, place[which])), shape=(len(rows), n * n)), n)
