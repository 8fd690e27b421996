"""Nesterov's smoothing with the entropy of S, and continuation in the smoothness.

    f_mu(y) = c.y + mu R log sum_i exp(lambda_i / mu),     f <= f_mu <= f + mu R ln(dimension of S)

over the eigenvalues lambda_i of C - A(y) (with both signs where S is a ball of the nuclear norm, and a 0 where
Tr X <= R). Its gradient is c - A*(X_mu(y)), X_mu = V diag(p) V^H with the softmax p of lambda / mu times R. With
z = d o y, d_j = ||A_j||_2, the accelerated method

    v = (1 - theta) y + theta x,   X = X_mu(v),   x+ = P_Y(x - grad / (theta L)),   y+ = (1 - theta) y + theta x+

averages the X with the same theta, and has upper(y+) - lower(X_avg) <= 4 L D^2 / k^2 + mu R ln(dimension) where

    f_mu(y+) <= f_mu(v) + grad.(y+ - v) + (L/2) ||z+ - z_v||^2

holds; L doubles until it does (L <= ||A||^2 R / mu, in the metric of z). The eigenvalues for this test are those of the
certificate; here as for X_mu the ends of the spectrum suffice, where lambda is within 40 mu of the largest. When the
certified interval is down to twice what mu costs, mu is divided by 4 and the method starts again from the best y.

References
----------
Nesterov (2005), "Smooth minimization of non-smooth functions"; Tseng (2008); Becker, Bobin and Candes (2011),
continuation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn._array import from_numpy, zeros
from matrixlearn.engines.base import GameEngine, State
from matrixlearn.engines.entropies import DEPTH, soft_response, soft_support
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.mirror import next_check
from matrixlearn.engines.saddle import ScaledSet, lower_value, metric, rounded_out
from matrixlearn.engines.spectrum import eigenvalues_within
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True, kw_only=True)
class SmoothState(State):
    """The three sequences of the accelerated method, with their images C - A(.)."""

    y: np.ndarray
    x: np.ndarray
    image_y: Array
    image_x: Array
    X: Array
    """The average of the responses."""
    theta: float = 1.0
    mu: float
    L: float
    rounds: int = 0
    since: int = 0
    check_at: int = 1
    best_y: np.ndarray
    best_upper: float = math.inf
    best_lower: float = -math.inf
    scaled: ScaledSet


@dataclass(frozen=True)
class Smoothing(GameEngine):
    """Accelerated smoothing with continuation, for every game with a bounded Y.

    Parameters
    ----------
    reduction : float
        By which mu is divided.
    """

    reduction: float = 4.0

    name = "smoothing"

    def init(self, game: Game, incumbent: Incumbent) -> SmoothState:
        y = game.Y.center() if incumbent.y is None else incumbent.y
        d = metric(game)
        width = incumbent.upper - incumbent.lower
        if not math.isfinite(width):
            width = game.scale
        mu = max(width, 1e-12 * game.scale) / (4 * self._cost(game))
        return SmoothState(
            mu=mu,
            L=game.S.trace / mu / len(d),
            best_y=y,
            scaled=ScaledSet.of(game.Y, d),
            **self._sequences(game, y),
        )

    @staticmethod
    def _cost(game: Game) -> float:
        """What one unit of mu costs: R ln(dimension)."""
        return game.S.trace * math.log(game.S.dimension + 1)

    @staticmethod
    def _sequences(game: Game, y: np.ndarray) -> dict[str, Any]:
        """The three sequences, all started from y."""
        image = game.image(y)
        return {"y": y, "x": y, "image_y": image, "image_x": image, "X": zeros(tuple(game.C.shape), game.C)}

    def step(self, game: Game, state: SmoothState, incumbent: Incumbent) -> SmoothState:
        state = self._accelerated(game, state)
        if state.finished or state.since < state.check_at:
            return state
        return self._checked(game, state, incumbent)

    def _accelerated(self, game: Game, state: SmoothState) -> SmoothState:
        """One accepted round."""
        S, d, theta, L = game.S, state.scaled.d, state.theta, state.L
        v = (1 - theta) * state.y + theta * state.x
        image_v = (1 - theta) * state.image_y + theta * state.image_x
        soft, X = soft_response(S, image_v, state.mu)
        gradient = game.prices(X)
        at_v = float(game.c @ v) + soft
        if not (math.isfinite(at_v) and np.all(np.isfinite(gradient))):
            return replace(state, proposals=(), finished="the iterates are not finite: numerical limit")
        allowance = 1e-13 * (game.scale + abs(at_v))
        for _ in range(60):
            x = state.scaled.nearest(d * state.x - gradient / d / (theta * L)) / d
            image_x = game.image(x)
            y = (1 - theta) * state.y + theta * x
            image_y = (1 - theta) * state.image_y + theta * image_x
            w = eigenvalues_within(S, image_y, DEPTH * state.mu)
            at_y = float(game.c @ y) + soft_support(S, w, state.mu)[0]
            moved = d * (y - v)
            if at_y <= at_v + float(gradient @ (y - v)) + L / 2 * float(moved @ moved) + allowance:
                break
            L *= 2
        else:
            return replace(state, proposals=(), finished="no step is short enough: numerical limit")
        upper = float(game.c @ y) + S.support_of(from_numpy(w, game.C))
        return replace(
            state,
            proposals=(),
            y=y,
            x=x,
            image_y=image_y,
            image_x=image_x,
            X=(1 - theta) * state.X + theta * X,
            theta=2 / (1 + math.sqrt(1 + 4 / theta**2)),
            L=L,
            rounds=state.rounds + 1,
            since=state.since + 1,
            best_y=y if upper < state.best_upper else state.best_y,
            best_upper=min(upper, state.best_upper),
        )

    def _checked(self, game: Game, state: SmoothState, incumbent: Incumbent) -> SmoothState:
        lower = lower_value(game, state.X)
        state = replace(
            state,
            proposals=(Proposal(X=state.X, y=state.best_y),),
            check_at=next_check(state.since),
            best_lower=max(lower, state.best_lower),
        )
        if finished := rounded_out(game, state.best_y, incumbent):
            return replace(state, finished=finished)
        width, cost = state.best_upper - lower, self._cost(game)
        if width > 2 * state.mu * cost:
            return state
        mu = min(max(state.best_upper - state.best_lower, 0.0) / (2 * cost), state.mu) / self.reduction
        if not mu > 1e-15 * game.scale / cost:
            return replace(state, finished="the smoothing is down to rounding: numerical limit")
        return replace(
            state,
            mu=mu,
            L=state.L * max(1.0, state.mu / mu / 4),
            theta=1.0,
            since=0,
            check_at=1,
            **self._sequences(game, state.best_y),
        )
