"""The covariance step: the pair in closed form, by brute force, by flip-flop, and block by block by cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_fetr import (
    PrecisionPair,
    SpectralPrecision,
    feature_precision,
    joint_precisions,
    task_precision,
)
from matrixlearn_fetr.covariance import scalar_pair
from scipy.optimize import minimize

from matrixlearn.exponents import ClippedLogDet
from matrixlearn.testing.strategies import rotation

seeds = st.integers(0, 2**32 - 1)
sides = st.integers(1, 6)
singular = st.one_of(st.just(0.0), st.floats(1e-6, 1e4), st.sampled_from([1.0, 2.0]))
bounds = st.sampled_from([(1e-3, 1e3), (0.1, 10.0), (1.0, 1.0), (0.5, 0.5), (2.0, 30.0)])


def weights(d, m, seed, values):
    """A matrix with singular values that hypothesis draws: ties, zeros and extremes."""
    s = np.resize(np.array(values), min(d, m))
    return (rotation(d, seed)[:, : len(s)] * s) @ rotation(m, seed + 1)[:, : len(s)].T


drawn = st.builds(lambda d, m, seed, values: weights(d, m, seed % 2**31, values), sides, sides, seeds, st.lists(
    singular, min_size=1, max_size=4))  # fmt: skip


def precision(n, seed, low, high):
    w = np.random.default_rng(seed).uniform(low, high, n)
    return SpectralPrecision(float(w[0]), w, rotation(n, seed))


# -- the representation --------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(0, 6), seeds)
def test_spectral_precision_is_the_matrix_that_it_stands_for(n, r, seed):
    rng = np.random.default_rng(seed)
    r = min(r, n)
    S = SpectralPrecision(2.5, rng.uniform(0.5, 4.0, r), rotation(n, seed)[:, :r])
    dense, A = S.dense(), rng.standard_normal((n, 3))
    V = S.vectors
    np.testing.assert_allclose(dense, 2.5 * (np.eye(n) - V @ V.T) + (V * S.values) @ V.T, atol=1e-12)
    np.testing.assert_allclose(S @ A, dense @ A, atol=1e-12)
    np.testing.assert_allclose(A.T @ S, A.T @ dense, atol=1e-12)
    np.testing.assert_allclose(S @ A[:, 0], dense @ A[:, 0], atol=1e-12)
    np.testing.assert_allclose(S.solve(A), np.linalg.solve(dense, A), atol=1e-10)
    np.testing.assert_allclose(S.inverse.dense() @ dense, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(S.power(0.5).dense() @ S.power(0.5).dense(), dense, atol=1e-12)
    np.testing.assert_allclose(S.diagonal, np.diag(dense), atol=1e-12)
    assert S.logdet == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-10)
    assert S.extremes == pytest.approx((np.linalg.eigvalsh(dense)[0], np.linalg.eigvalsh(dense)[-1]))
    np.testing.assert_allclose(SpectralPrecision.of(dense).dense(), dense, atol=1e-12)


@given(st.integers(1, 6), st.integers(0, 6), seeds)
def test_without_ones_is_the_schur_complement(n, r, seed):
    r = min(r, n)
    S = SpectralPrecision(7.0, 10.0 ** np.random.default_rng(seed).uniform(-3, 3, r), rotation(n, seed)[:, :r])
    dense, ones = S.dense(), np.ones(n)
    expected = dense - np.outer(dense @ ones, dense @ ones) / (ones @ dense @ ones)
    found = S.without_ones()
    np.testing.assert_allclose(found.dense(), expected, atol=1e-9 * np.abs(dense).max())
    assert np.linalg.norm(found @ ones) <= 1e-12 * np.abs(dense).max() * n
    assert found.extremes[0] == 0.0


# -- each matrix alone -----------------------------------------------------------------------------------


@given(drawn, bounds, seeds)
def test_one_precision_is_the_clipped_logdet_of_its_loss(W, bounds, seed):
    (d, m), (low, high) = W.shape, bounds
    S2 = precision(m, seed % 2**31, low, high)
    G = W @ S2.dense() @ W.T
    size = np.linalg.norm(G) + 1
    expected = ClippedLogDet(d, m, low, high)((G + G.T) / 2)
    found = feature_precision(W, S2, low, high).dense()
    value = lambda S: np.sum(G * S) - m * np.linalg.slogdet(S)[1]
    assert value(found) == pytest.approx(value(expected), abs=1e-9 * size * high + 1e-9 * d * m)
    np.testing.assert_allclose(task_precision(W.T, S2, low, high).dense(), found, atol=1e-9 * high)


@settings(max_examples=settings().max_examples // 2)
@given(sides, sides, seeds)
def test_one_precision_by_cvxpy(d, m, seed):
    rng = np.random.default_rng(seed)
    W, S2 = rng.standard_normal((d, m)), precision(m, seed % 2**31, 0.1, 10.0)
    G = W @ S2.dense() @ W.T
    S = cp.Variable((d, d), PSD=True)
    box = [S >> 0.1 * np.eye(d), S << 10.0 * np.eye(d)]
    best = cp.Problem(cp.Minimize(cp.trace((G + G.T) / 2 @ S) - m * cp.log_det(S)), box).solve(solver="CLARABEL")
    found = feature_precision(W, S2, 0.1, 10.0)
    value = float(np.sum(G * found.dense())) - m * found.logdet
    assert value == pytest.approx(best, abs=1e-6 * (1 + abs(best) + d * m))


# -- the pair -------------------------------------------------------------------------------------------


@given(st.floats(0, 1e5), st.integers(1, 9), st.integers(1, 9), bounds)
def test_the_scalar_pair_beats_a_grid(s, d, m, bounds):
    low, high = bounds
    value = lambda a, b: s**2 * a * b - m * np.log(a) - d * np.log(b)
    a, b = scalar_pair(np.array([s]), d, m, low, high)
    grid = np.geomspace(low, high, 60)
    best = float(np.min(value(grid[:, None], grid[None, :])))
    at = float(value(a, b)[0])
    assert low <= a[0] <= high
    assert low <= b[0] <= high
    assert at <= best + 1e-9 * (1 + abs(best))


@given(drawn, bounds)
def test_no_precision_alone_improves_the_pair(W, bounds):
    low, high = bounds
    pair = joint_precisions(W, low, high)
    value = pair.penalty(W)
    slack = 1e-9 * (1 + abs(value) + float(np.sum(W**2)) * high**2)
    assert pair.best_penalty() == pytest.approx(value, abs=slack)
    S1, S2 = feature_precision(W, pair.task, low, high), task_precision(W, pair.feature, low, high)
    assert PrecisionPair(S1, pair.task).penalty(W) >= value - slack
    assert PrecisionPair(pair.feature, S2).penalty(W) >= value - slack


@given(drawn, bounds, seeds)
def test_no_other_pair_is_better_and_flip_flop_ends_at_its_value(W, bounds, seed):
    (d, m), (low, high) = W.shape, bounds
    best = joint_precisions(W, low, high).best_penalty()
    slack = 1e-8 * (1 + abs(best) + float(np.sum(W**2)) * high**2)
    S1, S2 = precision(d, seed % 2**31, low, high), precision(m, seed % 2**31 + 1, low, high)
    assert PrecisionPair(S1, S2).penalty(W) >= best - slack
    for _ in range(150):  # each round multiplies b by d / m until a bound is met
        S1 = feature_precision(W, S2, low, high)
        S2 = task_precision(W, S1, low, high)
    assert PrecisionPair(S1, S2).penalty(W) == pytest.approx(best, abs=10 * slack)


@settings(max_examples=settings().max_examples // 2)
@given(st.integers(1, 3), st.integers(1, 3), seeds)
def test_the_pair_by_scipy_from_random_starts(d, m, seed):
    """Matrices as K K^T inside the box by a smooth map of their eigenvalues: no geometry of ours."""
    rng = np.random.default_rng(seed)
    W, low, high = rng.standard_normal((d, m)) * 10.0 ** rng.uniform(-1, 1), 0.2, 5.0

    def inside(K):
        w, V = np.linalg.eigh((K + K.T) / 2)
        return (V * (low + (high - low) / (1 + np.exp(-w)))) @ V.T

    def value(x):
        S1, S2 = inside(x[: d * d].reshape(d, d)), inside(x[d * d :].reshape(m, m))
        return np.trace(S1 @ W @ S2 @ W.T) - m * np.linalg.slogdet(S1)[1] - d * np.linalg.slogdet(S2)[1]

    best = joint_precisions(W, low, high).best_penalty()
    found = min(minimize(value, rng.standard_normal(d * d + m * m), method="L-BFGS-B").fun for _ in range(2))
    assert best <= found + 1e-7 * (1 + abs(found))
    assert found <= best + 0.05 * (1 + abs(best))  # the map never reaches the bounds


@given(drawn, bounds, seeds)
def test_both_one_sided_forms_majorize_the_penalty_and_touch_it_with_its_gradient(W, bounds, seed):
    low, high = bounds
    here = joint_precisions(W, low, high)
    rng = np.random.default_rng(seed)
    for there in (W + rng.standard_normal(W.shape), rng.standard_normal(W.shape), 0 * W):
        rise = joint_precisions(there, low, high).best_penalty() - here.best_penalty()
        for form in here.majorizers():
            quadratic = lambda A, form=form: float(np.sum(A * (form.feature @ A @ form.task)))
            slack = 1e-9 * (1 + abs(here.best_penalty()) + (np.sum(W**2) + np.sum(there**2)) * high**2)
            assert rise <= quadratic(there) - quadratic(W) + slack
    slope = here.feature @ W @ here.task
    for form in here.majorizers():
        np.testing.assert_allclose(form.feature @ W @ form.task, slope, atol=1e-9 * high**2 * (1 + np.abs(W).max()))


def test_where_sides_differ_one_precision_sits_at_its_bound():
    W = 0.5 * np.random.default_rng(0).standard_normal((3, 8))
    pair = joint_precisions(W, 1e-3, 1e3)
    assert pair.feature.extremes == (1e3, 1e3)
    assert pair.task.extremes[0] < 1
    turned = joint_precisions(W.T, 1e-3, 1e3)
    assert turned.task.extremes == (1e3, 1e3)
    square = joint_precisions(W[:, :3], 1e-3, 1e3)
    np.testing.assert_allclose(square.feature.values, square.task.values)
