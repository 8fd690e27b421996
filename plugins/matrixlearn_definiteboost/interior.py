"""The search for a strictly feasible matrix: s_i tr(W S_j(i)) < c_i for all inequalities, near the optimum.

The projection on constraints tightened by a margin, by Newton's method on its dual; by a smaller one where these have
no point. A search is a value, and goes on step by step: an engine keeps its time limit while it lasts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.clock import there_is_time
from matrixlearn_definiteboost.dual import Point, evaluate
from matrixlearn_definiteboost.newton import newton_step

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost

MARGINS = (1e-3, 1e-5, 1e-7)
"""In scaled units."""

MOST = 60
"""Newton steps for one margin."""


@dataclass(frozen=True, eq=False)
class InteriorSearch:
    """Where the search is; ``found`` is the matrix, ``over`` says that there will be no more."""

    problem: DefiniteBoost
    start: np.ndarray
    tried: int = 0
    steps: int = 0
    at: Point | None = None
    found: np.ndarray | None = None
    over: bool = False

    @classmethod
    def of(cls, problem: DefiniteBoost, y: np.ndarray | None = None) -> InteriorSearch:
        """From the multipliers y, or from none."""
        sides = problem.sides
        return cls(problem, np.zeros(len(sides.index)) if y is None else sides.from_multipliers(y))

    def near(self, W: np.ndarray) -> np.ndarray | None:
        """What to show of W: a feasible matrix next to it where one is known, W where none will be or W is far from
        feasible, so that no certificate starts a search of its own; None while this one goes on.
        """
        if self.found is not None and not self.problem.is_feasible(W):
            return self.problem.feasible.mixed(W, self.found)
        return (
            None
            if not self.over and self.problem.feasible.deserves_repair(W) and not self.problem.is_feasible(W)
            else W
        )

    def advanced(self) -> InteriorSearch:
        """The search after one more Newton step at most."""
        if self.over:
            return self
        if self.tried == len(MARGINS):
            return self._ended(None)
        problem, margin = self.problem, MARGINS[self.tried]
        tight = problem.sides.tightened(margin)
        at = evaluate(problem, tight, self.start) if self.at is None else newton_step(problem, tight, self.at).there
        if at is None or self.steps >= MOST or -at.value > problem.ceiling + 1.0:
            return replace(self, tried=self.tried + 1, steps=0, at=None)
        W = problem.feasible.on_equalities(at.W)
        if W is not None and np.all(problem.feasible.margins(W) >= 0.5 * margin):
            return self._ended(W)
        return replace(self, at=at, steps=self.steps + 1)

    def _ended(self, found: np.ndarray | None) -> InteriorSearch:
        self.problem.feasible.remember(found)
        return replace(self, at=None, found=found, over=True)


def strictly_feasible(problem: DefiniteBoost, y: np.ndarray | None = None) -> np.ndarray | None:
    """The end of the search: a strictly feasible matrix, or None where none is found, in the time of the solve."""
    search = InteriorSearch.of(problem, y)
    while not search.over and there_is_time():
        search = search.advanced()
    return search.found
