"""Katyusha: SVRG with momentum, and a negative one back to the snapshot.

    x = tau1 z + x~ / 2 + (1/2 - tau1) y,    g as in SVRG at x
    z <- prox_{alpha psi}(z - alpha g),      y <- prox_{psi / 3 L R^2}(x - g / 3 L R^2)
    tau1 = min(sqrt(2 N sigma / 3 L R^2), 1/2),    alpha = 1 / (3 tau1 L R^2)

An epoch is 2 N steps, three passes; the next snapshot is the mean of its y_j with weights (1 + alpha sigma)^j. With
sigma = 0, tau1 = 2 / (epoch + 4) and equal weights.

References
----------
Allen-Zhu (2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import offered, rough
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import BlockState, Stochastic, best_x


@dataclass(frozen=True)
class KatyushaState(BlockState):
    """The snapshot x~ and the two sequences."""

    x: np.ndarray | None = None
    y: np.ndarray | None = None
    z: np.ndarray | None = None


@dataclass(frozen=True)
class Katyusha(Stochastic):
    """Accelerated stochastic variance reduction."""

    name = "katyusha"

    def lacks(self, problem: ERM) -> str:
        return rough(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> KatyushaState:
        x = best_x(incumbent, problem.d)
        return KatyushaState(blocks=self.partition(problem), x=x, y=x, z=x, advice=problem.case.advice())

    def advanced(self, problem: ERM, state: KatyushaState, incumbent: Incumbent) -> KatyushaState:
        blocks, snapshot, y, z = state.blocks, state.x, state.y, state.z
        assert blocks is not None and snapshot is not None and y is not None and z is not None
        psi, f, N = problem.penalty, problem.loss, len(blocks)
        sigma, L = psi.strong_convexity, f.smoothness * blocks.R2
        tau = min(np.sqrt(2 * N * sigma / (3 * L)), 0.5) if sigma > 0 else 2 / (state.epoch + 4)
        alpha = 1 / (3 * tau * L)
        slope = problem.dual_point(snapshot)
        full = -problem.direction(slope)
        mean, total, weight = np.zeros(problem.d), 0.0, 1.0
        for block in blocks.drawn(self.draws(state.epoch), 2 * N):
            x = tau * z + 0.5 * snapshot + (0.5 - tau) * y
            change = f.gradient(block.A @ x, block.b) - slope[block.rows]
            g = full + N * (block.At @ (block.share * change))
            z = psi.prox(z - alpha * g, alpha)
            y = psi.prox(x - g / (3 * L), 1 / (3 * L))
            total += weight
            mean = mean + (weight / total) * (y - mean)
            weight *= 1 + alpha * sigma
            if weight > 1e100:
                total, weight = total / weight, 1.0
        proposals = (offered(problem, incumbent, mean, problem.dual_point(mean)),)
        return replace(state, epoch=state.epoch + 1, x=mean, y=y, z=z, proposals=proposals)
