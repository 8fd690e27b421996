"""Matrix multiplicative weights for a game: Arora and Kale's Algorithm 1.

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
from matrixlearn.engines.base import GameEngine, Incumbent, State
from matrixlearn.engines.schedules import Schedule
from matrixlearn.exponents import Exponent, entropy_on
from matrixlearn.problems.game import Game
from matrixlearn.sets import SpectralSet


@dataclass(frozen=True)
class MatrixMultiplicativeWeights(GameEngine):
    """Arora and Kale's primal-dual method, for every game with a bounded Y.

    Parameters
    ----------
    schedule : Adaptive or Theory
    exponent : function, optional
        The exponent routine of a spectral set, such as `EigenUpdateExponent` or ``functools.partial(SketchedExponent,
        columns=200)``; that of the entropy by default.
    """

    schedule: Schedule = field(default_factory=Adaptive)
    exponent: Callable[[SpectralSet], Exponent] | None = None

    name = "mmw"

    def objection_to(self, game: Game) -> str:
        return super().objection_to(game) or self.schedule.objection(game)

    def init(self, game: Game, incumbent: Incumbent) -> State:
        return self.schedule.init(game, incumbent, (self.exponent or entropy_on)(game.S))

    def step(self, game: Game, state: Any, incumbent: Incumbent) -> State:
        return self.schedule.step(game, state, incumbent)

    def remarks(self, state: Any) -> str:
        routine = f"exponent routine: {type(state.exponent).__name__}"
        return "; ".join(part for part in (routine, self.schedule.remarks(state)) if part)
