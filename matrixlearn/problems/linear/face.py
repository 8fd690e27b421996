"""Facial reduction that is exact: where rows leave no positive definite X, the face that they leave, in integers.

    N = sum_j w_j A_j >= 0,  w.b = 0 over rows with b_j = 0      =>      <N, X> = 0, N X = 0, X = V W V^T,  W >= 0,

the columns of V a basis of the null space of N. N is taken as integers (floating point numbers are integers times a
power of two) and V by Gaussian elimination without rounding, so that N V = 0 exactly; that N is positive definite on a
complement is proved by a Cholesky factorization, so that N >= 0 exactly, and its null space is the span of V. A matrix
that is only nearly semidefinite has no such V, and gives no face. A reduction may show other such rows.

References
----------
Borwein and Wolkowicz (1981); Permenter and Parrilo (2018), "Partial facial reduction".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import is_complex
from matrixlearn.linalg.verified import approximate_least, is_definite
from matrixlearn.maps import CompressedMap, LinearMap
from matrixlearn.problems.linear.members import exact_matrix, lost_by_sum, two_product
from matrixlearn.problems.linear.whole import EXACT, exact_congruence, integers, null_space, whole_congruence

NEARLY = 1e-10
"""Part of its size below which an eigenvalue, or what a face leaves of a row, is looked at exactly."""


@dataclass(frozen=True, eq=False)
class Face:
    """{V W V^T : W >= 0}, and the rows that say something of W.

    Attributes
    ----------
    V : ndarray, shape (n, r)
        Whole numbers; r = 0 where X = 0 is all there is.
    rows : ndarray of int
        The rows whose V^T A_j V is not 0.
    weights : ndarray, shape (m,)
        w of the first reduction.
    contradiction : str
        Why no X is feasible: a row that reads 0 = b_j on the face; empty otherwise.
    """

    V: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    contradiction: str = ""
    tight: np.ndarray | None = None
    """The inequalities that hold with equality for every feasible X, (m,) of bool."""


def vanishes(A: np.ndarray, V: np.ndarray) -> bool:
    """Whether V^T A V = 0 exactly."""
    used = np.flatnonzero(np.any(A != 0, axis=0))
    parts = (np.real(A), np.imag(A)) if is_complex(A) else (A,)
    return not any(np.any(whole_congruence(part[np.ix_(used, used)], V[used])[0]) for part in parts)


def least_face(
    family: LinearMap, b: np.ndarray, equal: np.ndarray, multipliers: np.ndarray | None = None
) -> Face | None:
    """The face that the rows <A_j, X> = 0 (or <= 0) with a semidefinite A_j leave; None where no such row is proved.

    ``multipliers`` y, (m,) or one after the other, are tried before such rows on the whole cone, and after them on a
    face, where y_j >= 0 outside E and b.y <= 0, exactly. Where V^T A(y) V >= 0 is proved, b.y < 0 leaves no feasible X,
    and b.y = 0 makes V^T A(y) V W = 0 and every inequality with y_j > 0 an equality.
    """
    m = len(b)
    waiting = [] if multipliers is None else list(np.atleast_2d(multipliers))
    rows, current, tight = np.arange(m), family, np.zeros(m, dtype=bool)
    face: Face | None = None
    while True:
        held, found = equal[rows] | tight[rows], None
        shown = _facial(current, b[rows] == 0, held)
        given = waiting[0][rows] if waiting else np.zeros(0)
        for y in (given, shown) if face is None else (shown, given):
            known = _stage(family, rows, b, held, y, face)
            if known is not None:
                found, signs = known, y
                break
        if found is None:
            return face
        V, worth = found
        waiting = waiting[1:] if signs is given else waiting
        if worth < 0:
            why = f"A(y) >= 0 and b.y = {float(worth):.6g} < 0 are proved exactly"
            return Face(V, rows[:0], signs, why) if face is None else replace(face, contradiction=f"on the face, {why}")
        tight = tight.copy()
        tight[rows[~held & (signs > 0)]] |= signs is given
        weights = np.zeros(m) if face is None else face.weights
        if face is None:
            weights[rows] = signs
        says, why = _left(family, rows, V, b, equal | tight)
        face = Face(V, says, weights, why, tight)
        if why or V.shape[1] == 0:
            return face
        rows, current = says, CompressedMap(family.at(says), V)


def _stage(
    family: LinearMap, rows: np.ndarray, b: np.ndarray, held: np.ndarray, y: np.ndarray, face: Face | None
) -> tuple[np.ndarray, Fraction] | None:
    """(V of the face within a face, b.y) by multipliers of its rows; None where they prove none."""
    if len(y) != len(rows) or not np.any(y) or np.any(y[~held] < 0):
        return None
    worth = exact_inner(b[rows], y)
    if worth > 0:
        return None
    used = np.flatnonzero(y)
    N = _exact_sum([_exact_multiple(float(y[k]), exact_matrix(family, int(rows[k]))) for k in used])
    if N is not None and face is not None:
        N = exact_congruence(N, face.V)
    V = None if N is None else _proved_null_space(N)
    if V is not None and face is not None:
        V = _exact_product(face.V, V)
    return None if V is None else (V, worth)


def _exact_multiple(k: float, A: np.ndarray | None) -> np.ndarray | None:
    """k A, real, where it is exact in floating point, else None."""
    if A is None or (is_complex(A) and np.any(np.imag(A))):
        return None
    product, lost = two_product(np.real(A), k)
    return product if not np.any(lost) else None


def _exact_sum(matrices: list[np.ndarray | None]) -> np.ndarray | None:
    """The sum of real matrices where it is exact in floating point, else None; None of none."""
    if not matrices or matrices[0] is None:
        return None
    total = matrices[0]
    for A in matrices[1:]:
        if A is None:
            return None
        if np.any(lost_by_sum(total, A)):
            return None
        total = total + A
    return total


def _as_floats(whole: np.ndarray) -> np.ndarray | None:
    """Whole numbers over their common divisor, column by column, as floating point numbers; None beyond 2^53."""
    out = np.zeros(whole.shape)
    for k in range(whole.shape[1]):
        values = [int(value) for value in whole[:, k]]
        common = gcd(*values) or 1
        values = [value // common for value in values]
        if any(abs(value) > EXACT for value in values):
            return None
        out[:, k] = values
    return out


def _exact_product(V: np.ndarray, W: np.ndarray) -> np.ndarray | None:
    """A basis of the span of V W, exact."""
    if W.shape[1] == 0:
        return np.zeros((len(V), 0))
    return _as_floats(integers(V).dot(integers(W)))


def _proved_null_space(N: np.ndarray) -> np.ndarray | None:
    """V with N V = 0 exactly and N > 0 proved on a complement; None where that is not proved."""
    V = null_space(N)
    if V is None or (V.shape[1] == len(N) and len(N)):
        return None
    U = np.linalg.eigh(N)[1][:, V.shape[1] :]
    inside = U.T @ N @ U
    error = 4 * (len(N) + 4) * EPS * float(np.linalg.norm(N)) * float(np.linalg.norm(U)) ** 2
    return V if is_definite((inside + inside.T) / 2, error) else None


def exact_slack(family: LinearMap, C: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """A(y) - C where it is a floating point matrix computed without rounding, else None; a complex one as the real
    [[Re, -Im], [Im, Re]].
    """
    matrices = [(float(y[j]), exact_matrix(family, int(j))) for j in np.flatnonzero(y)]
    terms = [(-1.0, C), *((k, A) for k, A in matrices if A is not None)]
    if len(terms) <= len(matrices):
        return None
    real = _exact_sum([_exact_multiple(k, np.real(A)) for k, A in terms])
    if real is None or not any(np.any(np.imag(A)) for _, A in terms):
        return real
    imaginary = _exact_sum([_exact_multiple(k, np.imag(A)) for k, A in terms])
    return None if imaginary is None else np.block([[real, -imaginary], [imaginary, real]])


def is_semidefinite(N: np.ndarray) -> bool:
    """Whether N >= 0 is proved, exactly, of a matrix that may be singular."""
    return not np.any(N) or _proved_null_space(N) is not None


def _facial(family: LinearMap, candidates: np.ndarray, equal: np.ndarray) -> np.ndarray:
    """A sign times a power of two for the rows that are semidefinite but for rounding, 0 for the others, (m,)."""
    n = family.shape[1]
    sizes, traces = family.sizes, family.adjoint(np.eye(n))
    out = np.zeros(len(sizes))
    likely = candidates & (equal | (traces > 0)) & (sizes > 0) & (np.abs(traces) >= (1 - NEARLY) * sizes)
    for j in np.flatnonzero(likely):
        unit = float(np.sign(traces[j])) * 2.0 ** -int(np.frexp(sizes[j])[1])
        A = family.matrix(int(j))
        used = np.flatnonzero(np.any(A != 0, axis=0))
        if approximate_least(unit * A[np.ix_(used, used)]) >= -NEARLY:
            out[j] = unit
    return out


def exact_inner(a: np.ndarray, b: np.ndarray) -> Fraction:
    """a.b without rounding."""
    return sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)), Fraction(0))


def _left(
    family: LinearMap, rows: np.ndarray, V: np.ndarray, b: np.ndarray, equal: np.ndarray
) -> tuple[np.ndarray, str]:
    """(the rows that say something on the face, why it has no feasible X)."""
    sizes = family.sizes * float(np.linalg.norm(V)) ** 2 if V.shape[1] else family.sizes
    says: list[int] = []
    left = CompressedMap(family, V).sizes if V.shape[1] else np.zeros(len(sizes))
    for j in rows:
        A = exact_matrix(family, int(j)) if left[j] <= NEARLY * sizes[j] else None
        if A is None or not (V.shape[1] == 0 or vanishes(A, V)):
            says.append(int(j))
        elif b[j] < 0 or (equal[j] and b[j] != 0):
            return np.array(says, dtype=int), f"row {j} reads 0 {'=' if equal[j] else '<='} {b[j]:g} on the face"
    return np.array(says, dtype=int), ""
