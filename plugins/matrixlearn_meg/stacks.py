"""A finite set of instances X_1 ... X_T and its two linear maps.

    apply(W)_t = <X_t, W>,        adjoint(u) = sum_t u_t X_t,        coordinates(V)_t = V^H X_t V

The last in m = d (d + 1) / 2 real coordinates (d^2 for complex), scaled so that inner products stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Stack(Protocol):
    """T Hermitian d x d instances."""

    T: int
    d: int
    dtype: np.dtype

    def apply(self, W: np.ndarray) -> np.ndarray:
        """<X_t, W>, shape (T,)."""

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        """sum_t u_t X_t, shape (d, d)."""

    def coordinates(self, V: np.ndarray) -> np.ndarray:
        """V^H X_t V, shape (T, m)."""

    @property
    def norms(self) -> np.ndarray:
        """Frobenius norms, shape (T,)."""


def upper(d: int, is_complex: bool) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of every coordinate: the diagonal, the upper triangle, and that again for imaginary parts."""
    i, j = np.triu_indices(d, 1)
    k = np.arange(d)
    again = 2 if is_complex else 1
    return np.concatenate([k, *[i] * again]), np.concatenate([k, *[j] * again])


def to_coordinates(entries: np.ndarray, d: int) -> np.ndarray:
    """Real coordinates from the entries of the diagonal and the upper triangle, shape (..., d (d + 1) / 2)."""
    off = np.sqrt(2.0) * entries[..., d:]
    parts = [entries[..., :d].real, off.real]
    if np.iscomplexobj(entries):
        parts.append(off.imag)
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
class DenseStack:
    """Hermitian matrices, (T, d, d)."""

    X: np.ndarray

    @property
    def T(self) -> int:
        return len(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def apply(self, W: np.ndarray) -> np.ndarray:
        return np.real(self.X.reshape(self.T, -1) @ W.conj().reshape(-1))

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        return (u @ self.X.reshape(self.T, -1)).reshape(self.d, self.d)

    def coordinates(self, V: np.ndarray) -> np.ndarray:
        turned = V.conj().T @ self.X @ V
        i, j = np.triu_indices(self.d, 1)
        diagonal = np.diagonal(turned, axis1=1, axis2=2)
        return to_coordinates(np.concatenate([diagonal, turned[:, i, j]], axis=1), self.d)

    @property
    def norms(self) -> np.ndarray:
        return np.linalg.norm(self.X.reshape(self.T, -1), axis=1)


@dataclass(frozen=True, eq=False)
class DyadStack:
    """x_t x_t^H, by the rows x_t of a (T, d) array: O(T d^2) for either map, no d x d matrix for each t."""

    x: np.ndarray

    @property
    def T(self) -> int:
        return len(self.x)

    @property
    def d(self) -> int:
        return int(self.x.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.x.dtype

    def apply(self, W: np.ndarray) -> np.ndarray:
        return np.real(np.sum(self.x.conj() * (self.x @ W.T), axis=1))

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        return (self.x.T * u) @ self.x.conj()

    def coordinates(self, V: np.ndarray) -> np.ndarray:
        z = self.x @ V.conj()
        i, j = np.triu_indices(self.d, 1)
        return to_coordinates(np.concatenate([z * z.conj(), z[:, i] * z[:, j].conj()], axis=1), self.d)

    @property
    def norms(self) -> np.ndarray:
        return np.sum(np.abs(self.x) ** 2, axis=1)
