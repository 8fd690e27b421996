"""Tasks near their mean (Evgeniou and Pontil, 2004)."""

from __future__ import annotations

import numpy as np

from matrixlearn.multitask.checks import number_at_least
from matrixlearn.multitask.moments import Moments, penalized, summed
from matrixlearn.multitask.regressor import MomentsRegressor


class MeanRegularizedRidge(MomentsRegressor):
    """min over W, w_0 of sum_i ||y_i - X_i w_i||^2 + alpha sum_i ||w_i - w_0||^2 + beta ||w_0||^2.

    Between `SingleTaskRidge` (beta to infinity) and `PooledRidge` (alpha to infinity, for its alpha = beta).

    Parameters
    ----------
    alpha : float, default=1.0
        > 0: how near the tasks stay to their mean.
    beta : float, default=1.0
        >= 0: the ridge of the mean; with 0, the X_i together must have full column rank.
    fit_intercept : bool, default=True
        An intercept for each task, free of the ridge.

    Attributes
    ----------
    coef_, intercept_, tasks_, n_features_in_
        As in `SingleTaskRidge`.
    mean_ : ndarray, shape (d,)
        w_0.
    """

    def __init__(self, alpha: float = 1.0, beta: float = 1.0, *, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.beta = beta
        self.fit_intercept = fit_intercept

    def _check(self) -> None:
        number_at_least("alpha", self.alpha, 0, strictly=True)
        number_at_least("beta", self.beta, 0)

    def _weights(self, moments: Moments) -> np.ndarray:
        """Given w_0, w_i = w_0 + (gram_i + alpha I)^-1 (cross_i - gram_i w_0); that leaves a d x d system for w_0."""
        d, m = moments.shape
        ridge = self.alpha * np.eye(d)
        alone = penalized(moments, ridge, moments.cross)
        reduced = self.alpha * np.linalg.solve(moments.gram + ridge, moments.gram)
        system = summed(moments, reduced) + self.beta * np.eye(d)
        self.mean_ = np.linalg.solve(system, self.alpha * alone.sum(axis=1))
        pull = np.repeat(self.alpha * self.mean_[:, None], m, axis=1)
        return alone + penalized(moments, ridge, pull)
