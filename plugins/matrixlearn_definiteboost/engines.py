"""The three engines of DefiniteBoost: projections one by one, approximate or exact, and all constraints at once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from matrixlearn.engines import Engine, Incumbent, MirrorDescent, Proposal
from matrixlearn.engines.base import State
from matrixlearn.engines.mirror import MirrorState
from matrixlearn.problems.base import Problem
from matrixlearn_definiteboost.dual import Point, Sides, evaluate
from matrixlearn_definiteboost.interior import InteriorSearch
from matrixlearn_definiteboost.newton import newton_step
from matrixlearn_definiteboost.oracle import Choice, Correcting, MostViolated, Step
from matrixlearn_definiteboost.problem import DefiniteBoost


@dataclass(frozen=True)
class ProjectionState(MirrorState):
    """The rounds so far, and the search for a strictly feasible matrix."""

    search: InteriorSearch | None = None


@dataclass(frozen=True)
class Projections(MirrorDescent):
    """Rounds of one constraint each, through the loop of every mirror descent.

    Parameters
    ----------
    choice : {"most violated", "cyclic", "random"}
        Which of the constraints that do not hold.
    accuracy : float
        Violations up to this, in the units of the constraints, count as satisfied; 0 leaves rounding only.
    seed : int
        Of the random choice.
    """

    choice: Choice = "most violated"
    accuracy: float = 0.0
    seed: int = 0

    rule: ClassVar[Step] = "approximate"
    """The step along a constraint: by a formula or by a line search."""
    oracle: ClassVar[type[MostViolated]] = Correcting
    """The oracle that takes the steps."""
    nearest: ClassVar[str] = "within accuracy = {accuracy:g} no step raises the dual"
    """What the end of the rounds says of the matrix."""

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, DefiniteBoost) else f"{self.name} is for DefiniteBoost problems"

    def init(self, problem: Any, incumbent: Incumbent) -> MirrorState:
        oracle = self.oracle.of(
            problem,
            incumbent.y,
            step=self.rule,
            choice=self.choice,
            accuracy=self.accuracy,
            seed=self.seed,
        )
        return ProjectionState(G=oracle.G, exponent=problem.play().exponent, oracle=oracle)

    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> ProjectionState:
        """A round, and one step of the search for a strictly feasible matrix while a check waits for it."""
        after, search = super().step(problem, state, incumbent), state.search
        proposals, finished = after.proposals, after.finished
        if proposals and search is None and problem.slack is None and not problem.is_feasible(proposals[0].X):
            search = InteriorSearch.of(problem)
        if search is not None:
            search = search.advanced()
            proposals = tuple(Proposal(X=search.near(np.asarray(shown.X)), y=shown.y) for shown in proposals)
            finished = finished if search.over else ""
        if finished == "satisfied":
            finished = self.nearest.format(accuracy=self.accuracy)
        kept = {field.name: getattr(after, field.name) for field in fields(MirrorState)}
        return ProjectionState(**kept | {"proposals": proposals, "finished": finished}, search=search)


@dataclass(frozen=True)
class ApproximateProjections(Projections):
    """DefiniteBoost: the closed-form step (4.6) along a violated constraint, or back along one that was overdone."""

    name = "definiteboost"


@dataclass(frozen=True)
class Algorithm2(Projections):
    """DefiniteBoost as printed: steps (4.6) along violated constraints only, none of them ever taken back.

    It ends at a feasible matrix that need not be the nearest, after at most 2 lambda^2 ln d / accuracy^2 rounds
    (Corollary 4.2).
    """

    name = "algorithm-2"
    oracle: ClassVar[type[MostViolated]] = MostViolated
    nearest: ClassVar[str] = (
        "all constraints hold to accuracy = {accuracy:g}; no step is taken back, so that the matrix need not be the "
        "nearest: `definiteboost` and `corrective` go on to it"
    )


@dataclass(frozen=True)
class ExactProjections(Projections):
    """Bregman's method: the exact projection (4.3) onto a violated constraint, by the line search (4.4)."""

    name = "bregman"
    rule: ClassVar[Step] = "exact"


@dataclass(frozen=True, kw_only=True)
class NewtonState(State):
    """Where Newton's method is, the search for a strictly feasible matrix, and the price of violations by now."""

    sides: Sides
    at: Point
    search: InteriorSearch | None = None
    cap: float = np.inf
    least: float = np.inf
    """The least residual that counted as progress, and the steps since."""
    idle: int = 0


PATIENCE = 30
"""Steps in which the residual may stay above half of what it was."""

CLOSE = 1e-3
"""The largest scaled violation from which a strictly feasible matrix is sought, and matrices are proposed."""

FIRST_CAP, GROWTH = 30.0, 4.0
"""Soft constraints start at a price of at most 30 (for ||S_j - u_j I||_2 = 1), which then grows to their own: at a
high price at once, the dual is piecewise linear to all but the shortest steps."""


@dataclass(frozen=True)
class Corrective(Engine):
    """All constraints at once: Newton's method on the dual (4.2), the quadratic model solved over its box.

    Called totally corrective in boosting. One eigendecomposition and one Cholesky factorization of the order of the
    number of active constraints an iteration; quadratic convergence.
    """

    name = "corrective"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, DefiniteBoost) else "corrective is for DefiniteBoost problems"

    def init(self, problem: Any, incumbent: Incumbent) -> NewtonState:
        sides = problem.sides
        z = np.zeros(len(sides.index)) if incumbent.y is None else sides.from_multipliers(incumbent.y)
        cap = FIRST_CAP if problem.slack is not None else np.inf
        return NewtonState(
            sides=sides,
            at=evaluate(problem, sides, z),
            cap=max(cap, float(np.max(np.abs(z * sides.scale), initial=0.0))),
        )

    def step(self, problem: Any, state: NewtonState, incumbent: Incumbent) -> NewtonState:
        at, whole, cap = state.at, state.sides, state.cap
        sides = whole.capped(cap)
        step = newton_step(problem, sides, at)
        there = step.there
        point = at if there is None else there
        y = sides.multipliers(point.z, problem.m)
        worst = float(np.max(np.abs(point.pushes(sides)), initial=0.0))
        state, X = replace(state, at=point), None
        if problem.slack is not None:
            X = point.W
        elif worst <= CLOSE or there is None:
            X, search = problem.feasible.admitted(step.W), state.search
            if X is None:  # as a rule the next step brings one
                if search is not None or there is None:
                    search = (search or InteriorSearch.of(problem, y)).advanced()
                    X = search.near(point.W)
                state = replace(state, search=search or InteriorSearch.of(problem, y))
        progress = worst < 0.5 * state.least
        state = replace(state, least=worst if progress else state.least, idle=0 if progress else state.idle + 1)
        full = float(np.max(whole.high * whole.scale, initial=0.0))
        if cap < full and (worst <= CLOSE or there is None):
            ray = np.clip(GROWTH * point.z, whole.low, whole.high)  # dear violations: the problem is a cone
            further = evaluate(problem, sides, ray)
            state = replace(state, cap=GROWTH * cap, least=np.inf, at=further if further.value < point.value else point)
            return replace(state, proposals=(Proposal(X=X, y=y),))
        finished = ""
        searched = X is not None or state.search is None or state.search.over
        if searched and there is None:
            finished = f"no step lowers the dual; the largest scaled residual is {worst:.1e}"
        elif searched and state.idle > PATIENCE:
            finished = f"the residual has not halved in {PATIENCE} steps: numerical limit"
        return replace(state, proposals=(Proposal(X=X, y=y),), finished=finished)
