"""What the engines share: what they refuse, the ledger, and where they start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, State
from matrixlearn.machines import Ledger
from matrixlearn.problems import Problem
from matrixlearn_network.problem import GraphMultitask

HUGE = 1e100
"""What no weight gets to unless steps are too long."""


@dataclass(frozen=True, eq=False)
class Walk(State):
    """Weights by task, (m, d), and the ledger of the run."""

    W: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    ledger: Ledger = field(default_factory=Ledger)


class NetworkEngine(Engine):
    """An engine for `GraphMultitask`.

    A subclass says what it cannot do without: a hub, a smooth loss, messages that arrive, a ridge.
    """

    needs_hub = False
    """Whether a machine must exist that all others reach."""
    needs_smooth = True
    """Whether the loss must have no corner."""
    needs_ridge = True
    """Whether eta must be positive."""
    survives = False
    """Whether it still converges where messages are late or lost."""

    def objection(self, problem: Problem) -> str:
        if not isinstance(problem, GraphMultitask):
            return f"{self.name} is for GraphMultitask"
        if self._needs_hub and not problem.machines.hub:
            return f"{self.name} needs a hub, and these machines have none; bol sends to neighbours only"
        if not problem.machines.reliable and not self.survives:
            return (
                f"{self.name} has no proof of convergence where messages are late or lost; bol, gd and dmtl without "
                f"acceleration have"
            )
        if self.needs_smooth and not np.isfinite(problem.loss.smoothness):
            return f"{self.name} needs a smooth loss, and {problem.loss.name} has a corner; bol takes it"
        if self.needs_ridge and problem.eta == 0:
            return f"{self.name} needs eta > 0; dmtl takes eta = 0"
        return self._further_objection(problem)

    @property
    def _needs_hub(self) -> bool:
        return self.needs_hub

    def _further_objection(self, problem: GraphMultitask) -> str:
        return ""

    def remarks(self, state: Any) -> str:
        return f"sent: {state.ledger}"

    @staticmethod
    def started(problem: GraphMultitask, incumbent: Incumbent) -> np.ndarray:
        """The weights to start from, by task."""
        d, m = problem.shape
        return np.zeros((m, d)) if incumbent.X is None else np.ascontiguousarray(np.asarray(incumbent.X).T)

    @staticmethod
    def diverges(W: np.ndarray) -> bool:
        """Whether weights have left all bounds."""
        return not bool(np.all(np.abs(W) < HUGE))
