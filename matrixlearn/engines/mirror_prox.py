"""Mirror-prox with entropies, in the form of dual extrapolation, restarted on the true gap.

With phi(L) = R log sum exp(lambda(L)) on S (both signs where S is a nuclear-norm ball) and X(L) its gradient, and
likewise phi_Y(l) and y(l) on Y, the iterates are the logarithms L and l themselves:

    X, y     = X(L), y(l)                                     the middle of the round:
    X^, y^   = X(L + eta omega (C - A(y))), y(l - (eta / omega) (c - A*(X)))
    L+, l+   = L + eta omega (C - A(y^)),   l - (eta / omega) (c - A*(X^))

A step is accepted where, in exact numbers, the sum of

    (phi(L+) - phi(L)) / omega - eta <C - A(y^), X^>   and   omega (phi_Y(l+) - phi_Y(l)) + eta (c - A*(X^)).y^

is not positive. It is all that the proof needs: V(u) = phi(L) + h(u) - <L, u>, the divergence of u from the iterate,
falls by at least eta (value(u, y^) - value(X^, v)), so that the averages weighted by eta have

    upper - lower  <=  (V_X / omega + omega V_Y at the start) / sum of eta.

eta is halved where the test fails and grows by a fifth where it holds. There is no smoothness constant, and no
logarithm of a matrix is ever taken: a restart keeps L and l, or their averages (geometric means of the iterates), whose
small eigenvalues stay exact, so that restarts have no floor. Experts that are worth less than a hundredth of the gap
are lifted to what that is worth, since from far below they would need as long to return as they took to fall. The
better of the last and this average becomes the start when `engines.restarts` says so; then omega moves half way to
where both sides have moved alike.

Y is measured by the entropy sum_j a_j u_j log u_j, u = w o y, where it is a simplex without caps; a_j = ||A_j|| / w_j
over its mean: long points take shorter steps (to 10 % on real reviews in 1.8 s instead of 7.7). Elsewhere by the
Euclidean norm of z = d o y, d_j = ||A_j||. Two eigendecompositions a round.

References
----------
Nemirovski (2004); Nesterov (2007), "Dual extrapolation and its applications"; Applegate et al. (2021), restarts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from matrixlearn._array import zeros
from matrixlearn.engines.base import GameEngine, State
from matrixlearn.engines.entropies import VectorSide, soft_response, trimmed, vector_side
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.restarts import Restarts, rebalanced
from matrixlearn.engines.saddle import proven_width, rounded_out
from matrixlearn.linalg import inner
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True)
class Mirrored:
    """A pair (X, y) with its logarithms, and its images under the two maps."""

    L: Array
    log: np.ndarray
    phi: float
    phi_y: float
    X: Array
    u: np.ndarray
    y: np.ndarray
    image: Array
    prices: np.ndarray

    @classmethod
    def at(cls, game: Game, side: VectorSide, L: Array, log: np.ndarray) -> Mirrored:
        phi, X = soft_response(game.S, L, 1.0)
        phi_y, u = side.response(log)
        y = u / side.scale
        return cls(L, log, phi, phi_y, X, u, y, game.image(y), game.prices(X))

    def width(self, game: Game) -> float:
        """`proven_width`."""
        return proven_width(game, self.X, self.y, self.image)


@dataclass(frozen=True, kw_only=True)
class MirrorProxState(State):
    """The iterate, the start, and sums weighted by eta since then."""

    now: Mirrored
    start: Mirrored
    last: Mirrored
    """The middle of the last round."""
    side: VectorSide
    eta: float
    omega: float
    mass: float
    sum_L: Array
    sum_log: np.ndarray
    sum_X: Array
    sum_y: np.ndarray
    restarts: Restarts


@dataclass(frozen=True)
class MirrorProx(GameEngine):
    """Entropic mirror-prox with restarts, for every game with a bounded Y.

    Parameters
    ----------
    restarts : Restarts
        The rule.
    """

    restarts: Restarts = field(default_factory=Restarts)

    name = "mirror-prox"

    def init(self, game: Game, incumbent: Incumbent) -> MirrorProxState:
        side = vector_side(game)
        y = game.Y.center() if incumbent.y is None else incumbent.y
        L = zeros(tuple(game.C.shape), game.C)
        now = Mirrored.at(game, side, L, side.log_of(side.scale * y))
        S = game.S
        omega = math.sqrt(S.trace * math.log(S.dimension + 1) / side.range) if side.range > 0 else 1.0
        eta = 1.0 / max(omega * game.scale / S.trace, 1e-300)
        return self._started(game, side, now, eta, omega, self.restarts.started(now.width(game)))

    @staticmethod
    def _started(
        game: Game, side: VectorSide, start: Mirrored, eta: float, omega: float, restarts: Restarts
    ) -> MirrorProxState:
        nothing, none = zeros(tuple(game.C.shape), game.C), np.zeros(game.Y.size)
        return MirrorProxState(
            now=start,
            start=start,
            last=start,
            side=side,
            eta=eta,
            omega=omega,
            mass=0.0,
            sum_L=nothing,
            sum_X=nothing,
            sum_log=none,
            sum_y=none,
            restarts=restarts,
        )

    def step(self, game: Game, state: MirrorProxState, incumbent: Incumbent) -> MirrorProxState:
        state = self._moved(game, state)
        if state.finished or not state.restarts.to_check:
            return state
        return self._checked(game, state, incumbent)

    def _moved(self, game: Game, state: MirrorProxState) -> MirrorProxState:
        """One accepted round."""
        now, side, omega, eta = state.now, state.side, state.omega, state.eta
        slope = now.prices / side.scale
        for _ in range(60):
            middle = Mirrored.at(game, side, now.L + (eta * omega) * now.image, now.log - (eta / omega) * slope)
            L = now.L + (eta * omega) * middle.image
            log = now.log - (eta / omega) * (middle.prices / side.scale)
            after = Mirrored.at(game, side, L, log)
            gained = (after.phi - now.phi) / omega + omega * (after.phi_y - now.phi_y)
            regret = gained - eta * (inner(middle.image, middle.X) - float(middle.prices @ middle.y))
            if not math.isfinite(regret):
                return replace(state, proposals=(), finished="the iterates are not finite: numerical limit")
            allowance = 1e-14 * (abs(now.phi) / omega + omega * abs(now.phi_y) + eta * game.scale)
            if regret <= allowance:
                break
            eta /= 2
        else:
            return replace(state, proposals=(), finished="no step is short enough: numerical limit")
        return replace(
            state,
            proposals=(),
            now=after,
            last=middle,
            eta=1.2 * eta,
            mass=state.mass + eta,
            sum_L=state.sum_L + eta * middle.L,
            sum_log=state.sum_log + eta * middle.log,
            sum_X=state.sum_X + eta * middle.X,
            sum_y=state.sum_y + eta * middle.y,
            restarts=state.restarts.moved(),
        )

    def _checked(self, game: Game, state: MirrorProxState, incumbent: Incumbent) -> MirrorProxState:
        average = Mirrored.at(game, state.side, state.sum_L / state.mass, state.sum_log / state.mass)
        better, width = min(((p, p.width(game)) for p in (state.last, average)), key=lambda pair: pair[1])
        restarts = state.restarts.checked(width)
        finished = rounded_out(game, better.y, incumbent) or restarts.stalled
        shown = (Proposal(better.X, better.y), Proposal(state.sum_X / state.mass, state.sum_y / state.mass))
        state = replace(state, restarts=restarts, proposals=shown, finished=finished)
        if finished or not restarts.due:
            return state
        start = state.start  # divergences are squares of distances
        moved_X = start.phi - better.phi - inner(better.X, start.L - better.L)
        moved_y = start.phi_y - better.phi_y - float(better.u @ (start.log - better.log))
        omega = rebalanced(state.omega, math.sqrt(max(moved_X, 0.0)), math.sqrt(max(moved_y, 0.0)))
        # what is trimmed away is worth a hundredth of the width at most, all experts together
        experts = game.S.dimension + game.Y.size
        depth = math.log(100 * experts * (1 + game.scale / max(width, 1e-16 * game.scale)))
        fresh = Mirrored.at(game, state.side, trimmed(game.S, better.L, depth), state.side.trimmed(better.log, depth))
        after = self._started(game, state.side, fresh, state.eta, omega, restarts.started(width))
        return replace(after, proposals=shown)
