"""What the squared loss needs of the data: second moments, computed once, and never the rows again.

    sum_i ||y_i - X_i w_i||^2 = sum_i ||y_i||^2 - 2 <C, W> + <W, G(W)>,     c_i = X_i^T y_i,  G(W)_i = X_i^T X_i w_i

One Gram matrix where the tasks share their instances, one for each task where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS, is_sparse
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Block, Held
from matrixlearn.multitask.checks import as_rows, as_targets, require_rows


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of a least-squares problem of m tasks in d features.

    Parameters
    ----------
    gram : array, shape (d, d) or (m, d, d)
        X^T X, or X_i^T X_i for each task.
    cross : array, shape (d, m)
        Columns X_i^T y_i.
    square : array, shape (m,)
        ||y_i||^2.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        d, m = self.cross.shape
        return d, m

    @property
    def is_shared(self) -> bool:
        """Whether there is one Gram matrix for all tasks."""
        return self.gram.ndim == 2

    def apply(self, W: np.ndarray) -> np.ndarray:
        """G(W), (d, m): half the Hessian of the loss."""
        if self.is_shared:
            return np.asarray(self.gram @ W)
        return np.matmul(self.gram, W.T[:, :, None])[:, :, 0].T

    def loss(self, W: np.ndarray) -> float:
        """sum_i ||y_i - X_i w_i||^2."""
        return float(np.sum(self.square) - 2 * np.vdot(self.cross, W) + np.vdot(W, self.apply(W)))

    def residual(self, W: np.ndarray) -> np.ndarray:
        """C - G(W), (d, m): minus half the gradient of the loss."""
        return self.cross - self.apply(W)

    @cached_property
    def mean_gram(self) -> np.ndarray:
        """The mean over tasks of their Gram matrices, (d, d)."""
        return self.gram if self.is_shared else np.asarray(self.gram.mean(axis=0))

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues, ascending and not negative, and eigenvectors of the mean Gram matrix."""
        values, vectors = np.linalg.eigh(self.mean_gram)
        return np.maximum(values, 0.0), vectors

    @cached_property
    def least(self) -> float:
        """min over W of the loss, sum_i ||y_i||^2 - c_i^T G_i^+ c_i."""
        values, vectors = self.spectrum if self.is_shared else np.linalg.eigh(self.gram)
        along = vectors.T @ self.cross if self.is_shared else (self.cross.T[:, None, :] @ vectors)[:, 0, :].T
        size = values[:, None] if self.is_shared else values.T
        used = size > size[-1] * EPS * len(size)
        explained = np.sum(np.where(used, along**2 / np.where(used, size, 1.0), 0.0))
        return float(np.sum(self.square) - explained)

    # -- from rows ----------------------------------------------------------------------------------

    @classmethod
    def of_rows(cls, X: Any, Y: np.ndarray, code: np.ndarray | None, m: int, weight: np.ndarray | None) -> Moments:
        """`of_tasks`, or `of_shared` without a code, of rows each of which counts its weight (n,); None for 1."""
        if weight is not None:
            root = np.sqrt(weight)
            X, Y = scaled_rows(X, root), (Y.T * root).T
        return cls.of_shared(X, Y) if code is None else cls.of_tasks(X, Y, code, m)

    @classmethod
    def of_shared(cls, X: Any, Y: np.ndarray) -> Moments:
        """Of instances X (n, d), dense or sparse, and targets Y (n, m)."""
        return cls(_gram(X), np.asarray(X.T @ Y), np.sum(Y**2, axis=0))

    @classmethod
    def of_tasks(cls, X: Any, y: np.ndarray, code: np.ndarray, m: int) -> Moments:
        """Of rows X (n, d), dense or sparse, targets y (n,) and the number 0, ..., m - 1 of each row's task."""
        d = X.shape[1]
        order = np.argsort(code, kind="stable")
        ends = np.searchsorted(code[order], np.arange(m + 1))
        X, y = X[order], y[order]
        gram, cross, square = np.empty((m, d, d)), np.empty((d, m)), np.empty(m)
        for i in range(m):
            rows = slice(ends[i], ends[i + 1])
            gram[i] = _gram(X[rows])
            cross[:, i] = X[rows].T @ y[rows]
            square[i] = y[rows] @ y[rows]
        return cls(gram, cross, square)

    @classmethod
    def of_batches(cls, batches: Iterable[tuple[Any, Any]]) -> Moments:
        """Of shared instances that arrive in blocks (X, Y) of rows, each seen once: for n beyond memory.

        Raises
        ------
        ProblemError
            Where there is no block, or blocks differ in width.
        """
        total: Moments | None = None
        for number, (X, Y) in enumerate(batches):
            X, Y = as_rows(f"X of block {number}", X), as_targets(f"Y of block {number}", Y)
            require_rows(X, Y)
            block = cls.of_shared(X, Y)
            if total is None:
                total = block
            elif total.shape != block.shape:
                msg = f"block {number} has {block.shape} (features, tasks), those before it {total.shape}"
                raise ProblemError(msg)
            else:
                total = cls(total.gram + block.gram, total.cross + block.cross, total.square + block.square)
        if total is None:
            msg = "batches is empty: at least one block (X, Y) of rows is needed"
            raise ProblemError(msg)
        return total

    @classmethod
    def of_machines(cls, held: Held) -> Moments:
        """Of tasks whose rows stay on machines, one a machine, each row as often as it counts: one round.

        A machine sends its Gram matrix, X_i^T y_i and ||y_i||^2: d (d + 3) / 2 + 1 numbers, and no row.
        """
        gram, cross, square = held.map(_of_block)
        at = np.triu_indices(gram.shape[1])
        for sent in (gram[:, at[0], at[1]], cross, square):
            held.gather(sent)
        held.ledger.end_round()
        return cls(gram, np.ascontiguousarray(cross.T), square)


def _of_block(block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return block.gram(block.counts), block.adjoint(block.counts * block.y), block.summed(block.counts * block.y**2)


def scaled_rows(X: Any, factors: np.ndarray) -> Any:
    """The rows of X (n, d), dense or sparse, each times its factor (n,)."""
    if not is_sparse(X):
        return X * factors[:, None]
    import scipy.sparse as sp

    return sp.csr_array(X.multiply(factors[:, None]))


def _gram(X: Any) -> np.ndarray:
    product = X.T @ X
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)


def penalized(moments: Moments, penalty: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """(gram_i + penalty)^-1 cross_i in column i: a stack of d x d systems, or one where the tasks share X."""
    if moments.is_shared:
        return np.linalg.solve(moments.gram + penalty, cross)
    return np.linalg.solve(moments.gram + penalty, cross.T[:, :, None])[:, :, 0].T


def summed(moments: Moments, matrices: np.ndarray) -> np.ndarray:
    """The sum over tasks of their matrices, shape (m, d, d), or m times the one that they share, (d, d)."""
    return matrices * moments.shape[1] if moments.is_shared else matrices.sum(axis=0)
