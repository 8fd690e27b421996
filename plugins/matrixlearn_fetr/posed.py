"""What an estimator makes of rows: the problem that they pose, what its weights predict, and how that is judged.

One class for the squared loss and one for the logistic; all else of the estimators is the same for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn_fetr.classification import LogisticFETR
from matrixlearn_fetr.data import Moments, is_sparse
from matrixlearn_fetr.problem import FETR
from matrixlearn_fetr.rows import Rows


class Posed(ABC):
    """The problem of some rows, for any eta and bounds.

    Parameters
    ----------
    rows : Rows
    fit_intercept : bool
    """

    def __init__(self, rows: Rows, fit_intercept: bool) -> None:
        self.rows = rows
        self.fit_intercept = fit_intercept

    @abstractmethod
    def problem(self, names: np.ndarray | None, **options: Any) -> FETR:
        """With ``eta``, ``lower``, ``upper`` and ``mean``; names of the tasks, where they have any."""

    @abstractmethod
    def linear(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, shape (d, m), and intercepts, shape (m,), for weights of the problem."""

    @staticmethod
    @abstractmethod
    def error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        """Of w_i . x + b_i on rows that were held out of some."""


class SquaredPosed(Posed):
    """The squared loss, known by moments; an intercept of each task is free of the prior."""

    @cached_property
    def moments(self) -> Moments:
        """Those of the rows less the means of their tasks, where there are intercepts."""
        return self.rows.centred_moments() if self.fit_intercept else self.rows.moments()

    def problem(self, names: np.ndarray | None, **options: Any) -> FETR:
        of = self.moments
        return FETR(gram=of.gram, cross=of.cross, square=of.square, task=names, **options)

    def linear(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return weights, self.rows.centre.intercept(weights) if self.fit_intercept else np.zeros(self.rows.tasks)

    @staticmethod
    def error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        return normalized_error(held, predicted, of)


class LogisticPosed(Posed):
    """The logistic loss of labels -1 and 1; the intercept is the weight of a column of ones, under the prior."""

    def problem(self, names: np.ndarray | None, **options: Any) -> FETR:
        rows = self.rows
        if rows.task is None:
            return LogisticFETR(self._extended(rows.X), rows.Y, **options)
        order = np.argsort(rows.task, kind="stable")  # the problem names tasks in the order of their first rows
        labels = np.arange(rows.tasks) if names is None else names
        return LogisticFETR(self._extended(rows.X)[order], rows.Y[order], task=labels[rows.task[order]], **options)

    def _extended(self, X: Any) -> Any:
        if not self.fit_intercept:
            return X
        if not is_sparse(X):
            return np.column_stack([X, np.ones(len(X))])
        import scipy.sparse as sp

        return sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))]))

    def linear(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (weights[:-1], weights[-1]) if self.fit_intercept else (weights, np.zeros(self.rows.tasks))

    @staticmethod
    def error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        return mean_log_loss(held, predicted)


def normalized_error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
    """Mean over tasks of the mean squared error over the task's variance in ``of``; 1 stands for a variance of 0."""
    squared = (held.Y - predicted) ** 2
    if held.task is None:
        return float(np.mean(squared.mean(axis=0) / _or_one(of.Y.var(axis=0))))
    variance = _or_one(np.array([of.Y[i].var() for i in of.of_task]))
    there = [i for i in range(held.tasks) if np.any(held.task == i)]
    return float(np.mean([squared[held.task == i].mean() / variance[i] for i in there]))


def _or_one(variance: np.ndarray) -> np.ndarray:
    return np.where(variance > 0, variance, 1.0)


def mean_log_loss(held: Rows, predicted: np.ndarray) -> float:
    """Mean over tasks of the mean logarithm of 1 + exp(-y p) for labels y of -1 and 1."""
    loss = np.logaddexp(0.0, -held.Y * predicted)
    if held.task is None:
        return float(loss.mean())
    return float(np.mean([loss[rows].mean() for rows in held.of_task if len(rows)]))
