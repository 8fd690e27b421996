"""Regression of tasks on a graph with sparse weights, in scikit-learn's form.

predict(x, task i) = w_i . x + b_i,     W of `GSpartan`, `JointlySparse` or `ConcaveJointlySparse`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn import Solution
from matrixlearn.multitask import MultitaskRegressor, Rows, number_at_least
from matrixlearn_network.estimator import OnGraph
from matrixlearn_network.gspartan import GSpartan
from matrixlearn_network.joint import ConcaveJointlySparse, JointlySparse
from matrixlearn_network.rows_of_groups import row_penalty


class _SparseRegression(OnGraph, MultitaskRegressor):
    """The square loss; intercepts pass through the means of their tasks, free of every penalty.

    Targets are divided by their root mean square, that of all tasks together: penalties then mean the same in all units
    of the targets.
    """

    losses = ("square",)
    loss = "square"

    def _data(self, rows: Rows) -> dict[str, Any]:
        given = super()._data(rows)
        Y = np.asarray(given["Y"])
        self.scale_ = float(np.sqrt(rows.by_task(Y**2) @ rows.count_by_task / rows.count_by_task.sum())) or 1.0
        return {**given, "Y": Y / self.scale_}

    def _linear(self, rows: Rows, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return super()._linear(rows, self.scale_ * W)


class GSpartanRegressor(_SparseRegression):
    """w_i = U v_i: few sparse base models that all tasks share, mixed alike by neighbours.

    min over U, V >= 0 of 1/2 sum_i ||X_i U v_i - y_i||^2 + mix ||V||_1 + base ||U||_1 + tie/2 tr(U V^T L V U^T)

    Units of the features matter: standardize them. y_i are the targets over `scale_`. The loss is a sum over rows, so
    that the right weights of the penalties grow with their number.

    Parameters
    ----------
    rank : int, default=5
        Base models, >= 1.
    mix, base : float, default=1.0
        > 0, weights of the norms of V and of U.
    tie : float, default=1.0
        >= 0, weight of the graph.
    fit_intercept : bool, default=True
        An intercept for each task, free of penalties.
    method : str, default="auto"
        An engine of `GSpartan`.
    tol : float, default=1e-5
        Certified relative gap of each factor by itself.
    max_iter : int, default=300

    Attributes
    ----------
    coef_ : ndarray, shape (m, d) or (d,)
    intercept_ : ndarray, shape (m,), or float
    base_models_ : ndarray, shape (rank, d)
    mixture_ : ndarray, shape (m, rank)
        V >= 0: ``coef_ = mixture_ @ base_models_``.
    scale_ : float
        The root mean square of the targets, less the means of their tasks where there are intercepts.
    graph_ : Graph
        Its nodes in the order of the tasks.
    solution_ : matrixlearn.Solution
        The certificate: "stationary".
    ledger_ : matrixlearn.machines.Ledger
        What machines that keep their rows would have sent.
    n_iter_ : int
    tasks_ : ndarray, shape (m,), or None
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_network import GSpartanRegressor
    >>> rng = np.random.default_rng(0)
    >>> task, X = np.repeat(np.arange(12), 10), rng.standard_normal((120, 6))
    >>> base = np.array([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0]])
    >>> W = rng.random((12, 2)) @ base
    >>> y = np.sum(X * W[task], axis=1) + 0.1 * rng.standard_normal(120)
    >>> model = GSpartanRegressor(2, tie=0.01).fit(X, y, task)
    >>> str(model.solution_.status), bool(np.abs(model.coef_ - W).mean() < 0.1)
    ('stationary', True)
    """

    def __init__(
        self,
        rank: int = 5,
        *,
        mix: float = 1.0,
        base: float = 1.0,
        tie: float = 1.0,
        fit_intercept: bool = True,
        method: Any = "auto",
        tol: float = 1e-5,
        max_iter: int = 300,
    ) -> None:
        self.rank = rank
        self.mix = mix
        self.base = base
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        number_at_least("rank", self.rank, 1)
        number_at_least("mix", self.mix, 0, strictly=True)
        number_at_least("base", self.base, 0, strictly=True)
        number_at_least("tie", self.tie, 0)

    def _solution(self, rows: Rows) -> Solution:
        problem = GSpartan(**self._data(rows), rank=self.rank, mix=self.mix, base=self.base, tie=self.tie)
        solution = self._solve(problem)
        at = problem.factors(solution.matrix)
        self.base_models_, self.mixture_ = self.scale_ * at.U.T, at.V
        return solution


class JointlySparseRegressor(_SparseRegression):
    """Neighbours use the same few features, and have like weights.

    min over W of 1/m (sum_i F_i(w_i) + rho/2 tr(W L W^T) + eta sum over nodes i, features r of phi(||w_ir||)), F_i half
    the mean squared error of task i, w_ir the weights of feature r at i and at its neighbours

    Units of the features matter: standardize them. Targets are divided by `scale_`.

    Parameters
    ----------
    rho : float, default=0.1
        >= 0, weight of the graph.
    eta : float, default=0.01
        >= 0, weight of the penalty.
    penalty : {"l21", "rw", "l20"}, default="l21"
        phi(t) = t, certified "optimal"; or log(1 + epsilon t) or 1 - exp(-epsilon t), "stationary": they spare large
        rows.
    epsilon : float, default=10
        > 0, one over the size from which a row is spared.
    ridge : float, default=1e-6
        > 0, for the bounds.
    fit_intercept : bool, default=True
        An intercept for each task, free of penalties.
    method : str, default="auto"
        An engine of the problem.
    tol : float, default=1e-5
        Certified relative gap.
    max_iter : int, default=300

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
    scale_ : float
        The root mean square of the targets, less the means of their tasks where there are intercepts.
    n_iter_ : int
    tasks_ : ndarray, shape (m,), or None
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_network import JointlySparseRegressor
    >>> rng = np.random.default_rng(0)
    >>> task, X = np.repeat(np.arange(8), 12), rng.standard_normal((96, 10))
    >>> W = np.zeros((8, 10))
    >>> W[:, :2] = 1 + 0.3 * rng.standard_normal((8, 2))
    >>> y = np.sum(X * W[task], axis=1) + 0.1 * rng.standard_normal(96)
    >>> model = JointlySparseRegressor(penalty="l20", eta=0.02).fit(X, y, task)
    >>> str(model.solution_.status), bool(np.all((model.coef_ != 0) == (W != 0)))
    ('stationary', True)
    """

    def __init__(
        self,
        rho: float = 0.1,
        eta: float = 0.01,
        *,
        penalty: str = "l21",
        epsilon: float = 10.0,
        ridge: float = 1e-6,
        fit_intercept: bool = True,
        method: Any = "auto",
        tol: float = 1e-5,
        max_iter: int = 300,
    ) -> None:
        self.rho = rho
        self.eta = eta
        self.penalty = penalty
        self.epsilon = epsilon
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        number_at_least("rho", self.rho, 0)
        number_at_least("eta", self.eta, 0)
        number_at_least("ridge", self.ridge, 0, strictly=True)

    def _solution(self, rows: Rows) -> Solution:
        given = {**self._data(rows), "rho": self.rho, "eta": self.eta, "ridge": self.ridge}
        if row_penalty(self.penalty, self.epsilon).name == "l21":
            return self._solve(JointlySparse(**given))
        return self._solve(ConcaveJointlySparse(**given, penalty=self.penalty, epsilon=self.epsilon))
