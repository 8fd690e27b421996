"""FETR's engines: descent, stationarity, invariances, bounded where earlier forms are not."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrixlearn_fetr import (
    FETR,
    Alternating,
    FlipFlop,
    PrecisionPair,
    Pruning,
    SpectralPrecision,
    feature_precision,
    task_precision,
)
from matrixlearn_fetr.engines import _without_one
from scipy.optimize import minimize

import matrixlearn as ml
from matrixlearn.testing.strategies import random_instance, rotation

seeds = st.integers(0, 2**31 - 1)
problems = st.builds(random_instance, st.just(FETR), seeds)


def data(rng, d, m, n=12):
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal((d, m)) + 0.3 * rng.standard_normal((n, m))


@given(problems, st.sampled_from(["joint", "pruning", "alternating", "gradient", "flip-flop", "proximal-gradient"]))
def test_the_objective_never_rises_and_bounds_hold(problem, method):
    solution = ml.solve(problem, method=method, tol=1e-9, max_iter=25)
    upper = solution.history.column("upper")
    assert np.all(np.diff(upper) <= 0)
    assert solution.lower <= solution.value <= solution.upper
    assert solution.certificate.rigour == "blockwise"


@given(problems)
def test_each_half_of_a_joint_step_lowers_the_objective_by_what_it_says(problem):
    point = problem.first_points()[0][0]
    value = problem.objective_at(point, None)
    slack = 1e-10 * problem.scale
    for form in problem.estimate(point).precisions.majorizers():
        there, achieved, at_most = problem.weight_step(point, form)
        assert -slack <= achieved <= at_most + slack
        assert problem.objective_at(there, None) <= value - achieved + slack


@given(problems)
def test_the_published_alternation_never_raises_its_own_objective(problem):
    engine = Alternating()
    incumbent = ml.engines.Incumbent.first(problem)
    state = engine.init(problem, incumbent)
    for _ in range(15):
        then = engine.step(problem, state, incumbent)
        assert then.value <= state.value + 1e-10 * problem.scale
        state = then


@settings(max_examples=settings().max_examples // 2)
@given(problems)
def test_stationary_means_that_no_block_improves(problem):
    solution = ml.solve(problem, tol=1e-10, max_iter=500)
    assume(solution.status == "stationary")
    found, allowed = problem.estimate(solution), 1e-9 * (abs(solution.value) + problem.scale)
    V, pair = found.deviations, found.precisions
    assert problem.value(solution.matrix, pair) == pytest.approx(solution.value, abs=allowed)
    S1 = feature_precision(V, pair.task, problem.lower, problem.upper)
    S2 = task_precision(V, pair.feature, problem.lower, problem.upper)
    W, _, _ = problem.weight_step(solution.matrix, pair)
    for point, other in (
        (W, pair),
        (solution.matrix, PrecisionPair(S1, pair.task)),
        (solution.matrix, PrecisionPair(pair.feature, S2)),
    ):
        assert problem.value(point, other) >= solution.value - allowed


@settings(max_examples=settings().max_examples // 2)
@given(problems)
def test_no_descent_of_another_kind_goes_on_from_there(problem):
    """L-BFGS on the objective as a function of the point alone, started at our answer and kept near it: a long first
    step could find another valley."""
    solution = ml.solve(problem, tol=1e-10, max_iter=500)
    assume(solution.status == "stationary")
    shape = solution.matrix.shape
    value = lambda x: problem.objective_at(x.reshape(shape), None) / problem.scale
    x = solution.matrix.reshape(-1)
    near = 1e-2 * np.max(np.abs(x), initial=1e-12)
    ended = minimize(value, x, method="L-BFGS-B", bounds=np.column_stack([x - near, x + near]), options={"gtol": 1e-9})
    further = ended.fun * problem.scale
    assert further >= solution.value - 1e-5 * (abs(solution.value) + problem.scale)


@given(problems, st.floats(-6, 3))
def test_the_objective_counts_from_the_least_that_it_can_be(problem, size):
    """F >= 0 everywhere, and F and the floor are the paper's objective."""
    rng = np.random.default_rng(0)
    point = 10.0**size * rng.standard_normal(problem.first_points()[0][0].shape)
    found, slack = problem.estimate(point), 1e-10 * (problem.scale + abs(problem.floor))
    value = problem.objective_at(point, None)
    assert value >= -slack
    d, m = problem.shape
    V, S1, S2 = found.deviations, found.feature_precision, found.task_precision
    trace = np.trace(S1.dense() @ V @ S2.dense() @ V.T) - m * S1.logdet - d * S2.logdet
    rows = [np.arange(len(problem.X))] * m
    if problem.has_own_rows:
        rows = [problem.task == name for name in problem.tasks]
    columns = np.zeros(m, int) if problem.has_own_rows else np.arange(m)
    parts = [(problem.X[r], problem.Y[r, c], w) for r, c, w in zip(rows, columns, found.weights.T, strict=True)]
    loss = sum(np.sum((y - X @ w) ** 2) for X, y, w in parts)
    assert value + problem.floor == pytest.approx(loss + problem.eta * trace, rel=1e-9, abs=1e-9 * problem.scale)
    least = sum(np.sum((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2) for X, y, _ in parts)
    assert problem.loss.least == pytest.approx(least, abs=1e-9 * problem.loss.size)


@pytest.mark.parametrize("mean", ["zero", "shared"])
@pytest.mark.parametrize("eta", [1.0, 30.0])
def test_at_the_default_tol_the_weights_are_near_to_where_they_end(eta, mean):
    """Noise ten times the signal and a large constant: neither may loosen the tolerance."""
    rng = np.random.default_rng(7)
    d, m, n = 8, 30, 40
    task = np.repeat(np.arange(m), n)
    X = rng.standard_normal((m * n, d))
    W = rng.standard_normal((d, 1)) + rng.standard_normal((d, 2)) @ rng.standard_normal((2, m))
    y = np.sum(X * W.T[task], axis=1) + 10 * np.linalg.norm(W, axis=0).mean() * rng.standard_normal(m * n)
    problem = FETR(X, y, eta, task=task, mean=mean)
    loose, tight = (problem.estimate(ml.solve(problem, **tol)).weights for tol in ({}, {"tol": 1e-10}))
    assert np.linalg.norm(loose - tight) <= 0.05 * np.linalg.norm(tight)


# -- invariances -------------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 5), st.integers(1, 5), st.sampled_from(["zero", "shared"]))
def test_permuting_tasks_and_rotating_features_moves_the_answer_with_them(seed, d, m, mean):
    rng = np.random.default_rng(seed)
    X, Y = data(rng, d, m)
    R, order = rotation(d, seed), rng.permutation(m)
    first = FETR(X, Y, 2.0, mean=mean, lower=0.01, upper=100.0)
    moved = FETR(X @ R, Y[:, order], 2.0, mean=mean, lower=0.01, upper=100.0)
    one, two = ml.solve(first, tol=1e-12, max_iter=8), ml.solve(moved, tol=1e-12, max_iter=8)
    assert two.value == pytest.approx(one.value, rel=1e-8, abs=1e-8 * first.scale)
    a, b = first.estimate(one), moved.estimate(two)
    if one.status == two.status == "stationary":
        np.testing.assert_allclose(R @ b.weights, a.weights[:, order], atol=1e-4 * (1 + np.abs(a.weights).max()))


@settings(max_examples=settings().max_examples // 3)
@given(seeds, st.sampled_from(["zero", "shared"]))
def test_own_rows_shared_rows_batches_and_moments_are_one_problem(seed, mean):
    rng = np.random.default_rng(seed)
    X, Y = data(rng, 3, 4)
    options = {"eta": 1.5, "mean": mean}
    shared = FETR(X, Y, **options)
    others = [
        FETR([X] * 4, list(Y.T), **options),
        FETR(np.vstack([X] * 4), Y.T.reshape(-1), task=np.repeat(["d", "a", "c", "b"], len(X)), **options),
        FETR.from_batches(((X[i : i + 5], Y[i : i + 5]) for i in range(0, len(X), 5)), **options),
        FETR(gram=X.T @ X, cross=X.T @ Y, square=np.sum(Y**2, axis=0), **options),
        FETR(np.asfortranarray(X), Y, **options),
    ]
    point = rng.standard_normal(ml.solve(shared, max_iter=0).matrix.shape)
    expected = shared.bound_from_matrix(point)
    for other in others:
        bound = other.bound_from_matrix(point)
        assert bound.upper == pytest.approx(expected.upper, rel=1e-9)
        assert bound.lower == pytest.approx(expected.lower, rel=1e-3)
        assert ml.solve(other, tol=1e-9).value == pytest.approx(ml.solve(shared, tol=1e-9).value, rel=1e-6)
    assert others[1].tasks.tolist() == ["d", "a", "c", "b"]


def test_equal_bounds_are_ridge_regression():
    X, Y = data(np.random.default_rng(0), 3, 2)
    solution = ml.solve(FETR(X, Y, 2.0, lower=3.0, upper=3.0), tol=1e-10)
    np.testing.assert_allclose(solution.matrix, np.linalg.solve(X.T @ X + 18.0 * np.eye(3), X.T @ Y), atol=1e-8)
    assert solution.status == "stationary"


def test_a_strong_prior_around_a_mean_is_the_pooled_fit():
    rng = np.random.default_rng(0)
    X, Y = data(rng, 3, 4)
    problem = FETR(X, Y, 1e7, mean="shared")
    found = problem.estimate(ml.solve(problem, tol=1e-12))
    pooled = np.linalg.lstsq(X, Y.mean(axis=1), rcond=None)[0]
    np.testing.assert_allclose(found.mean, pooled, atol=1e-6)
    np.testing.assert_allclose(found.weights, np.repeat(pooled[:, None], 4, axis=1), atol=1e-6)


# -- bounded where MTFRL is not ------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", ["zero", "shared"])
@pytest.mark.parametrize(
    "case", ["one task", "duplicated tasks", "zero feature", "collinear features", "one row", "one of all", "zeros"]
)
def test_bounded_and_right_on_degenerate_data(case, mean):
    rng = np.random.default_rng(3)
    X, Y = data(rng, 3, 4)
    X, Y = {
        "one task": (X, Y[:, :1]),
        "duplicated tasks": (X, Y[:, [0, 0, 0]]),
        "zero feature": (X * [1.0, 0.0, 1.0], Y),
        "collinear features": (X[:, [0, 0, 1]], Y),
        "one row": (X[:1], Y[:1]),
        "one of all": (X[:1, :1], Y[:1, :1]),
        "zeros": (0 * X, 0 * Y),
    }[case]
    for method in ("joint", "pruning", "alternating", "flip-flop", "gradient", "proximal-gradient"):
        problem = FETR(X, Y, 1.0, mean=mean)
        solution = ml.solve(problem, method=method, tol=1e-8, max_iter=60)
        found = problem.estimate(solution)
        assert np.isfinite(solution.value)
        assert np.all(np.isfinite(solution.matrix))
        for S in (found.feature_precision, found.task_precision):
            assert S.extremes[0] >= 1e-3 * (1 - 1e-12)
            assert S.extremes[1] <= 1e3 * (1 + 1e-12)
        if method in ("joint", "pruning"):
            assert solution.status == "stationary"
    if case == "duplicated tasks":
        np.testing.assert_allclose(found.weights[:, 0], found.weights[:, 1], atol=1e-6)
    if case == "zeros":
        np.testing.assert_allclose(found.weights, 0.0, atol=1e-12)


def test_a_round_of_the_hook_answers_with_the_covariance_of_the_best_blocks():
    rng = np.random.default_rng(2)
    problem = FETR(*data(rng, 5, 3), 1.0)
    plays = problem.play()
    X = plays.exponent(plays.start)
    answer = plays.oracle(X)
    W, S1 = answer.point, SpectralPrecision.of(X)
    S2 = task_precision(W, S1, problem.lower, problem.upper).dense()
    np.testing.assert_allclose(answer.loss, W @ S2 @ W.T, rtol=1e-8, atol=1e-10)
    assert np.ptp(np.linalg.eigvalsh(S2)) > 0.1  # S2 counts


def test_ours_is_at_least_as_low_as_the_rivals():
    rng = np.random.default_rng(5)
    X, Y = data(rng, 6, 3, 40)
    problem = FETR(X, Y, 3.0)
    best = ml.solve(problem, method="pruning", tol=1e-10).value
    for method in ("joint", "alternating", "gradient", FlipFlop()):
        assert best <= ml.solve(problem, method=method, tol=1e-10, max_iter=200).value + 1e-7 * problem.scale


@given(problems)
def test_what_a_singular_value_costs_is_known_without_another_decomposition(problem):
    point = np.random.default_rng(1).standard_normal(problem.first_points()[0][0].shape)
    off = [value - problem.objective_at(lighter, None) for value, lighter in _without_one(problem, point, 10)]
    assert (max(off) - min(off) if off else 0.0) <= 1e-9 * (problem.scale + np.max(np.abs(off), initial=0.0))


@pytest.mark.parametrize("seed", [78, 211])
def test_to_try_the_stronger_singular_values_too_may_end_lower(seed):
    """Where two directions do what one of them could: the weakest is then not the one to give up."""
    rng = np.random.default_rng(seed)
    d, m = int(rng.integers(3, 8)), int(rng.integers(3, 8))
    X = rng.standard_normal((60, d)) * 10.0 ** rng.uniform(-1, 1, d)
    W = rng.standard_normal((d, 1)) + rng.standard_normal((d, 2)) @ rng.standard_normal((2, m))
    Y = X @ W + 3 * rng.standard_normal((60, m))
    problem = FETR(X, Y, 10.0 ** rng.uniform(0, 2), mean="shared" if seed % 2 else "zero")
    weakest, any_of_ten = (ml.solve(problem, method=Pruning(most), tol=1e-9).value for most in (1, 10))
    assert any_of_ten < 0.9 * weakest


def test_the_summary_says_what_was_measured_and_the_picture_is_drawn():
    import matplotlib.pyplot as plt

    X, Y = data(np.random.default_rng(0), 3, 2)
    solution = ml.solve(FETR(X, Y, 1.0, task=["left", "right"]), tol=1e-8)
    text = solution.summary()
    assert "relative gradient in W" in text
    assert "blockwise" in text
    assert f"{solution.problem.floor:.9g}, from which the value counts" in text
    figure = solution.plot()
    labels = [tick.get_text() for ax in figure.axes for child in ax.child_axes for tick in child.get_xticklabels()]
    assert labels == ["left", "right"]
    plt.close(figure)
