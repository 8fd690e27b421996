"""The estimators: scikit-learn's conventions, the right model, unseen tasks, the choice of eta and tau, pictures."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_network import (
    GraphClassifier,
    GraphClassifierCV,
    GraphMultitask,
    GraphRegressor,
    GraphRegressorCV,
    complete,
    neighbours,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import MeanRegularizedRidge

mpl.use("Agg")
seeds = st.integers(0, 2**32 - 1)


@parametrize_with_checks(
    [
        GraphRegressor(),
        GraphRegressor(0.1, 0.5, loss="huber", fit_intercept=False),
        GraphRegressorCV(etas=(0.01, 0.1), taus=(0.1, 1.0), cv=2),
        GraphClassifier(),
        GraphClassifier(loss="squared-hinge"),
        GraphClassifierCV(etas=(0.01,), taus=(0.1, 1.0), cv=2),
    ],
    xfail_strict=True,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def places_and_rows(seed=0, m=16, n=6, d=3):
    """Tasks whose weights vary smoothly over the plane."""
    rng = np.random.default_rng(seed)
    places = rng.random((m, 2))
    task = np.repeat(np.arange(m), n)
    X = rng.standard_normal((m * n, d))
    W = np.column_stack([np.sin(3 * places[:, 0]), places[:, 1], places.sum(axis=1)])[:, :d]
    y = np.sum(X * W[task], axis=1) + 2.0 * places[task, 0] + 0.3 * rng.standard_normal(m * n)
    return places, X, y, task, W


@given(seeds)
def test_intercepts_of_the_square_loss_are_free_of_the_ridge(seed):
    """Another constant in the targets of a task moves its intercept and nothing else."""
    places, X, y, task, _ = places_and_rows(seed % 1000, m=5, n=4)
    graph, shift = neighbours(places, 2), np.random.default_rng(seed).standard_normal(5)
    one = GraphRegressor(0.1, 1.0).fit(X, y, task, graph=graph)
    other = GraphRegressor(0.1, 1.0).fit(X, y + shift[task], task, graph=graph)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-8)
    np.testing.assert_allclose(other.intercept_ - one.intercept_, shift, atol=1e-8)


def test_the_complete_graph_is_mean_regularisation():
    """tau / 2m sum ||w_i - mean||^2: MeanRegularizedRidge at the w_0 and the ridges that make them the same."""
    _, X, y, task, _ = places_and_rows(n=6)
    m, n, eta, tau = 16, 6, 0.1, 2.0
    model = GraphRegressor(eta, tau, fit_intercept=False, tol=1e-12).fit(X, y, task)
    # alpha ||w_i - w_0||^2 + beta ||w_0||^2 with alpha = n (eta + tau), beta = m n eta (eta + tau) / tau
    ridge = MeanRegularizedRidge(n * (eta + tau), m * n * eta * (eta + tau) / tau, fit_intercept=False).fit(X, y, task)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-8)


def test_a_graph_that_is_one_helps_where_rows_are_few():
    places, X, y, task, W = places_and_rows(m=60, n=4)
    alone = GraphRegressor(0.01, 0.0).fit(X, y, task, graph=neighbours(places))
    graph = GraphRegressor(0.01, 0.3).fit(X, y, task, graph=neighbours(places))
    assert np.mean((graph.coef_ - W) ** 2) < 0.5 * np.mean((alone.coef_ - W) ** 2)


def test_a_task_that_was_not_seen_is_predicted_from_its_neighbours():
    places, X, y, task, _ = places_and_rows()
    labels = np.array([f"t{k:02}" for k in range(16)])
    model = GraphRegressor().fit(X, y, labels[task], graph=neighbours(places, 3, labels))
    wider = model.with_task("t05b", {"t05": 1.0, "t06": 3.0})
    w = (model.coef_[5] + 3 * model.coef_[6]) / 4
    b = (model.intercept_[5] + 3 * model.intercept_[6]) / 4
    np.testing.assert_allclose(wider.predict(X[:2], ["t05b", "t05b"]), X[:2] @ w + b)
    np.testing.assert_allclose(wider.predict(X[:2], ["t03", "t03"]), model.predict(X[:2], ["t03", "t03"]))
    assert "t05b" not in model.tasks_
    for wrong in ({}, {"nowhere": 1.0}, {"t05": 0.0}):
        with pytest.raises(ValueError, match="edges must give weights > 0"):
            model.with_task("new", wrong)
    with pytest.raises(ValueError, match="'t05' is known"):
        model.with_task("t05", {"t06": 1.0})
    with pytest.raises(ValueError, match="fit did not see"):
        model.predict(X[:1], ["new"])
    with pytest.raises(ValueError, match="fitted with the task"):
        GraphRegressor().fit(X, y).with_task("new", {"t05": 1.0})


def test_the_choice_is_that_of_the_least_held_out_error():
    places, X, y, task, _ = places_and_rows(m=30)
    graph = neighbours(places)
    model = GraphRegressorCV(etas=(1e-3, 1e-1), taus=(0.0, 0.1, 1.0), cv=3).fit(X, y, task, graph=graph)
    assert model.error_path_.shape == (2, 3, 3)
    at, k = np.unravel_index(np.argmin(model.error_path_.mean(axis=2)), (2, 3))
    assert (model.eta_, model.tau_) == ((1e-3, 1e-1)[at], (0.0, 0.1, 1.0)[k])
    fixed = GraphRegressor(model.eta_, model.tau_).fit(X, y, task, graph=graph)
    np.testing.assert_allclose(model.coef_, fixed.coef_, atol=1e-6)
    assert model.tau_ > 0


def test_classes_by_task_and_by_column():
    places, X, y, task, W = places_and_rows(n=30)
    labels = np.where(y > 0, "wet", "dry")
    graph = neighbours(places)
    for loss in ("logistic", "hinge"):
        model = GraphClassifier(loss=loss, tol=1e-4).fit(X, labels, task, graph=graph)
        assert model.score(X, labels, task) > 0.85
        assert model.solution_.status == "optimal"
    columns = GraphClassifier().fit(X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int))
    assert columns.predict(X).shape == (len(X), 2)
    chosen = GraphClassifierCV(etas=(1e-2,), taus=(0.1, 1.0), cv=2).fit(X, labels, task, graph=graph)
    assert chosen.tau_ in (0.1, 1.0)


def test_sparse_rows_missing_targets_and_weights_of_rows():
    places, X, y, task, _ = places_and_rows()
    graph = neighbours(places)
    dense = GraphRegressor(fit_intercept=False, method="krylov", tol=1e-10).fit(X, y, task, graph=graph)
    sparse = GraphRegressor(fit_intercept=False, method="krylov", tol=1e-10).fit(sp.csr_array(X), y, task, graph=graph)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    Y = np.column_stack([y, -y])
    Y[:30, 1] = np.nan
    missing = GraphRegressor(tol=1e-10).fit(X, Y)
    rows = GraphRegressor(tol=1e-10).fit(
        np.vstack([X, X[30:]]), np.append(y, -y[30:]), [0] * len(y) + [1] * (len(y) - 30)
    )
    np.testing.assert_allclose(missing.coef_, rows.coef_, atol=1e-8)
    twice = GraphRegressor(tol=1e-10).fit(
        np.vstack([X, X[:1]]), np.append(y, y[0]), np.append(task, task[0]), graph=graph
    )
    weight = np.where(np.arange(len(y)) == 0, 2.0, 1.0)
    weighted = GraphRegressor(tol=1e-10).fit(X, y, task, sample_weight=weight, graph=graph)
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-8)


def test_the_pictures_are_drawn():
    places, X, y, task, _ = places_and_rows()
    model = GraphRegressor(method="bol").fit(X, y, task, graph=neighbours(places))
    figure = model.plot(feature=1)
    titles = [axes.get_title() for axes in figure.axes]
    assert "16 tasks" in titles[0] and any("bol: optimal" in title for title in titles)
    drawn, sent = (axes.lines[0].get_xdata() for axes in figure.axes[1:3])
    assert sent[-1] == drawn[-1] * 2 * model.graph_.edges  # rounds, and vectors along edges
    other = ml.solve(GraphMultitask(X, y, complete(16), 0.1, 1.0, task=task), tol=1e-8).plot()
    assert any("120 edges" in axes.get_title() for axes in other.axes)
    plt.close("all")


def test_what_cannot_be_is_said():
    places, X, y, task, _ = places_and_rows()
    for wrong, message in (
        ({"eta": 0.0}, "eta must be a number > 0"),
        ({"tau": -1.0}, "tau must be a number >= 0"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"tol": 0.0}, "tol must be a number > 0"),
    ):
        with pytest.raises(ValueError, match=message):
            GraphRegressor(**wrong).fit(X, y, task)
    with pytest.raises(ValueError, match="etas and taus must not be empty"):
        GraphRegressorCV(taus=()).fit(X, y, task)
    with pytest.raises(ProblemError, match="graph has 3 nodes, and there are 16 tasks"):
        GraphRegressor().fit(X, y, task, graph=complete(3))
    with pytest.warns(ConvergenceWarning, match="fit stopped"):
        GraphRegressor(method="gd", max_iter=1).fit(X, y, task)
