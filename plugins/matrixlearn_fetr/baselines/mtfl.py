"""Multitask feature learning (Argyriou, Evgeniou and Pontil, 2007, 2008)."""

from __future__ import annotations

import numpy as np

from matrixlearn.multitask import Moments, MomentsRegressor, number_at_least
from matrixlearn_fetr.baselines.trace_norm import TraceNorm, root_covariance


class MTFLRegressor(MomentsRegressor):
    """min over W, D of sum_i ||y_i - X_i w_i||^2 + alpha tr(W^T D^-1 W), D >= 0, tr D <= 1  (MTFL).

    Which is alpha ||W||_*^2 in place of the second term: tasks that share few directions of the features. Convex,
    and solved to a duality gap.

    Parameters
    ----------
    alpha : float, default=1.0
        > 0.
    fit_intercept : bool, default=True
        An intercept for each task, free of the penalty.
    tol : float, default=1e-4
        The duality gap, relative to sum_i ||y_i||^2, at which to stop.
    max_iter : int, default=1000
        Rounds; a ConvergenceWarning where they do not suffice.

    Attributes
    ----------
    coef_, intercept_, tasks_, n_features_in_
        As in `SingleTaskRidge`.
    feature_covariance_ : ndarray, shape (d, d)
        D = (W W^T)^(1/2) / tr(.).
    gaps_ : ndarray
        The duality gap after each round, relative to sum_i ||y_i||^2.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_fetr import MTFLRegressor
    >>> X = np.random.default_rng(0).standard_normal((30, 4))
    >>> model = MTFLRegressor(alpha=0.1).fit(X, X[:, :1] @ np.ones((1, 3)))
    >>> model.feature_covariance_.round(2)[0, 0]
    np.float64(1.0)
    """

    def __init__(
        self, alpha: float = 1.0, *, fit_intercept: bool = True, tol: float = 1e-4, max_iter: int = 1000
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        number_at_least("alpha", self.alpha, 0, strictly=True)
        number_at_least("tol", self.tol, 0, strictly=True)
        number_at_least("max_iter", self.max_iter, 1)

    def _weights(self, moments: Moments) -> np.ndarray:
        ended = TraceNorm(moments, self.alpha).solve(self.tol, self.max_iter)
        ended.warn_unless(self.tol)
        self.gaps_, self.n_iter_ = ended.gaps, len(ended.gaps)
        self.feature_covariance_ = root_covariance(ended.W)
        return ended.W
