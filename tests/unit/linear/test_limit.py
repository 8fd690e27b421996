"""What is said of the trace bound is said of the matrix that a lower bound is of."""

import numpy as np
import pytest

import matrixlearn as ml

programs = ml.LinearSDP.with_senses


@pytest.mark.parametrize("e", [2.0**-26, 2.0**-33, 2.0**-40])
def test_rows_that_are_nearly_the_trace_say_nothing_of_it(e):
    """(1 - e) X_00 + (1 + e) X_11 = 1 with tr X <= 1 asks for X_00 <= X_11, so that X_00 is 1/2 at most, though
    X_00 = 1 / (1 - e) meets the row and exceeds the trace by e.
    """
    problem = programs(np.diag([1.0, 0.0]), [np.diag([1 - e, 1 + e])], [1.0], "==", trace_bound=1.0)
    assert ml.certify(problem, X=np.diag([1 / (1 - e), 0.0]), y=[0.0]).lower <= 0.5
    assert ml.solve(problem, tol=1e-6).lower <= 0.5


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_matrix_above_the_trace_bound_proves_nothing_by_one_beside_it(dtype):
    """tr X >= 3 with tr X <= 3: X of a trace of 3 (1 + d) is feasible for the row, and the matrix next to it on the
    row is for both, but <C, X> = tr X is 3.
    """
    C = np.eye(2, dtype=dtype)
    problem = programs(C, [C], [3.0], ">=", trace_bound=3.0)
    for d in (1e-6, 1e-8, 1e-10):
        X = np.diag([2.0, 1.0]) * (1 + d)
        assert ml.certify(problem, X=X, y=[0.0]).lower <= 3 + 1e-13
        assert ml.certify(problem, X=np.diag([3.0, 0.0]) * (1 + d), y=[0.0]).lower <= 3 + 1e-13


def test_a_real_matrix_of_a_complex_program():
    """X_00 = X_11 = 1 and Im X_01 = 0 in other units: a real X is complex there."""
    i = np.array([[0, 1j], [-1j, 0]])
    rows = [np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), i]
    problem = ml.LinearSDP(
        np.ones((2, 2)), np.array(rows), [1.0, 1.0, 0.0], equalities=np.ones(3, dtype=bool), units=np.array([4.0, 0.5])
    )
    certificate = ml.certify(problem, X=np.ones((2, 2)), y=[2.0, 2.0, 0.0])
    assert certificate.lower <= 4 <= certificate.upper
    assert certificate.lower >= 4 - 1e-9
