"""Mirror-prox: its law, the geometry of both sides, and the bound that its step test buys."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Incumbent, MirrorProx
from matrixlearn.engines.entropies import EntropicSide, EuclideanSide, soft_response, trimmed, vector_side
from matrixlearn.linalg import inner
from matrixlearn.maps import RankOneMap
from matrixlearn.problems import Game
from matrixlearn.sets import ScaledSimplex, SpectralBall, Spectraplex, TraceBall
from matrixlearn.testing.laws.engine import Opaque

seeds = st.integers(0, 2**32 - 1)
GAMES = ["sdp", "discrepancy", "maxcut", "template"]


def gaussian(m=60, n=40, N=8, seed=0):
    rng = np.random.default_rng(seed)
    return Discrepancy(rng.standard_normal((m, N)) + 0.5, 1.5 * rng.standard_normal((n, N)))


def test_the_law_holds_and_most_instances_are_solved(instances, hold_the_law):
    assert hold_the_law(MirrorProx(), instances, 1e-2, 300) >= 0.85 * len(instances)


@given(seed=seeds, slack=st.booleans())
def test_the_weighted_entropy_answers_with_its_maximizer(seed, slack):
    """phi is the value at u, and no other point of the simplex has more; the gradient of phi is u."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    side = EntropicSide(np.ones(m), 10.0 ** rng.uniform(-1, 1, m), 10.0 ** rng.uniform(-2, 2), slack)
    log = 10.0 ** rng.uniform(-2, 2) * rng.standard_normal(m)

    def value(u):
        return log @ u - side.a @ (np.where(u > 0, u * np.log(np.maximum(u, 1e-300)), 0.0) - u)

    phi, u = side.response(log)
    size = 1e-10 * (1 + abs(phi) + side.total * np.abs(log).max())
    assert u.min() >= 0 and u.sum() <= side.total * (1 + 1e-9)
    if not slack:
        assert u.sum() == pytest.approx(side.total, rel=1e-9)
    assert phi == pytest.approx(value(u), abs=size)
    for _ in range(5):
        v = rng.dirichlet(np.ones(m)) * side.total * (rng.random() if slack else 1.0)
        assert value(v) <= phi + size


@given(seed=seeds)
def test_the_log_of_a_point_answers_with_the_point(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    side = EntropicSide(np.ones(m), 10.0 ** rng.uniform(-1, 1, m), 2.0, False)
    u = 2.0 * rng.dirichlet(np.ones(m))
    np.testing.assert_allclose(side.response(side.log_of(u))[1], u, atol=3e-3)


@pytest.mark.parametrize("make", [Spectraplex, TraceBall, SpectralBall, ScaledSimplex])
@given(seed=seeds, depth=st.sampled_from([10.0, 25.0, 40.0]))
def test_trimming_moves_the_matrix_by_what_it_says(make, seed, depth):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    w = 10.0 ** rng.uniform(-1, 3) * rng.standard_normal(n)
    if make is ScaledSimplex:
        L = w
    else:
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        L = (Q * w) @ Q.T
        L = (L + L.T) / 2
    S = make(n, 3.0)
    cut = trimmed(S, L, depth)
    before, after = soft_response(S, L, 1.0)[1], soft_response(S, cut, 1.0)[1]
    assert np.abs(before - after).max() <= 3.0 * (4 * n * np.exp(-depth) + 1e-13 * (1 + np.abs(w).max()))
    assert np.abs(S.eigenvalues(cut)).max() <= depth * (1 + 1e-9)


@pytest.mark.parametrize("name", GAMES)
@given(seed=seeds, rounds=st.integers(1, 25))
def test_the_averages_keep_to_the_bound_that_the_accepted_steps_prove(name, random_game, seed, rounds):
    """sum eta (value(u, y^) - value(X^, v)) <= V(start; u, v) for the best u and v, so that the gap of the averages is
    at most the largest divergence over the sum of the steps.
    """
    problem = random_game(name, seed)
    if problem is None or not problem.game.Y.is_bounded:
        return
    engine = MirrorProx()
    start = state = engine.init(problem.game, Incumbent(problem))
    for _ in range(rounds):
        state = engine._moved(problem.game, state)
        assert not state.finished
    X, y, side = state.sum_X / state.mass, state.sum_y / state.mass, state.side
    S = problem.game.S
    U, v = S.best_response(problem.game.image(y)), problem.game.lower(X)[1]
    # V_X(U) = phi(L) + h(U) - <L, U>, h the largest at an extreme point: R log R, or 0 at U = 0
    weight = np.abs(S.eigenvalues(U))
    entropy = float(np.sum(np.where(weight > 1e-12, weight * np.log(np.maximum(weight, 1e-300) / S.trace), 0.0)))
    V_X = start.start.phi + entropy - inner(start.start.L, U)
    u = side.scale * v
    if isinstance(side, EntropicSide):
        h = float(side.a @ (np.where(u > 0, u * np.log(np.maximum(u, 1e-300)), 0.0) - u))
    else:
        h = float(u @ u) / 2
    V_y = start.start.phi_y + h - float(start.start.log @ u)
    gap = problem.game.upper(y) - problem.game.lower(X)[0]
    allowed = (V_X / state.omega + state.omega * V_y) / state.mass
    assert gap <= allowed * (1 + 1e-6) + 1e-9 * (problem.scale + abs(problem.game.upper(y)))


def test_the_side_of_the_vector_suits_its_set():
    assert isinstance(vector_side(gaussian().game), EntropicSide)
    capped = Discrepancy(np.eye(3), np.ones((2, 3)), max_weight=2.0)
    assert isinstance(vector_side(capped.game), EuclideanSide)
    assert vector_side(ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 3.0).standard.program.bounded().game).slack


def test_restarts_have_no_floor():
    """Measured 312, 495 and 741 rounds to 1e-4, 1e-6 and 1e-8; without restarts 1 / epsilon."""
    solution = ml.solve(gaussian(12, 10, 3), "mirror-prox", tol=1e-8, max_iter=5_000)
    assert solution.status == "optimal"


def test_the_units_and_the_order_of_the_points_do_not_matter():
    problem = gaussian()
    order = np.random.default_rng(1).permutation(60)
    for other, factor in (
        (Discrepancy(1024 * problem.X_source, 1024 * problem.X_target), 1024.0**2),
        (Discrepancy(problem.X_source[order], problem.X_target), 1.0),
    ):
        mine = ml.solve(problem, "mirror-prox", tol=1e-4)
        theirs = ml.solve(other, "mirror-prox", tol=1e-4)
        assert mine.status == theirs.status == "optimal"
        assert theirs.value / factor == pytest.approx(mine.value, rel=1e-4)


def test_the_arrays_of_other_libraries(backend):
    rng = np.random.default_rng(0)
    Xs, Xt = rng.standard_normal((12, 4)), rng.standard_normal((9, 4)) + 0.3
    mine = ml.solve(Discrepancy(backend.array(Xs), backend.array(Xt)), "mirror-prox", tol=1e-2)
    assert mine.status == "optimal"
    assert mine.upper == pytest.approx(ml.solve(Discrepancy(Xs, Xt), tol=1e-6).upper, rel=1e-2)


def test_images_that_are_not_finite_end_it():
    class Broken(RankOneMap):
        def adjoint(self, X):
            return super().adjoint(X) * np.nan

    problem = Discrepancy(np.eye(3), np.ones((2, 3)))
    good = problem.game
    game = Game(good.C, Broken(good.A.P), good.c, good.S, good.Y)
    engine = MirrorProx()
    state = engine.init(good, Incumbent(problem))
    assert "not finite" in engine._moved(game, state).finished


def test_what_it_cannot_play_is_refused():
    assert "bounded" in MirrorProx().objection(ml.LinearSDP(np.eye(2), [-np.eye(2)], [-0.5], 1.0).standard.program)
    assert "plays games" in MirrorProx().objection(Opaque())
