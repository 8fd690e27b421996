"""Matrix multiplicative weights for a spectral game: Arora and Kale's Algorithm 1.

Rounds of mirror map and oracle at a guessed value alpha (the level); where the oracle fails, X proves
v > alpha; after enough successes the average of its answers proves v <= (1 + delta) alpha
(Theorem 4.3.2). How long the steps are, which level is asked and what is certified when is the
schedule's: `engines.adaptive.Adaptive` is what anyone would run, `engines.theory.Theory` is the
published one. One eigendecomposition a round; the schedules' checks fall on a geometric schedule.

References
----------
Arora and Kale (2007), "A combinatorial, primal-dual approach to semidefinite programs"; Algorithms
1-3 of the thesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from matrixlearn.engines.adaptive import Adaptive
from matrixlearn.engines.base import Engine, Incumbent, State
from matrixlearn.engines.saddle import refusal
from matrixlearn.engines.schedules import Schedule
from matrixlearn.exponents import Exponent
from matrixlearn.problems.base import Problem
from matrixlearn.sets import SpectralSet


@dataclass(frozen=True)
class MatrixMultiplicativeWeights(Engine):
    """Arora and Kale's primal-dual method, for every spectral game with a bounded Y.

    Parameters
    ----------
    schedule : Adaptive or Theory
    exponent : function, optional
        The exponent routine of a spectral set, such as `EigenUpdateExponent` or ``functools.partial(SketchedExponent,
        columns=200)``; the problem's own by default.
    """

    schedule: Schedule = field(default_factory=Adaptive)
    exponent: Callable[[SpectralSet], Exponent] | None = None

    name = "mmw"

    def objection(self, problem: Problem) -> str:
        return refusal(self.name, problem) or self.schedule.objection(problem)  # type: ignore[arg-type]

    def init(self, problem: Any, incumbent: Incumbent) -> State:
        exponent = problem.exponent() if self.exponent is None else self.exponent(problem.spectral_set)
        return self.schedule.init(problem, incumbent, exponent)

    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> State:
        return self.schedule.step(problem, state, incumbent)

    def remarks(self, state: Any) -> str:
        routine = f"exponent routine: {type(state.exponent).__name__}"
        return "; ".join(part for part in (routine, self.schedule.remarks(state)) if part)
