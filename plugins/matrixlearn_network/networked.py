"""Tasks on a graph whose rows machines keep: the data of every problem here, its ledgers, and passes over the rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import Loss
from matrixlearn.machines import Held, Ledger, Local, Machines, Shards
from matrixlearn.multitask import as_names, as_rows, as_targets, is_listed, known_targets, require_rows, stacked
from matrixlearn.problems import Problem
from matrixlearn.validation import as_array, as_number, as_weights
from matrixlearn_network.bounds import Pass, pass_over
from matrixlearn_network.graph import DENSE, as_graph

HERE: Machines = Local()


class NetworkProblem(Problem):
    """A problem of tasks on a graph; one machine a task keeps its rows.

    A subclass has the fields ``X``, ``Y``, ``graph``, ``task``, ``sample_weight``, ``machines`` and ``coordinates``
    of `GraphMultitask`, a ``loss``, and calls `_hold` once.
    """

    objective = "minimize"

    X: Any
    Y: Any
    graph: Any
    task: Any
    sample_weight: Any
    machines: Machines
    coordinates: Any
    loss: Any
    """f, that of a prediction and its target."""
    held: Held
    """The machines with their rows."""
    tasks: tuple[Hashable, ...]
    """The names of the tasks, (m,): columns of W."""
    rows: int
    """All rows of all tasks."""
    _ledgers: dict[str, Ledger]
    """What the last solve by each method has sent."""
    _seen: list[tuple[np.ndarray, np.ndarray, Pass]]
    """The last few weights, and what a pass over the rows told of them."""

    def _put(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _weight(self, name: str, why: str = "", *, strictly: bool = False) -> float:
        """Take a parameter over as a number >= 0, or > 0; what it is.

        Raises
        ------
        ProblemError
            For another, ending with ``why``.
        """
        value = as_number(name, getattr(self, name))
        self._put(**{name: value})
        if not (value > 0 if strictly else value >= 0) or not value < np.inf:
            msg = f"{name} must be {'>' if strictly else '>='} 0 and finite, got {value:g}{why}"
            raise ProblemError(msg)
        return value

    def _hold(self) -> None:
        """Read the data and give them to the machines; raises a ProblemError for what cannot be right."""
        shards, listed, given = self._read()
        self._put(**given)
        held, names = self.machines.hold(shards), shards.ids
        graph = as_graph(self.graph, listed).ordered(names)
        where = graph.coordinates if self.coordinates is None else np.asarray(as_array("coordinates", self.coordinates))
        if where is not None and where.shape != (len(names), 2):
            msg = f"coordinates must have shape {(len(names), 2)}, one place for each task, got {where.shape}"
            raise ProblemError(msg)
        self._put(graph=graph, coordinates=where, held=held, tasks=tuple(names), _ledgers={}, _seen=[])
        self._put(rows=int(self.held.map(_checked_sizes, loss=self.loss).sum()))

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
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of a point."""

    @cached_property
    def features(self) -> int:
        """The number d of features."""
        return int(self.held.map(_width)[0])

    def ledger(self, method: str) -> Ledger | None:
        """What the last solve by a method has sent; None before any."""
        return self._ledgers.get(method)

    def opened(self, method: str) -> Ledger:
        """A fresh ledger for a solve by a method; it counts in vectors of d numbers."""
        ledger = self.held.opened(self.features)
        self._ledgers[method] = ledger
        return ledger

    def passed(self, W: np.ndarray, off: np.ndarray | None = None) -> Pass:
        """What a pass over the rows tells of W (d, m), each column known within ``off`` (m,); the last few points are
        remembered.
        """
        off = np.zeros(W.shape[1]) if off is None else off
        for known, within, one in self._seen:
            if (known is W or np.array_equal(known, W)) and np.array_equal(within, off):
                return one
        one = Pass(*self.held.map(pass_over, np.ascontiguousarray(W.T), off, loss=self.loss))
        self._seen.insert(0, (W, off, one))
        del self._seen[3:]
        return one

    def _point(self, X: Any) -> np.ndarray:
        """A point, checked."""
        W = np.asarray(as_array("W", X), dtype=float)
        if W.shape != self.shape:
            msg = f"W must have shape {self.shape}, {self._axes}, got {W.shape}"
            raise ProblemError(msg)
        return W

    _axes = "(features, tasks)"
    """What the two sides of a point are."""

    def weights(self, solution: Any) -> np.ndarray:
        """W of a solution or of a point, (d, m)."""
        return self._point(getattr(solution, "matrix", solution))

    def parameters(self) -> Mapping[str, Any]:
        given = dict(super().parameters())
        weights = self.graph.weights
        given["graph"] = weights.toarray() if len(self.tasks) <= DENSE else weights
        if self.machines.hub and self.machines.reliable:  # where the rows are does not change the problem
            del given["machines"]
        if isinstance(self.X, Shards):
            rows = self.X.at_hand() or {}
            given |= {"Y" if name == "y" else name: value for name, value in rows.items()}
        elif self.task is None:
            given["task"] = np.array(self.tasks)
        return given

    def rest(self) -> None:
        self.held.rest()

    def traffic(self) -> str:
        return self.held.ledger.brief

    def _given_rows(self) -> list[tuple[Any, np.ndarray, np.ndarray]]:
        """X_i, y_i and the shares of the rows of each task, for a judge."""
        return self.held.map(_given)


def _weights(sample_weight: Any, n: int) -> Any:
    return None if sample_weight is None else as_weights("sample_weight", sample_weight, n)


# -- what machines compute ---------------------------------------------------------------------------


def _checked_sizes(block: Any, loss: Loss) -> np.ndarray:
    loss.check_labels(block.y)
    return block.sizes


def _width(block: Any) -> np.ndarray:
    return np.full(len(block), block.width)


def _given(block: Any) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    parts = [slice(a, b) for a, b in zip(block.ends[:-1], block.ends[1:], strict=True)]
    return [(block.X[rows], block.y[rows], block.shares[rows]) for rows in parts]
