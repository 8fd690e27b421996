"""The engine that follows the path of centres of the barrier, mu from the gap at W_1 down to the gap asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal
from matrixlearn.engines.base import State
from matrixlearn.problems.base import Problem
from matrixlearn_definiteboost.barrier import Barrier, Centring, inverse_curvature
from matrixlearn_definiteboost.dual import EPS
from matrixlearn_definiteboost.problem import DefiniteBoost


@dataclass(frozen=True, kw_only=True)
class PathState(State):
    """Where the path of centres has been followed to: G and what goes with it, p, q, and the steps since mu fell."""

    barrier: Barrier
    at: Centring
    p: np.ndarray
    q: np.ndarray
    model: np.ndarray | None = None
    steps: int = 0
    fall: float


FALL, STEEPER, PATIENCE = 0.3, 1e-2, 30
"""mu falls by `FALL`, where centring was quick by its powers down to `STEEPER`; after `PATIENCE` steps in any case."""

NEAR = 0.01
"""A centre is near where the squared decrement is at most mu times this times the number of logarithms, or mu."""

AHEAD = 150.0
"""From where `auto` takes this engine. Below 30 it lost, up to 18 times; above 1,000 it won, 2 to 40 times."""

THIN = 1e-5
"""Hard inequalities with a smaller interior, in scaled units, count as having none: then no mu has a centre, and the
matrices approach the one face that is left as mu falls."""


@dataclass(frozen=True)
class CentralPath(Engine):
    """The path of centres of the barrier: Newton steps whose number hardly depends on the prices of violations.

    One eigendecomposition a trial step, and one Cholesky factorization an iteration, of the order of the number of
    constraints or of the entries of W, whichever is less. Feasible matrices come with the steps.
    """

    name = "barrier"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, DefiniteBoost) else "barrier is for DefiniteBoost problems"

    def preferred(self, problem: Any, tol: float) -> str:
        barrier = Barrier(problem, problem.sides)
        crowding = len(problem.sides.index) / barrier.entries
        price = float(np.max(barrier.high, initial=0.0))
        if problem.slack is None or crowding**2 * price < AHEAD:
            return ""
        return (
            f"measured ahead of corrective for soft constraints where the square of constraints per entry of W times "
            f"the scaled price is at least {AHEAD:g}; here {crowding:.3g}^2 x {price:.3g}"
        )

    def init(self, problem: Any, incumbent: Incumbent) -> PathState:
        barrier = Barrier(problem, problem.sides)
        x, mu = barrier.start()
        s, t = barrier.ends(x)
        return PathState(barrier=barrier, at=barrier.at(x, mu), p=mu / s, q=mu / t, fall=FALL)

    def step(self, problem: Any, state: PathState, incumbent: Incumbent) -> PathState:
        barrier, at, p, q = state.barrier, state.at, state.p, state.q
        model = inverse_curvature(at.w, at.mu) if state.model is None else state.model
        step = barrier.direction(at, p, q, model)
        there, share, other = barrier.search(at, step, p, q)
        p, q = p + other * (step.p - p), q + other * (step.q - q)
        proposals = [Proposal(y=barrier.multipliers(there.x))]
        for W in (step.W, there.W):
            X = problem.feasible.admitted(W)
            if X is not None:
                proposals.append(Proposal(X=X))
        steps, fall, finished, mu, kept = state.steps + 1, state.fall, "", there.mu, None
        centred = step.decrement <= max(1.0, NEAR * barrier.count) * mu
        thin = barrier.interior_below(there.x, mu) < THIN
        if centred or thin or steps >= PATIENCE or share == 0:
            if mu * barrier.count <= 1e-3 * EPS * problem.scale:
                finished = "mu is at rounding"
            fall = STEEPER if thin else max(STEEPER, FALL * fall) if steps <= 2 else FALL
            kept = inverse_curvature(there.w, mu)  # that of the centre left: to first order right along the path
            mu, steps = fall * mu, 0
            there = barrier.moved(there, mu)
        p, q = barrier.kept_near(there.x, mu, p, q)
        return PathState(
            proposals=tuple(proposals),
            finished=finished,
            barrier=barrier,
            at=there,
            p=p,
            q=q,
            model=kept,
            steps=steps,
            fall=fall,
        )
