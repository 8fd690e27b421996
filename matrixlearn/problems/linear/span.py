"""Lower bounds from a matrix without full rank: on the subspace that it spans, in whole numbers.

    X = V W V^T,  W > 0,   <V^T A_j V, W> = b_j (j in E),  <= b_j outside      =>      X is feasible,  v >= <C, X>

for any V at all, so that V needs no proof. Where no X is positive definite, no W is, and an interior-point method ends
near a matrix of lower rank: V is its range, each entry of its reduced echelon form rounded to a fraction. The V^T A_j V
are computed without rounding. Rows that X meets to rounding count as equalities; those that follow from others, as many
do on a subspace, are dropped, exactly. What `Proof.lower` then proves of W is proved of V W V^T.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import cholesky, frobenius, inner, sym
from matrixlearn.linalg.pivoting import pivot_order
from matrixlearn.linalg.verified import INF
from matrixlearn.maps import CompressedMap, DenseMap
from matrixlearn.problems.linear.dependence import dependence
from matrixlearn.problems.linear.members import exact_matrix
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.whole import EXACT, exact_congruence

GAP = 1e5
"""How far apart the eigenvalues of the range and the others must be."""

NOISE = 1e-13
"""Part of the largest eigenvalue that counts as 0."""

LARGEST = 120
"""The order up to which X is looked at."""

MOST = 2_000_000
"""The most entries of the V^T A_j V."""

NEAR = 1e-5
"""Part of their terms that equalities may be missed by."""

ACTIVE = (1e-6, 1e-12, 1e-14, 0.0)
"""Parts of its terms below which the slack of an inequality counts as none, in the order in which they are tried."""

DENOMINATOR = 64
"""The largest denominator of an entry, but for a power of two."""

LOST = 1e-10
"""Part of its size by which a lower bound may be below the objective before a better proof is looked for."""

ROUNDING = 1e-12
"""Part of ||C|| ||X|| that a negative lower bound may be and count as 0 but for rounding."""

SMALL = 40
"""The order up to which digits that a bound has lost, and numbers of few digits, are looked for."""


@dataclass(frozen=True)
class Feasible:
    """A matrix near X that is feasible, proved.

    Attributes
    ----------
    point : ndarray, shape (n, n)
        X, or V W V^T.
    lower, size : float
        What it proves, and what that adds up to.
    delta : float
        How far from ``point`` the feasible matrix may be, in the Frobenius norm.
    equal : ndarray of bool, shape (m,)
        The rows that it meets with equality.
    singular : bool
        Whether the range of X proves it, and X itself less.
    """

    point: np.ndarray
    lower: float
    size: float
    delta: float
    equal: np.ndarray
    singular: bool = True


def feasible(proof: Proof, X: np.ndarray) -> Feasible | None:
    """The matrix that X proves, or that its range does where that proves more; None where neither proves any."""
    lower, size = proof.lower(X)
    found = spanned(proof, X) if _loses(proof, X, lower, size) else None
    if lower == -INF or (found is not None and found.lower > lower):
        return found
    return Feasible(X, lower, size, proof.margin(X).delta, proof.equal, singular=False)


def _loses(proof: Proof, X: np.ndarray, lower: float, size: float) -> bool:
    """Whether the bound of X is missing, or less than <C, X> by more than rounding, or 0 but for rounding."""
    if lower == -INF or -ROUNDING * proof.cost_size * frobenius(X) < lower < 0:
        return True
    return len(X) <= SMALL and inner(proof.C, X) - lower > LOST * max(abs(lower), size)


def spanned(proof: Proof, X: np.ndarray) -> Feasible | None:
    """What the range of X proves; None where it proves nothing."""
    if len(X) > LARGEST or isinstance(proof.family, CompressedMap) or not np.any(X):
        return None
    missed = np.abs(proof.b - proof.family.adjoint(X))
    terms = np.abs(proof.b) + proof.family.sizes * float(np.linalg.norm(X))
    if np.any(proof.equal & (missed > NEAR * terms)):
        return None
    V = whole_range(X)
    if V is None:
        return None
    actives = {(proof.equal | (missed <= part * terms)).tobytes(): part for part in ACTIVE}
    found = (within(proof, X, V, proof.equal | (missed <= part * terms)) for part in actives.values())
    return next((each for each in found if each is not None), None)


def within(proof: Proof, X: np.ndarray, V: np.ndarray, equal: np.ndarray) -> Feasible | None:
    """What the matrix next to X in {V W V^T} proves that meets the rows ``equal`` with equality; None for nothing."""
    n = len(X)
    if len(proof.b) * V.shape[1] ** 2 > MOST:
        return None
    key = V.tobytes() + equal.tobytes()
    if key not in proof.restricted:
        proof.restricted[key] = _restricted(proof, equal, V)
    inside = proof.restricted[key]
    if inside is None:
        return None
    V = as_real(V)
    back = np.linalg.pinv(V)
    W = inside.on_the_rows(sym(back @ as_real(X) @ back.T))
    lower, _ = inside.lower(W)
    if not lower > -INF:
        return None
    factor = cholesky(W)  # a product of it has no negative eigenvalue beyond its own rounding
    point = sym(V @ W @ V.T) if factor is None else sym((V @ factor) @ (V @ factor).T)
    if len(point) > n:  # the mean of W and of what multiplication by i makes of it is as good
        point = (point[:n, :n] + point[n:, n:]) / 2 + 0.5j * (point[n:, :n] - point[:n, n:])
    rounding = 4 * (len(V) + 4) * EPS * float(np.trace(W))
    delta = float(np.linalg.norm(V)) ** 2 * (inside.margin(W).delta + rounding)
    return Feasible(point, lower, proof.terms(point), delta, equal)


def as_real(A: np.ndarray) -> np.ndarray:
    """[[Re A, -Im A], [Im A, Re A]] of a complex A, A of a real one."""
    return np.block([[A.real, -A.imag], [A.imag, A.real]]) if np.iscomplexobj(A) else A


def whole_range(X: np.ndarray) -> np.ndarray | None:
    """The first of `whole_ranges`; None where there is none."""
    return next(whole_ranges(X), None)


def whole_ranges(X: np.ndarray, gaps: tuple[float, int] = (GAP, 1)) -> Iterator[np.ndarray]:
    """V, whole numbers times powers of two, whose span is that of the eigenvectors of X that count: I, where all do.

    One for each gap between eigenvalues, of a ratio and a number as ``gaps`` says, the widest first; none for one whose
    V has no small fractions.
    """
    w, U = np.linalg.eigh(X)
    if not w[-1] > 0:
        return
    least, most = gaps
    floors = np.maximum(w[:-1], NOISE * w[-1])
    ratios = np.append(w[0] / (NOISE * w[-1]), w[1:] / floors)
    widest = np.argsort(-ratios, kind="stable")[:most]
    for at in (int(k) for k in widest if k == widest[0] == 0 or (k > 0 and ratios[k] >= least)):
        V = np.eye(len(w), dtype=X.dtype) if at == 0 else _whole_basis(U[:, at:], float(ratios[at]))
        if V is not None:
            yield V


def _whole_basis(U: np.ndarray, ratio: float) -> np.ndarray | None:
    """The reduced echelon form of a span, each entry the simplest fraction near; None where that is not exact."""
    n = len(U)
    noise = min(10 * ratio**-0.5, 1e-2)  # |X_ij| <= sqrt(w_i w_j) between the range and the others
    pivots = np.sort(pivot_order(U.T)[: U.shape[1]])
    form = np.linalg.solve(U[pivots].T, U.T)
    parts = (form.real, form.imag) if np.iscomplexobj(form) else (form,)
    top, odd, shift = _fractions(np.concatenate(parts, axis=1), noise)
    V = np.zeros((n, len(form)), dtype=U.dtype)
    for column in range(len(form)):
        common = lcm(*set(odd[column].tolist()))
        if DENOMINATOR * common > EXACT:
            return None
        whole = np.ldexp(top[column] * (common // odd[column]), shift[column])
        V[:, column] = whole[:n] if len(parts) == 1 else whole[:n] + 1j * whole[n:]
    return V


def _fractions(values: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(p, q, e): p 2^e / q, q odd, is a power of two times the simplest fraction near a number, 0 where it is noise."""
    mantissa, exponent = np.frexp(np.where(np.abs(values) <= noise, 0.0, values))
    top, bottom = np.rint(mantissa), np.ones(values.shape, dtype=int)
    apart = np.abs(mantissa - top)
    for q in range(2, DENOMINATOR + 1):
        p = np.rint(q * mantissa)
        nearer = np.abs(mantissa - p / q) < apart
        top, bottom = np.where(nearer, p, top), np.where(nearer, q, bottom)
        apart = np.where(nearer, np.abs(mantissa - p / q), apart)
    two = bottom & -bottom
    return top, bottom // two, exponent - np.frexp(two)[1] + 1


def _restricted(proof: Proof, equal: np.ndarray, V: np.ndarray) -> Proof | None:
    """The program of W, real; None where a row has digits beyond floating point, or contradicts the others."""
    half = 0.5 if np.iscomplexobj(V) else 1.0  # Tr of the real form is twice the trace
    V = as_real(V)
    parts: list[np.ndarray] = []
    for A in (proof.C, *(exact_matrix(proof.family, j) for j in range(len(proof.b)))):
        if A is None:
            return None
        real = as_real(A.astype(complex)) if half < 1 else A
        part = exact_congruence(half * real, V)
        if part is None:
            return None
        parts.append(part)
    rows = np.stack(parts[1:])
    kept = independent(rows.reshape(len(rows), -1), proof.b, equal)
    if kept is None:
        return None
    error = proof.cost_error * float(np.linalg.norm(V)) ** 2
    if not len(kept):  # a program has a row, be it <0, W> <= 1
        return Proof(parts[0], DenseMap(np.zeros((1, *parts[0].shape))), np.ones(1), np.zeros(1, dtype=bool), error)
    return Proof(parts[0], DenseMap(rows[kept]), proof.b[kept], equal[kept], error)


def independent(rows: np.ndarray, right: np.ndarray, equal: np.ndarray) -> np.ndarray | None:
    """The rows that say something: all inequalities but 0 <= b_j, and equalities that imply the others, exactly.

    None where they contradict each other, or where it takes too much work.
    """
    says = np.any(rows != 0, axis=1)
    if np.any(right[~says] < 0) or np.any(right[~says & equal] != 0):
        return None
    those = np.flatnonzero(equal & says)
    if not len(those):
        return np.flatnonzero(says)
    found = dependence(np.column_stack([rows, right])[those])
    if found is None or rows.shape[1] in found.places:  # 0 = 1 follows
        return None
    return np.sort(np.append(np.flatnonzero(says & ~equal), those[found.kept]))
