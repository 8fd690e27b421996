"""The base class of the engines of `ERM`: objections, proposals, remarks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal, State
from matrixlearn.penalties import ElasticNet
from matrixlearn.problems import Problem
from matrixlearn_erm.problem import ERM


@dataclass(frozen=True)
class ERMState(State):
    """A state, and what `Solution.explain` should say of the problem."""

    advice: str = ""


class ERMEngine(Engine):
    """An engine for `ERM` problems; a subclass says what it `lacks`."""

    by_rounds = False
    """Whether it looks at all samples together only, so that they may be on machines."""

    def objection(self, problem: Problem) -> str:
        if not isinstance(problem, ERM):
            return f"{self.name} is for ERM problems"
        if not (self.by_rounds or problem.design.is_here):
            return f"{self.name} looks at single samples; on machines newton-cg, chambolle-pock and disdca do"
        return self.lacks(problem)

    @abstractmethod
    def lacks(self, problem: ERM) -> str:
        """Why this engine cannot solve the problem, and which can; empty where it can."""

    def remarks(self, state: Any) -> str:
        return state.advice


def offered(problem: ERM, incumbent: Incumbent, x: np.ndarray | None, y: np.ndarray | None = None) -> Proposal:
    """The points as a proposal, x only where it is better than the best known one, whose place it takes."""
    if x is not None and not (
        np.all(np.isfinite(x)) and problem.value_at(problem.design.apply(x), x) <= incumbent.upper
    ):
        x = None
    return Proposal(X=x, y=y)


def rough(problem: ERM) -> str:
    """An objection to losses with a corner."""
    if np.isfinite(problem.loss.smoothness):
        return ""
    return f"the {problem.loss.name} loss has a corner; sdca, chambolle-pock or a smoothed-hinge or huber loss will do"


def flat(problem: ERM) -> str:
    """An objection to penalties that are not strongly convex."""
    if problem.penalty.strong_convexity > 0:
        return ""
    return f"the penalty {problem.penalty} is not strongly convex; chambolle-pock, or a ridge above 0, will do"


def not_elastic(problem: ERM) -> str:
    """An objection to penalties other than the elastic net."""
    if isinstance(problem.penalty, ElasticNet):
        return ""
    return f"the penalty {problem.penalty.name} is no elastic net; chambolle-pock, svrg or katyusha will do"


def not_ridge(problem: ERM) -> str:
    """An objection to penalties other than a ridge alone."""
    if isinstance(problem.penalty, ElasticNet) and problem.penalty.l1 == 0 and problem.penalty.ridge > 0:
        return ""
    return f"the penalty {problem.penalty} is no ridge alone; sdca or chambolle-pock will do"
