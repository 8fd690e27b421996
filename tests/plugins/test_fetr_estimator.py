"""FETRRegressor, FETRRegressorCV and FETRClassifier: scikit-learn's conventions, and the problem behind them."""

import matplotlib as mpl
import matrixlearn_fetr
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
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
from matrixlearn_fetr.training import PRIOR_ROWS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from matrixlearn.multitask import Rows, dealt, normalized_error

mpl.use("Agg")
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 4)


@parametrize_with_checks(
    [
        FETRRegressor(),
        FETRRegressor(0.3, mean="shared", fit_intercept=False, method="alternating", lower=0.1, upper=10.0),
        FETRRegressorCV(etas=(1.0, 10.0), bounds=((0.1, 10.0),), cv=3),
        FETRClassifier(),
        FETRClassifier(mean="shared"),
        FETRClassifierCV(etas=(0.1, 1.0), bounds=((0.1, 10.0),), cv=2),
    ],
    xfail_strict=True,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def populations(rng, d=3, m=4, n=12, noise=0.3):
    """Tasks with rows of their own, whose weights scatter around a mean."""
    task = rng.permutation(np.repeat(np.arange(m), n))
    W = rng.standard_normal((d, 1)) + 0.5 * rng.standard_normal((d, m))
    X = rng.standard_normal((len(task), d)) + 1.0
    y = np.sum(X * W.T[task], axis=1) + task + noise * rng.standard_normal(len(task))
    return X, y, np.array([f"t{i}" for i in range(m)])[task]


# -- regression --------------------------------------------------------------------------------------


@given(seeds, sizes, sizes, st.sampled_from(["zero", "shared"]))
def test_a_fit_is_the_stationary_point_of_the_problem(seed, d, m, mean):
    """The same objective as the problem of the rows themselves, centred where there are intercepts."""
    rng = np.random.default_rng(seed)
    X, y, task = populations(rng, d, m)
    model = FETRRegressor(0.7, mean=mean, fit_intercept=False, tol=1e-8).fit(X, y, task)
    problem = FETR(X, y, 0.7, mean=mean, task=task)
    W = model.coef_[[model.tasks_.tolist().index(name) for name in problem.tasks]].T
    point = W if mean == "zero" else np.column_stack([W, model.mean_])
    bound = problem.bound_from_matrix(point)
    assert bound.upper - bound.lower <= 1e-7 * problem.scale
    assert model.solution_.value == pytest.approx(problem.objective_at(point, None), abs=1e-9 * problem.scale)
    by_task = X.copy(), y.copy()
    for name in model.tasks_:
        by_task[0][task == name] -= X[task == name].mean(axis=0)
        by_task[1][task == name] -= y[task == name].mean()
    centred = FETRRegressor(0.7, mean=mean, fit_intercept=False, tol=1e-8).fit(*by_task, task)
    free = FETRRegressor(0.7, mean=mean, tol=1e-8).fit(X, y, task)
    np.testing.assert_allclose(free.coef_, centred.coef_, atol=1e-8)
    residual = y - free.predict(X, task)
    np.testing.assert_allclose([residual[task == name].mean() for name in free.tasks_], 0, atol=1e-10)


@given(seeds, sizes, sizes, st.floats(0.3, 3.0))
def test_equal_bounds_are_ridge_regression(seed, d, m, size):
    """l = u: both precisions are l I, so that the prior is eta l^2 ||V||^2."""
    rng = np.random.default_rng(seed)
    X, y, task = populations(rng, d, m)
    zero = FETRRegressor(2.0, lower=size, upper=size, mean="zero", tol=1e-10).fit(X, y, task)
    np.testing.assert_allclose(zero.coef_, SingleTaskRidge(2.0 * size**2).fit(X, y, task).coef_, atol=1e-6)
    shared = FETRRegressor(2.0, lower=size, upper=size, mean="shared", tol=1e-10).fit(X, y, task)
    around = MeanRegularizedRidge(2.0 * size**2, 0.0).fit(X, y, task)
    np.testing.assert_allclose(shared.coef_, around.coef_, atol=1e-5)
    np.testing.assert_allclose(shared.mean_, around.mean_, atol=1e-5)


def test_shared_rows_and_the_same_rows_for_each_task_agree():
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((15, 3)), rng.standard_normal((15, 4))
    shared = FETRRegressor(mean="zero", tol=1e-8).fit(X, Y)
    own = FETRRegressor(mean="zero", tol=1e-8).fit(np.tile(X, (4, 1)), Y.T.ravel(), np.repeat(np.arange(4), 15))
    np.testing.assert_allclose(shared.coef_, own.coef_, atol=1e-3)
    assert shared.solution_.value == pytest.approx(own.solution_.value, rel=1e-6)
    assert shared.predict(X).shape == Y.shape and shared.tasks_ is None


def test_auto_is_a_shared_mean_for_tasks_and_none_for_targets():
    rng = np.random.default_rng(4)
    X, y, task = populations(rng)
    assert np.any(FETRRegressor().fit(X, y, task).mean_)
    assert not np.any(FETRRegressor().fit(X, np.column_stack([y, -y])).mean_)


def test_relations_are_those_of_the_tasks():
    """Two opposite groups of tasks: seen in the correlations, whichever order the labels have."""
    rng = np.random.default_rng(5)
    task = rng.permutation(np.repeat(["b+", "a-", "c+", "d-"], 30))
    sign = np.array([1.0 if name.endswith("+") else -1.0 for name in task])
    X = rng.standard_normal((120, 6))
    y = sign * (X @ np.array([1.0, 2.0, -1.0, 0.5, 0.0, 0.0])) + 0.1 * rng.standard_normal(120)
    model = FETRRegressor(mean="zero").fit(X, y, task)
    assert model.tasks_.tolist() == ["a-", "b+", "c+", "d-"]
    signs = np.array([-1.0, 1.0, 1.0, -1.0])
    assert np.all(model.task_relations_ * np.outer(signs, signs) > 0.5)
    for covariance, n in ((model.task_covariance_, 4), (model.feature_covariance_, 6)):
        assert covariance.shape == (n, n)
        values = np.linalg.eigvalsh(covariance)
        assert values[0] >= 1e-3 * (1 - 1e-9) and values[-1] <= 1e3 * (1 + 1e-9)


def test_tasks_pass_through_scikit_learns_tools():
    X, y, task = populations(np.random.default_rng(6))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = FETRRegressor().set_fit_request(task=True).set_score_request(task=True)
        search = GridSearchCV(routed, {"eta": [0.1, 1.0]}, cv=3).fit(X, y, task=task)
        assert search.best_score_ > 0.8
        pipeline = make_pipeline(StandardScaler(), routed).fit(X, y, task=task)
        assert pipeline[-1].tasks_ is not None
        assert cross_val_score(routed, X, y, params={"task": task}, cv=3).min() > 0.6


# -- cross-validation --------------------------------------------------------------------------------


def test_the_choice_is_the_least_error_of_plain_fits():
    """Each entry of the path against a fit of its own where the path cannot end elsewhere."""
    X, y, task = populations(np.random.default_rng(7))
    etas, bounds = (10.0, 0.1, 1.0), ((1e-3, 1e3), (0.5, 2.0))
    model = FETRRegressorCV(etas=etas, bounds=bounds, structures=(), cv=3, tol=1e-9, path_tol=1e-9, max_iter=2000).fit(
        X, y, task
    )
    assert model.error_path_.shape == (2, 3, 3)
    at, k = np.unravel_index(np.argmin(model.error_path_.mean(axis=2)), (2, 3))
    assert (model.lower_, model.upper_, model.eta_) == (*bounds[at], etas[k])
    rows = Rows(X, y, np.unique(task, return_inverse=True)[1], 4)
    fold = dealt(rows, 3, np.random.RandomState(0))
    # equal or narrow bounds: no other stationary point for the path to find
    for k, eta in enumerate(etas):
        for f in range(3):
            plain = FETRRegressor(eta, lower=0.5, upper=2.0, tol=1e-9, max_iter=2000)
            plain.fit(X[fold != f], y[fold != f], task[fold != f])
            predicted = plain.predict(X[fold == f], task[fold == f])
            error = normalized_error(rows.take(np.flatnonzero(fold == f)), predicted, of=rows, prior=PRIOR_ROWS)
            assert model.error_path_[1, k, f] == pytest.approx(error, rel=1e-3)
    final = model.solution_.problem
    assert (final.eta, final.lower, final.upper) == (model.eta_, model.lower_, model.upper_)


def test_a_large_eta_on_the_path_does_not_hold_the_smaller_ones_at_their_mean():
    """At eta = 1e5 no task deviates, and with precisions at 1e3 none ever would: the path goes up."""
    X, y, task = populations(np.random.default_rng(14), noise=0.1)
    assert np.ptp(FETRRegressor(1e5).fit(X, y, task).coef_, axis=0).max() < 1e-3
    model = FETRRegressorCV(etas=(1e5, 0.01), bounds=((1e-3, 1e3),), cv=3).fit(X, y, task)
    assert model.eta_ == 0.01 and np.ptp(model.coef_, axis=0).max() > 0.1
    assert model.solution_.value == pytest.approx(FETRRegressor(0.01).fit(X, y, task).solution_.value, rel=1e-9)


def test_folds_keep_rows_of_every_task():
    rng = np.random.default_rng(8)
    task = np.array([0] * 7 + [1] * 2 + [2])
    rows = Rows(rng.standard_normal((10, 2)), rng.standard_normal(10), task, 3)
    fold = dealt(rows, 5, np.random.RandomState(0))
    assert fold[-1] == -1
    for k in range(5):
        assert set(task[fold != k]) == {0, 1, 2}
    assert FETRRegressorCV(cv=5).fit(rows.X, rows.Y, task).eta_ > 0
    with pytest.raises(ValueError, match="leaves a task without training rows"):
        FETRRegressorCV(cv=LeaveOneGroupOut()).fit(rows.X, rows.Y, task)


# -- classes -----------------------------------------------------------------------------------------


def test_a_classifier_is_the_stationary_point_of_the_problem():
    rng = np.random.default_rng(9)
    X, y, task = populations(rng, n=20)
    label = np.where(y + rng.logistic(size=len(y)) > np.median(y), "high", "low")
    model = FETRClassifier(0.5, tol=1e-8).fit(X, label, task)
    problem = LogisticFETR(np.column_stack([X, np.ones(len(X))]), label == "low", 0.5, mean="shared", task=task)
    W = np.column_stack([model.coef_, model.intercept_])
    W = W[[model.tasks_.tolist().index(name) for name in problem.tasks]].T
    bound = problem.bound_from_matrix(np.column_stack([W, model.mean_]))
    assert bound.upper - bound.lower <= 1e-6 * problem.scale
    assert model.classes_.tolist() == ["high", "low"]
    assert model.score(X, label, task) > 0.8
    chance = model.predict_proba(X, task)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[chance.argmax(axis=1)], model.predict(X, task))


@given(seeds, st.floats(0.3, 3.0))
def test_equal_bounds_are_logistic_regression(seed, size):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    label = (X[:, 0] + rng.logistic(size=40) > 0).astype(int)
    label[:2] = 0, 1
    model = FETRClassifier(1.5, lower=size, upper=size, fit_intercept=False, tol=1e-10).fit(X, label)
    theirs = LogisticRegression(C=1 / (3.0 * size**2), fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, label)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_classes_and_labels_are_tasks():
    rng = np.random.default_rng(10)
    X = np.vstack([rng.standard_normal((20, 2)) + 4 * np.array(centre) for centre in ([0, 1], [1, -1], [-1, -1])])
    y = np.repeat(["x", "y", "z"], 20)
    one = FETRClassifier(0.1).fit(X, y)
    assert one.score(X, y) > 0.95 and one.coef_.shape == (3, 2)
    np.testing.assert_allclose(one.predict_proba(X).sum(axis=1), 1)
    labels = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    many = FETRClassifier(0.1).fit(X, labels)
    assert many.predict(X).shape == labels.shape and np.mean(many.predict(X) == labels) > 0.95
    assert many.predict_proba(X).max() <= 1


@pytest.mark.parametrize("shared", [False, True])
def test_the_classifiers_choice_is_the_least_log_loss_of_plain_fits(shared):
    rng = np.random.default_rng(15)
    X, y, task = populations(rng, n=20)
    y = (y + rng.logistic(size=len(y)) > np.median(y)).astype(int)
    task = None if shared else task
    etas = (10.0, 0.3)
    model = FETRClassifierCV(etas=etas, bounds=((0.5, 2.0),), cv=3, tol=1e-8, path_tol=1e-8).fit(X, y, task)
    number = None if shared else np.unique(task, return_inverse=True)[1]
    signs = (2.0 * y - 1)[:, None] if shared else 2.0 * y - 1
    fold = dealt(Rows(X, signs, number, 1 if shared else 4), 3, np.random.RandomState(0))
    for k, eta in enumerate(etas):
        for f in range(3):
            seen, held = fold != f, fold == f
            plain = FETRClassifier(eta, lower=0.5, upper=2.0, tol=1e-8)
            plain.fit(X[seen], y[seen], None if shared else task[seen])
            chance = plain.predict_proba(X[held], None if shared else task[held])
            each = -np.log(chance[np.arange(held.sum()), y[held]])
            names = np.zeros(held.sum()) if shared else task[held]
            error = np.mean([each[names == name].mean() for name in np.unique(names)])
            assert model.error_path_[0, k, f] == pytest.approx(error, rel=1e-4)
    assert model.eta_ == etas[np.argmin(model.error_path_.mean(axis=2)[0])]
    assert model.score(X, y, task) > max(y.mean(), 1 - y.mean())
    assert model.get_params()["etas"] == etas


# -- sparse rows, missing targets ----------------------------------------------------------------------


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("own", [False, True])
def test_sparse_rows_are_the_same_rows_and_stay_sparse(make, own):
    rng = np.random.default_rng(16)
    X, y, task = populations(rng)
    X[rng.random(X.shape) < 0.6] = 0.0
    target = (y,) if not own else (y, task)
    label = ((y > np.median(y)).astype(int), *target[1:])
    for model, data in (
        (FETRRegressor(0.5, tol=1e-9), target),
        (FETRRegressorCV(etas=(0.1, 1.0), bounds=((0.1, 10.0),), cv=3, tol=1e-9), target),
        (MeanRegularizedRidge(), target),
        (FETRClassifier(0.5, tol=1e-9), label),
    ):
        dense = clone(model).fit(X, *data)
        sparse = clone(model).fit(make(X), *data)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
        predicted = sparse.predict(make(X), *data[1:])
        np.testing.assert_allclose(predicted, dense.predict(X, *data[1:]), atol=1e-5)


def test_centring_does_not_fill_sparse_rows(monkeypatch):
    rng = np.random.default_rng(17)
    X = sp.random_array((300, 40), density=0.02, rng=rng, format="csr")
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        whole = kind.toarray
        monkeypatch.setattr(kind, "toarray", lambda self, f=whole: f(self) if self.shape[0] < 300 else pytest.fail("n"))
    model = FETRRegressor().fit(X, rng.standard_normal((300, 3)))
    assert model.predict(X).shape == (300, 3)


def test_missing_targets_are_left_out():
    rng = np.random.default_rng(18)
    X = rng.standard_normal((40, 3))
    Y = X @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((40, 4)) + 2.0
    known = rng.random(Y.shape) < 0.6
    row, task = np.nonzero(known)
    model = FETRRegressor(mean="zero", tol=1e-9).fit(X, np.where(known, Y, np.nan))
    same = FETRRegressor(mean="zero", tol=1e-9).fit(X[row], Y[row, task], task)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, same.intercept_, atol=1e-7)
    assert model.predict(X).shape == Y.shape and r2_score(Y[~known], model.predict(X)[~known]) > 0.9
    assert FETRRegressorCV(cv=3).fit(X, np.where(known, Y, np.nan)).error_path_.shape == (2, 6, 3)
    with pytest.raises(ValueError, match="nothing but NaN for task 1"):
        model.fit(X, np.where(np.arange(4) == 1, np.nan, Y))


# -- picture and input -------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [None, ["north", "east", "south", "west"]])
def test_plot_draws_relations_and_objective(names):
    import matplotlib.pyplot as plt

    X, y, task = populations(np.random.default_rng(11))
    model = FETRRegressor().fit(X, y, task)
    figure = model.plot(task_names=names)
    drawn = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert drawn == (names or ["t0", "t1", "t2", "t3"])
    np.testing.assert_array_equal(figure.axes[1].images[0].get_array(), model.task_relations_)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), model.feature_relations_)
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), model.solution_.history.column("upper"))
    assert np.all(np.diff(model.solution_.history.column("upper")) <= 0)
    plt.close(figure)


def test_many_tasks_are_drawn_in_an_order_that_shows_groups():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(19)
    sign = rng.permutation(np.repeat([-1.0, 1.0], 30))
    task = np.repeat(np.arange(60), 12)
    X = rng.standard_normal((len(task), 3))
    y = sign[task] * (X @ [1.0, 2.0, -1.0]) + 0.1 * rng.standard_normal(len(task))
    figure = FETRRegressor(mean="zero").fit(X, y, task).plot()
    axes = figure.axes[1]
    drawn = np.asarray(axes.images[0].get_array())
    assert drawn.min() < -0.9 and np.all(drawn[:30, :30] > 0) and np.all(drawn[30:, 30:] > 0)
    assert axes.get_title() == "60 tasks" and axes.get_xlabel() == "sorted by likeness" and len(axes.get_xticks()) == 0
    plt.close(figure)


def test_hostile_data_stays_bounded():
    """One task, one feature, one row, duplicated tasks, constant and collinear features."""
    rng = np.random.default_rng(12)
    X, y, task = populations(rng)
    constant = np.column_stack([X, np.full(len(X), 2.0), X[:, 0]])
    cases = [
        (constant, y, task),
        (X[:, :1], y, task),
        (X, y, np.zeros(len(X))),
        (np.vstack([X, X]), np.append(y, y), np.append(task, np.char.add(task, "'"))),
        (X[:1], y[:1], task[:1]),
        (X.astype(int), y.astype(int), task),
        (X, np.column_stack([y, y])),
    ]
    for mean in ("zero", "shared"):
        for case in cases:
            model = FETRRegressor(mean=mean).fit(*case)
            assert np.all(np.isfinite(model.coef_)) and str(model.solution_.status) == "stationary"


def test_bad_input():
    X, y, task = populations(np.random.default_rng(13))
    for model, message in (
        (FETRRegressor(0.0), "eta must be positive"),
        (FETRRegressor(lower=0.0), "lower must be positive"),
        (FETRRegressor(lower=2.0, upper=1.0), "upper must be finite and at least lower"),
        (FETRRegressor(mean="none"), "mean must be one of"),
        (FETRRegressor(tol=0.0), "tol must be a number > 0"),
        (FETRRegressorCV(etas=()), "must not be empty"),
        (FETRRegressorCV(etas=(1.0, -1.0)), "each of etas must be a number > 0"),
        (FETRRegressorCV(path_tol=0.0), "path_tol must be a number > 0"),
        (FETRRegressorCV(cv=1), "cv must be a number of folds"),
        (FETRClassifier(), "Unknown label type"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, task)
    with pytest.raises(ValueError, match="contains NaN"):
        FETRRegressor().fit(X, np.where(y > 0, np.nan, y), task)
    with pytest.raises(ValueError, match="two classes or more"):
        FETRClassifier().fit(X, np.ones(len(X), int), task)
    with pytest.raises(ValueError, match="two classes, got 3"):
        FETRClassifier().fit(X, np.arange(len(X)) % 3, task)
    with pytest.raises(ValueError, match="indicator matrix"):
        FETRClassifier().fit(X, np.arange(2 * len(X)).reshape(-1, 2) % 3)
    with pytest.warns(ConvergenceWarning, match="fit stopped"):
        FETRRegressor(max_iter=0).fit(X, y, task)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        matrixlearn_fetr.nothing


@pytest.mark.filterwarnings("ignore::matrixlearn.exceptions.UnseenTaskWarning")
def test_tasks_that_fit_did_not_see_are_predicted_by_the_shared_mean():
    rng = np.random.default_rng(0)
    task = np.repeat(["a", "b", "c", "d"], 40)
    X = rng.standard_normal((160, 3))
    y = X @ [2.0, -1.0, 0.5] + 0.1 * rng.standard_normal(160)
    model = FETRRegressor(eta=10.0).fit(X, y, task=task)
    got, expected = model.predict(X[:3], task=["e", "a", "f"]), X[:3] @ model.mean_ + model.intercept_.mean()
    np.testing.assert_allclose(got[[0, 2]], expected[[0, 2]], rtol=1e-12)
    np.testing.assert_allclose(got[1], X[1] @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    with pytest.raises(ValueError, match="did not see: \\['e'\\]"):
        FETRRegressor(eta=10.0, mean="zero").fit(X, y, task=task).predict(X[:1], task=["e"])


@pytest.mark.filterwarnings("ignore::matrixlearn.exceptions.UnseenTaskWarning")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("make", [FETRClassifier, lambda **k: FETRClassifierCV(etas=(1.0, 10.0), cv=3, **k)])
def test_classes_in_tasks_that_fit_did_not_see_are_predicted_by_the_shared_mean(make, intercept):
    """By the logistic model of the mean, intercept included; worth more than a guess where tasks are alike."""
    rng = np.random.default_rng(1)
    task = np.repeat(["a", "b", "c", "d"], 60)
    X = rng.standard_normal((240, 3))
    y = np.where(X @ [2.0, -1.0, 0.5] + intercept + 0.5 * rng.logistic(size=240) > 0, "yes", "no")
    model = make(fit_intercept=intercept).fit(X[task != "d"], y[task != "d"], task[task != "d"])
    new = task == "d"
    margin = np.column_stack([X, np.ones(240)])[new] @ (model.mean_ if intercept else np.append(model.mean_, 0.0))
    np.testing.assert_allclose(model.decision_function(X[new], task[new]), margin, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[new], task[new])[:, 1], 1 / (1 + np.exp(-margin)), rtol=1e-10)
    assert model.score(X[new], y[new], task[new]) > 0.75
    mixed = model.decision_function(X[[0, 0]], ["a", "e"])
    np.testing.assert_allclose(mixed[0], X[0] @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    zero = make(fit_intercept=intercept, mean="zero").fit(X, y, task)
    with pytest.raises(ValueError, match="did not see: \\['e'\\]"):
        zero.predict(X[:1], ["e"])
