"""PDHG, the primal-dual hybrid gradient method of Chambolle and Pock, for every loss and penalty.

    y <- prox_{s f*}(y + s A x_),    x <- prox_{t psi}(x - t A'(c y)),    x_ = x + theta (x - x_old)

in the metric of the shares c, K = C^(1/2) A, with s t ||K||^2 <= 1:

    psi sigma-strongly convex, f 1/gamma-smooth    m = 2 sqrt(gamma sigma) / ||K||, t = m / 2 sigma, s = m / 2 gamma, theta = 1 / (1 + m)
    else                                           theta = 1; the ratio of s and t follows the distances that both have gone

The answer is the last pair or the mean since the last restart, whichever certifies less of a gap; without a linear rate
from the first row, the method starts again from the mean when its gap has halved.

References
----------
Chambolle and Pock (2011); Applegate, Hinder, Lu and Lubin (2023), for restarts.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import ERMEngine, ERMState, offered
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import best_x, best_y

CHECK = 10
"""Iterations of a step of the loop."""
LONGEST = 4000
"""Iterations after which a restart comes in any case."""


@dataclass(frozen=True)
class HybridState(ERMState):
    """The pair, x before it, and the means since the last restart."""

    x: np.ndarray | None = None
    last: np.ndarray | None = None
    y: np.ndarray | None = None
    mean_x: np.ndarray | None = None
    mean_y: np.ndarray | None = None
    count: int = 0
    origin: tuple[np.ndarray, np.ndarray] | None = None
    """Where the last restart was."""
    width: float = np.inf
    """The gap there."""
    ratio: float = 1.0
    """sqrt(t / s)."""


@dataclass(frozen=True)
class PDHG(ERMEngine):
    """Primal-dual hybrid gradients; accelerated where both sides are strongly convex, else restarted."""

    name = "chambolle-pock"
    by_rounds = True

    def lacks(self, problem: ERM) -> str:
        return ""

    def init(self, problem: ERM, incumbent: Incumbent) -> HybridState:
        x, y = best_x(incumbent, problem.d), best_y(problem, incumbent)
        gradient, size = float(np.linalg.norm(problem.direction(y))), float(np.sqrt(problem.share @ y**2))
        ratio = gradient / (problem.operator_norm**2 * (size or 1.0))  # of ||x|| and ||y||: a gradient step from 0
        start = HybridState(x=x, last=x, y=y, mean_x=x, mean_y=y, origin=(x, y), advice=problem.case.advice())
        return replace(start, ratio=ratio or 1.0)

    def step(self, problem: ERM, state: HybridState, incumbent: Incumbent) -> HybridState:
        x, last, y, mean_x, mean_y = state.x, state.last, state.y, state.mean_x, state.mean_y
        assert x is not None and last is not None and y is not None and mean_x is not None and mean_y is not None
        origin = state.origin
        assert origin is not None
        psi, f, K = problem.penalty, problem.loss, problem.operator_norm
        sigma, gamma = psi.strong_convexity, 1 / f.smoothness
        linear = sigma > 0 and gamma > 0
        if linear:
            m = 2 * np.sqrt(gamma * sigma) / K
            t, s, theta = m / (2 * sigma), m / (2 * gamma), 1 / (1 + m)
        else:
            t, s, theta = state.ratio / K, 1 / (state.ratio * K), 1.0
        count = state.count
        for _ in range(CHECK):
            y = f.prox_conjugate(y + s * problem.design.apply(x + theta * (x - last)), s, problem.b)
            last, x = x, psi.prox(x + t * problem.direction(y), t)
            count += 1
            if not linear:
                mean_x, mean_y = mean_x + (x - mean_x) / count, mean_y + (y - mean_y) / count
        if linear:
            best_pair = (x, y)
        else:
            best_pair = min(((x, y), (mean_x, mean_y)), key=lambda pair: _gap(problem, *pair))
        proposals = (offered(problem, incumbent, *best_pair),)
        state = replace(state, x=x, last=last, y=y, mean_x=mean_x, mean_y=mean_y, count=count, proposals=proposals)
        if linear:
            return state
        width = _gap(problem, *best_pair)
        if width > state.width / 2 and count < LONGEST:
            return state
        moved_x = float(np.linalg.norm(best_pair[0] - origin[0]))
        moved_y = float(np.sqrt(problem.share @ (best_pair[1] - origin[1]) ** 2))
        ratio = np.sqrt(state.ratio * moved_x / moved_y) if moved_x > 0 and moved_y > 0 else state.ratio
        x, y = best_pair
        return replace(
            state, x=x, last=x, y=y, mean_x=x, mean_y=y, count=0, origin=best_pair, width=width, ratio=float(ratio)
        )


def _gap(problem: ERM, x: np.ndarray, y: np.ndarray) -> float:
    """P(x) - D(y), y moved into the domain of D."""
    return problem.value_at(problem.design.apply(x), x) - problem.bound_from_vector(y).lower
