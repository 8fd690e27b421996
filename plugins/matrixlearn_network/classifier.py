"""Classification of tasks on a graph, in scikit-learn's form.

predict(x, task i) = w_i . x + b_i,     W = argmin of `GraphMultitask`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrixlearn.multitask import MultitaskClassifier, Rows, mean_log_loss
from matrixlearn_network.estimator import Chosen, Given, OnGraph


class _Classification(OnGraph, MultitaskClassifier):
    losses = ("logistic", "hinge", "squared-hinge")


class GraphClassifier(Given, _Classification):
    """`GraphRegressor` for classes: the logistic loss, or a hinge.

    The tasks are those of the rows, with two classes; or the columns of an indicator matrix; or the classes, each
    against the rest.

    Parameters
    ----------
    eta, tau, fit_intercept, method, tol, max_iter
        As in `GraphRegressor`; the intercept is the weight of a column of ones.
    loss : {"logistic", "hinge", "squared-hinge"}, default="logistic"
        `predict_proba` means something for the first.

    Attributes
    ----------
    classes_ : ndarray
    coef_, intercept_, graph_, solution_, ledger_, n_iter_, tasks_, n_features_in_
        As in `GraphRegressor`.
    """

    def __init__(
        self,
        eta: float = 0.01,
        tau: float = 1.0,
        *,
        loss: str = "logistic",
        fit_intercept: bool = True,
        method: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.eta = eta
        self.tau = tau
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter


class GraphClassifierCV(Chosen, _Classification):
    """`GraphClassifier` with eta and tau chosen by cross-validation within tasks, by the mean log loss of each task.

    Parameters
    ----------
    etas, taus, cv, random_state
        As in `GraphRegressorCV`.
    loss, fit_intercept, method, tol, max_iter
        As in `GraphClassifier`.

    Attributes
    ----------
    eta_, tau_, error_path_
        As in `GraphRegressorCV`.
    classes_, coef_, intercept_, graph_, solution_, ledger_, n_iter_, tasks_, n_features_in_
        As in `GraphClassifier`.
    """

    def __init__(
        self,
        *,
        etas: Sequence[float] = (1e-3, 1e-2, 1e-1),
        taus: Sequence[float] = (1e-3, 1e-2, 1e-1, 1.0, 10.0),
        cv: Any = 5,
        random_state: Any = 0,
        loss: str = "logistic",
        fit_intercept: bool = True,
        method: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.etas = etas
        self.taus = taus
        self.cv = cv
        self.random_state = random_state
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    @staticmethod
    def _error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        return mean_log_loss(held, predicted)
