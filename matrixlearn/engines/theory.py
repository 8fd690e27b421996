"""The published schedule of matrix multiplicative weights, for comparison and for teaching."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines.base import State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.mirror import NONE, Calls, next_check, play, routine_name
from matrixlearn.engines.schedules import Averages, Schedule
from matrixlearn.exceptions import CapabilityError, ProblemError
from matrixlearn.exponents import Exponent
from matrixlearn.linalg import inner
from matrixlearn.oracles import Done, Oracle, SortedListOracle, at_level
from matrixlearn.problems.game import Game
from matrixlearn.problems.play import Play
from matrixlearn.typing import Array


@dataclass(frozen=True, kw_only=True)
class TheoryState(State):
    """One guess of Algorithm 1."""

    G: Array
    exponent: Exponent
    oracle: Oracle
    averages: Averages
    calls: Calls = NONE
    alpha: float = 0.0
    low: float = 0.0
    high: float = math.inf
    rounds: int = 0
    """Rounds at this guess."""
    suffered: float = 0.0
    """sum_t <loss_t, X_t> of these rounds."""
    check_at: int = 1
    delta: float = 0.0
    """Of this guess."""
    widest: float = 0.0
    """The largest width that an answer to this guess had, where the schedule counts on the head of the list."""
    regret: float = math.nan
    regret_bound: float = math.nan
    """suffered - min over X in S of <G, X> when last computed, and what Theorem 4.3.1 allows it."""


def arithmetic(low: float, high: float) -> float:
    """(low + high) / 2, the published guess."""
    return (low + high) / 2


def geometric(low: float, high: float) -> float:
    """sqrt(low high), where low > 0."""
    return math.sqrt(low * high) if low > 0 else high / 4


@dataclass(frozen=True)
class Theory(Schedule):
    """Algorithm 1 as published, with bisection on alpha (errata: docs/errata.md).

        epsilon = delta alpha / (2 rho R),  epsilon' = -ln(1 - epsilon),  T = 8 rho^2 R^2 ln(n) / (delta alpha)^2
        M_t = (A(y_t) - C + rho I) / (2 rho),   X_{t+1} = R exp(-epsilon' sum M) / Tr(.)

    The published oracle is the sorted list of Algorithm 3, ``MatrixMultiplicativeWeights(Theory(),
    oracle=SortedListOracle)``; rho is alpha plus the largest width of the list, so that the claim holds whatever the
    oracle answers. Off the simplex rho bounds ||A(y) - C|| over all of Y, or what the oracle says of itself
    (``widest``): `PolytopeOracle` is that of the general form (4.4), max C.X over A_j.X <= b_j, where b > 0. For games
    with v > 0.

    Theorem 4.3.1, with epsilon' as it is in place of epsilon (1 + epsilon), n the number of experts, P_t = X_t / R:

        sum_t <M_t, P_t>  <=  (epsilon' / epsilon) lambda_min(sum_t M_t) + ln(n) / epsilon

    since Tr exp(-epsilon' sum M) falls by 1 - epsilon <M_t, P_t> at least in round t; the regret of the rounds so far
    is measured beside it on a geometric schedule.

    The other parameters are the thesis's heuristics (Sections 5.3, 6.1 and 7), off by default; whatever they are, what
    is proved is proved from the data.

    Parameters
    ----------
    delta : float
        Accuracy: a guess that never fails proves v <= (1 + delta) alpha.
    first_delta : float, optional
        Of the first guess; then (high - low) / low where that is less, until it is ``delta``.
    head : int, optional
        rho counts on the first ``head`` of the list only, and grows where the oracle has to go further.
    middle : function
        (low, high) -> alpha: `arithmetic`, or `geometric`, since a low guess is dear (T falls with alpha^2).
    keep : float
        The share of the losses, and of the average, that a guess takes over from one that failed, in [0, 1].
    """

    delta: float = 0.1
    first_delta: float | None = None
    head: int | None = None
    middle: Callable[[float, float], float] = arithmetic
    keep: float = 0.0

    @classmethod
    def as_run(cls, delta: float = 0.1) -> Theory:
        """With those of the thesis's own experiments: a falling delta, and the width of one of the first elements."""
        return cls(delta, first_delta=0.8, head=5)

    def objection(self, game: Game) -> str:
        return ""

    def remarks(self, state: TheoryState) -> str:
        if math.isnan(state.regret) or self.head is not None or self.keep:
            return ""  # the theorem is about one width, and losses that begin at 0
        return f"regret at the last guess {state.regret:.3g}; Theorem 4.3.1 allows {state.regret_bound:.3g}"

    def rounds_for(self, game: Game, alpha: float, oracle: Oracle | None = None) -> int:
        """T of Theorem 4.3.2 at ``delta``, with no answer wider than the head of the list."""
        return _rounds(game, self.width(game, alpha, oracle), self.delta * alpha)

    def width(self, game: Game, alpha: float, oracle: Oracle | None = None) -> float:
        """rho >= ||A(y) + y_0 I - C|| for every y of the oracle and 0 <= R y_0 <= alpha - c.y."""
        own = getattr(oracle, "widest", None)
        if own is not None:
            return alpha / game.S.trace + float(own(alpha))
        offset = max(abs(game.Y.minimize(sign * game.c)[0]) for sign in (-1.0, 1.0))
        return (alpha + offset) / game.S.trace + _widest(game, self.head)

    def init(self, game: Game, incumbent: Incumbent, played: Play) -> TheoryState:
        low, high = max(0.0, incumbent.lower), incumbent.upper
        if math.isinf(self.width(game, high, played.oracle)):
            msg = (
                f"{routine_name(played.oracle)} has no width on this program: D_alpha is bounded where every b_j > 0; "
                f"play it by the schedule Adaptive, or Theory with the LevelOracle"
            )
            raise CapabilityError(msg)
        return self._guess(game, played, low, high, delta=self.first_delta or self.delta)

    def _guess(self, game: Game, played: Play, low: float, high: float, **changes: Any) -> TheoryState:
        afresh = {"G": played.exponent.zero(game.C), "averages": Averages.empty(game), "delta": self.delta}
        return TheoryState(
            exponent=played.exponent,
            oracle=played.oracle,
            alpha=self.middle(low, high),
            low=low,
            high=high,
            **afresh | changes,
        )

    def step(self, game: Game, state: TheoryState, incumbent: Incumbent) -> TheoryState:
        alpha = state.alpha
        if not alpha > 0:
            return replace(state, finished="the published schedule plays games of a positive value, and this has none")
        _, _, rate = self._steps(game, state)
        oracle = at_level(state.oracle, alpha, None)
        played = play(state.exponent, oracle, state.G, at=rate * state.G)
        answer, state = played.answer, replace(state, calls=state.calls.more())
        if isinstance(answer, Done):
            low = max(alpha, incumbent.lower)
            X = played.X if answer.point is None else answer.point
            kept = self._kept(state) if self.keep else {}
            return self._after(game, replace(state, exponent=played.exponent, low=low), Proposal(X=X), **kept)
        if answer.y is None:
            msg = f"{routine_name(state.oracle)} must answer with the y of its loss: Move(game.loss(y), y=y)"
            raise ProblemError(msg)
        averages = state.averages.with_round(played.X, answer.y)
        state = replace(
            state,
            widest=0.0 if self.head is None else max(state.widest, min(answer.width, _widest(game))),
            G=played.G,
            exponent=played.exponent,
            averages=averages,
            rounds=state.rounds + 1,
            suffered=state.suffered + answer.step * inner(answer.loss, played.X),
            proposals=(),
        )
        y = averages.y / averages.count
        last = state.rounds >= _rounds(game, self._rho(game, state), state.delta * alpha)
        if last or state.rounds >= state.check_at:
            state = self._with_regret(game, state)
        if not last:
            return state
        # T successes: the average proves v <= (1 + delta) alpha (Theorem 4.3.2)
        high = min((1 + state.delta) * alpha, state.high, incumbent.upper)
        shown = Proposal(X=averages.X / averages.count, y=y)
        return self._after(game, replace(state, high=high), shown)

    def _steps(self, game: Game, state: TheoryState) -> tuple[float, float, float]:
        """(rho, epsilon, epsilon' / (2 rho))."""
        rho = self._rho(game, state)
        epsilon = min(state.delta * state.alpha / (2 * rho * game.S.trace), 0.5)
        return rho, epsilon, -math.log1p(-epsilon) / (2 * rho)

    def _rho(self, game: Game, state: TheoryState) -> float:
        """The width of this guess by now."""
        return max(self.width(game, state.alpha, state.oracle), state.alpha / game.S.trace + state.widest)

    def _kept(self, state: TheoryState) -> dict[str, Any]:
        """What the guess after a failed one starts from."""
        share, averages = self.keep, state.averages
        count = round(share * averages.count)
        if count == 0:
            return {}
        scaled = replace(averages, X=count / averages.count * averages.X, y=count / averages.count * averages.y)
        suffered = share * state.suffered
        return {"G": share * state.G, "averages": replace(scaled, count=count), "rounds": count, "suffered": suffered}

    def _with_regret(self, game: Game, state: TheoryState) -> TheoryState:
        S, (rho, epsilon, rate) = game.S, self._steps(game, state)
        support = S.support(-1 * state.G)
        least = (rho * state.rounds - support / S.trace) / (2 * rho)  # lambda_min(sum M)
        allowed = (2 * rho * rate / epsilon - 1) * least + math.log(S.dimension) / epsilon
        return replace(
            state,
            check_at=next_check(state.rounds),
            regret=state.suffered + support,
            regret_bound=2 * rho * S.trace * allowed,
        )

    def _after(self, game: Game, state: TheoryState, shown: Proposal, **kept: Any) -> TheoryState:
        """The next guess, from the ``low`` and ``high`` of this one's state."""
        low, high = state.low, state.high
        delta = max(self.delta, min(state.delta, (high - low) / low if low > 0 else math.inf))
        # successes at the middle of a shorter interval would not lower its end
        open_still = (1 - self.delta) * high > (1 + self.delta) * low
        finished = "" if open_still else f"the guesses agree to delta = {self.delta:g}"
        told = {"regret": state.regret, "regret_bound": state.regret_bound, "calls": state.calls}
        return self._guess(
            game,
            Play(state.exponent, state.oracle),
            low,
            high,
            proposals=(shown,),
            finished=finished,
            delta=delta,
            **told | kept,
        )


def _rounds(game: Game, rho: float, accuracy: float) -> int:
    """T = 8 rho^2 R^2 ln(n) / (delta alpha)^2."""
    R, n = game.S.trace, game.S.dimension
    return math.ceil(8 * rho**2 * R**2 * math.log(max(n, 2)) / accuracy**2)


def _widest(game: Game, head: int | None = None) -> float:
    """||A(y) - C||_2 at most, over Y: that of the list on the simplex, or of its head; by the norms elsewhere."""
    Y, norms = game.Y, game.A.norms
    on_simplex = Y.weights is not None and bool(np.all(Y.weights == 1) and np.all(np.isinf(Y.upper)))
    if on_simplex and Y.row_lower == Y.row_upper == 1:
        widths = np.sort(_sorted_list(game).widths)
        return float(widths[-1 if head is None else min(head, len(widths)) - 1])
    reach = -Y.minimize(-norms)[0] if np.all(Y.lower >= 0) else float(Y.extent @ norms)
    return game.cost_norm + reach


def _sorted_list(game: Game) -> SortedListOracle:
    """The game's list, computed once."""
    if "_sorted_list" not in game.__dict__:
        game.__dict__["_sorted_list"] = SortedListOracle(game, math.inf)
    oracle: SortedListOracle = game.__dict__["_sorted_list"]
    return oracle
