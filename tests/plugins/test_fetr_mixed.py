"""The mixed model beside FETR's grid: its likelihood, its gradient, its weights as a certified FETR solution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_fetr import FETRRegressorCV, Moments, PooledRidge
from matrixlearn_fetr.mixed import LEAST, STRUCTURES, MixedModel, estimate

import matrixlearn as ml
from matrixlearn.exceptions import UnseenTaskWarning

seeds = st.integers(0, 2**32 - 1)


def rows(rng, m=4, n=6, p=3, noise=0.5, scatter=1.0):
    """Designs, targets, and what drew them."""
    A = [np.column_stack([np.ones(n), rng.standard_normal((n, p - 1))]) for _ in range(m)]
    beta = rng.standard_normal(p)
    y = [a @ (beta + scatter * rng.standard_normal(p)) + noise * rng.standard_normal(n) for a in A]
    return A, y


def moments(A, y):
    gram, cross = np.stack([a.T @ a for a in A]), np.stack([a.T @ b for a, b in zip(A, y, strict=True)], axis=1)
    return Moments(gram, cross, np.array([b @ b for b in y]))


def deviance(A, y, root):
    """-2 log restricted likelihood by dense matrices, sigma^2 profiled out, less a constant."""
    X, Y = np.concatenate(A), np.concatenate(y)
    C = np.zeros((len(Y), len(Y)))
    at = 0
    for a in A:
        C[at : at + len(a), at : at + len(a)] = a @ root @ root.T @ a.T + np.eye(len(a))
        at += len(a)
    inverse = np.linalg.inv(C)
    H = X.T @ inverse @ X
    beta = np.linalg.solve(H, X.T @ inverse @ Y)
    q = (Y - X @ beta) @ inverse @ (Y - X @ beta)
    return np.linalg.slogdet(C)[1] + np.linalg.slogdet(H)[1] + (len(Y) - X.shape[1]) * np.log(q), beta


@settings(max_examples=20)
@given(seed=seeds)
def test_the_deviance_is_that_of_dense_matrices(seed):
    rng = np.random.default_rng(seed)
    A, y = rows(rng)
    root = np.tril(rng.standard_normal((3, 3)))
    model = MixedModel(moments(A, y), 24.0, root)
    expected, beta = deviance(A, y, root)
    assert model.deviance == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(model.mean, beta, rtol=1e-6, atol=1e-8)


@settings(max_examples=20)
@given(seed=seeds)
def test_the_gradient_is_that_of_differences(seed):
    rng = np.random.default_rng(seed)
    A, y = rows(rng)
    of, root, direction = moments(A, y), rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    h = 1e-5
    ahead, behind = (MixedModel(of, 24.0, root + s * h * direction).deviance for s in (1, -1))
    slope = np.vdot(MixedModel(of, 24.0, root).gradient(), direction)
    assert slope == pytest.approx((ahead - behind) / (2 * h), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", sorted(STRUCTURES))
def test_no_other_covariance_of_the_structure_is_likelier(name):
    rng = np.random.default_rng(1)
    A, y = rows(rng, m=12, n=8)
    of = moments(A, y)
    best = estimate(of, 96.0, STRUCTURES[name], True)
    held = STRUCTURES[name].entries(3, True)
    size = np.sqrt(np.einsum("ijj->j", of.gram) / 96)[:, None]
    for _ in range(200):
        step = np.append(rng.standard_normal(held.max() + 1), 0.0) * 10.0 ** rng.uniform(-3, 0)
        other = MixedModel(of, 96.0, best.root + step[held] / size)
        assert other.deviance >= best.deviance - 1e-4


def test_variances_are_found():
    rng = np.random.default_rng(2)
    A, y = rows(rng, m=300, n=10, noise=0.5, scatter=0.8)
    model = estimate(moments(A, y), 3000.0, STRUCTURES["full"], True)
    assert model.noise == pytest.approx(0.25, rel=0.1)
    np.testing.assert_allclose(model.noise * model.root @ model.root.T, 0.64 * np.eye(3), atol=0.15)


def test_too_few_rows_or_one_task_give_none():
    rng = np.random.default_rng(3)
    A, y = rows(rng, m=1)
    assert estimate(moments(A, y), 6.0, STRUCTURES["isotropic"], True) is None
    A, y = rows(rng, m=2, n=1)
    assert estimate(moments(A, y), 2.0, STRUCTURES["full"], True) is None


def population(rng, m=30, n=4, d=3):
    task = np.repeat(np.arange(m), n)
    X = rng.standard_normal((m * n, d)) + 2.0
    W = rng.standard_normal((d, 1)) + 0.3 * rng.standard_normal((d, m))
    return X, np.sum(X * W.T[task], axis=1) + 5 + 0.5 * rng.standard_normal(m)[task] + rng.standard_normal(m * n), task


def test_the_fit_is_a_certified_solution_and_the_formulas_agree():
    X, y, task = population(np.random.default_rng(4))
    model = FETRRegressorCV(structures=("diagonal",), etas=(0.01,), cv=3).fit(X, y, task)
    assert model.structure_ == "diagonal" and model.solution_.status is ml.Status.STATIONARY
    assert model.solution_.certificate.verify()
    assert np.mean(model.structure_errors_["diagonal"]) < model.error_path_.mean(axis=2).min()
    rows_of = [np.flatnonzero(task == i) for i in range(30)]
    centred = np.column_stack([np.ones(len(X)), X - X.mean(axis=0)])
    A, targets = [centred[i] for i in rows_of], [y[i] for i in rows_of]
    mixed = estimate(moments(A, targets), 120.0, STRUCTURES["diagonal"], True)
    W = mixed.deviations + mixed.mean
    np.testing.assert_allclose(model.coef_, W[:, 1:], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.predict(X, task), np.sum(centred * W[task], axis=1), rtol=1e-4, atol=1e-4)
    covariance = mixed.noise * np.diag(mixed.root @ mixed.root.T)[1:]
    np.testing.assert_allclose(np.diag(model.feature_covariance_), covariance, rtol=1e-4)
    assert np.all(covariance >= mixed.noise * LEAST**2 / np.mean(X**2) * 0.1)
    np.testing.assert_allclose(np.diag(model.task_relations_), 1.0)
    with pytest.warns(UnseenTaskWarning):
        assert model.predict([[0.0, 0.0, 0.0]], [99]).shape == (1,)


@pytest.mark.slow
def test_with_few_rows_it_beats_pooling_and_the_grid():
    for seed in range(3):  # measured: 6 to 11 % below both, for five seeds
        rng = np.random.default_rng(seed)
        X, y, task = population(rng, m=60, n=30)
        few = np.arange(len(y)) % 30 < 4
        ours, grid = (FETRRegressorCV(structures=s).fit(X[few], y[few], task[few]) for s in (("isotropic",), ()))
        pooled = PooledRidge().fit(X[few], y[few], task[few])
        error = [np.mean((model.predict(X[~few], task[~few]) - y[~few]) ** 2) for model in (ours, grid, pooled)]
        assert error[0] < min(error[1:])


def test_offsets_and_scales_of_the_features_do_not_matter():
    X, y, task = population(np.random.default_rng(6))
    plain = FETRRegressorCV(structures=("diagonal",), etas=(1e-6,), cv=3).fit(X, y, task)
    moved = FETRRegressorCV(structures=("diagonal",), etas=(1e-6,), cv=3).fit(
        X * [1.0, 1e3, 1e-3] + [0.0, 50.0, 1.0], y, task
    )
    assert moved.structure_ == plain.structure_ == "diagonal"
    predicted = moved.predict(X * [1.0, 1e3, 1e-3] + [0.0, 50.0, 1.0], task)
    np.testing.assert_allclose(predicted, plain.predict(X, task), rtol=1e-3, atol=1e-3)


def test_shared_rows_have_structures_around_a_mean_only():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((20, 3))
    Y = X @ (rng.standard_normal((3, 1)) + 0.2 * rng.standard_normal((3, 8))) + rng.standard_normal((20, 8))
    assert set(FETRRegressorCV(cv=3).fit(X, Y).structure_errors_) == {"isotropic", "diagonal", "full"}
    assert FETRRegressorCV(cv=3, mean="zero").fit(X, Y).structure_errors_ == {}
    with pytest.raises(ValueError, match="structures must be some of"):
        FETRRegressorCV(structures=("banded",)).fit(X, Y)
