"""The six rows of the table in docs/design.md, each a small problem class, all through one loop.

Every test runs `matrixlearn.engines.run` with `MirrorDescent` (the Arora-Kale row also with the
engine that puts the search for the value around it) and holds the row to the theorem of its paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from matrixlearn import certify, solve
from matrixlearn.engines import Limits, MatrixMultiplicativeWeights, MirrorDescent, Theory, run
from matrixlearn.exponents import ClippedLogDet, DenseExponent, DiagonalExponent, Exponent, SignedExponent, entropy_on
from matrixlearn.maps import DenseMap
from matrixlearn.oracles import Done, Move, SortedListOracle, VertexOracle
from matrixlearn.problems import Bound, Game, GameProblem, Problem
from matrixlearn.sets import KnapsackSet, ScaledSimplex, SpectralBall, Spectraplex

seeds = st.integers(0, 2**32 - 1)
DELTA = 0.5
"""The accuracy of the Arora-Kale runs: T grows as 1 / DELTA^2."""


def play_out(problem, max_iter=math.inf):
    """The loop, until the oracle is done: no gap is at most -1, relative or not."""
    return run(MirrorDescent(), problem, tol=-1.0, atol=-1.0, limits=Limits(max_iter=max_iter))


def symmetric(rng, n):
    A = rng.standard_normal((n, n))
    return (A + A.T) / 2


def density(rng, n):
    A = rng.standard_normal((n, n))
    return A @ A.T / np.trace(A @ A.T)


def entropy(w):
    """sum w log w."""
    return float(np.sum(w[w > 0] * np.log(w[w > 0])))


class Row(Problem):
    """What the rows share: a problem of which the loop needs an exponent, an oracle and `like`."""

    scale = 1.0

    def bound_from_vector(self, y):
        return Bound()

    def reference(self):
        raise NotImplementedError


# -- EG, experts (Hedge): the diagonal exponent -------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Experts(Row):
    """min over x in the simplex of <x, sum_t l_t>, one l_t a round."""

    losses: np.ndarray
    rate: float

    @property
    def like(self):
        return self.losses[0]

    def exponent(self):
        return DiagonalExponent(ScaledSimplex(self.losses.shape[1], 1.0))

    def oracle(self):
        return ExpertStream(self)

    def bound_from_matrix(self, X):
        total = self.losses.sum(axis=0)
        return Bound(point=X, lower=float(total.min()), upper=float(total @ X))


@dataclass(frozen=True, eq=False)
class ExpertStream:
    problem: Experts
    t: int = 0
    paid: float = 0.0

    def __call__(self, x):
        if self.t == len(self.problem.losses):
            return Done("end of stream", evidence=self.paid)
        loss = self.problem.losses[self.t]
        later = replace(self, t=self.t + 1, paid=self.paid + float(loss @ x))
        return Move(loss, step=self.problem.rate, then=later)


@given(seeds, st.integers(1, 8), st.integers(1, 60), st.floats(0.01, 2.0))
def test_hedge_keeps_its_regret_bound(seed, n, rounds, rate):
    losses = np.random.default_rng(seed).uniform(0, 1, (rounds, n))
    done = play_out(Experts(losses, rate))
    paid = done.state.last.answer.evidence
    best = losses.sum(axis=0).min()
    assert done.ended == "end of stream"
    assert done.iterations == rounds + 1
    assert paid <= best + math.log(n) / rate + rate * rounds / 8 + 1e-9
    # the closed form x_T ~ exp(-rate sum l)
    weights = np.exp(-rate * (losses.sum(axis=0) - best))
    np.testing.assert_allclose(done.state.last.X, weights / weights.sum(), rtol=1e-10, atol=1e-12)


@given(seeds, st.integers(1, 6), st.integers(1, 20))
def test_hedge_is_the_matrix_game_with_diagonal_losses(seed, n, rounds):
    rng = np.random.default_rng(seed)
    losses = rng.uniform(-1, 1, (rounds, n))
    turned = np.linalg.qr(rng.standard_normal((n, n)))[0]
    diagonal, dense = DiagonalExponent(ScaledSimplex(n, 1.0)), DenseExponent(Spectraplex(n, 1.0))
    g, G = diagonal.zero(losses[0]), dense.zero(turned)
    for loss in losses:
        g = diagonal.accumulate(g, loss, 0.7)
        G = dense.accumulate(G, turned @ np.diag(loss) @ turned.T, 0.7)
    expected = turned @ np.diag(diagonal(g)) @ turned.T
    np.testing.assert_allclose(dense((G + G.T) / 2), expected, atol=1e-12)


# -- MEG regression: a stream of (X_t, y_t) ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MEGStream(Row):
    """min over density matrices W of sum_t (tr(W X_t) - y_t)^2, one pair a round (002, Section 3)."""

    X: np.ndarray
    y: np.ndarray
    rate: float

    @property
    def like(self):
        return self.X[0]

    @cached_property
    def sym(self):
        return (self.X + self.X.transpose(0, 2, 1)) / 2

    def exponent(self):
        return DenseExponent(Spectraplex(self.X.shape[1], 1.0))

    def oracle(self):
        return Examples(self)

    def loss_of(self, W):
        return float(np.sum((np.einsum("tij,ji->t", self.sym, W) - self.y) ** 2))

    def bound_from_matrix(self, W):
        """L(W) >= L* >= L(W) - <grad, W> + lambda_min(grad), L being convex."""
        value = self.loss_of(W)
        gradient = 2 * np.einsum("t,tij->ij", np.einsum("tij,ji->t", self.sym, W) - self.y, self.sym)
        least = np.linalg.eigvalsh(gradient)[0]
        return Bound(point=W, lower=max(0.0, value - np.vdot(gradient, W) + least), upper=value)


@dataclass(frozen=True, eq=False)
class Examples:
    problem: MEGStream
    t: int = 0
    loss: float = 0.0

    def __call__(self, W):
        p = self.problem
        if self.t == len(p.y):
            return Done("end of stream", evidence=self.loss)
        error = float(np.vdot(p.sym[self.t], W)) - p.y[self.t]
        later = replace(self, t=self.t + 1, loss=self.loss + error**2)
        return Move(2 * error * p.sym[self.t], step=p.rate, then=later)


def meg(rng, n, rounds, c, noise):
    """Square (not symmetric) instances and their labels under a density matrix U; r and the stream."""
    X = rng.standard_normal((rounds, n, n)) * 10.0 ** rng.uniform(-1, 1)
    U = density(rng, n)
    S = (X + X.transpose(0, 2, 1)) / 2
    w = np.linalg.eigvalsh(S)
    r = max(float(np.max(w[:, -1] - w[:, 0])), 1e-6)
    y = np.einsum("tij,ji->t", X, U) + noise * r * rng.standard_normal(rounds)
    return U, r, MEGStream(X, y, 2 * c / (r**2 * (2 + c)))


@given(seeds, st.integers(1, 6), st.integers(1, 60), st.floats(0.05, 5.0), st.sampled_from([0.0, 0.1]))
def test_meg_keeps_the_bound_of_lemma_3_2(seed, n, rounds, c, noise):
    U, r, stream = meg(np.random.default_rng(seed), n, rounds, c, noise)
    done = play_out(stream)
    assert done.ended == "end of stream"
    divergence = math.log(n) + entropy(np.linalg.eigvalsh(U))  # Delta(U, I/n)
    bound = (1 + c / 2) * stream.loss_of(U) + (0.5 + 1 / c) * r**2 * divergence
    assert done.state.last.answer.evidence <= bound * (1 + 1e-9) + 1e-9 * r**2


@given(seeds, st.integers(1, 4), st.integers(1, 8))
def test_meg_bounds_bracket_the_batch_optimum(seed, n, rounds):
    _, r, stream = meg(np.random.default_rng(seed), n, rounds, 1.0, 0.1)
    found = play_out(stream).certificate
    W = cp.Variable((n, n), PSD=True)
    error = cp.hstack([cp.trace(S @ W) for S in stream.sym / r]) - stream.y / r
    optimum = r**2 * cp.Problem(cp.Minimize(cp.sum_squares(error)), [cp.trace(W) == 1]).solve(solver="CLARABEL")
    slack = 1e-6 * r**2 * rounds
    assert found.lower - slack <= optimum <= found.upper + slack


# -- DefiniteBoost: the most violated constraint -------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Boost(Row):
    """min over density matrices W of Delta(W, I/d) subject to tr(W C_j) <= 0 (002, Section 4).

    ``inside`` satisfies every constraint by ``margin``: mixing with it makes a nearly feasible W feasible.
    """

    C: np.ndarray
    inside: np.ndarray
    margin: float
    accuracy: float

    @property
    def like(self):
        return self.C[0]

    @property
    def d(self):
        return self.C.shape[1]

    @cached_property
    def ranges(self):
        """(lambda_min, lambda_max): the eigenvalues of C_j lie in [-lambda_min, lambda_max]."""
        w = np.linalg.eigvalsh(self.C)
        return -w[:, 0], w[:, -1]

    def exponent(self):
        return DenseExponent(Spectraplex(self.d, 1.0))

    def oracle(self):
        return MostViolated(self, np.zeros(len(self.C)))

    def divergence(self, W):
        return entropy(np.linalg.eigvalsh(W)) + math.log(self.d)

    def bound_from_matrix(self, W):
        violation = max(0.0, float(np.max(np.einsum("jab,ba->j", self.C, W))))
        theta = violation / (violation + self.margin)
        feasible = (1 - theta) * W + theta * self.inside
        return Bound(point=feasible, upper=self.divergence(feasible))

    def log_partition(self, y):
        """log tr exp(log W_1 - sum_j y_j C_j), (4.9) with its sign turned."""
        w = np.linalg.eigvalsh(-np.einsum("j,jab->ab", y, self.C))
        return float(w[-1] + np.log(np.sum(np.exp(w - w[-1]))) - math.log(self.d))

    def slope(self, y):
        """Its gradient, -tr(W C_j) with W = exp(log W_1 - sum_j y_j C_j) / tr."""
        w, V = np.linalg.eigh(-np.einsum("j,jab->ab", y, self.C))
        p = np.exp(w - w[-1])
        return -np.einsum("jab,ba->j", self.C, (V * (p / p.sum())) @ V.T)

    def bound_from_vector(self, y):
        return Bound(point=y, lower=-self.log_partition(y))


def step_4_6(r, low, high):
    """(4.6) in the form of the errata: log((1 + r/low) / (1 - r/high)) / (low + high)."""
    return math.log((1 + r / low) / (1 - r / high)) / (low + high)


@dataclass(frozen=True, eq=False)
class MostViolated:
    problem: Boost
    total: np.ndarray
    log_rho: float = 0.0
    """log of the product of rho(r_t), (4.7): a bound on the log-partition (Theorem 4.1)."""

    def __call__(self, W):
        p = self.problem
        violations = np.einsum("jab,ba->j", p.C, W)
        j = int(np.argmax(violations))
        r = float(violations[j])
        if r <= p.accuracy:
            return Done("satisfied", evidence=self.log_rho)
        low, high = (float(side[j]) for side in p.ranges)
        y = self.total.copy()
        y[j] += step_4_6(r, low, high)
        log_rho = (high * math.log(1 - r / high) + low * math.log(1 + r / low)) / (low + high)
        later = MostViolated(p, y, self.log_rho + log_rho)
        return Move(p.C[j], step=y[j] - self.total[j], y=y, then=later)


def boost(rng, d, m, accuracy):
    inside, margin = density(rng, d) + 0.2 * np.eye(d), 0.05
    inside /= np.trace(inside)
    C = np.stack([symmetric(rng, d) for _ in range(m)])
    shift = np.einsum("jab,ba->j", C, inside) + margin
    return Boost(C - shift[:, None, None] * np.eye(d), inside, margin, accuracy)


@given(seeds, st.integers(2, 5), st.integers(1, 5))
def test_definiteboost_satisfies_its_constraints_within_corollary_4_2(seed, d, m):
    problem = boost(np.random.default_rng(seed), d, m, accuracy=0.02)
    done = play_out(problem)
    assert done.ended == "satisfied"
    last = done.state.last
    assert np.max(np.einsum("jab,ba->j", problem.C, last.X)) <= 0.02
    widest = max(float(side.max()) for side in problem.ranges)
    assert done.iterations - 1 <= 2 * widest**2 * math.log(d) / 0.02**2
    if done.iterations > 1:  # Theorem 4.1, and the sum of the steps is the loss
        y = done.certificate.y
        assert problem.log_partition(y) <= last.answer.evidence + 1e-9
        np.testing.assert_allclose(np.einsum("j,jab->ab", y, problem.C), last.G, atol=1e-9 * (1 + np.abs(last.G).max()))


@given(seeds, st.integers(2, 5), st.integers(1, 5))
def test_definiteboost_bounds_bracket_the_optimum(seed, d, m):
    problem = boost(np.random.default_rng(seed), d, m, accuracy=0.02)
    found = play_out(problem).certificate
    dual = minimize(
        problem.log_partition,
        np.full(m, 0.1),
        jac=problem.slope,
        bounds=[(0, None)] * m,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    assert max(found.lower, 0.0) - 1e-9 <= -dual.fun + 1e-6
    assert -dual.fun <= found.upper + 1e-9


@given(seeds, st.integers(2, 5))
def test_definiteboost_with_one_constraint_is_the_exact_projection(seed, d):
    rng = np.random.default_rng(seed)
    problem = boost(rng, d, 1, accuracy=1e-10)
    done = play_out(problem, max_iter=20_000)
    w, V = np.linalg.eigh(problem.C[0])

    def violation(a):
        p = np.exp(-a * w - np.max(-a * w))
        return float(p @ w / p.sum())

    a = brentq(violation, 0.0, 1e3) if violation(0.0) > 0 else 0.0
    p = np.exp(-a * w - np.max(-a * w))
    np.testing.assert_allclose(done.state.last.X, (V * (p / p.sum())) @ V.T, atol=1e-6)
    if violation(0.0) > 0:
        assert done.certificate.lower == pytest.approx(done.certificate.upper, abs=1e-6)


# -- FETR covariance: the loss replaces G --------------------------------------------------------------

LOW, HIGH = 0.1, 10.0


@dataclass(frozen=True, eq=False)
class Relations(Row):
    """min ||Y - X W||^2 + eta tr(S1 W S2 W^T) - eta (m log|S1| + d log|S2|), l I <= S1, S2 <= u I (004, (4))."""

    X: np.ndarray
    Y: np.ndarray
    eta: float
    low: float
    high: float

    @property
    def shape(self):
        return self.X.shape[1], self.Y.shape[1]

    @property
    def like(self):
        return np.eye(self.shape[0])

    def exponent(self):
        d, m = self.shape
        return ClippedLogDet(d, m, self.low, self.high)

    def oracle(self):
        return OtherBlocks(self, np.eye(self.shape[1]))

    def bound_from_matrix(self, X):
        W = self.weights(X, np.eye(self.shape[1]))
        return Bound(point=X, upper=self.value(W, X, np.eye(self.shape[1])))

    def value(self, W, S1, S2):
        d, m = self.shape
        logs = m * np.linalg.slogdet(S1)[1] + d * np.linalg.slogdet(S2)[1]
        return float(np.sum((self.Y - self.X @ W) ** 2) + self.eta * (np.trace(S1 @ W @ S2 @ W.T) - logs))

    def weights(self, S1, S2):
        """Proposition 4.1."""
        d, m = self.shape
        system = np.kron(np.eye(m), self.X.T @ self.X) + self.eta * np.kron(S2, S1)
        return np.linalg.solve(system, (self.X.T @ self.Y).T.reshape(-1)).reshape(m, d).T


@dataclass(frozen=True, eq=False)
class OtherBlocks:
    """Given S1: the best W, then the best S2; the loss of the next S1 is W S2 W^T."""

    problem: Relations
    S2: np.ndarray
    values: tuple[float, ...] = ()

    def __call__(self, S1):
        p = self.problem
        W = p.weights(S1, self.S2)
        d, m = p.shape
        S2 = ClippedLogDet(m, d, p.low, p.high)(W.T @ S1 @ W)
        values = (*self.values, p.value(W, S1, self.S2), p.value(W, S1, S2))
        if len(values) > 2 and values[-3] - values[-1] <= 1e-9 * abs(values[-1]):
            return Done("stationary", evidence=(values, W, S2))
        loss = W @ S2 @ W.T
        return Move((loss + loss.T) / 2, then=OtherBlocks(p, S2, values))


def relations(rng, d, m):
    X = rng.standard_normal((int(rng.integers(1, 15)), d))
    Y = X @ rng.standard_normal((d, m)) * 10.0 ** rng.uniform(-1, 1)
    return Relations(X, Y, 10.0 ** rng.uniform(-1, 1), LOW, HIGH)


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_fetr_descends_to_a_point_where_no_block_improves(seed, d, m):
    problem = relations(np.random.default_rng(seed), d, m)
    done = play_out(problem, max_iter=5_000)
    assert done.ended == "stationary"
    values, W, S2 = done.state.last.answer.evidence
    S1 = done.state.last.X
    size = max(1.0, abs(values[-1]))
    assert np.all(np.diff(values) <= 1e-9 * (size + np.abs(values[:-1])))
    for S in (S1, S2):
        w = np.linalg.eigvalsh(S)
        assert w[0] >= LOW * (1 - 1e-9)
        assert w[-1] <= HIGH * (1 + 1e-9)
    for block in (
        (problem.weights(S1, S2), S1, S2),
        (W, ClippedLogDet(d, m, LOW, HIGH)(W @ S2 @ W.T), S2),
        (W, S1, ClippedLogDet(m, d, LOW, HIGH)(W.T @ S1 @ W)),
    ):
        assert problem.value(*block) >= values[-1] - 1e-5 * size


@given(seeds, st.integers(1, 4), st.integers(0, 4), st.floats(0.5, 5.0))
def test_clipped_logdet_is_the_minimizer(seed, n, rank, weight):
    """Against cvxpy, with losses of every rank: nu = 0 gives u."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, rank))
    G, low, high = root @ root.T, 0.3, 2.0
    X = ClippedLogDet(n, weight, low, high)(G)
    S = cp.Variable((n, n), PSD=True)
    program = cp.Problem(
        cp.Minimize(cp.trace(G @ S) - weight * cp.log_det(S)), [S >> low * np.eye(n), high * np.eye(n) >> S]
    )
    assert isinstance(ClippedLogDet(n, weight, low, high), Exponent)
    value = float(np.vdot(G, X)) - weight * np.linalg.slogdet(X)[1]
    assert value == pytest.approx(program.solve(solver="CLARABEL"), abs=1e-5 * (1 + abs(value)))


# -- Arora-Kale: the level, the failing oracle, and T -------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormGame(GameProblem):
    """min over the simplex of ||C - sum_j y_j A_j||_2, the signed pair on the nuclear-norm ball."""

    C: np.ndarray
    A: np.ndarray

    name = "norm"

    @cached_property
    def game(self):
        m, n = self.A.shape[:2]
        return Game(self.C, DenseMap(self.A), np.zeros(m), SpectralBall(n, 1.0), KnapsackSet.simplex(m))

    @classmethod
    def random(cls, rng):
        """||C|| = 1 and ||A_j|| = 0.4, so that v >= 0.6 and T stays in the hundreds."""
        n, m = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        C, A = symmetric(rng, n), np.stack([symmetric(rng, n) for _ in range(m)])
        return cls(C / np.linalg.norm(C, 2), 0.4 * A / np.linalg.norm(A, 2, axis=(1, 2))[:, None, None])


@dataclass(frozen=True, eq=False)
class AtLevel(Row):
    """One guess alpha of Algorithm 1 as a problem of its own: T successes, or a failure."""

    norm: NormGame
    level: float
    delta: float = DELTA

    @property
    def like(self):
        return self.norm.game.C

    def exponent(self):
        return entropy_on(self.norm.game.S)

    def oracle(self):
        rho = Theory(self.delta).width(self.norm.game, self.level)
        epsilon = self.delta * self.level / (2 * rho)
        rate = -math.log1p(-epsilon) / (2 * rho)
        inner = SortedListOracle(self.norm.game, self.level)
        return Rounds(inner, rate, Theory(self.delta).rounds_for(self.norm.game, self.level), 0.0 * self.norm.game.c)

    def bound_from_matrix(self, X):
        return self.norm.bound_from_matrix(X)

    def bound_from_vector(self, y):
        return self.norm.bound_from_vector(y)


@dataclass(frozen=True, eq=False)
class Rounds:
    """An oracle for at most ``left`` rounds, with the sum of its answers."""

    inner: SortedListOracle
    rate: float
    left: int
    total: np.ndarray
    played: int = 0

    def __call__(self, X):
        if self.left == 0:
            return Done("T successes", evidence=self.total / self.played)
        answer = self.inner(X)
        if isinstance(answer, Done):
            return answer
        later = replace(self, left=self.left - 1, total=self.total + answer.y, played=self.played + 1)
        return replace(answer, step=self.rate, y=later.total / later.played, then=later)


def optimum(norm):
    return float(norm.reference().solve(solver="CLARABEL"))


@given(seeds, st.floats(0.3, 3.0))
def test_arora_kale_at_one_level_succeeds_or_proves_the_level_too_low(seed, factor):
    norm = NormGame.random(np.random.default_rng(seed))
    value = optimum(norm)
    problem = AtLevel(norm, factor * value)
    rounds = Theory(DELTA).rounds_for(norm.game, problem.level)
    done = play_out(problem)
    assert done.iterations <= rounds + 1
    if done.ended == "fails":
        assert done.certificate.lower >= problem.level * (1 - 1e-9)
        assert problem.level <= value * (1 + 1e-6)
    else:  # Theorem 4.3.2
        assert done.iterations == rounds + 1
        assert norm.game.upper(done.state.last.answer.evidence) <= (1 + DELTA) * problem.level * (1 + 1e-9)
    assert done.certificate.lower <= value * (1 + 1e-6)
    assert value <= done.certificate.upper * (1 + 1e-6)


@given(seeds)
def test_the_theory_schedule_searches_the_value(seed):
    norm = NormGame.random(np.random.default_rng(seed))
    schedule = Theory(DELTA)
    guesses = []

    class Watched(MatrixMultiplicativeWeights):
        """The engine, with every guess and its number of rounds written down."""

        def step(self, problem, state, incumbent):
            after = super().step(problem, state, incumbent)
            if after.proposals:
                guesses.append((state.alpha, state.rounds + 1, after))
            return after

    solution = solve(norm, method=Watched(schedule), tol=1e-9)
    assert solution.status == "optimal" or "the guesses agree" in solution.explain()
    for alpha, rounds, after in guesses:
        assert rounds <= schedule.rounds_for(norm.game, alpha)
        y = after.proposals[0].y
        if y is not None:  # T successes: their average is dual feasible at (1 + delta) alpha
            assert norm.game.upper(y) <= (1 + DELTA) * alpha * (1 + 1e-9)
    value = optimum(norm)
    assert solution.lower <= value * (1 + 1e-6)
    assert value <= solution.upper * (1 + 1e-6)
    assert solution.upper <= (1 + DELTA) ** 2 * (1 + 2 * DELTA) * value


# -- discrepancy: the signed pair ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pair(Row):
    """The rounds of a norm game from its best responses, by one signed exponent or by 2n x 2n blocks."""

    norm: NormGame
    whole: bool
    rate: float

    @property
    def like(self):
        return np.kron(np.eye(2), self.norm.game.C) if self.whole else self.norm.game.C

    def exponent(self):
        n = self.norm.game.C.shape[0]
        return DenseExponent(Spectraplex(2 * n, 1.0, (n, n))) if self.whole else SignedExponent(SpectralBall(n, 1.0))

    def oracle(self):
        return BestResponse(self, np.zeros(len(self.norm.A)))

    def difference(self, X):
        """X_+ - X_-."""
        n = self.norm.game.C.shape[0]
        return X[:n, :n] - X[n:, n:] if self.whole else X

    def bound_from_matrix(self, X):
        return self.norm.bound_from_matrix(self.difference(X))

    def bound_from_vector(self, y):
        return self.norm.bound_from_vector(y)


@dataclass(frozen=True, eq=False)
class BestResponse:
    problem: Pair
    total: np.ndarray
    rounds: int = 0

    def __call__(self, X):
        p = self.problem
        answer = VertexOracle(p.norm.game, math.inf)(p.difference(X))
        total, rounds = self.total + answer.y, self.rounds + 1
        F = answer.loss
        if p.whole:
            F = np.block([[F, np.zeros_like(F)], [np.zeros_like(F), -F]])
        return Move(F, step=p.rate, y=total / rounds, then=BestResponse(p, total, rounds))


@given(seeds, st.floats(0.01, 1.0))
def test_the_signed_pair_plays_the_rounds_of_the_whole_pair(seed, rate):
    norm = NormGame.random(np.random.default_rng(seed))
    signed, whole = Pair(norm, False, rate), Pair(norm, True, rate)
    one, two = (play_out(problem, max_iter=30) for problem in (signed, whole))
    np.testing.assert_allclose(one.state.last.X, whole.difference(two.state.last.X), atol=1e-9)
    assert one.certificate.upper == pytest.approx(two.certificate.upper, rel=1e-9)
    assert one.certificate.lower == pytest.approx(two.certificate.lower, rel=1e-9, abs=1e-9)


@given(seeds)
def test_the_average_of_best_responses_closes_the_gap(seed):
    """Regret: ||M(average y)|| - v <= ln(2n) / (rate T) + rate width^2 for rate width <= 1."""
    norm = NormGame.random(np.random.default_rng(seed))
    width, rounds = norm.game.cost_norm + float(norm.game.A.norms.max()), 150
    rate = math.sqrt(math.log(2 * norm.game.C.shape[0]) / rounds) / width
    done = play_out(Pair(norm, False, rate), max_iter=rounds)
    value = optimum(norm)
    mean = done.state.oracle.total / done.state.oracle.rounds
    assert norm.game.upper(mean) - value <= 2 * width * math.sqrt(math.log(2 * norm.game.C.shape[0]) / rounds) + 1e-6
    fresh = certify(norm, X=done.certificate.X, y=mean)
    assert fresh.lower - 1e-6 <= value <= fresh.upper + 1e-6
