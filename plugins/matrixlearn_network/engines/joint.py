"""Jointly sparse tasks at a hub that has the moments: alternating directions, and reweighting around them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal, State
from matrixlearn.machines import Ledger
from matrixlearn.problems import Problem
from matrixlearn_network.joint import ConcaveJointlySparse, Improved, JointlySparse, SharedSupport
from matrixlearn_network.splitting import Split


@dataclass(frozen=True, eq=False, kw_only=True)
class AtHub(State):
    """The state of an engine that has all moments at the hub, with the ledger of the run."""

    ledger: Ledger = field(default_factory=Ledger)


class HubEngine(Engine):
    """One that has all moments sent once, d (d + 3) / 2 numbers a machine."""

    kind: type[SharedSupport]
    """Whom it is for."""

    def objection(self, problem: Problem) -> str:
        if not isinstance(problem, self.kind):
            return f"{self.name} is for {self.kind.__name__}"
        if not problem.machines.hub:
            return f"{self.name} needs a hub, which solves with all moments, and these machines have none"
        return ""

    def _opened(self, problem: SharedSupport) -> Ledger:
        """The ledger, with the moments sent and the weights sent back."""
        ledger, (d, m) = problem.opened(self.name), problem.shape
        ledger.up += m * d * (d + 3) // 2
        ledger.down += m * d
        ledger.end_round()
        return ledger

    def remarks(self, state: Any) -> str:
        return f"sent: {state.ledger}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Alternation(AtHub):
    """The iterate of the alternating directions."""

    split: Split


@dataclass(frozen=True)
class JointADMM(HubEngine):
    """Alternating directions (`splitting`): W by one linear solve, each neighbourhood's copies by shrinking its rows.

    Parameters
    ----------
    inner : int
        Of its iterations in one of the loop: a check costs a solve and a pass over the rows.
    """

    inner: int = 20

    name = "joint-admm"
    kind = JointlySparse

    def init(self, problem: Any, incumbent: Incumbent) -> Alternation:
        W = np.ascontiguousarray(np.asarray(incumbent.X).T)
        Z = None if incumbent.y is None else incumbent.y.reshape(-1, problem.features)
        return Alternation(split=problem.splitting.started(W, Z), ledger=self._opened(problem))

    def step(self, problem: Any, state: Alternation, incumbent: Incumbent) -> Alternation:
        split = problem.splitting.solution(state.split, problem.radius, 0.0, self.inner)
        X = np.ascontiguousarray(problem.splitting.weights(split).T)
        still = max(split.moved) == 0.0
        return replace(
            state,
            proposals=(Proposal(X=X, y=split.dual.reshape(-1)),),
            finished="no iteration moves the weights" if still else "",
            split=split,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ReweightingState(AtHub):
    """What the point before the last step has proved, which the next step starts from."""

    left: Improved | None = None


@dataclass(frozen=True)
class Reweighting(HubEngine):
    """W <- the minimum for the weights omega = phi'(||w_kr||), which the bound of W has solved for: P never rises."""

    name = "reweighted"
    kind = ConcaveJointlySparse

    def init(self, problem: Any, incumbent: Incumbent) -> ReweightingState:
        return ReweightingState(ledger=self._opened(problem))

    def step(self, problem: Any, state: ReweightingState, incumbent: Incumbent) -> ReweightingState:
        here = incumbent.from_matrix
        assert isinstance(here, Improved)
        if here is state.left:  # what was proposed last is no better
            return replace(state, proposals=(), finished="no reweighting lowers the objective: the limit of rounding")
        return replace(state, proposals=(Proposal(X=here.improved),), left=here)
