"""Restarted PDHG: its law on random instances, and what its theory promises of every round."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import HybridGradient, Incumbent
from matrixlearn.engines.pdhg import operator_norm
from matrixlearn.engines.restarts import Restarts
from matrixlearn.engines.saddle import ScaledSet, metric, nearest
from matrixlearn.linalg import inner
from matrixlearn.maps import RankOneMap
from matrixlearn.problems import Game
from matrixlearn.sets import ScaledSimplex, SpectralBall, SpectralSet, Spectraplex, TraceBall
from matrixlearn.testing.laws.engine import Opaque
from matrixlearn.testing.strategies import hermitian, symmetric


def gaussian(m=60, n=40, N=8, seed=0):
    rng = np.random.default_rng(seed)
    return Discrepancy(rng.standard_normal((m, N)) + 0.5, rng.standard_normal((n, N)))


def rounds(problem, count):
    """The states of the first rounds."""
    engine = HybridGradient()
    state = engine.init(problem.game, Incumbent(problem))
    out = [state]
    for _ in range(count):
        out.append(engine.step(problem.game, out[-1], Incumbent(problem)))
    return out


def test_the_law_holds_and_every_instance_is_solved(instances, hold_the_law):
    assert hold_the_law(HybridGradient(), instances, 1e-4, 2000) == len(instances)


@pytest.mark.parametrize("make", [Spectraplex, TraceBall, SpectralBall])
@given(F=symmetric() | hermitian(), trace=st.sampled_from([1e-3, 1.0, 50.0, 1e6]), split=st.booleans())
def test_the_projection_is_the_nearest_point(make, F, trace, split):
    """<F - P, Q - P> <= 0 for all Q in S, that is sigma_S(F - P) <= <F - P, P>; and P is in S."""
    n = len(F)
    S = make(n, trace, (1, n - 1) if split and n > 1 else ())
    if S.blocks:
        F = S.hermitian_blocks(F)
    P = nearest(S, F)
    rest = F - P
    size = 1e-12 * (1 + np.linalg.norm(F) + trace) ** 2 * n
    assert S.support(rest) <= inner(rest, P) + size
    w = np.linalg.eigvalsh(P)
    assert np.sum(np.abs(w)) <= trace * (1 + 1e-12)
    if make is not SpectralBall:
        assert w[0] >= -1e-12 * trace
    if make is Spectraplex:
        assert w.sum() == pytest.approx(trace, rel=1e-12)


@given(w=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9), trace=st.sampled_from([1e-3, 1.0, 1e4]))
def test_the_projection_of_a_vector(w, trace):
    w = np.array(w)
    p = nearest(ScaledSimplex(len(w), trace), w)
    assert p.min() >= 0 and p.sum() == pytest.approx(trace, rel=1e-12)
    assert trace * np.max(w - p) <= (w - p) @ p + 1e-12 * (1 + trace) * (1 + np.abs(w).max()) * len(w)


def test_a_total_below_the_rounding_of_the_eigenvalues_is_kept():
    np.testing.assert_array_equal(nearest(ScaledSimplex(3, 1e-3), np.array([1e20, 3.0, -1e20])), [1e-3, 0, 0])


@given(seed=st.integers(0, 2**32 - 1))
def test_the_scaled_projection_is_nearest_in_its_metric(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    d, z = 10.0 ** rng.uniform(-2, 2, m), rng.standard_normal(m) * 10.0 ** rng.uniform(-2, 2)
    Y = ml.sets.KnapsackSet.simplex(m, cap=float(rng.choice([np.inf, 1.5 / m])))
    p = ScaledSet.of(Y, d).nearest(z)
    least, _ = Y.minimize(-(z - p) * d)  # max over Q in Y of <z - p, d o Q>
    assert -least <= (z - p) @ p + 1e-9 * (1 + np.abs(z).max()) * (1 + d.max())


@pytest.mark.parametrize("name", ["sdp", "discrepancy", "maxcut", "template"])
def test_every_round_keeps_to_the_step_rule_and_inside_the_sets(name, random_game):
    drawn = (random_game(name, seed) for seed in range(4, 100))
    problem = next(p for p in drawn if p is not None and p.game.Y.is_bounded)
    S, Y, d = problem.game.S, problem.game.Y, metric(problem.game)
    states = rounds(problem, 40)
    for before, after in pairwise(states):
        now = after.now
        assert after.eta > 0
        np.testing.assert_allclose(now.y, Y.project(now.y), atol=1e-12 * (1 + np.abs(now.y).max()))
        assert np.abs(S.eigenvalues(now.X)).sum() <= S.trace * (1 + 1e-10)
        for point in (now, after.average):  # the images are carried along, not computed again
            np.testing.assert_allclose(point.image, problem.game.image(point.y), atol=1e-9 * problem.scale)
            np.testing.assert_allclose(point.prices, problem.game.prices(point.X), atol=1e-9 * (1 + d.max() * S.trace))
        if after.restarts.since == before.restarts.since + 1:
            assert after.mass > before.mass  # the accepted step joins the average
            eta = after.mass - before.mass
            dX, dz = now.X - before.now.X, d * (now.y - before.now.y)
            coupling = abs(inner(problem.game.A.apply(now.y - before.now.y), dX))
            size = after.omega * dz @ dz + inner(dX, dX) / after.omega
            assert 2 * eta * coupling <= size * (1 + 1e-6) + 1e-14 * problem.scale


def test_the_power_method_finds_the_norm():
    problem = gaussian()
    d = metric(problem.game)
    A = np.stack([problem.game.A.matrix(j).ravel() / d[j] for j in range(len(d))])
    exact = np.linalg.norm(A, 2)
    assert 0.9 * exact <= operator_norm(problem.game, d, 50) <= exact * (1 + 1e-12)


def test_accuracy_costs_rounds_in_proportion_to_its_digits():
    """Restarts: measured 47 rounds to 1e-2 and about 40 more for every two digits; without them 1 / epsilon."""
    counts = [ml.solve(gaussian(), "pdhg", tol=tol).iterations for tol in (1e-3, 1e-5, 1e-7)]
    assert counts[2] - counts[1] <= 3 * counts[1]
    assert counts[2] <= 600


def test_the_units_of_a_constraint_do_not_matter():
    """A_j -> k_j A_j, b_j -> k_j b_j, powers of four: the same rounds, to the last bit but for the order of sums."""
    problem = ml.LinearSDP.random(np.random.default_rng(1))
    A = np.stack([problem.family.matrix(j) for j in range(len(problem.b))])
    k = 4.0 ** np.array([(7 * j) % 11 - 5 for j in range(len(problem.b))])
    b = np.abs(problem.b) + 0.1
    mine = ml.solve(ml.LinearSDP(problem.C, A, b, problem.trace_bound), "pdhg", tol=1e-6)
    scaled = ml.solve(ml.LinearSDP(problem.C, A * k[:, None, None], b * k, problem.trace_bound), "pdhg", tol=1e-6)
    assert scaled.status == mine.status == "optimal"
    assert abs(scaled.iterations - mine.iterations) <= 2
    assert scaled.value == pytest.approx(mine.value, rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_the_limit_of_double_precision_ends_it_with_the_best_bounds(seed):
    problem = ml.LinearSDP.random(np.random.default_rng(seed))
    solution = ml.solve(problem, "pdhg", tol=1e-17, atol=0)
    assert solution.status == "stopped"
    assert "numerical limit" in solution.explain()
    assert solution.gap <= 1e-10
    solution.certificate.verify()


def test_images_that_are_not_finite_end_it():
    class Broken(RankOneMap):
        calls = 0

        def adjoint(self, X):
            type(self).calls += 1
            return super().adjoint(X) * (np.nan if self.calls > 40 and self.calls % 7 == 0 else 1.0)

    # every seventh product is lost: the engine notices the one that is its own
    good = gaussian().game
    game = Game(good.C, Broken(good.A.P), good.c, good.S, good.Y)
    engine = HybridGradient(Restarts(checks=10**9))
    state = engine.init(game, Incumbent(gaussian()))
    for _ in range(60):
        state = engine._moved(game, state)
        if state.finished:
            break
    assert "not finite" in state.finished
    assert np.all(np.isfinite(state.now.X))


def test_a_warm_start_is_the_first_iterate():
    problem = gaussian()
    first = ml.solve(problem, "pdhg", tol=1e-4)
    again = ml.solve(problem, "pdhg", tol=1e-7, warm_start=first)
    cold = ml.solve(problem, "pdhg", tol=1e-7)
    assert again.status == "optimal"
    assert again.iterations < cold.iterations


def test_the_arrays_of_other_libraries(backend):
    def problems(array):
        rng = np.random.default_rng(0)
        yield Discrepancy(array(rng.standard_normal((12, 4))), array(rng.standard_normal((9, 4)) + 0.3))
        G = rng.standard_normal((4, 4, 4)) + 1j * rng.standard_normal((4, 4, 4))
        H = G + np.conj(np.swapaxes(G, 1, 2))
        yield ml.LinearSDP(array(H[0]), array(np.stack([*H[1:], np.eye(4)])), [1.0, 2.0, 3.0, 2.0])

    for mine, numpys in zip(problems(backend.array), problems(np.asarray), strict=True):
        a, b = ml.solve(mine, "pdhg", tol=1e-6), ml.solve(numpys, "pdhg", tol=1e-6)
        assert a.status == b.status == "optimal"
        assert a.value == pytest.approx(b.value, rel=2e-6)


def test_what_it_cannot_play_is_refused_before_the_first_round():
    class Ellipsoid(SpectralSet):
        def support_of(self, eigenvalues):
            return float(np.linalg.norm(eigenvalues))

        clip = best_response = center = None

    Ellipsoid.__abstractmethods__ = frozenset()

    problem = Discrepancy(np.eye(2), np.ones((1, 2)))
    game = problem.game
    strange = Game(game.C, game.A, game.c, Ellipsoid(2, 1.0), game.Y)
    assert "register" in HybridGradient().objection_to(strange)
    unbounded = ml.LinearSDP(np.eye(2), [-np.eye(2)], [-0.5], 1.0).standard.program
    assert "bounded" in HybridGradient().objection(unbounded)
    assert "plays games" in HybridGradient().objection(Opaque())


def test_a_round_is_the_step_of_y_and_then_that_of_x_at_twice_the_new_image_less_the_old():
    """z' = P_Y(z - (eta / omega) (c - A*(X)) / d),   X' = P_S(X + eta omega (2 F(y') - F(y))),   F = C - A(y)."""
    problem = gaussian(m=5, n=7, N=4)
    game = problem.game
    before, after = rounds(problem, 6)[4:6]
    d, eta, omega = before.scaled.d, after.mass - before.mass, before.omega
    now = before.now
    z = before.scaled.nearest(d * now.y - (eta / omega) * game.prices(now.X) / d)
    np.testing.assert_allclose(after.now.y, z / d, atol=1e-13)
    ahead = 2 * game.image(z / d) - game.image(now.y)
    np.testing.assert_allclose(after.now.X, nearest(game.S, now.X + eta * omega * ahead), atol=1e-13)
    assert np.linalg.norm(game.image(z / d) - game.image(now.y)) > 1e-6
