"""A program on its face in fewer numbers: without rows that follow from others, or columns that nothing reads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matrixlearn.linalg import cholesky, is_complex
from matrixlearn.maps import CompressedMap, DenseMap, LinearMap, RankOneMap, SparseMap
from matrixlearn.problems.linear.dependence import dependence
from matrixlearn.problems.linear.echelon import Echelon, Replaced, entries_of
from matrixlearn.problems.linear.face import Face
from matrixlearn.problems.linear.members import exact_matrix
from matrixlearn.problems.linear.whole import WORK, exact_congruence

CLEARLY = 1e-8
"""The least eigenvalue of the Gram matrix of rows of length one that are independent."""

MOST = 8_000_000
"""The most entries of the V^T A_j V."""


def compressed(family: LinearMap, V: np.ndarray) -> tuple[LinearMap, LinearMap]:
    """(the V^T A_j V for engines, the same for the proof): numbers, where they are exact and few."""
    import scipy.sparse as sp

    m, r = family.shape[0], V.shape[1]
    rows: list[sp.csr_array] = []
    entries = 0
    for j in range(m):
        A = exact_matrix(family, j)
        part = None if A is None else exact_congruence(A, V)
        entries += MOST if part is None else int(np.count_nonzero(part))
        if part is None or entries > MOST:
            break
        rows.append(sp.csr_array(part.reshape(1, -1)))
    else:
        stacked = sp.csr_array(sp.vstack(rows))
        if m * r * r > WORK:
            exact: LinearMap = SparseMap(stacked, r)
            return exact, exact
        exact = DenseMap(stacked.toarray().reshape(m, r, r))
        return rank_one(exact.A) or exact, exact  # Newton systems of dense rows lose less to rounding than sparse ones
    return family.compressed(V), CompressedMap(family, V)


def rank_one(A: np.ndarray) -> RankOneMap | None:
    """The vectors x_j, where every A_j is x_j x_j^T: differences of points, diagonal entries, the vector of ones."""
    largest = np.argmax(np.real(np.diagonal(A, axis1=1, axis2=2)), axis=1)
    members = np.arange(len(A))
    squares = np.real(A[members, largest, largest])
    if is_complex(A) or not np.all(squares > 0):
        return None
    P = A[members, largest] / np.sqrt(squares)[:, None]
    return RankOneMap(P) if np.array_equal(P[:, :, None] * P[:, None, :], A) else None


def fewer(family: LinearMap, right: np.ndarray, equal: np.ndarray) -> Replaced | None:
    """The equalities without those that follow from others, exactly; None where none is seen to."""
    rows = np.flatnonzero(equal)
    known = entries_of(family.at(rows))
    if known is None or _are_independent(known[0]):
        return None
    found = dependence(np.column_stack([known[0], right[rows]]))
    if found is None or len(found.dropped) == 0 or known[0].shape[1] in found.places:  # 0 = 1 follows
        return None
    kept, eye = np.sort(found.kept), np.eye(len(rows))
    M = eye[:, kept]
    M[found.dropped] = found.weights()[:, np.argsort(found.kept)]
    return Replaced(equal, Echelon(family.at(rows[kept]), right[rows[kept]], M, 0.0, eye[kept]))


def _are_independent(rows: np.ndarray) -> bool:
    """Whether rows are clearly so, in floating point."""
    units = np.linalg.norm(rows, axis=1)
    scaled = rows / np.where(units > 0, units, 1.0)[:, None]
    return cholesky(scaled @ scaled.T - CLEARLY * np.eye(len(rows))) is not None


def without_unused(
    face: Face | None, cost: np.ndarray, family: LinearMap, m: int, trace: np.ndarray | None
) -> Face | None:
    """The face without the columns of V that neither C nor a row sees: X may be 0 there, and A(y) - C is.

    Where the trace is bounded, <trace, X>, those stay that it couples with others: an X that is 0 there may have more.
    """
    if face is not None and (face.contradiction or face.V.shape[1] == 0):
        return face
    n = len(cost)
    V = np.eye(n) if face is None else face.V
    family = family if face is None or len(face.rows) == 0 else family.at(face.rows)
    seen = np.zeros((n, n))
    if m > 0 and not (face is not None and len(face.rows) == 0):
        pattern = family.pattern()
        if pattern is None:
            return face
        seen[pattern] = 1.0
    seen = seen + (cost != 0)
    if face is None:
        used = np.any(seen, axis=0)
    else:  # no entry of V^T A V in these columns, whatever the values: sufficient, not necessary
        used = np.any(np.abs(V).T @ seen @ np.abs(V), axis=0)
    if face is not None and len(face.rows) == 0:
        known = exact_congruence(cost, V)
        used = np.any(known != 0, axis=0) if known is not None else used
    if trace is not None:
        coupled = np.abs(V).T @ np.abs(trace) @ np.abs(V)
        used |= np.any(coupled - np.diag(np.diagonal(coupled)) != 0, axis=0)
    if np.all(used):
        return face
    if face is None:
        return Face(V[:, used], np.arange(m), np.zeros(m))
    return replace(face, V=V[:, used])
