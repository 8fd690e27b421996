"""The Newton system of the interior-point method: the HKM direction for a game.

In the notation of `engines.interior_point`, the HKM direction solves X_k S_k = mu I linearized as

    X_k + dX_k = mu S_k^{-1} - sym(X_k dS_k S_k^{-1}) - (second order),   dS_k = dt I + s_k A(dy),

which leaves one positive definite system of order m + 1,

    [ H + D   h       ] [dy]         H   = sum_k schur(X_k, S_k^{-1})
    [ h^T     h_t     ] [dt] = ...   h_j = <A_j, sum_k s_k sym(X_k S_k^{-1})>

with D from the bounds on y. For rank-one A_j, H is four products and an entrywise one; where there are more rows
than dimensions of the symmetric matrices, it has one line for each of those (`engines.schur.SpannedSystem`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.engines.interior_state import Factors, InteriorState, Scalars, all_definite
from matrixlearn.engines.schur import BorderedSystem, LinearSystem, linear_system
from matrixlearn.linalg import (
    frobenius,
    inner,
    inverse_factor,
    inverse_from,
    max_step,
    plus_identity,
    sym,
    trace,
)
from matrixlearn.maps import NewtonTerms
from matrixlearn.problems.base import INF
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.game import Game
from matrixlearn.sets import ScaledSimplex
from matrixlearn.typing import Array


@dataclass(frozen=True)
class Direction:
    """A step in every variable."""

    X: list[Array]
    S: list[Array]
    y: np.ndarray
    t: float
    scalars: Scalars


def lacking_interior(name: str, game: Game) -> str:
    """What an interior method lacks of a game with a bounded Y: empty where it has a matrix, and Y an interior."""
    if isinstance(game.S, ScaledSimplex):
        return f"{name} works on matrices; use mmw for a diagonal game"
    Y = game.Y
    if np.isfinite(Y.row_lower) and Y.row_lower != Y.row_upper:
        return f"{name} takes the row of Y as an equality or as w.y <= K"
    center = Y.center()
    if not np.all((Y.lower < center) & (center < Y.upper)):
        return f"{name} needs a Y with an interior: some y_j can take one value only"
    return ""


@dataclass
class NewtonSystem:
    """The linearized optimality conditions at one state, factorized."""

    game: Game
    state: InteriorState
    S: list[Array]
    inverse_S_factor: list[Array]
    inverse_X_factor: list[Array]
    inverse_S: list[Array]
    moments: list[NewtonTerms]
    """At X_k and S_k^{-1}."""
    schur: LinearSystem
    on_row: BorderedSystem | None
    """``schur`` with the row of Y."""
    below: np.ndarray
    """y - l, where l is finite."""
    above: np.ndarray
    """u - y, where u is finite."""
    row_slack: float

    @classmethod
    def at(cls, game: Game, state: InteriorState) -> NewtonSystem | None:
        """Factorize; None where a matrix is not numerically positive definite, or rounding has put y on a bound."""
        spectral, Y = game.S, game.Y
        factors = state.factors or Factors.of(game, state.X, state.y, state.t)
        inside = bool(((Y.lower < state.y) & (state.y < Y.upper)).all())
        if not (inside and factors.definite):
            return None
        inverse_S_factor = [inverse_factor(factor) for factor in factors.of_S]
        inverse_X_factor = [inverse_factor(factor) for factor in factors.of_X]
        inverse_S = [inverse_from(factor) for factor in inverse_S_factor]
        every = [_moments(game, k, x, s) for k, (x, s) in enumerate(zip(state.X, inverse_S, strict=True))]
        core, span = _core(game, every), every[0].span
        k = len(core) - 1
        scalars = state.scalars
        assert scalars is not None
        core[k, k] = sum(inner(x, s) for x, s in zip(state.X, inverse_S, strict=True))
        if spectral.slack:
            core[k, k] += scalars.x0 / state.t
        below, above = (state.y - Y.lower)[Y.floored], (Y.upper - state.y)[Y.capped]
        diagonal = np.zeros(len(state.y))
        with np.errstate(over="ignore"):  # an infinite entry ends in a failed factorization
            diagonal[Y.floored] += scalars.p / below
            diagonal[Y.capped] += scalars.q / above

        def noise() -> np.ndarray:
            size = sum(frobenius(x) * frobenius(s) for x, s in zip(state.X, inverse_S, strict=True))
            return np.asarray(spectral.n * EPS * size * game.A.sizes**2)

        schur = linear_system(core, diagonal, span, noise)
        if schur is None:
            return None
        on_row, row_slack = None, INF
        if Y.weights is not None:
            if Y.row_lower != Y.row_upper:
                row_slack = Y.row_upper - float(Y.weights @ state.y)
            compliance = row_slack / scalars.theta if row_slack < INF else 0.0
            on_row = BorderedSystem.of(schur, np.append(Y.weights, 0.0), compliance)
        return cls(
            game,
            state,
            factors.S,
            inverse_S_factor,
            inverse_X_factor,
            inverse_S,
            every,
            schur,
            on_row,
            below,
            above,
            row_slack,
        )

    def missing(self) -> float:
        """The largest part that the equation of X misses of |c_j| + R ||A_j||_2."""
        game, z = self.game, self.state.scalars
        Y, span = game.Y, self.moments[0].span
        assert z is not None
        missing = game.c.copy()
        for block, at in zip(semidefinite_blocks(game), self.moments, strict=True):
            missing[block.rows] -= block.sign * (at.single if span is None else span.spread(at.single))
        missing[Y.floored] -= z.p
        missing[Y.capped] += z.q
        size = np.abs(game.c) + self.state.trace * game.A.norms
        return float(np.max(np.abs(missing) / np.where(size > 0, size, 1.0)))

    # -- complementarity --------------------------------------------------------------------------

    def complementarity(self) -> float:
        """mu, the mean of all complementary products."""
        state, z = self.state, self.state.scalars
        assert z is not None
        return self._mean_product(state.X, self.S, z, self.below, self.above, state.t, self.row_slack)

    def centring(self, predictor: Direction, mu: float, least: float) -> float:
        """The part of mu to aim at, as Mehrotra, by what the predictor's longest step leaves; ``least`` or more."""
        a_x, a_s = (min(1.0, a) for a in self.step_lengths(predictor))
        Y, d, state = self.game.Y, predictor, self.state
        left = self._mean_product(
            [x + a_x * dx for x, dx in zip(state.X, d.X, strict=True)],
            [s + a_s * ds for s, ds in zip(self.S, d.S, strict=True)],
            self._scalars(d, a_x),
            self.below + a_s * d.y[Y.floored],
            self.above - a_s * d.y[Y.capped],
            state.t + a_s * d.t,
            self.row_slack if Y.weights is None else self.row_slack - a_s * float(Y.weights @ d.y),
        )
        share = max(left / mu, 0.0)
        return min(1.0, max(share ** (1.0 if min(a_x, a_s) < 0.3 else 2.0), least))

    def _mean_product(
        self,
        X: Sequence[Array],
        S: Sequence[Array],
        z: Scalars,
        below: np.ndarray,
        above: np.ndarray,
        t: float,
        row_slack: float,
    ) -> float:
        total = float(z.p @ below) + float(z.q @ above) + sum(inner(x, s) for x, s in zip(X, S, strict=True))
        count = len(z.p) + len(z.q) + self.game.S.dimension
        if self.game.S.slack:
            total += z.x0 * t
        if row_slack < INF:
            total += z.theta * row_slack
            count += 1
        return total / count

    def _scalars(self, d: Direction, a: float) -> Scalars:
        z, dz = self.state.scalars, d.scalars
        assert z is not None
        return Scalars(z.p + a * dz.p, z.q + a * dz.q, z.theta + a * dz.theta, z.x0 + a * dz.x0)

    # -- the direction ----------------------------------------------------------------------------

    def predictor(self) -> Direction:
        """The HKM direction towards the boundary, mu = 0."""
        return self._direction([], 0.0, 0.0, 0.0, 0.0)

    def corrector(self, mu: float, before: Direction) -> Direction:
        """The HKM direction towards mu, with the second-order term of the predictor."""
        Y, z = self.game.Y, before.scalars
        second = self._of_moments("times_V", before.t, before.y, before.S)
        K = [mu * inverse - sym(dx @ ds) for inverse, dx, ds in zip(self.inverse_S, before.X, second, strict=True)]
        row = 0.0 if Y.weights is None else z.theta * float(Y.weights @ before.y)
        q_target = mu + z.q * before.y[Y.capped]
        return self._direction(K, mu - z.p * before.y[Y.floored], q_target, mu - z.x0 * before.t, mu + row)

    def _direction(
        self,
        K: list[Array],
        p_target: np.ndarray | float,
        q_target: np.ndarray | float,
        x_target: float,
        theta_target: float,
    ) -> Direction:
        """The direction on which X_k S_k is K_k S_k, p (y - l) is p_target, and so on, to first order; no K is 0."""
        game, state, z = self.game, self.state, self.state.scalars
        spectral, Y = game.S, game.Y
        assert z is not None
        kp, kq = p_target / self.below, q_target / self.above
        rhs = np.append(-game.c, -state.trace)
        rhs[:-1][Y.floored] += kp
        rhs[:-1][Y.capped] -= kq
        if K:
            rhs[:-1] += game.A.adjoint(assembled(semidefinite_blocks(game), K, game.S.n))
            rhs[-1] += sum(trace(k) for k in K)
        if spectral.slack:
            rhs[-1] += x_target / state.t
        theta_new = 0.0
        if self.on_row is None:
            solution = self.schur.solve(rhs)
        elif self.row_slack < INF:
            # theta_new = (theta_target + theta w.dy) / row_slack
            solution, theta_new = self.on_row.solve(rhs, -theta_target / z.theta)
        else:
            assert Y.weights is not None
            solution, theta_new = self.on_row.solve(rhs, Y.row_upper - float(Y.weights @ state.y))
        dy, dt = solution[:-1], float(solution[-1])
        A_dy = game.A.apply(dy)
        dS = [plus_identity(block.sign * block.part(A_dy), dt) for block in semidefinite_blocks(game)]
        dX = [-x - sym(part) for x, part in zip(state.X, self._of_moments("between", dt, dy, dS), strict=True)]
        if K:
            dX = [dx + k for dx, k in zip(dX, K, strict=True)]
        scalars = Scalars(
            p=kp - z.p * dy[Y.floored] / self.below - z.p,
            q=kq + z.q * dy[Y.capped] / self.above - z.q,
            theta=theta_new - z.theta,
            x0=(x_target / state.t - z.x0 * dt / state.t - z.x0) if spectral.slack else 0.0,
        )
        return Direction(dX, dS, dy, dt, scalars)

    def _of_moments(self, name: str, dt: float, dy: np.ndarray, dS: list[Array]) -> list[Array]:
        """``between`` (X_k dS_k S_k^{-1}) or ``times_V`` (dS_k S_k^{-1}), for each dS_k = dt I + s_k A(dy)."""
        span = self.moments[0].span
        y = dy if span is None else span.summed(dy)
        each = zip(semidefinite_blocks(self.game), self.moments, dS, strict=True)
        return [getattr(at, name)(dt, block.sign * y, ds) for block, at, ds in each]

    # -- steps ------------------------------------------------------------------------------------

    def step_lengths(self, d: Direction) -> tuple[float, float]:
        """The longest steps in (X, p, q, theta, x_0) and in (y, t) that stay strictly feasible."""
        state, z, Y = self.state, self.state.scalars, self.game.Y
        assert z is not None
        a_x = min(max_step(f, dx) for f, dx in zip(self.inverse_X_factor, d.X, strict=True))
        a_s = min(max_step(f, ds) for f, ds in zip(self.inverse_S_factor, d.S, strict=True))
        a_x = min(a_x, longest(z.p, d.scalars.p), longest(z.q, d.scalars.q))
        a_s = min(a_s, longest(self.below, d.y[Y.floored]), longest(self.above, -d.y[Y.capped]))
        if self.game.S.slack:
            a_x = min(a_x, longest(z.x0, d.scalars.x0))
            a_s = min(a_s, longest(state.t, d.t))
        if self.row_slack < INF:
            assert Y.weights is not None
            a_x = min(a_x, longest(z.theta, d.scalars.theta))
            a_s = min(a_s, longest(self.row_slack, -float(Y.weights @ d.y)))
        return a_x, a_s

    def moved(self, d: Direction, a_x: float, a_s: float) -> InteriorState:
        """The state after the step, shortened until both sides are positive definite: the step lengths
        for matrices are estimates.
        """
        state = self.state
        for _ in range(20):
            X = tuple(x + a_x * dx for x, dx in zip(state.X, d.X, strict=True))
            y, t = state.y + a_s * d.y, state.t + a_s * d.t
            factors = Factors.of(self.game, X, y, t)
            if factors.definite:
                break
            a_x = a_x if all_definite(factors.of_X) else 0.7 * a_x
            a_s = a_s if all_definite(factors.of_S) else 0.7 * a_s
        return InteriorState(X=X, y=y, t=t, scalars=self._scalars(d, a_x), factors=factors, trace=state.trace)


def longest(value: np.ndarray | float, change: np.ndarray | float) -> float:
    """The largest a with value + a change >= 0, for value > 0."""
    fastest = float(np.min(change / value, initial=0.0))
    return -1.0 / fastest if fastest < 0 else float("inf")


def _moments(game: Game, k: int, X: Array, inverse_S: Array) -> NewtonTerms:
    """Of block k."""
    block = semidefinite_blocks(game)[k]
    return game.A.newton_terms(X, inverse_S) if block.A is None else block.A.plain_newton_terms(X, inverse_S)


def _core(game: Game, every: Sequence[NewtonTerms]) -> np.ndarray:
    """H with its border h, (k + 1, k + 1), but for the corner: the sum over the blocks."""
    blocks = semidefinite_blocks(game)
    m = len(every[0].product) if blocks[0].A is None else len(game.c)
    core = np.zeros((m + 1, m + 1))
    if blocks[0].A is None:
        core[:m, :m] = sum(moments.second for moments in every)
    for block, moments in zip(blocks, every, strict=True):
        if not isinstance(block.rows, slice):
            core[np.ix_(block.rows, block.rows)] += moments.second
        core[:m, m][block.rows] += block.sign * moments.product
    core[m, :m] = core[:m, m]
    return core
