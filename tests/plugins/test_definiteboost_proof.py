"""The upper bound of DefiniteBoost is a theorem: known optima, nearly dependent rows, points of any kind."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_definiteboost import DefiniteBoost

import matrixlearn as ml

ROUNDING = 1e-14
"""Of the optima, which are sums of logarithms."""

HADAMARD = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2


def divergence_from_uniform(p):
    """sum p log p + log 4."""
    return sum(x * math.log(x) for x in p if x > 0) + math.log(4)


@st.composite
def nearly_dependent(draw):
    """(problem, optimum): W_00 = u, W_00 + 2^-k W_11 = u + 2^-k v, exact in floating point; inf where infeasible."""
    u, v, k = draw(st.integers(1, 14)) / 32, draw(st.integers(1, 14)) / 32, draw(st.integers(1, 52))
    e, Q = 2.0**-k, draw(st.sampled_from([np.eye(4), HADAMARD]))
    feasible = draw(st.booleans())
    right = u + (e * v if feasible else -e * v)
    assume(Fraction(right) == Fraction(u) + Fraction(e) * Fraction(v if feasible else -v))
    rows = np.stack([Q @ np.diag([1.0, 0, 0, 0]) @ Q.T, Q @ np.diag([1.0, e, 0, 0]) @ Q.T])
    assume(Fraction(rows[1, 0, 0]) == Fraction(rows[0, 0, 0]) + Fraction(e) * Fraction((Q[0, 1]) ** 2))
    optimum = divergence_from_uniform([u, v, (1 - u - v) / 2, (1 - u - v) / 2]) if feasible else math.inf
    return DefiniteBoost(rows, upper=[u, right], lower=[u, right]), optimum


def assert_true(certificate, optimum):
    """lower <= optimum <= upper, of bounds that are called checked."""
    if certificate.rigour == "checked":
        assert certificate.lower <= optimum + ROUNDING
        assert certificate.upper >= optimum - ROUNDING


@given(nearly_dependent(), st.sampled_from(["corrective", "barrier", "definiteboost"]), st.sampled_from([1e-3, 1e-8]))
def test_no_bound_is_false_however_nearly_the_rows_depend_on_each_other(known, method, tol):
    problem, optimum = known
    solution = ml.solve(problem, method, tol=tol, max_iter=60)
    assert_true(solution.certificate, optimum)
    if solution.status == "optimal":
        assert solution.value == pytest.approx(optimum, abs=2 * tol)
    assert solution.status != "infeasible" or optimum == math.inf
    assert_true(solution.verify(), optimum)


@given(
    nearly_dependent(),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.floats(-1e15, 1e15),
    st.floats(-1e15, 1e15),
)
def test_no_point_proves_a_false_bound(known, diagonal, first, second):
    problem, optimum = known
    X = np.diag(np.array(diagonal) + 1e-3)
    assert_true(ml.certify(problem, X=X, y=np.array([first, second])), optimum)


def test_nearly_dependent_rows_have_no_false_bound():
    """The right value is 0.1548213; the bounds were [0.0588915, 0.0588915], "optimal"."""
    e = 1e-13
    u = [0.5, 0.5 + 0.4 * e]
    problem = DefiniteBoost(np.stack([np.diag([1.0, 0, 0]), np.diag([1.0, e, 0])]), upper=u, lower=u)
    solution = ml.solve(problem, tol=1e-6, max_iter=200)
    assert solution.status == "optimal"
    assert solution.lower <= 0.1548213209 <= solution.upper == pytest.approx(0.1548213209, rel=1e-7)


def entropy_on(rows, right):
    """min sum_a w_a log(w_a d) on rows of full rank, the trace among them, by Newton's method on the dual."""
    Q, R = np.linalg.qr(rows.T)
    b, y = np.linalg.solve(R.T, right), np.zeros(len(right))
    for _ in range(100):
        w = np.exp(-Q @ y - 1)
        step = np.linalg.solve((Q.T * w) @ Q, Q.T @ w - b)
        y = y + step / max(1.0, float(np.linalg.norm(step)))
    assert np.max(np.abs(Q.T @ w - b)) < 1e-13
    return float(w @ np.log(w)) + math.log(rows.shape[1])


@pytest.mark.parametrize("exponent", [20, 27, 33, 39])
@pytest.mark.parametrize("k", [2, 4, 6])
def test_nearly_dependent_rows_mixed_by_whole_numbers_are_solved(k, exponent):
    """Rows U (B_0, e B_1, ..., e B_k), U of determinant 1, exact in floating point."""
    rng = np.random.default_rng(100 * k + exponent)
    d, e = k + 3, 2.0**-exponent
    B = rng.integers(-3, 4, (k, d)).astype(float)
    assert np.linalg.matrix_rank(np.vstack([np.ones(d), B])) == k + 1
    U = np.tril(rng.integers(-2, 3, (k, k)), -1) + np.eye(k)
    scales = np.append(1.0, np.full(k - 1, e))
    w = rng.integers(40, 80, d)
    w = w * 2.0**-10
    w[-1] = 1.0 - w[:-1].sum()
    rows, right = U @ (scales[:, None] * B), U @ (scales * (B @ w))
    problem = DefiniteBoost(np.stack([np.diag(row) for row in rows]), upper=right, lower=right)
    solution = ml.solve(problem, tol=1e-6)
    optimum = entropy_on(np.vstack([np.ones(d), B]), np.append(1.0, B @ w))
    assert solution.status == "optimal"
    assert solution.lower - 1e-11 <= optimum <= solution.upper + 1e-11


@pytest.mark.parametrize("d", [3, 4, 5, 7])
def test_equalities_that_follow_from_others_exactly_are_proved(d):
    """W_aa = 1/d for all a but one, twice, and W_01 = 0: W = I/d, at 0."""
    rows = [np.diag(row) for row in np.eye(d)[:-1]]
    off = np.zeros((d, d))
    off[0, 1] = off[1, 0] = 1.0
    right = np.array([1 / d] * (d - 1) + [0.0] + [1 / d])
    problem = DefiniteBoost(np.stack([*rows, off, rows[0]]), upper=right, lower=right)
    solution = ml.solve(problem, tol=1e-6)
    assert solution.status == "optimal" and abs(solution.value) < 1e-6


@given(st.integers(0, 10_000), st.floats(-12, -2))
def test_an_upper_bound_of_a_point_near_the_optimum_holds(seed, exponent):
    """bound(X) >= optimum - rounding, and near it, where X misses its constraints by little."""
    rng = np.random.default_rng(seed)
    problem = DefiniteBoost.random(rng)
    best = ml.solve(problem, tol=1e-8)
    assume(best.status == "optimal")
    noise = rng.standard_normal((problem.d, problem.d))
    bound = problem.bound_from_matrix(best.matrix + 10.0**exponent * (noise + noise.T))
    assert bound.upper >= best.lower - 1e-12 * problem.scale


EXTREME = (5e-324, 1e-310, 1e-160, 1e-100, 1e49, 1e150, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("size", EXTREME)
@pytest.mark.parametrize("seed", range(4))
def test_points_of_any_size_are_refused_by_name_or_bounded_honestly(size, seed):
    problem = DefiniteBoost.random(np.random.default_rng(seed))
    best = ml.solve(problem, tol=1e-6)
    for X, y in (
        (np.diag(np.full(problem.d, size)), None),
        (None, np.full(problem.m, size)),
        (None, np.full(problem.m, -size)),
    ):
        try:
            certificate = ml.certify(problem, X=X, y=y)
        except ml.exceptions.ProblemError:
            continue
        assert certificate.lower <= best.upper + 1e-12 and certificate.upper >= best.lower - 1e-12


def test_equalities_that_nearly_depend_on_each_other_estimate_nothing():
    """W_00 = 0.5 and W_00 + e W_11 = 0.5 + 0.4 e say W_11 = 0.4: 0.1548213, far from what meets both to rounding."""
    e = 1e-13
    u = [0.5, 0.5 + 0.4 * e]
    rows = np.stack([np.diag([1.0, 0, 0]), np.diag([1.0, e, 0])])
    problem = DefiniteBoost(rows, upper=u, lower=u)
    certificate = ml.certify(problem, X=np.diag([0.5, 0.25, 0.25]), y=np.zeros(2))
    assert certificate.rigour == "checked" and certificate.upper >= 0.1548213


@pytest.mark.parametrize("e", [1e-13, 5e-14])
def test_large_multipliers_are_rounded_together(e):
    """y of 1e13 is known to 1e-3 only, and y_0 + y_1 is to be near 0.2: each rounded alone, 1e-6 was not reached."""
    u = [0.5, 0.5 + 0.4 * e]
    solution = ml.solve(
        DefiniteBoost(np.stack([np.diag([1.0, 0, 0]), np.diag([1.0, e, 0])]), upper=u, lower=u), tol=1e-6
    )
    assert solution.status == "optimal"
    second = (u[1] - u[0]) / e  # W = diag(0.5, second, the rest), all of it known
    w = np.array([0.5, second, 0.5 - second])
    right = float(w @ np.log(w)) + np.log(3)
    assert solution.lower - 1e-12 <= right <= solution.upper + 1e-12
