"""DiscrepancyRegressor: scikit-learn's conventions, and the regression that it says it is."""

import sys

import matrixlearn_discrepancy
import numpy as np
import pytest
import scipy.optimize
import sklearn
from matrixlearn_discrepancy import (
    Discrepancy,
    DiscrepancyRegressor,
    FewPointsWarning,
    discrepancy_bound,
    discrepancy_distance,
    effective_sample_size,
)
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml
from matrixlearn.exceptions import MissingExtraError


@parametrize_with_checks(
    [
        DiscrepancyRegressor(),
        DiscrepancyRegressor(kernel="rbf", fit_intercept=False),
        DiscrepancyRegressor(kernel="polynomial", degree=2, max_weight=None),
    ],
    xfail_strict=True,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def task(rng):
    """A source, its labels, and a shifted target."""
    X = rng.standard_normal((40, 3))
    return X, X @ [1.0, -2.0, 0.5] + np.sin(3 * X[:, 0]), 0.6 * rng.standard_normal((25, 3)) + [0.7, 0.0, -0.3]


# -- which regression -----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "polynomial"])
def test_without_a_target_it_is_kernel_ridge(kernel, task):
    X, y, new = task
    ours = DiscrepancyRegressor(kernel, alpha=0.3, gamma=0.4, fit_intercept=False).fit(X, y)
    theirs = KernelRidge(kernel=kernel, alpha=0.3, gamma=0.4).fit(X, y)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8)
    np.testing.assert_allclose(ours.weights_, 1 / 40)
    assert ours.solution_ is None and ours.n_iter_ == 0 and ours.effective_sample_size_ == pytest.approx(40)


@pytest.mark.parametrize("intercept", [True, False])
def test_with_a_target_it_is_ridge_with_the_certified_weights(intercept, task):
    X, y, target = task
    y = y + 100.0
    ours = DiscrepancyRegressor(alpha=0.3, fit_intercept=intercept).fit(X, y, X_target=target)
    solution = ml.solve(Discrepancy(X, target, max_weight=2.0))
    np.testing.assert_allclose(ours.weights_, solution.y, atol=1e-12)
    theirs = Ridge(alpha=0.3, fit_intercept=intercept).fit(X, y, sample_weight=40 * solution.y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict(target), theirs.predict(target), rtol=1e-7)
    assert ours.solution_.gap <= 1e-3 and ours.solution_.certificate.verify()
    assert ours.effective_sample_size_ == pytest.approx(effective_sample_size(ours.weights_))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_kernel_form_minimizes_its_objective(intercept, task):
    """No function of the same form does better: m sum z_i (y_i - h(x_i))^2 + alpha ||h||^2."""
    X, y, target = task
    model = DiscrepancyRegressor("rbf", gamma=0.5, alpha=0.2, fit_intercept=intercept).fit(X, y, X_target=target)
    K, z = rbf_kernel(X, gamma=0.5), model.weights_

    def objective(d, b):
        return 40 * z @ (y - K @ d - b) ** 2 + 0.2 * d @ K @ d

    if not intercept:
        assert model.intercept_ == 0
    best = objective(model.dual_coef_, model.intercept_)
    np.testing.assert_allclose(model.predict(X), K @ model.dual_coef_ + model.intercept_)
    found = scipy.optimize.minimize(
        lambda v: objective(v[:-1], v[-1] if intercept else 0.0), np.zeros(41), options={"maxiter": 5000}
    )
    assert best <= found.fun * (1 + 1e-9)
    assert best == pytest.approx(found.fun, rel=1e-4)


def test_the_weights_belong_to_the_kernel_of_the_regression(task):
    X, y, target = task
    named = DiscrepancyRegressor("rbf", gamma=0.5).fit(X, y, X_target=target)
    function = DiscrepancyRegressor(lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, y, X_target=target)
    K = rbf_kernel(np.concatenate([X, target]), gamma=0.5)
    expected = ml.solve(Discrepancy(X, target, kernel=K, max_weight=2.0))
    np.testing.assert_allclose(named.weights_, expected.y, atol=1e-10)
    np.testing.assert_allclose(function.predict(target), named.predict(target), rtol=1e-9)
    linear = DiscrepancyRegressor().fit(X, y, X_target=target)
    assert np.abs(named.weights_ - linear.weights_).max() > 1e-3
    assert not hasattr(named, "coef_")


def test_the_guarantee_holds_for_the_fit(rng):
    """(2.9) for the estimator's own alpha: |L(h', y) - L(h, y)| where one hypothesis gives all labels."""
    X, target = rng.standard_normal((60, 2)), rng.standard_normal((50, 2)) * [1.5, 0.6] + 0.3
    g, alpha = np.array([1.0, -2.0]), 30.0
    lam = alpha / 60
    ours = DiscrepancyRegressor(alpha=alpha, fit_intercept=False).fit(X, X @ g, X_target=target)
    there = Ridge(alpha=lam * 50, fit_intercept=False).fit(target, target @ g)
    losses = [(target @ w - target @ g) ** 2 for w in (ours.coef_, there.coef_)]
    disc = discrepancy_distance(ours.solution_.upper, np.linalg.norm(g))
    bound = discrepancy_bound(
        disc,
        regularization=lam,
        radius=np.linalg.norm(target, axis=1).max(),
        loss_bound=np.max(losses),
    )
    assert np.abs(losses[0] - losses[1]).max() <= bound


@pytest.mark.parametrize("k", [1e-8, 1e8])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_the_scale_of_the_features_does_not_matter(kernel, k, task):
    """X -> k X and alpha -> k^2 alpha (k^(2 degree)) leave the fit as it is."""
    X, y, target = task
    parameters = {"degree": 2, "coef0": 0, "gamma": 1.0}
    plain = DiscrepancyRegressor(kernel, alpha=0.5, **parameters).fit(X, y, X_target=target)
    power = 2 if kernel == "linear" else 4
    scaled = DiscrepancyRegressor(kernel, alpha=0.5 * k**power, **parameters).fit(k * X, y, X_target=k * target)
    np.testing.assert_allclose(scaled.predict(k * target), plain.predict(target), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_a_ridge_below_rounding_is_least_squares(kernel, task):
    X, y, target = task
    y = X @ [1.0, -2.0, 0.5] + 3.0
    model = DiscrepancyRegressor(kernel, alpha=1e-6, degree=1, gamma=1.0).fit(1e8 * X, y, X_target=1e8 * target)
    np.testing.assert_allclose(model.predict(1e8 * target), target @ [1.0, -2.0, 0.5] + 3.0, rtol=1e-6, atol=1e-6)


def test_the_two_forms_of_a_linear_fit_agree(task):
    X, y, target = task
    for intercept in (True, False):
        model = DiscrepancyRegressor(alpha=0.1, fit_intercept=intercept).fit(X, y, X_target=target)
        np.testing.assert_allclose(target @ X.T @ model.dual_coef_ + model.intercept_, model.predict(target))


def test_several_labels_are_several_regressions(task):
    X, y, target = task
    Y = np.stack([y, 3 - y], axis=1)
    both = DiscrepancyRegressor("rbf").fit(X, Y, X_target=target)
    one = DiscrepancyRegressor("rbf").fit(X, Y[:, 1], X_target=target)
    assert both.predict(target).shape == (25, 2)
    np.testing.assert_allclose(both.predict(target)[:, 1], one.predict(target), rtol=1e-9)
    linear = DiscrepancyRegressor().fit(X, Y, X_target=target)
    assert linear.coef_.shape == (2, 3) and linear.intercept_.shape == (2,)


# -- how the target is given ----------------------------------------------------------------------


def test_domains_in_one_matrix_are_the_same_as_two_matrices(task):
    X, y, target = task
    order = np.random.default_rng(1).permutation(65)
    both = np.concatenate([X, target])[order]
    labels = np.concatenate([y, np.full(25, np.nan)])[order]
    domain = np.concatenate([np.full(40, 1), np.full(25, -2)])[order]
    apart = DiscrepancyRegressor().fit(X, y, X_target=target)
    together = DiscrepancyRegressor().fit(both, labels, sample_domain=domain)
    # the optimum is one number, its weights need not be unique to the last bit
    assert together.solution_.upper == pytest.approx(apart.solution_.upper, rel=2e-3)
    np.testing.assert_allclose(together.predict(target), apart.predict(target), atol=0.05)
    assert together.X_fit_.shape == (40, 3)


def test_a_row_of_weight_zero_is_no_row(task):
    X, y, target = task
    keep = np.arange(40) >= 5
    out = DiscrepancyRegressor().fit(X, y, X_target=target, sample_weight=keep.astype(float))
    without = DiscrepancyRegressor().fit(X[keep], y[keep], X_target=target)
    np.testing.assert_allclose(out.predict(target), without.predict(target), rtol=1e-8)
    assert np.all(out.weights_[~keep] == 0)


def test_sample_weight_multiplies_the_weights_of_the_discrepancy(task):
    X, y, target = task
    importance = np.linspace(0.5, 2, 40)
    model = DiscrepancyRegressor().fit(X, y, X_target=target, sample_weight=importance)
    product = model.solution_.y * importance
    np.testing.assert_allclose(model.weights_, product / product.sum(), rtol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X_target": np.zeros((4, 3)), "sample_domain": np.ones(40)}, "not both"),
        ({"X_target": np.zeros((4, 2))}, "2 features"),
        ({"X_target": np.full((4, 3), np.nan)}, "NaN"),
        ({"sample_domain": np.ones(40)}, "both domains"),
        ({"sample_domain": np.r_[np.zeros(20), np.ones(19), -1]}, "both domains"),
        ({"sample_domain": np.ones(39)}, "one row each"),
        ({"sample_weight": -np.ones(40)}, "[Nn]egative"),
        ({"sample_weight": np.zeros(40)}, "[Ss]ample.weight"),
        ({"sample_domain": np.r_[np.ones(39), -1], "sample_weight": np.r_[np.zeros(39), 1]}, "no source row"),
    ],
)
def test_unusable_arguments_are_refused_by_name(arguments, message, task):
    X, y, _ = task
    with pytest.raises(ValueError, match=message):
        DiscrepancyRegressor().fit(X, y, **arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": "1"}, "alpha"),
        ({"max_weight": 0.5}, "max_weight"),
        ({"kernel": "precomputed"}, "Gram matrix"),
        ({"kernel": "no-such"}, "no-such"),
        ({"tol": -1.0}, "tol"),
        ({"method": "no-such"}, "method"),
    ],
)
def test_unusable_parameters_are_refused_by_name(parameters, message, task):
    X, y, target = task
    with pytest.raises(ValueError, match=message):
        DiscrepancyRegressor(**parameters).fit(X, y, X_target=target)


# -- what it tells --------------------------------------------------------------------------------


def test_a_fit_that_leans_on_a_handful_of_points_warns(rng):
    X, target = rng.standard_normal((100, 2)), np.array([[2.0, 1.0]])
    with pytest.warns(FewPointsWarning, match="effective sample size"):
        exact = DiscrepancyRegressor(max_weight=None).fit(X, X[:, 0], X_target=target)
    assert exact.effective_sample_size_ < 20
    capped = DiscrepancyRegressor(max_weight=2).fit(X, X[:, 0], X_target=target)  # and no warning: an error in pytest
    assert capped.effective_sample_size_ >= 50 * (1 - 1e-9)


def test_weights_without_a_small_gap_warn(task):
    X, y, target = task
    with pytest.warns(ConvergenceWarning, match="stopped"):
        model = DiscrepancyRegressor(time_limit=0.0).fit(X, y, X_target=target)
    assert model.weights_.sum() == pytest.approx(1)


def test_nothing_that_is_given_is_written_to(task):
    arrays = [np.array(part) for part in task]
    for array in arrays:
        array.flags.writeable = False
    X, y, target = arrays
    weight = np.ones(40)
    weight.flags.writeable = False
    DiscrepancyRegressor("rbf").fit(X, y, X_target=target, sample_weight=weight).predict(X)


# -- in scikit-learn's machinery ------------------------------------------------------------------


def test_a_pipeline_transforms_the_target_too(task):
    X, y, target = task
    scale = np.array([1.0, 100.0, 0.01])
    with sklearn.config_context(enable_metadata_routing=True):
        regressor = DiscrepancyRegressor().set_fit_request(X_target=True)
        pipeline = Pipeline([("scale", StandardScaler()), ("fit", regressor)], transform_input=["X_target"])
        pipeline.fit(X * scale, y, X_target=target * scale)
    mean, std = X.mean(axis=0), X.std(axis=0)
    direct = DiscrepancyRegressor().fit((X - mean) / std, y, X_target=(target - mean) / std)
    np.testing.assert_allclose(pipeline[-1].weights_, direct.weights_, atol=1e-6)


def test_cross_validation_routes_the_domains(task):
    X, y, target = task
    both, labels = np.concatenate([X, target]), np.concatenate([y, np.zeros(25)])
    domain = np.tile([1, 1, -1], 22)[:65]
    with sklearn.config_context(enable_metadata_routing=True):
        model = DiscrepancyRegressor().set_fit_request(sample_domain=True)
        scores = cross_val_score(model, both, labels, params={"sample_domain": domain}, cv=3)
        search = GridSearchCV(model, {"alpha": [0.1, 10.0]}, cv=3).fit(both, labels, sample_domain=domain)
    assert np.all(np.isfinite(scores)) and search.best_estimator_.solution_ is not None


@pytest.mark.parametrize(("rows", "seen"), [(15, 15), (13, 13), (14, 7)])
def test_cross_validation_hands_over_the_whole_target_unless_it_is_as_long_as_the_source(rng, rows, seen):
    """As `fit` says of X_target: what has one row for each of X is sliced with it."""
    X, target = rng.standard_normal((14, 2)), rng.standard_normal((rows, 2))
    done = cross_validate(
        DiscrepancyRegressor(max_weight=2.0), X, X[:, 0], params={"X_target": target}, cv=2, return_estimator=True
    )
    assert [len(fitted.solution_.problem.X_target) for fitted in done["estimator"]] == [seen, seen]


def test_it_clones_with_its_parameters():
    model = DiscrepancyRegressor("rbf", gamma=0.1, max_weight=None, time_limit=3.0)
    assert clone(model).get_params() == model.get_params()


def test_without_scikit_learn_the_estimator_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "matrixlearn_discrepancy.estimator")
    monkeypatch.delattr(matrixlearn_discrepancy, "estimator")
    with pytest.raises(MissingExtraError, match=r"matrixlearn\[sklearn\]"):
        _ = matrixlearn_discrepancy.DiscrepancyRegressor
    with pytest.raises(AttributeError, match="NoSuchName"):
        _ = matrixlearn_discrepancy.NoSuchName


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_weights_go_back_to_uniform_by_their_share(share):
    rng = np.random.default_rng(0)
    X, T, y = rng.standard_normal((30, 3)), 0.7 + rng.standard_normal((20, 3)), rng.standard_normal(30)
    plain = DiscrepancyRegressor(max_weight=None).fit(X, y, X_target=T)
    mixed = DiscrepancyRegressor(max_weight=None, uniform_share=share).fit(X, y, X_target=T)
    np.testing.assert_allclose(mixed.weights_, (1 - share) * plain.weights_ + share / 30, atol=1e-15)
    value = mixed.solution_.problem.game.upper
    between = (1 - share) * value(plain.weights_) + share * value(np.full(30, 1 / 30))
    assert value(mixed.weights_) <= between * (1 + 1e-12)
    assert mixed.effective_sample_size_ >= plain.effective_sample_size_ * (1 - 1e-12)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan, "half", None])
def test_a_share_is_a_share(share):
    with pytest.raises(ValueError, match="uniform_share"):
        DiscrepancyRegressor(uniform_share=share).fit(np.eye(3), np.ones(3), X_target=np.eye(3))
