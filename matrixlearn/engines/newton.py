"""The Newton system of the interior-point method: the HKM direction for a spectral game.

In the notation of `engines.interior_point`, the HKM direction solves X_k S_k = mu I linearized as

    X_k + dX_k = mu S_k^{-1} - sym(X_k dS_k S_k^{-1}) - (second order),   dS_k = dt I + s_k A(dy),

which leaves one positive definite system of order m + 1,

    [ H + D   h       ] [dy]         H   = sum_k schur(X_k, S_k^{-1})
    [ h^T     h_t     ] [dt] = ...   h_j = <A_j, sum_k s_k sym(X_k S_k^{-1})>

with D from the bounds on y. For rank-one A_j, H is four products and an entrywise one; where rows share their A_j, as
the two of an equality do, it has one line for each A_j (`engines.schur.FoldedSystem`), and where
there are more rows than dimensions of the symmetric matrices, one for each of those (`SpannedSystem`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from matrixlearn._array import identity
from matrixlearn.engines.base import Proposal, State
from matrixlearn.engines.schur import LinearSystem, linear_system
from matrixlearn.linalg import cholesky, inner, inverse_factor, inverse_from, max_step, sym, trace
from matrixlearn.linalg.moments import Moments
from matrixlearn.problems.base import Problem
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import ScaledSimplex
from matrixlearn.typing import Array


@dataclass(frozen=True)
class Scalars:
    """The multipliers p, q of the bounds on y, theta of the row and x_0 of t >= 0."""

    p: np.ndarray
    q: np.ndarray
    theta: float
    x0: float


def slacks(problem: SpectralGame, y: np.ndarray, t: float) -> list[Array]:
    """S_k = t I - s_k (C - A(y))."""
    F = problem.forward(y)
    shift = t * identity(problem.spectral_set.n, F)
    return [shift - sign * F for sign in problem.spectral_set.signs]


@dataclass(frozen=True)
class Factors:
    """S_k, and the Cholesky factors of X_k and S_k, None where one is not positive definite."""

    S: list[Array]
    of_X: list[Array]
    of_S: list[Array]

    @classmethod
    def of(cls, problem: SpectralGame, state: InteriorState) -> Factors:
        S = slacks(problem, state.y, state.t)
        return cls(S, [cholesky(x) for x in state.X], [cholesky(s) for s in S])

    @property
    def definite(self) -> bool:
        return all_definite(self.of_X) and all_definite(self.of_S)


def all_definite(factors: Sequence[Array | None]) -> bool:
    """Whether every Cholesky factorization succeeded."""
    return all(factor is not None for factor in factors)


@dataclass(frozen=True)
class InteriorState(State):
    """A strictly feasible pair."""

    X: tuple[Array, ...] = ()
    y: np.ndarray = field(default_factory=lambda: np.zeros(0))
    t: float = 0.0
    scalars: Scalars | None = None
    factors: Factors | None = None
    width: float = np.inf
    """upper - lower when it last fell by a tenth; not the relative gap, which is 1 while lower is 0."""
    idle: int = 0
    """Iterations since then."""

    def proposal(self, problem: SpectralGame) -> Proposal:
        """X and y, with what the factors prove of them."""
        factors, proof = self.factors, None
        if factors is not None and factors.definite:
            proof = problem.bounds_from_interior(self.X, factors.S, self.y, self.t)
        return Proposal(signed_sum(problem, self.X), self.y, proof)


def mixed(a: InteriorState, b: InteriorState, k: float) -> InteriorState:
    """k a + (1 - k) b, without their factors: as feasible as the two are."""
    p, q = a.scalars, b.scalars
    assert p is not None and q is not None
    return replace(
        b,
        X=tuple(k * x + (1 - k) * z for x, z in zip(a.X, b.X, strict=True)),
        y=k * a.y + (1 - k) * b.y,
        t=k * a.t + (1 - k) * b.t,
        scalars=Scalars(*(k * getattr(p, f.name) + (1 - k) * getattr(q, f.name) for f in fields(Scalars))),
    )


@dataclass(frozen=True)
class Direction:
    """A step in every variable."""

    X: list[Array]
    S: list[Array]
    y: np.ndarray
    t: float
    scalars: Scalars


def lacking_interior(name: str, problem: Problem) -> str:
    """What an interior method lacks of a problem: empty where it has a matrix and a bounded Y with an interior."""
    if not isinstance(problem, SpectralGame):
        return f"{name} solves spectral games: subclass matrixlearn.problem.SpectralGame"
    if isinstance(problem.spectral_set, ScaledSimplex):
        return f"{name} works on matrices; use mmw for a diagonal game"
    Y = problem.dual_set
    if not Y.is_bounded:
        return f"{name} needs a bounded set of multipliers Y, through a strictly feasible point"
    if np.isfinite(Y.row_lower) and Y.row_lower != Y.row_upper:
        return f"{name} takes the row of Y as an equality or as w.y <= K"
    center = Y.center()
    if not np.all((Y.lower < center) & (center < Y.upper)):
        return f"{name} needs a Y with an interior: some y_j can take one value only"
    return ""


def signed_sum(problem: SpectralGame, X: Sequence[Array]) -> Array:
    """sum_k s_k X_k over the signs of S."""
    out = X[0]  # the first sign is +1
    for sign, part in zip(problem.spectral_set.signs[1:], X[1:], strict=True):
        out = out + sign * part
    return out


@dataclass
class NewtonSystem:
    """The linearized optimality conditions at one state, factorized."""

    problem: SpectralGame
    state: InteriorState
    S: list[Array]
    inverse_S_factor: list[Array]
    inverse_X_factor: list[Array]
    inverse_S: list[Array]
    moments: list[Moments]
    """At X_k and S_k^{-1}."""
    schur: LinearSystem
    row_slack: float

    @classmethod
    def at(cls, problem: SpectralGame, state: InteriorState) -> NewtonSystem | None:
        """Factorize; None where a matrix is not numerically positive definite, or rounding has put y on a bound."""
        spectral, Y = problem.spectral_set, problem.dual_set
        factors = state.factors or Factors.of(problem, state)
        inside = bool(np.all((Y.lower < state.y) & (state.y < Y.upper)))
        if not (inside and factors.definite):
            return None
        inverse_S_factor = [inverse_factor(factor) for factor in factors.of_S]
        inverse_X_factor = [inverse_factor(factor) for factor in factors.of_X]
        inverse_S = [inverse_from(factor) for factor in inverse_S_factor]
        every = [problem.moments(x, s) for x, s in zip(state.X, inverse_S, strict=True)]
        k, fold = len(every[0].product), every[0].fold
        core = np.empty((k + 1, k + 1))
        core[:k, :k] = sum(moments.second for moments in every)
        core[:k, k] = sum(sign * moments.product for sign, moments in zip(spectral.signs, every, strict=True))
        core[k, :k] = core[:k, k]
        scalars = state.scalars
        assert scalars is not None
        core[k, k] = sum(inner(x, s) for x, s in zip(state.X, inverse_S, strict=True))
        if spectral.slack:
            core[k, k] += scalars.x0 / state.t
        above = Y.upper - state.y
        capped = np.isfinite(above)
        diagonal = scalars.p / (state.y - Y.lower) + np.where(capped, scalars.q / np.where(capped, above, 1.0), 0.0)
        schur = linear_system(core, diagonal, fold)
        if schur is None:
            return None
        row_slack = np.inf
        if Y.weights is not None and Y.row_lower != Y.row_upper:
            row_slack = Y.row_upper - float(Y.weights @ state.y)
        return cls(problem, state, factors.S, inverse_S_factor, inverse_X_factor, inverse_S, every, schur, row_slack)

    # -- complementarity --------------------------------------------------------------------------

    def complementarity(self) -> float:
        """mu, the mean of all complementary products."""
        state, z, Y, S = self.state, self.state.scalars, self.problem.dual_set, self.problem.spectral_set
        assert z is not None
        capped = np.isfinite(Y.upper)
        total = float(z.p @ (state.y - Y.lower)) + float(z.q[capped] @ (Y.upper - state.y)[capped])
        total += sum(inner(x, s) for x, s in zip(state.X, self.S, strict=True))
        count = len(state.y) + int(capped.sum()) + S.dimension
        if S.slack:
            total += z.x0 * state.t
        if np.isfinite(self.row_slack):
            total += z.theta * self.row_slack
            count += 1
        return total / count

    def _scalars(self, d: Direction, a: float) -> Scalars:
        z, dz = self.state.scalars, d.scalars
        assert z is not None
        return Scalars(z.p + a * dz.p, z.q + a * dz.q, z.theta + a * dz.theta, z.x0 + a * dz.x0)

    # -- the direction ----------------------------------------------------------------------------

    def predictor(self) -> Direction:
        """The HKM direction towards the boundary, mu = 0."""
        m = len(self.state.y)
        return self._direction([], np.zeros(m), np.zeros(m), 0.0, 0.0)

    def corrector(self, mu: float, before: Direction) -> Direction:
        """The HKM direction towards mu, with the second-order term of the predictor."""
        Y, z = self.problem.dual_set, before.scalars
        second = self._of_moments("times_V", before.t, before.y, before.S)
        K = [mu * inverse - sym(dx @ ds) for inverse, dx, ds in zip(self.inverse_S, before.X, second, strict=True)]
        row = 0.0 if Y.weights is None else z.theta * float(Y.weights @ before.y)
        q_target = np.where(np.isfinite(Y.upper), mu + z.q * before.y, 0.0)
        return self._direction(K, mu - z.p * before.y, q_target, mu - z.x0 * before.t, mu + row)

    def _direction(
        self, K: list[Array], p_target: np.ndarray, q_target: np.ndarray, x_target: float, theta_target: float
    ) -> Direction:
        """The direction on which X_k S_k is K_k S_k, p (y - l) is p_target, and so on, to first order; no K is 0."""
        problem, state, z = self.problem, self.state, self.state.scalars
        spectral, Y = problem.spectral_set, problem.dual_set
        assert z is not None
        below = state.y - Y.lower
        capped = np.isfinite(Y.upper)
        above = np.where(capped, Y.upper - state.y, 1.0)
        kp, kq = p_target / below, q_target / above
        rhs = np.empty(len(below) + 1)
        rhs[:-1] = kp - kq - problem.offset
        rhs[-1] = -spectral.trace
        if K:
            rhs[:-1] += problem.adjoint(signed_sum(problem, K))
            rhs[-1] += sum(trace(k) for k in K)
        if spectral.slack:
            rhs[-1] += x_target / state.t
        theta_new = 0.0
        if np.isfinite(self.row_slack):
            assert Y.weights is not None
            # theta_new = (theta_target + theta w.dy) / row_slack
            solution, theta_new = self.schur.solve_on_row(
                rhs, np.append(Y.weights, 0.0), -theta_target / z.theta, self.row_slack / z.theta
            )
        elif Y.weights is not None:
            missing = Y.row_upper - float(Y.weights @ state.y)
            solution, theta_new = self.schur.solve_on_row(rhs, np.append(Y.weights, 0.0), missing)
        else:
            solution = self.schur.solve(rhs)
        dy, dt = solution[:-1], float(solution[-1])
        A_dy = problem.apply(dy)
        eye = identity(spectral.n, A_dy)
        dS = [dt * eye + sign * A_dy for sign in spectral.signs]
        dX = [-x - sym(part) for x, part in zip(state.X, self._of_moments("between", dt, dy, dS), strict=True)]
        if K:
            dX = [dx + k for dx, k in zip(dX, K, strict=True)]
        scalars = Scalars(
            p=kp - z.p * dy / below - z.p,
            q=np.where(capped, kq + z.q * dy / above - z.q, 0.0),
            theta=theta_new - z.theta,
            x0=(x_target / state.t - z.x0 * dt / state.t - z.x0) if spectral.slack else 0.0,
        )
        return Direction(dX, dS, dy, dt, scalars)

    def _of_moments(self, name: str, dt: float, dy: np.ndarray, dS: list[Array]) -> list[Array]:
        """``between`` (X_k dS_k S_k^{-1}) or ``times_V`` (dS_k S_k^{-1}), for each dS_k = dt I + s_k A(dy)."""
        fold = self.moments[0].fold
        y = dy if fold is None else fold.summed(dy)
        signs = self.problem.spectral_set.signs
        return [getattr(at, name)(dt, s * y, ds) for at, s, ds in zip(self.moments, signs, dS, strict=True)]

    # -- steps ------------------------------------------------------------------------------------

    def step_lengths(self, d: Direction) -> tuple[float, float]:
        """The longest steps in (X, p, q, theta, x_0) and in (y, t) that stay strictly feasible."""
        state, z, Y = self.state, self.state.scalars, self.problem.dual_set
        assert z is not None
        a_x = min(max_step(f, dx) for f, dx in zip(self.inverse_X_factor, d.X, strict=True))
        a_s = min(max_step(f, ds) for f, ds in zip(self.inverse_S_factor, d.S, strict=True))
        capped = np.isfinite(Y.upper)
        a_x = min(a_x, longest(z.p, d.scalars.p), longest(z.q[capped], d.scalars.q[capped]))
        a_s = min(a_s, longest(state.y - Y.lower, d.y), longest((Y.upper - state.y)[capped], -d.y[capped]))
        if self.problem.spectral_set.slack:
            a_x = min(a_x, longest(np.array([z.x0]), np.array([d.scalars.x0])))
            a_s = min(a_s, longest(np.array([state.t]), np.array([d.t])))
        if np.isfinite(self.row_slack):
            assert Y.weights is not None
            a_x = min(a_x, longest(np.array([z.theta]), np.array([d.scalars.theta])))
            a_s = min(a_s, longest(np.array([self.row_slack]), np.array([-float(Y.weights @ d.y)])))
        return a_x, a_s

    def moved(self, d: Direction, a_x: float, a_s: float) -> InteriorState:
        """The state after the step, shortened until both sides are positive definite: the step lengths
        for matrices are estimates.
        """
        for _ in range(20):
            moved = self._moved(d, a_x, a_s)
            factors = Factors.of(self.problem, moved)
            if factors.definite:
                break
            a_x = a_x if all_definite(factors.of_X) else 0.7 * a_x
            a_s = a_s if all_definite(factors.of_S) else 0.7 * a_s
        return replace(moved, factors=factors)

    def _moved(self, d: Direction, a_x: float, a_s: float) -> InteriorState:
        state = self.state
        return InteriorState(
            X=tuple(sym(x + a_x * dx) for x, dx in zip(state.X, d.X, strict=True)),
            y=state.y + a_s * d.y,
            t=state.t + a_s * d.t,
            scalars=self._scalars(d, a_x),
        )


def longest(value: np.ndarray, change: np.ndarray) -> float:
    """The largest a with value + a change >= 0, for value > 0; infinite values are no obstacle."""
    falling = change < 0
    return float(np.min(-value[falling] / change[falling])) if np.any(falling) else float("inf")
