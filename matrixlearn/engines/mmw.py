"""Matrix multiplicative weights: Arora and Kale's Algorithm 1, and the rounds of every other problem that has them.

Rounds of mirror map and oracle at a guessed value alpha (the level); where the oracle fails, X proves
v > alpha; after enough successes the average of its answers proves v <= (1 + delta) alpha
(Theorem 4.3.2). How long the steps are, which level is asked and what is certified when is the
schedule's: `engines.adaptive.Adaptive` is what anyone would run, `engines.theory.Theory` is the
published one. One eigendecomposition a round; the schedules' checks fall on a geometric schedule.

Both routines are the problem's (`Problem.play`), or the user's. A problem that is no game (an average of losses, a
projection, blocks in turn) has an oracle that chooses its own steps, and needs no level.

References
----------
Arora and Kale (2007), "A combinatorial, primal-dual approach to semidefinite programs"; Algorithms
1-3 of the thesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from matrixlearn.engines.adaptive import Adaptive
from matrixlearn.engines.base import State, objection_to_game
from matrixlearn.engines.incumbent import Incumbent
from matrixlearn.engines.mirror import MirrorDescent, MirrorState, routine_name
from matrixlearn.engines.schedules import Schedule
from matrixlearn.exponents import Exponent, OnSet
from matrixlearn.oracles import Oracle
from matrixlearn.problems.base import Problem
from matrixlearn.problems.play import Play
from matrixlearn.sets import SpectralSet


@dataclass(frozen=True)
class MatrixMultiplicativeWeights(MirrorDescent):
    """Arora and Kale's primal-dual method for every game with a bounded Y; rounds, for every other `Problem.play`.

    Parameters
    ----------
    schedule : Adaptive or Theory
        Of the levels and steps of a game.
    exponent : function, optional
        The exponent routine of a spectral set, such as `EigenUpdateExponent` or ``functools.partial(SketchedExponent,
        columns=200)``, in the place of the problem's.
    oracle : function, optional
        The oracle of a `Game`, such as `VertexOracle`, or of a problem that is none, in the place of the problem's. One
        with ``at(level, anchor)`` is told the level.
    """

    schedule: Schedule = field(default_factory=Adaptive)
    exponent: Callable[[SpectralSet], Exponent] | None = None
    oracle: Callable[[Any], Oracle] | None = None

    name = "mmw"

    def objection(self, problem: Problem) -> str:
        game = problem.game
        if game is None:
            why = super().objection(problem)
        else:
            why = objection_to_game(self.name, game) or self.schedule.objection(game)
        return why or self._objection_to_exponent(problem)

    def _objection_to_exponent(self, problem: Problem) -> str:
        """An exponent of the user needs a spectral set."""
        played = None if self.exponent is None else problem.play()
        if played is None or isinstance(played.exponent, OnSet):
            return ""
        own = routine_name(played.exponent)
        return f"a {problem.title} plays {own}, which is no routine of a spectral set: leave out exponent="

    def played(self, problem: Any) -> Play:
        played = super().played(problem)
        if self.exponent is not None and isinstance(played.exponent, OnSet):
            played = replace(played, exponent=self.exponent(played.exponent.on))
        if self.oracle is not None:
            played = replace(played, oracle=self.oracle(problem.game or problem))
        return played

    def init(self, problem: Any, incumbent: Incumbent) -> State:
        if problem.game is None:
            return super().init(problem, incumbent)
        return self.schedule.init(problem.game, incumbent, self.played(problem))

    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> State:
        if isinstance(state, MirrorState):
            return super().step(problem, state, incumbent)
        return self.schedule.step(problem.game, state, incumbent)

    def remarks(self, state: Any) -> str:
        told = super().remarks(state)
        return told if isinstance(state, MirrorState) else "; ".join(filter(None, (told, self.schedule.remarks(state))))
