"""Positive semidefinite matrices kept as factors: X = V V^H, V of shape (n, r), in n r numbers instead of n^2.

V V^H is positive semidefinite whatever the entries of V, rounding included: no decomposition has to prove it.

    X B = V (V^H B)       X_ii = ||v_i||^2       <A, X> = Re <A V, V>           O(n r) a column, O(n r), nnz(A) r

NumPy only; an n x n array is formed by `FactoredMatrix.dense` and `numpy.asarray` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class FactoredMatrix:
    """X = V V^H.

    Parameters
    ----------
    factor : ndarray, shape (n, r)
        V, real or complex.
    """

    factor: np.ndarray

    ndim = 2
    """Two, as of the matrix."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return len(self.factor), len(self.factor)

    @property
    def dtype(self) -> Any:
        """That of the factor."""
        return self.factor.dtype

    @property
    def rank(self) -> int:
        """r, the columns of V: no less than the rank of X."""
        return int(self.factor.shape[1])

    def diagonal(self) -> np.ndarray:
        """X_ii, (n,)."""
        return np.asarray(np.sum(np.abs(self.factor) ** 2, axis=1))

    def trace(self) -> float:
        """||V||_F^2."""
        return float(np.linalg.norm(self.factor)) ** 2

    def inner(self, A: Any) -> float:
        """<A, X> for a Hermitian A, dense or sparse, summed row by row."""
        return float(np.sum(np.einsum("ij,ij->i", self.factor.conj(), A @ self.factor).real))

    def dense(self) -> np.ndarray:
        """X as an (n, n) array."""
        return np.asarray(self.factor @ self.factor.conj().T)

    def __matmul__(self, B: Any) -> np.ndarray:
        return np.asarray(self.factor @ (self.factor.conj().T @ B))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            msg = "factors become an array only by a copy: use .dense(), or the factor itself"
            raise ValueError(msg)
        return self.dense().astype(dtype or self.dtype, copy=False)
