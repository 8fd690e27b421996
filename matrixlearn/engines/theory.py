"""The published schedule of matrix multiplicative weights: the reference and the teacher."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines.base import Incumbent, Proposal, State
from matrixlearn.engines.mirror import play
from matrixlearn.engines.schedules import Averages
from matrixlearn.exponents import Exponent
from matrixlearn.oracles import Done, SortedListOracle
from matrixlearn.problems.game import SpectralGame
from matrixlearn.typing import Array


@dataclass(frozen=True)
class TheoryState(State):
    """One guess of Algorithm 1."""

    G: Array = None
    exponent: Exponent = None  # type: ignore[assignment]
    averages: Averages | None = None
    alpha: float = 0.0
    low: float = 0.0
    high: float = math.inf
    rounds: int = 0
    """Rounds at this guess."""


@dataclass(frozen=True)
class Theory:
    """Algorithm 1 as published, with bisection on alpha (errata: docs/errata.md).

        epsilon = delta alpha / (2 rho R),  epsilon' = -ln(1 - epsilon),  T = 8 rho^2 R^2 ln(n) / (delta alpha)^2
        M_t = (A(y_t) - C + rho I) / (2 rho),   X_{t+1} = R exp(-epsilon' sum M) / Tr(.)

    The sorted list of Algorithm 3 is the oracle; rho is alpha plus the largest width of the list, so
    that the claim holds whatever the oracle answers. For games on the simplex with v > 0.

    Parameters
    ----------
    delta : float
        Accuracy: a guess that never fails proves v <= (1 + delta) alpha.
    """

    delta: float = 0.1

    def supports(self, game: SpectralGame) -> str:
        Y = game.dual_set
        simplex = Y.weights is not None and Y.row_lower == Y.row_upper and np.all(np.isinf(Y.upper))
        return "" if simplex else "the theory schedule plays games on the simplex (Algorithm 3)"

    def remarks(self, state: TheoryState) -> str:
        return ""

    def rounds_for(self, game: SpectralGame, alpha: float) -> int:
        """T of Theorem 4.3.2."""
        R, n = game.spectral_set.trace, game.spectral_set.dimension
        rho = self.width(game, alpha)
        return math.ceil(8 * rho**2 * R**2 * math.log(max(n, 2)) / (self.delta * alpha) ** 2)

    def width(self, game: SpectralGame, alpha: float) -> float:
        """rho >= ||A(y) + y_0 I - C|| for every vertex y of the list and 0 <= R y_0 <= alpha - c.y."""
        offset = float(np.max(np.abs(game.offset)))
        return (alpha + offset) / game.spectral_set.trace + float(np.max(_sorted_list(game).widths))

    def init(self, game: SpectralGame, incumbent: Incumbent, exponent: Exponent) -> TheoryState:
        low, high = max(0.0, incumbent.lower), incumbent.upper
        return self._guess(game, exponent, low, high)

    def _guess(self, game: SpectralGame, exponent: Exponent, low: float, high: float, **changes: Any) -> TheoryState:
        return TheoryState(
            G=exponent.zero(game.cost),
            exponent=exponent,
            averages=Averages.empty(game),
            alpha=(low + high) / 2,
            low=low,
            high=high,
            **changes,
        )

    def step(self, game: SpectralGame, state: TheoryState, incumbent: Incumbent) -> TheoryState:
        alpha, R = state.alpha, game.spectral_set.trace
        rho = self.width(game, alpha)
        epsilon = min(self.delta * alpha / (2 * rho * R), 0.5)
        rate = -math.log1p(-epsilon) / (2 * rho)
        oracle = _sorted_list(game).at(alpha)
        played = play(state.exponent, oracle, state.G, at=rate * state.G)
        answer = played.answer
        if isinstance(answer, Done):
            low = max(alpha, incumbent.lower)
            return self._after(game, played.exponent, low, state.high, Proposal(X=played.X))
        assert answer.y is not None and state.averages is not None
        averages = state.averages.with_round(played.X, answer.y)
        rounds = state.rounds + 1
        if rounds < self.rounds_for(game, alpha):
            return replace(state, G=played.G, exponent=played.exponent, averages=averages, rounds=rounds, proposals=())
        # T successes: the average proves v <= (1 + delta) alpha (Theorem 4.3.2)
        y = averages.y / averages.count
        high = min((1 + self.delta) * alpha, state.high, incumbent.upper)
        shown = Proposal(X=averages.X / averages.count, y=y)
        return self._after(game, played.exponent, state.low, high, shown)

    def _after(self, game: SpectralGame, exponent: Exponent, low: float, high: float, shown: Proposal) -> TheoryState:
        # successes at the middle of a shorter interval would not lower its end
        open_still = (1 - self.delta) * high > (1 + self.delta) * low
        finished = "" if open_still else f"the guesses agree to delta = {self.delta:g}"
        return self._guess(game, exponent, low, high, proposals=(shown,), finished=finished)


def _sorted_list(game: SpectralGame) -> SortedListOracle:
    """The game's list, computed once."""
    if "_sorted_list" not in game.__dict__:
        game.__dict__["_sorted_list"] = SortedListOracle(game, math.inf)
    oracle: SortedListOracle = game.__dict__["_sorted_list"]
    return oracle
