"""One pass over rows as they come, b of each machine a round: stochastic forms of BSR and BOL.

    SSR   w_i <- w_i - a_t sum_k (M^-1)_ki grad F_k^b(w_k),     a_t = a / sqrt(1 + t / 10), iterates averaged, weight t
    SOL   w_i <- prox of a F_i^b at sum_k mu_ki w_k

No shrinkage in SSR: M and early stopping regularise. They have 1.5 to 2.1 times the excess risk of the graph model on
the same rows, and from some 80 rows a machine on are behind each machine alone: for streams, never ``auto``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.machines import Block, Mail
from matrixlearn_network.engines.base import NetworkEngine, Walk
from matrixlearn_network.local_steps import proximal, slope
from matrixlearn_network.problem import GraphMultitask

CAVEAT = (
    "one pass costs 1.5 to 2.1 times the excess risk of the graph model on the same rows; the step decides: try a few"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream(Walk):
    """The iterate W, the mean of those so far, and where the stream is."""

    mean: np.ndarray
    weight: float = 0.0
    at: int = 0
    last: int = 0
    size: int = 1
    """Rows of each machine a round."""
    length: float = 1.0
    mail: Mail | None = None


@dataclass(frozen=True)
class OnePass(NetworkEngine):
    """Batches in the order of the rows.

    Parameters
    ----------
    batch : int
        b, fresh rows of each machine a round.
    length : float, optional
        a; by default that of the module's measurements.
    """

    batch: int = 1
    length: float | None = None

    def _further_objection(self, problem: GraphMultitask) -> str:
        if not (isinstance(self.batch, int | np.integer) and self.batch >= 1):
            return f"{self.name} needs a batch of one row or more, got {self.batch!r}"
        return ""

    def init(self, problem: Any, incumbent: Incumbent) -> Stream:
        ledger = problem.opened(self.name)
        W = self.started(problem, incumbent)
        least = int(problem.held.map(_rows).min())
        size = min(self.batch, least)
        length = self._default_length(problem) if self.length is None else self.length
        mail = problem.held.mail(problem.graph.links, W) if self.by_neighbours else None
        return Stream(
            W=W, ledger=ledger, mean=np.zeros_like(W), last=least // size, size=size, length=length, mail=mail
        )

    by_neighbours = True
    """Whether messages go along edges; through a hub otherwise."""

    @abstractmethod
    def _default_length(self, problem: GraphMultitask) -> float:
        """a."""

    def step(self, problem: Any, state: Stream, incumbent: Incumbent) -> Stream:
        if state.at >= state.last:
            return replace(state, proposals=(), finished=f"end of stream: {CAVEAT}")
        W, mail = self._map(problem, state)
        state.ledger.end_round()
        if self.diverges(W):
            return replace(
                state, proposals=(), finished=f"the weights grew beyond all bounds: length = {state.length:g}"
            )
        t = state.at + 1
        weight = state.weight + t
        mean = state.mean + (t / weight) * (W - state.mean)
        proposal = Proposal(X=np.ascontiguousarray(mean.T))
        return replace(state, proposals=(proposal,), W=W, mean=mean, weight=weight, at=t, mail=mail)

    @abstractmethod
    def _map(self, problem: GraphMultitask, state: Stream) -> tuple[np.ndarray, Mail | None]:
        """The next weights by task."""


@dataclass(frozen=True)
class SSR(OnePass):
    """Stochastic BSR: gradients of batches to the hub, which averages them by M^-1."""

    name = "ssr"
    needs_hub = True
    by_neighbours = False

    def _default_length(self, problem: GraphMultitask) -> float:
        """3 / (mean curvature of one row, d / b times that of a full batch): what the averaging by M^-1 allows."""
        curvature = problem.loss.smoothness * float(np.mean(problem.held.map(_mean_square)))
        d = problem.features
        return 3.0 / max(curvature / d * (1 + d / self.batch), 1e-300)

    def _map(self, problem: Any, state: Stream) -> tuple[np.ndarray, None]:
        gradient = problem.held.map(_batch_slope, state.W, at=state.at, size=state.size, loss=problem.loss)
        averaged = problem.held.scatter(problem.coupling.solve(problem.held.gather(gradient)))
        return state.W - state.length / np.sqrt(1 + state.at / 10) * averaged, None


@dataclass(frozen=True)
class SOL(OnePass):
    """Stochastic BOL: vectors to neighbours, each machine solves for its batch near their mean."""

    name = "sol"

    def _default_length(self, problem: GraphMultitask) -> float:
        return 1 / (problem.eta + problem.tau * problem.graph.largest)

    def _map(self, problem: Any, state: Stream) -> tuple[np.ndarray, Mail]:
        assert state.mail is not None
        mail = problem.held.exchange(state.mail, state.W)
        arrived = mail.links.summing(problem.graph.link_weights) @ mail.held
        a = state.length / np.sqrt(1 + state.at / 10)
        own = 1 - a * (problem.eta + problem.tau * problem.graph.degrees)
        mixed = own[:, None] * state.W + a * problem.tau * arrived
        steps = np.full(len(mixed), a)
        W = problem.held.map(_batch_proximal, mixed, steps, state.W, at=state.at, size=state.size, loss=problem.loss)
        return W, mail


# -- what machines compute ---------------------------------------------------------------------------


def _batch(block: Block, at: int, size: int) -> Block:
    """The rows at, ..., of each machine, ``size`` of them, as a block."""
    rows = (block.ends[:-1, None] + at * size + np.arange(size)).reshape(-1)
    ends = np.arange(len(block) + 1) * (len(rows) // len(block))
    return Block(block.ids, block.X[rows], block.y[rows], ends, block.counts[rows])


def _batch_slope(block: Block, W: np.ndarray, at: int, size: int, loss: Any) -> np.ndarray:
    return slope(_batch(block, at, size), W, loss)


def _batch_proximal(
    block: Block, T: np.ndarray, a: np.ndarray, start: np.ndarray, at: int, size: int, loss: Any
) -> np.ndarray:
    return proximal(_batch(block, at, size), T, a, start, loss)


def _rows(block: Block) -> np.ndarray:
    return block.sizes


def _mean_square(block: Block) -> np.ndarray:
    return block.summed(block.shares * block.norms**2)
