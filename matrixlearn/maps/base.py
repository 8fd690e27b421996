"""Linear maps between vectors and Hermitian matrices, by the structure that makes them cheap.

    A(y) = sum_j y_j A_j,        A*(X)_j = <A_j, X> = Re tr(A_j^H X)

for Hermitian n x n matrices A_1, ..., A_m. Vectors over j are NumPy arrays; matrices stay in their own namespace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import adjoint, congruence, is_complex, real, spectral_norm, sym
from matrixlearn.maps.newton_terms import InCoordinates, NewtonTerms, in_coordinates
from matrixlearn.typing import Array

CHUNK = 4_000_000
"""Entries of a temporary of `DenseMap.schur`: 32 MB."""


def furthest(apart: np.ndarray, size: np.ndarray) -> int:
    """The j of the largest apart_j / size_j, 0 / 0 = 0; the first that is not finite where there is one."""
    with np.errstate(all="ignore"):
        return int(np.argmax(np.where(size == 0, 0.0, apart / size)))


def require_dimensions(name: str, array: Array, shape: str) -> None:
    """An array of as many axes as ``shape`` names, the last two alike where there are three.

    Raises
    ------
    ProblemError
        Otherwise.
    """
    got = tuple(getattr(array, "shape", ()))
    if len(got) != shape.count(",") + 1 or (len(got) == 3 and got[1] != got[2]):
        msg = f"{name} takes an array of shape {shape}, got {f'shape {got}' if got else f'a {type(array).__name__}'}"
        raise ProblemError(msg)


class LinearMap(ABC):
    """y -> A(y) = sum_j y_j A_j, and its adjoint X -> (<A_j, X>)_j.

    A map gives ``shape``, `apply` and `adjoint`; all else has a default that is right and slower.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(m, n): m matrices of order n."""

    @abstractmethod
    def apply(self, y: np.ndarray) -> Array:
        """A(y) = sum_j y_j A_j, shape (m,) -> (n, n)."""

    @abstractmethod
    def adjoint(self, X: Array) -> np.ndarray:
        """A*(X)_j = Re tr(A_j^H X), shape (n, n) -> (m,)."""

    def matrix(self, j: int) -> Array:
        """A_j, dense."""
        return self.apply(np.eye(1, self.shape[0], j)[0])

    def subtracted(self, C: Array, y: np.ndarray) -> Array:
        """C - A(y), a new array."""
        return C - self.apply(y)

    # -- sizes ------------------------------------------------------------------------------------

    @property
    def norms(self) -> np.ndarray:
        """Upper bounds of the spectral norms ||A_j||_2, tight to rounding, (m,)."""
        return self._norms

    @cached_property
    def _norms(self) -> np.ndarray:
        return np.array([spectral_norm(self.matrix(j)) for j in range(self.shape[0])])

    @property
    def sizes(self) -> np.ndarray:
        """Upper bounds of the Frobenius norms, (m,)."""
        return np.asarray(np.sqrt(self.shape[1]) * self.norms)

    def size_at(self, y: np.ndarray) -> float:
        """An upper bound of ||A(y)||_F."""
        return float(np.abs(y) @ self.sizes)

    @property
    def terms(self) -> int:
        """The most A_j that share an entry: how many terms an entry of `apply` adds up."""
        return self.shape[0]

    def pattern(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Where any A_j may have an entry other than 0, (rows, columns); None, by default, for everywhere."""
        return None

    def least_hermitian(self) -> int:
        """The j of the A_j that is furthest from Hermitian for its size, or not finite: the one to look at.  By
        default the first; all are compared where that costs no more than to read them once.
        """
        return 0

    # -- parts ------------------------------------------------------------------------------------

    def at(self, index: np.ndarray) -> LinearMap:
        """The A_j of an index, (k,); stacked dense by default."""
        matrices = [self.matrix(int(j)) for j in index]
        return DenseMap(namespace(matrices[0]).stack(matrices))

    def compressed(self, V: Array) -> LinearMap:
        """The V^H A_j V; stacked dense by default."""
        parts = [congruence(self.matrix(j), V) for j in range(self.shape[0])]
        return DenseMap(namespace(V).stack(parts))

    def principal(self, block: slice) -> LinearMap:
        """The principal submatrices of all A_j; stacked dense by default."""
        parts = [self.matrix(j)[block, block] for j in range(self.shape[0])]
        return DenseMap(namespace(parts[0]).stack(parts))

    # -- second order -----------------------------------------------------------------------------

    def schur(self, U: Array, V: Array) -> np.ndarray:
        """H_ij = Re tr(A_i U A_j V) for Hermitian U and V, (m, m): here m products of n^3."""
        m = self.shape[0]
        H = np.empty((m, m))
        for j in range(m):
            H[:, j] = self.adjoint(sym(U @ self.matrix(j) @ V))
        return H

    def newton_terms(self, U: Array, V: Array) -> NewtonTerms:
        """The `NewtonTerms` at U and V; `plain_newton_terms` by default."""
        return self.plain_newton_terms(U, V)

    def plain_newton_terms(self, U: Array, V: Array) -> NewtonTerms:
        """One for each A_j, whatever their span."""
        return NewtonTerms(U, V, self.adjoint(U), self.adjoint(sym(U @ V)), self.schur(U, V))


@dataclass(frozen=True, eq=False)
class DenseMap(LinearMap):
    """The A_j stacked, an array of shape (m, n, n)."""

    A: Array
    """The matrices, (m, n, n)."""

    def __post_init__(self) -> None:
        require_dimensions("DenseMap", self.A, "(m, n, n)")

    @property
    def shape(self) -> tuple[int, int]:
        return self.A.shape[0], self.A.shape[1]

    def least_hermitian(self) -> int:
        (m, n), xp = self.shape, namespace(self.A)
        chunk, apart, size = max(1, CHUNK // (n * n)), [], []
        for start in range(0, m, chunk):
            part = self.A[start : min(start + chunk, m), ...]
            with np.errstate(invalid="ignore"):  # inf - inf
                apart.append(as_numpy(xp.max(xp.abs(part - adjoint(part)), axis=(1, 2))))
            size.append(as_numpy(xp.max(xp.abs(part), axis=(1, 2))))
        return furthest(np.concatenate(apart), np.concatenate(size))

    @cached_property
    def sizes(self) -> np.ndarray:
        m, n = self.shape
        xp = namespace(self.A)
        return as_numpy(xp.linalg.vector_norm(xp.reshape(self.A, (m, n * n)), axis=1))

    def at(self, index: np.ndarray) -> DenseMap:
        return DenseMap(namespace(self.A).take(self.A, from_numpy(index, self.A), axis=0))

    def matrix(self, j: int) -> Array:
        return self.A[j, ...]

    def principal(self, block: slice) -> DenseMap:
        return DenseMap(self.A[:, block, block])

    def pattern(self) -> tuple[np.ndarray, np.ndarray] | None:
        xp = namespace(self.A)
        first, second = np.nonzero(as_numpy(xp.any(self.A != 0, axis=0)))
        return first, second

    def apply(self, y: np.ndarray) -> Array:
        m, n = self.shape
        xp = namespace(self.A)
        rows = xp.reshape(self.A, (m, n * n))
        return xp.reshape(from_numpy(y, self.A) @ rows, (n, n))

    @cached_property
    def _in_coordinates(self) -> InCoordinates | None:
        A = self.A
        return in_coordinates(lambda a, b: A[:, a, b], A, *self.shape)

    def newton_terms(self, U: Array, V: Array) -> NewtonTerms:
        return super().newton_terms(U, V) if self._in_coordinates is None else self._in_coordinates.newton_terms(U, V)

    def _products(self, X: Array) -> Array:
        """Re tr(A_j^H X_k) for a stack X of shape (k, n, n), (m, k)."""
        m, n = self.shape
        xp = namespace(self.A)

        def against(A: Array, B: Array) -> Array:
            return xp.reshape(A, (m, n * n)) @ xp.reshape(B, (B.shape[0], n * n)).mT

        out = against(real(self.A), real(X))
        if is_complex(self.A) and is_complex(X):
            out = out + against(xp.imag(self.A), xp.imag(X))
        return out

    def adjoint(self, X: Array) -> np.ndarray:
        return as_numpy(self._products(X[None, ...])[:, 0])

    def schur(self, U: Array, V: Array) -> np.ndarray:
        m, n = self.shape
        H = np.empty((m, m))
        chunk = max(1, CHUNK // (n * n))
        for start in range(0, m, chunk):
            stop = min(start + chunk, m)
            part = self.A[start:stop, ...]
            H[:, start:stop] = as_numpy(self._products(U @ part @ V))
        return (H + H.T) / 2
