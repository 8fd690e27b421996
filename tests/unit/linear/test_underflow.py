"""Numbers that underflow, and units that overflow."""

import numpy as np
import pytest

import matrixlearn as ml

TINY = 5e-324


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_row_that_is_missed_by_the_least_number_is_missed(sign):
    """-X_00 = 5e-324 has no solution, and X_00 = 5e-324 not X = 0."""
    rows, b = [np.diag([1.0, 0.0]), np.eye(2)], [-sign * TINY, 1.0]
    problem = ml.LinearSDP.with_senses(np.diag([-1.0, 0.0]), rows, b, ["==", "<="])
    certificate = ml.certify(problem, X=np.zeros((2, 2)), y=[0.0, 0.0])
    assert certificate.lower == -np.inf
    if sign > 0:
        assert ml.solve(problem, tol=1e-6).status == "infeasible"


def test_units_that_overflow_are_not_tried():
    """Rows that depend on each other to rounding: X runs away, and its units do."""
    rows = [np.diag([1.0, 1, 3]), np.diag([0.1, 0.1, 0.3])]
    problem = ml.LinearSDP.with_senses(np.diag([-2.0, 2, 3]), rows, [1.5, 0.15], ["<=", "=="])
    solution = ml.solve(problem, tol=1e-6)
    assert solution.value == pytest.approx(3.0)
    # 0.3 is less than 3 * 0.1: all of X in X_11 meets the equality, and the inequality
    assert solution.upper >= 3.0


@pytest.mark.parametrize("unit", [2.0**-20, 1.0, 2.0**20])
def test_a_right_side_that_units_would_round_keeps_its_own(unit):
    """X_00 = -3e-316 has no solution, whatever the size of the row."""
    rows = [unit * np.diag([1.0, 0.0]), np.eye(2)]
    problem = ml.LinearSDP.with_senses(np.diag([-1.0, 0.0]), rows, [-3e-316, 1.0], ["==", "<="])
    assert ml.solve(problem, tol=1e-6).status == "infeasible"
