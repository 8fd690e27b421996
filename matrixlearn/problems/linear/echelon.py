"""Equalities in reduced echelon form, exactly: the same feasible set, by rows that show what they say.

[A | b] = M [Z | z] with M of full column rank: <A_j, X> = b_j for all j exactly where <Z_k, X> = z_k for all k. This
form is the one that Gaussian elimination to the end leaves, which does not depend on how the rows were mixed: rows that
others imply are gone, and a row that says "an entry is 0" stands there as such. It is computed in floating point and
rounded to fractions of small denominators. The product is compared in whole numbers; where they differ, there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg._lapack import lapack
from matrixlearn.linalg.pivoting import pivot_order
from matrixlearn.linalg.verified import least_singular_value
from matrixlearn.maps import LinearMap, SparseMap, StackedMap
from matrixlearn.problems.linear.members import exact_matrix, summed_products
from matrixlearn.problems.linear.whole import EXACT, integers, reduced_echelon

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 60, 120, 720, 5040)
"""Tried in turn, for a row at a time."""

NEAR = 1e-7
"""How near to a fraction a number of the echelon form must be."""

WORK = 1_000_000
"""The most operations on whole numbers that an elimination may take."""

REFINED = 3
"""How often multipliers are corrected by what they miss."""

MOST = 3_000_000
"""The most entries of the rows, and products of whole numbers over ten."""


@dataclass(frozen=True, eq=False)
class Echelon:
    """The rows Z, z in the place of A, b.

    Attributes
    ----------
    family : SparseMap
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

    family: SparseMap
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
            unit = np.where(y != 0, np.spacing(np.abs(y)), 0.0)
            return np.asarray(y + unit * whole_near(self.M.T * unit, summed_products(both, np.append(1.0, y))[0]))
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
    return np.asarray(np.ldexp(1.0, -np.frexp(np.where(sizes > 0, sizes, 1.0))[1]))


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
    """The reduced echelon form of equalities, proved; None where none is."""
    known = entries_of(family)
    if known is None:
        return None
    rows, i, k = known
    units = np.max(np.abs(rows), axis=1)
    if not np.all(units > 0):
        return None
    whole = np.column_stack([rows, right])
    for form in (_rounded_form, _eliminated_form):
        found = form(whole, units)
        if found is None:
            continue
        at, out = found
        M, lead = rows[:, at], out[np.arange(len(out)), at]
        if np.all(lead != 0) and np.max(np.abs(out)) <= EXACT and _is_product(whole, M, out, lead):
            return Echelon(symmetric(out[:, :-1], i, k, family.shape[1]), out[:, -1], M / lead)
    return None


def _rounded_form(whole: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(the pivots, the lines in whole numbers), computed in floating point and rounded; M of full rank is proved."""
    rows = whole[:, :-1]
    scaled = rows / units[:, None]
    factored, pivots, *_ = lapack().dgeqp3(np.asfortranarray(scaled))
    size = np.abs(np.diagonal(np.triu(factored[: min(scaled.shape)])))
    rank = int(np.sum(size > 1e-9 * size[0])) if len(size) else 0
    if rank == 0:
        return None
    at = np.sort(pivots[:rank] - 1)
    gram = scaled[:, at].T @ scaled[:, at]
    error = 4 * (len(scaled) + 4) * np.finfo(float).eps * float(np.trace(gram))
    if not least_singular_value((gram + gram.T) / 2, error) > 0:  # else lines may say more than the rows
        return None
    form = np.linalg.lstsq(scaled[:, at], whole / units[:, None], rcond=None)[0]
    out = np.zeros_like(form)
    for row in range(rank):
        for q in DENOMINATORS:
            nearest = np.rint(q * form[row])
            if np.max(np.abs(q * form[row] - nearest)) <= NEAR * q * max(1.0, float(np.max(np.abs(form[row])))):
                out[row] = nearest
                break
        else:
            return None
    return at, out


def _eliminated_form(whole: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The same by elimination in whole numbers: lines that are combinations of the rows, however rows were mixed."""
    used = np.flatnonzero(np.append(np.any(whole[:, :-1] != 0, axis=0), True))  # the right side among them
    if len(whole) ** 2 * len(used) > WORK:
        return None
    pivots, lines, _ = reduced_echelon(integers(row) for row in whole[:, used])
    if len(used) - 1 in pivots:  # 0 = 1 follows
        return None
    out = np.zeros((len(lines), whole.shape[1]))
    for k, line in enumerate(lines):
        if max(abs(int(value)) for value in line) > EXACT:
            return None
        out[k, used] = [float(value) for value in line]
    return used[pivots], out


def _is_product(whole: np.ndarray, M: np.ndarray, out: np.ndarray, lead: np.ndarray) -> bool:
    """Whether whole_j = sum_k M_jk out_k / lead_k, exactly.

    In floating point where all sums are whole numbers below 2^53, else in Python's integers.
    """
    common = float(np.lcm.reduce(np.abs(lead).astype(np.int64)))
    weights = common / lead
    if np.array_equal(whole, np.rint(whole)) and np.array_equal(weights, np.rint(weights)):
        left = M * weights
        if float(np.max(np.abs(left) @ np.abs(out))) < EXACT and float(np.max(np.abs(whole))) * common < EXACT:
            return bool(np.array_equal(left @ out, whole * common))
    if M.size * out.shape[1] > 10 * MOST:
        return False
    both = integers(np.column_stack([M, whole]))
    left, right = both[:, : M.shape[1]], both[:, M.shape[1] :]
    times = np.array([int(w) for w in np.rint(weights)], dtype=object)
    if any(int(t) * int(v) != int(common) for t, v in zip(times, lead, strict=True)):
        return False
    rows = np.array([[int(v) for v in row] for row in out], dtype=object)
    return bool(np.array_equal((left * times).dot(rows), right * int(common)))


def symmetric(rows: np.ndarray, i: np.ndarray, k: np.ndarray, n: int) -> SparseMap:
    """The symmetric matrices of these entries."""
    import scipy.sparse as sp

    off = i != k
    data = np.concatenate([rows, rows[:, off]], axis=1)
    place = np.concatenate([i * n + k, (k * n + i)[off]])
    members, which = np.nonzero(data)
    return SparseMap(sp.csr_array((data[members, which], (members, place[which])), shape=(len(rows), n * n)), n)
