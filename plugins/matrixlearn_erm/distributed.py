"""DisDCA and DADM: SDCA on K machines that keep their rows; one d-vector each way a round.

Where the problem has Shards, K are their machines (`local_pass`); else rows are dealt to K machines that are played
one after the other.

DisDCA, a round on machine k, from the common v:    v_k = v,    so often:  y_i <- prox_{h f*}(y_i + h a_i.x(v_k))
    "practical"   h = sigma / (K c_i ||a_i||^2),          v_k <- v_k - K c_i dy_i a_i      (the local copy moves)
    "basic"       h = sigma / (K steps c_i ||a_i||^2),    v_k stands
then v <- v - sum over all machines of c_i dy_i a_i. Both raise D: psi* is 1/sigma-smooth, and a sum of K moves is K
times their mean.

DADM: psi = ridge ||x||^2 / 2 + h with h known to the hub only, which sends x = grad psi*(v) in the place of v; the
machines go on from there as if psi were the ridge alone. h may be any norm of `matrixlearn.penalties`.

References
----------
Yang (2013); Zheng, Wang, Xia, Xu and Zhang (2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Held
from matrixlearn_erm.ascent import Ascent, InBlocks, ascent_of
from matrixlearn_erm.blocks import Blocks
from matrixlearn_erm.engine import ERMState, flat, offered
from matrixlearn_erm.local_pass import local_pass
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.spread import SpreadDesign
from matrixlearn_erm.stochastic import Stochastic, best_y

COPIES = ("practical", "basic")


@dataclass(frozen=True)
class DistributedState(ERMState):
    """y, and the ascent of each machine."""

    y: np.ndarray | None = None
    machines: tuple[Ascent, ...] = ()
    """Passes over the rows of each, where these are here."""
    K: int = 0
    epoch: int = 0
    d: int = 0


@dataclass(frozen=True)
class DisDCA(Stochastic):
    """Distributed dual coordinate ascent.

    Parameters
    ----------
    batch, seed
        As for `SDCA`.
    machines : int
        K; rows are dealt to them at random. Shards have machines of their own.
    local_steps : int, optional
        Rows that a machine visits in a round; by default all of its own.
    copy : {"practical", "basic"}
        Whether the local copy of v moves with each local step.
    """

    machines: int = 4
    local_steps: int | None = None
    copy: str = "practical"

    name = "disdca"
    by_rounds = True

    def __post_init__(self) -> None:
        if self.copy not in COPIES:
            msg = f"copy must be one of {COPIES}, got {self.copy!r}"
            raise ProblemError(msg)
        for key in ("machines", "local_steps"):
            value = getattr(self, key)
            if not (key == "local_steps" and value is None) and not (isinstance(value, int) and value >= 1):
                msg = f"{key} must be a whole number >= 1, got {value!r}"
                raise ProblemError(msg)

    def lacks(self, problem: ERM) -> str:
        return flat(problem)

    def ascent(self, problem: ERM, rng: np.random.Generator, rows: np.ndarray, copies: int) -> Ascent:
        """The pass of coordinate ascent of one machine in a round."""
        if self.copy == "practical":
            return ascent_of(problem, self.batch, rng, rows, copies)
        blocks = Blocks.of(problem, self.batch, rng, rows)
        return Standing(problem, blocks, copies, problem.penalty.conjugate_gradient)

    def start(self, problem: ERM, v: np.ndarray) -> np.ndarray:
        """The vector that the hub sends to the machines, from v."""
        return v

    def init(self, problem: ERM, incumbent: Incumbent) -> DistributedState:
        first = DistributedState(y=best_y(problem, incumbent), d=problem.d, advice=problem.case.advice())
        if isinstance(problem.design, SpreadDesign):
            return replace(first, K=len(problem.design.held.ids))
        rng, K = np.random.default_rng(self.seed), min(self.machines, problem.n)
        parts = np.array_split(rng.permutation(problem.n), K)
        return replace(first, K=K, machines=tuple(self.ascent(problem, rng, part, K) for part in parts))

    def advanced(self, problem: ERM, state: DistributedState, incumbent: Incumbent) -> DistributedState:
        assert state.y is not None
        v, y = problem.direction(state.y), state.y
        sent = self.start(problem, v)
        if isinstance(problem.design, SpreadDesign):
            y, added = self._on_machines(problem, problem.design.held, y, sent, state)
            v = v + added
        for k, machine in enumerate(state.machines):
            rng = np.random.default_rng((self.seed, state.epoch, k))
            y, added = machine(y, sent, rng, self.local_steps)  # each machine changes its own rows of y only
            v = v + added
        x = problem.penalty.conjugate_gradient(v)
        return replace(state, y=y, epoch=state.epoch + 1, proposals=(offered(problem, incumbent, x, y),))

    def _on_machines(
        self, problem: ERM, held: Held, y: np.ndarray, v: np.ndarray, state: DistributedState
    ) -> tuple[np.ndarray, np.ndarray]:
        """y after a pass on each machine, which keeps its own part, and what all add to v."""
        held.ledger.down += state.K * v.size
        y, parts = held.map(
            local_pass, y, problem.share, np.arange(state.K), engine=self, v=v, epoch=state.epoch, copies=state.K,
            loss=problem.loss, penalty=problem.penalty,
        )  # fmt: skip
        added = held.gather(parts).sum(axis=0)
        held.ledger.end_round()
        return y, added

    def remarks(self, state: DistributedState) -> str:
        return (
            f"{state.advice}\n{self.name}: {state.epoch} rounds on {state.K} machines, {2 * state.K * state.epoch} "
            f"vectors of {state.d} numbers sent"
        )


@dataclass(frozen=True)
class DADM(DisDCA):
    """DisDCA with the norm at the hub only: any penalty with a ridge.

    Parameters
    ----------
    batch, seed, machines, local_steps, copy
        As for `DisDCA`; the copy is "practical".
    """

    name = "dadm"

    def ascent(self, problem: ERM, rng: np.random.Generator, rows: np.ndarray, copies: int) -> Ascent:
        return ascent_of(problem, self.batch, rng, rows, copies, ridge_only=True)

    def start(self, problem: ERM, v: np.ndarray) -> np.ndarray:
        return problem.penalty.strong_convexity * problem.penalty.conjugate_gradient(v)


@dataclass(frozen=True, eq=False)
class Standing(InBlocks):
    """The "basic" round: all steps look at the v that came, and are shorter by their number."""

    def __call__(
        self, y: np.ndarray, v: np.ndarray, rng: np.random.Generator, steps: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        loss, sigma, x = self.problem.loss, self.problem.penalty.strong_convexity, self.argmax(v)
        chosen = self.blocks.shuffled(rng)
        if steps is not None:
            chosen = chosen[: max(1, steps // len(chosen[0].rows))]
        y, added = y.copy(), np.zeros_like(v)
        for block in chosen:
            if block.curvature == 0:
                continue
            h = sigma / (self.copies * len(chosen) * block.curvature)
            moved = loss.prox_conjugate(y[block.rows] + h * (block.A @ x), h, block.b)
            added = added - block.At @ (block.share * (moved - y[block.rows]))
            y[block.rows] = moved
        return y, added
