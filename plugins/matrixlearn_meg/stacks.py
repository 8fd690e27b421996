"""A finite set of instances X_1 ... X_T and its two linear maps.

    apply(W)_t = <X_t, W>,                adjoint(u) = sum_t u_t X_t,
    coordinates(R)_t = R^H X_t R,         gram(R)_st = <R^H X_s R, R^H X_t R>

The coordinates are m = d (d + 1) / 2 real ones (d^2 for complex), scaled so that inner products stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Stack(Protocol):
    """T Hermitian d x d instances."""

    T: int
    d: int
    m: int
    """Real coordinates of such a matrix."""
    dtype: np.dtype

    def apply(self, W: np.ndarray) -> np.ndarray:
        """<X_t, W>, shape (T,)."""

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        """sum_t u_t X_t, shape (d, d)."""

    def coordinates(self, R: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        """R^H X_t R of some of the t, shape (T', m)."""

    def gram(self, R: np.ndarray) -> np.ndarray:
        """<R^H X_s R, R^H X_t R>, shape (T, T)."""

    @property
    def norms(self) -> np.ndarray:
        """Frobenius norms, shape (T,)."""


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


@dataclass(frozen=True, eq=False)
class _Rows:
    """An array whose rows are instances."""

    X: np.ndarray

    @property
    def T(self) -> int:
        return len(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def m(self) -> int:
        return self.d**2 if np.iscomplexobj(self.X) else self.d * (self.d + 1) // 2

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype


class DenseStack(_Rows):
    """Hermitian matrices, (T, d, d)."""

    def apply(self, W: np.ndarray) -> np.ndarray:
        return np.real(self.X.reshape(self.T, -1) @ W.conj().reshape(-1))

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        return (u @ self.X.reshape(self.T, -1)).reshape(self.d, self.d)

    def coordinates(self, R: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        return to_coordinates(R.conj().T @ self.X[rows] @ R)

    def gram(self, R: np.ndarray) -> np.ndarray:
        C = self.coordinates(R, slice(None))
        return C @ C.T

    @property
    def norms(self) -> np.ndarray:
        return np.linalg.norm(self.X.reshape(self.T, -1), axis=1)


class DyadStack(_Rows):
    """x_t x_t^H, by the rows x_t of a (T, d) array: O(T d^2) for either map, no d x d matrix for each t."""

    def apply(self, W: np.ndarray) -> np.ndarray:
        return np.real(np.sum(self.X.conj() * (self.X @ W.T), axis=1))

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        return (self.X.T * u) @ self.X.conj()

    def coordinates(self, R: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        z = self.X[rows] @ R.conj()
        i, j = np.triu_indices(self.d, 1)
        return _coordinates(z * z.conj(), z[:, i] * z[:, j].conj())

    def gram(self, R: np.ndarray) -> np.ndarray:
        z = self.X @ R.conj()
        return np.abs(z @ z.conj().T) ** 2

    @property
    def norms(self) -> np.ndarray:
        return np.sum(np.abs(self.X) ** 2, axis=1)
