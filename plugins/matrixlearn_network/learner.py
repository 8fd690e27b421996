"""Jointly sparse tasks from a stream: each node a least-mean-squares filter that looks at its neighbours (dJSMT).

    w_k <- w_k + mu e_k u_k - tau sum over l in N_k^- of c_lk (w_k - w_l) - gamma f(W_k),      e_k = d_k - u_k . w_k

W_k has the columns of N_k = {k} and the neighbours of k, N_k^- lacks k; f pulls each w_rk towards 0 by phi'(||w_kr||) /
||w_kr|| (`rows_of_groups`). A stream has no optimum: with the pull of its own neighbourhood only, a fixed point is an
equilibrium of the nodes, and no minimum of their sum (docs/errata.md).
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn import Certificate, certify, solve
from matrixlearn.exceptions import MatrixLearnError, ProblemError
from matrixlearn.files import archive, read_archive, reading_state_of, replacing
from matrixlearn.problems import Problem
from matrixlearn.validation import as_array, as_number
from matrixlearn_network.graph import Graph, as_graph
from matrixlearn_network.rows_of_groups import Neighbourhoods, row_penalty

BEYOND = 1e6
"""An error of so many times the largest value seen is that of weights that grow without bounds."""

FORMAT = "jointly-sparse learner 1"
"""Of the files of `JointlySparseLearner.save`."""

FARTHEST = 1e3
"""An exponent from which on a combiner is 0."""


class DivergenceError(MatrixLearnError):
    """A learner whose weights grow without bounds: its steps are too long."""


class Combiners(ABC):
    """c_lk >= 0, what node k takes of its neighbour l; sum over l in N_k^- at most 1."""

    @abstractmethod
    def __call__(self, apart: np.ndarray, near: Neighbourhoods) -> np.ndarray:
        """By pair, (p,), from ||w_k - w_l||^2; that of a node with itself is not used."""


@dataclass(frozen=True)
class Adaptive(Combiners):
    """AC: c_lk = (2 / |N_k^-|) / (1 + exp(iota ||w_k - w_l||^2)): tasks that are far apart are left alone.

    Parameters
    ----------
    iota : float
        >= 0.
    """

    iota: float

    def __call__(self, apart: np.ndarray, near: Neighbourhoods) -> np.ndarray:
        from scipy.special import expit  # late: import time

        share = 2.0 / np.maximum(near.sizes - 1, 1)
        exponent = self.iota * np.minimum(apart, FARTHEST / max(self.iota, 1e-300))
        return np.repeat(share, near.sizes) * expit(-exponent)


@dataclass(frozen=True, eq=False)
class Fixed(Combiners):
    """FC: c_lk as the weights of the graph, sum over N_k^- = |N_k^-| / |N_k|.

    Parameters
    ----------
    by_pair : array, shape (p,)
    """

    by_pair: np.ndarray

    @classmethod
    def of(cls, near: Neighbourhoods) -> Fixed:
        """From the weights of the graph."""
        owner = np.repeat(np.arange(len(near.graph)), near.sizes)
        weights = np.asarray(near.graph.weights[owner, near.member]).reshape(-1)
        total = np.maximum(near.graph.degrees, 1e-300) * near.sizes / np.maximum(near.sizes - 1, 1)
        return cls(weights / total[owner])

    def __call__(self, apart: np.ndarray, near: Neighbourhoods) -> np.ndarray:
        return self.by_pair


class JointlySparseLearner:
    """w_k <- w_k + mu e_k u_k - tau sum c_lk (w_k - w_l) - gamma f(W_k): tasks that share their few features, online.

    Parameters
    ----------
    graph : Graph, networkx graph, array or sparse array (m, m)
        Who hears whom.
    mu : float
        > 0, the step; below 2 / lambda_max(E u u^T).
    tau : float
        In [0, 1), the pull towards neighbours; 0 leaves each alone.
    gamma : float
        >= 0, the pull of the penalty; 0 leaves it out.
    penalty : {"l20", "rw", "l21"}
        1 - exp(-epsilon t), log(1 + epsilon t) or t of the rows of W_k.
    combiners : {"adaptive", "fixed"}
        How much a node takes of each neighbour: less the farther apart they are (AC), or as the graph has it (FC).
    epsilon : float
        > 0, one over the size from which a row is spared.
    iota : float
        >= 0; adaptive combiners look away where iota ||w_k - w_l||^2 is large.

    Attributes
    ----------
    weights : array, shape (d, m)
        W after all steps so far, zeros before the first.
    steps : int
    nodes : tuple of m names

    Raises
    ------
    ProblemError
        For parameters that cannot be right.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_network import JointlySparseLearner, complete
    >>> rng, truth = np.random.default_rng(0), np.zeros((10, 5))
    >>> truth[:2] = 1 + 0.1 * rng.standard_normal((2, 5))
    >>> learner = JointlySparseLearner(complete(5), mu=0.02, tau=0.1, gamma=3e-4)
    >>> for _ in range(1000):
    ...     u = rng.standard_normal((5, 10))
    ...     learner = learner.step(u, np.sum(u * truth.T, axis=1) + 0.1 * rng.standard_normal(5))
    >>> learner.deviation(truth) < 2e-3
    True

    References
    ----------
    "dJSMT" (2017), the third paper of report 16, (9) to (17); corrections in docs/errata.md.
    """

    def __init__(
        self,
        graph: Any,
        mu: float,
        tau: float,
        gamma: float,
        penalty: str = "l20",
        combiners: str = "adaptive",
        *,
        epsilon: float = 10.0,
        iota: float = 50.0,
    ) -> None:
        for name, value, least, most in (("mu", mu, 0, np.inf), ("tau", tau, 0, 1), ("gamma", gamma, 0, np.inf)):
            if not least <= as_number(name, value) < most or (name == "mu" and value == 0):
                msg = f"{name} must be a number {'>' if name == 'mu' else '>='} 0 and < {most:g}, got {value!r}"
                raise ProblemError(msg)
        if not 0 <= as_number("iota", iota) < np.inf:
            msg = f"iota must be a finite number >= 0, got {iota!r}"
            raise ProblemError(msg)
        if combiners not in ("adaptive", "fixed"):
            msg = f"combiners must be 'adaptive' or 'fixed', got {combiners!r}"
            raise ProblemError(msg)
        self.mu, self.tau, self.gamma = float(mu), float(tau), float(gamma)
        self.penalty = row_penalty(penalty, epsilon)
        self.graph = as_graph(graph, _nodes_of(graph))
        self._near = Neighbourhoods(self.graph)
        self._owner = np.repeat(np.arange(len(self.graph)), self._near.sizes)
        self.combiners = Adaptive(float(iota)) if combiners == "adaptive" else Fixed.of(self._near)
        self.steps = 0
        self._W: np.ndarray | None = None
        self._largest = 0.0
        self._power = 0.0

    @property
    def nodes(self) -> tuple[Hashable, ...]:
        """The names of the nodes, (m,): columns of the weights."""
        return self.graph.names or tuple(range(len(self.graph)))

    @property
    def weights(self) -> np.ndarray:
        """W, (d, m)."""
        if self._W is None:
            msg = "the learner has seen no sample: the number of features is not known"
            raise MatrixLearnError(msg)
        return np.ascontiguousarray(self._W.T)

    @property
    def vectors_sent(self) -> int:
        """Each node sends its weights to its neighbours after each step: 2 |E| vectors."""
        return self.steps * 2 * self.graph.edges

    # -- learning -----------------------------------------------------------------------------------

    def step(self, u: Any, d: Any) -> JointlySparseLearner:
        """One sample of each node.

        Parameters
        ----------
        u : array, shape (m, d)
        d : array, shape (m,)

        Raises
        ------
        ProblemError
            For samples of another shape, NaN or infinite.
        DivergenceError
            Where the weights grow without bounds; they stay as they were before the step.
        """
        u, d = np.asarray(as_array("u", u), dtype=float), np.asarray(as_array("d", d), dtype=float)
        m = len(self.graph)
        width = u.shape[-1] if self._W is None else self._W.shape[1]
        if u.shape != (m, width) or d.shape != (m,):
            msg = f"a sample is u of shape {(m, width)} and d of shape {(m,)}, got {u.shape} and {d.shape}"
            raise ProblemError(msg)
        W = np.zeros_like(u) if self._W is None else self._W
        error = d - np.sum(u * W, axis=1)
        largest = max(self._largest, float(np.max(np.abs(d))))
        self._power += (float(np.mean(np.sum(u**2, axis=1))) - self._power) / (self.steps + 1)
        if not np.all(np.abs(error) <= BEYOND * max(largest, 1e-300)):
            worst = int(np.argmax(np.abs(error)))
            safe = 2 / max(self._power, 1e-300)
            msg = (
                f"the weights of node {self.nodes[worst]!r} grew beyond all bounds in {self.steps} steps: mu = "
                f"{self.mu:g} is too large. It must be below 2 / lambda_max(E u u^T); below 2 / E ||u||^2 = {safe:.3g} "
                f"is safe here"
            )
            raise DivergenceError(msg)
        self._largest = largest
        self._W = W + self.mu * error[:, None] * u - self._pulls(W)
        self.steps += 1
        return self

    def _pulls(self, W: np.ndarray) -> np.ndarray:
        """Towards neighbours, and of the penalty, (m, d)."""
        near, total = self._near, np.zeros_like(W)
        copies = near.copies(W)
        if self.tau > 0:
            apart = W[self._owner] - copies
            c = self.combiners(np.einsum("pd,pd->p", apart, apart), near)
            total += self.tau * np.add.reduceat(c[:, None] * apart, near.starts, axis=0)
        if self.gamma > 0:
            total += self.gamma * self.penalty.pull(near.lengths(copies)) * W
        return total

    def learn(self, samples: Iterable[tuple[Any, Any]]) -> JointlySparseLearner:
        """One step for each (u, d); the iterable is read one by one and never held."""
        for u, d in samples:
            self.step(u, d)
        return self

    def partial_fit(self, U: Any, D: Any) -> JointlySparseLearner:
        """Learn from stacks: U of shape (T, m, d), D of shape (T, m)."""
        return self.learn(zip(U, D, strict=True))

    # -- what was learned ---------------------------------------------------------------------------

    def predict(self, u: Any) -> np.ndarray:
        """u_k . w_k, (m,)."""
        return np.asarray(np.sum(np.asarray(as_array("u", u)) * self.weights.T, axis=1))

    def deviation(self, truth: Any) -> float:
        """The mean over the nodes of ||w_k - truth_k||^2, truth of shape (d, m); 10 log10 of it is in dB."""
        W = self.weights
        truth = np.asarray(as_array("truth", truth), dtype=float)
        if truth.shape != W.shape:
            msg = f"truth must have shape {W.shape}, (features, nodes), got {truth.shape}"
            raise ProblemError(msg)
        return float(np.mean(np.sum((W - truth) ** 2, axis=0)))

    # -- files --------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights and what is remembered to an .npz file (no pickle)."""
        meta = {"format": FORMAT, "steps": self.steps, "largest": self._largest, "power": self._power}
        with replacing(path) as file:
            file.write(archive(meta, {} if self._W is None else {"W": self._W}))

    def restore(self, path: str | os.PathLike[str]) -> JointlySparseLearner:
        """Take over the state that `save` wrote; the graph and the parameters are this learner's own.

        Raises
        ------
        MatrixLearnError
            For a file of another kind, or one of another number of nodes.
        """
        with reading_state_of("JointlySparseLearner", path):
            arrays = read_archive(path)
            meta = json.loads(str(arrays["meta"]))
            known, steps = meta["format"], int(meta["steps"])
            W = np.asarray(as_array("W", arrays["W"]), dtype=float) if steps else None
            largest, power = (as_number(name, meta[name]) for name in ("largest", "power"))
        m, shape = len(self.graph), () if W is None else W.shape
        if known != FORMAT or (steps and (len(shape) != 2 or shape[0] != m)):
            wanted = f"{FORMAT!r} and ({m}, d)"
            msg = f"{os.fspath(path)!r} has the format {known!r} and weights of shape {shape}, not {wanted}"
            raise MatrixLearnError(msg)
        self._W, self.steps, self._largest, self._power = W, steps, largest, power
        return self

    # -- a batch problem of the same tasks ----------------------------------------------------------

    def against(self, problem: Problem) -> Certificate:
        """What the weights are worth for a problem of the same tasks, such as `JointlySparse` of the rows seen.

        The problem is solved too, for a dual point: the lower bound is that of the optimum.
        """
        return certify(problem, X=self.weights, y=solve(problem, tol=1e-4, max_iter=200).y)


def _nodes_of(graph: Any) -> Sequence[Hashable]:
    """The nodes of a graph in their order."""
    if isinstance(graph, Graph):
        return graph.names or tuple(range(len(graph)))
    if hasattr(graph, "nodes"):
        return tuple(graph.nodes)
    if not hasattr(graph, "shape"):
        msg = f"graph must be a Graph, a networkx graph or a matrix of weights, got {type(graph).__name__}"
        raise ProblemError(msg)
    return tuple(range(graph.shape[0]))
