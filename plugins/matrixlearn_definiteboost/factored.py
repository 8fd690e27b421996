"""A density matrix by a factor, W = V F F^H V^T, and the face that exact rows leave it.

V = I but where rows leave no positive definite W, such as tr(W v v^T) <= 0. There V is a basis of whole numbers of what
they leave, proved exactly (`matrixlearn.problems.linear.face`), and the rows are those of M = F F^T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.maps import DenseMap
from matrixlearn.maps.bounded import ROOM
from matrixlearn.problems.linear.face import least_face
from matrixlearn.problems.linear.whole import exact_congruence
from matrixlearn_definiteboost.dual import EPS

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost


@dataclass(frozen=True, eq=False)
class Factored:
    """W = V F F^T V^T, V = I but on a face, computed and with what is known of its rounding.

    Attributes
    ----------
    F : ndarray, shape (r, r)
    w : ndarray, shape (r,)
        The eigenvalues of W that are not 0, but for a factor within 1 -+ ``apart``.
    inside : ndarray, shape (r, r)
        F F^H, computed.
    lost : float
        ||fl(F F^H) - F F^H||_F at most.
    total : float
        tr F F^H at most.
    W : ndarray, shape (d, d)
        Computed.
    """

    F: np.ndarray
    w: np.ndarray
    inside: np.ndarray
    apart: float
    lost: float
    total: float
    W: np.ndarray

    @classmethod
    def of(cls, W: np.ndarray, face: OnFace | None = None) -> Factored:
        """Of a Hermitian matrix: eigenvalues below 0 are 0, and their sum is one."""
        w, V = np.linalg.eigh(W if face is None else face.lowered(W))
        r = len(w)
        w = np.maximum(w, 0.0)
        w = w / float(np.sum(w))
        kind = 2.0 if np.iscomplexobj(V) else 1.0
        if face is None:
            H, gram, size = V, V.conj().T @ V, float(r)
        else:
            H = face.raised(V)
            gram = H.T @ face.trace @ H
            size = float(np.linalg.norm(np.abs(H).T @ np.abs(face.trace) @ np.abs(H)))
        apart = float(np.linalg.norm(gram - np.eye(r))) * ROOM + kind * (4 * r + 16) * EPS * size
        F = H * np.sqrt(w)
        product = F @ F.conj().T
        inside = (product + product.conj().T) / 2
        total = float(np.sum(np.abs(F) ** 2)) * ROOM
        whole = inside if face is None else face.V @ inside @ face.V.T
        return cls(F, w, inside, apart, kind * (r + 4) * EPS * total, total, (whole + whole.conj().T) / 2)


@dataclass(frozen=True, eq=False)
class OnFace:
    """{V M V^T : M >= 0}, V of whole numbers: where rows leave no positive definite matrix, proved exactly.

    Attributes
    ----------
    V : ndarray, shape (d, r)
    says : ndarray of int
        The rows that say something of M.
    family : DenseMap
        The V^T S_j V of those rows, without rounding.
    trace : ndarray, shape (r, r)
        V^T V, so that tr W = <V^T V, M>.
    """

    V: np.ndarray
    says: np.ndarray
    family: DenseMap
    trace: np.ndarray

    @classmethod
    def of(cls, p: DefiniteBoost) -> OnFace | None:
        """That of the rows s (S_j - u_j I) >= 0 with s tr(W (S_j - u_j I)) <= 0; None where none is proved."""
        if p.slack is not None or p.family.is_complex or not isinstance(p.family, DenseMap):
            return None
        A, equal = _shifted(np.real(p.family.A), p.upper), p.lower_bounds == p.upper
        below = np.flatnonzero(np.isfinite(p.lower_bounds) & ~equal)
        B = _shifted(np.real(p.family.A[below]), p.lower_bounds[below])
        rows = np.concatenate([np.arange(p.m), below])
        flags = np.concatenate([equal, np.zeros(len(below), dtype=bool)])
        found = least_face(DenseMap(np.concatenate([A, -B])), np.zeros(len(rows)), flags)
        if found is None or found.contradiction or found.V.shape[1] == 0:
            return None
        says = np.unique(rows[found.rows])
        parts = [exact_congruence(M, found.V) for M in (np.eye(p.d), *np.real(p.family.A[says]))]
        if any(part is None for part in parts):
            return None
        first, *others = (np.asarray(part) for part in parts)
        return cls(found.V, says, DenseMap(np.stack(others) if others else np.zeros((0, *first.shape))), first)

    @cached_property
    def _root(self) -> np.ndarray:
        """R with R^T R = V^T V."""
        return np.linalg.cholesky(self.trace).T

    def lowered(self, W: np.ndarray) -> np.ndarray:
        """R M R^T of the M next to W."""
        inverse = self._root @ np.linalg.pinv(self.V)
        out = inverse @ np.real(W) @ inverse.T
        return np.asarray((out + out.T) / 2)

    def raised(self, Q: np.ndarray) -> np.ndarray:
        """R^{-1} Q."""
        return np.asarray(np.linalg.solve(self._root, Q))


def _shifted(A: np.ndarray, by: np.ndarray) -> np.ndarray:
    """A_j - by_j I where that is exact; 0, which says nothing, where it is not."""
    out, k = A.copy(), np.arange(A.shape[1])
    diagonal = A[:, k, k]
    moved = diagonal - by[:, None]
    part = moved - diagonal
    exact = ~np.any((diagonal - (moved - part)) + (-by[:, None] - part), axis=1)
    out[:, k, k] = moved
    out[~exact] = 0.0
    return out
