"""The six rows of the table in docs/design.md, as the plugins play them: one engine, the hooks of each problem.

Each row is held to the theorem of its paper where its own tests do not (`plugins/test_meg_online.py`,
`test_definiteboost_theory.py`, `test_definiteboost_diagonal.py`), and to its optimum.
"""

import math
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_definiteboost import DefiniteBoost, MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_fetr import FETR, LogisticFETR
from matrixlearn_fetr.rounds import matched_precision
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression
from matrixlearn_quantum import StateTomography
from scipy.optimize import brentq

import matrixlearn as ml
from matrixlearn.engines import MatrixMultiplicativeWeights, Theory, play
from matrixlearn.exceptions import CapabilityError
from matrixlearn.exponents import ClippedLogDet, DenseExponent, DiagonalExponent, EigenUpdateExponent, SignedExponent
from matrixlearn.maps import DenseMap
from matrixlearn.oracles import Done, LevelOracle, SortedListOracle, VertexOracle
from matrixlearn.problems import Game, GameProblem, Play
from matrixlearn.problems.played import Played
from matrixlearn.sets import KnapsackSet, ScaledSimplex, SpectralBall, Spectraplex

pytestmark = pytest.mark.usefixtures("cpu_clock")

seeds = st.integers(0, 2**32 - 1)
DELTA = 0.5
"""The accuracy of the Arora-Kale runs: T grows as 1 / DELTA^2."""

CLASSES = [Discrepancy, MaxCut, ml.LinearSDP, MEGRegression, DefiniteBoost, MinMaxSDP, StateTomography, FETR]


def symmetric(rng, n):
    A = rng.standard_normal((n, n))
    return (A + A.T) / 2


def norm_game(rng):
    """min over the simplex of ||C - sum_j y_j A_j||_2 with ||C|| = 1 and ||A_j|| = 0.4: v >= 0.6, T in the hundreds."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    C, A = symmetric(rng, n), np.stack([symmetric(rng, n) for _ in range(m)])
    C, A = C / np.linalg.norm(C, 2), 0.4 * A / np.linalg.norm(A, 2, axis=(1, 2))[:, None, None]
    return Played(Game(C, DenseMap(A), np.zeros(m), SpectralBall(n, 1.0), KnapsackSet.simplex(m)))


# -- every plugin, by one engine ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", [*CLASSES, LogisticFETR], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mmw_plays_every_plugin_to_its_optimum_and_says_with_what(cls, seed):
    problem = cls.random(np.random.default_rng(seed))
    best, found = ml.solve(problem, tol=1e-6), ml.solve(problem, "mmw", tol=0.1, time_limit=20)
    assert found.status in ("optimal", "stationary") or best.status == found.status
    if best.status == "optimal":
        slack = 1e-9 * found.certificate.size
        assert found.lower <= best.upper + slack and best.lower <= found.upper + slack
    for name in problem.routines:
        assert f"{name}, called" in found.explain() or found.iterations == 0


def equality_program(seed, n=5, m=4):
    """Half of the rows are equalities, the trace among them; X_s > 0 meets all."""
    rng = np.random.default_rng(seed)
    A = np.stack([np.eye(n), *(symmetric(rng, n) for _ in range(m - 1))])
    root = rng.standard_normal((n, n))
    equal = np.arange(m) <= m // 2
    b = np.einsum("jab,ab->j", A, np.eye(n) + root @ root.T / n)
    return ml.LinearSDP(symmetric(rng, n), A, np.where(equal, b, b + 0.5), equalities=equal)


@given(seeds)
def test_the_box_of_free_multipliers_holds_an_optimal_one(seed):
    program = equality_program(seed)
    best = ml.solve(program, tol=1e-7)
    if best.status != "optimal":
        return
    played = program.standard.program
    X, y = program.standard.lowered_matrix(best.matrix), program.standard.lowered_vector(best.y)
    inside = program.standard.lowered_matrix(ml.solve(program, "interior-point", tol=0.5).matrix)
    Y = played.bounded(inside, played.bound_from_vector(y).upper, y).game.Y
    size = 1e-6 * (1 + np.abs(y))
    assert played.bound_from_matrix(X).lower > -np.inf
    assert np.all(Y.lower - size <= y) and np.all(y <= Y.upper + size)


@pytest.mark.parametrize("seed", range(4))
def test_mmw_plays_equalities_between_bounds_that_a_feasible_pair_proves(seed):
    program = equality_program(seed)
    best, found = ml.solve(program, tol=1e-7), ml.solve(program, "mmw", tol=0.05, time_limit=20)
    assert found.status == "optimal"
    assert found.lower <= best.value * (1 + 1e-6) + 1e-6 and best.value <= found.upper + 1e-6


def test_what_the_user_passes_is_what_plays():
    problem = Discrepancy.random(np.random.default_rng(5))
    asked = []

    class Watched(VertexOracle):
        def at(self, level, anchor=None):
            asked.append(level)
            return Watched(self.game, level)

    engine = MatrixMultiplicativeWeights(oracle=Watched, exponent=EigenUpdateExponent)
    solution = ml.solve(problem, engine, tol=1e-4, max_iter=40)
    assert len(asked) >= 40
    assert f"oracle: Watched, called {len(asked)} times" in solution.explain()
    assert "exponent routine: EigenUpdateExponent, called 40 times" in solution.explain()


def test_an_oracle_that_a_problem_registers_plays_by_every_schedule():
    calls = []

    class Mine(Discrepancy):
        routines = ()

        def play(self):
            from dataclasses import replace

            game = self.game

            def oracle(X):
                calls.append(X)
                return VertexOracle(game)(X)

            return replace(super().play(), oracle=oracle)

    rng = np.random.default_rng(0)
    problem = Mine(rng.standard_normal((8, 3)), rng.standard_normal((8, 3)) + 1)
    for schedule in (MatrixMultiplicativeWeights(), MatrixMultiplicativeWeights(Theory(DELTA))):
        calls.clear()
        solution = ml.solve(problem, schedule, tol=1e-6, max_iter=20)
        assert len(calls) >= 20 and "oracle: oracle, called" in solution.explain()


def test_a_problem_without_rounds_is_refused_by_name():
    from matrixlearn_erm import ERM

    with pytest.raises(CapabilityError, match=r"mmw cannot solve this ERM.*no rounds.*play"):
        ml.solve(ERM.random(np.random.default_rng(0)), "mmw")


# -- EG, experts: the diagonal exponent ---------------------------------------------------------------


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


# -- MEG: the averages of a saddle prove each other ---------------------------------------------------


@pytest.mark.parametrize("loss", ["square", "absolute", "huber", "logistic"])
@given(seed=seeds)
def test_the_gap_of_the_averages_is_the_regret(loss, seed):
    """f(mean W) - D(mean u) <= (sum_t eta_t <loss_t, W_t> less its minimum over W) / sum_t eta_t: f is convex."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((6, 3)), rng.choice([-1.0, 1.0], 6)
    problem = MEGRegression(X, y, loss)
    exponent, oracle = problem.play().exponent, problem.play().oracle
    G, suffered, total = exponent.zero(problem.like), 0.0, np.zeros((3, 3))
    for _ in range(8):
        W = exponent(G)
        eta = oracle.hinted or oracle(W).then.first
        answer = oracle(W)
        afresh = oracle.rounds & (oracle.rounds - 1) == 0
        loss_t = answer.then.loss
        suffered = (0.0 if afresh else suffered) + eta * float(np.vdot(loss_t, W))
        total = (0.0 if afresh else total) + eta * loss_t
        regret = suffered - float(np.linalg.eigvalsh(total)[0])
        shown = ml.certify(problem, X=answer.point, y=answer.y)
        of_y = problem.bound_from_vector(answer.y).lower
        assert problem.value_of(answer.point) - of_y <= regret / answer.then.weight + 1e-9 * (1 + shown.size)
        G, oracle = exponent.accumulate(G, answer.loss, answer.step), answer.then


# -- DefiniteBoost: the most violated constraint ------------------------------------------------------


@given(seeds, st.integers(2, 5))
def test_definiteboost_with_one_constraint_is_the_exact_projection(seed, d):
    C = symmetric(np.random.default_rng(seed), d)
    w, V = np.linalg.eigh(C)
    C, w = C - (w.mean() - 0.3 * (w[-1] - w[0]) / 2 - 0.0) * np.eye(d), w - (w.mean() - 0.3 * (w[-1] - w[0]) / 2)
    if w[0] > -1e-2:
        return
    solution = ml.solve(DefiniteBoost(C[None]), "mmw", tol=1e-9, max_iter=20_000)

    def violation(a):
        p = np.exp(-a * w - np.max(-a * w))
        return float(p @ w / p.sum())

    a = brentq(violation, 0.0, 1e4) if violation(0.0) > 0 else 0.0
    p = np.exp(-a * w - np.max(-a * w))
    np.testing.assert_allclose(solution.matrix, (V * (p / p.sum())) @ V.T, atol=1e-4)


# -- FETR covariance: the loss replaces G -------------------------------------------------------------


@given(seeds)
def test_fetr_descends_to_a_point_where_no_block_improves(seed):
    problem = FETR.random(np.random.default_rng(seed))
    plays, values = problem.play(), []
    G, oracle, exponent = plays.start, plays.oracle, plays.exponent
    for _ in range(3_000):
        answer = oracle(exponent(G))
        if isinstance(answer, Done):
            break
        values.append(answer.then.value)
        G, oracle = answer.loss, answer.then
    assert np.all(np.diff(values) <= 1e-12 * problem.scale)
    if isinstance(answer, Done):
        proved = problem.bound_from_matrix(answer.point)
        assert proved.upper - proved.lower <= 1e-6 * problem.scale


@given(seeds, st.integers(1, 5))
def test_the_matching_gives_the_precision_of_the_clipped_log_det(seed, n):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, int(rng.integers(0, n + 1))))
    G, (low, high) = root @ root.T, np.sort(rng.uniform(0.1, 3.0, 2))
    S = ClippedLogDet(n, 2.0, low, high)(G)
    np.testing.assert_allclose(matched_precision(G, 2.0, low, high).dense(), S, atol=1e-9)


# -- Arora-Kale: the level, the failing oracle, and T -------------------------------------------------


def rounds_at(norm, alpha):
    """One guess of Algorithm 1: (X where the oracle fails, the sum of the y, successes)."""
    game, schedule = norm.game, Theory(DELTA)
    rho = schedule.width(game, alpha)
    rate = -math.log1p(-DELTA * alpha / (2 * rho)) / (2 * rho)
    exponent, oracle = norm.play().exponent, SortedListOracle(game).at(alpha)
    G, total = exponent.zero(game.C), 0.0 * game.c
    for t in range(schedule.rounds_for(game, alpha)):
        played = play(exponent, oracle, G, at=rate * G)
        if isinstance(played.answer, Done):
            return played.X, total, t
        G, total = played.G, total + played.answer.y
    return None, total, t + 1


@given(seeds, st.floats(0.3, 3.0))
def test_arora_kale_at_one_level_succeeds_or_proves_the_level_too_low(seed, factor):
    norm = norm_game(np.random.default_rng(seed))
    value = float(norm.reference().solve(solver="CLARABEL"))
    alpha = factor * value
    X, total, successes = rounds_at(norm, alpha)
    if X is None:  # Theorem 4.3.2
        assert norm.game.upper(total / successes) <= (1 + DELTA) * alpha * (1 + 1e-9)
    else:
        assert norm.game.lower(X)[0] >= alpha * (1 - 1e-9)
        assert alpha <= value * (1 + 1e-6)


@given(seeds)
def test_the_theory_schedule_searches_the_value(seed):
    norm = norm_game(np.random.default_rng(seed))
    schedule, guesses = Theory(DELTA), []

    class Watched(MatrixMultiplicativeWeights):
        """The engine, with every guess and its number of rounds written down."""

        def step(self, problem, state, incumbent):
            after = super().step(problem, state, incumbent)
            if after.proposals:
                guesses.append((state.alpha, state.rounds + 1, after))
            return after

    solution = ml.solve(norm, method=Watched(schedule, oracle=SortedListOracle), tol=1e-9)
    assert solution.status == "optimal" or "the guesses agree" in solution.explain()
    for alpha, rounds, after in guesses:
        assert rounds <= schedule.rounds_for(norm.game, alpha)
        y = after.proposals[0].y
        if y is not None:  # T successes: their average is dual feasible at (1 + delta) alpha
            assert norm.game.upper(y) <= (1 + DELTA) * alpha * (1 + 1e-9)
    value = float(norm.reference().solve(solver="CLARABEL"))
    assert solution.lower <= value * (1 + 1e-6)
    assert value <= solution.upper * (1 + 1e-6)
    assert solution.upper <= (1 + DELTA) ** 2 * (1 + 2 * DELTA) * value


# -- discrepancy: the signed pair ---------------------------------------------------------------------


@given(seeds, st.floats(0.01, 1.0))
def test_the_signed_pair_plays_the_rounds_of_the_whole_pair(seed, rate):
    norm = norm_game(np.random.default_rng(seed))
    game, n = norm.game, norm.game.C.shape[0]
    signed, whole = SignedExponent(game.S), DenseExponent(Spectraplex(2 * n, 1.0, (n, n)))
    oracle, G, H = VertexOracle(game), np.zeros((n, n)), np.zeros((2 * n, 2 * n))
    for _ in range(30):
        X, Z = signed(G), whole(H)
        np.testing.assert_allclose(X, Z[:n, :n] - Z[n:, n:], atol=1e-9)
        F = oracle(X).loss
        G, H = G + rate * F, H + rate * np.block([[F, 0 * F], [0 * F, -F]])


@given(seeds)
def test_the_average_of_best_responses_closes_the_gap(seed):
    """Regret: ||M(average y)|| - v <= ln(2n) / (rate T) + rate width^2 for rate width <= 1."""
    norm, T = norm_game(np.random.default_rng(seed)), 150
    game = norm.game
    room, width = math.log(2 * game.C.shape[0]), game.cost_norm + float(game.A.norms.max())
    rate = math.sqrt(room / T) / width
    exponent, oracle, G, total = norm.play().exponent, VertexOracle(game), 0.0 * game.C, 0.0 * game.c
    for _ in range(T):
        answer = oracle(exponent(G))
        G, total = G + rate * answer.loss, total + answer.y
    value = float(norm.reference().solve(solver="CLARABEL"))
    assert game.upper(total / T) - value <= 2 * width * math.sqrt(room / T) + 1e-6


def test_an_exponent_of_the_user_needs_a_spectral_set():
    problem = ml.registered_problems()["fetr"].random(np.random.default_rng(0))
    with pytest.raises(CapabilityError, match="plays ClippedLogDet, which is no routine of a spectral set"):
        ml.solve(problem, MatrixMultiplicativeWeights(exponent=DenseExponent))


class OfItsOwn(GameProblem):
    """min over the simplex of the largest of two eigenvalues, by an exponent that is no class of the library."""

    def __init__(self, **knows):
        self.knows = knows

    @cached_property
    def game(self):
        A = np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 3.0])])
        return Game(np.zeros((2, 2)), DenseMap(-A), np.zeros(2), Spectraplex(2, 1.0), KnapsackSet.simplex(2))

    def play(self):
        inner = DenseExponent(self.game.S)
        own = type("Own", (), {"__call__": lambda _, G: inner(G)} | self.knows)()
        own.zero, own.accumulate = inner.zero, inner.accumulate
        return Play(own, LevelOracle(self.game))


def test_an_exponent_of_the_user_takes_the_place_of_any_that_knows_its_set():
    mine = MatrixMultiplicativeWeights(exponent=EigenUpdateExponent)
    solution = ml.solve(OfItsOwn(on=Spectraplex(2, 1.0)), mine, tol=1e-2)
    assert solution.value == pytest.approx(0.75, abs=1e-2)
    assert "EigenUpdateExponent" in solution.explain()
    with pytest.raises(CapabilityError, match="plays Own, which is no routine of a spectral set"):
        ml.solve(OfItsOwn(), mine)
