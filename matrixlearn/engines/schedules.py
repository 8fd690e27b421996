"""The contract of a schedule of matrix multiplicative weights, and the bound of its regret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from matrixlearn._array import zeros
from matrixlearn.engines.base import State
from matrixlearn.engines.incumbent import Incumbent
from matrixlearn.problems.game import Game
from matrixlearn.problems.play import Play
from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array


class Schedule(Protocol):
    """How an Arora-Kale engine runs its rounds."""

    def objection(self, game: Game) -> str:
        """Why the schedule cannot play this game; empty where it can."""

    def remarks(self, state: Any) -> str:
        """How the rounds went, in words; empty where there is nothing to say."""

    def init(self, game: Game, incumbent: Incumbent, played: Play) -> State:
        """The first state, to be played with these routines."""

    def step(self, game: Game, state: Any, incumbent: Incumbent) -> State:
        """One round."""


@dataclass(frozen=True)
class Averages:
    """Running sums of the rounds since the last restart."""

    X: Array
    y: np.ndarray
    count: int = 0

    @classmethod
    def empty(cls, game: Game) -> Averages:
        return cls(zeros(tuple(game.C.shape), game.C), np.zeros(game.Y.size))

    def with_round(self, X: Array, y: np.ndarray) -> Averages:
        return Averages(self.X + X, self.y + y, self.count + 1)


@dataclass(frozen=True)
class RegretBound:
    """What optimistic multiplicative weights may regret, whatever the losses.

        X_t = argmin over S of <rate_t G_{t-1} + ahead_t H_t, X> + h(X),   0 < rate_t <= ahead_t,   d_t >= ||L_t - H_t||

        sum_t <L_t, X_t>  <=  min over S of <G_T, X>  +  R ln n (1/rate_T + sum_{t>1} [1/rate_{t-1} - 1/rate_t]_+)
                              +  R sum_t phi(ahead_t, d_t)

        phi(a, d) = a d^2 / 2  where a d <= 2,  2 (d - 1/a)  beyond

    for losses L_t with the sum G_t, hints H_t, n experts and the entropy h, between 0 and R ln n on S. Theorem 4.3.1
    with hints, and rates that may change.

    Proof. Let Z_t and W_t minimize <rate_t G_{t-1}, X> + h and <rate_t G_t, X> + h, and V_t(k) = min <G_t, X> + h/k.
    By optimality of Z_t, <L_t, W_t> <= V_t(rate_t) - V_{t-1}(rate_t) - D(W_t, Z_t)/rate_t. These differences sum to
    min <G_T, X> and the term in R ln n at the most: V(k) falls with k. By optimality of X_t between Z_t and W_t,
    <H_t, X_t - W_t> <= (D(W_t, Z_t) - D(W_t, X_t)) / ahead_t, and as ahead_t >= rate_t, D(W_t, Z_t) drops out. What
    is left, <L_t - H_t, X_t - W_t> - D(W_t, X_t)/ahead_t, is at most d_t s - s^2 / (2 R ahead_t) for
    s = ||X_t - W_t||_* <= 2 R, since h is strongly convex.

    Attributes
    ----------
    rate : float
        Of the last round.
    raised : float
        sum [1/rate_{t-1} - 1/rate_t]_+.
    charged : float
        sum phi(ahead_t, d_t).
    """

    rate: float = math.inf
    raised: float = 0.0
    charged: float = 0.0

    def with_round(self, rate: float, ahead: float, deviation: float) -> RegretBound:
        """The bound after one more round."""
        far = ahead * deviation > 2
        charge = 2 * (deviation - 1 / ahead) if far else ahead * deviation**2 / 2
        raised = max(1 / self.rate - 1 / rate, 0.0)
        return RegretBound(rate, self.raised + raised, self.charged + charge)

    def value(self, S: SpectralSet) -> float:
        """The right-hand side, without the minimum."""
        return S.trace * (math.log(S.dimension) * (1 / self.rate + self.raised) + self.charged)
