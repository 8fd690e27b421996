"""Estimators in scikit-learn's tools: pipelines, searches, scorers that hand over X and y alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_definiteboost import DefiniteBoostKernel
from matrixlearn_fetr import FETRClassifier, FETRRegressor, FETRRegressorCV
from matrixlearn_meg import MEGRegression, MEGRegressor
from matrixlearn_quantum import StateTomography
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError


@pytest.fixture
def rows():
    """X, y and the tasks of three tasks whose weights differ much."""
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((90, 3)), np.repeat([3, 5, 8], 30)
    W = {3: [4.0, 0.0, 0.0], 5: [0.0, 4.0, 0.0], 8: [-4.0, 0.0, 0.1]}
    y = np.array([x @ W[t] for x, t in zip(X, task, strict=True)]) + 0.01 * rng.standard_normal(90)
    order = rng.permutation(90)
    return X[order], y[order], task[order]


# -- tasks in a column of X ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [FETRRegressor(0.1), FETRRegressorCV(etas=(0.1,), bounds=((1e-2, 1e2),), cv=3)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_column_of_tasks_is_the_argument(rows, model, sparse):
    X, y, task = rows
    with_tasks = np.column_stack([X[:, :1], task, X[:, 1:]])
    data = sp.csr_array(with_tasks) if sparse else with_tasks
    model = clone(model)
    by_argument = model.fit(X, y, task).predict(X, task)
    by_column = model.set_params(task_column=1).fit(data, y)
    np.testing.assert_allclose(by_column.predict(data), by_argument, atol=2e-3)  # targets of 10, solved to 1e-6
    assert by_column.coef_.shape == (3, 3) and by_column.tasks_.tolist() == [3, 5, 8]
    with pytest.raises(ValueError, match="task_column = 1"):
        by_column.predict(data, task)
    with pytest.raises(ValueError, match="task_column is 7, but X has 4 columns"):
        model.set_params(task_column=7).fit(data, y)


def test_tools_that_hand_over_x_and_y_alone_see_the_tasks(rows):
    X, y, task = rows
    data, model = np.column_stack([X, task]), FETRRegressor(0.1, task_column=-1)
    assert np.mean((cross_val_predict(model, data, y, cv=5) - y) ** 2) < 0.01 * np.var(y)
    assert cross_val_score(model, data, y, scoring="r2").min() > 0.99
    found = permutation_importance(model.fit(data, y), data, y, random_state=0).importances_mean
    assert found[3] > 0.5 and found[0] > 0.5 > found[2]  # which task a row is of matters, the third feature does not
    with pytest.raises(ValueError, match="no column 'place'"):
        FETRRegressor(task_column="place").fit(data, y)


def test_a_column_by_name(rows):
    pandas = pytest.importorskip("pandas")
    X, y, task = rows
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(school=[f"s{t}" for t in task])
    model = FETRRegressor(0.1, task_column="school").fit(frame, y)
    assert model.tasks_.tolist() == ["s3", "s5", "s8"] and model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict(frame), FETRRegressor(0.1).fit(X, y, task).predict(X, task), atol=1e-6)


def test_one_label_is_that_of_all_rows(rows):
    X, y, task = rows
    model = FETRRegressor(0.1).fit(X, y, task)
    np.testing.assert_array_equal(model.predict(X, task=5), model.predict(X, np.full(90, 5)))


def test_labels_that_are_not_known_count_nothing():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    Y = (X @ rng.standard_normal((2, 3)) + rng.logistic(size=(60, 3)) > 0).astype(float)
    known = rng.random((60, 3)) < 0.7
    model = FETRClassifier(mean="zero", tol=1e-9).fit(X, np.where(known, Y, np.nan))
    task, row = np.nonzero(known.T)
    listed = FETRClassifier(mean="zero", tol=1e-9).fit(X[row], Y[row, task], task)
    np.testing.assert_allclose(model.coef_, listed.coef_, atol=1e-4)
    assert model.predict(X).shape == (60, 3)


# -- kernels from pairs -----------------------------------------------------------------------------


@pytest.fixture
def pairs():
    """Pairs of points of two classes that one of three features tells apart."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 60)
    points = rng.standard_normal((60, 3)) * [0.3, 2.0, 2.0] + np.outer(2 * label - 1, [1.5, 0, 0])
    a, b = rng.integers(0, 30, 50), rng.integers(30, 60, 50)
    return np.stack([points[a], points[b]], axis=1), np.where(label[a] == label[b], 1, -1)


def test_a_search_over_pairs_of_points(pairs):
    X, y = pairs
    search = GridSearchCV(DefiniteBoostKernel(tol=1e-3), {"slack": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    model = DefiniteBoostKernel(tol=1e-3).fit(X, y)
    plain = np.linalg.norm(X[:, 0] - X[:, 1], axis=1)
    from sklearn.metrics import roc_auc_score

    assert model.score(X, y) > roc_auc_score(y, -plain)
    with pytest.raises(ProblemError, match="stratify"):
        model.score(X[y > 0], y[y > 0])


def test_a_step_of_a_pipeline(pairs):
    X, y = pairs
    pipeline = make_pipeline(DefiniteBoostKernel(tol=1e-3), DefiniteBoostKernel(tol=1e-3)).fit(X, y)
    first = pipeline[0]
    np.testing.assert_allclose(first.fit_transform(X, y), first.transform(X))
    moved = first.transform(X)
    np.testing.assert_allclose(np.linalg.norm(moved[:, 0] - moved[:, 1], axis=1), first.pair_distance(X))
    assert first.get_feature_names_out().tolist() == [f"definiteboostkernel{i}" for i in range(3)]
    assert pipeline.score(X, y) > 0.8


def test_distances_are_judged_by_their_squares():
    index = np.array([[0, 1], [0, 2], [1, 2]])
    model = DefiniteBoostKernel(slack=None, tol=1e-6).fit(index, [1.0, 4.0, 3.0])
    assert model.score(index, [1.0, 4.0, 3.0]) == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ProblemError, match="indices below 3"):
        model.score(np.array([[0, 3]]), [1.0])


# -- data of other forms ----------------------------------------------------------------------------


def test_complex_matrices_are_those_of_the_problem():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((20, 3, 3)) + 1j * rng.standard_normal((20, 3, 3))
    X = G + G.conj().swapaxes(1, 2)
    W = G[0] @ G[0].conj().T
    W /= np.trace(W).real
    y = np.einsum("ij,tji->t", W, X).real
    model = MEGRegressor(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.W_, W, atol=1e-4)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-3)
    assert model.solution_.upper == pytest.approx(ml.solve(MEGRegression(X, y), tol=1e-9).upper, abs=1e-9)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(np.arange(20)[:, None, None] == 3, np.nan * X, X), y)


def test_counts_as_dictionaries():
    settings = ["XX", "ZZ"]
    listed = [{"00": 5, "11": 7}, {"00": 6, "01": 1, "11": 5}]
    np.testing.assert_array_equal(StateTomography(settings, listed).counts, [[5, 0, 0, 7], [6, 1, 0, 5]])
    for wrong in ([{"0": 1}, {}], [{"02": 1}, {}], [{"00": 1}, 3]):
        with pytest.raises(ProblemError, match="outcomes of 2 bits"):
            StateTomography(settings, wrong)
