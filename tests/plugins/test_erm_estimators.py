"""`ERMRegressor` and `ERMClassifier`: scikit-learn's checks, its own models' answers, sparse rows, certificates."""

import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_erm import ERMClassifier, ERMRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([ERMRegressor(), ERMClassifier(), ERMClassifier(loss="squared-hinge")])
def test_scikit_learn(estimator, check):
    check(estimator)


def drawn(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)


def test_it_is_ridge_and_lasso():
    X, y = drawn()
    ridge = Ridge(alpha=0.5 * len(X), fit_intercept=False).fit(X, y)
    ours = ERMRegressor(ridge=0.5, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, rtol=1e-6)
    lasso = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12).fit(X, y)
    ours = ERMRegressor(ridge=0.0, l1=0.1, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, lasso.coef_, rtol=1e-5, atol=1e-6)


def test_it_is_logistic_regression():
    X, y = drawn()
    labels = np.where(y > 0, "warm", "cold")
    theirs = LogisticRegression(C=1 / (len(X) * 0.1), fit_intercept=False, tol=1e-10).fit(X, labels)
    ours = ERMClassifier(ridge=0.1, fit_intercept=False, tol=1e-10).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4)


def test_labels_far_from_zero_need_no_large_intercept():
    X, y = drawn()
    near, far = ERMRegressor(ridge=0.1).fit(X, y), ERMRegressor(ridge=0.1).fit(X, y + 1e6)
    np.testing.assert_allclose(far.predict(X) - 1e6, near.predict(X), atol=1e-3)


@pytest.mark.parametrize("make", [lambda: ERMRegressor(loss="huber"), lambda: ERMClassifier(loss="smoothed-hinge")])
def test_sparse_rows_are_dense_rows(make):
    X, y = drawn()
    X[np.abs(X) < 0.7] = 0
    y = np.sign(y) if isinstance(make(), ERMClassifier) else y
    dense, sparse = make().fit(X, y), make().fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
    solution = sparse.solution_ if hasattr(sparse, "solution_") else sparse.solutions_[0]
    assert sp.issparse(solution.problem.A)


def test_three_classes_have_three_certificates():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((20, 2)) + centre for centre in ([0, 4], [4, 0], [-4, -4])])
    y = np.repeat([7, 8, 9], 20)
    model = ERMClassifier().fit(X, y)
    assert model.coef_.shape == (3, 2)
    assert [solution.status for solution in model.solutions_] == ["optimal"] * 3
    assert model.score(X, y) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_weights_are_repetitions():
    X, y = drawn(20)
    weights = np.arange(20) % 3
    again = ERMRegressor(tol=1e-10).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = ERMRegressor(tol=1e-10).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, again.coef_, atol=1e-6)


def test_a_short_time_warns_and_serves():
    X, y = drawn()
    with pytest.warns(ConvergenceWarning, match="fit stopped: gap"):
        model = ERMRegressor(loss="huber", time_limit=0.0).fit(X, y)
    assert np.all(model.predict(X) == model.intercept_)


def test_probabilities_are_of_the_logistic_loss_only():
    X, y = drawn()
    assert not hasattr(ERMClassifier(loss="hinge").fit(X, np.sign(y)), "predict_proba")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ridge": -1.0}, "ridge must be a finite number >= 0"),
        ({"ridge": 0.0}, "penalty must have a weight above 0"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"method": "magic"}, "method must be 'auto'"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be a positive number, got 0.0"),
    ],
)
def test_bad_parameters_are_named(options, words):
    X, y = drawn()
    with pytest.raises(ValueError, match=words):
        ERMRegressor(**options).fit(X, y)


def test_one_class_is_refused():
    X, _ = drawn()
    with pytest.raises(ValueError, match="two classes or more, got one class only"):
        ERMClassifier().fit(X, np.ones(len(X)))
