"""Restarted primal-dual hybrid gradient with Euclidean projections on both sides.

With z = d o y, d_j = ||A_j||_2 (diagonal preconditioning) and steps tau = eta / omega, sigma = eta omega,

    z+ = P_Y(z - tau (c - A*(X)) / d),        X+ = P_S(X + sigma (C - A(2 y+ - y)))

one eigendecomposition an iteration. The step eta is the largest that

    eta <= (omega ||dz||^2 + ||dX||^2 / omega) / (2 |<A(dy), dX>|)

allows (every eta <= 1 / ||A|| does; the norm, in the metric of z, is estimated by the power method to start
from). The iterate and its average since the last restart are judged by the certified gap of the game itself, and the
better of them becomes the start when `engines.restarts` says so; then the primal weight omega moves half way (in its
logarithm) to ||X - X_start|| / ||z - z_start||.

References
----------
Chambolle and Pock (2011, 2016); Pock and Chambolle (2011), diagonal preconditioning; Applegate et al. (2021),
"Practical large-scale linear programming using primal-dual hybrid gradient".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from matrixlearn.engines.base import GameEngine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.restarts import Restarts, rebalanced
from matrixlearn.engines.saddle import (
    ScaledSet,
    diameter,
    metric,
    nearest,
    projects,
    proven_width,
    rounded_out,
)
from matrixlearn.linalg import frobenius, inner
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True)
class Point:
    """A pair in S x Y, and its images under the two linear maps."""

    X: Array
    y: np.ndarray
    image: Array
    """C - A(y)."""
    prices: np.ndarray
    """c - A*(X)."""

    def mixed(self, other: Point, k: float) -> Point:
        """(1 - k) self + k other; the maps are affine."""
        return Point(*(
            (1 - k) * a + k * b
            for a, b in (
                (self.X, other.X), (self.y, other.y), (self.image, other.image), (self.prices, other.prices),
            )
        ))  # fmt: skip

    @classmethod
    def at(cls, game: Game, X: Array, y: np.ndarray) -> Point:
        return cls(X, y, game.image(y), game.prices(X))

    def width(self, game: Game) -> float:
        """`proven_width`."""
        return proven_width(game, self.X, self.y, self.image)


@dataclass(frozen=True, kw_only=True)
class HybridState(State):
    """The iterate, its average since the start, and the step."""

    now: Point
    start: Point
    average: Point
    mass: float = 0.0
    """Sum of the steps in the average."""
    eta: float
    omega: float
    restarts: Restarts
    scaled: ScaledSet


@dataclass(frozen=True)
class HybridGradient(GameEngine):
    """Restarted PDHG, for every game with a bounded Y.

    Parameters
    ----------
    restarts : Restarts
        The rule.
    """

    restarts: Restarts = field(default_factory=Restarts)

    name = "pdhg"

    def objection_to(self, game: Game) -> str:
        refused = super().objection_to(game)
        if refused:
            return refused
        if not projects(game.S):
            return "pdhg has no projection for this spectral set: register one with engines.saddle.nearest_eigenvalues"
        return ""

    def init(self, game: Game, incumbent: Incumbent) -> HybridState:
        X = game.S.center(game.C) if incumbent.X is None else incumbent.X
        y = game.Y.center() if incumbent.y is None else incumbent.y
        now = Point.at(game, X, y)
        d = metric(game)
        radius = float(np.linalg.norm(d * y)) or diameter(game.Y, d) or 1.0
        return HybridState(
            now=now,
            start=now,
            average=now,
            eta=1.0 / operator_norm(game, d),
            omega=game.S.trace / radius,
            restarts=self.restarts.started(now.width(game)),
            scaled=ScaledSet.of(game.Y, d),
        )

    def step(self, game: Game, state: HybridState, incumbent: Incumbent) -> HybridState:
        state = self._moved(game, state)
        if state.finished or not state.restarts.to_check:
            return state
        return self._checked(game, state, incumbent)

    def _moved(self, game: Game, state: HybridState) -> HybridState:
        """One accepted round."""
        now, d, eta, omega = state.now, state.scaled.d, state.eta, state.omega
        z = d * now.y
        k = state.restarts.rounds + 1
        for _ in range(60):
            z_next = state.scaled.nearest(z - (eta / omega) * now.prices / d)
            y = z_next / d
            image = game.image(y)
            X = nearest(game.S, now.X + (eta * omega) * (2 * image - now.image))
            dX, dz = X - now.X, z_next - z
            prices = game.prices(X)
            size = omega * float(dz @ dz) + inner(dX, dX) / omega
            if not (math.isfinite(size) and np.all(np.isfinite(prices))):
                return replace(state, proposals=(), finished="the iterates are not finite: numerical limit")
            coupling = abs(float((prices - now.prices) @ (y - now.y)))
            limit = size / (2 * coupling) if coupling > 0 else math.inf
            longest = min((1 - (k + 1) ** -0.3) * limit, (1 + (k + 1) ** -0.6) * eta)
            if eta <= limit:
                break
            eta = longest
        else:
            return replace(state, proposals=(), finished="no step is short enough: numerical limit")
        point = Point(X, y, image, prices)
        mass = state.mass + eta
        return replace(
            state,
            proposals=(),
            now=point,
            average=state.average.mixed(point, eta / mass) if state.mass > 0 else point,
            mass=mass,
            eta=longest,
            restarts=state.restarts.moved(),
        )

    def _checked(self, game: Game, state: HybridState, incumbent: Incumbent) -> HybridState:
        """Compute the bounds of the iterate and of the average, propose the better, restart where that pays."""
        better, width = min(((p, p.width(game)) for p in (state.now, state.average)), key=lambda pair: pair[1])
        restarts = state.restarts.checked(width)
        finished = rounded_out(game, better.y, incumbent) or restarts.stalled
        state = replace(state, restarts=restarts, proposals=(Proposal(X=better.X, y=better.y),), finished=finished)
        if finished or not restarts.due:
            return state
        moved_X = frobenius(better.X - state.start.X)
        moved_z = float(np.linalg.norm(state.scaled.d * (better.y - state.start.y)))
        return replace(
            state,
            now=better,
            start=better,
            average=better,
            mass=0.0,
            omega=rebalanced(state.omega, moved_X, moved_z),
            restarts=restarts.started(width),
        )


def operator_norm(game: Game, d: np.ndarray, iterations: int = 20) -> float:
    """max ||A(z / d)||_F / ||z||_2, nearly, by the power method from a fixed start."""
    z = np.random.default_rng(0).uniform(0.5, 1.5, len(d))
    norm = 0.0
    for _ in range(iterations):
        z = z / max(float(np.linalg.norm(z)), np.finfo(float).tiny)
        image = game.A.apply(z / d)
        norm = frobenius(image)
        z = game.A.adjoint(image) / d
        if not np.any(z):
            break
    return norm or 1.0
