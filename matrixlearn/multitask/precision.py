"""A positive definite matrix by its eigenvalues: few eigenvectors and one value for all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class SpectralPrecision:
    """S = rest I + V diag(values - rest) V^T: few eigenvectors and one value for all others.

    ``S @ A`` and ``A @ S`` cost O(n r) for each column or row; an n x n matrix is formed by `dense` only.

    Parameters
    ----------
    rest : float
        The eigenvalue on the complement of the columns of V.
    values : array, shape (r,)
    vectors : array, shape (n, r)
        V, orthonormal columns, r <= n.
    """

    rest: float
    values: np.ndarray
    vectors: np.ndarray

    __array_ufunc__ = None  # so that A @ S comes here

    @classmethod
    def identity(cls, n: int, value: float = 1.0) -> SpectralPrecision:
        """value I, n x n."""
        return cls(value, np.zeros(0), np.zeros((n, 0)))

    @classmethod
    def of(cls, matrix: Any) -> SpectralPrecision:
        """Any symmetric matrix, by its eigendecomposition."""
        values, vectors = np.linalg.eigh(np.asarray(matrix, dtype=float))
        return cls(float(values[0]), values, vectors)

    @property
    def n(self) -> int:
        """The side of S."""
        return int(self.vectors.shape[0])

    @property
    def is_scalar(self) -> bool:
        """Whether S = rest I."""
        return bool(np.all(self.values == self.rest))

    @property
    def is_whole(self) -> bool:
        """Whether the vectors span everything, so that ``rest`` plays no part."""
        return self.vectors.shape[1] == self.n

    def __matmul__(self, A: np.ndarray) -> np.ndarray:
        V, inside = self.vectors, self.vectors.T @ A
        if V.shape[1] == V.shape[0]:
            return np.asarray(V @ (_down(self.values, A.ndim) * inside))
        return np.asarray(self.rest * A + V @ (_down(self.values - self.rest, A.ndim) * inside))

    def __rmatmul__(self, A: np.ndarray) -> np.ndarray:
        return (self @ A.T).T

    def power(self, exponent: float) -> SpectralPrecision:
        """S^exponent."""
        return SpectralPrecision(self.rest**exponent, self.values**exponent, self.vectors)

    @cached_property
    def inverse(self) -> SpectralPrecision:
        """S^{-1}: the covariance."""
        return self.power(-1.0)

    def solve(self, A: np.ndarray) -> np.ndarray:
        """S^{-1} A."""
        return self.inverse @ A

    @property
    def logdet(self) -> float:
        """log det S."""
        outside = self.n - self.vectors.shape[1]
        return float(np.sum(np.log(self.values)) + (outside * np.log(self.rest) if outside else 0.0))

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest eigenvalue."""
        all_values = self.values if self.is_whole else np.append(self.values, self.rest)
        return float(np.min(all_values)), float(np.max(all_values))

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of S, (n,)."""
        squares = self.vectors**2
        if self.is_whole:
            return np.asarray(squares @ self.values)
        return np.asarray(self.rest * (1.0 - squares.sum(axis=1)) + squares @ self.values)

    def dense(self) -> np.ndarray:
        """S as a matrix, n x n."""
        if self.is_whole:
            return np.asarray((self.vectors * self.values) @ self.vectors.T)
        S = (self.vectors * (self.values - self.rest)) @ self.vectors.T
        S[np.diag_indices(self.n)] += self.rest
        return np.asarray((S + S.T) / 2)

    def without_ones(self) -> SpectralPrecision:
        """S - S 1 1^T S / (1^T S 1): what is left of the form v^T S v when a multiple of 1 may be taken off v.

        Positive semidefinite, with 1 in its null space.
        """
        ones = np.full((self.n, 1), self.n**-0.5)
        beyond = ones - self.vectors @ (self.vectors.T @ ones)
        beyond -= self.vectors @ (self.vectors.T @ beyond)
        length = float(np.linalg.norm(beyond))
        basis = self.vectors if self.is_whole or length < 1e-12 else np.hstack([self.vectors, beyond / length])
        inside = np.append(self.values, self.rest)[: basis.shape[1]]
        e = (basis.T @ ones)[:, 0]
        c = inside * e
        mirror = e.copy()  # Householder: the first column is the null vector itself, to the last digit
        mirror[0] += np.copysign(float(np.linalg.norm(e)), e[0])
        frame = np.eye(len(e)) - 2 * np.outer(mirror, mirror) / float(mirror @ mirror)
        across = frame[:, 1:]
        form = (across.T * inside) @ across - np.outer(across.T @ c, across.T @ c) / float(e @ c)
        values, turn = np.linalg.eigh((form + form.T) / 2)
        vectors = basis @ np.column_stack([frame[:, 0], across @ turn])
        return SpectralPrecision(self.rest, np.append(0.0, np.maximum(values, 0.0)), vectors)


def _down(values: np.ndarray, ndim: int) -> np.ndarray:
    """Values that scale the rows of an array of so many dimensions."""
    return values if ndim == 1 else values[:, None]
