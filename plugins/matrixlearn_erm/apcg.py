"""APCG: coordinate ascent on the dual with Nesterov's momentum, N blocks of coordinates.

    u = (y + a z) / (1 + a),    z_B <- prox step from (1 - a) z + a u,
    y <- u + N a (z - z_old) + (mu / N) (z_old - u),
    a = sqrt(mu) / N,   L = max lambda_B / sigma + gamma,   mu = gamma / L

in the metric of the shares c: there psi* has along a block at most the curvature lambda_B / sigma, and the strong
convexity gamma of f* moves from f* to it.

References
----------
Lin, Lu and Xiao (2014).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import flat, offered, rough
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import BlockState, Stochastic, best_y


@dataclass(frozen=True)
class APCGState(BlockState):
    """y and z, with v = -A'(c y) and w = -A'(c z)."""

    y: np.ndarray | None = None
    z: np.ndarray | None = None
    v: np.ndarray | None = None
    w: np.ndarray | None = None


@dataclass(frozen=True)
class APCG(Stochastic):
    """Accelerated coordinate ascent on the dual."""

    name = "apcg"

    def lacks(self, problem: ERM) -> str:
        return rough(problem) or flat(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> APCGState:
        y = best_y(problem, incumbent)
        v = problem.direction(y)
        return APCGState(blocks=self.partition(problem), y=y, z=y, v=v, w=v, advice=problem.case.advice())

    def advanced(self, problem: ERM, state: APCGState, incumbent: Incumbent) -> APCGState:
        blocks, y, z, v, w = state.blocks, state.y, state.z, state.v, state.w
        assert blocks is not None and y is not None and z is not None and v is not None and w is not None
        psi, f, N = problem.penalty, problem.loss, len(blocks)
        sigma, gamma = psi.strong_convexity, 1 / f.smoothness
        # in the metric of c, a block of the smooth part has at most the curvature L, with its part gamma moved from f*
        L = max(block.curvature for block in blocks.blocks) / sigma + gamma
        mu = gamma / L
        a = np.sqrt(mu) / N
        step = 1 / (N * a * L)  # < 1 / gamma, or all rows are 0
        for block in blocks.drawn(self.draws(state.epoch), N):
            u, t = (y + a * z) / (1 + a), (v + a * w) / (1 + a)
            z_new, w_new = (1 - a) * z + a * u, (1 - a) * w + a * t
            rows = block.rows
            # minimise f* - gamma y^2 / 2 + <slope, .> + |. - z_new|^2 / 2 step: one prox of f* with a longer step
            slope = gamma * u[rows] - block.A @ psi.conjugate_gradient(t)
            left = 1 - step * gamma
            moved = f.prox_conjugate((z_new[rows] - step * slope) / left, step / left, block.b)
            w_new = w_new - block.At @ (block.share * (moved - z_new[rows]))
            z_new = z_new.copy()
            z_new[rows] = moved
            y = u + N * a * (z_new - z) + (mu / N) * (z - u)
            v = t + N * a * (w_new - w) + (mu / N) * (w - t)
            z, w = z_new, w_new
        inside = np.clip(y, *f.domain(problem.b))
        v, w = problem.direction(y), problem.direction(z)  # rounding does not add up over epochs
        proposals = (offered(problem, incumbent, psi.conjugate_gradient(problem.direction(inside)), inside),)
        return replace(state, epoch=state.epoch + 1, y=y, z=z, v=v, w=w, proposals=proposals)
