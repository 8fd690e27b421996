"""Graph-regularised multitask learning: tasks that are neighbours have like weights.

min over W of   1/m sum_i F_i(w_i) + eta/2m ||W||^2 + tau/2m tr(W L W^T),     F_i(w) = 1/n_i sum_j f(x_ij . w, y_ij)
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import Loss, loss_named
from matrixlearn.machines import Machines
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound
from matrixlearn.validation import as_array
from matrixlearn_network.bounds import (
    EPS,
    Pass,
    dual_pass,
    lower_bound,
    lower_by_curvature,
    ridge,
    upper_bound,
    values,
)
from matrixlearn_network.coupling import Coupling
from matrixlearn_network.networked import HERE, NetworkProblem

if TYPE_CHECKING:
    import cvxpy


SMALL = 2000
"""The order d m up to which the least eigenvalue of the whole system is computed, where eta = 0."""


@presented_by("matrixlearn_network.present:GraphPresenter")
@dataclass(frozen=True, eq=False)
class GraphMultitask(NetworkProblem):
    """min over W of 1/m sum_i F_i(w_i) + eta/2m ||W||^2 + tau/2m tr(W L W^T), F_i(w) = 1/n_i sum_j f(x_ij . w, y_ij).

    One machine a task: it keeps its rows, and iterates, gradients or Gram matrices travel (`ledger`). With
    tau to infinity all tasks have the same weights (consensus, the pooled model); with tau = 0 each is alone.

    Parameters
    ----------
    X : array or sparse array, shape (n, d); list of m such; or Shards
        Rows, shared by all tasks, each task's own, or kept by machines. Add a column of ones for an intercept.
    Y : array, shape (n,) or (n, m); or list of m arrays, shapes (n_i,)
        Targets, or labels -1 and 1; a column for each task where X is shared, NaN where a target is missing. Not with
        Shards.
    graph : Graph, networkx graph, array or sparse array (m, m), edges, or None
        See `as_graph`; rows of an array are tasks in ascending order of their labels, or in the order of a list X.
        None is `complete`.
    eta : float
        > 0, weight of the ridge. With 0 there is no dual bound: see Notes.
    tau : float
        >= 0, weight of the graph.
    loss : str or Loss
        "square", "logistic", "huber", "hinge", or any of `matrixlearn.losses`.
    task : array, shape (n,), optional
        The task of each row, where X is (n, d) and Y (n,); otherwise, shape (m,), names of the tasks.
    sample_weight : array, shape (n,); or list of m arrays, optional
        What each row counts within its task, >= 0.
    machines : Machines
        Where the rows are kept; `Local` by default.
    coordinates : array, shape (m, 2), optional
        Where `plot` draws the tasks; those of the graph by default.

    Raises
    ------
    ProblemError
        For data, a graph or parameters that cannot be right.

    Notes
    -----
    ``matrix`` of a solution is W, shape (d, m), its columns the tasks in ascending order; ``y`` a dual point, one
    number a row, rows by task, where the loss has a corner.

    The bounds hold in floating point (`bounds`). With eta = 0 the optimum is certified for the square loss by the least
    eigenvalue of the whole system where d m is at most 2000, and else not at all.

    References
    ----------
    Wang, Wang, Kolar and Srebro, "Distributed stochastic multi-task learning with graph regularization" (2018); Verma
    and B, "Distributed multi-task learning for sensor network" (2017), for ``dmtl``; Evgeniou and Pontil (2004) for the
    complete graph.
    """

    X: Any
    Y: Any = None
    graph: Any = None
    eta: float = 1.0
    tau: float = 1.0
    loss: Any = "square"
    task: Any = None
    sample_weight: Any = None
    machines: Machines = HERE
    coordinates: Any = None

    name = "graph-multitask"
    engines = ("krylov", "moments", "bol", "gd", "bsr", "dmtl", "ssr", "sol")

    def __post_init__(self) -> None:
        self._check_prior()
        self._put(loss=loss_named(self.loss))
        self._hold()

    def _check_prior(self) -> None:
        self._weight("eta")
        self._weight("tau", "; as tau grows all tasks become one: pool the rows")

    # -- the data, as engines use them --------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.features, len(self.tasks)

    @cached_property
    def coupling(self) -> Coupling:
        """M, for eta > 0."""
        if self.eta == 0:
            msg = "eta = 0 leaves no ridge for M = I + (tau / eta) L: give eta > 0"
            raise ProblemError(msg)
        return Coupling(self.graph, self.eta, self.tau)

    @cached_property
    def smoothness(self) -> float:
        """L_F, the largest curvature of an F_i."""
        return float(self.loss.smoothness * self.held.map(_largest).max())

    def with_prior(self, eta: float, tau: float) -> GraphMultitask:
        """The same data and graph with another eta and tau: what is known of them is not computed again."""
        other = copy(self)
        for name in ("coupling", "_least_curvature", "scale"):
            vars(other).pop(name, None)
        for name, value in (("eta", eta), ("tau", tau), ("_ledgers", {}), ("_seen", list(self._seen))):
            object.__setattr__(other, name, value)
        other._check_prior()
        return other

    def parameters(self) -> Mapping[str, Any]:
        given = dict(super().parameters())
        if loss_named(self.loss.name) == self.loss:
            given["loss"] = self.loss.name
        return given

    # -- bounds -------------------------------------------------------------------------------------

    def value(self, W: np.ndarray) -> float:
        """P(W)."""
        return self._with_losses(W, self.passed(W).value)

    def value_alone(self, W: np.ndarray) -> float:
        """P(W), for which machines send one number each, and remember nothing."""
        return self._with_losses(W, self.held.map(values, np.ascontiguousarray(W.T), loss=self.loss))

    def _with_losses(self, W: np.ndarray, F: np.ndarray) -> float:
        """P(W) where the F_i, (m,), are known."""
        return float(F.sum() + ridge(W.T, self.graph, self.eta, self.tau) / 2) / len(self.tasks)

    def tied(self, V: np.ndarray) -> np.ndarray:
        """eta V + tau L V for V by task, (m, d): m times the gradient of the regulariser."""
        return np.asarray(self.eta * V + self.tau * self.graph.apply(V))

    def gap_of(self, gradient: np.ndarray) -> float:
        """(m / 2 eta) tr(G M^-1 G^T), the gap that weights prove where ``gradient``, by task, is m G, G that of P.

        Without the allowance for rounding: it is for `Proposal.gap`. Without a hub I takes the place of M^-1 <= I.
        """
        if self.eta == 0:
            return 0.0
        averaged = self.coupling.solve(gradient) if self.machines.hub else gradient
        return float(np.vdot(gradient, averaged)) / (2 * self.eta * len(self.tasks))

    def gradient(self, W: np.ndarray) -> np.ndarray:
        """m times the gradient of P, by task, (m, d)."""
        return self.passed(W).slope + self.tied(W.T)

    @cached_property
    def scale(self) -> float:
        """P(0)."""
        return self.value(np.zeros(self.shape))

    def bound_from_matrix(self, X: Any) -> Bound:
        W = self._point(X)
        one = self.passed(W)
        upper = upper_bound(one, W.T, self.graph, self.eta, self.tau)
        if self.eta == 0:
            lower = self._lower_without_ridge(one, W, upper)
        else:  # without a hub M^-1 V is that of the optimum, up to sign: -eta W
            Z = None if self.machines.hub else -self.eta * W.T
            lower = lower_bound(one.conjugate, one.slope, one.slope_error, self.coupling, Z)
        return Bound(point=W, lower=float(max(lower, 0.0)), upper=float(upper))  # no loss is negative

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        u = np.asarray(as_array("y", y), dtype=float)
        if u.shape != (self.rows,):
            msg = f"y must hold a number for each of the {self.rows} rows, by task, got shape {u.shape}"
            raise ProblemError(msg)
        if self.eta == 0:
            return Bound(point=u)
        u, conjugate, V, error = self.held.map(_dual_pass, u, loss=self.loss)
        return Bound(point=u, lower=float(lower_bound(conjugate, V, error, self.coupling)))

    def _lower_without_ridge(self, one: Pass, W: np.ndarray, upper: float) -> float:
        if self.loss.strong_convexity == 0 or W.size > SMALL:
            return -np.inf
        return lower_by_curvature(one, W.T, self.graph, self.tau, self._least_curvature, upper)

    @cached_property
    def _least_curvature(self) -> float:
        """A lower bound on the least eigenvalue of diag(H_i) + tau L (x) I, for eta = 0 and the square loss."""
        grams = self.loss.strong_convexity * self.held.map(_grams)
        m, d, _ = grams.shape
        H = np.kron(self.tau * self.graph.laplacian.toarray(), np.eye(d))
        for i in range(m):
            H[i * d : (i + 1) * d, i * d : (i + 1) * d] += grams[i]
        values = np.linalg.eigvalsh(H)
        rows = int(self.held.map(_sizes).max())
        return float(values[0] - (4 * m * d + rows + d) * EPS * (float(np.trace(grams.sum(axis=0))) + abs(values[-1])))

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return np.inf if X is None else self.value(self._point(X))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        y = None if np.isfinite(self.loss.smoothness) else np.zeros(self.rows)  # a smooth loss needs no y beside W
        return [(np.zeros(self.shape), y)]

    def reference(self) -> cvxpy.Problem:
        import cvxpy as cp

        d, m = self.shape
        W = cp.Variable((d, m), name="X")
        total = 0.0
        for i, (rows, targets, share) in enumerate(self._given_rows()):
            total += cp.sum(cp.multiply(share, self.loss.as_cvxpy(rows @ W[:, i], targets)))
        i, k, a = self.graph.once
        total += self.eta / 2 * cp.sum_squares(W)
        if len(a):
            total += self.tau / 2 * cp.sum_squares((W[:, i] - W[:, k]) @ np.diag(np.sqrt(a)))
        return cp.Problem(cp.Minimize(total / m))

    # -- instances for tests ------------------------------------------------------------------------

    @classmethod
    def random(cls, rng: np.random.Generator) -> GraphMultitask:
        d, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        sizes = rng.integers(1, 8, m)
        loss = str(rng.choice(["square", "logistic", "huber", "hinge"]))
        X = rng.standard_normal((int(sizes.sum()), d)) * 10.0 ** rng.uniform(-1, 1)
        task = np.repeat(np.arange(m), sizes)
        W = rng.standard_normal((d, 1)) + 0.5 * rng.standard_normal((d, m))
        y = np.sum(X * W.T[task], axis=1) + 10.0 ** rng.uniform(-2, 0) * rng.standard_normal(len(task))
        y = np.where(y > 0, 1.0, -1.0) if loss in ("logistic", "hinge") else y
        A = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.6), 1)
        A[np.arange(m - 1), np.arange(1, m)] += 0.1  # connected
        eta, tau = 10.0 ** rng.uniform(-2, 1, 2)
        return cls(X, y, A + A.T, eta=eta, tau=tau, loss=loss, task=task)


# -- what machines compute ---------------------------------------------------------------------------


def _sizes(block: Any) -> np.ndarray:
    return block.sizes


def _grams(block: Any) -> np.ndarray:
    return block.moments[0]


def _largest(block: Any) -> np.ndarray:
    return np.maximum(block.spectra[0][:, -1], 0.0)


def _dual_pass(block: Any, u: np.ndarray, loss: Loss) -> tuple[np.ndarray, ...]:
    u = np.clip(u, *loss.domain(block.y))
    return (u, *dual_pass(block, u, loss))
