"""Graph-regularised multitask learning: tasks that are neighbours have like weights.

min over W of   1/m sum_i F_i(w_i) + eta/2m ||W||^2 + tau/2m tr(W L W^T),     F_i(w) = 1/n_i sum_j f(x_ij . w, y_ij)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import Loss, loss_named
from matrixlearn.machines import Held, Ledger, Local, Machines, Shards
from matrixlearn.multitask import as_names, as_rows, as_targets, is_listed, known_targets, require_rows, stacked
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, Problem
from matrixlearn.validation import as_array, as_number, as_weights
from matrixlearn_network.bounds import (
    EPS,
    Pass,
    dual_pass,
    lower_bound,
    lower_by_curvature,
    pass_over,
    ridge,
    upper_bound,
)
from matrixlearn_network.coupling import Coupling
from matrixlearn_network.graph import DENSE, as_graph

if TYPE_CHECKING:
    import cvxpy


HERE: Machines = Local()
SMALL = 2000
"""The order d m up to which the least eigenvalue of the whole system is computed, where eta = 0."""


@presented_by("matrixlearn_network.present:GraphPresenter")
@dataclass(frozen=True, eq=False)
class GraphMultitask(Problem):
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
    held: Held = field(init=False, repr=False)
    """The machines with their rows."""
    tasks: tuple[Hashable, ...] = field(init=False, repr=False)
    """The names of the tasks, (m,): columns of W."""
    rows: int = field(init=False, repr=False)
    """All rows of all tasks."""
    _ledgers: dict[str, Ledger] = field(init=False, repr=False)
    """What the last solve by each method has sent."""
    _seen: list[tuple[np.ndarray, Pass]] = field(init=False, repr=False)
    """The last few points, and what a pass over the rows told of them."""

    name = "graph-multitask"
    objective = "minimize"
    engines = ("krylov", "moments", "bol", "gd", "bsr", "dmtl", "ssr", "sol")

    def __post_init__(self) -> None:
        def put(**values: Any) -> None:
            for name, value in values.items():
                object.__setattr__(self, name, value)

        self._check_prior()
        put(loss=loss_named(self.loss))
        shards, listed, given = self._read()
        put(**given)
        held, names = self.machines.hold(shards), shards.ids
        graph = as_graph(self.graph, listed).ordered(names)
        where = graph.coordinates if self.coordinates is None else np.asarray(as_array("coordinates", self.coordinates))
        if where is not None and where.shape != (len(names), 2):
            msg = f"coordinates must have shape {(len(names), 2)}, one place for each task, got {where.shape}"
            raise ProblemError(msg)
        put(graph=graph, coordinates=where, held=held, tasks=tuple(names), _ledgers={}, _seen=[])
        put(rows=int(self.held.map(_checked_sizes, loss=self.loss).sum()))

    def _check_prior(self) -> None:
        for name in ("eta", "tau"):
            value = as_number(name, getattr(self, name))
            object.__setattr__(self, name, value)
            if not 0 <= value < np.inf:
                of = "; as tau grows all tasks become one: pool the rows" if name == "tau" else ""
                msg = f"{name} must be >= 0 and finite, got {value:g}{of}"
                raise ProblemError(msg)

    def _read(self) -> tuple[Shards, tuple[Hashable, ...], dict[str, Any]]:
        """Shards, the names of the tasks in the order in which they were given, and the data as they are kept."""
        if isinstance(self.X, Shards):
            if self.Y is not None or self.task is not None or self.sample_weight is not None:
                msg = "Shards hold targets, tasks and weights: Y, task and sample_weight are not to be given with them"
                raise ProblemError(msg)
            return self.X, self.X.ids, {}
        if self.Y is None:
            msg = "Y is missing: the targets of the rows in X"
            raise ProblemError(msg)
        X, Y, task, weight = self.X, self.Y, self.task, self.sample_weight
        if is_listed(X):
            given = stacked(X, Y, task, weight)
            given |= {"Y": given["Y"][:, 0], "sample_weight": _weights(given["sample_weight"], len(given["Y"]))}
            shards = Shards.of(given["X"], given["Y"], given["task"], given["sample_weight"])
            return shards, tuple(dict.fromkeys(given["task"].tolist())), given
        known = known_targets(Y)
        X, Y = as_rows("X", X), as_targets("Y", Y) if known is None else np.asarray(Y, dtype=float)
        require_rows(X, Y)
        weight = _weights(weight, len(Y))
        label = None if task is None else as_names(task)
        if Y.shape[1] == 1 and label is not None and len(label) == len(Y):
            shards = Shards.of(X, Y[:, 0], label, weight)
            return shards, shards.ids, {"X": X, "Y": Y[:, 0], "task": label, "sample_weight": weight}
        m = Y.shape[1]
        if label is not None and (len(label) != m or len(set(label.tolist())) < m):
            msg = f"task must label each of the {len(Y)} rows, or each of the {m} tasks once; got {len(label)} labels"
            raise ProblemError(msg)
        there = np.ones(Y.shape, bool) if known is None else known
        if not there.any(axis=0).all():
            msg = f"Y holds nothing but NaN for task {int(np.argmin(there.any(axis=0)))}: leave the column out"
            raise ProblemError(msg)
        column, row = np.nonzero(there.T)
        shards = Shards.of(X[row], Y[row, column], column, None if weight is None else weight[row])
        names = tuple(range(m)) if label is None else tuple(label.tolist())
        kept = {"X": X, "Y": Y, "task": label, "sample_weight": weight}
        return Shards(names, shards.loaders), names, kept

    # -- the data, as engines use them --------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.features, len(self.tasks)

    @cached_property
    def features(self) -> int:
        """The number d of features."""
        return int(self.held.map(_width)[0])

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

    def ledger(self, method: str) -> Ledger | None:
        """What the last solve by a method has sent; None before any."""
        return self._ledgers.get(method)

    def opened(self, method: str) -> Ledger:
        """A fresh ledger for a solve by a method."""
        ledger = self.held.opened(self.features)
        self._ledgers[method] = ledger
        return ledger

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
        weights = self.graph.weights
        given["graph"] = weights.toarray() if len(self.tasks) <= DENSE else weights
        if loss_named(self.loss.name) == self.loss:
            given["loss"] = self.loss.name
        if self.machines.hub and self.machines.reliable:  # where the rows are does not change the problem
            del given["machines"]
        if self.task is None and not isinstance(self.X, Shards):
            given["task"] = np.array(self.tasks)
        return given

    def rest(self) -> None:
        self.held.rest()

    def traffic(self) -> str:
        return self.held.ledger.brief

    # -- bounds -------------------------------------------------------------------------------------

    def passed(self, W: np.ndarray) -> Pass:
        """What a pass over the rows tells of W (d, m); the last few points are remembered."""
        for known, one in self._seen:
            if known is W or np.array_equal(known, W):
                return one
        one = Pass(*self.held.map(pass_over, np.ascontiguousarray(W.T), loss=self.loss))
        self._seen.insert(0, (W, one))
        del self._seen[3:]
        return one

    def value(self, W: np.ndarray) -> float:
        """P(W)."""
        m = len(self.tasks)
        return float(self.passed(W).value.sum() + ridge(W.T, self.graph, self.eta, self.tau) / 2) / m

    def gradient(self, W: np.ndarray) -> np.ndarray:
        """m times the gradient of P, by task, (m, d)."""
        return self.passed(W).slope + self.eta * W.T + self.tau * self.graph.apply(W.T)

    @cached_property
    def scale(self) -> float:
        """P(0)."""
        return self.value(np.zeros(self.shape))

    def _point(self, X: Any) -> np.ndarray:
        W = np.asarray(as_array("W", X), dtype=float)
        if W.shape != self.shape:
            msg = f"W must have shape {self.shape}, (features, tasks), got {W.shape}"
            raise ProblemError(msg)
        return W

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
        for i, (rows, targets, share) in enumerate(self.held.map(_given)):
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


def _weights(sample_weight: Any, n: int) -> Any:
    return None if sample_weight is None else as_weights("sample_weight", sample_weight, n)


# -- what machines compute ---------------------------------------------------------------------------


def _checked_sizes(block: Any, loss: Loss) -> np.ndarray:
    loss.check_labels(block.y)
    return block.sizes


def _width(block: Any) -> np.ndarray:
    return np.full(len(block), block.width)


def _sizes(block: Any) -> np.ndarray:
    return block.sizes


def _grams(block: Any) -> np.ndarray:
    return block.moments[0]


def _largest(block: Any) -> np.ndarray:
    return np.maximum(block.spectra[0][:, -1], 0.0)


def _dual_pass(block: Any, u: np.ndarray, loss: Loss) -> tuple[np.ndarray, ...]:
    u = np.clip(u, *loss.domain(block.y))
    return (u, *dual_pass(block, u, loss))


def _given(block: Any) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    parts = [slice(a, b) for a, b in zip(block.ends[:-1], block.ends[1:], strict=True)]
    return [(block.X[rows], block.y[rows], block.shares[rows]) for rows in parts]
