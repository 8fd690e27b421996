"""The baselines of FETR, each against another way to the same minimizer."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_fetr.baselines import (
    MeanRegularizedRidge,
    MTFLRegressor,
    MTFRLRegressor,
    MTRLRegressor,
    PooledRidge,
    SingleTaskRidge,
)
from matrixlearn_fetr.baselines.trace_norm import TraceNorm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from matrixlearn.multitask import Moments

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)
ALL = [SingleTaskRidge(), PooledRidge(), MeanRegularizedRidge(), MTFLRegressor(), MTRLRegressor(), MTFRLRegressor()]


@parametrize_with_checks(ALL, xfail_strict=True)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def own_rows(rng, d, m):
    """Rows of m tasks in random order, at least one each."""
    task = rng.permutation(np.append(np.arange(m), rng.integers(0, m, 6 * m)))
    X = rng.standard_normal((len(task), d)) * 10.0 ** rng.uniform(-1, 1, d) + rng.standard_normal(d)
    y = np.sum(X * rng.standard_normal((m, d))[task], axis=1) + rng.standard_normal(len(task)) + 3.0
    return X, y, task


def shared_rows(rng, d, m):
    X = rng.standard_normal((int(rng.integers(2, 12)), d)) + rng.standard_normal(d)
    return X, X @ rng.standard_normal((d, m)) + rng.standard_normal((len(X), m)) + 3.0


def of_each_task(X, y, task):
    """The same data as a list."""
    return [(X[task == i], y[task == i]) for i in np.unique(task)]


# -- ridge -----------------------------------------------------------------------------------------


@given(seeds, sizes, sizes, st.booleans())
def test_a_task_alone_is_scikit_learns_ridge(seed, d, m, intercept):
    rng = np.random.default_rng(seed)
    alpha = 10.0 ** rng.uniform(-2, 2)
    X, y, task = own_rows(rng, d, m)
    model = SingleTaskRidge(alpha, fit_intercept=intercept).fit(X, y, task)
    for i, (A, b) in enumerate(of_each_task(X, y, task)):
        theirs = Ridge(alpha, fit_intercept=intercept, solver="svd").fit(A, b)
        np.testing.assert_allclose(model.coef_[i], theirs.coef_, atol=1e-8)
        np.testing.assert_allclose(model.intercept_[i], theirs.intercept_, atol=1e-7)
    X, Y = shared_rows(rng, d, m)
    theirs = Ridge(alpha, fit_intercept=intercept, solver="svd").fit(X, Y)
    np.testing.assert_allclose(
        SingleTaskRidge(alpha, fit_intercept=intercept).fit(X, Y).predict(X),
        theirs.predict(X).reshape(Y.shape),
        atol=1e-8,
    )


@given(seeds, sizes, sizes)
def test_pooled_is_one_ridge_on_all_rows(seed, d, m):
    rng = np.random.default_rng(seed)
    X, y, task = own_rows(rng, d, m)
    model = PooledRidge(0.7, fit_intercept=False).fit(X, y, task)
    np.testing.assert_allclose(model.coef_, np.tile(Ridge(0.7, fit_intercept=False).fit(X, y).coef_, (m, 1)), atol=1e-8)
    X, Y = shared_rows(rng, d, m)
    stacked = Ridge(0.7, fit_intercept=False).fit(np.repeat(X, m, axis=0), Y.ravel())
    np.testing.assert_allclose(PooledRidge(0.7, fit_intercept=False).fit(X, Y).coef_[0], stacked.coef_, atol=1e-8)


@given(seeds, sizes, sizes)
def test_mean_regularized_is_ridge_in_stacked_features(seed, d, m):
    """w_i = w_0 + v_i, with features sqrt(alpha / beta) x for w_0 and x in the place of task i for v_i."""
    rng = np.random.default_rng(seed)
    alpha, beta = 10.0 ** rng.uniform(-1, 2, 2)
    X, y, task = own_rows(rng, d, m)
    model = MeanRegularizedRidge(alpha, beta, fit_intercept=False).fit(X, y, task)
    stacked = np.zeros((len(X), (m + 1) * d))
    stacked[:, :d] = np.sqrt(alpha / beta) * X
    for row, i in enumerate(task):
        stacked[row, (i + 1) * d : (i + 2) * d] = X[row]
    coef = Ridge(alpha, fit_intercept=False, solver="svd").fit(stacked, y).coef_.reshape(m + 1, d)
    np.testing.assert_allclose(model.mean_, np.sqrt(alpha / beta) * coef[0], atol=1e-7)
    np.testing.assert_allclose(model.coef_, model.mean_ + coef[1:], atol=1e-7)


@given(seeds, sizes, sizes)
def test_the_mean_lies_between_alone_and_pooled(seed, d, m):
    rng = np.random.default_rng(seed)
    X, y, task = own_rows(rng, d, m)
    alone, pooled = SingleTaskRidge(2.0).fit(X, y, task), PooledRidge(2.0).fit(X, y, task)
    np.testing.assert_allclose(MeanRegularizedRidge(2.0, 1e12).fit(X, y, task).coef_, alone.coef_, atol=1e-7)
    np.testing.assert_allclose(MeanRegularizedRidge(1e12, 2.0).fit(X, y, task).coef_, pooled.coef_, atol=1e-3)
    X, Y = shared_rows(rng, d, m)
    np.testing.assert_allclose(
        MeanRegularizedRidge(1e12, 2.0).fit(X, Y).coef_, PooledRidge(2.0).fit(X, Y).coef_, atol=1e-3
    )


# -- learned covariances -----------------------------------------------------------------------------


def moments(rng, d, m):
    """Shared or own, with the loss as a cvxpy expression."""
    W = cp.Variable((d, m))
    if rng.random() < 0.5:
        X, Y = shared_rows(rng, d, m)
        return Moments.of_shared(X, Y), W, cp.sum_squares(Y - X @ W)
    X, y, task = own_rows(rng, d, m)
    loss = sum(cp.sum_squares(b - A @ W[:, i]) for i, (A, b) in enumerate(of_each_task(X, y, task)))
    return Moments.of_tasks(X, y, task, m), W, loss


@given(seeds, sizes, sizes)
def test_trace_norm_is_the_optimum_by_cvxpy_and_its_bound_is_below(seed, d, m):
    rng = np.random.default_rng(seed)
    data, W, loss = moments(rng, d, m)
    scale = data.square.sum()
    ridge = rng.integers(2) * 10.0 ** rng.uniform(-2, 1)
    problem = TraceNorm(data, 10.0 ** rng.uniform(-2, 1.5), ridge)
    ended = problem.solve(1e-7, 5000)
    assert ended.gaps[-1] <= 1e-7
    optimum = cp.Problem(
        cp.Minimize(loss + ridge * cp.sum_squares(W) + problem.alpha * cp.square(cp.normNuc(W)))
    ).solve(solver="CLARABEL")
    assert problem.value(ended.W) == pytest.approx(optimum, abs=1e-6 * scale)
    for anywhere in (np.zeros((d, m)), ended.W, rng.standard_normal((d, m))):
        assert problem.lower(anywhere) <= optimum + 1e-6 * scale


@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_mtfl_is_the_joint_optimum_over_weights_and_covariance(seed, d, m):
    rng = np.random.default_rng(seed)
    X, Y = shared_rows(rng, d, m)
    model = MTFLRegressor(0.5, fit_intercept=False, tol=1e-8).fit(X, Y)
    W, D = cp.Variable((d, m)), cp.Variable((d, d), PSD=True)
    penalty = sum(cp.matrix_frac(W[:, i], D) for i in range(m))
    program = cp.Problem(cp.Minimize(cp.sum_squares(Y - X @ W) + 0.5 * penalty), [cp.trace(D) <= 1])
    optimum = program.solve(solver="CLARABEL")
    ours = TraceNorm(Moments.of_shared(X, Y), 0.5).value(model.coef_.T)
    assert ours == pytest.approx(optimum, abs=1e-5 * np.sum(Y**2))
    assert np.trace(model.feature_covariance_) == pytest.approx(1)


@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_mtrl_is_the_joint_optimum_over_weights_and_covariance(seed, d, m):
    rng = np.random.default_rng(seed)
    X, y, task = own_rows(rng, d, m)
    model = MTRLRegressor(0.3, 0.8, fit_intercept=False, tol=1e-8).fit(X, y, task)
    W, omega = cp.Variable((d, m)), cp.Variable((m, m), PSD=True)
    loss = sum(cp.sum_squares(b - A @ W[:, i]) for i, (A, b) in enumerate(of_each_task(X, y, task)))
    penalty = 0.15 * cp.sum_squares(W) + 0.4 * sum(cp.matrix_frac(W[k], omega) for k in range(d))
    optimum = cp.Problem(cp.Minimize(loss + penalty), [cp.trace(omega) == 1]).solve(solver="CLARABEL")
    ours = TraceNorm(Moments.of_tasks(X, y, task, m), 0.4, 0.15).value(model.coef_.T)
    assert ours == pytest.approx(optimum, abs=1e-5 * np.sum(y**2))
    assert np.trace(model.task_covariance_) == pytest.approx(1)


@given(seeds, sizes, sizes)
def test_mtrl_without_ridge_is_mtfl(seed, d, m):
    """One squared trace norm, read on either side: the two methods of the table differ by a ridge."""
    rng = np.random.default_rng(seed)
    X, y, task = own_rows(rng, d, m)
    features = MTFLRegressor(0.4, tol=1e-9, max_iter=5000).fit(X, y, task)
    tasks = MTRLRegressor(0.0, 0.8, tol=1e-9, max_iter=5000).fit(X, y, task)
    np.testing.assert_allclose(features.coef_, tasks.coef_, atol=1e-6 * np.abs(features.coef_).max())
    s = np.linalg.svd(features.coef_, compute_uv=False)
    for covariance in (features.feature_covariance_, tasks.task_covariance_):
        values = np.sort(np.linalg.eigvalsh(covariance))[::-1]
        np.testing.assert_allclose(values[: len(s)], s / s.sum(), atol=1e-9)
        np.testing.assert_allclose(values[len(s) :], 0, atol=1e-9)


# -- flip-flop -------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_flip_flop_satisfies_its_own_updates_where_it_converges(seed, d, m):
    rng = np.random.default_rng(seed)
    X, y, task = own_rows(rng, d, m)
    eta, fudge = 10.0 ** rng.uniform(-1, 1), 0.1
    model = MTFRLRegressor(eta, fudge=fudge, fit_intercept=False, max_iter=2000, tol=1e-11).fit(X, y, task)
    A, B, W = model.feature_covariance_, model.task_covariance_, model.coef_.T
    assert min(np.linalg.eigvalsh(A)[0], np.linalg.eigvalsh(B)[0]) >= fudge * (1 - 1e-9)
    np.testing.assert_allclose(B, W.T @ np.linalg.solve(A, W) / d + fudge * np.eye(m), atol=1e-8 * np.abs(B).max())
    if model.changes_[-1] > 1e-11:
        return
    np.testing.assert_allclose(A, W @ np.linalg.solve(B, W.T) / m + fudge * np.eye(d), rtol=1e-5, atol=1e-5)
    data = Moments.of_tasks(X, y, task, m)
    gradient = data.residual(W) - eta * np.linalg.solve(A, W) @ np.linalg.inv(B)
    assert np.abs(gradient).max() <= 1e-5 * np.abs(data.cross).max()


def test_the_likelihood_of_the_flip_flop_falls_without_end_as_the_fudge_goes_to_zero():
    """004, Section 3: with one matrix W the two covariances have no maximum of likelihood, where d != m."""
    rng = np.random.default_rng(0)
    X, y, task = own_rows(rng, 4, 2)

    def objective(fudge):
        model = MTFRLRegressor(fudge=fudge, fit_intercept=False, max_iter=200).fit(X, y, task)
        A, B, W = model.feature_covariance_, model.task_covariance_, model.coef_.T
        prior = np.trace(np.linalg.solve(A, W) @ np.linalg.solve(B, W.T))
        logs = 2 * np.linalg.slogdet(A)[1] + 4 * np.linalg.slogdet(B)[1]
        return Moments.of_tasks(X, y, task, 2).loss(W) + prior + logs

    values = [objective(10.0**-k) for k in range(1, 6)]
    assert np.all(np.diff(values) < -3.0)


# -- input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_labels_may_be_strings_and_rows_in_any_order(model):
    rng = np.random.default_rng(1)
    X, y, task = own_rows(rng, 3, 3)
    names = np.array(["paris", "athens", "rome"])[task]
    predicted = model.fit(X, y, names).predict(X, names)
    assert model.tasks_.tolist() == ["athens", "paris", "rome"]
    order = rng.permutation(len(y))
    again = model.fit(X[order], y[order], names[order]).predict(X, names)
    np.testing.assert_allclose(again, predicted, atol=1e-6)
    np.testing.assert_allclose(model.fit(X, y, task).predict(X, task), predicted, atol=1e-6)
    assert model.score(X, y, task) > 0.5
    with pytest.raises(ValueError, match="labels that fit did not see: \\['oslo'\\]"):
        model.fit(X, y, names).predict(X[:2], ["rome", "oslo"])


def test_bad_input():
    rng = np.random.default_rng(2)
    X, y, task = own_rows(rng, 2, 2)
    with pytest.raises(ValueError, match="task is missing"):
        SingleTaskRidge().fit(X, y, task).predict(X)
    with pytest.raises(ValueError, match="task was given, but"):
        SingleTaskRidge().fit(X, y).predict(X, task)
    with pytest.raises(ValueError, match="one target a row"):
        SingleTaskRidge().fit(X, np.column_stack([y, y]), task)
    with pytest.raises(ValueError, match="task must hold one label for each of the 14 rows"):
        SingleTaskRidge().fit(X, y, task[:-1])
    with pytest.raises(ValueError, match="contains NaN"):
        SingleTaskRidge().fit(X, np.where(y > 0, np.nan, y), task)
    for model in (SingleTaskRidge(-1.0), PooledRidge("1"), MeanRegularizedRidge(0.0), MTRLRegressor(np.nan)):
        with pytest.raises(ValueError, match="must be a number"):
            model.fit(X, y, task)
    with pytest.raises(ValueError, match="fudge must be a number > 0"):
        MTFRLRegressor(fudge=0.0).fit(X, y, task)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MTFLRegressor(tol=1e-12, max_iter=2).fit(X, y, task)
