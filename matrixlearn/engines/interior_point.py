"""Primal-dual interior point for games, with Mehrotra's predictor and corrector.

The game is the pair of programs (s_k the signs of S; t >= 0 and x_0 only where Tr X <= R)

    min  c.y + R t      S_k = t I - s_k (C - A(y)) >= 0,   l <= y <= u,   w.y = T (or <= K)
    max  <C, X> + ...   X = sum_k s_k X_k,   X_k >= 0,     sum_k Tr X_k + x_0 = R,
                        c_j - <A_j, X> - p_j + q_j + theta w_j = 0,      p, q (, theta) >= 0

Where Y is bounded both have strictly feasible points that are written down at once, so every iterate carries a bound on
either side, which the Cholesky factorizations that it takes anyway prove (`problems.bounds`); all
eigenvalues are computed where they can decide. Where it is not, as for the constraints of a `LinearSDP`, (X, p, q)
starts without its equation: a step takes a fraction 1 - a off what is missing, a whole one all of it; y, t and S are
feasible, and bound the optimum, from the first. Each iteration takes a predictor step towards the boundary and the
corrector of its second-order term (`engines.newton`). Per iteration and sign: two Cholesky factorizations at the new
point, two triangular inverses, two Lanczos runs for the step lengths, and some ten products; one Cholesky factorization
of order m + 1, or of the order of the symmetric matrices where these are fewer.

References
----------
Helmberg, Rendl, Vanderbei and Wolkowicz (1996); Kojima, Shindoh and Hara (1997); Monteiro (1997);
Mehrotra (1992).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn._array import as_numpy, identity
from matrixlearn.engines.base import GameEngine
from matrixlearn.engines.incumbent import Incumbent, Proposal, updated
from matrixlearn.engines.interior_state import InteriorState, Scalars
from matrixlearn.engines.newton import NewtonSystem, lacking_interior
from matrixlearn.engines.schur import TINY
from matrixlearn.engines.warm import warmer
from matrixlearn.linalg import trace
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.game import Game
from matrixlearn.sets import ScaledSimplex
from matrixlearn.typing import Array

CLOSE, CLOSEST = 0.95, 0.98
"""The fraction of the way to the boundary that a step may go; the latter where the way is nearly that of the whole
step.
"""

SIGMA = 0.01
"""The part of mu that the corrector aims at. Feasible from the start, the predictor's dX and dS are orthogonal: a whole
step would end at mu = 0, and says nothing. Measured beside Mehrotra's rule and others, which ask for the predictor's
step lengths: fewer iterations by a twentieth.
"""

SHORT, CENTRED = 0.1, 0.3
"""Where the corrector leaves less of the way than this, it aims at this part of mu instead."""

WHOLE = 0.1
"""The least part of mu to aim at until a whole step has closed the equation of X: 1 / (1 - 0.1) of a step is then free
near the end, where an aim of 0.01 would leave as much of what is missing as of mu, for ever.
"""

PATIENCE = 12
"""Iterations without progress after which more cannot be expected of double precision."""


@dataclass(frozen=True)
class InteriorPoint(GameEngine):
    """Primal-dual interior point; what ``auto`` picks for games."""

    name = "interior-point"

    def objection_to(self, game: Game) -> str:
        return "" if _is_open(game) else super().objection_to(game) or lacking_interior(self.name, game)

    # -- start ------------------------------------------------------------------------------------

    def init(self, game: Game, incumbent: Incumbent) -> InteriorState:
        S, Y = game.S, game.Y
        y = self._first_y(game)
        eigenvalues = S.eigenvalues(game.image(y))
        largest = S.support_of(eigenvalues) / S.trace
        spread = max(float(np.max(np.abs(as_numpy(eigenvalues)))), abs(largest), game.scale / S.trace)
        t = largest + spread
        share, R = (S.trace / S.dimension, S.trace) if Y.is_bounded else (S.trace / S.n, 2 * ROOM * S.trace)
        X = tuple(share * identity(block.size, game.C) for block in semidefinite_blocks(game))
        cold = self._state_at(game, X, y, t, share * spread, R)
        return warmer(game, cold, incumbent, self._state_at)

    @staticmethod
    def _proposal(game: Game, state: InteriorState, mu: float) -> Proposal:
        """The points, with the gap that mu stands for."""
        shown, z = state.proposal(game), state.scalars
        if z is None:
            return shown
        return replace(shown, gap=mu * (len(z.p) + len(z.q) + game.S.dimension))

    @staticmethod
    def _state_at(game: Game, X: tuple[Array, ...], y: np.ndarray, t: float, mu: float, R: float) -> InteriorState:
        """The state at X, y and t whose other products are about mu; feasible where Y is bounded."""
        S, Y = game.S, game.Y
        x0 = 0.0 if Y.is_bounded and not S.slack else R - sum(trace(x) for x in X)
        g = game.prices(assembled(semidefinite_blocks(game), X, S.n))
        least, above = mu / np.maximum(y - Y.lower, TINY), mu / np.maximum(Y.upper - y, TINY)
        if not Y.is_bounded:
            p, q = np.maximum(g, least)[Y.floored], np.maximum(-g, above)[Y.capped]
            return InteriorState(X=X, y=y, t=t, scalars=Scalars(p, q, 0.0, x0), trace=R)
        theta, free = Y.multiplier(g), np.isinf(Y.upper)
        if Y.weights is not None:
            if np.any(free):
                theta = float(np.max(((least - g) / Y.weights)[free]))
            if Y.row_lower != Y.row_upper:
                theta = max(theta, mu / max(Y.row_upper - float(Y.weights @ y), TINY))
            g = g + theta * Y.weights
        p = np.where(free, g, np.maximum(least, g + above))
        q = (p - g)[Y.capped]
        return InteriorState(X=X, y=y, t=t, scalars=Scalars(p, q, theta, x0), trace=R)

    @staticmethod
    def _first_y(game: Game) -> np.ndarray:
        """The centre of Y; where Y has none, or ends in a mere bound w.y <= K, no larger than its matrices ask for."""
        Y = game.Y
        norms = game.A.norms
        size = game.cost_norm or (0.0 if Y.is_bounded else float(np.max(norms)) or 1.0)
        usual = size / (Y.size * np.where(norms > 0, norms, np.inf))
        if not Y.is_bounded:
            middle = np.where(np.isfinite(Y.upper), (np.maximum(Y.lower, Y.upper - 1) + Y.upper) / 2, 0.0)
            above = np.where(np.isfinite(Y.lower), Y.lower + np.where(usual > 0, usual, 1.0), middle)
            return np.where(above < Y.upper, above, middle)
        y = Y.center()
        if Y.row_lower == Y.row_upper or game.cost_norm == 0:
            return y
        return np.where(usual > 0, np.minimum(y, Y.lower + usual), y)

    # -- one iteration ----------------------------------------------------------------------------

    def step(self, game: Game, state: InteriorState, incumbent: Incumbent) -> InteriorState:
        system = NewtonSystem.at(game, state)
        if system is None:
            return replace(
                state, proposals=(), finished="the iterate met its boundary, or a factorization failed: numerical limit"
            )
        mu, predictor = system.complementarity(), system.predictor()
        missing = 0.0 if game.Y.is_bounded else system.missing()
        closed = missing <= MET
        sigma = SIGMA if closed else system.centring(predictor, mu, WHOLE)
        direction = system.corrector(sigma * mu, predictor)
        if not (np.isfinite(direction.y).all() and np.isfinite(direction.t)):
            return replace(state, proposals=(), finished="the Newton system broke down: numerical limit")
        a_x, a_s = system.step_lengths(direction)
        if min(a_x, a_s) < SHORT:
            direction = system.corrector(CENTRED * mu, predictor)
            a_x, a_s = system.step_lengths(direction)
        closeness = CLOSEST if min(a_x, a_s) > 0.9 else CLOSE
        moved = system.moved(direction, min(1.0, closeness * a_x), min(1.0, closeness * a_s))
        if not game.Y.is_bounded:
            moved = _with_room(moved, state.t)
        width = incumbent.upper - incumbent.lower
        progress = width < 0.9 * state.width or missing < 0.9 * state.missing
        if not game.Y.is_bounded:  # bounds may say little, of points that are nearly right
            least = VANISHED if np.isinf(width) else ROUNDED
            progress = progress or least * game.scale < mu < 0.5 * state.mu
        idle = 0 if progress else state.idle + 1
        finished = f"the gap has not moved for {PATIENCE} iterations: numerical limit" if idle > PATIENCE else ""
        if moved.trace > FARTHEST * game.S.trace:
            finished = "the trace of X grows without end"
        return updated(
            moved,
            width=width if progress else state.width,
            missing=min(missing, state.missing) if progress else state.missing,
            mu=min(mu, state.mu),
            idle=idle,
            proposals=(self._proposal(game, moved, mu * (1 - 0.99 * min(1.0, a_x, a_s))),),
            finished=finished,
        )


MET = 1e-11
"""The part of |b_j| + R ||A_j||_2 that the equation of X may miss and count as met: rounding."""

ROOM = 4.0
"""R is at least this many times Tr X where Y is open: then t = mu / (R - Tr X) is below lambda_min(S), which is about
mu / lambda_max(X), and A(y) - C = S - t I is positive definite by itself."""

FARTHEST = 1e12
"""Times the first R, beyond which X is taken to run away."""


ROUNDED = 1e-18
"""The same, where there are bounds to go by."""

VANISHED = 1e-32
"""Part of the scale below which a smaller mu is no progress: rounding, squared."""


def _with_room(state: InteriorState, before: float) -> InteriorState:
    """The state with a larger R where X has come near it, or t, which is what more of it would be worth, has grown."""
    total, z = sum(trace(x) for x in state.X), state.scalars
    R = max(
        2 * ROOM * total if total * ROOM > state.trace else state.trace, state.trace * (ROOM if state.t > before else 1)
    )
    if state.trace == R or z is None:
        return state
    return updated(state, trace=R, scalars=replace(z, x0=z.x0 + R - state.trace))


def _is_open(game: Game) -> bool:
    """Whether Y has no bound and needs none: X may start anywhere, and is feasible once a whole step has been taken."""
    if isinstance(game.S, ScaledSimplex):
        return False
    Y = game.Y
    return not Y.is_bounded and Y.weights is None and bool(np.all(Y.lower < Y.upper))
