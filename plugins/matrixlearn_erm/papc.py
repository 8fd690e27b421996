"""PAPC: a predictor and a corrector around one proximal map, for a smooth psi.

    y <- prox_{(l/g) f*}(y - l A A'(c y) + (l/g) A (x - g grad psi(x))),    x <- x - g grad psi(x) - g A'(c y)
    l <= 1 / ||K||^2,    g < 2 / smoothness of psi

References
----------
Drori, Sabach and Teboulle (2015).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import ERMEngine, ERMState, not_ridge, offered
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import best_x, best_y

CHECK = 10
"""Iterations of a step of the loop."""


@dataclass(frozen=True)
class PAPCState(ERMState):
    """The pair."""

    x: np.ndarray | None = None
    y: np.ndarray | None = None


@dataclass(frozen=True)
class PAPC(ERMEngine):
    """Proximal alternating predictor-corrector."""

    name = "papc"
    by_rounds = True

    def lacks(self, problem: ERM) -> str:
        return not_ridge(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> PAPCState:
        return PAPCState(x=best_x(incumbent, problem.d), y=best_y(problem, incumbent), advice=problem.case.advice())

    def step(self, problem: ERM, state: PAPCState, incumbent: Incumbent) -> PAPCState:
        x, y = state.x, state.y
        assert x is not None and y is not None
        f, sigma = problem.loss, problem.penalty.strong_convexity
        g, step = 1 / sigma, 1 / problem.operator_norm**2
        for _ in range(CHECK):
            ahead = x - g * sigma * x
            y = f.prox_conjugate(
                y + (step / g) * problem.design.apply(ahead + g * problem.direction(y)), step / g, problem.b
            )
            x = ahead + g * problem.direction(y)
        proposals = (offered(problem, incumbent, x, y), offered(problem, incumbent, None, problem.dual_point(x)))
        return replace(state, x=x, y=y, proposals=proposals)
