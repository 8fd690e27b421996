"""A warm start saves iterations, and changes no answer whatever it holds."""

import dataclasses

import numpy as np
import pytest
from matrixlearn_definiteboost import MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression

import matrixlearn as ml


def linear(equal, noise, e):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((15, 12, 12))
    A = A + A.swapaxes(1, 2)
    X = rng.standard_normal((12, 12))
    X = X @ X.T / 12 + 0.1 * np.eye(12)
    C = rng.standard_normal((12, 12)) + e * noise.standard_normal((12, 12))
    b = np.einsum("jab,ab->j", A, X) + (0.0 if equal else 0.1)
    A, b = np.concatenate([A, np.eye(12)[None]]), np.append(b, 2 * np.trace(X)) * (1 + e * noise.standard_normal(16))
    return ml.LinearSDP(C + C.T, A, b, equalities=np.array([equal] * 15 + [False]))


def discrepancy(noise, e, cap=None):
    rng = np.random.default_rng(0)
    source, target = rng.normal(0.0, 1.0, (60, 10)), rng.normal(0.3, 0.8, (40, 10))
    return Discrepancy(source + e * noise.standard_normal(source.shape), target, max_weight=cap)


def maxcut(n, noise, e):
    W = np.triu(np.random.default_rng(0).random((n, n)) < 0.2, 1) * (1 + e * noise.random((n, n)))
    return MaxCut(W + W.T)


def regression(noise, e, loss="square"):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6, 6))
    X, W = X + X.swapaxes(1, 2), np.diag(np.arange(1.0, 7.0)) / 21
    y = np.einsum("tab,ab->t", X, W) + 0.1 * rng.standard_normal(60)
    return MEGRegression(X, y * (1 + e * noise.standard_normal(60)), loss=loss)


CASES = {
    "inequalities": (lambda noise, e: linear(False, noise, e), "interior-point"),
    "equalities": (lambda noise, e: linear(True, noise, e), "interior-point"),
    "discrepancy": (discrepancy, "interior-point"),
    "capped": (lambda noise, e: discrepancy(noise, e, 2.0), "interior-point"),
    "subspace": (discrepancy, "subspace"),
    "unit diagonal": (lambda noise, e: maxcut(40, noise, e), "interior-point"),
    "low rank": (lambda noise, e: maxcut(150, noise, e), "low-rank"),
    "minmax": (
        lambda noise, e: MinMaxSDP(
            np.random.default_rng(0).standard_normal((20, 8, 8)) + e * noise.standard_normal((20, 8, 8))
        ),
        "interior-point",
    ),
    "regression": (regression, "newton"),
    "corners": (lambda noise, e: regression(noise, e, "absolute"), "newton"),
}
TOL = 1e-6


def assert_same_answer(one, other):
    """Both optimal, and as near to each other as tol says."""
    assert one.status == other.status == "optimal"
    size = max(abs(one.value), one.certificate.size, one.problem.gap_floor)
    assert abs(one.value - other.value) <= 2 * TOL * size
    one.verify()


@pytest.mark.parametrize("name", CASES)
def test_neighbours_take_fewer_iterations_from_an_earlier_answer(name):
    make, method = CASES[name]
    first = ml.solve(make(np.random.default_rng(1), 0.0), method, tol=TOL)
    cold = warm = 0
    for seed in range(3):
        problem = make(np.random.default_rng(100 + seed), 1e-4)  # the data are drawn from 0
        alone, helped = (ml.solve(problem, method, tol=TOL, warm_start=start) for start in (None, first))
        assert_same_answer(helped, alone)
        cold, warm = cold + alone.iterations, warm + helped.iterations
    assert warm <= 0.3 * cold


@pytest.mark.parametrize("name", CASES)
def test_the_same_problem_to_a_smaller_tol_goes_on_where_it_ended(name):
    make, method = CASES[name]
    problem = make(np.random.default_rng(1), 0.0)
    rough, alone = (ml.solve(problem, method, tol=tol) for tol in (1e-3, TOL))
    helped = ml.solve(problem, method, tol=TOL, warm_start=rough)
    assert_same_answer(helped, alone)
    share = 1.0 if method == "low-rank" else 0.34  # whose last two thirds begin at 1e-3
    assert helped.iterations < share * alone.iterations


def wrong_starts(solution):
    """The answer with points that are none: too large, of the wrong sign, infeasible, 0, of another shape, NaN."""
    X, y, rng = solution.matrix, solution.y, np.random.default_rng(0)
    X = X.dense() if hasattr(X, "dense") else X
    n, m = len(X), len(y)
    noise = rng.standard_normal((n, n))
    points = [
        (1e30 * X, 1e30 * y), (1e-30 * X, 1e-30 * y), (1e300 * X, y), (X, 1e300 * y), (1e-300 * X, 1e-300 * y),
        (-X, -y), (0 * X, 0 * y), (noise + noise.T, y), (X + 1e-3 * noise @ noise.T, y),
        (X + 1j * (noise - noise.T), y), (noise @ noise.T, rng.standard_normal(m)), (np.eye(n + 1), y),
        (X, np.ones(m + 1)), (np.nan * X, y), (X, np.full(m, np.nan)), (None, y), (X, None),
        (X, 1e12 * rng.standard_normal(m)),
    ]  # fmt: skip
    for W, z in points:
        yield dataclasses.replace(solution, certificate=dataclasses.replace(solution.certificate, X=W, y=z))


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_start_changes_no_answer(name):
    make, method = CASES[name]
    problem = make(np.random.default_rng(1), 0.0)
    alone = ml.solve(problem, method, tol=TOL)
    other = ml.solve(make(np.random.default_rng(1), 1.0), method, tol=1e-3)
    for start in (other, *wrong_starts(alone)):
        assert_same_answer(ml.solve(problem, method, tol=TOL, warm_start=start), alone)
