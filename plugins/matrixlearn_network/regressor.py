"""Regression of tasks on a graph, in scikit-learn's form.

predict(x, task i) = w_i . x + b_i,     W = argmin of `GraphMultitask`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrixlearn.multitask import MultitaskRegressor, Rows, normalized_error
from matrixlearn_network.estimator import Chosen, Given, OnGraph


class _Regression(OnGraph, MultitaskRegressor):
    losses = ("square", "huber")


class GraphRegressor(Given, _Regression):
    """min over W of 1/m sum_i F_i(w_i) + eta/2m ||W||^2 + tau/2m tr(W L W^T): related tasks on a graph.

    F_i is the mean loss of task i's rows. Units matter: standardize features and targets.

    Parameters
    ----------
    eta : float, default=0.01
        > 0, weight of the ridge.
    tau : float, default=1.0
        >= 0, weight of the graph; graphs of `neighbours` and `variogram` have tr L = m.
    loss : {"square", "huber"}, default="square"
    fit_intercept : bool, default=True
        An intercept for each task: free of the ridge for the square loss, else the weight of a column of ones.
    method : str, default="auto"
        An engine of `GraphMultitask`.
    tol : float, default=1e-6
        Certified relative gap.
    max_iter : int, default=1000

    Attributes
    ----------
    coef_ : ndarray, shape (m, d) or (d,)
    intercept_ : ndarray, shape (m,), or float
    graph_ : Graph
        Its nodes in the order of the tasks.
    solution_ : matrixlearn.Solution
        The certificate.
    ledger_ : matrixlearn.machines.Ledger
        What machines that keep their rows would have sent.
    n_iter_ : int
    tasks_ : ndarray, shape (m,), or None
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_network import GraphRegressor, neighbours
    >>> rng = np.random.default_rng(0)
    >>> places = rng.random((30, 2))
    >>> task, X = np.repeat(np.arange(30), 4), rng.standard_normal((120, 3))
    >>> y = np.sum(X[:, :2] * places[task], axis=1) + 0.1 * rng.standard_normal(120)
    >>> model = GraphRegressor(tau=1.0).fit(X, y, task, graph=neighbours(places))
    >>> str(model.solution_.status), bool(np.abs(model.coef_[:, :2] - places).mean() < 0.1)
    ('optimal', True)
    """

    def __init__(
        self,
        eta: float = 0.01,
        tau: float = 1.0,
        *,
        loss: str = "square",
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


class GraphRegressorCV(Chosen, _Regression):
    """`GraphRegressor` with eta and tau chosen by cross-validation within tasks.

    Judged by the normalized mean squared error: that of each task over its variance, averaged over tasks.

    Parameters
    ----------
    etas : sequence of float, default=(1e-4, 1e-3, 1e-2, 1e-1)
    taus : sequence of float, default=(1e-3, 1e-2, 1e-1, 1, 10)
    cv : int, splitter or iterable, default=5
        A number of folds, dealt at random within each task; or what scikit-learn accepts, its groups being the tasks.
    random_state : int, RandomState or None, default=0
        Deals the folds.
    loss, fit_intercept, method, tol, max_iter
        As in `GraphRegressor`.

    Attributes
    ----------
    eta_, tau_ : float
        The choice.
    error_path_ : ndarray, shape (n_etas, n_taus, n_folds)
    coef_, intercept_, graph_, solution_, ledger_, n_iter_, tasks_, n_features_in_
        As in `GraphRegressor`, fitted to all rows.
    """

    def __init__(
        self,
        *,
        etas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1),
        taus: Sequence[float] = (1e-3, 1e-2, 1e-1, 1.0, 10.0),
        cv: Any = 5,
        random_state: Any = 0,
        loss: str = "square",
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
        return normalized_error(held, predicted, of)
