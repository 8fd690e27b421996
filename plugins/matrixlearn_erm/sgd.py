"""Stochastic gradients with proximal steps, averaged: the oldest of the methods.

    x <- prox_{h psi}(x - h f_i'(a_i.x) a_i),    h = 1 / (sigma (t + t0)),  t0 = L R^2 / sigma

The answer is the average of the x_t with weights t. With sigma = 0, h = h0 / sqrt(t + 1). The error falls as 1 / t, or
as 1 / sqrt(t): no gap below 1e-3 or so can be hoped for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.engine import offered
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import BlockState, Stochastic, best_x, require_length


@dataclass(frozen=True)
class SGDState(BlockState):
    """x, and the weighted mean of all."""

    x: np.ndarray | None = None
    mean: np.ndarray | None = None


@dataclass(frozen=True)
class SGD(Stochastic):
    """Stochastic (sub)gradient descent with proximal steps and a weighted average.

    Parameters
    ----------
    batch, seed
        As for every engine that draws blocks.
    length : float
        > 0; each step is so many times that of the formula.
    """

    length: float = 1.0

    name = "sgd"

    def __post_init__(self) -> None:
        require_length(self.length)

    def lacks(self, problem: ERM) -> str:
        return ""

    def init(self, problem: ERM, incumbent: Incumbent) -> SGDState:
        x = best_x(incumbent, problem.d)
        return SGDState(blocks=self.partition(problem), x=x, mean=x, advice=problem.case.advice())

    def advanced(self, problem: ERM, state: SGDState, incumbent: Incumbent) -> SGDState:
        blocks, x, mean = state.blocks, state.x, state.mean
        assert blocks is not None and x is not None and mean is not None
        psi, f, N = problem.penalty, problem.loss, len(blocks)
        sigma, smoothness = psi.strong_convexity, min(problem.loss.smoothness, 1.0)
        t0 = smoothness * blocks.R2 / sigma if sigma > 0 else 0.0
        t = state.epoch * N
        for block in blocks.drawn(self.draws(state.epoch), N):
            t += 1
            inverse = sigma * (t + t0) if sigma > 0 else smoothness * blocks.R2 * np.sqrt(t)
            step = self.length / inverse
            gradient = N * (block.At @ (block.share * f.gradient(block.A @ x, block.b)))
            x = psi.prox(x - step * gradient, step)
            mean = mean + 2 / (t + 1) * (x - mean)
        proposals = (offered(problem, incumbent, mean, problem.dual_point(mean)),)
        return replace(state, epoch=state.epoch + 1, x=x, mean=mean, proposals=proposals)
