"""Weights of MEG's instances: cvxpy's optimum, repeated rows, any spread, and what is no weight."""

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_meg import MEGRegression, MEGRegressor
from sklearn.model_selection import GridSearchCV

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import LOSSES
from matrixlearn.testing.reference import optimum

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))


def data(seed, loss, T=12, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d) if rng.random() < 0.5 else (T, d, d))
    U = np.diag(rng.dirichlet(np.ones(d)))
    y = MEGRegression(X, np.zeros(T)).predict(U) + 0.5 * rng.standard_normal(T)
    return rng, X, np.where(y > 0, 1.0, -1.0) if loss == "logistic" or "hinge" in loss else y


@given(seeds, losses, st.sampled_from([0.3, 4.0]))
def test_weighted_problems_against_cvxpy(seed, loss, spread):
    """Weights over one order of magnitude, or eight."""
    rng, X, y = data(seed, loss)
    weight = 10 ** rng.uniform(-spread, spread, len(y))
    problem = MEGRegression(X, y, loss, 0.4, sample_weight=weight)
    solution = ml.solve(problem, tol=1e-6)
    assert solution.status == "optimal"
    W = np.asarray(solution.matrix)
    share = weight / weight.sum()
    losses_ = MEGRegression(X, y, loss, 0.4).loss.value(problem.predict(W), y)
    assert solution.value == pytest.approx(share @ losses_, abs=1e-7 * problem.scale)
    judged = optimum(problem)
    assume(judged.is_sharp)
    assert abs(solution.value - judged.value) <= judged.error + 2e-6 * judged.size


@given(seeds, losses, st.floats(1e-6, 1e6))
def test_whole_weights_repeat_rows_and_a_factor_does_nothing(seed, loss, k):
    rng, X, y = data(seed, loss)
    weight = rng.integers(0, 4, len(y))
    weight[:2] = 1
    there = np.repeat(np.arange(len(y)), weight)
    options = {"loss": loss, "delta": 0.4, "tol": 1e-7}
    repeated = MEGRegressor(**options).fit(X[there], y[there])
    for factor in (1, k):
        weighted = MEGRegressor(**options).fit(X, y, sample_weight=factor * weight)
        assert weighted.solution_.value == pytest.approx(
            repeated.solution_.value, abs=2e-7 * repeated.solution_.problem.scale
        )
        np.testing.assert_allclose(weighted.W_, repeated.W_, atol=1e-5)  # one path: the same of several optima, too
    problem = weighted.solution_.problem
    assert len(problem.y) == len(weighted.solution_.y) == np.count_nonzero(weight)
    again = MEGRegression(**problem.parameters())
    assert again.value_of(weighted.W_) == pytest.approx(problem.value_of(weighted.W_), rel=1e-12)


def test_weights_are_routed():
    rng, X, y = data(0, "square", T=40)
    X = rng.standard_normal((40, 3))
    weight = rng.integers(1, 3, 40)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = MEGRegressor().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(routed, {"trace": [1.0, 2.0]}, cv=3).fit(X, y, sample_weight=weight)
    assert search.best_estimator_.solution_.problem.sample_weight is not None


@pytest.mark.parametrize(
    ("weight", "says", "estimator_says"),
    [
        (-np.ones(12), "sample_weight must hold numbers >= 0, got -1 at row 0", "[Nn]egative.*sample_weight"),
        (np.full(12, np.nan), "sample_weight holds 12 NaN", "sample_weight contains NaN"),
        (np.ones(11), r"sample_weight must be a real vector of shape \(12,\)", r"sample_weight.shape == \(11,\)"),
        (np.zeros(12), "sample_weight is zero for every row", "sample_weight is zero for every row"),
    ],
)
def test_bad_weights_are_named(weight, says, estimator_says):
    _, X, y = data(1, "square")
    with pytest.raises(ProblemError, match=says):
        MEGRegression(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=estimator_says):
        MEGRegressor().fit(X, y, sample_weight=weight)
