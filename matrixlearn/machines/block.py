"""The rows of some machines, side by side: what a round computes with.

What a machine computes depends on its own rows alone, to the last bit: machines are put into one block, or into
several on several processes, as it suits.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np

from matrixlearn._array import is_sparse

SHORT = 64
"""Rows of a machine up to which machines of as many rows are copied together, so that one call serves all of them."""


@dataclass(frozen=True, eq=False)
class EqualRows:
    """Machines of as many rows each: where they and their rows are in the block, and the rows as (g, n, d)."""

    machines: Any
    rows: Any
    X: np.ndarray


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
        """The number d of features."""
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
        square = self.X.multiply(self.X).sum(axis=1) if self.is_sparse else np.einsum("nd,nd->n", self.X, self.X)
        return np.sqrt(np.asarray(square)).reshape(-1)

    def as_sparse(self) -> Block:
        """The same rows as a CSR array."""
        import scipy.sparse as sp  # late: import time

        return self if self.is_sparse else replace(self, X=sp.csr_array(self.X))

    def prints(self) -> np.ndarray:
        """A checksum of the rows, targets and weights of each machine, (k,)."""
        return np.array([self._print(a, b) for a, b in pairwise(self.ends)], dtype=np.int64)

    def _print(self, a: int, b: int) -> int:
        X = self.X[a:b]
        parts = (X.data, X.indices, X.indptr) if self.is_sparse else (X,)
        found = 0
        for part in (*parts, self.y[a:b], self.counts[a:b]):
            found = crc32(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data, found)
        return found

    # -- linear maps --------------------------------------------------------------------------------

    def predict(self, W: np.ndarray) -> np.ndarray:
        """x_j . w_i for the rows j of each machine i, (n,), from W (k, d)."""
        if self.is_sparse:
            return np.asarray(self._diagonal @ W.reshape(-1))
        return self._joined((len(self.y),), [
            (g.rows, np.matmul(g.X, W[g.machines][:, :, None]).reshape(-1)) for g in self._groups
        ])  # fmt: skip

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        """sum over the rows j of each machine of u_j x_j, (k, d), from u (n,)."""
        if self.is_sparse:
            return np.asarray(self._diagonal.T @ u).reshape(len(self), self.width)
        return self._joined((len(self), self.width), [
            (g.machines, np.matmul(u[g.rows].reshape(len(g.X), 1, -1), g.X)[:, 0]) for g in self._groups
        ])  # fmt: skip

    def gram(self, c: np.ndarray) -> np.ndarray:
        """sum over the rows j of each machine of c_j x_j x_j^T, (k, d, d), for c (n,) >= 0."""
        if self.is_sparse:
            parts = ((self.X[a:b], c[a:b]) for a, b in pairwise(self.ends))
            return np.stack([np.asarray((X.T @ X.multiply(own[:, None])).todense()) for X, own in parts])
        found = []
        for g in self._groups:
            half = np.sqrt(c[g.rows]).reshape(len(g.X), -1, 1) * g.X
            found.append((g.machines, np.matmul(half.transpose(0, 2, 1), half)))
        return self._joined((len(self), self.width, self.width), found)

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
    def is_sparse(self) -> bool:
        """Whether X is a CSR array."""
        return is_sparse(self.X)

    @cached_property
    def _groups(self) -> list[EqualRows]:
        """The machines by their numbers of rows; those of many rows each by itself, which needs no copy."""
        X, sizes = np.asarray(self.X), self.sizes
        if np.all(sizes == sizes[0]):
            return [EqualRows(slice(None), slice(None), X.reshape(len(self), -1, self.width))]
        found = []
        for n in np.unique(sizes):
            chosen = np.flatnonzero(sizes == n)
            if n > SHORT:
                for i in chosen:
                    rows = slice(self.ends[i], self.ends[i + 1])
                    found.append(EqualRows(slice(i, i + 1), rows, X[None, rows]))
            else:
                at = (self.ends[chosen][:, None] + np.arange(n)).reshape(-1)
                found.append(EqualRows(chosen, at, X[at].reshape(len(chosen), n, self.width)))
        return found

    @staticmethod
    def _joined(shape: tuple[int, ...], parts: list[tuple[Any, np.ndarray]]) -> np.ndarray:
        """One array of what groups have, each at its place."""
        if len(parts) == 1:
            return parts[0][1]
        out = np.empty(shape)
        for at, part in parts:
            out[at] = part
        return out

    @cached_property
    def _diagonal(self) -> Any:
        """The blocks of rows along a diagonal, (n, k d)."""
        import scipy.sparse as sp  # late: import time

        rows = sp.csr_array(self.X)
        machine = np.repeat(np.arange(len(self)), self.sizes)
        columns = rows.indices + np.repeat(machine, np.diff(rows.indptr)) * self.width
        return sp.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], len(self) * self.width))
