"""A program that engines get in the place of a problem, exactly equivalent to it.

    problem  --lower-->  program          points (X, y) of the problem, as points of the program
    problem  <--lift---  program          points of the program, as points of the problem, which certifies them

`solve` is one loop: it runs an engine on the program, lifts what the engine found, and goes on to the next reduction
(`Reduction.after`) where the run has not ended well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import ClassVar

from matrixlearn.engines.base import Run
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.problems.base import Problem


class Reduction(ABC):
    """A problem, the program that is solved in its place, and the maps of points between the two."""

    part: ClassVar[float] = 1.0
    """The part of tol and atol to which the program is solved: the rest is for the way back."""

    problem: Problem
    """Whose bounds count."""
    why: str = ""
    """What was done, for `Solution.explain`."""

    @property
    @abstractmethod
    def program(self) -> Problem:
        """What engines get."""

    @property
    def answer(self) -> str:
        """What the data alone say of the optimum, such as that rows contradict each other; empty where they do not."""
        return ""

    @property
    def known(self) -> Proposal:
        """Points of the program that the user has given; none, by default."""
        return Proposal()

    @abstractmethod
    def lower(self, points: Proposal) -> Proposal:
        """Points of the problem as points of the program; None for those that have another shape."""

    @abstractmethod
    def lift(self, points: Proposal) -> Proposal:
        """Points of the program as points of the problem."""

    def lift_best(self, best: Incumbent, width: float) -> Proposal:
        """The best points of a run as points of the problem; ``width`` is the difference of bounds that was asked for,
        of which a tenth may be lost.
        """
        return self.lift(Proposal(X=best.X_as_known, y=best.y))

    def between(self, best: Incumbent | None = None) -> Problem | None:
        """The program with both sets of its game bounded, by a strictly feasible point and the bounds that are known;
        without ``best``, a stand-in that tells which engines can solve it. None, by default: there is none.
        """
        return None

    def is_left_by(self, known: Incumbent) -> bool:
        """Whether a run may end, since what is known asks for what `after` gives; never, by default."""
        return False

    def after(self, run: Run, tol: float, atol: float) -> Reduction | None:
        """What to solve after a run that has not ended well; None, by default, and where nothing is left to try."""
        return None


@dataclass(frozen=True)
class Unreduced(Reduction):
    """The problem itself."""

    problem: Problem

    @property
    def program(self) -> Problem:
        return self.problem

    def lower(self, points: Proposal) -> Proposal:
        return points

    def lift(self, points: Proposal) -> Proposal:
        return points


@singledispatch
def reduction_of(problem: Problem) -> Reduction:
    """The reduction of a problem, looked up by its class; `Unreduced`, by default."""
    return Unreduced(problem)
