"""Projected subgradient with averaging: the honest baseline.

    phi(y) = c.y + sigma_S(C - A(y)),     X_t a maximizer of <C - A(y_t), X> over S,     g_t = c - A*(X_t)
    z_{t+1} = P_Y(z_t - eta_t g_t / d),   z = d o y,  d_j = ||A_j||_2,   eta_t = D / sqrt(sum_{s<=t} ||g_s / d||^2)

D the diameter of Y in the metric of z. X_t answers y_t, so that the averages over all rounds have

    upper(y_avg) - lower(X_avg)  <=  (1/T) max over y in Y of sum_t g_t.(y_t - y)
                                 <=  (3/2) D sqrt(sum_t ||g_t / d||^2) / T,

the regret of adaptive online gradient descent: O(1/sqrt T), without a parameter. One extreme eigenpair a round.

References
----------
Shor (1985); Zinkevich (2003); McMahan and Streeter (2010), the adaptive step; Arora and Kale (2007) for the
multiplicative counterpart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from matrixlearn._array import zeros
from matrixlearn.engines.base import GameEngine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.mirror import next_check
from matrixlearn.engines.saddle import ScaledSet, diameter, metric, rounded_out
from matrixlearn.linalg import inner
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True, kw_only=True)
class SubgradientState(State):
    """The iterate, the sums since the start, and the best y met on the way."""

    y: np.ndarray
    sum_X: Array
    sum_y: np.ndarray
    squares: float = 0.0
    """sum_t ||g_t / d||^2."""
    rounds: int = 0
    check_at: int = 1
    best_y: np.ndarray | None = None
    best_value: float = math.inf
    scaled: ScaledSet
    diameter: float

    @property
    def regret_bound(self) -> float:
        """What upper - lower of the averages is at most."""
        return 1.5 * self.diameter * math.sqrt(self.squares) / max(self.rounds, 1)


class Subgradient(GameEngine):
    """Projected subgradient with averaging, for every game with a bounded Y."""

    name = "subgradient"

    def init(self, game: Game, incumbent: Incumbent) -> SubgradientState:
        d = metric(game)
        return SubgradientState(
            y=game.Y.center() if incumbent.y is None else incumbent.y,
            sum_X=zeros(tuple(game.C.shape), game.C),
            sum_y=np.zeros(game.Y.size),
            scaled=ScaledSet.of(game.Y, d),
            diameter=diameter(game.Y, d),
        )

    def step(self, game: Game, state: SubgradientState, incumbent: Incumbent) -> SubgradientState:
        y, d = state.y, state.scaled.d
        F = game.image(y)
        X = game.S.best_response(F)
        gradient = (game.prices(X)) / d
        squares = state.squares + float(gradient @ gradient)
        if not math.isfinite(squares):
            return replace(state, proposals=(), finished="a subgradient is not finite: numerical limit")
        value = float(game.c @ y) + inner(F, X)
        length = state.diameter / math.sqrt(squares) if squares > 0 else 0.0
        rounds = state.rounds + 1
        state = replace(
            state,
            proposals=(),
            y=state.scaled.nearest(d * y - length * gradient) / d,
            sum_X=state.sum_X + X,
            sum_y=state.sum_y + y,
            squares=squares,
            rounds=rounds,
            best_y=y if value < state.best_value else state.best_y,
            best_value=min(value, state.best_value),
        )
        if rounds < state.check_at:
            return state
        average = state.sum_y / rounds
        better = average if game.upper(average) < state.best_value else state.best_y
        return replace(
            state,
            proposals=(Proposal(X=state.sum_X / rounds, y=better),),
            check_at=next_check(rounds),
            finished=rounded_out(game, y, incumbent),
        )
