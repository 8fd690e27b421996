"""DiscrepancyRegressorCV: closed forms against refits, uniform weights where nothing speaks for others, its rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_discrepancy import (
    Choice,
    Discrepancy,
    DiscrepancyBound,
    DiscrepancyRegressor,
    DiscrepancyRegressorCV,
    Evidence,
    ImportanceWeighted,
    Smoother,
    Trials,
    discrepancy_path,
)
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError


@parametrize_with_checks(
    [DiscrepancyRegressorCV(), DiscrepancyRegressorCV(kernel="rbf", fit_intercept=False)], xfail_strict=True
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def shifted(rng, m=400, n=300):
    """A line fits the source badly where the target lies."""
    X, target = rng.normal(0.0, 1.0, (m, 1)), rng.normal(1.0, 0.5, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(m), target


# -- the smoother ---------------------------------------------------------------------------------


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), intercept=st.booleans(), rows=st.integers(3, 12), features=st.integers(1, 15))
def test_left_out_rows_are_those_of_refits(seed, intercept, rows, features):
    rng = np.random.default_rng(seed)
    X, y, z = rng.standard_normal((rows, features)), rng.standard_normal(rows) + 3, rng.dirichlet(np.ones(rows))
    z[0] = 0.0
    z /= z.sum()
    alpha = 10.0 ** rng.uniform(-2, 2)
    ours = Smoother(X @ X.T, X @ X.T, z, intercept).left_out(y[:, None], alpha)[:, 0]
    for i in range(rows):
        keep = np.arange(rows) != i
        model = Ridge(alpha=alpha, fit_intercept=intercept).fit(X[keep], y[keep], sample_weight=rows * z[keep])
        assert ours[i] == pytest.approx(y[i] - model.predict(X[i : i + 1])[0], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_smoother_is_the_regression_of_the_estimator(rng, intercept):
    X, y, target = shifted(rng)
    model = DiscrepancyRegressor("rbf", gamma=0.7, alpha=0.3, fit_intercept=intercept).fit(X, y, X_target=target)
    K, across = rbf_kernel(X, gamma=0.7), rbf_kernel(target, X, gamma=0.7)
    fit = Smoother(K, across, model.weights_, intercept)
    np.testing.assert_allclose(fit.across(0.3) @ y, model.predict(target), rtol=1e-8, atol=1e-10)
    d = model.dual_coef_
    assert fit.norm(y[:, None], 0.3) == pytest.approx(np.sqrt(d @ K @ d), rel=1e-6)


# -- the path -------------------------------------------------------------------------------------


def test_the_path_is_that_of_single_solves(rng):
    X, target = rng.standard_normal((40, 4)) + 0.5, rng.standard_normal((30, 4))
    caps = (None, 1.5, 4.0, 1)
    path = discrepancy_path(Discrepancy(X, target), caps, tol=1e-6)
    for cap, solution in zip(caps, path, strict=True):
        alone = ml.solve(Discrepancy(X, target, max_weight=cap), tol=1e-6)
        assert solution.value == pytest.approx(alone.value, rel=3e-6)
        assert solution.certificate.verify()
        assert solution.y.max() <= (40 if cap is None else cap) / 40 + 1e-12
    with pytest.raises(ProblemError, match="max_weights must hold"):
        discrepancy_path(Discrepancy(X, target), ())
    with pytest.raises(ProblemError, match="max_weight must be >= 1"):
        discrepancy_path(Discrepancy(X, target), (0.5,))


# -- what is chosen -------------------------------------------------------------------------------


def test_a_wrong_model_is_reweighted_and_gains(rng):
    X, y, target = shifted(rng)
    model = DiscrepancyRegressorCV().fit(X, y, X_target=target)
    uniform = DiscrepancyRegressorCV().fit(X, y)
    truth = np.sin(2 * target[:, 0])
    assert model.choice_.number > 0 and model.max_weight_ > 1
    assert np.mean((model.predict(target) - truth) ** 2) < 0.9 * np.mean((uniform.predict(target) - truth) ** 2)
    assert "noise explains" in model.summary() and "min ||M(z)||_2" in model.summary()
    constant = np.sqrt(np.mean(X**2))
    points = (np.column_stack([part, np.full(len(part), constant)]) for part in (X, target))
    solution = ml.solve(Discrepancy(*points, max_weight=model.max_weight_), tol=1e-2)
    z = (1 - model.uniform_share_) * solution.y + model.uniform_share_ / len(X)
    theirs = Ridge(alpha=model.alpha_).fit(X, y, sample_weight=len(X) * z)
    np.testing.assert_allclose(model.predict(target), theirs.predict(target), rtol=0.05, atol=0.02)


def test_a_right_model_stays_uniform():
    """No shift helps a line that is the truth: nearly always the choice is not to reweight."""
    stays = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, target = rng.standard_normal((80, 3)), rng.standard_normal((60, 3)) * 0.6 + [1.0, 0.0, -0.5]
        y = X @ [1.0, -1.0, 2.0] + rng.standard_normal(80)
        model = DiscrepancyRegressorCV().fit(X, y, X_target=target)
        stays += model.choice_.number == 0
        if model.choice_.number == 0:
            assert model.max_weight_ == model.uniform_share_ == 1 and model.solution_ is None
            np.testing.assert_allclose(model.weights_, 1 / 80)
            assert "uniform weights" in model.summary()
    assert stays >= 17


def test_a_stronger_ridge_is_the_one_that_predicts_rows_like_the_targets_better():
    """By refits without each row; weights that are not uniform keep the ridge of the source."""
    alphas, raised = (0.1, 1.0, 10.0, 100.0), []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, target = rng.standard_normal((30, 8)), rng.standard_normal((30, 8)) + 0.7
        y = X @ rng.standard_normal(8) * (2.0 if seed % 2 else 0.2) + rng.standard_normal(30)
        uniform = np.full(30, 1 / 30)
        trials = Trials(X, target, y[:, None], [Smoother(X @ X.T, target @ X.T, uniform, True)], [1.0], alpha=1.0)
        keep = ~np.eye(30, dtype=bool)
        losses = {
            a: np.array(
                [(y[i] - Ridge(alpha=a).fit(X[k], y[k]).predict(X[i : i + 1])[0]) ** 2 for i, k in enumerate(keep)]
            )
            for a in alphas[1:]
        }
        gains = {}
        for a in alphas[2:]:
            saved = losses[1.0] - losses[a]
            mean = trials.ratio @ saved
            if mean > 0.5 * np.sqrt(trials.ratio**2 @ (saved - mean) ** 2):
                gains[a] = mean
        found = trials.stronger_ridge(alphas)
        assert found == max(gains, key=gains.get, default=1.0)
        raised.append(found > 1.0)
        model = DiscrepancyRegressorCV(alphas=alphas).fit(X, y, X_target=target)
        assert model.alpha_ >= model.source_alpha_
        assert model.choice_.number == 0 or model.alpha_ == model.source_alpha_
        assert ("chosen on the source" in model.summary()) == (model.alpha_ > model.source_alpha_)
    assert any(raised) and not all(raised)


def test_without_a_target_the_ridge_is_that_of_generalized_cross_validation(rng):
    X, y, _ = shifted(rng, m=30)
    alphas = (0.01, 0.1, 1.0, 10.0)
    model = DiscrepancyRegressorCV("rbf", gammas=(0.2, 2.0), alphas=alphas, fit_intercept=False).fit(X, y)
    errors = {}
    for gamma in (0.2, 2.0):
        K = rbf_kernel(X, gamma=gamma)
        for alpha in alphas:
            H = K @ np.linalg.inv(K + alpha * np.eye(30))
            errors[gamma, alpha] = np.mean((y - H @ y) ** 2) / (1 - np.trace(H) / 30) ** 2
            ours = Smoother(K, K, np.full(30, 1 / 30), fit_intercept=False).cross_validated(y[:, None], alpha, 30)
            assert ours == pytest.approx(errors[gamma, alpha], rel=1e-8)
    assert (model.gamma_, model.alpha_) == min(errors, key=errors.get)
    assert model.trials_ is None and model.path_ == []


def test_a_weight_of_two_is_the_row_twice(rng):
    X, y, target = shifted(rng, m=40)
    twice = np.concatenate([X, X]), np.concatenate([y, y])
    alphas = (0.1, 1.0, 10.0)
    one = DiscrepancyRegressorCV(alphas=alphas).fit(X, y, sample_weight=np.full(40, 2.0))
    two = DiscrepancyRegressor(alpha=one.alpha_).fit(*twice)
    np.testing.assert_allclose(one.predict(target), two.predict(target), rtol=1e-8)


# -- the rules ------------------------------------------------------------------------------------


def trials(rng, alpha=1.0):
    X, y, target = shifted(rng)
    problem = Discrepancy(X, target)
    z = [np.full(400, 1 / 400), *(s.y for s in discrepancy_path(problem, (1.5, 3)))]
    fits = [Smoother(X @ X.T, target @ X.T, each, True) for each in z]
    return Trials(X, target, y[:, None], fits, [problem.game.upper(each) for each in z], alpha)


def test_signals_are_those_of_simulated_noise(rng):
    """The expected squared move under noise of the size of the losses, against many draws of it."""
    given = trials(rng)
    between = given.smoothers[2].across(1.0) - given.smoothers[0].across(1.0)
    noise = np.sqrt(given.losses[0]) * rng.standard_normal((400, 400))  # a draw in each row
    moves, apart = noise @ between.T, between @ given.y
    assert given.signals[2] == pytest.approx(np.mean(apart**2) / np.mean(moves**2), rel=0.25)
    assert given.signals[0] == 0


def test_rules_agree_with_their_formulas(rng):
    given = trials(rng)
    gains, errors = given.gains
    assert given.ratio.sum() == pytest.approx(1) and gains[0] == errors[0] == 0
    assert ImportanceWeighted().choose(given).number == np.argmax(gains)
    assert ImportanceWeighted(gain=1e9).choose(given).number == 0
    assert Evidence(signal=1e9).choose(given) == Choice(0, "predictions on the target move no more than noise explains")
    assert Evidence(gain=1e9).choose(given).number == 0
    assert Evidence(signal=0, gain=0).choose(given).number == np.argmax(gains)
    chosen = DiscrepancyBound().choose(given)
    assert chosen.number in range(3) and "bound" in chosen.reason
    model = DiscrepancyRegressorCV(rule=ImportanceWeighted())
    X, y, target = shifted(rng)
    assert model.fit(X, y, X_target=target).choice_.number > 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alphas": []}, "alphas must not be empty"),
        ({"alphas": [0.0]}, "each of alphas must be a positive number"),
        ({"gammas": [-1.0]}, "each of gammas must be a positive number"),
        ({"uniform_shares": [1.0]}, "uniform weights are always a candidate"),
        ({"rule": "evidence"}, "rule must have a method choose"),
    ],
)
def test_wrong_parameters_are_named(parameters, words, rng):
    X, y, target = shifted(rng, 20, 10)
    with pytest.raises(ValueError, match=words):
        DiscrepancyRegressorCV(**parameters).fit(X, y, X_target=target)
