"""The clipped log-det against cvxpy, at its corners, and on every array library."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import ClippedLogDet, clipped_reciprocal
from matrixlearn.testing.strategies import psd, rotated


@settings(max_examples=settings().max_examples // 2)
@given(psd(high=10.0), st.floats(0.5, 5.0), st.sampled_from([(0.1, 10.0), (1.0, 1.0), (0.5, 2.0)]))
def test_is_the_minimizer_by_cvxpy(G, weight, bounds):
    n, (low, high) = len(G), bounds
    X = ClippedLogDet(n, weight, low, high)(G)
    S = cp.Variable((n, n), PSD=True)
    objective = cp.trace(G @ S) - weight * cp.log_det(S)
    best = cp.Problem(cp.Minimize(objective), [S >> low * np.eye(n), S << high * np.eye(n)]).solve(solver="CLARABEL")
    w = np.linalg.eigvalsh(X)
    assert low * (1 - 1e-12) <= w[0]
    assert w[-1] <= high * (1 + 1e-12)
    value = float(np.sum(G * X)) - weight * float(np.sum(np.log(w)))
    assert value == pytest.approx(best, abs=1e-6 * (1 + abs(best) + n * weight))


@given(st.lists(st.floats(-1.0, 1e6), min_size=1, max_size=5), st.floats(0.1, 10.0))
def test_no_scalar_is_better(nu, weight):
    nu, grid = np.array(nu), np.geomspace(1e-3, 1e3, 301)
    x = clipped_reciprocal(nu, weight, 1e-3, 1e3)
    value = lambda t: nu * t - weight * np.log(t)
    for t in grid:
        assert np.all(value(x) <= value(t) + 1e-9 * (1 + np.abs(nu) * t))


def test_zeros_are_at_the_upper_bound_without_a_warning():
    np.testing.assert_array_equal(clipped_reciprocal(np.array([0.0, -1e-17, 5e-324]), 3.0, 0.1, 7.0), [7.0] * 3)
    np.testing.assert_allclose(ClippedLogDet(2, 3.0, 0.1, 7.0)(np.zeros((2, 2))), 7.0 * np.eye(2))


def test_other_array_libraries_and_complex_matrices(backend):
    G = rotated(np.array([0.0, 1.0, 30.0]), 1)
    X = ClippedLogDet(3, 2.0, 0.1, 7.0)
    np.testing.assert_allclose(np.asarray(X(backend.array(G))), X(G), atol=1e-12)
    H = rotated(np.array([0.0, 1.0, 30.0]), 1, complex_entries=True)
    np.testing.assert_allclose(np.linalg.eigvalsh(X(H)), [0.1, 2.0, 7.0], atol=1e-12)


def test_the_loss_replaces_what_was_there():
    X = ClippedLogDet(2, 3.0, 0.1, 7.0)
    G = np.diag([1.0, 2.0])
    np.testing.assert_allclose(X(X.zero(G)), np.eye(2))
    assert X.accumulate(X.zero(G), G, 0.5) is G


@pytest.mark.parametrize(("weight", "low", "high"), [(0.0, 1, 2), (1, 0, 2), (1, 3, 2), (1, 1, np.inf)])
def test_bad_parameters(weight, low, high):
    with pytest.raises(ProblemError, match="weight must be positive"):
        ClippedLogDet(2, weight, low, high)
