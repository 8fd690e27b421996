"""What is known of a problem: the best points that its data have certified, among all that were proposed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from matrixlearn._array import namespace
from matrixlearn.certificate import Certificate, bound_of_vector, combine, flushed, relative_gap, size_of
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import Bound, Problem
from matrixlearn.problems.bounds import bounds_from_interior
from matrixlearn.problems.conic import toward, toward_dual
from matrixlearn.typing import Array

Record = TypeVar("Record")


def updated(record: Record, **changes: Any) -> Record:
    """`dataclasses.replace` without a call of ``__init__``, for states that are made anew each iteration: a fifth of
    its time, which was a fiftieth of an iteration in 200 dimensions.
    """
    out = object.__new__(type(record))
    out.__dict__.update(record.__dict__, **changes)
    return out


EACH, FAR = 6, 5.0
"""Of proposals whose gap is more than `FAR` times tol, one in `EACH` is certified."""


@dataclass(frozen=True)
class Interior:
    """A strictly feasible pair of a game: X_k > 0, and t with t I - s_k (C - A(y)) > 0.

    The problem checks both (`problems.bounds`).
    """

    X: Sequence[Array]
    t: float


@dataclass(frozen=True)
class Proposal:
    """Points worth certifying.

    Attributes
    ----------
    X, y
        The points.
    interior : Interior, optional
        What makes a cheaper check possible.
    gap : float
        What the engine takes for the difference of their bounds: while that is far from the goal, not each is checked.
    """

    X: Array | None = None
    y: np.ndarray | None = None
    interior: Interior | None = None
    gap: float = 0.0


@dataclass(frozen=True)
class Incumbent:
    """The best certified points so far."""

    problem: Problem
    """Whose bounds they prove."""
    from_matrix: Bound = field(default_factory=Bound)
    """What the best X proves."""
    from_vector: Bound = field(default_factory=Bound)
    """What the best y proves."""
    inside: Array | None = None
    """The first X that was proved feasible: others are moved towards it where they are not."""
    inside_dual: np.ndarray | None = None
    """The first y that proved a bound without a trace bound."""
    hint: Proposal = Proposal()
    """The points of an earlier answer, which an engine may start from, whether or not they prove anything here."""

    @property
    def lower(self) -> float:
        """The better of the two lower bounds."""
        return max(self.from_matrix.lower, self.from_vector.lower)

    @property
    def upper(self) -> float:
        """The better of the two upper bounds."""
        return min(self.from_matrix.upper, self.from_vector.upper)

    @property
    def size(self) -> float:
        """The size that the gap is relative to."""
        return size_of(self.problem, self.from_matrix, self.from_vector)

    @property
    def gap(self) -> float:
        """The relative gap between them."""
        rounding = max(self.from_matrix.rounding, self.from_vector.rounding)
        return relative_gap(self.lower, self.upper, self.size, rounding)

    def within(self, tol: float, atol: float) -> bool:
        """Whether upper - lower <= max(tol size, atol)."""
        return self.gap <= tol or self.upper - self.lower <= atol

    @property
    def infeasible(self) -> bool:
        """Whether a bound proves that nothing is feasible, or that nothing bounds the objective."""
        return self.upper == -math.inf or self.lower == math.inf

    @property
    def y(self) -> np.ndarray | None:
        """The best vector, or None before there is one."""
        return self.from_vector.point

    @property
    def X(self) -> Array | None:
        """The best matrix, or None before there is one; dense, where it is known by its factors."""
        point = self.from_matrix.point
        return point.dense() if isinstance(point, FactoredMatrix) else point

    @property
    def X_as_known(self) -> Array | None:
        """The best matrix, or its factors."""
        return self.from_matrix.point

    @classmethod
    def first(cls, problem: Problem) -> Incumbent:
        """The bounds of the problem's `first_points`."""
        incumbent = cls(problem)
        for X, y in problem.first_points():
            incumbent = incumbent.offered(Proposal(X=X, y=y))
        return incumbent

    def offered(self, proposal: Proposal) -> Incumbent:
        """The better of this and what the proposal proves.

        Points that prove nothing as they stand are moved: onto the rows, and towards what was proved strictly feasible.
        """
        out, problem = self, self.problem
        X, y = flushed(proposal.X), flushed(proposal.y)
        if X is not None and is_finite(X):
            bound = problem.bound_from_matrix(X)
            if not proves(bound):
                nearer = toward(problem, X, self.inside)
                bound = bound if nearer is X else problem.bound_from_matrix(nearer)
            out = out._with_matrix(bound)
        if y is not None and bool(np.all(np.isfinite(y))):
            bound = bound_of_vector(problem, y)
            out = out._with_vector(bound)
            weak = bound.singular or bound.trace_bound is not None or not proves(bound)
            if self.inside_dual is not None and weak:
                nearer = toward_dual(problem, y, self.inside_dual)
                out = out if nearer is y else out._with_vector(problem.bound_from_vector(nearer))
        return out

    def shown(self, proposal: Proposal) -> Incumbent:
        """The better of this and what the interior of the proposal proves; `offered`, where it has none."""
        inside, game = proposal.interior, self.problem.game
        if inside is None or game is None or proposal.y is None:
            return self.offered(proposal)
        if not inside.X or not all(is_finite(x) for x in inside.X):
            return self.offered(proposal)
        from_matrix, from_vector = bounds_from_interior(game, inside.X, proposal.y, inside.t)
        return self._with_matrix(from_matrix)._with_vector(from_vector)

    def waits(self, proposal: Proposal, iteration: int, tol: float) -> bool:
        """Whether a check of the proposal can wait: it is far from the goal, and a later one will prove something, as
        strictly feasible points are known, or as there is no game, whose constraints a point might miss.
        """
        known = self.inside is not None and self.inside_dual is not None
        known = known or (self.problem.game is None and math.isfinite(self.upper - self.lower))
        goal = tol * max(self.size, abs(self.lower), abs(self.upper)) if known else math.inf
        return iteration % EACH != 0 and proposal.gap > FAR * goal

    def estimated(self, X: Array) -> Incumbent:
        """This, with the estimate of X in the place of a lower bound, where no X has proved one."""
        X = flushed(X)
        if proves(self.from_matrix) or not is_finite(X):
            return self
        return updated(self, from_matrix=self.problem.estimate_from_matrix(X))

    def _with_matrix(self, bound: Bound) -> Incumbent:
        if bound.point is None:
            return self
        out, old = self, self.from_matrix
        proper = bound.rigour == "checked" and not bound.singular
        if self.inside is None and proper and -math.inf < bound.lower < math.inf:
            out = updated(out, inside=None if _is_zero(bound.point) else bound.point)
        better = old.point is None or _better(bound, old)
        return updated(out, from_matrix=bound) if better else out

    def _with_vector(self, bound: Bound) -> Incumbent:
        if bound.point is None:
            return self
        out, old = self, self.from_vector
        proper = bound.trace_bound is None and not bound.singular
        if self.inside_dual is None and proper and -math.inf < bound.upper < math.inf:
            out = updated(out, inside_dual=bound.point)
        better = old.point is None or _better(bound, old)
        return updated(out, from_vector=bound) if better else out

    def certificate(self) -> Certificate:
        """What the two points prove, for the `Solution`."""
        return combine(self.problem, self.from_matrix, self.from_vector)


def _is_zero(X: Array | FactoredMatrix) -> bool:
    """Whether X = 0, which may be feasible and is never inside."""
    return not isinstance(X, FactoredMatrix) and not bool(namespace(X).any(X != 0))


def is_finite(X: Array) -> bool:
    """Whether a matrix, or its factor, holds numbers only: what an engine proposes is not believed to."""
    X = X.factor if isinstance(X, FactoredMatrix) else X
    xp = namespace(X)
    return bool(xp.all(xp.isfinite(X)))


def proves(bound: Bound) -> bool:
    """Whether a bound is finite on one side at least."""
    return bound.lower > -math.inf or bound.upper < math.inf


def _better(new: Bound, old: Bound) -> bool:
    """Whether a bound has gained; one that needs no trace bound is better than one that does and is as good."""
    if new.rigour == "blockwise":  # its lower bound is about the new point, and no better elsewhere
        return new.upper < old.upper
    if new.lower == old.lower and new.upper == old.upper:
        return old.trace_bound is not None and new.trace_bound is None
    if new.rounding > old.rounding and new.lower >= old.lower - new.rounding:
        return True  # as good to rounding, and it says what that is: X = 0 does not
    return new.lower > old.lower or new.upper < old.upper
