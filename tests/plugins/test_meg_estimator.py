"""MEGRegressor: scikit-learn's conventions, and the two kinds of learning behind them."""

import matrixlearn_meg
import numpy as np
import pytest
from matrixlearn_meg import DivergenceWarning, MEGLearner, MEGRegression, MEGRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml


@parametrize_with_checks([MEGRegressor(), MEGRegressor(loss="huber", trace=3.0, rate=1e-3)], xfail_strict=True)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4, 4))
    U = A @ A.T
    X = rng.standard_normal((60, 4))
    return X, np.einsum("ti,ij,tj->t", X, U, X), np.trace(U)


def test_fit_is_the_certified_optimum(task):
    X, y, R = task
    model = MEGRegressor(trace=R, tol=1e-6).fit(X, y)
    assert model.solution_.gap <= 1e-6 and model.score(X, y) > 1 - 1e-5
    assert np.trace(model.W_) == pytest.approx(R) and np.linalg.eigvalsh(model.W_)[0] >= -1e-12
    direct = ml.solve(MEGRegression(R * X[:, :, None] * X[:, None, :], y), tol=1e-6)
    np.testing.assert_allclose(model.predict(X), R * np.einsum("ti,ij,tj->t", X, direct.matrix, X), atol=1e-2)
    assert cross_val_score(model, X, y, cv=3).min() > 0.99


def test_matrices_and_their_dyads_are_the_same_rows(task):
    X, y, R = task
    cubes = X[:, :, None] * X[:, None, :]
    flat, cube = MEGRegressor(trace=R).fit(X, y), MEGRegressor(trace=R).fit(cubes, y)
    np.testing.assert_allclose(flat.predict(X), cube.predict(cubes.tolist()), atol=1e-2)
    shear = cubes + np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1)
    np.testing.assert_allclose(cube.predict(shear), cube.predict(cubes), atol=1e-9)
    assert cube.n_features_in_ == 4


def test_partial_fit_is_the_online_learner(task):
    X, y, R = task
    model = MEGRegressor(trace=R)
    for part in (slice(0, 25), slice(25, 60)):
        model.partial_fit(X[part], y[part])
    learner = MEGLearner(4, "adaptive").partial_fit(np.sqrt(R) * X, y)
    assert model.t_ == 60
    np.testing.assert_allclose(model.W_, R * learner.W, atol=1e-12)
    model.fit(X, y)
    assert not hasattr(model, "learner_")
    model.partial_fit(X[:5], y[:5])
    assert model.t_ == 5 and not hasattr(model, "solution_")


def test_bad_input(task):
    X, y, _ = task
    with pytest.raises(ValueError, match="trace must be a positive number"):
        MEGRegressor(trace=0.0).fit(X, y)
    model = MEGRegressor().fit(np.eye(4)[None], [1.0])
    for wrong, message in ((np.ones((2, 4, 3)), "square"), (np.ones((2, 3, 3)), "side 3")):
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)
    with pytest.raises(ValueError, match="y must have shape"):
        MEGRegressor().fit(np.eye(4)[None], [1.0, 2.0])
    with pytest.raises(ValueError, match="rate must be positive"):
        MEGRegressor(rate=-1.0).partial_fit(X, y)
    with pytest.warns(DivergenceWarning, match="the learning rate 1e.06 is too large"):
        MEGRegressor(rate=1e6).partial_fit(X, np.random.default_rng(0).standard_normal(60))
    with pytest.warns(ConvergenceWarning, match="fit stopped"):
        MEGRegressor(time_limit=0.0).fit(X, y)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        matrixlearn_meg.nothing
