"""Families A_1, ..., A_m of Hermitian matrices, by the structure that makes them cheap.

Each family has ``apply(y) = sum_j y_j A_j``, ``adjoint(X)_j = Re tr(A_j^H X)``,
``schur(U, V)_ij = Re tr(A_i U A_j V)`` for Hermitian U and V, ``norms`` >= ||A_j||_2 and ``matrix(j)``.
Vectors over j are NumPy arrays; matrices stay in their own namespace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg._hermitian import (
    adjoint,
    congruence,
    conjugate,
    is_complex,
    quadratic_forms,
    real,
    real_product,
    spectral_norm,
    sym,
)
from matrixlearn.linalg.moments import Moments, RankOneMoments, Spanned, spanned
from matrixlearn.typing import Array

CHUNK = 4_000_000
"""Entries of a temporary of `DenseFamily.schur`: 32 MB."""


def furthest(apart: np.ndarray, size: np.ndarray) -> int:
    """The j of the largest apart_j / size_j, 0 / 0 = 0; the first that is not finite where there is one."""
    with np.errstate(all="ignore"):
        return int(np.argmax(np.where(size == 0, 0.0, apart / size)))


def _require_dimensions(name: str, array: Array, shape: str) -> None:
    """An array of as many axes as ``shape`` names, the last two alike where there are three."""
    got = tuple(getattr(array, "shape", ()))
    if len(got) != shape.count(",") + 1 or (len(got) == 3 and got[1] != got[2]):
        msg = f"{name} takes an array of shape {shape}, got {f'shape {got}' if got else f'a {type(array).__name__}'}"
        raise ProblemError(msg)


class ConstraintFamily(ABC):
    """m Hermitian n x n matrices."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(m, n)."""

    @property
    @abstractmethod
    def norms(self) -> np.ndarray:
        """Upper bounds of the spectral norms, tight to rounding, (m,)."""

    @property
    def sizes(self) -> np.ndarray:
        """Upper bounds of the Frobenius norms, (m,)."""
        return np.asarray(np.sqrt(self.shape[1]) * self.norms)

    @property
    def terms(self) -> int:
        """The most members that share an entry: how many terms an entry of `apply` adds up."""
        return self.shape[0]

    @abstractmethod
    def matrix(self, j: int) -> Array:
        """A_j, dense."""

    def at(self, index: np.ndarray) -> ConstraintFamily:
        """The members of an index, (k,); stacked dense by default."""
        matrices = [self.matrix(int(j)) for j in index]
        return DenseFamily(namespace(matrices[0]).stack(matrices))

    def compressed(self, V: Array) -> ConstraintFamily:
        """The V^H A_j V; stacked dense by default."""
        parts = [congruence(self.matrix(j), V) for j in range(self.shape[0])]
        return DenseFamily(namespace(V).stack(parts))

    def principal(self, block: slice) -> ConstraintFamily:
        """The principal submatrices of all members; stacked dense by default."""
        parts = [self.matrix(j)[block, block] for j in range(self.shape[0])]
        return DenseFamily(namespace(parts[0]).stack(parts))

    def pattern(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Where any member may have an entry other than 0, (rows, columns); None, by default, for everywhere."""
        return None

    def least_hermitian(self) -> int:
        """The j of the member that is furthest from Hermitian for its size, or not finite: the one to look at.  By
        default the first; all are compared where that costs no more than to read them once.
        """
        return 0

    @abstractmethod
    def apply(self, y: np.ndarray) -> Array:
        """sum_j y_j A_j."""

    @abstractmethod
    def adjoint(self, X: Array) -> np.ndarray:
        """Re tr(A_j^H X), (m,)."""

    @abstractmethod
    def schur(self, U: Array, V: Array) -> np.ndarray:
        """Re tr(A_i U A_j V), (m, m)."""

    def moments(self, U: Array, V: Array) -> Moments:
        """The `Moments` at U and V; `plain_moments` by default."""
        return self.plain_moments(U, V)

    def plain_moments(self, U: Array, V: Array) -> Moments:
        """One for each member, whatever their span."""
        return Moments(U, V, self.adjoint(U), self.adjoint(sym(U @ V)), self.schur(U, V))


@dataclass(frozen=True, eq=False)
class RankOneFamily(ConstraintFamily):
    """A_j = x_j x_j^H for the rows x_j^T of P, shape (m, n); never an m x n^2 array.

    schur(U, V) = (P U P^H) o conj(P V P^H), four products and no loop.
    """

    P: Array

    def __post_init__(self) -> None:
        _require_dimensions("RankOneFamily", self.P, "(m, n)")

    @property
    def shape(self) -> tuple[int, int]:
        return self.P.shape[0], self.P.shape[1]

    def least_hermitian(self) -> int:
        return int(np.argmax(self.norms))  # NaN counts as the largest

    @cached_property
    def norms(self) -> np.ndarray:
        xp = namespace(self.P)
        return as_numpy(xp.linalg.vector_norm(self.P, axis=1)) ** 2

    @property
    def sizes(self) -> np.ndarray:
        return self.norms

    @cached_property
    def _conjugate(self) -> Array:
        return namespace(self.P).conj(self.P) if is_complex(self.P) else self.P

    @cached_property
    def _spanned(self) -> Spanned | None:
        P = self.P
        return spanned(lambda a, b: P[:, a] * P[:, b], P, *self.shape)

    def at(self, index: np.ndarray) -> RankOneFamily:
        return RankOneFamily(namespace(self.P).take(self.P, from_numpy(index, self.P), axis=0))

    def compressed(self, V: Array) -> RankOneFamily:
        return RankOneFamily(self.P @ conjugate(V))  # V^H x, as a row

    def matrix(self, j: int) -> Array:
        return self.P[j, :][:, None] * self._conjugate[j, :][None, :]

    def apply(self, y: np.ndarray) -> Array:
        P, conjugate = self.P, self._conjugate
        if isinstance(P, np.ndarray):
            if 2 * np.count_nonzero(y) < len(y):  # an oracle's answer is sparse
                used = np.flatnonzero(y)
                P, conjugate, y = P[used], conjugate[used], y[used]
            if not is_complex(P) and (y >= 0).all():
                root = P * np.sqrt(y)[:, None]
                return root.T @ root  # a symmetric product: BLAS does half the work
        return (P * from_numpy(y, self.P)[:, None]).mT @ conjugate

    def adjoint(self, X: Array) -> np.ndarray:
        return as_numpy(quadratic_forms(self.P, X))

    def schur(self, U: Array, V: Array) -> np.ndarray:
        PU, PV = self._conjugate @ U @ self.P.mT, self._conjugate @ V @ self.P.mT
        return as_numpy(real_product(PU, PV))

    def moments(self, U: Array, V: Array) -> Moments:
        """Four products, two where V is U: x_i^H U and x_i^H U x_j, and x_i^H U V x_i = (x_i^H U)(x_i^H V)^H."""
        if self._spanned is not None:
            return self._spanned.moments(U, V)
        xp = namespace(self.P)
        rows = other_rows = self._conjugate @ U
        forms = other_forms = rows @ self.P.mT
        if V is not U:
            other_rows = self._conjugate @ V
            other_forms = other_rows @ self.P.mT
        return RankOneMoments(
            U=U,
            V=V,
            single=as_numpy(real(xp.linalg.diagonal(forms))),
            product=as_numpy(real(xp.linalg.vecdot(rows, other_rows))),
            second=as_numpy(real_product(forms, other_forms)),
            P=self.P,
            rows=rows,
            other_rows=other_rows,
        )


@dataclass(frozen=True, eq=False)
class DenseFamily(ConstraintFamily):
    """A_j dense, stacked, shape (m, n, n)."""

    A: Array

    def __post_init__(self) -> None:
        _require_dimensions("DenseFamily", self.A, "(m, n, n)")

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
    def norms(self) -> np.ndarray:
        return np.array([spectral_norm(self.matrix(j)) for j in range(self.shape[0])])

    @cached_property
    def sizes(self) -> np.ndarray:
        m, n = self.shape
        xp = namespace(self.A)
        return as_numpy(xp.linalg.vector_norm(xp.reshape(self.A, (m, n * n)), axis=1))

    def at(self, index: np.ndarray) -> DenseFamily:
        return DenseFamily(namespace(self.A).take(self.A, from_numpy(index, self.A), axis=0))

    def matrix(self, j: int) -> Array:
        return self.A[j, ...]

    def principal(self, block: slice) -> DenseFamily:
        return DenseFamily(self.A[:, block, block])

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
    def _spanned(self) -> Spanned | None:
        A = self.A
        return spanned(lambda a, b: A[:, a, b], A, *self.shape)

    def moments(self, U: Array, V: Array) -> Moments:
        return super().moments(U, V) if self._spanned is None else self._spanned.moments(U, V)

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


@dataclass(frozen=True, eq=False)
class SignedFamily(ConstraintFamily):
    """sign_j A_j: members of another family negated, or times powers of two, without a copy of their data.

    Parameters
    ----------
    base : ConstraintFamily
    signs : ndarray, shape (m,)
        Numbers whose products with floating point numbers are exact: signs, powers of two.
    """

    base: ConstraintFamily
    signs: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @cached_property
    def norms(self) -> np.ndarray:
        return np.abs(self.signs) * self.base.norms

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.abs(self.signs) * self.base.sizes

    @property
    def terms(self) -> int:
        return self.base.terms

    def least_hermitian(self) -> int:
        return self.base.least_hermitian()

    def at(self, index: np.ndarray) -> SignedFamily:
        return SignedFamily(self.base.at(index), self.signs[index])

    def principal(self, block: slice) -> SignedFamily:
        return SignedFamily(self.base.principal(block), self.signs)

    def pattern(self) -> tuple[np.ndarray, np.ndarray] | None:
        return self.base.pattern()

    def compressed(self, V: Array) -> SignedFamily:
        return SignedFamily(self.base.compressed(V), self.signs)

    def matrix(self, j: int) -> Array:
        return float(self.signs[j]) * self.base.matrix(j)

    def apply(self, y: np.ndarray) -> Array:
        return self.base.apply(self.signs * y)

    def adjoint(self, X: Array) -> np.ndarray:
        return self.signs * self.base.adjoint(X)

    def schur(self, U: Array, V: Array) -> np.ndarray:
        return np.outer(self.signs, self.signs) * self.base.schur(U, V)

    def moments(self, U: Array, V: Array) -> Moments:
        at, signs = self.base.moments(U, V), self.signs
        if at.span is not None:
            return replace(at, span=at.span.divided(1 / signs))
        return Moments(U, V, signs * at.single, signs * at.product, np.outer(signs, signs) * at.second)
