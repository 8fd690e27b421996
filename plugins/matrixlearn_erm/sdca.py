"""SDCA: ascent on the dual, one sample after the other.

    y_i <- prox_{h f*}(y_i + h a_i.x),    x = grad psi*(v),    v = -A'(c y) kept,    h = sigma / (c_i ||a_i||^2)

Each step can only raise D, whatever the loss: no step size is to be chosen.

References
----------
Shalev-Shwartz and Zhang (2013, 2016).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn_erm.ascent import Ascent, Compiled, ascent_of, compiles
from matrixlearn_erm.engine import ERMState, flat
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import Stochastic, best_y

FEW = 4
"""Passes over the rows whose y_i is moving still, between two passes over all rows, each with its certificate."""
EASY = 100.0
"""R^2 / sigma n up to which compiled passes were faster than an interior point: benchmarks/erm/peers.py --engines."""
RENEWED = 10
"""Certificates after which v is computed anew: rounding adds up."""


@dataclass(frozen=True)
class SDCAState(ERMState):
    """y, v = -A'(c y), and the passes over them."""

    y: np.ndarray | None = None
    v: np.ndarray | None = None
    ascent: Ascent | None = None
    epoch: int = 0


@dataclass(frozen=True)
class SDCA(Stochastic):
    """Stochastic dual coordinate ascent; rows one by one where numba is installed, else in blocks.

    Parameters
    ----------
    batch : int, optional
        Rows of a block. By default 1 with numba, else up to 64.
    seed : int
    """

    name = "sdca"

    def lacks(self, problem: ERM) -> str:
        return flat(problem)

    def preferred(self, problem: Any, tol: float) -> str:
        if not compiles(problem) or np.isfinite(problem.loss.smoothness):
            return ""
        R2, sigma = problem.R2, problem.penalty.strong_convexity
        if EASY * sigma * problem.n < R2:
            return ""
        return f"compiled passes were the fastest for corners with R^2 / sigma n <= {EASY:g}"

    def init(self, problem: ERM, incumbent: Incumbent) -> SDCAState:
        ascent = ascent_of(problem, self.batch, np.random.default_rng(self.seed))
        y = best_y(problem, incumbent)
        return SDCAState(y=y, v=problem.direction(y), ascent=ascent, advice=problem.case.advice())

    def advanced(self, problem: ERM, state: SDCAState, incumbent: Incumbent) -> SDCAState:
        y, v, ascent, rng = state.y, state.v, state.ascent, self.draws(state.epoch)
        assert y is not None and v is not None and ascent is not None
        before = y
        y, added = ascent(y, v, rng)
        v = v + added
        if isinstance(ascent, Compiled):
            moving = replace(ascent, rows=np.flatnonzero(y != before))
            for _ in range(FEW):
                y, added = moving(y, v, rng)
                v = v + added
        if state.epoch % RENEWED == RENEWED - 1:
            v = problem.direction(y)
        x = problem.penalty.conjugate_gradient(v)
        return replace(state, y=y, v=v, epoch=state.epoch + 1, proposals=(Proposal(X=x, y=y),))

    def remarks(self, state: SDCAState) -> str:
        how = "rows one by one, compiled by numba" if isinstance(state.ascent, Compiled) else "blocks of rows, in NumPy"
        return f"{state.advice}\nsdca: {how}"
