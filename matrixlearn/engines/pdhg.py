"""Restarted primal-dual hybrid gradient with Euclidean projections on both sides.

With z = d o y, d_j = ||A_j||_2 (diagonal preconditioning) and steps tau = eta / omega, sigma = eta omega,

    z+ = P_Y(z - tau (c - A*(X)) / d),        X+ = P_S(X + sigma (C - A(2 y+ - y)))

one eigendecomposition an iteration. The step eta is the largest that

    eta <= (omega ||dz||^2 + ||dX||^2 / omega) / (2 |<A(dy), dX>|)

allows (every eta <= 1 / ||A|| does; the norm, in the metric of z, is estimated by the power method to start
from). The iterate and its average since the last restart are judged by the certified gap of the game itself; the
better of them becomes the start when its gap has fallen to ``sufficient`` times that of the last start, or to
``necessary`` times and rises again, or when the iterations since are ``artificial`` times all before. Then the
primal weight omega moves half way (in its logarithm) to ||X - X_start|| / ||z - z_start||.

Bilinear games over polyhedra are sharp, and restarts make the method linearly convergent there; a spectral
set is no polyhedron, and the rate is measured (benchmarks/engines.py), not proven.

References
----------
Chambolle and Pock (2011, 2016); Pock and Chambolle (2011), diagonal preconditioning; Applegate et al. (2021),
"Practical large-scale linear programming using primal-dual hybrid gradient".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines.base import Engine, Incumbent, Proposal, State
from matrixlearn.engines.mirror import next_check
from matrixlearn.engines.saddle import ScaledSet, diameter, metric, nearest, projects, proven_width, refusal
from matrixlearn.linalg import frobenius, inner
from matrixlearn.problems.base import Problem
from matrixlearn.problems.game import SpectralGame
from matrixlearn.typing import Array

PATIENCE = 2000
"""Rounds without progress, more than all before them, after which no more is expected."""


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
    def at(cls, game: SpectralGame, X: Array, y: np.ndarray) -> Point:
        return cls(X, y, game.forward(y), game.offset - game.adjoint(X))

    def width(self, game: SpectralGame) -> float:
        """`proven_width`."""
        return proven_width(game, self.X, self.y, self.image)


@dataclass(frozen=True)
class HybridState(State):
    """The iterate, its average since the start, and the step."""

    now: Point = None  # type: ignore[assignment]
    start: Point = None  # type: ignore[assignment]
    average: Point = None  # type: ignore[assignment]
    mass: float = 0.0
    """Sum of the steps in the average."""
    eta: float = 0.0
    omega: float = 1.0
    rounds: int = 0
    since: int = 0
    """Rounds, and those since the restart."""
    check_at: int = 1
    width_at_start: float = math.inf
    width_before: float = math.inf
    """The width that the last check found."""
    best: float = math.inf
    quiet: int = 0
    """Rounds at which the least width was last improved by a tenth."""
    scaled: ScaledSet = None  # type: ignore[assignment]


@dataclass(frozen=True)
class HybridGradient(Engine):
    """Restarted PDHG, for every spectral game with a bounded Y.

    Parameters
    ----------
    sufficient, necessary, artificial : float
        When to restart, see above.
    checks : int
        At most so many rounds between two checks.
    """

    sufficient: float = 0.2
    necessary: float = 0.8
    artificial: float = 0.36
    checks: int = 50

    name = "pdhg"

    def supports(self, problem: Problem) -> str:
        refused = refusal(self.name, problem)
        if refused:
            return refused
        if not projects(problem.spectral_set):  # type: ignore[attr-defined]
            return "pdhg has no projection for this spectral set: register one with engines.saddle.nearest_eigenvalues"
        return ""

    def init(self, problem: SpectralGame, incumbent: Incumbent) -> HybridState:
        X = problem.spectral_set.center(problem.cost) if incumbent.X is None else incumbent.X
        y = problem.dual_set.center() if incumbent.y is None else incumbent.y
        now = Point.at(problem, X, y)
        d = metric(problem)
        width = now.width(problem)
        radius = float(np.linalg.norm(d * y)) or diameter(problem.dual_set, d) or 1.0
        return HybridState(
            now=now,
            start=now,
            average=now,
            eta=1.0 / operator_norm(problem, d),
            omega=problem.spectral_set.trace / radius,
            width_at_start=width,
            width_before=width,
            best=width,
            scaled=ScaledSet.of(problem.dual_set, d),
        )

    def step(self, problem: SpectralGame, state: HybridState, incumbent: Incumbent) -> HybridState:
        state = self._moved(problem, state)
        if state.finished or state.since < state.check_at:
            return state
        return self._checked(problem, state, incumbent)

    def _moved(self, game: SpectralGame, state: HybridState) -> HybridState:
        """One accepted round."""
        now, d, eta, omega = state.now, state.scaled.d, state.eta, state.omega
        z = d * now.y
        k = state.rounds + 1
        for _ in range(60):
            z_next = state.scaled.nearest(z - (eta / omega) * now.prices / d)
            y = z_next / d
            image = game.forward(y)
            X = nearest(game.spectral_set, now.X + (eta * omega) * (2 * image - now.image))
            dX, dz = X - now.X, z_next - z
            prices = game.offset - game.adjoint(X)
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
            rounds=k,
            since=state.since + 1,
        )

    def _checked(self, game: SpectralGame, state: HybridState, incumbent: Incumbent) -> HybridState:
        """Judge iterate and average, show the better, restart where that pays."""
        better, width = min(((p, p.width(game)) for p in (state.now, state.average)), key=lambda pair: pair[1])
        improved = width < 0.9 * state.best
        quiet = state.rounds if improved else state.quiet
        state = replace(
            state,
            proposals=(Proposal(X=better.X, y=better.y),),
            check_at=min(next_check(state.since), state.since + self.checks),
            best=width if improved else state.best,
            quiet=quiet,
        )
        if incumbent.upper - incumbent.lower <= 4 * game.rounding(better.y):
            return replace(state, finished="the bounds differ by their allowance for rounding: numerical limit")
        if state.rounds > 2 * quiet + PATIENCE:
            return replace(state, finished=f"the gap has not moved for {state.rounds - quiet} rounds: numerical limit")
        due = (
            width <= self.sufficient * state.width_at_start
            or (width <= self.necessary * state.width_at_start and width > state.width_before)
            or state.since >= max(self.artificial * state.rounds, 10)
        )
        if not due:
            return replace(state, width_before=width)
        moved_X = frobenius(better.X - state.start.X)
        moved_z = float(np.linalg.norm(state.scaled.d * (better.y - state.start.y)))
        omega = state.omega
        if moved_X > 0 and moved_z > 0:
            omega = math.sqrt(omega * moved_X / moved_z)
        return replace(
            state,
            now=better,
            start=better,
            average=better,
            mass=0.0,
            omega=omega,
            since=0,
            check_at=1,
            width_at_start=width,
            width_before=width,
        )


def operator_norm(game: SpectralGame, d: np.ndarray, iterations: int = 20) -> float:
    """max ||A(z / d)||_F / ||z||_2, nearly, by the power method from a fixed start."""
    z = np.random.default_rng(0).uniform(0.5, 1.5, len(d))
    norm = 0.0
    for _ in range(iterations):
        z = z / max(float(np.linalg.norm(z)), np.finfo(float).tiny)
        image = game.apply(z / d)
        norm = frobenius(image)
        z = game.adjoint(image) / d
        if not np.any(z):
            break
    return norm or 1.0
