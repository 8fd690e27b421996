"""Gradient descent, "solve the regulariser" (BSR), "optimise the loss" (BOL), and DMTL, which is BOL node by node.

    GD    w_i <- sum_k mu_ki w_k - a grad F_i(w_i),          mu = I - a (eta I + tau L)
    BSR   w_i <- (1 - a eta) w_i - a sum_k (M^-1)_ki grad F_k(w_k)
    BOL   w_i <- prox of a F_i at sum_k mu_ki w_k

Accelerated, the same map is taken at W + theta (W - W_old), theta = (sqrt(kappa) - 1) / (sqrt(kappa) + 1); where the
objective rises the momentum starts again.

BOL without acceleration survives late and lost messages: with a <= 1 / (eta + tau max deg) the entries of mu are >= 0
with rows of sum 1 - a eta, a prox is nonexpansive, so that max_i ||w_i - w_i*|| shrinks by 1 - a eta in every round,
for every convex loss. Gradient descent does likewise where a (L_F / 2 + eta + tau max deg) <= 1.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.losses import Loss
from matrixlearn.machines import Block, Mail
from matrixlearn_network.corner import proximal_pair
from matrixlearn_network.engines.base import NetworkEngine, Walk
from matrixlearn_network.local_steps import proximal, slope
from matrixlearn_network.problem import GraphMultitask


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstOrder(Walk):
    """Weights, those before, and how much of the last move to add."""

    before: np.ndarray
    theta: float = 0.0
    value: float = np.inf
    moves: bool = False
    """Whether the next step takes momentum."""
    step: np.ndarray
    """a_i by task, (m,)."""
    mail: Mail | None = None

    @property
    def momentum(self) -> float:
        """How much of the last move the next step adds."""
        return self.theta if self.moves else 0.0


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a round leads to."""

    W: np.ndarray
    """The next weights by task."""
    at: np.ndarray | None = None
    """Weights where the gradients of the F_i are known; None where the loss has a corner."""
    slopes: np.ndarray | None = None
    """Those gradients."""
    y: np.ndarray | None = None
    """Dual points, where the step has some of its own."""


@dataclass(frozen=True)
class FirstOrderEngine(NetworkEngine):
    """Fixed steps, with or without momentum.

    Parameters
    ----------
    accelerated : bool
        By default where messages arrive in time.
    """

    accelerated: bool | None = None

    def _further_objection(self, problem: GraphMultitask) -> str:
        if self.accelerated and not problem.machines.reliable:
            return f"{self.name} accelerated has no proof of convergence where messages are late or lost"
        return ""

    def init(self, problem: Any, incumbent: Incumbent) -> FirstOrder:
        ledger = problem.opened(self.name)
        W = self.started(problem, incumbent)
        step, kappa = self._step(problem)
        momentum = problem.machines.reliable if self.accelerated is None else self.accelerated
        theta = (np.sqrt(kappa) - 1) / (np.sqrt(kappa) + 1) if momentum else 0.0
        mail = problem.held.mail(problem.graph.links, W) if self.by_neighbours else None
        value = problem.value_alone(W.T) if momentum else np.inf
        step = np.broadcast_to(step, len(W))
        return FirstOrder(W=W, ledger=ledger, before=W, theta=theta, value=value, step=step, mail=mail)

    by_neighbours = True
    """Whether vectors go along edges."""

    @abstractmethod
    def _step(self, problem: GraphMultitask) -> tuple[Any, float]:
        """a, one for all or by task, and kappa."""

    def step(self, problem: Any, state: FirstOrder, incumbent: Incumbent) -> FirstOrder:
        ahead = state.W + state.momentum * (state.W - state.before)
        mail = None if state.mail is None else problem.held.exchange(state.mail, ahead)
        move = self._map(problem, state, ahead, mail)
        W = move.W
        state.ledger.end_round()
        if self.diverges(W):
            msg = "the weights grew beyond all bounds: the step is too long"
            return replace(state, proposals=(), finished=msg, before=state.W, theta=0.0, moves=False, mail=mail)
        X = np.ascontiguousarray(W.T)
        value = problem.value_alone(X) if state.theta else np.inf
        still = "" if not np.array_equal(W, state.W) or not problem.machines.reliable else "no round moves the weights"
        moves = state.theta > 0 and value <= state.value
        proposal = Proposal(X=X, y=move.y, gap=self._gap(problem, move))
        return replace(
            state, proposals=(proposal,), finished=still, W=W, before=state.W, value=value, moves=moves, mail=mail
        )

    @abstractmethod
    def _map(self, problem: GraphMultitask, state: FirstOrder, W: np.ndarray, mail: Mail | None) -> Outcome:
        """One round from W."""

    @staticmethod
    def _gap(problem: GraphMultitask, move: Outcome) -> float:
        """That of the weights at which the gradients are known."""
        if move.at is None or move.slopes is None:
            return 0.0
        return problem.gap_of(move.slopes + problem.tied(move.at))

    @staticmethod
    def _slopes(problem: GraphMultitask, state: FirstOrder) -> np.ndarray:
        """The gradients of the F_i at the weights ahead, which machines find from two that they have seen."""
        return np.asarray(problem.held.map(_ahead, state.W, state.before, momentum=state.momentum, loss=problem.loss))

    @staticmethod
    def _mixed(problem: GraphMultitask, step: np.ndarray, W: np.ndarray, mail: Mail | None) -> np.ndarray:
        """sum_k mu_ki w_k by task, w_k as it has arrived."""
        assert mail is not None
        arrived = mail.links.summing(problem.graph.link_weights) @ mail.held
        own = 1 - step * (problem.eta + problem.tau * problem.graph.degrees)
        return own[:, None] * W + (step * problem.tau)[:, None] * arrived


@dataclass(frozen=True)
class GradientDescent(FirstOrderEngine):
    """GD: vectors to neighbours, a = 1 / (L_F + eta + tau lambda_max)."""

    name = "gd"
    survives = True

    def _step(self, problem: GraphMultitask) -> tuple[Any, float]:
        L, eta, tau = problem.smoothness, problem.eta, problem.tau
        total = L + eta + tau * problem.graph.largest
        if not problem.machines.reliable:  # the contraction in the largest norm of a task
            total = max(total, L / 2 + eta + tau * float(problem.graph.degrees.max(initial=0.0)))
        return 1 / total, total / eta

    def _map(self, problem: Any, state: FirstOrder, W: np.ndarray, mail: Mail | None) -> Outcome:
        gradient = self._slopes(problem, state)
        return Outcome(self._mixed(problem, state.step, W, mail) - state.step[:, None] * gradient, W, gradient)


@dataclass(frozen=True)
class BSR(FirstOrderEngine):
    """Solve the regulariser: gradients to a hub, which averages them by M^-1; a = 1 / (L_F + eta), whatever the graph.

    The report's short form lacks (1 - a eta) and then minimises the loss alone; its (6) has a factor m too many.
    """

    name = "bsr"
    needs_hub = True
    by_neighbours = False

    def _step(self, problem: GraphMultitask) -> tuple[Any, float]:
        total = problem.smoothness + problem.eta
        return 1 / total, total / problem.eta

    def _map(self, problem: Any, state: FirstOrder, W: np.ndarray, mail: Mail | None) -> Outcome:
        gradient = problem.held.gather(self._slopes(problem, state))
        averaged = problem.held.scatter(problem.coupling.solve(gradient))
        a = state.step[:, None]
        return Outcome((1 - a * problem.eta) * W - a * averaged, W, gradient)


@dataclass(frozen=True)
class BOL(FirstOrderEngine):
    """Optimise the loss: vectors to neighbours, each machine solves its own problem near their mean.

    a = 1 / (eta + tau lambda_max), whatever the loss; with late messages 1 / (eta + tau max deg).
    """

    name = "bol"
    needs_smooth = False
    survives = True

    def _step(self, problem: GraphMultitask) -> tuple[Any, float]:
        largest = problem.graph.largest if problem.machines.reliable else float(problem.graph.degrees.max(initial=0.0))
        total = problem.eta + problem.tau * largest
        return 1 / total, total / problem.eta

    def _map(self, problem: Any, state: FirstOrder, W: np.ndarray, mail: Mail | None) -> Outcome:
        mixed = self._mixed(problem, state.step, W, mail)
        if not np.isfinite(problem.loss.smoothness):
            new, y = problem.held.map(proximal_pair, mixed, state.step, loss=problem.loss)
            return Outcome(new, y=y)
        new = problem.held.map(proximal, mixed, state.step, state.W, loss=problem.loss)
        return Outcome(new, new, (mixed - new) / state.step[:, None])


@dataclass(frozen=True, eq=False, kw_only=True)
class Sensors(FirstOrder):
    """In which of the last rounds every sensor moved less than the threshold."""

    quiet: tuple[bool, ...] = ()


@dataclass(frozen=True)
class DMTL(BOL):
    """BOL with a step for each node, 1 / (eta + tau deg_i): block Jacobi, the fourth paper's sensors at eta = 0.

        w_i <- argmin over u of F_i(u) + (eta + tau deg_i)/2 ||u||^2 - tau u . sum_k a_ik w_k

    Where two moves cancel, as on a bipartite graph with a direction that no sensor sees, half of each step is taken.

    Parameters
    ----------
    threshold : float, optional
        theta: the sensors stop where ||move||^2 < theta for all of them in the same round, by a common decision. With
        its vector each tells its neighbours, for each of the last D rounds, whether all that it has heard of were
        still; D rounds later, D the diameter of the graph, all know it at once, and none waits for another. It proves
        nothing: the gap is certified as ever. By default only the gap ends it.
    """

    accelerated: bool | None = False
    threshold: float | None = None

    name = "dmtl"
    needs_ridge = False

    def _further_objection(self, problem: GraphMultitask) -> str:
        if self.accelerated:
            return "dmtl has no accelerated form: its steps differ by task"
        if problem.eta == 0 and not np.all(problem.graph.degrees > 0):
            return "dmtl with eta = 0 needs a neighbour for every task"
        if self.threshold is not None:
            if not 0 < self.threshold < np.inf:
                return f"dmtl needs a threshold > 0, got {self.threshold!r}"
            if not problem.machines.reliable:
                return (
                    "dmtl with a threshold needs messages that arrive in time: a common decision is one of all sensors"
                )
            if problem.graph.parts > 1:
                return "dmtl with a threshold needs a connected graph: its parts never hear of each other"
        return super()._further_objection(problem)

    def _step(self, problem: GraphMultitask) -> tuple[Any, float]:
        return 1 / (problem.eta + problem.tau * problem.graph.degrees), 1.0

    def init(self, problem: Any, incumbent: Incumbent) -> Sensors:
        return Sensors(**vars(super().init(problem, incumbent)))

    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> Sensors:
        if self.threshold is not None:
            bits = problem.graph.diameter
            state.ledger.between += len(problem.graph.links) * -(-bits // 64)  # beside each vector
        new: Any = super().step(problem, state, incumbent)
        last, move = state.W - state.before, new.W - state.W
        size = float(np.linalg.norm(move))
        if size > 0 and float(np.linalg.norm(move + last)) < 0.1 * size:
            W = (new.W + state.W) / 2
            new = replace(new, proposals=(Proposal(X=np.ascontiguousarray(W.T)),), W=W)
        return new if self.threshold is None else self._decided(problem, new, self.threshold)

    @staticmethod
    def _decided(problem: GraphMultitask, state: Any, threshold: float) -> Sensors:
        """The state, finished where all sensors were still D rounds ago."""
        far = problem.graph.diameter
        still = float(np.max(np.sum((state.W - state.before) ** 2, axis=1))) < threshold
        quiet = (*state.quiet, still)[-(far + 1) :]
        decided = len(quiet) == far + 1 and quiet[0]
        msg = (
            f"every sensor moved less than {threshold:g} (squared) in one round: a common decision, {far} rounds later"
        )
        return replace(state, quiet=quiet, finished=state.finished or (msg if decided else ""))


# -- what machines compute ---------------------------------------------------------------------------


def _ahead(block: Block, W: np.ndarray, before: np.ndarray, momentum: float, loss: Loss) -> np.ndarray:
    return slope(block, W + momentum * (W - before), loss)
