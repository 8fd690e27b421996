"""Weights of rows in problems and estimators: whole ones repeat rows, 0 leaves one out, a factor is one of eta."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_fetr import (
    FETR,
    FETRClassifier,
    FETRClassifierCV,
    FETRRegressor,
    FETRRegressorCV,
    LogisticFETR,
    MeanRegularizedRidge,
    SingleTaskRidge,
)
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

from matrixlearn.exceptions import ProblemError

seeds = st.integers(0, 2**32 - 1)
means = st.sampled_from(["zero", "shared"])

FAR = 30.0
"""Coefficients beyond this run to infinity: a shared mean has no prior, and the classes can be told apart."""


def rows_of(seed, d=3, m=3, n=12):
    """Rows, targets with noise, tasks, and whole weights, none 0 for all of a task."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(m), n)
    W = rng.standard_normal((d, 1)) + 0.5 * rng.standard_normal((d, m))
    X = rng.standard_normal((m * n, d)) + 1.0
    y = np.sum(X * W.T[task], axis=1) + task + rng.logistic(size=len(task))
    weight = rng.integers(0, 4, len(task))
    weight[:: n // 4] = 1
    return rng, X, y, np.array(["b", "a", "c"])[task], weight


def models(mean, **options):
    options = {"mean": mean, "lower": 0.1, "upper": 10.0, "tol": 1e-9, **options}
    return FETRRegressor(0.7, **options), FETRClassifier(0.7, **options)


@given(seeds, means, st.booleans(), st.booleans())
def test_whole_weights_repeat_rows(seed, mean, own, intercept):
    """The same objective and the same matrix, for rows of tasks of their own and for shared ones, sparse ones too."""
    _, X, y, task, weight = rows_of(seed)
    for model in models(mean, fit_intercept=intercept):
        target = y if isinstance(model, FETRRegressor) else y > np.median(y)
        if not own:
            target = np.column_stack([target, target[::-1]]).astype(float if isinstance(model, FETRRegressor) else int)
        there = np.repeat(np.arange(len(X)), weight)
        weighted = clone(model).fit(X, target, task if own else None, sample_weight=weight)
        thin = clone(model).fit(sp.csr_array(X), target, task if own else None, sample_weight=weight)
        repeated = clone(model).fit(X[there], target[there], task[there] if own else None)
        assume(np.abs(repeated.coef_).max() < FAR)
        for other in (weighted, thin):
            assert other.solution_.value == pytest.approx(repeated.solution_.value, rel=1e-8)
            np.testing.assert_allclose(other.coef_, repeated.coef_, atol=1e-4)
            np.testing.assert_allclose(other.intercept_, repeated.intercept_, atol=1e-4)


@given(seeds, means, st.sampled_from([1e-3, 0.3, 7.0, 1e4]))
def test_a_common_factor_is_one_of_eta(seed, mean, k):
    """k loss + eta prior = k (loss + (eta / k) prior)."""
    rng, X, y, task, _ = rows_of(seed)
    weight = rng.exponential(size=len(X))
    for model in models(mean):
        target = y if isinstance(model, FETRRegressor) else y > np.median(y)
        one = clone(model).fit(X, target, task, sample_weight=weight)
        other = clone(model).set_params(eta=model.eta * k).fit(X, target, task, sample_weight=k * weight)
        assume(np.abs(one.coef_).max() < FAR)
        assert other.solution_.value == pytest.approx(k * one.solution_.value, rel=1e-8)
        np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-4)


@given(seeds, st.floats(0.3, 3.0))
def test_equal_bounds_are_scikit_learns_weighted_ridge_and_logistic_regression(seed, size):
    rng, X, y, task, _ = rows_of(seed)
    weight = rng.exponential(size=len(X))
    options = {"lower": size, "upper": size, "tol": 1e-10}
    fitted = FETRRegressor(2.0, mean="zero", **options).fit(X, y, task, sample_weight=weight)
    for name, w, b in zip(fitted.tasks_, fitted.coef_, fitted.intercept_, strict=True):
        i = task == name
        theirs = Ridge(2.0 * size**2).fit(X[i], y[i], sample_weight=weight[i])
        np.testing.assert_allclose(w, theirs.coef_, atol=1e-6)
        assert b == pytest.approx(theirs.intercept_, abs=1e-6)
    label = y > np.median(y)
    fitted = FETRClassifier(2.0, fit_intercept=False, **options).fit(X, label, sample_weight=weight)
    theirs = LogisticRegression(C=1 / (4.0 * size**2), fit_intercept=False, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(fitted.coef_, theirs.fit(X, label, sample_weight=weight).coef_, atol=1e-4)


@given(seeds, means)
def test_problems_say_the_same_of_lists_labels_and_repeated_rows(seed, mean):
    _, X, y, task, weight = rows_of(seed)
    there, names = np.repeat(np.arange(len(X)), weight), ["b", "a", "c"]
    options = {"eta": 0.5, "lower": 0.1, "upper": 10.0, "mean": mean}
    for kind, target in ((FETR, y), (LogisticFETR, y > np.median(y))):
        repeated = kind(X[there], target[there], task=task[there], **options)
        labelled = kind(X, target, task=task, sample_weight=weight, **options)
        listed = kind(
            [X[task == name] for name in names],
            [target[task == name] for name in names],
            task=names,
            sample_weight=[weight[task == name] for name in names],
            **options,
        )
        point = np.random.default_rng(seed).standard_normal((3, 3 + repeated.around.columns))
        for other in (labelled, listed, kind(**labelled.parameters())):
            assert other.objective_at(point, None) == pytest.approx(repeated.objective_at(point, None), rel=1e-10)
            assert other.scale == pytest.approx(repeated.scale, rel=1e-10)
            lower = other.bound_from_matrix(point).lower
            assert lower == pytest.approx(repeated.bound_from_matrix(point).lower, rel=1e-6, abs=1e-8 * other.scale)


def test_missing_targets_keep_the_weights_of_their_rows():
    rng, X, y, _, weight = rows_of(3)
    Y = np.where(rng.random((len(X), 2)) < 0.3, np.nan, np.column_stack([y, -y]))
    row, column = np.nonzero(~np.isnan(Y))
    model = FETRRegressor(mean="zero", tol=1e-9).fit(X, Y, sample_weight=weight)
    same = FETRRegressor(mean="zero", tol=1e-9).fit(X[row], Y[row, column], column, sample_weight=weight[row])
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-7)
    missing = FETR.with_missing(X, Y, sample_weight=weight)
    labelled = FETR(X[row], Y[row, column], task=column, sample_weight=weight[row])
    np.testing.assert_allclose(missing.moments.gram, labelled.moments.gram[np.argsort(labelled.tasks)])


def test_tasks_and_classes_without_weight_are_not_there():
    _, X, y, task, _ = rows_of(4)
    weight = np.where(task == "a", 0.0, 1.0)
    model = FETRRegressor().fit(X, y, task, sample_weight=weight)
    plain = FETRRegressor().fit(X[task != "a"], y[task != "a"], task[task != "a"])
    assert model.tasks_.tolist() == ["b", "c"]
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-8)
    kind = np.array(["x", "y", "z"])[np.arange(len(X)) % 3]
    one = FETRClassifier().fit(X, kind, sample_weight=(kind != "y").astype(float))
    two = FETRClassifier().fit(X[kind != "y"], kind[kind != "y"])
    assert one.classes_.tolist() == ["x", "z"]
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="got the one class 'y'"):
        FETRClassifier().fit(X, kind, sample_weight=(kind == "y").astype(float))


@pytest.mark.parametrize("own", [False, True])
def test_cross_validation_trains_and_judges_with_weights(own):
    """Splits of weighted rows against the same splits of repeated ones."""
    rng, X, y, task, weight = rows_of(5, n=20)
    there, fold = np.repeat(np.arange(len(X)), weight), rng.permutation(np.arange(len(X)) % 3)
    split = lambda f: [(np.flatnonzero(f != k), np.flatnonzero(f == k)) for k in range(3)]
    options = {"etas": (0.1, 10.0), "bounds": ((0.1, 10.0),), "tol": 1e-8}
    for kind, target in ((FETRRegressorCV, y), (FETRClassifierCV, (y > np.median(y)).astype(int))):
        weighted = kind(cv=split(fold), **options).fit(X, target, task if own else None, sample_weight=weight)
        repeated = kind(cv=split(fold[there]), **options)
        repeated.fit(X[there], target[there], task[there] if own else None)
        np.testing.assert_allclose(weighted.error_path_, repeated.error_path_, rtol=1e-4)
        assert weighted.eta_ == repeated.eta_
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
        dealt = kind(cv=3, **options).fit(X, target, task if own else None, sample_weight=weight)
        assert np.all(np.isfinite(dealt.error_path_))
        with pytest.raises(ValueError, match="from 2 to n_samples = 2"):
            kind(cv=3).fit(X, target, sample_weight=(np.arange(len(X)) < 2).astype(float))


@pytest.mark.parametrize("model", [SingleTaskRidge(0.5), MeanRegularizedRidge()])
def test_the_methods_beside_it_take_weights_too(model):
    _, X, y, task, weight = rows_of(6)
    there = np.repeat(np.arange(len(X)), weight)
    weighted = clone(model).fit(X, y, task, sample_weight=weight)
    np.testing.assert_allclose(weighted.coef_, model.fit(X[there], y[there], task[there]).coef_, atol=1e-9)


@pytest.mark.filterwarnings("ignore::matrixlearn.exceptions.UnseenTaskWarning")
def test_weights_pass_through_scikit_learns_tools():
    _, X, y, task, weight = rows_of(7, n=20)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = FETRRegressor().set_fit_request(task=True, sample_weight=True)
        routed.set_score_request(task=True, sample_weight=True)
        params = {"task": task, "sample_weight": weight}
        search = GridSearchCV(routed, {"eta": [0.1, 1.0]}, cv=3).fit(X, y, **params)
        np.testing.assert_allclose(
            search.best_estimator_.coef_, clone(search.best_estimator_).fit(X, y, **params).coef_
        )
        assert np.all(np.isfinite(cross_val_score(routed, X, y, params=params, cv=3)))
    bagged = BaggingRegressor(FETRRegressor(), n_estimators=3, random_state=0).fit(X, y, sample_weight=weight)
    assert bagged.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda w: -w, "[Nn]egative.*sample_weight"),
        (lambda w: np.where(w > 2, np.nan, w), "sample_weight contains NaN"),
        (lambda w: np.where(w > 2, np.inf, w), "sample_weight contains infinity"),
        (lambda w: w[:-1], r"sample_weight.shape == \(35,\), expected \(36,\)"),
        (lambda w: w[:, None], "[Ss]ample.?weight.*1D"),
        (lambda w: 0 * w, "sample_weight is zero for every row"),
    ],
)
def test_bad_weights_are_named_by_estimators(change, says):
    _, X, y, task, weight = rows_of(8)
    for model in (FETRRegressor(), FETRRegressorCV(), FETRClassifier(), FETRClassifierCV(), SingleTaskRidge()):
        target = y > 0 if "Classifier" in type(model).__name__ else y
        with pytest.raises(ValueError, match=says):
            model.fit(X, target, task, sample_weight=change(weight.astype(float)))


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (-np.ones(36), "sample_weight must hold numbers >= 0, got -1 at row 0"),
        (np.where(np.arange(36) == 3, np.nan, 1.0), "sample_weight holds 1 NaN"),
        (np.ones(35), r"sample_weight must be a real vector of shape \(36,\), got shape \(35,\)"),
        (np.zeros(36), "sample_weight is zero for every row"),
        ("heavy", "sample_weight must hold numbers"),
    ],
)
def test_bad_weights_are_named_by_problems(weight, says):
    _, X, y, task, _ = rows_of(8)
    for kind, target in ((FETR, y), (LogisticFETR, y > 0)):
        with pytest.raises(ProblemError, match=says):
            kind(X, target, task=task, sample_weight=weight)
    with pytest.raises(ProblemError, match="sample_weight needs X and Y"):
        FETR(gram=np.eye(2), cross=np.eye(2), square=np.ones(2), sample_weight=[1.0, 1.0])
    with pytest.raises(ProblemError, match="sample_weight must be a list of 2 arrays"):
        FETR([X, X], [y, y], sample_weight=np.ones(72))
    with pytest.raises(ProblemError, match=r"sample_weight\[1\] must be a real vector of shape \(36,\)"):
        FETR([X, X], [y, y], sample_weight=[np.ones(36), np.ones(3)])
