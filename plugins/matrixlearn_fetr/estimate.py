"""What FETR estimates: weights, their mean, and the two precision matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.multitask import SpectralPrecision
from matrixlearn_fetr.covariance import JointPrecisions


@dataclass(frozen=True, eq=False)
class Estimate:
    """W ~ MN(mean 1^T, S1^{-1}, S2^{-1}): the weights, and the best pair of precisions for them.

    Attributes
    ----------
    weights : array, shape (d, m)
        W, a column for each task.
    mean : array, shape (d,)
        w0; zeros where the mean is zero.
    precisions : JointPrecisions
        S1 and S2.
    feature_precision, task_precision : SpectralPrecision
        S1 (d x d) and S2 (m x m); ``dense()`` gives the matrix.
    feature_covariance, task_covariance : array
        S1^{-1} and S2^{-1}, dense.
    feature_relations, task_relations : array
        Correlations of features, P diag(1 / (a b)) P^T, and of tasks, Q diag(1 / (a b)) Q^T, scaled to a unit
        diagonal. The prior acts through the products a b alone, and the best pair keeps all but large ones of them on
        one side (`covariance`): these show on both sides what was learned.
    """

    weights: np.ndarray
    mean: np.ndarray
    precisions: JointPrecisions

    @property
    def deviations(self) -> np.ndarray:
        """W - w0 1^T, (d, m)."""
        return self.weights - self.mean[:, None]

    @property
    def feature_precision(self) -> SpectralPrecision:
        return self.precisions.feature

    @property
    def task_precision(self) -> SpectralPrecision:
        return self.precisions.task

    @property
    def feature_covariance(self) -> np.ndarray:
        return self.feature_precision.inverse.dense()

    @property
    def task_covariance(self) -> np.ndarray:
        return self.task_precision.inverse.dense()

    @property
    def feature_relations(self) -> np.ndarray:
        return _correlation(self.precisions.by_features.feature)

    @property
    def task_relations(self) -> np.ndarray:
        return _correlation(self.precisions.by_tasks.task)


def _correlation(precision: SpectralPrecision) -> np.ndarray:
    """The covariance, scaled to a unit diagonal."""
    covariance = precision.inverse
    deviation = np.sqrt(covariance.diagonal)
    return np.asarray(covariance.dense() / np.outer(deviation, deviation))


@dataclass(frozen=True, eq=False)
class ScatterEstimate:
    """W ~ N(mean 1^T, Omega (x) I): the weights of a mixed model, whose tasks are alike before they are seen.

    Attributes
    ----------
    weights : array
        W in the coordinates of the problem.
    mean : array, shape (d,)
    feature_covariance : array, shape (d, d)
        Omega.
    relations : JointPrecisions
        The best precisions for the deviations that were found, in units of Omega: these show how tasks are related.
    """

    weights: np.ndarray
    mean: np.ndarray
    feature_covariance: np.ndarray
    relations: JointPrecisions

    @property
    def task_covariance(self) -> np.ndarray:
        return np.eye(self.weights.shape[1])

    @property
    def feature_relations(self) -> np.ndarray:
        deviation = np.sqrt(np.diag(self.feature_covariance))
        return np.asarray(self.feature_covariance / np.outer(deviation, deviation))

    @property
    def task_relations(self) -> np.ndarray:
        return _correlation(self.relations.by_tasks.task)
