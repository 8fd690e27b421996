"""The rows of some machines, side by side: what a round computes with."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

SHORT = 64
"""Rows a machine from which on a loop over machines is quicker than sums over segments."""


@dataclass(frozen=True, eq=False)
class Block:
    """Rows x_j of k machines, those of one together, with targets y_j and what each counts, a_j.

    Parameters
    ----------
    ids : tuple
        Names of the machines.
    X : array or CSR array, shape (n, d)
    y : array, shape (n,)
    ends : array of int, shape (k + 1,)
        Machine i has the rows ends[i], ..., ends[i + 1] - 1, at least one.
    counts : array, shape (n,)
        a_j >= 0, of positive sum on each machine.
    """

    ids: tuple[Hashable, ...]
    X: Any
    y: np.ndarray
    ends: np.ndarray
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def width(self) -> int:
        """d."""
        return int(self.X.shape[1])

    @cached_property
    def sizes(self) -> np.ndarray:
        """The rows of each machine, (k,)."""
        return np.diff(self.ends)

    @cached_property
    def shares(self) -> np.ndarray:
        """a_j over the sum of its machine's, (n,): 1 / n_i where all rows count 1."""
        return self.counts / np.repeat(self.summed(self.counts), self.sizes)

    @cached_property
    def norms(self) -> np.ndarray:
        """||x_j||, (n,)."""
        square = self.X.multiply(self.X).sum(axis=1) if self._is_sparse else np.einsum("nd,nd->n", self.X, self.X)
        return np.sqrt(np.asarray(square)).reshape(-1)

    # -- linear maps --------------------------------------------------------------------------------

    def predict(self, W: np.ndarray) -> np.ndarray:
        """x_j . w_i for the rows j of each machine i, (n,), from W (k, d)."""
        if self._is_sparse:
            return np.asarray(self._diagonal @ W.reshape(-1))
        if self._even is not None:
            return np.matmul(self._even, W[:, :, None]).reshape(-1)
        if len(self.y) >= SHORT * len(self):
            return np.concatenate([self.X[rows] @ w for rows, w in zip(self._rows, W, strict=True)])
        return np.einsum("nd,nd->n", self.X, W[self._machine])

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        """sum over the rows j of each machine of u_j x_j, (k, d), from u (n,)."""
        if self._is_sparse:
            return np.asarray(self._diagonal.T @ u).reshape(len(self), self.width)
        if self._even is not None:
            return np.matmul(u.reshape(len(self), 1, -1), self._even)[:, 0]
        if len(self.y) >= SHORT * len(self):
            return np.stack([u[rows] @ self.X[rows] for rows in self._rows])
        return np.add.reduceat(u[:, None] * self.X, self.ends[:-1], axis=0)

    def gram(self, c: np.ndarray) -> np.ndarray:
        """sum over the rows j of each machine of c_j x_j x_j^T, (k, d, d), for c (n,) >= 0."""
        if self._is_sparse:
            parts = (self.X[rows] for rows in self._rows)
            weighted = zip(parts, self._rows, strict=True)
            return np.stack([np.asarray((X.T @ X.multiply(c[rows][:, None])).todense()) for X, rows in weighted])
        if self._even is not None:
            half = np.sqrt(c).reshape(len(self), -1, 1) * self._even
            return np.matmul(half.transpose(0, 2, 1), half)
        half = np.sqrt(c)[:, None] * self.X
        return np.stack([half[rows].T @ half[rows] for rows in self._rows])

    def summed(self, each: np.ndarray) -> np.ndarray:
        """The sum over the rows of each machine, (k,)."""
        return np.add.reduceat(each, self.ends[:-1])

    def spread(self, by_machine: np.ndarray) -> np.ndarray:
        """For each row what its machine has, (n,)."""
        return np.repeat(by_machine, self.sizes)

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """sum of shares times x_j x_j^T, (k, d, d), and times y_j x_j, (k, d); never sent unless asked for."""
        return self.gram(self.shares), self.adjoint(self.shares * self.y)

    @cached_property
    def spectra(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues, ascending, and eigenvectors of the first of `moments`, (k, d) and (k, d, d)."""
        values, vectors = np.linalg.eigh(self.moments[0])
        return values, vectors

    # -- forms of X ---------------------------------------------------------------------------------

    @property
    def _is_sparse(self) -> bool:
        return hasattr(self.X, "tocsr")

    @cached_property
    def _even(self) -> np.ndarray | None:
        """X as (k, n / k, d), where all machines have as many rows."""
        if self._is_sparse or np.any(self.sizes != self.sizes[0]):
            return None
        return np.asarray(self.X).reshape(len(self), -1, self.width)

    @cached_property
    def _rows(self) -> list[slice]:
        return [slice(start, end) for start, end in zip(self.ends[:-1], self.ends[1:], strict=True)]

    @cached_property
    def _machine(self) -> np.ndarray:
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def _diagonal(self) -> Any:
        """The blocks of rows along a diagonal, (n, k d)."""
        import scipy.sparse as sp  # late: import time

        rows = sp.csr_array(self.X)
        columns = rows.indices + np.repeat(self._machine, np.diff(rows.indptr)) * self.width
        return sp.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], len(self) * self.width))
