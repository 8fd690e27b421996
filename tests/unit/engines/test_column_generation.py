"""Column generation: its law, the restriction that it works with, and that few columns are enough."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import ColumnGeneration, Incumbent, InteriorPoint
from matrixlearn.engines.column_generation import Columns
from matrixlearn.linalg import inner
from matrixlearn.maps import DenseMap, RankOneMap, ScaledMap, SparseMap
from matrixlearn.testing.laws.engine import Opaque

seeds = st.integers(0, 2**32 - 1)
GAMES = ["sdp", "discrepancy", "maxcut", "template"]


def gaussian(m, n, N, seed=0, **options):
    rng = np.random.default_rng(seed)
    return Discrepancy(rng.standard_normal((m, N)) + 1.0, rng.standard_normal((n, N)) * 2.0, **options)


def test_the_law_holds_and_every_instance_is_solved(instances, hold_the_law):
    able = [pair for pair in instances if ColumnGeneration().name in ml.methods(pair[0])]
    assert hold_the_law(ColumnGeneration(), able, 1e-6, 400) == len(able) >= 0.8 * len(instances)


@pytest.mark.parametrize("name", GAMES)
@given(seed=seeds)
@example(seed=365)  # a face of one point, which rounding puts outside
def test_what_a_restricted_game_says_of_its_points_the_whole_game_says(name, random_game, seed):
    """Upper values agree, the lower value of the whole is at most the restricted one, and <A_I(y), X> = y . A_I*(X)."""
    game = random_game(name, seed)
    if game is None or not game.game.Y.is_bounded:
        return
    rng = np.random.default_rng(seed)
    m, n = game.game.Y.size, game.game.S.n
    index = np.flatnonzero(rng.random(m) < 0.6)
    if len(index) == 0:
        return
    at = game.game.Y.minimize(rng.standard_normal(m))[1]
    columns = Columns(game.game, index, at)
    part = columns.game
    np.testing.assert_allclose(columns.embedded(at[index]), at)
    G = rng.standard_normal((n, n))
    X = game.game.S.project((G + G.T) / 2 + 0 * game.game.C)
    y = part.Y.project(rng.standard_normal(len(index)))
    whole = game.game.Y.project(columns.embedded(y))
    size = 1e-9 * (game.scale + abs(game.game.upper(whole)))
    np.testing.assert_allclose(whole, columns.embedded(y), atol=1e-9 * (1 + np.abs(whole).max()))
    assert part.upper(y) == pytest.approx(game.game.upper(whole), abs=size)
    assert part.value(X, y) == pytest.approx(game.game.value(X, whole), abs=size)
    assert game.game.lower(X)[0] <= part.lower(X)[0] + size
    assert inner(part.A.apply(y), X) == pytest.approx(y @ part.A.adjoint(X), abs=size)
    np.testing.assert_allclose(part.image(y), game.game.image(whole), atol=size)


@given(seed=seeds)
def test_the_members_of_a_family_by_themselves(seed):
    import scipy.sparse as sp

    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    A = rng.standard_normal((m, n, n))
    dense = DenseMap(A + A.transpose(0, 2, 1))
    families = [
        dense,
        RankOneMap(rng.standard_normal((m, n))),
        SparseMap(sp.csr_array(dense.A.reshape(m, n * n)), n),
        ScaledMap(dense, rng.choice([-1.0, 1.0], m)),
    ]
    for family in families:
        index = rng.permutation(family.shape[0])[: int(rng.integers(1, family.shape[0] + 1))]
        part = family.at(index)
        assert part.shape == (len(index), n)
        for k, j in enumerate(index):
            np.testing.assert_array_equal(part.matrix(k), family.matrix(int(j)))
        np.testing.assert_allclose(part.norms, family.norms[index])


@pytest.mark.parametrize("cap", [None, 3.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_many_points_are_solved_on_few_of_them(cap, seed):
    """The interior point on all points is the judge: its certified bounds and ours overlap."""
    problem = gaussian(700, 100, 12, seed, max_weight=cap)
    ours, all_points = (ml.solve(problem, method, tol=1e-7) for method in ("column-generation", "interior-point"))
    assert ours.status == all_points.status == "optimal"
    assert ours.lower <= all_points.upper and all_points.lower <= ours.upper
    seen, engine = 0, ColumnGeneration()
    incumbent = Incumbent.first(problem)
    state = engine.init(problem.game, incumbent)
    while incumbent.gap > 1e-7 and not state.finished:
        state = engine.step(problem.game, state, incumbent)
        seen = max(seen, len(state.columns.index))
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
    assert incumbent.gap <= 1e-7
    assert seen <= 400


def test_where_no_column_is_left_to_join_the_matrix_proves_as_much_of_the_whole():
    problem = gaussian(300, 100, 8)
    engine, incumbent = ColumnGeneration(), Incumbent.first(problem)
    state = engine.init(problem.game, incumbent)
    found = False
    for _ in range(200):
        columns, inner_state = state.columns, state.inner
        state = engine.step(problem.game, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
            reduced = problem.game.prices(proposal.X) + 0.0
            theta = -np.min(reduced[columns.index])  # of the cheapest column in I: the multiplier of sum y = 1
            outside = np.setdiff1d(np.arange(300), columns.index)
            if np.all(reduced[outside] + theta >= 0):
                found = True
                assert problem.game.lower(proposal.X)[0] == pytest.approx(columns.game.lower(proposal.X)[0], rel=1e-12)
        if incumbent.gap < 1e-8 or state.finished:
            break
    assert found and inner_state is not None


def test_the_order_and_the_units_of_the_points_do_not_matter():
    rng = np.random.default_rng(0)
    Xs, Xt = rng.standard_normal((500, 10)) + 1.0, 2.0 * rng.standard_normal((80, 10))
    order = rng.permutation(500)
    plain = ml.solve(Discrepancy(Xs, Xt), "column-generation", tol=1e-8)
    turned = ml.solve(Discrepancy(Xs[order], Xt), "column-generation", tol=1e-8)
    scaled = ml.solve(Discrepancy(1e4 * Xs, 1e4 * Xt), "column-generation", tol=1e-8)
    assert turned.value == pytest.approx(plain.value, rel=1e-7)
    assert scaled.value / 1e8 == pytest.approx(plain.value, rel=1e-7)
    np.testing.assert_allclose(turned.y, plain.y[order], atol=1e-4)


def test_auto_takes_it_for_many_points_and_says_why():
    solution = ml.solve(gaussian(450, 100, 6), tol=1e-3)
    assert solution.method == "column-generation"
    assert "m = 450" in solution.explain()
    assert ml.solve(gaussian(60, 50, 6), tol=1e-3).method == "interior-point"
    assert not ColumnGeneration().preferred(
        ml.LinearSDP(np.eye(2), np.ones((500, 2)), np.ones(500)).standard.program.game, 1e-3
    )


def test_a_warm_start_begins_with_its_points():
    problem = gaussian(600, 100, 10)
    first = ml.solve(problem, "column-generation", tol=1e-4)
    again = ml.solve(problem, "column-generation", tol=1e-8, warm_start=first)
    cold = ml.solve(problem, "column-generation", tol=1e-8)
    assert again.status == "optimal"
    assert again.iterations < cold.iterations


def test_the_limit_of_double_precision_ends_it():
    for problem in (
        gaussian(40, 30, 4),
        gaussian(500, 30, 4, max_weight=2.0),
        ml.LinearSDP.random(np.random.default_rng(1)),
    ):
        solution = ml.solve(problem, "column-generation", tol=1e-17, atol=0, max_iter=2000)
        assert solution.status == "stopped"
        assert "numerical limit" in solution.explain()
        assert solution.gap <= 1e-9
        solution.certificate.verify()


def test_a_start_that_fails_is_replaced_by_a_cold_one():
    problem = gaussian(500, 100, 10)
    engine, incumbent = ColumnGeneration(), Incumbent.first(problem)
    from dataclasses import replace

    state = engine.init(problem.game, incumbent)
    broken = replace(state, inner=replace(state.inner, t=-1.0), warm=True)  # S is not positive definite
    state = engine.step(problem.game, broken, incumbent)
    assert not state.finished and not state.warm and state.inner.t > 0
    broken = replace(state, inner=replace(state.inner, t=-1.0))
    assert "factorization" in engine.step(problem.game, broken, incumbent).finished


def test_the_arrays_of_other_libraries(backend):
    rng = np.random.default_rng(0)
    Xs, Xt = rng.standard_normal((60, 4)) + 0.3, 2.0 * rng.standard_normal((9, 4))
    mine = ml.solve(Discrepancy(backend.array(Xs), backend.array(Xt)), "column-generation", tol=1e-6)
    numpys = ml.solve(Discrepancy(Xs, Xt), InteriorPoint(), tol=1e-6)
    assert mine.status == "optimal"
    assert mine.upper == pytest.approx(numpys.upper, rel=1e-5)


def test_what_it_cannot_play_is_refused():
    assert "bounded" in ColumnGeneration().objection(
        ml.LinearSDP(np.eye(2), [-np.eye(2)], [-0.5], 1.0).standard.program
    )
    refused = ColumnGeneration().objection(Opaque())
    assert "plays games" in refused and "column-generation" in refused
