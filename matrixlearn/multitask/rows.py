"""Rows of several tasks as an estimator sees them, dense or sparse: their moments, their means, their predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import is_sparse
from matrixlearn.multitask.moments import Moments


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
    weight : ndarray, shape (n,), or None
        What each row's loss counts; None where all count 1.
    """

    X: Any
    Y: np.ndarray
    task: np.ndarray | None
    tasks: int
    weight: np.ndarray | None = None

    @classmethod
    def of_known(cls, X: Any, Y: np.ndarray, known: np.ndarray, weight: np.ndarray | None) -> Rows:
        """One row for each known target of shared instances; ``known``, (n, m), has at least one a column."""
        task, row = np.nonzero(known.T)
        return cls(X[row], Y[row, task], task, Y.shape[1], None if weight is None else weight[row])

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: np.ndarray) -> Rows:
        """Some of the rows."""
        task, weight = (None if each is None else each[rows] for each in (self.task, self.weight))
        return Rows(self.X[rows], self.Y[rows], task, self.tasks, weight)

    @cached_property
    def counts(self) -> np.ndarray:
        """What each row's loss counts, (n,)."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def count_by_task(self) -> np.ndarray:
        """What the rows of each task count together, (m,)."""
        if self.task is None:
            return np.full(self.tasks, self.counts.sum())
        return np.bincount(self.task, self.counts, self.tasks)

    @property
    def is_there(self) -> np.ndarray:
        """Whether each task has a row that counts, (m,)."""
        return self.count_by_task > 0

    def by_task(self, each: np.ndarray) -> np.ndarray:
        """The mean over each task's rows, as they count, of numbers of the shape of Y, (m,); 0 where it has none."""
        total = self.counts @ each if self.task is None else np.bincount(self.task, self.counts * each, self.tasks)
        return np.asarray(total / np.where(self.is_there, self.count_by_task, 1.0))

    @cached_property
    def of_task(self) -> list[np.ndarray]:
        """The numbers of the rows of each task, where every row has one."""
        assert self.task is not None
        ends = np.cumsum(np.bincount(self.task, minlength=self.tasks))
        return np.split(np.argsort(self.task, kind="stable"), ends[:-1])

    def moments(self) -> Moments:
        """X_i^T A_i X_i, X_i^T A_i y_i and y_i^T A_i y_i of each task i, A_i being what its rows count."""
        return Moments.of_rows(self.X, self.Y, self.task, self.tasks, self.weight)

    @cached_property
    def centre(self) -> Centre:
        """The means of each task."""
        if self.task is None:
            return Centre((self.X.T @ self.counts / self.counts.sum())[None], self.by_task(self.Y))
        sums = np.stack([self.X[i].T @ self.counts[i] for i in self.of_task])
        return Centre(sums / np.where(self.is_there, self.count_by_task, 1.0)[:, None], self.by_task(self.Y))

    def centred_moments(self) -> Moments:
        """The moments of the rows less `centre`.

        Dense rows are shifted. Sparse ones stay sparse: (X - 1 x^T)^T (X - 1 x^T) = X^T X - n x x^T for the mean x.
        """
        x, y = self.centre.x, self.centre.y
        mine = slice(None) if self.task is None else self.task  # x[mine] and y[mine] are those of each row
        if not is_sparse(self.X):
            return replace(self, X=self.X - x[mine], Y=self.Y - y[mine]).moments()
        raw = replace(self, Y=self.Y - y[mine]).moments()
        n = self.count_by_task[: len(x)]
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


@dataclass(frozen=True)
class Centre:
    """Means of the features, shape (m, d), or (1, d) where the tasks share X, and of the targets, shape (m,)."""

    x: np.ndarray
    """Means of the features, (m, d) or (1, d)."""
    y: np.ndarray
    """Means of the targets, (m,)."""

    def intercept(self, W: np.ndarray) -> np.ndarray:
        """What makes w_i . x + b_i pass through the means, shape (m,)."""
        return self.y - np.sum(self.x * W.T, axis=1)
