"""Ridge regression without relations: a task alone (STL), and all tasks as one."""

from __future__ import annotations

import numpy as np

from matrixlearn.multitask.checks import number_at_least
from matrixlearn.multitask.moments import Moments, penalized, summed
from matrixlearn.multitask.regressor import MomentsRegressor


class Ridge(MomentsRegressor):
    """Base class: the weight of a ridge."""

    def __init__(self, alpha: float = 1.0, *, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def _check(self) -> None:
        number_at_least("alpha", self.alpha, 0)


class SingleTaskRidge(Ridge):
    """min over w_i of ||y_i - X_i w_i||^2 + alpha ||w_i||^2, each task alone (STL).

    Parameters
    ----------
    alpha : float, default=1.0
        >= 0; with 0, the X_i must have full column rank.
    fit_intercept : bool, default=True
        An intercept for each task, free of the ridge.

    Attributes
    ----------
    coef_ : ndarray, shape (m, d) or (d,)
    intercept_ : ndarray, shape (m,), or float
    tasks_ : ndarray, shape (m,), or None
        The labels, where ``fit`` was given ``task``.
    n_features_in_ : int

    Examples
    --------
    >>> from matrixlearn.multitask import SingleTaskRidge
    >>> X, y, task = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], ["a", "a", "b", "b"]
    >>> SingleTaskRidge(alpha=0.5).fit(X, y, task).predict([[2.0], [2.0]], ["a", "b"])
    array([1.25, 2.5 ])
    """

    def _weights(self, moments: Moments) -> np.ndarray:
        return penalized(moments, self.alpha * np.eye(moments.shape[0]), moments.cross)


class PooledRidge(Ridge):
    """min over one w of sum_i ||y_i - X_i w||^2 + alpha ||w||^2: the tasks differ in their intercepts only.

    The baseline that multitask papers tend to leave out. Parameters and attributes as `SingleTaskRidge`.
    """

    def _weights(self, moments: Moments) -> np.ndarray:
        d, m = moments.shape
        gram = summed(moments, moments.gram) + self.alpha * np.eye(d)
        return np.repeat(np.linalg.solve(gram, moments.cross.sum(axis=1))[:, None], m, axis=1)
