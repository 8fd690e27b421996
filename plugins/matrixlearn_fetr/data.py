"""What FETR needs of the data: second moments, computed once, and never the rows again.

    sum_i ||y_i - X_i w_i||^2 = sum_i ||y_i||^2 - 2 <C, W> + <W, G(W)>,     c_i = X_i^T y_i,  G(W)_i = X_i^T X_i w_i

One Gram matrix where the tasks share their instances, one for each task where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.problem import as_array, as_samples


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
        used = size > size[-1] * np.finfo(float).eps * len(size)
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


def scaled_rows(X: Any, factors: np.ndarray) -> Any:
    """The rows of X (n, d), dense or sparse, each times its factor (n,)."""
    if not is_sparse(X):
        return X * factors[:, None]
    import scipy.sparse as sp

    return sp.csr_array(X.multiply(factors[:, None]))


def _gram(X: Any) -> np.ndarray:
    product = X.T @ X
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)


# -- checks ----------------------------------------------------------------------------------------


def is_sparse(value: Any) -> bool:
    """Whether a value is a scipy sparse matrix or array."""
    return hasattr(value, "tocsr")


def as_rows(name: str, value: Any) -> Any:
    """Real finite rows (n, d): a float64 array, or a CSR array where the value is sparse."""
    if not is_sparse(value):
        return np.asarray(as_samples(name, value))
    import scipy.sparse as sp

    if np.iscomplexobj(value):
        msg = f"{name} must be real, got {value.dtype}"
        raise ProblemError(msg)
    rows = sp.csr_array(value).astype(float)
    if 0 in rows.shape:
        msg = f"{name} is empty: shape {rows.shape}"
        raise ProblemError(msg)
    if rows.nnz:
        as_array(name, rows.data)
    return rows


def as_targets(name: str, value: Any) -> np.ndarray:
    """Real finite targets (n, m); a vector is one task."""
    try:
        array = np.asarray(as_array(name, value))
    except ProblemError as error:
        if "NaN" not in str(error):
            raise
        msg = (
            f"{error}. Where targets of shared instances are missing, with_missing(X, Y) takes NaN for them; else "
            f"give each task the rows that it has, as lists of X_i and y_i or with the argument task"
        )
        raise ProblemError(msg) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or np.iscomplexobj(array):
        msg = f"{name} must be real of shape (n, m) or (n,), got {array.dtype} of shape {array.shape}"
        raise ProblemError(msg)
    return array


def as_labels(task: Any) -> np.ndarray:
    """Labels as an array of whatever kind, none of them missing."""
    labels = np.asarray(task)
    each = labels.reshape(-1)
    if labels.dtype == object:
        missing = np.array([_is_missing(label) for label in each.tolist()])
    else:
        missing = ~np.isfinite(each) if labels.dtype.kind in "fcmM" else np.zeros(len(each), bool)
    if np.any(missing):
        at = int(np.argmax(missing))
        msg = f"task holds NaN, infinity or nothing, {each[at]!r} at row {at}; every row is of one task"
        raise ProblemError(msg)
    return labels


def _is_missing(label: Any) -> bool:
    itself = label == label  # NaN is not; pandas' NA does not know
    return label is None or not (isinstance(itself, bool | np.bool_) and bool(itself))


def known_targets(Y: Any) -> np.ndarray | None:
    """Where the targets (n, m) of shared instances are not NaN; None where all are, or for any other Y."""
    try:
        values = np.asarray(Y)
        if values.ndim != 2 or values.dtype.kind not in "fO":
            return None
        values = values.astype(float)
    except (TypeError, ValueError):  # words, or ragged
        return None
    if not np.isnan(values).any():
        return None
    return np.asarray(~np.isnan(values))


def require_rows(X: Any, Y: Any) -> None:
    """One row of targets for each of the instances."""
    if X.shape[0] != Y.shape[0]:
        msg = f"X and Y must have one row each, got {X.shape[0]} and {Y.shape[0]}"
        raise ProblemError(msg)
