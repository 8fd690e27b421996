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

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.losses import PiecewiseQuadratic
from matrixlearn_erm.engine import ERMEngine, ERMState, not_ridge
from matrixlearn_erm.problem import ERM

LARGEST = 1000
"""The side of the largest system."""
CLOSEST = 0.99
"""The fraction of the way to the boundary that a step may go."""
PATIENCE = 5
"""Iterations without progress after which more cannot be expected of double precision."""


@dataclass(frozen=True)
class InteriorState(ERMState):
    """y inside of its interval, and the multipliers of its ends."""

    y: np.ndarray | None = None
    x: np.ndarray | None = None
    """-A'(c y) / ridge."""
    low: End | None = None
    high: End | None = None
    e: np.ndarray | None = None
    """A x - b."""
    gap: float = np.inf
    """The least P(x) - D(y) so far."""
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
        low, high = End.at(y - lower, size, 1), End.at(upper - y, size, -1)
        x = problem.direction(y) / problem.penalty.ridge
        e = problem.design.apply(x) - problem.b
        return InteriorState(y=y, x=x, low=low, high=high, e=e, advice=problem.case.advice())

    def step(self, problem: ERM, state: InteriorState, incumbent: Incumbent) -> InteriorState:
        y, e, low, high = state.y, state.e, state.low, state.high
        assert y is not None and e is not None and low is not None and high is not None
        kappa, ends = problem.loss.kappa, max(1, low.count + high.count)
        missing = e - kappa * y if kappa > 0 else e  # plus low.z - high.z, it shall be 0
        mu = float(low.z @ low.room + high.z @ high.room) / ends
        solve = _system(problem, kappa + low.z / low.room + high.z / high.room)
        dy = solve(missing)
        q, r = low.relative(dy), high.relative(dy)
        dlow, dhigh = low.change(q), high.change(r)
        step = min(1.0, low.longest(q, dlow), high.longest(r, dhigh))
        after = (low.product(step, q, dlow) + high.product(step, r, dhigh)) / ends
        target = mu * min(1.0, max(after, 0.0) / mu) ** 3 if mu > 0 else 0.0
        more_low, more_high = low.wanted(target, q, dlow), high.wanted(target, r, dhigh)
        dy = solve(missing + more_low - more_high)
        q, r = low.relative(dy), high.relative(dy)
        dlow, dhigh = low.change(q) + more_low, high.change(r) + more_high
        step = min(1.0, CLOSEST * min(low.longest(q, dlow), high.longest(r, dhigh)))
        if not (np.all(np.isfinite(dy)) and step > 0):
            return replace(state, proposals=(), finished="the Newton system broke down: numerical limit")
        y, low, high = y + step * dy, low.moved(step, q, dlow), high.moved(step, r, dhigh)
        x = problem.direction(y) / problem.penalty.ridge
        e = problem.design.apply(x) - problem.b
        slope = problem.loss.gradient(e + problem.b, problem.b)
        gap = float(problem.share @ ((slope - y) * (e - kappa / 2 * (slope + y))))  # f(p) + f*(y) - y p
        idle = 0 if gap < 0.9 * state.gap else state.idle + 1
        return replace(
            state,
            y=y,
            x=x,
            low=low,
            high=high,
            e=e,
            gap=min(gap, state.gap),
            idle=idle,
            proposals=(Proposal(X=x, y=y, gap=gap),),
            finished=f"the gap has not moved for {PATIENCE} iterations: numerical limit" if idle > PATIENCE else "",
        )


@dataclass(frozen=True)
class End:
    """One end of the interval of each y: its distance from y, and its multiplier z; room = 1 and z = 0 where it is
    infinite.
    """

    room: np.ndarray
    z: np.ndarray
    sign: np.ndarray | int
    """By how much y moves the distance: 1 for the lower end, -1 for the upper one, 0 where it is infinite."""
    count: int
    """Finite ends."""

    @classmethod
    def at(cls, room: np.ndarray, z: np.ndarray, sign: int) -> End:
        """The end at these distances."""
        finite = np.isfinite(room)
        if np.all(finite):
            return cls(room, z, sign, len(room))
        return cls(np.where(finite, room, 1.0), np.where(finite, z, 0.0), sign * finite, int(np.sum(finite)))

    def relative(self, dy: np.ndarray) -> np.ndarray:
        """q, the change of room over room."""
        return np.asarray(self.sign * dy / self.room)

    def change(self, q: np.ndarray) -> np.ndarray:
        """dz for z room = 0 after the step, to first order."""
        return -self.z * (1 + q)

    def wanted(self, target: float, q: np.ndarray, dz: np.ndarray) -> np.ndarray:
        """By how much more z changes for z room = target after the steps, to second order."""
        products = target if self.count == len(self.room) else target * np.abs(self.sign)
        return np.asarray(products / self.room - dz * q)

    def product(self, step: float, q: np.ndarray, dz: np.ndarray) -> float:
        """The sum of z room after the step."""
        now, more = self.z * self.room, dz * self.room
        return float(np.sum(now) + step * (now @ q + np.sum(more) + step * (more @ q)))

    def longest(self, q: np.ndarray, dz: np.ndarray) -> float:
        """The largest step that keeps room and z >= 0."""
        z, dz = (self.z, dz) if self.count == len(self.room) else (self.z[self.sign != 0], dz[self.sign != 0])
        steepest = -min(float(np.min(q)), float(np.min(dz / z, initial=0.0)))
        return 1 / steepest if steepest > 0 else np.inf

    def moved(self, step: float, q: np.ndarray, dz: np.ndarray) -> End:
        """After the step."""
        return replace(self, room=self.room * (1 + step * q), z=self.z + step * dz)


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
