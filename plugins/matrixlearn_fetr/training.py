"""The training problem of an estimator: the problem of given rows, the predictions of its weights, and their error.

One class for the squared loss and one for the logistic; all else of the estimators is the same for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import Rows, is_sparse, mean_log_loss, normalized_error
from matrixlearn_fetr.classification import LogisticFETR
from matrixlearn_fetr.problem import FETR


class Training(ABC):
    """The problem of some rows, for any eta and bounds.

    Parameters
    ----------
    rows : Rows
    names : ndarray, shape (m,), or None
        Those of the tasks, where they have any.
    fit_intercept : bool
    """

    def __init__(self, rows: Rows, names: np.ndarray | None, fit_intercept: bool) -> None:
        self.rows = rows
        self.names = names
        self.fit_intercept = fit_intercept

    @property
    @abstractmethod
    def problem(self) -> FETR:
        """With any prior; ``with_prior`` gives it another."""

    @abstractmethod
    def linear(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, shape (d, m), and intercepts, shape (m,), for weights of the problem."""

    @staticmethod
    @abstractmethod
    def error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        """Of w_i . x + b_i on rows that were held out of some."""


class SquaredTraining(Training):
    """The squared loss, known by moments; an intercept of each task is free of the prior."""

    @cached_property
    def problem(self) -> FETR:
        """Of the rows less the means of their tasks, where there are intercepts."""
        of = self.rows.centred_moments() if self.fit_intercept else self.rows.moments()
        try:
            return FETR(gram=of.gram, cross=of.cross, square=of.square, task=self.names)
        except ProblemError as error:
            msg = f"X and y hold values whose products overflow; choose larger units ({error})"
            raise ProblemError(msg) from error

    def linear(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return weights, self.rows.centre.intercept(weights) if self.fit_intercept else np.zeros(self.rows.tasks)

    @staticmethod
    def error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        return normalized_error(held, predicted, of)


class LogisticTraining(Training):
    """The logistic loss of labels -1 and 1; the intercept is the weight of a column of ones, under the prior."""

    @cached_property
    def problem(self) -> FETR:
        rows = self.rows
        if rows.task is None:
            return LogisticFETR(self._extended(rows.X), rows.Y, sample_weight=rows.weight)
        rows = rows.take(np.argsort(rows.task, kind="stable"))  # the problem names tasks as their first rows come
        labels = np.arange(rows.tasks) if self.names is None else self.names
        return LogisticFETR(self._extended(rows.X), rows.Y, task=labels[rows.task], sample_weight=rows.weight)

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
