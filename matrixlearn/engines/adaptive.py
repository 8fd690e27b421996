"""The adaptive schedule: step sizes from the measured change of the iterates, levels from the certified interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from matrixlearn.engines.base import State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.mirror import NONE, Calls, next_check, play, routine_name
from matrixlearn.engines.saddle import lower_value, rounded_out
from matrixlearn.engines.schedules import Averages, RegretBound, Schedule
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import Exponent
from matrixlearn.linalg import inner
from matrixlearn.oracles import Done, Move, Oracle, at_level
from matrixlearn.problems.game import Game
from matrixlearn.problems.play import Play
from matrixlearn.typing import Array


@dataclass(frozen=True, kw_only=True)
class AdaptiveState(State):
    """Losses and averages since the last restart, and how much the iterates changed."""

    G: Array
    exponent: Exponent
    oracle: Oracle
    averages: Averages
    calls: Calls = NONE
    X: Array = None
    surprise: Array = None
    """The matrix of the last round, and loss - hint."""
    unrest: float = 0.0
    """sum_t [<loss_t - hint_t, X_t - X_{t+1}>]_+."""
    suffered: float = 0.0
    """sum_t <loss_t, X_t> of the rounds in G."""
    allowed: RegretBound = field(default_factory=RegretBound)
    regret: float = math.nan
    """suffered - min over X in S of <G, X>, at the last check."""
    regret_bound: float = math.nan
    check_at: int = 1
    """The round, since the fresh start, of the next check."""
    width_at_start: float = math.inf
    best_X: Array = None
    """The matrix with the best lower value seen, not yet certified."""
    best_lower: float = -math.inf
    anchor: np.ndarray
    hint: Array
    """The best certified y, and its loss, which the mirror map sees in advance."""

    def afresh(self, game: Game, width: float) -> AdaptiveState:
        """The state with empty losses and averages; certified bounds and the hint stay."""
        return replace(
            self,
            G=self.exponent.zero(game.C),
            averages=Averages.empty(game),
            X=None,
            surprise=None,
            unrest=0.0,
            suffered=0.0,
            allowed=RegretBound(),
            check_at=1,
            width_at_start=width,
        )


@dataclass(frozen=True)
class Adaptive(Schedule):
    """Step sizes from the measured change of the iterates; levels and restarts from the certified interval.

        1/rate = 1/ahead + sum_t [<loss_t - hint_t, X_t - X_{t+1}>]_+ / (boldness R ln n),
        ahead  = sharpness R ln n / (upper - lower)

    Three things differ from the published schedule, each measured (docs/measurements.md):

    - the oracle of a game answers with the smallest move away from the best certified y (`LevelOracle`), where the
      problem names no other, so that the width is that of the move and not of the whole set;
    - the mirror map sees the loss of that y in advance (an optimistic hint), as sharply as is worth the certified
      interval, so that only what the move adds is paid for: the rate of the losses falls with the price as measured,
      inner products of matrices at hand, not with an estimate of the width;
    - losses and averages start afresh when the certified interval has halved.

    The regret against the best X in hindsight is measured and kept in the state, beside its bound (`RegretBound`).

    Parameters
    ----------
    level : float
        Where the level lies between the bounds, in (0, 1).
    boldness : float
        Multiplies the room for the losses; 1 is where the sums of both terms of the regret are equal.
    sharpness : float
        Of the hint, > 0.
    """

    level: float = 0.4
    boldness: float = 0.25
    sharpness: float = 0.5

    def objection(self, game: Game) -> str:
        return ""

    def remarks(self, state: AdaptiveState) -> str:
        if math.isnan(state.regret):
            return ""
        return (
            f"regret of the rounds since the last fresh start {state.regret:.3g}; optimistic multiplicative weights "
            f"may have {state.regret_bound:.3g} (Theorem 4.3.1 with hints)"
        )

    def init(self, game: Game, incumbent: Incumbent, played: Play) -> AdaptiveState:
        center, exponent = game.S.center(game.C), played.exponent
        anchor = game.Y.center() if incumbent.y is None else incumbent.y
        return AdaptiveState(
            G=exponent.zero(game.C),
            exponent=exponent,
            oracle=played.oracle,
            averages=Averages.empty(game),
            best_X=center if incumbent.X is None else incumbent.X,
            best_lower=incumbent.lower,
            anchor=anchor,
            hint=game.loss(anchor),
        )

    def step(self, game: Game, state: AdaptiveState, incumbent: Incumbent) -> AdaptiveState:
        if incumbent.y is not None and incumbent.y is not state.anchor:
            state = replace(state, anchor=incumbent.y, hint=game.loss(incumbent.y))
        anchor = state.anchor
        lower, upper = max(state.best_lower, incumbent.lower), incumbent.upper
        asked = lower + self.level * (upper - lower) if lower > -math.inf else upper
        oracle, calls = at_level(state.oracle, asked, anchor), 1
        rate, ahead = self._rates(game, state, upper - lower)
        played = play(state.exponent, oracle, state.G, at=rate * state.G + ahead * state.hint)
        if state.X is not None:
            paid = inner(state.surprise, state.X - played.X)
            state = replace(state, unrest=state.unrest + max(paid, 0.0))
        answer = played.answer
        while isinstance(answer, Done):
            # X proves more than the level: raise it and ask the same X again, no new decomposition
            state = replace(state, best_lower=asked)
            if lower_value(game, played.X) > lower_value(game, state.best_X):
                state = replace(state, best_X=played.X)
            raised = asked + self.level * (upper - asked)
            if not raised > asked:
                told = state.calls.more(calls)
                return replace(state, proposals=(Proposal(X=played.X),), finished="the bounds meet", calls=told)
            asked, calls = raised, calls + 1
            answer = at_level(state.oracle, asked, anchor)(played.X)
            if isinstance(answer, Move):
                G = played.exponent.accumulate(state.G, answer.loss, answer.step)
                played = replace(played, answer=answer, G=G)
        if answer.y is None:
            msg = f"{routine_name(state.oracle)} must answer with the y of its loss: Move(game.loss(y), y=y)"
            raise ProblemError(msg)
        moved = float(np.abs(answer.y - anchor) @ game.A.norms)
        averages = state.averages.with_round(played.X, answer.y)
        state = replace(
            state,
            suffered=state.suffered + answer.step * inner(answer.loss, played.X),
            allowed=state.allowed.with_round(rate, ahead, moved),
            G=played.G,
            exponent=played.exponent,
            averages=averages,
            X=played.X,
            calls=state.calls.more(calls),
            surprise=answer.loss - state.hint,
            proposals=(),
        )
        if averages.count < state.check_at:
            return state
        return self._check(game, state, answer.y, incumbent)

    def _rates(self, game: Game, state: AdaptiveState, width: float) -> tuple[float, float]:
        """The step sizes of the losses and of the hint."""
        S = game.S
        room = S.trace * math.log(S.dimension + 1)
        ahead = self.sharpness * room / max(width, 1e-300) if width < math.inf else S.trace / game.scale
        return 1 / (1 / ahead + state.unrest / (self.boldness * room)), ahead

    def _check(self, game: Game, state: AdaptiveState, last: np.ndarray, incumbent: Incumbent) -> AdaptiveState:
        averages, anchor = state.averages, state.anchor
        mean, average = averages.X / averages.count, averages.y / averages.count
        X = _best_on_segment(game, incumbent.upper, state.best_X, mean)
        state = replace(
            state,
            regret=state.suffered + game.S.support(-1 * state.G),
            regret_bound=state.allowed.value(game.S),
            proposals=(
                Proposal(X=X, y=average),
                Proposal(X=mean, y=anchor + 0.4 * (average - anchor)),  # bounds may know more of X than the game does
                Proposal(y=last),
            ),
            check_at=next_check(averages.count),
            best_X=X,
            best_lower=max(lower_value(game, X), state.best_lower),
            finished=rounded_out(game, anchor, incumbent),
        )
        width = incumbent.upper - max(state.best_lower, incumbent.lower)
        # not the relative gap: it stays near 1 as long as the bounds differ in sign
        return state.afresh(game, width) if width < 0.5 * state.width_at_start else state


def _best_on_segment(game: Game, upper: float, a: Array, b: Array) -> Array:
    """The point between a and b with the best lower value: linear algebra on m-vectors only."""
    Y = game.level_set(upper)
    at_a, at_b = game.prices(a), game.prices(b)
    cost_a, cost_b = inner(game.C, a), inner(game.C, b)

    def value(k: float) -> float:
        return (1 - k) * cost_a + k * cost_b + Y.minimize((1 - k) * at_a + k * at_b)[0]

    low, high = 0.0, 1.0
    for _ in range(20):  # the value is concave: thirds that cannot hold the maximum are cut off
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if value(left) < value(right) else (low, right)
    k = max((0.0, (low + high) / 2, 1.0), key=value)
    return a + k * (b - a)
