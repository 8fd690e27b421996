"""A primal-dual interior point on the dual of losses with a quadratic conjugate, and a ridge.

    min over lower <= y <= upper of   ||A'(c y)||^2 / 2 ridge + sum_i c_i (kappa y_i^2 / 2 + b_i y_i)
    b + kappa y - A x = zl - zu,    ridge x = -A'(c y),    zl (y - lower) = zu (upper - y) = mu

Eliminating zl and zu leaves, with theta = kappa + zl / (y - lower) + zu / (upper - y),

    (ridge I + A' diag(c / theta) A) dx = -A'(c r / theta),    dy = (r + A dx) / theta

or the same in n dimensions where n < d. x is always -A'(c y) / ridge: each iterate is a pair of the certificate.

References
----------
Mehrotra (1992); Ferris and Munson (2003), for support vector machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from matrixlearn.engines import Incumbent
from matrixlearn.losses import PiecewiseQuadratic
from matrixlearn_erm.engine import ERMEngine, ERMState, not_ridge, offered
from matrixlearn_erm.problem import ERM

LARGEST = 1000
"""The side of the largest system."""
CLOSEST = 0.99
"""The fraction of the way to the boundary that a step may go."""
PATIENCE = 5
"""Iterations without progress after which more cannot be expected of double precision."""


@dataclass(frozen=True)
class InteriorState(ERMState):
    """y inside of its interval, and the multipliers of its ends, 0 where an end is infinite."""

    y: np.ndarray | None = None
    x: np.ndarray | None = None
    """-A'(c y) / ridge."""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    width: float = np.inf
    idle: int = 0


@dataclass(frozen=True)
class InteriorPoint(ERMEngine):
    """Mehrotra's predictor and corrector on the dual, one system of min(n, d) equations an iteration."""

    name = "dual-interior-point"

    def lacks(self, problem: ERM) -> str:
        if not isinstance(problem.loss, PiecewiseQuadratic):
            return f"the conjugate of the {problem.loss.name} loss is not quadratic; newton-cg or sdca will do"
        if min(problem.n, problem.d) > LARGEST:
            return f"it solves systems of min(n, d) = {min(problem.n, problem.d)} > {LARGEST} equations; sdca will do"
        return not_ridge(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> InteriorState:
        lower, upper = problem.ends
        y = np.clip(np.zeros(problem.n), lower + 0.5, upper - 0.5)
        both = np.isfinite(lower) & np.isfinite(upper)
        y = np.where(both, (np.where(both, lower, 0) + np.where(both, upper, 0)) / 2, y)
        size = 1 + np.abs(problem.b)
        low, high = np.where(np.isfinite(lower), size, 0.0), np.where(np.isfinite(upper), size, 0.0)
        x = problem.direction(y) / problem.penalty.ridge
        return InteriorState(y=y, x=x, low=low, high=high, advice=problem.case.advice())

    def step(self, problem: ERM, state: InteriorState, incumbent: Incumbent) -> InteriorState:
        y, x, low, high = state.y, state.x, state.low, state.high
        assert y is not None and x is not None and low is not None and high is not None
        lower, upper = problem.ends
        kappa, pairs = problem.loss.kappa, int(np.sum(np.isfinite(lower)) + np.sum(np.isfinite(upper)))
        below, above = np.where(low > 0, y - lower, 1.0), np.where(high > 0, upper - y, 1.0)
        missing = problem.design.apply(x) - problem.b - kappa * y  # plus low - high, it shall be 0
        mu = float(low @ below + high @ above) / max(1, pairs)
        theta = kappa + low / below + high / above
        solve = _system(problem, theta)

        def direction(wanted_low: np.ndarray, wanted_high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """dy, dlow, dhigh for products of the wanted sizes: low below = wanted_low after the step."""
            dy = solve(missing + wanted_low / below - wanted_high / above)
            return dy, (wanted_low - low * dy) / below - low, (wanted_high + high * dy) / above - high

        zero = np.zeros(problem.n)
        dy, dlow, dhigh = direction(zero, zero)
        step = min(1.0, _room(below, low, dy, dlow), _room(above, high, -dy, dhigh))
        after = float((low + step * dlow) @ (below + step * dy * (low > 0)))
        after = (after + float((high + step * dhigh) @ (above - step * dy * (high > 0)))) / max(1, pairs)
        target = mu * min(1.0, max(after, 0.0) / mu) ** 3 if mu > 0 else 0.0
        dy, dlow, dhigh = direction(
            np.where(low > 0, target - dlow * dy, 0.0), np.where(high > 0, target + dhigh * dy, 0.0)
        )
        step = min(1.0, CLOSEST * min(_room(below, low, dy, dlow), _room(above, high, -dy, dhigh)))
        if not (np.all(np.isfinite(dy)) and step > 0):
            return replace(state, proposals=(), finished="the Newton system broke down: numerical limit")
        y, low, high = y + step * dy, low + step * dlow, high + step * dhigh
        x = problem.direction(y) / problem.penalty.ridge
        width = incumbent.upper - incumbent.lower
        progress = width < 0.9 * state.width
        idle = 0 if progress else state.idle + 1
        return replace(
            state,
            y=y,
            x=x,
            low=low,
            high=high,
            width=width if progress else state.width,
            idle=idle,
            proposals=(offered(problem, incumbent, x, y),),
            finished=f"the gap has not moved for {PATIENCE} iterations: numerical limit" if idle > PATIENCE else "",
        )


def _room(slack: np.ndarray, multiplier: np.ndarray, dslack: np.ndarray, dmultiplier: np.ndarray) -> float:
    """The largest step that keeps the slack and the multiplier of each end >= 0."""
    if not np.all(multiplier > 0):  # infinite ends
        there = multiplier > 0
        slack, multiplier, dslack, dmultiplier = slack[there], multiplier[there], dslack[there], dmultiplier[there]
    steepest = max(float(np.max(-dslack / slack, initial=0.0)), float(np.max(-dmultiplier / multiplier, initial=0.0)))
    return 1 / steepest if steepest > 0 else np.inf


def _system(problem: ERM, theta: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The function r -> dy with theta dy + A A'(c dy) / ridge = r."""
    design, ridge, share = problem.design, problem.penalty.ridge, problem.share
    if problem.d <= problem.n:
        weights = share / theta
        H = design.gram(weights)
        H[np.diag_indices(problem.d)] += ridge
        factor = scipy.linalg.cho_factor(H, check_finite=False)

        def solve(r: np.ndarray) -> np.ndarray:
            dx = scipy.linalg.cho_solve(factor, design.adjoint(weights * r), check_finite=False)
            return (r - design.apply(dx)) / theta

        return solve
    root = np.sqrt(share)
    K = design.A @ design.transposed
    K = (K.toarray() if design.is_sparse else K) * (root[:, None] * root[None, :]) / ridge
    K[np.diag_indices(problem.n)] += theta
    whole = scipy.linalg.cho_factor(K, check_finite=False)
    return lambda r: scipy.linalg.cho_solve(whole, root * r, check_finite=False) / root
