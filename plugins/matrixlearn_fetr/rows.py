"""Rows of several tasks as an estimator sees them, dense or sparse: their moments, their means, their predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn_fetr.data import Moments, is_sparse


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows, validated.

    Attributes
    ----------
    X : ndarray or CSR matrix, shape (n, d)
    Y : ndarray, shape (n, m), or (n,) where every row has a task
    task : ndarray of int, shape (n,), or None
        The number of each row's task.
    tasks : int
        m.
    """

    X: Any
    Y: np.ndarray
    task: np.ndarray | None
    tasks: int

    @classmethod
    def of_known(cls, X: Any, Y: np.ndarray, known: np.ndarray) -> Rows:
        """One row for each known target of shared instances; ``known``, (n, m), has at least one a column."""
        task, row = np.nonzero(known.T)
        return cls(X[row], Y[row, task], task, Y.shape[1])

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(self.X[rows], self.Y[rows], None if self.task is None else self.task[rows], self.tasks)

    @cached_property
    def of_task(self) -> list[np.ndarray]:
        """The numbers of the rows of each task, where every row has one."""
        assert self.task is not None
        ends = np.cumsum(np.bincount(self.task, minlength=self.tasks))
        return np.split(np.argsort(self.task, kind="stable"), ends[:-1])

    def moments(self) -> Moments:
        """X_i^T X_i, X_i^T y_i and y_i^T y_i of each task i."""
        if self.task is None:
            return Moments.of_shared(self.X, self.Y)
        return Moments.of_tasks(self.X, self.Y, self.task, self.tasks)

    @cached_property
    def centre(self) -> Centre:
        """The means of each task."""
        if self.task is None:
            return Centre(_mean(self.X)[None], self.Y.mean(axis=0))
        return Centre(
            np.stack([_mean(self.X[i]) for i in self.of_task]), np.array([self.Y[i].mean() for i in self.of_task])
        )

    def centred_moments(self) -> Moments:
        """The moments of the rows less `centre`.

        Dense rows are shifted. Sparse ones stay sparse: (X - 1 x^T)^T (X - 1 x^T) = X^T X - n x x^T for the mean x.
        """
        x, y = self.centre.x, self.centre.y
        mine = slice(None) if self.task is None else self.task  # x[mine] and y[mine] are those of each row
        if not is_sparse(self.X):
            return Rows(self.X - x[mine], self.Y - y[mine], self.task, self.tasks).moments()
        raw = Rows(self.X, self.Y - y[mine], self.task, self.tasks).moments()
        n = np.array([len(self)]) if self.task is None else np.bincount(self.task, minlength=self.tasks)
        outer = n[:, None, None] * x[:, :, None] * x[:, None, :]
        return Moments(raw.gram - outer.reshape(raw.gram.shape), raw.cross, raw.square)

    def predicted(self, W: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """w_i . x + b_i, of the shape of Y."""
        if self.task is None:
            return np.asarray(self.X @ W + intercept)
        out = intercept[self.task]
        for i, rows in enumerate(self.of_task):
            out[rows] += self.X[rows] @ W[:, i]
        return out


def _mean(X: Any) -> np.ndarray:
    return np.asarray(X.mean(axis=0), dtype=float).reshape(-1)


@dataclass(frozen=True)
class Centre:
    """Means of the features, shape (m, d), or (1, d) where the tasks share X, and of the targets, shape (m,)."""

    x: np.ndarray
    y: np.ndarray

    def intercept(self, W: np.ndarray) -> np.ndarray:
        """What makes w_i . x + b_i pass through the means, shape (m,)."""
        return self.y - np.sum(self.x * W.T, axis=1)
