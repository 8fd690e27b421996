"""SVRG: stochastic gradients corrected by a full one at a snapshot.

    g = grad F(x~) - grad F_B(x~) + grad F_B(x),    x <- prox_{h psi}(x - h g),    h = 1 / 4 L R^2

An epoch is 2 N steps from the snapshot x~, and costs three passes; the last x is the next snapshot.

References
----------
Xiao and Zhang (2014).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import offered, rough
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import BlockState, Stochastic, best_x, require_length


@dataclass(frozen=True)
class SVRGState(BlockState):
    """The snapshot."""

    x: np.ndarray | None = None


@dataclass(frozen=True)
class SVRG(Stochastic):
    """Stochastic variance-reduced gradients with proximal steps.

    Parameters
    ----------
    batch, seed
        As for every engine that draws blocks.
    length : float
        h L R^2 > 0: the step in units of the inverse smoothness.
    """

    length: float = 0.25

    name = "svrg"

    def __post_init__(self) -> None:
        require_length(self.length)

    def lacks(self, problem: ERM) -> str:
        return rough(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> SVRGState:
        x = best_x(incumbent, problem.d)
        return SVRGState(blocks=self.partition(problem), x=x, advice=problem.case.advice())

    def advanced(self, problem: ERM, state: SVRGState, incumbent: Incumbent) -> SVRGState:
        blocks, x = state.blocks, state.x
        assert blocks is not None and x is not None
        psi, f, N = problem.penalty, problem.loss, len(blocks)
        slope = problem.dual_point(x)
        full, step = -problem.direction(slope), self.length / (f.smoothness * blocks.R2)
        for block in blocks.drawn(self.draws(state.epoch), 2 * N):
            change = f.gradient(block.A @ x, block.b) - slope[block.rows]
            x = psi.prox(x - step * (full + N * (block.At @ (block.share * change))), step)
        proposals = (offered(problem, incumbent, x, problem.dual_point(x)),)
        return replace(state, epoch=state.epoch + 1, x=x, proposals=proposals)
