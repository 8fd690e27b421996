"""GSpartan: the kit, the blockwise certificate at any point, descent, what is sent, the estimator, strange data."""

import warnings
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_network import BlockCoordinateDescent, GraphWarning, GSpartan, GSpartanRegressor, complete
from matrixlearn_network.factors import Factors
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml
from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Local, Shards
from matrixlearn.present import presenter_of
from matrixlearn.testing import parametrize_with_checks as parametrize_with_kit
from matrixlearn.testing.reference import optimum_of

seeds = st.integers(0, 2**31 - 2)


@parametrize_with_kit([GSpartan])
def test_kit(check):
    check()


def instance(seed):
    rng = np.random.default_rng(seed)
    problem = GSpartan.random(rng)
    point = rng.standard_normal(problem.shape) * (rng.random(problem.shape) < 0.7)
    return problem, problem.factors(10.0 ** rng.uniform(-2, 1) * point), rng


@settings(max_examples=15)
@given(seeds)
def test_no_factor_alone_gets_below_the_lower_bound(seed):
    problem, at, _ = instance(seed)
    bound = problem.bound_from_matrix(at.stacked)
    assert bound.lower <= problem.value(at) <= bound.upper <= problem.value(at) * (1 + 1e-10)
    for j in range(2):
        block = optimum_of(lambda j=j: problem.block_references(at.stacked)[j], problem.gap_floor)
        if block.is_sharp:
            assert bound.lower <= block.value + block.error


@given(seeds)
def test_the_objective_is_its_definition_and_its_gradients_are_those_of_differences(seed):
    problem, at, rng = instance(seed)
    L = problem.graph.laplacian.toarray()
    S = [(problem.X[problem.task == t], problem.Y[problem.task == t]) for t in problem.tasks]

    def smooth(U, V):
        fits = sum(np.sum((X @ U @ v - y) ** 2) for (X, y), v in zip(S, V, strict=True))
        return fits / 2 + problem.tie / 2 * np.trace(U @ V.T @ L @ V @ U.T)

    whole = smooth(at.U, at.V) + problem.mix * at.V.sum() + problem.base * np.abs(at.U).sum()
    assert problem.value(at) == pytest.approx(whole, rel=1e-10)
    slopes = [X.T @ (X @ at.U @ v - y) for (X, y), v in zip(S, at.V, strict=True)]
    by_U = np.array(slopes).T @ at.V + problem.tie * at.U @ at.V.T @ L @ at.V
    by_V = np.array(slopes) @ at.U + problem.tie * L @ at.V @ at.U.T @ at.U
    for gradient, move in ((by_U, lambda D, h: (at.U + h * D, at.V)), (by_V, lambda D, h: (at.U, at.V + h * D))):
        D = rng.standard_normal(gradient.shape)
        h = 1e-4
        difference = (smooth(*move(D, h)) - smooth(*move(D, -h))) / (2 * h)
        size = abs(smooth(at.U, at.V)) + np.linalg.norm(gradient) * np.linalg.norm(D) + problem.scale
        assert float(np.vdot(gradient, D)) == pytest.approx(difference, abs=1e-6 * size)


@given(seeds)
def test_the_objective_never_rises(seed):
    problem, _, _ = instance(seed)
    engine, start = BlockCoordinateDescent(rounds=1), Incumbent.first(problem)
    state = engine.init(problem, start)
    values = [state.value]
    for _ in range(40):
        state = engine.step(problem, state, start)
        values.append(problem.value(state.at))
        if state.finished:
            break
    assert all(later <= earlier for earlier, later in pairwise(values))


@given(seeds)
def test_a_column_shares_its_size_as_costs_least(seed):
    problem, at, rng = instance(seed)
    used = np.any(at.U, axis=0) & np.any(at.V, axis=0)
    at = Factors(at.U * used, at.V * used)
    c = at.balance(problem.terms)
    best = problem.value(Factors(at.U * c, at.V / c))
    other = c * np.exp(rng.standard_normal(len(c)))
    for scale in (np.ones(len(c)), other):
        assert best <= problem.value(Factors(at.U * scale, at.V / scale)) * (1 + 1e-10)


def test_what_is_sent_is_what_a_count_by_hand_says():
    """Each round U goes to all twice, as both steps need it; v_s and a gradient come back, v^_s goes to neighbours."""
    rng = np.random.default_rng(0)
    m, d, k, edges = 8, 4, 2, 8 * 7 // 2
    X = rng.standard_normal((m * 5, d))
    problem = GSpartan(X, X[:, 0], None, k, 0.1, 0.1, 0.1, task=np.repeat(np.arange(m), 5))
    engine = BlockCoordinateDescent(rounds=1)
    state = engine.init(problem, Incumbent.first(problem))
    before = state.ledger.up
    assert before == m  # the norms of the Gram matrices, once
    state = engine.step(problem, state, None)
    ledger = state.ledger
    assert (ledger.rounds, ledger.up - before) == (1, m * (k + d))
    assert (ledger.down, ledger.between) == (2 * m * d * k, 2 * edges * k)


def test_machines_that_load_their_rows_give_the_answer_of_rows_at_hand():
    problem, _, _ = instance(72)
    blocks = [(problem.X[problem.task == t], problem.Y[problem.task == t]) for t in problem.tasks]
    given = problem.parameters() | {"X": Shards.loaded(lambda k: blocks[k], range(len(blocks))), "Y": None}
    loaded = GSpartan(**(given | {"task": None}))
    np.testing.assert_allclose(ml.solve(loaded, tol=1e-7).value, ml.solve(problem, tol=1e-7).value, rtol=1e-6)


def test_sparse_base_models_are_found_and_told():
    rng = np.random.default_rng(3)
    m, n, d = 20, 30, 12
    base = np.zeros((d, 2))
    base[:3, 0], base[4:7, 1] = [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]
    W = base @ rng.random((2, m))
    X, task = rng.standard_normal((m * n, d)), np.repeat(np.arange(m), n)
    y = np.sum(X * W.T[task], axis=1) + 0.3 * rng.standard_normal(m * n)
    problem = GSpartan(X, y, complete(m), 2, 5.0, 5.0, 1.0, task=task)
    solution = ml.solve(problem, tol=1e-6)
    assert solution.status == "stationary"
    U = problem.factors(solution.matrix).U
    assert np.all(np.any(U != 0, axis=1) == np.any(base != 0, axis=1))
    assert np.abs(problem.weights(solution) - W).mean() < 0.1
    assert "2 base models used" in solution.summary() and "sent:" in solution.explain()
    columns = presenter_of(GSpartan).columns(solution)
    np.testing.assert_array_equal(columns["w5"], problem.weights(solution)[4])


# -- what cannot be, and what is strange -------------------------------------------------------------

RNG = np.random.default_rng(0)
X, TASK = RNG.standard_normal((12, 2)), np.repeat(np.arange(3), 4)
Y = X @ [1.0, -1.0] + 0.1 * RNG.standard_normal(12)


def posed(**changed):
    return GSpartan(**({"X": X, "Y": Y, "rank": 2, "mix": 0.1, "base": 0.1, "tie": 0.1, "task": TASK} | changed))


REFUSED = {
    "rank must be a number of base models, 1, 2, ..., got 0": {"rank": 0},
    "got 1.5": {"rank": 1.5},
    "mix must be > 0: with 0 a factor costs nothing": {"mix": 0.0},
    "base must be >= 0 and finite, got -1": {"base": -1.0},
    "tie must be >= 0 and finite, got inf": {"tie": np.inf},
    "mix.*nan": {"mix": np.nan},
    "X.*NaN": {"X": np.full((12, 2), np.nan)},
    "Y.*NaN": {"Y": np.full(12, np.nan)},
    "graph has 2 nodes, and there are 3 tasks": {"graph": complete(2)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_by_name(message):
    with pytest.raises(ProblemError, match=message):
        posed(**REFUSED[message])


STRANGE = {
    "one task": {"task": np.zeros(12, int)},
    "one feature": {"X": X[:, :1]},
    "more base models than tasks and features": {"rank": 7},
    "all features zero": {"X": np.zeros((12, 2))},
    "targets of zero": {"Y": np.zeros(12)},
    "penalties that leave nothing": {"mix": 1e3, "base": 1e3},
    "no graph": {"tie": 0.0},
    "small units": {"X": 1e-6 * X, "Y": 1e-6 * Y, "mix": 1e-10, "base": 1e-10, "tie": 1e-12},
    "weights of rows": {"sample_weight": np.arange(12.0) % 4},
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_strange_is_solved(what):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        problem = posed(**STRANGE[what])
    solution = ml.solve(problem, tol=1e-6, max_iter=500)
    assert solution.status == "stationary", solution.explain()


def test_machines_without_a_hub_and_late_messages_are_refused_by_name():
    engine = BlockCoordinateDescent()
    assert "needs a hub, which keeps U" in engine.objection(posed(machines=Local(hub=False)))
    assert "late or lost" in engine.objection(posed(machines=Local(delay=1)))


# -- the estimator -----------------------------------------------------------------------------------


@parametrize_with_checks([GSpartanRegressor()], xfail_strict=True)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_estimator_is_the_problem_of_centred_rows():
    model = GSpartanRegressor(2, mix=0.1, base=0.1, tie=0.1).fit(X, Y, TASK)
    np.testing.assert_allclose(model.coef_, model.mixture_ @ model.base_models_)
    assert np.all(model.mixture_ >= 0)
    scaled = GSpartanRegressor(2, mix=0.1, base=0.1, tie=0.1).fit(X, 1e3 * Y, TASK)
    np.testing.assert_allclose(scaled.coef_, 1e3 * model.coef_, rtol=1e-6)
    shifted = GSpartanRegressor(2, mix=0.1, base=0.1, tie=0.1).fit(X, Y + 100.0 * TASK, TASK)
    np.testing.assert_allclose(shifted.coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(shifted.intercept_ - model.intercept_, [0.0, 100.0, 200.0], atol=1e-6)
    assert "vectors" in str(model.ledger_)
    with pytest.raises(ValueError, match="rank must be"):
        GSpartanRegressor(0).fit(X, Y, TASK)


def test_the_picture_counts_rounds_and_not_iterations():
    mpl.use("Agg")
    model = GSpartanRegressor(2, mix=0.1, base=0.1, tie=0.1, tol=1e-7).fit(X, Y, TASK)
    axes = [each for each in model.plot().axes if each.get_xlabel()]
    assert [each.get_xlabel() for each in axes] == ["rounds", "vectors sent"]
    at = [each.lines[0].get_xdata() for each in axes]
    assert at[0][-1] == pytest.approx(model.ledger_.rounds, abs=20)
    assert at[1][-1] == pytest.approx(model.ledger_.vectors, rel=0.5)
