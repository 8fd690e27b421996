"""Multitask feature and relationship learning by flip-flop (Zhang and Schneider, 2010, as 004 describes it)."""

from __future__ import annotations

import numpy as np

from matrixlearn.multitask import (
    Moments,
    MomentsRegressor,
    Prior,
    SpectralPrecision,
    WeightEquation,
    number_at_least,
    solver_for,
)


class MTFRLRegressor(MomentsRegressor):
    """W given A, B; then A = W B^-1 W^T / m + eps I, then B = W^T A^-1 W / d + eps I; again  (MTFRL).

    The flip-flop estimate of a matrix normal prior, W ~ MN(0, A, B), W minimizing
    sum_i ||y_i - X_i w_i||^2 + eta tr(A^-1 W B^-1 W^T). There is no objective that this descends: without the fudge
    factor eps the prior's likelihood has no maximum (004, Section 3), and with it the sequence may or may not
    converge. `FETRRegressor` is the form with a minimum.

    Parameters
    ----------
    eta : float, default=1.0
        > 0.
    fudge : float, default=1e-3
        eps > 0, the smallest eigenvalue of A and B.
    fit_intercept : bool, default=True
        An intercept for each task, free of the penalty.
    max_iter : int, default=10
        Rounds.
    tol : float, default=1e-6
        Stop where a round changes W by at most this, relatively.

    Attributes
    ----------
    coef_, intercept_, tasks_, n_features_in_
        As in `SingleTaskRidge`.
    feature_covariance_ : ndarray, shape (d, d)
        A.
    task_covariance_ : ndarray, shape (m, m)
        B.
    changes_ : ndarray
        The relative change of W in each round.
    n_iter_ : int
    """

    def __init__(
        self,
        eta: float = 1.0,
        *,
        fudge: float = 1e-3,
        fit_intercept: bool = True,
        max_iter: int = 10,
        tol: float = 1e-6,
    ) -> None:
        self.eta = eta
        self.fudge = fudge
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def _check(self) -> None:
        for name in ("eta", "fudge"):
            number_at_least(name, getattr(self, name), 0, strictly=True)
        number_at_least("tol", self.tol, 0)
        number_at_least("max_iter", self.max_iter, 1)

    def _weights(self, moments: Moments) -> np.ndarray:
        d, m = moments.shape
        A, B = np.eye(d), np.eye(m)
        W, changes = np.zeros((d, m)), []
        for _ in range(self.max_iter):
            prior = Prior(SpectralPrecision.of(A).inverse, SpectralPrecision.of(B).inverse, self.eta)
            equation = WeightEquation(moments, prior)
            change = solver_for(equation)(equation, moments.cross - equation.apply(W))
            W = W + change
            changes.append(float(np.linalg.norm(change) / (np.linalg.norm(W) or 1.0)))
            A = _spread(W, prior.task) / m + self.fudge * np.eye(d)
            B = _spread(W.T, SpectralPrecision.of(A).inverse) / d + self.fudge * np.eye(m)
            if changes[-1] <= self.tol:
                break
        self.feature_covariance_, self.task_covariance_ = A, B
        self.changes_, self.n_iter_ = np.array(changes), len(changes)
        return W


def _spread(W: np.ndarray, precision: SpectralPrecision) -> np.ndarray:
    """W S W^T, symmetric to the last digit."""
    Z = W @ precision.power(0.5)
    return Z @ Z.T
