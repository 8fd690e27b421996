"""The base classes of the estimators of tasks on a graph: eta and tau as given, or chosen by cross-validation.

predict(x, task i) = w_i . x + b_i,     W = argmin of `GraphMultitask`
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from matrixlearn import Solution, Status, solve
from matrixlearn.machines import Ledger
from matrixlearn.multitask import (
    Rows,
    is_sparse,
    number_at_least,
    splits,
)
from matrixlearn_network.graph import Graph, as_graph
from matrixlearn_network.networked import NetworkProblem
from matrixlearn_network.picture import figure_of
from matrixlearn_network.problem import GraphMultitask


class OnGraph:
    """Base class: the graph of `fit`, the problem of some rows, tasks that were not seen."""

    losses: ClassVar[tuple[str, ...]]
    """The names that ``loss`` may have."""

    loss: str
    """The name of the loss of a row."""
    fit_intercept: bool
    method: Any
    tol: float
    max_iter: int
    tasks_: np.ndarray | None
    coef_: np.ndarray
    intercept_: Any

    def _check(self) -> None:
        number_at_least("tol", self.tol, 0, strictly=True)
        number_at_least("max_iter", self.max_iter, 0)
        if self.loss not in self.losses:
            msg = f"loss must be one of {self.losses}, got {self.loss!r}"
            raise ValueError(msg)

    def fit(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None, graph: Any = None) -> Any:
        """Fit all tasks together.

        Parameters
        ----------
        X, y, task, sample_weight
            As in `matrixlearn.multitask.MultitaskRegressor`. Sparse X is made dense where intercepts are free.
        graph : Graph, networkx graph, array or sparse array (m, m), edges, or None
            Of the tasks, those of ``task`` in ascending order, or the columns of y; see `as_graph`. None is
            `complete`: tasks near their mean.

        Returns
        -------
        self
        """
        self._given_graph = graph
        try:
            return super().fit(X, y, task, sample_weight)  # type: ignore[misc]  # of what this is mixed into
        finally:
            del self._given_graph

    def _fitted(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        names = tuple(range(rows.tasks)) if self.tasks_ is None else tuple(self.tasks_.tolist())
        self.graph_ = as_graph(self._given_graph, names)
        solution = self._solution(rows)
        if solution.status is Status.STOPPED:
            msg = f"fit stopped: gap {solution.gap:.2e}, {solution.status.advice}"
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)
        problem = solution.problem
        assert isinstance(problem, NetworkProblem)
        self.solution_ = solution
        self.ledger_: Ledger | None = problem.ledger(solution.method)
        self.n_iter_ = max(1, solution.iterations)
        return self._linear(rows, problem.weights(solution))

    @abstractmethod
    def _solution(self, rows: Rows) -> Solution:
        """For the eta and tau that are given, or chosen here."""

    @property
    def _is_centred(self) -> bool:
        """Whether the intercept of a task is what makes it pass through its means, free of the ridge."""
        return self.fit_intercept and self.loss == "square"

    def _data(self, rows: Rows) -> dict[str, Any]:
        """X and y of a problem, less the means of their tasks, or with a column of ones, where there are intercepts."""
        X, Y = rows.X, rows.Y
        if self._is_centred:
            mine = slice(None) if rows.task is None else rows.task
            X = X - rows.centre.x[mine] if not is_sparse(X) else X.toarray() - rows.centre.x[mine]
            Y = Y - rows.centre.y[mine]
        elif self.fit_intercept:
            X = _with_ones(X)
        plain = Graph(self.graph_.weights, None, self.graph_.coordinates)
        return {"X": X, "Y": Y, "graph": plain, "task": rows.task, "sample_weight": rows.weight}

    def _linear(self, rows: Rows, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, (d, m), and intercepts, (m,)."""
        if self._is_centred:
            return W, rows.centre.intercept(W)
        return (W[:-1], W[-1]) if self.fit_intercept else (W, np.zeros(rows.tasks))

    def _solve(self, problem: NetworkProblem, warm_start: Solution | None = None) -> Solution:
        return solve(problem, method=self.method, tol=self.tol, max_iter=self.max_iter, warm_start=warm_start)

    # -- tasks that were not seen -------------------------------------------------------------------

    def with_task(self, name: Hashable, edges: Mapping[Hashable, float]) -> Any:
        """This model, and a task that ``fit`` did not see: the weighted mean of its neighbours' weights.

        Parameters
        ----------
        name : label
        edges : mapping of tasks that are known to weights > 0

        Raises
        ------
        ValueError
            For an unknown neighbour, no neighbour, or a task that is known.
        """
        check_is_fitted(self)
        if self.tasks_ is None:
            msg = "with_task needs a model that was fitted with the task of each row"
            raise ValueError(msg)
        known = self.tasks_.tolist()
        strange = [neighbour for neighbour in edges if neighbour not in known]
        if strange or not edges or min(edges.values()) <= 0:
            msg = f"edges must give weights > 0 to tasks that fit has seen, got {dict(edges)!r}"
            raise ValueError(msg)
        if name in known:
            msg = f"task {name!r} is known"
            raise ValueError(msg)
        share = np.zeros(len(known))
        share[[known.index(neighbour) for neighbour in edges]] = list(edges.values())
        share /= share.sum()
        labels = np.array([*known, name])
        order = np.argsort(labels)
        other: Self = clone(self)
        vars(other).update(vars(self))
        other.tasks_ = labels[order]
        other.coef_ = np.vstack([self.coef_, share @ self.coef_])[order]
        other.intercept_ = np.append(self.intercept_, share @ self.intercept_)[order]
        return other

    def plot(self, feature: int = 0) -> Any:
        """The graph coloured by a coefficient, and the certified gap against rounds and against vectors sent.

        Parameters
        ----------
        feature : int
            Whose coefficient colours the tasks.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_is_fitted(self)
        coefficient = self.coef_.reshape(len(self.graph_), -1)[:, feature]
        names = getattr(self, "feature_names_in_", None)
        label = f"coefficient of feature {feature}" if names is None else f"coefficient of {names[feature]}"
        return figure_of(self.graph_, coefficient, label, self.solution_)


class NearNeighbours(OnGraph):
    """The problem is `GraphMultitask`."""

    def _problem(self, rows: Rows, eta: float, tau: float) -> GraphMultitask:
        return GraphMultitask(**self._data(rows), eta=eta, tau=tau, loss=self.loss)


class Given(NearNeighbours):
    """eta and tau as given."""

    eta: float
    tau: float

    def _check(self) -> None:
        super()._check()
        number_at_least("eta", self.eta, 0, strictly=True)
        number_at_least("tau", self.tau, 0)

    def _solution(self, rows: Rows) -> Solution:
        return self._solve(self._problem(rows, self.eta, self.tau))


class Chosen(NearNeighbours):
    """eta and tau of the least error on rows held out, within tasks; each eta is a path up the taus, warm."""

    etas: Sequence[float]
    taus: Sequence[float]
    cv: Any
    random_state: Any

    def _check(self) -> None:
        super()._check()
        if len(self.etas) == 0 or len(self.taus) == 0:
            msg = f"etas and taus must not be empty, got {self.etas!r} and {self.taus!r}"
            raise ValueError(msg)
        for eta in self.etas:
            number_at_least("each of etas", eta, 0, strictly=True)
        for tau in self.taus:
            number_at_least("each of taus", tau, 0)

    def _solution(self, rows: Rows) -> Solution:
        errors = [self._errors(rows, train, test) for train, test in splits(rows, self.cv, self.random_state)]
        self.error_path_ = np.moveaxis(np.array(errors), 0, 2)
        at, k = divmod(int(np.argmin(self.error_path_.mean(axis=2))), len(self.taus))
        self.eta_, self.tau_ = self.etas[at], self.taus[k]
        return self._solve(self._problem(rows, self.eta_, self.tau_))

    def _errors(self, rows: Rows, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """The error on the test rows, (etas, taus)."""
        seen, held = rows.take(train), rows.take(test)
        errors = np.empty((len(self.etas), len(self.taus)))
        for at, k, W in self._path(seen):
            predicted = held.predicted(*self._linear(seen, W))
            errors[at, k] = self._error(held, predicted, rows)
        return errors

    def _path(self, seen: Rows) -> Iterator[tuple[int, int, np.ndarray]]:
        problem = self._problem(seen, self.etas[0], self.taus[0])
        for at, eta in enumerate(self.etas):
            solution = None
            for k in np.argsort(self.taus):
                solution = self._solve(problem.with_prior(eta, self.taus[k]), solution)
                yield at, int(k), np.asarray(solution.matrix)

    @staticmethod
    @abstractmethod
    def _error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
        """Of w_i . x + b_i on rows that were held out of some."""


def _with_ones(X: Any) -> Any:
    if not is_sparse(X):
        return np.column_stack([X, np.ones(len(X))])
    import scipy.sparse as sp  # late: import time

    return sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))]))
