"""Pain 23 (metric-learn #43, #65, #276): constant, duplicated or dependent features make a covariance
singular, and the fit ends in "Matrix is not positive definite".

Here the work is on the span of the points, whose dimension is reported.
"""

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml

RNG = np.random.default_rng(23)
XS, XT = RNG.standard_normal((12, 4)), 0.6 * RNG.standard_normal((10, 4)) + 0.2


def constant(X):
    return np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])


def duplicated(X):
    return np.column_stack([X, X[:, :2], X[:, 0]])


def dependent(X):
    return X @ np.random.default_rng(0).standard_normal((4, 40))


def pixels(X):
    """As images of digits: small whole numbers, most pixels never lit."""
    out = np.zeros((len(X), 64))
    out[:, 10:14] = np.round(8 + 4 * X)
    return out


@pytest.mark.parametrize(("spoil", "rank"), [(constant, 5), (duplicated, 4), (dependent, 4), (pixels, 4)])
@pytest.mark.parametrize("method", ["interior-point", "mmw"])
def test_singular_second_moments(spoil, rank, method):
    Xs, Xt = spoil(XS), spoil(XT)
    assert np.linalg.eigvalsh(Xs.T @ Xs)[0] < 1e-9  # singular indeed
    problem = Discrepancy(Xs, Xt)
    assert problem.rank == rank
    tol = 1e-6 if method == "interior-point" else 0.1
    solution = ml.solve(problem, tol=tol, method=method)
    assert solution.status == "optimal"
    norm = np.linalg.norm(Xt.T @ Xt / len(Xt) - (Xs.T * solution.y) @ Xs, 2)
    assert norm == pytest.approx(solution.value, rel=1e-9)
    assert solution.y.min() >= 0 and solution.y.sum() == pytest.approx(1.0, abs=1e-12)


def test_dependent_features_do_not_change_the_answer():
    """An isometry into 40 dimensions: the same problem."""
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((40, 4)))[0]
    plain = ml.solve(Discrepancy(XS, XT), tol=1e-8)
    embedded = ml.solve(Discrepancy(XS @ Q.T, XT @ Q.T), tol=1e-8)
    assert embedded.value == pytest.approx(plain.value, rel=1e-7)
    assert embedded.problem.rank == 4


def test_a_single_point_has_rank_one():
    problem = Discrepancy([[3.0, 4.0, 0.0]], [[3.0, 4.0, 0.0]])
    assert problem.rank == 1
    assert ml.solve(problem).value == pytest.approx(0.0, abs=1e-12)
