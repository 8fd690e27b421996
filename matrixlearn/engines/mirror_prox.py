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
better of the last and this average becomes the start as in `engines.pdhg`; then omega moves half way to where both
sides have moved alike.

Y is measured by the entropy sum_j a_j u_j log u_j, u = w o y, where it is a simplex without caps; a_j = ||A_j|| / w_j
over its mean: long points take shorter steps (to 10 % on real reviews in 1.8 s instead of 7.7). Elsewhere by the
Euclidean norm of z = d o y, d_j = ||A_j||. Two eigendecompositions a round.

References
----------
Nemirovski (2004); Nesterov (2007), "Dual extrapolation and its applications"; Applegate et al. (2021), restarts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, zeros
from matrixlearn.engines.base import Engine, Incumbent, Proposal, State
from matrixlearn.engines.mirror import next_check
from matrixlearn.engines.saddle import ScaledSet, diameter, metric, proven_width, refusal
from matrixlearn.engines.smoothing import soft_response
from matrixlearn.linalg import adjoint, eigh, inner, sym
from matrixlearn.problems.base import Problem
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array

PATIENCE = 2000
"""Rounds without progress, more than all before them, after which no more is expected."""


class VectorSide(Protocol):
    """How Y is measured, in coordinates u conjugate to phi_Y."""

    @property
    def scale(self) -> np.ndarray:
        """u = scale o y."""

    def response(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        """(phi_Y(l), u(l) its gradient)."""

    def log_of(self, u: np.ndarray) -> np.ndarray:
        """An l with u(l) = u, or nearly where u is on the boundary."""

    def trimmed(self, log: np.ndarray, depth: float) -> np.ndarray:
        """An l with the same u(l) but for exp(-depth), and no coordinate further below."""

    @property
    def range(self) -> float:
        """About how far a point can be from the centre."""


@dataclass(frozen=True, eq=False)
class EuclideanSide:
    """h(z) = ||z||^2 / 2, z = d o y."""

    scaled: ScaledSet
    range: float

    @property
    def scale(self) -> np.ndarray:
        return self.scaled.d

    def response(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        z = self.scaled.nearest(log)
        return float(log @ z) - float(z @ z) / 2, z

    def log_of(self, u: np.ndarray) -> np.ndarray:
        return u

    def trimmed(self, log: np.ndarray, depth: float) -> np.ndarray:
        return self.scaled.nearest(log)


@dataclass(frozen=True, eq=False)
class EntropicSide:
    """h(u) = sum_j a_j u_j (log u_j - 1) on {u >= 0, sum u = T}, or <= T where ``slack``; u = w o y.

    phi(l) = min over k (>= 0 where slack) of k T + sum_j a_j exp((l_j - k) / a_j),   u_j = exp((l_j - k) / a_j).
    """

    scale: np.ndarray
    a: np.ndarray
    total: float
    slack: bool

    @property
    def range(self) -> float:
        return self.total * math.log(len(self.a) + 1)

    def response(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        k = self._multiplier(log)
        u = np.exp((log - k) / self.a)
        return k * self.total + float(self.a @ u), u

    def trimmed(self, log: np.ndarray, depth: float) -> np.ndarray:
        k = self._multiplier(log)
        least = self.a * (math.log(self.total) - depth)
        return np.maximum(log - k, least) + (k if self.slack else 0.0)

    def _multiplier(self, log: np.ndarray) -> float:
        """k, by Newton's method on log sum exp((l - k) / a) = log T: convex and falling, from the left monotone."""
        a, T = self.a, self.total
        k = float(np.max(log - a * math.log(T)))
        for _ in range(100):
            e = (log - k) / a
            top = float(np.max(e))
            w = np.exp(e - top)
            total = float(w.sum())
            step = (top + math.log(total) - math.log(T)) * total / float((w / a).sum())
            k += step
            if step <= 1e-15 * (abs(k) + float(np.max(np.abs(log)))):
                break
        return max(k, 0.0) if self.slack else k

    def log_of(self, u: np.ndarray) -> np.ndarray:
        least = 1e-3 * self.total / len(u)
        return self.a * np.log((1 - 1e-3) * u + least)


def vector_side(game: SpectralGame) -> VectorSide:
    """The measure that suits Y."""
    Y, d = game.dual_set, metric(game)
    simplex = Y.weights is not None and np.all(np.isinf(Y.upper)) and np.all(Y.lower == 0)
    if simplex and (Y.row_lower == Y.row_upper or Y.row_lower <= 0) and Y.row_upper > 0:
        assert Y.weights is not None
        a = d / Y.weights
        return EntropicSide(Y.weights, a / np.mean(a), Y.row_upper, Y.row_lower < Y.row_upper)
    return EuclideanSide(ScaledSet.of(Y, d), diameter(Y, d) ** 2 / 2)


@dataclass(frozen=True)
class Mirrored:
    """The logarithms, what they stand for, and its images."""

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
    def at(cls, game: SpectralGame, side: VectorSide, L: Array, log: np.ndarray) -> Mirrored:
        phi, X = soft_response(game.spectral_set, L, 1.0)
        phi_y, u = side.response(log)
        y = u / side.scale
        return cls(L, log, phi, phi_y, X, u, y, game.forward(y), game.offset - game.adjoint(X))

    def width(self, game: SpectralGame) -> float:
        """`proven_width`."""
        return proven_width(game, self.X, self.y, self.image)


@dataclass(frozen=True)
class MirrorProxState(State):
    """The iterate, the start, and sums weighted by eta since then."""

    now: Mirrored = None  # type: ignore[assignment]
    start: Mirrored = None  # type: ignore[assignment]
    last: Mirrored = None  # type: ignore[assignment]
    """The middle of the last round."""
    side: VectorSide = None  # type: ignore[assignment]
    eta: float = 1.0
    omega: float = 1.0
    mass: float = 0.0
    sum_L: Array = None
    sum_log: np.ndarray = None  # type: ignore[assignment]
    sum_X: Array = None
    sum_y: np.ndarray = None  # type: ignore[assignment]
    rounds: int = 0
    since: int = 0
    check_at: int = 1
    width_at_start: float = math.inf
    width_before: float = math.inf
    best: float = math.inf
    quiet: int = 0


@dataclass(frozen=True)
class MirrorProx(Engine):
    """Entropic mirror-prox with restarts, for every spectral game with a bounded Y.

    Parameters
    ----------
    sufficient, necessary, artificial : float
        When to restart, as in `HybridGradient`.
    checks : int
        At most so many rounds between two checks.
    """

    sufficient: float = 0.2
    necessary: float = 0.8
    artificial: float = 0.36
    checks: int = 50

    name = "mirror-prox"

    def supports(self, problem: Problem) -> str:
        return refusal(self.name, problem)

    def init(self, problem: SpectralGame, incumbent: Incumbent) -> MirrorProxState:
        side = vector_side(problem)
        y = problem.dual_set.center() if incumbent.y is None else incumbent.y
        L = zeros(tuple(problem.cost.shape), problem.cost)
        now = Mirrored.at(problem, side, L, side.log_of(side.scale * y))
        S = problem.spectral_set
        omega = math.sqrt(S.trace * math.log(S.dimension + 1) / side.range) if side.range > 0 else 1.0
        width = now.width(problem)
        eta = 1.0 / max(omega * problem.scale / S.trace, 1e-300)
        state = MirrorProxState(side=side, eta=eta, omega=omega, best=width)
        return self._restarted(problem, state, now, width)

    @staticmethod
    def _restarted(game: SpectralGame, state: MirrorProxState, start: Mirrored, width: float) -> MirrorProxState:
        nothing, none = zeros(tuple(game.cost.shape), game.cost), np.zeros(game.dual_set.size)
        return replace(
            state,
            now=start,
            start=start,
            last=start,
            mass=0.0,
            sum_L=nothing,
            sum_X=nothing,
            sum_log=none,
            sum_y=none,
            since=0,
            check_at=1,
            width_at_start=width,
            width_before=width,
        )

    def step(self, problem: SpectralGame, state: MirrorProxState, incumbent: Incumbent) -> MirrorProxState:
        state = self._moved(problem, state)
        if state.finished or state.since < state.check_at:
            return state
        return self._checked(problem, state, incumbent)

    def _moved(self, game: SpectralGame, state: MirrorProxState) -> MirrorProxState:
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
            rounds=state.rounds + 1,
            since=state.since + 1,
        )

    def _checked(self, game: SpectralGame, state: MirrorProxState, incumbent: Incumbent) -> MirrorProxState:
        average = Mirrored.at(game, state.side, state.sum_L / state.mass, state.sum_log / state.mass)
        better, width = min(((p, p.width(game)) for p in (state.last, average)), key=lambda pair: pair[1])
        improved = width < 0.9 * state.best
        state = replace(
            state,
            proposals=(Proposal(better.X, better.y), Proposal(state.sum_X / state.mass, state.sum_y / state.mass)),
            check_at=min(next_check(state.since), state.since + self.checks),
            best=width if improved else state.best,
            quiet=state.rounds if improved else state.quiet,
        )
        if incumbent.upper - incumbent.lower <= 4 * game.rounding(better.y):
            return replace(state, finished="the bounds differ by their allowance for rounding: numerical limit")
        if state.rounds > 2 * state.quiet + PATIENCE:
            return replace(
                state, finished=f"the gap has not moved for {state.rounds - state.quiet} rounds: numerical limit"
            )
        due = (
            width <= self.sufficient * state.width_at_start
            or (width <= self.necessary * state.width_at_start and width > state.width_before)
            or state.since >= max(self.artificial * state.rounds, 10)
        )
        if not due:
            return replace(state, width_before=width)
        start, omega = state.start, state.omega
        moved_X = start.phi - better.phi - inner(better.X, start.L - better.L)
        moved_y = start.phi_y - better.phi_y - float(better.u @ (start.log - better.log))
        if moved_X > 0 and moved_y > 0:
            omega = math.sqrt(omega * math.sqrt(moved_X / moved_y))
        # what is trimmed away is worth a hundredth of the width at most, all experts together
        experts = game.spectral_set.dimension + game.dual_set.size
        depth = math.log(100 * experts * (1 + game.scale / max(width, 1e-16 * game.scale)))
        fresh = Mirrored.at(
            game, state.side, trimmed(game.spectral_set, better.L, depth), state.side.trimmed(better.log, depth)
        )
        return self._restarted(game, replace(state, omega=omega), fresh, width)


def trimmed(S: SpectralSet, L: Array, depth: float) -> Array:
    """L with the same X(L) but for exp(-depth), and no expert further below the best."""

    def of(w: np.ndarray) -> np.ndarray:
        if len(S.signs) == 2:  # experts w and -w: shrink both towards 0
            return np.sign(w) * np.maximum(np.abs(w) - max(float(np.max(np.abs(w))) - depth, 0.0), 0.0)
        top = float(np.max(w))
        shift = max(top - depth, 0.0) if S.slack else top  # the expert of a slack trace stays at 0
        return np.maximum(w - shift, (max(top - shift, 0.0) if S.slack else 0.0) - depth)

    if L.ndim == 1:
        return from_numpy(of(as_numpy(L)), L)
    pairs = [eigh(L[block, block]) for block in S.slices()]
    w = from_numpy(of(np.concatenate([as_numpy(w) for w, _ in pairs])), L)
    out = zeros(tuple(L.shape), L)
    for block, (_, V) in zip(S.slices(), pairs, strict=True):
        out[block, block] = sym((V * w[block]) @ adjoint(V))
    return out
