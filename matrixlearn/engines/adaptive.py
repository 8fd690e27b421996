"""The schedule that anyone would run: steps from the observed width, levels from the certified interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines.base import Incumbent, Proposal, State
from matrixlearn.engines.mirror import Round, next_check, play
from matrixlearn.engines.saddle import lower_value, rounded_out
from matrixlearn.engines.schedules import Averages
from matrixlearn.exponents import Exponent
from matrixlearn.linalg import inner
from matrixlearn.oracles import Done, LevelOracle, Move
from matrixlearn.problems.game import SpectralGame
from matrixlearn.typing import Array


@dataclass(frozen=True)
class AdaptiveState(State):
    """Losses, averages and the observed widths."""

    G: Array = None
    exponent: Exponent = None  # type: ignore[assignment]
    averages: Averages | None = None
    deviation: float = 0.0
    """Sum of squared bounds on ||loss - hint||."""
    suffered: float = 0.0
    """sum_t <loss_t, X_t> of the rounds in G."""
    paid: float = 0.0
    """(1/2) sum_t rate_t ||loss_t - hint_t||^2."""
    inverse_rates: float = 0.0
    """1 / rate of the first of these rounds."""
    regret: float = math.nan
    """suffered - min over X in S of <G, X>, at the last check."""
    regret_bound: float = math.nan
    rounds: int = 0
    check_at: int = 1
    gap_at_restart: float = math.inf
    mark_gap: float = math.inf
    mark_round: int = 0
    """Gap and round when progress was last judged."""
    best_X: Array = None
    """The matrix with the best lower value seen, not yet certified."""
    best_lower: float = -math.inf
    hint: Array = None
    hint_y: np.ndarray | None = None


@dataclass(frozen=True)
class Adaptive:
    """Steps from the observed width, levels from the certified interval.

    Three things differ from the published schedule, each measured (docs/design.md):

    - the oracle answers with the smallest move away from the best certified y (`LevelOracle`), so that
      the width is that of the move and not of the whole set;
    - the mirror map sees the loss of that y in advance (an optimistic hint), so that only the
      deviation from it is paid for: rate = boldness sqrt(ln n / sum_t ||loss_t - hint_t||^2); and it
      sees it at least so sharply that ln n / sharpness is worth the certified interval, upper - lower;
    - averages start afresh when the certified gap has halved, and losses when it stands still.

    The regret against the best X in hindsight is measured and kept in the state. For hints at the rate of the losses
    (``sharpness`` 0) it is at most R ln n (1/rate_1 + 1/rate_T) + (R/2) sum_t rate_t ||loss_t - hint_t||^2: Theorem
    4.3.1 with hints, for rates that change.

    Parameters
    ----------
    level : float
        Where the level lies between the bounds, in (0, 1).
    boldness : float
        Multiplies the step; 1 is the step that the regret bound suggests.
    sharpness : float
        Of the hint; 0 leaves it at the rate of the losses.
    patience, stale : int, float
        Where the gap has not fallen to ``stale`` times what it was at half the rounds (less
        ``patience``), the losses are forgotten and X starts again from the hint.
    """

    level: float = 0.5
    boldness: float = 4.0
    sharpness: float = 0.5
    patience: int = 20
    stale: float = 0.7

    def supports(self, game: SpectralGame) -> str:
        return ""

    def remarks(self, state: AdaptiveState) -> str:
        if math.isnan(state.regret):
            return ""
        return (
            f"regret of the rounds since the last fresh start {state.regret:.3g}; optimistic multiplicative weights "
            f"whose hints are no sharper than their losses may have {state.regret_bound:.3g}"
        )

    def init(self, game: SpectralGame, incumbent: Incumbent, exponent: Exponent) -> AdaptiveState:
        center = game.spectral_set.center(game.cost)
        return AdaptiveState(
            G=exponent.zero(game.cost),
            exponent=exponent,
            averages=Averages.empty(game),
            best_X=center if incumbent.X is None else incumbent.X,
            best_lower=incumbent.lower,
        )

    def step(self, game: SpectralGame, state: AdaptiveState, incumbent: Incumbent) -> AdaptiveState:
        anchor = game.dual_set.center() if incumbent.y is None else incumbent.y
        if state.hint_y is not anchor:
            state = replace(state, hint=game.loss(anchor), hint_y=anchor)
        rate = self._rate(game, state)
        lower, upper = max(state.best_lower, incumbent.lower), incumbent.upper
        asked = lower + self.level * (upper - lower) if lower > -math.inf else upper
        oracle = LevelOracle(game, asked, anchor)
        sharpness = self.sharpness * math.log(game.spectral_set.dimension + 1) * game.spectral_set.trace
        ahead = max(rate, sharpness / max(upper - lower, 1e-300)) if lower > -math.inf else rate
        played = play(state.exponent, oracle, state.G, at=rate * state.G + ahead * state.hint)
        answer = played.answer
        while isinstance(answer, Done):
            # X proves more than the level: raise it and ask the same X again, no new decomposition
            state = replace(state, best_lower=oracle.level)
            if lower_value(game, played.X) > lower_value(game, state.best_X):
                state = replace(state, best_X=played.X)
            raised = oracle.level + self.level * (upper - oracle.level)
            if not raised > oracle.level:
                return replace(state, proposals=(Proposal(X=played.X),), finished="the bounds meet")
            oracle = LevelOracle(game, raised, anchor)
            answer = oracle(played.X)
            if isinstance(answer, Move):
                G = played.exponent.accumulate(state.G, answer.loss, answer.step)
                played = replace(played, answer=answer, G=G)
        return self._record(game, state, played, answer, anchor, incumbent)

    def _rate(self, game: SpectralGame, state: AdaptiveState) -> float:
        if state.deviation > 0:
            return self.boldness * math.sqrt(math.log(game.spectral_set.dimension + 1) / state.deviation)
        return 1.0 / (game.scale / game.spectral_set.trace)

    def _record(
        self,
        game: SpectralGame,
        state: AdaptiveState,
        played: Round,
        answer: Move,
        anchor: np.ndarray,
        incumbent: Incumbent,
    ) -> AdaptiveState:
        assert answer.y is not None and state.averages is not None  # LevelOracle gives y
        moved = float(np.abs(answer.y - anchor) @ game.constraint_norms)
        rate = self._rate(game, state)
        state = replace(
            state,
            suffered=state.suffered + answer.step * inner(answer.loss, played.X),
            paid=state.paid + rate * moved**2 / 2,
            inverse_rates=state.inverse_rates or 1 / rate,
            G=played.G,
            exponent=played.exponent,
            averages=state.averages.with_round(played.X, answer.y),
            deviation=state.deviation + moved**2,
            rounds=state.rounds + 1,
            proposals=(),
        )
        if state.rounds < state.check_at:
            return state
        return self._check(game, state, answer.y, incumbent)

    def _check(self, game: SpectralGame, state: AdaptiveState, last: np.ndarray, incumbent: Incumbent) -> AdaptiveState:
        averages = state.averages
        assert averages is not None
        X = _best_on_segment(game, incumbent.upper, state.best_X, averages.X / averages.count)
        lower = lower_value(game, X)
        anchor, average = state.hint_y, averages.y / averages.count
        assert anchor is not None
        S = game.spectral_set
        experts = S.trace * math.log(S.dimension)
        bound = experts * (state.inverse_rates + 1 / self._rate(game, state)) + S.trace * state.paid
        state = replace(state, regret=state.suffered + S.support(-1 * state.G), regret_bound=bound)
        shown = (Proposal(X=X, y=average), Proposal(y=anchor + 0.4 * (average - anchor)), Proposal(y=last))
        state = replace(
            state,
            proposals=shown,
            check_at=next_check(state.rounds),
            best_X=X,
            best_lower=max(lower, state.best_lower),
        )
        state = replace(state, finished=rounded_out(game, anchor, incumbent))
        if incumbent.gap <= 0.5 * state.gap_at_restart:
            state = replace(state, averages=Averages.empty(game), gap_at_restart=incumbent.gap)
        if state.rounds >= 2 * state.mark_round + self.patience:
            if incumbent.gap > self.stale * state.mark_gap:  # old losses hold X where it proves nothing
                state = replace(
                    state,
                    G=state.exponent.zero(game.cost),
                    deviation=0.0,
                    suffered=0.0,
                    paid=0.0,
                    inverse_rates=0.0,
                    averages=Averages.empty(game),
                )
            state = replace(state, mark_gap=incumbent.gap, mark_round=state.rounds)
        return state


def _best_on_segment(game: SpectralGame, upper: float, a: Array, b: Array) -> Array:
    """The point between a and b with the best lower value: linear algebra on m-vectors only."""
    Y = game.dual_set_at(upper)
    at_a, at_b = game.offset - game.adjoint(a), game.offset - game.adjoint(b)
    cost_a, cost_b = inner(game.cost, a), inner(game.cost, b)

    def value(k: float) -> float:
        return (1 - k) * cost_a + k * cost_b + Y.minimize((1 - k) * at_a + k * at_b)[0]

    low, high = 0.0, 1.0
    for _ in range(20):  # the value is concave: thirds that cannot hold the maximum are cut off
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if value(left) < value(right) else (low, right)
    k = max((0.0, (low + high) / 2, 1.0), key=value)
    return a + k * (b - a)
