"""The training problem of an estimator: the problem of given rows, the predictions of its weights, and their error.

One class for the squared loss, one for it with strengths by restricted maximum likelihood, and one for the logistic;
all else of the estimators is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn import Solution
from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import Moments, Rows, is_sparse, mean_log_loss, normalized_error
from matrixlearn_fetr.classification import LogisticFETR
from matrixlearn_fetr.covariance import joint_precisions
from matrixlearn_fetr.estimate import Estimate, ScatterEstimate
from matrixlearn_fetr.mixed import MixedModel, Structure, estimate
from matrixlearn_fetr.problem import FETR
from matrixlearn_fetr.relations import estimate_of


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

    def estimate(self, solution: Solution) -> Estimate | ScatterEstimate:
        """The weights and their covariances, from a solution of the problem."""
        return estimate_of(solution)

    def mixed(self, structure: Structure) -> MixedTraining | None:
        """The same rows with strengths by restricted maximum likelihood; None where that is not possible."""
        return None


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
        return normalized_error(held, predicted, of, prior=0.0 if of.task is None else PRIOR_ROWS)

    @cached_property
    def _extended(self) -> Moments:
        """Of the rows with a column of ones first and features less their mean, where there are intercepts.

        Dense rows are shifted; of sparse ones, which stay sparse, the moments are.
        """
        rows = self.rows
        if not self.fit_intercept:
            return rows.moments()
        if not is_sparse(rows.X):
            return replace(rows, X=np.column_stack([np.ones(len(rows)), rows.X - self._mean])).moments()
        import scipy.sparse as sp

        raw = replace(rows, X=sp.csr_array(sp.hstack([np.ones((len(rows), 1)), rows.X]))).moments()
        shift = np.eye(raw.shape[0])
        shift[0, 1:] = -self._mean
        return Moments(shift.T @ raw.gram @ shift, shift.T @ raw.cross, raw.square)

    @property
    def _mean(self) -> np.ndarray:
        """The mean of the features over all rows, as they count, (d,)."""
        return np.asarray(self.rows.X.T @ self.rows.counts / self.rows.counts.sum())

    def mixed(self, structure: Structure) -> MixedTraining | None:
        moments, count = self._extended, float(np.sum(self.rows.count_by_task))
        if moments.is_shared:
            p, m = moments.shape
            moments = Moments(np.broadcast_to(moments.gram, (m, p, p)), moments.cross, moments.square)
        model = estimate(moments, count, structure, self.fit_intercept)
        return None if model is None else MixedTraining(self, model, self._mean if self.fit_intercept else None)


class MixedTraining(Training):
    """The squared loss in the features A R in which the prior of a mixed model is the identity: eta = 1, S1 = S2 = I.

    Parameters
    ----------
    squared : SquaredTraining
    model : MixedModel
    mean : array, shape (d,), or None
        What was taken off the features; None where there are no intercepts.
    """

    def __init__(self, squared: SquaredTraining, model: MixedModel, mean: np.ndarray | None) -> None:
        super().__init__(squared.rows, squared.names, squared.fit_intercept)
        self.model = model
        self.mean = mean

    @cached_property
    def problem(self) -> FETR:
        """With its prior: convex, for the precisions are fixed."""
        of, R = self.model.moments, self.model.root
        gram, cross = R.T @ of.gram @ R, R.T @ of.cross
        of_rows = FETR(gram=gram, cross=cross, square=of.square, task=self.names)
        return of_rows.with_prior(eta=1.0, lower=1.0, upper=1.0, mean="shared")

    def linear(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        W = self.model.root @ weights
        if self.mean is None:
            return W, np.zeros(self.rows.tasks)
        return W[1:], W[0] - self.mean @ W[1:]

    @property
    def of_model(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts without a solve: the problem's, by the formulas of the mixed model."""
        return self.linear(np.linalg.solve(self.model.root, (self.model.deviations + self.model.mean).T))

    @staticmethod
    def error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        return SquaredTraining.error(held, predicted, of)

    def estimate(self, solution: Solution) -> ScatterEstimate:
        """In the user's features."""
        of = estimate_of(solution)
        slopes = slice(0 if self.mean is None else 1, None)
        R, sigma = self.model.root[slopes], float(np.sqrt(self.model.noise))
        relations = joint_precisions(of.deviations / sigma, *RELATIONS)
        return ScatterEstimate(of.weights, R @ of.mean, sigma**2 * R @ R.T, relations)


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


PRIOR_ROWS = 10.0
"""Rows that the variance within all tasks stands for in that of each, where errors are normalized to choose by: two
rows that happen to be alike must not decide."""

RELATIONS = (1e-3, 1e3)
"""The bounds of the precisions that say how tasks are related, where those of the prior are fixed."""
