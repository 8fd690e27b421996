"""SPDC: stochastic primal-dual coordinates with extrapolation.

    y_B <- prox_{s f*}(y_B + s A_B x_),      x <- prox_{t psi}(x - t (u + N A_B'(c dy_B))),      u <- u + A_B'(c dy_B)
    x_ = x + theta (x - x_old),   t = sqrt(gamma / N sigma) / 2R,   s = sqrt(N sigma / gamma) / 2R,
    theta = 1 - 1 / (N + 2 R sqrt(N / sigma gamma))

References
----------
Zhang and Xiao (2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import flat, offered, rough
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import BlockState, Stochastic, best_x, best_y


@dataclass(frozen=True)
class SPDCState(BlockState):
    """x, the one before, and y."""

    x: np.ndarray | None = None
    last: np.ndarray | None = None
    y: np.ndarray | None = None


@dataclass(frozen=True)
class SPDC(Stochastic):
    """Stochastic primal-dual coordinates."""

    name = "spdc"

    def lacks(self, problem: ERM) -> str:
        return rough(problem) or flat(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> SPDCState:
        x = best_x(incumbent, problem.d)
        y = best_y(problem, incumbent)
        return SPDCState(blocks=self.partition(problem), x=x, last=x, y=y, advice=problem.case.advice())

    def advanced(self, problem: ERM, state: SPDCState, incumbent: Incumbent) -> SPDCState:
        blocks, x, last = state.blocks, state.x, state.last
        assert blocks is not None and x is not None and last is not None and state.y is not None
        psi, f, N, y = problem.penalty, problem.loss, len(blocks), state.y.copy()
        sigma, gamma, R = psi.strong_convexity, 1 / f.smoothness, np.sqrt(blocks.R2)
        t, s = np.sqrt(gamma / (N * sigma)) / (2 * R), np.sqrt(N * sigma / gamma) / (2 * R)
        theta = 1 - 1 / (N + 2 * R * np.sqrt(N / (sigma * gamma)))
        u = -problem.direction(y)
        for block in blocks.drawn(self.draws(state.epoch), N):
            ahead, rows = x + theta * (x - last), block.rows
            moved = f.prox_conjugate(y[rows] + s * (block.A @ ahead), s, block.b)
            change = block.At @ (block.share * (moved - y[rows]))
            last, x = x, psi.prox(x - t * (u + N * change), t)
            y[rows], u = moved, u + change
        proposals = (
            offered(problem, incumbent, x, y),
            offered(problem, incumbent, None, problem.dual_point(x)),
        )
        return replace(state, epoch=state.epoch + 1, x=x, last=last, y=y, proposals=proposals)
