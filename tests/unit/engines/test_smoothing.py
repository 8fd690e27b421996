"""Accelerated smoothing: its law on random instances, the smoothed function, and the rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Incumbent, Smoothing
from matrixlearn.engines.entropies import soft_response, soft_support
from matrixlearn.engines.saddle import diameter
from matrixlearn.linalg import inner
from matrixlearn.maps import RankOneMap
from matrixlearn.problems import Game
from matrixlearn.sets import ScaledSimplex, SpectralBall, Spectraplex, TraceBall
from matrixlearn.testing.laws.engine import Opaque
from matrixlearn.testing.strategies import hermitian, symmetric

seeds = st.integers(0, 2**32 - 1)
SETS = [Spectraplex, TraceBall, SpectralBall]


def test_the_law_holds_and_most_instances_are_solved(instances, hold_the_law):
    assert hold_the_law(Smoothing(), instances, 1e-2, 600) >= 0.85 * len(instances)


@pytest.mark.parametrize("make", SETS)
@given(F=symmetric() | hermitian(), mu=st.sampled_from([1e-6, 1e-2, 1.0, 1e4]), trace=st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_smoothed_support_lies_above_by_no_more_than_it_costs(make, F, mu, trace):
    S = make(len(F), trace)
    value, X = soft_response(S, F, mu)
    hard = S.support(F)
    size = 1e-12 * (1 + np.abs(F).max()) * trace * len(F)
    assert hard - size <= value <= hard + mu * trace * np.log(S.dimension) + size
    w = np.linalg.eigvalsh(X)
    assert np.abs(w).sum() <= trace * (1 + 1e-12)
    if make is not SpectralBall:
        assert w[0] >= -1e-12 * trace


@pytest.mark.parametrize("make", SETS)
@given(seed=seeds)
def test_the_response_is_the_gradient(make, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    F, D = rng.standard_normal((2, n, n))
    F, D, h = F + F.T, D + D.T, 1e-5
    S = make(n, 2.0)
    X = soft_response(S, F, 0.7)[1]
    slope = (soft_response(S, F + h * D, 0.7)[0] - soft_response(S, F - h * D, 0.7)[0]) / (2 * h)
    assert slope == pytest.approx(inner(X, D), rel=1e-6, abs=1e-7)


def test_blocks_and_vectors_share_one_softmax():
    rng = np.random.default_rng(0)
    F = np.zeros((5, 5))
    A, B = rng.standard_normal((2, 2)), rng.standard_normal((3, 3))
    F[:2, :2], F[2:, 2:] = A + A.T, B + B.T
    whole, split = Spectraplex(5, 3.0), Spectraplex(5, 3.0, (2, 3))
    np.testing.assert_allclose(soft_response(split, F, 0.5)[1], soft_response(whole, F, 0.5)[1], atol=1e-12)
    f = rng.standard_normal(5)
    value, x = soft_response(ScaledSimplex(5, 3.0), f, 0.5)
    np.testing.assert_allclose(np.diag(soft_response(whole, np.diag(f), 0.5)[1]), x, atol=1e-12)
    assert value == pytest.approx(soft_support(whole, f, 0.5)[0])


@pytest.mark.parametrize("name", ["sdp", "discrepancy", "maxcut", "template"])
@given(seed=seeds, rounds=st.integers(1, 40))
def test_the_gap_keeps_to_its_rate(name, random_game, seed, rounds):
    """upper(y) - lower(X_avg) <= 4 L D^2 / k^2 + mu R ln(dimension), in the first stage."""
    problem = random_game(name, seed)
    if problem is None or not problem.game.Y.is_bounded:
        return
    engine = Smoothing()
    state = engine.init(problem.game, Incumbent(problem))
    D = diameter(problem.game.Y, state.scaled.d)
    for _ in range(rounds):
        before = state
        state = engine._accelerated(problem.game, state)
        assert not state.finished
        assert state.L >= before.L
    upper, lower = problem.game.upper(state.y), problem.game.lower(state.X)[0]
    S = problem.game.S
    allowed = 4 * state.L * D**2 / (rounds + 1) ** 2 + state.mu * S.trace * np.log(max(S.dimension, 1))
    assert upper - lower <= allowed * (1 + 1e-9) + 1e-10 * (problem.scale + abs(upper))
    np.testing.assert_allclose(state.image_y, problem.game.image(state.y), atol=1e-9 * problem.scale)


def test_continuation_goes_on_where_one_stage_would_stand():
    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((60, 8)) + 0.5, rng.standard_normal((40, 8)))
    solution = ml.solve(problem, "smoothing", tol=1e-3, max_iter=20_000)
    assert solution.status == "optimal"
    engine = Smoothing()
    state, incumbent = engine.init(problem.game, Incumbent(problem)), Incumbent(problem)
    stages = {state.mu}
    for _ in range(800):
        state = engine.step(problem.game, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        stages.add(state.mu)
    assert len(stages) >= 3
    assert min(stages) == state.mu  # mu only falls


def test_the_arrays_of_other_libraries(backend):
    rng = np.random.default_rng(0)
    Xs, Xt = rng.standard_normal((12, 4)), rng.standard_normal((9, 4)) + 0.3
    mine = ml.solve(Discrepancy(backend.array(Xs), backend.array(Xt)), "smoothing", tol=1e-2)
    numpys = ml.solve(Discrepancy(Xs, Xt), "smoothing", tol=1e-2)
    assert mine.status == numpys.status == "optimal"
    assert mine.upper == pytest.approx(numpys.upper, rel=1e-2)


def test_images_that_are_not_finite_end_it():
    class Broken(RankOneMap):
        def adjoint(self, X):
            return super().adjoint(X) * np.nan

    problem = Discrepancy(np.eye(3), np.ones((2, 3)))
    good = problem.game
    game = Game(good.C, Broken(good.A.P), good.c, good.S, good.Y)
    engine = Smoothing()
    state = engine._accelerated(game, engine.init(game, Incumbent(problem)))
    assert "not finite" in state.finished


def test_what_it_cannot_play_is_refused():
    assert "bounded" in Smoothing().objection(ml.LinearSDP(np.eye(2), [-np.eye(2)], [-0.5], 1.0).standard.program)
    assert "plays games" in Smoothing().objection(Opaque())
