"""The linear map of finitely many instances X_1 ... X_T, with what a Newton system asks of it in a scaling R.

    apply(u) = sum_t u_t X_t,             adjoint(W)_t = <X_t, W>,
    coordinates(R)_t = R^H X_t R,         gram(R)_st = <R^H X_s R, R^H X_t R>

The coordinates are m = d (d + 1) / 2 real ones (d^2 for complex), scaled so that inner products stay.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from matrixlearn.maps import DenseMap, LinearMap, RankOneMap


class Stack(LinearMap):
    """u -> sum_t u_t X_t for T Hermitian d x d instances."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """That of the instances."""

    @abstractmethod
    def coordinates(self, R: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        """R^H X_t R of some of the t, shape (T', m)."""

    @abstractmethod
    def gram(self, R: np.ndarray) -> np.ndarray:
        """<R^H X_s R, R^H X_t R>, shape (T, T)."""

    @property
    def T(self) -> int:
        """The number of instances."""
        return self.shape[0]

    @property
    def d(self) -> int:
        """Their order."""
        return self.shape[1]

    @property
    def m(self) -> int:
        """Real coordinates of such a matrix."""
        return self.d**2 if np.issubdtype(self.dtype, np.complexfloating) else self.d * (self.d + 1) // 2


def to_coordinates(S: np.ndarray) -> np.ndarray:
    """(..., d, d) Hermitian matrices as (..., m) real coordinates: diagonal, upper triangle, its imaginary parts."""
    i, j = np.triu_indices(S.shape[-1], 1)
    return _coordinates(np.diagonal(S, axis1=-2, axis2=-1), S[..., i, j])


def _coordinates(diagonal: np.ndarray, upper: np.ndarray) -> np.ndarray:
    off = np.sqrt(2.0) * upper
    parts = [diagonal.real, off.real, off.imag] if np.iscomplexobj(off) else [diagonal, off]
    return np.concatenate(parts, axis=-1)


def from_coordinates(v: np.ndarray, d: int, dtype: np.dtype) -> np.ndarray:
    """The Hermitian matrix of coordinates, (m,) -> (d, d)."""
    i, j = np.triu_indices(d, 1)
    S = np.zeros((d, d), dtype=dtype)
    off = v[d : d + len(i)] / np.sqrt(2.0)
    if len(v) > d + len(i):
        off = off + 1j * v[d + len(i) :] / np.sqrt(2.0)
    S[i, j] = off
    S[j, i] = off.conj()
    S[np.arange(d), np.arange(d)] = v[:d]
    return S


class DenseStack(Stack, DenseMap):
    """Hermitian matrices, (T, d, d)."""

    @property
    def dtype(self) -> np.dtype:
        return self.A.dtype

    def coordinates(self, R: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        return to_coordinates(R.conj().T @ self.A[rows] @ R)

    def gram(self, R: np.ndarray) -> np.ndarray:
        C = self.coordinates(R, slice(None))
        return C @ C.T


class DyadStack(Stack, RankOneMap):
    """x_t x_t^H, by the rows x_t of a (T, d) array: O(T d^2) for either map, no d x d matrix for each t."""

    @property
    def dtype(self) -> np.dtype:
        return self.P.dtype

    def coordinates(self, R: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        z = self.P[rows] @ R.conj()
        i, j = np.triu_indices(self.d, 1)
        return _coordinates(z * z.conj(), z[:, i] * z[:, j].conj())

    def gram(self, R: np.ndarray) -> np.ndarray:
        z = self.P @ R.conj()
        return np.abs(z @ z.conj().T) ** 2
