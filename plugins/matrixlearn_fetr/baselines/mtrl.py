"""Multitask relationship learning (Zhang and Yeung, 2010)."""

from __future__ import annotations

import numpy as np

from matrixlearn.multitask import Moments, MomentsRegressor, number_at_least
from matrixlearn_fetr.baselines.trace_norm import TraceNorm, root_covariance


class MTRLRegressor(MomentsRegressor):
    """min over W, O of sum_i ||y_i - X_i w_i||^2 + lambda1/2 tr(W W^T) + lambda2/2 tr(W O^-1 W^T), tr O = 1  (MTRL).

    With O >= 0 minimized out, the last term is lambda2/2 ||W||_*^2: for lambda1 = 0 this is `MTFLRegressor` with
    alpha = lambda2/2, read through the covariance of the tasks in place of that of the features. Convex, and
    solved to a duality gap.

    Parameters
    ----------
    lambda1 : float, default=1.0
        >= 0.
    lambda2 : float, default=1.0
        > 0.
    fit_intercept, tol, max_iter
        As in `MTFLRegressor`.

    Attributes
    ----------
    coef_, intercept_, tasks_, n_features_in_
        As in `SingleTaskRidge`.
    task_covariance_ : ndarray, shape (m, m)
        O = (W^T W)^(1/2) / tr(.).
    gaps_, n_iter_
        As in `MTFLRegressor`.
    """

    def __init__(
        self,
        lambda1: float = 1.0,
        lambda2: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        number_at_least("lambda1", self.lambda1, 0)
        number_at_least("lambda2", self.lambda2, 0, strictly=True)
        number_at_least("tol", self.tol, 0, strictly=True)
        number_at_least("max_iter", self.max_iter, 1)

    def _weights(self, moments: Moments) -> np.ndarray:
        ended = TraceNorm(moments, self.lambda2 / 2, self.lambda1 / 2).solve(self.tol, self.max_iter)
        ended.warn_unless(self.tol)
        self.gaps_, self.n_iter_ = ended.gaps, len(ended.gaps)
        self.task_covariance_ = root_covariance(ended.W.T)
        return ended.W
