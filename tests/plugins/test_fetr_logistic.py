"""The logistic loss of FETR: the weight step against cvxpy, its bound against the Fenchel dual written out."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_fetr import LogisticFETR, Prior, SpectralPrecision
from matrixlearn_fetr.logistic import LogisticLoss, OwnRows, SharedRows, Slopes, WeightedMoments
from scipy.special import entr

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import as_signs
from matrixlearn.testing import parametrize_with_checks

seeds = st.integers(0, 2**32 - 1)


def precision(rng, k):
    Q = np.linalg.qr(rng.standard_normal((k, k)))[0]
    return SpectralPrecision.of((Q * 10.0 ** rng.uniform(-2, 2, k)) @ Q.T)


def instance(seed, own, shared_mean, n_most=20):
    """A loss and a prior, both small."""
    rng = np.random.default_rng(seed)
    d, m, n = int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.integers(1, n_most))
    if own:
        rows = OwnRows(rng.standard_normal((n * m, d)), rng.integers(0, m, n * m), m)
        signs = rng.choice([-1.0, 1.0], n * m)
    else:
        rows = SharedRows(rng.standard_normal((n, d)), m)
        signs = rng.choice([-1.0, 1.0], (n, m))
    S1, S2 = precision(rng, d), precision(rng, m)
    prior = Prior(S1, S2, 10.0 ** rng.uniform(-2, 1), S2.without_ones() if shared_mean else S2)
    counts = rng.exponential(size=signs.shape) if rng.random() < 0.5 else 1.0
    return rng, LogisticLoss(rows, signs, counts), prior


def total(loss, prior, W):
    return loss.value(W) + float(np.vdot(W, prior.apply(W)))


def optimum(loss, prior):
    """The judge's, with the mean as a variable of its own."""
    d, m = loss.shape
    W, w0 = cp.Variable((d, m)), cp.Variable((d, 1))
    V = W - w0 @ np.ones((1, m)) if prior.is_singular else W
    weighed = prior.feature.power(0.5).dense() @ V @ prior.task.power(0.5).dense()
    objective = loss.expression(W) + prior.eta * cp.sum_squares(weighed)
    program = cp.Problem(cp.Minimize(objective))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a judge that says "inaccurate" is not heard
        program.solve(solver="CLARABEL")
    assume(program.status == "optimal")
    return program.value


@given(seeds, st.booleans(), st.booleans())
def test_the_weight_step_against_cvxpy(seed, own, shared_mean):
    """Each step brackets the optimum, and a few reach it."""
    _, loss, prior = instance(seed, own, shared_mean)
    best = optimum(loss, prior)
    W = np.zeros(loss.shape)
    for _ in range(5):
        before = total(loss, prior, W)
        D, achieved, at_most = loss.step(W, prior)
        W = W + D
        size = prior.eta * prior.feature.extremes[1] * prior.task.extremes[1] * np.vdot(W, W)  # a mean may run far
        assert total(loss, prior, W) == pytest.approx(before - achieved, rel=1e-12, abs=1e-12 + 1e-15 * size)
        assert before - at_most <= best + 1e-6 * (1 + abs(best))
        assert achieved >= 0.98 * at_most - 1e-12 * loss.size
    assert at_most <= 1e-8 * loss.size
    assert total(loss, prior, W) <= best + 1e-7 * (1 + abs(best))


@given(seeds, st.booleans(), st.booleans())
def test_the_bound_is_the_gap_to_a_feasible_dual_point(seed, own, shared_mean):
    """`left` at any W against primal value less dual value, the dual written out for the s' that it moves to."""
    rng, loss, prior = instance(seed, own, shared_mean)
    W = rng.standard_normal(loss.shape) * 10.0 ** rng.uniform(-2, 0)
    if shared_mean:  # near enough to the best mean
        W = W + loss.step(W, prior)[0]
        W = W + 1e-3 * rng.standard_normal(loss.shape)
    slopes = Slopes.at(loss, W)
    left = slopes.left(slopes.residual - prior.apply(W), prior)
    assume(np.isfinite(left))
    y, s = loss.signs, slopes.wrong
    if shared_mean:
        s = s + y * s * (1 - s) * slopes._mean_step()
        assert s.min() > -1e-14 and s.max() < 1 + 1e-14  # rounding alone
        s = np.clip(s, 0.0, 1.0)
    B = -loss.rows.adjoint(loss.counts * y * s)
    if shared_mean:
        np.testing.assert_allclose(B.sum(axis=1), 0, atol=1e-9 * np.abs(loss.rows.X).sum())
        B = B - B.mean(axis=1, keepdims=True)
    entropy = float(np.sum(loss.counts * (entr(s) + entr(1 - s))))
    dual = entropy - float(np.vdot(B, prior.feature.solve(B) @ prior.task.inverse)) / (4 * prior.eta)
    primal = total(loss, prior, W)
    assert left == pytest.approx(primal - dual, rel=1e-7, abs=1e-10 * (1 + abs(primal) + abs(dual)))
    assert left >= 0


@given(seeds, st.booleans())
def test_derivatives_and_adjoints(seed, own):
    rng, loss, _ = instance(seed, own, False)
    W, V = rng.standard_normal((2, *loss.shape))
    rows, h = loss.rows, 1e-5
    u = rng.standard_normal(loss.signs.shape)
    assert np.vdot(rows.adjoint(u), W) == pytest.approx(np.vdot(u, rows.predict(W)), abs=1e-10)
    slope = (loss.value(W + h * V) - loss.value(W - h * V)) / (2 * h)
    assert -2 * np.vdot(loss.residual(W), V) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    bend = (loss.residual(W - h * V) - loss.residual(W + h * V)) / (2 * h)
    np.testing.assert_allclose(Slopes.at(loss, W).moments.apply(V), bend, rtol=1e-5, atol=1e-6)
    w = rng.standard_normal(loss.shape[0])
    np.testing.assert_allclose(rows.predict_alike(w), rows.predict(np.repeat(w[:, None], loss.shape[1], axis=1)))


@given(seeds, st.booleans())
def test_the_mean_gram_matrix_is_that_of_the_tasks_and_sparse_rows_say_the_same(seed, own):
    rng, loss, _ = instance(seed, own, False)
    c, rows = rng.random(loss.signs.shape), loss.rows
    d, m = rows.shape
    moments = WeightedMoments(rows, c)
    columns = [moments.apply(np.repeat(np.eye(d)[:, [j]], m, axis=1)).mean(axis=1) for j in range(d)]
    np.testing.assert_allclose(moments.mean_gram, np.column_stack(columns), atol=1e-12)
    values, vectors = moments.spectrum
    np.testing.assert_allclose((vectors * values) @ vectors.T, moments.mean_gram, atol=1e-10)
    X = scipy.sparse.csr_array(rows.X)
    thin = OwnRows(X, rows.code, m) if own else SharedRows(X, m)
    W = rng.standard_normal((d, m))
    np.testing.assert_allclose(thin.predict(W), rows.predict(W), atol=1e-12)
    np.testing.assert_allclose(thin.predict_alike(W[:, 0]), rows.predict_alike(W[:, 0]), atol=1e-12)
    np.testing.assert_allclose(thin.adjoint(c), rows.adjoint(c), atol=1e-12)
    np.testing.assert_allclose(thin.gram(c), rows.gram(c), atol=1e-12)


@pytest.mark.parametrize("own", [False, True])
def test_margins_of_a_thousand_are_no_trouble(own):
    """exp(1000) is never formed, and Newton's method comes back from where all curvature is 0."""
    rng, loss, prior = instance(5, own, False)
    W = 1e3 * rng.standard_normal(loss.shape)
    assert np.isfinite(loss.value(W)) and np.all(np.isfinite(loss.residual(W)))
    for _ in range(5):
        W = W + loss.step(W, prior)[0]
    V = np.zeros(loss.shape)
    for _ in range(5):
        V = V + loss.step(V, prior)[0]
    np.testing.assert_allclose(W, V, atol=1e-6 * (1 + np.abs(V).max()))


def test_labels():
    np.testing.assert_array_equal(as_signs("Y", np.array([0.0, 1.0, 1.0])), [-1, 1, 1])
    np.testing.assert_array_equal(as_signs("Y", np.array([-1.0, 1.0])), [-1, 1])
    np.testing.assert_array_equal(as_signs("Y", np.array([1.0, 1.0])), [1, 1])
    np.testing.assert_array_equal(as_signs("Y", np.array([0.0])), [-1])
    for bad in ([-1.0, 0.0, 1.0], [0.5, 1.0], [1.0, 2.0], np.arange(9.0)):
        with pytest.raises(ProblemError, match="Y must hold labels -1 and 1, or 0 and 1"):
            as_signs("Y", np.array(bad))


# -- the problem -----------------------------------------------------------------------------------


@parametrize_with_checks([LogisticFETR])
def test_logistic_fetr(check):
    check()


@given(seeds)
def test_the_objective_never_rises_and_the_block_of_weights_is_cvxpys(seed):
    rng = np.random.default_rng(seed)
    problem = LogisticFETR.random(rng)
    solution = ml.solve(problem, tol=1e-8)
    assert solution.status == "stationary"
    assert np.all(np.diff(solution.history.column("upper")) <= 1e-9 * problem.scale)
    found = problem.estimate(solution)
    form = problem.around.form(found.task_precision)
    prior = Prior(found.feature_precision, found.task_precision, problem.eta, form)
    best = optimum(problem.loss, prior)
    assert total(problem.loss, prior, found.weights) <= best + 1e-6 * (1 + abs(best))


@given(seeds)
def test_labels_in_either_form_order_of_tasks_and_a_swap_of_classes(seed):
    """0, 1 is -1, 1; permuted tasks and swapped classes move W along."""
    rng = np.random.default_rng(seed)
    n, d, m = 12, 3, 3
    X, Y = rng.standard_normal((n, d)), rng.choice([-1, 1], (n, m))
    solved = lambda *args, **options: ml.solve(LogisticFETR(*args, eta=0.5, lower=0.1, upper=10, **options), tol=1e-9)
    first = solved(X, Y)
    order = rng.permutation(m)
    assert solved(X, (Y + 1) // 2).value == pytest.approx(first.value, rel=1e-8)
    np.testing.assert_allclose(solved(X, Y[:, order]).matrix, first.matrix[:, order], atol=1e-3)
    np.testing.assert_allclose(solved(X, -Y).matrix, -first.matrix, atol=1e-3)
    label = np.repeat(["c", "a", "b"], n)
    own = solved(np.vstack([X] * m), Y.T.reshape(-1), task=label)
    listed = solved([X] * m, list(Y.T), task=["c", "a", "b"])
    for other in (own, listed):
        assert other.value == pytest.approx(first.value, rel=1e-7)
        assert other.problem.tasks.tolist() == ["c", "a", "b"]
        np.testing.assert_allclose(other.matrix, first.matrix, atol=1e-3)


def test_a_separable_pair_of_classes_stays_bounded():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    solution = ml.solve(LogisticFETR(X, np.sign(X)), tol=1e-8)
    assert solution.status == "stationary" and np.all(np.isfinite(solution.matrix))


def test_input():
    X, Y = np.eye(3), np.array([0, 1, 1])
    for bad, message in [
        ({"X": X, "Y": [0, 1, 2]}, "Y must hold labels -1 and 1"),
        ({"gram": X, "cross": X, "square": np.ones(3)}, "X and Y must be given"),
        ({"X": X, "Y": [0, 1, np.nan]}, "NaN"),
        ({"X": X, "Y": Y, "eta": 0.0}, "eta must be positive"),
        ({"X": X, "Y": Y, "gram": X}, "not both"),
    ]:
        with pytest.raises(ProblemError, match=message):
            LogisticFETR(**bad)
    with pytest.raises(ProblemError, match="not in batches"):
        LogisticFETR.from_batches([(X, Y)])
    sparse = ml.solve(LogisticFETR(scipy.sparse.csr_array(X), Y), tol=1e-8)
    assert sparse.value == pytest.approx(ml.solve(LogisticFETR(X, Y), tol=1e-8).value, rel=1e-7)
