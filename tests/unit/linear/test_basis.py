"""The same program in another basis, X = T X' T': exactly equivalent, and well posed where X is about I."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.problems.linear.basis import basis_of, is_invertible
from matrixlearn.testing.exact import exact_program, faults, solve_faults


@pytest.mark.parametrize("k", [10, 20, 30, 40])
@pytest.mark.parametrize("v", [[1, 1], [1, -1, 2], [2, 1, -1, 1]])
def test_the_basis_of_a_matrix_that_is_nearly_singular(v, k):
    """X = v v' + 2^-k I has the condition 2^k |v|^2; in its basis, whole numbers times powers of two, about 1."""
    X = np.outer(v, v) + 2.0**-k * np.eye(len(v))
    basis = basis_of(X)
    assert basis is not None and is_invertible(basis)
    np.testing.assert_array_equal(basis * 2.0**60, np.rint(basis * 2.0**60))
    inside = np.linalg.solve(basis, np.linalg.solve(basis, X).T)
    w = np.linalg.eigvalsh((inside + inside.T) / 2)
    assert w[0] > 0 and w[-1] / w[0] < 64


@given(seed=st.integers(0, 10**6))
def test_a_program_in_another_basis_has_the_same_bounds(seed):
    program = exact_program(seed)
    assume(program.n <= 5 and program.X is not None)
    rng = np.random.default_rng(seed)
    T = (np.tril(rng.integers(-1, 2, (program.n, program.n)), -1) + np.eye(program.n)) * 2.0 ** rng.integers(-3, 4)
    other = dataclasses.replace(program.problem(), units=T)
    try:
        certificate = ml.certify(other, X=program.X, y=None if program.y is None else program.signs * program.y)
    except ProblemError:
        return  # its matrices have more digits
    assert faults(program, certificate) == []


def test_a_basis_where_no_row_is_left():
    """The rows 0.X = 0 and 0.X <= 1 say nothing: the optimum of max -X'_11 is 0 in every basis."""
    T = np.array([[0.125, 0.0], [0.125, 0.125]])
    problem = ml.LinearSDP.with_senses(-np.diag([0.0, 1.0]), np.zeros((2, 2, 2)), [0.0, 1.0], ["==", "<="])
    certificate = ml.certify(dataclasses.replace(problem, units=T), X=np.zeros((2, 2)), y=[0.0, 0.0])
    assert certificate.lower == certificate.upper == 0


def test_the_trace_sees_what_no_row_sees():
    """X_00 = 1 with tr X <= 1, in X = T X' T': X'_00 alone has the trace 2, yet X = e_0 e_0' is feasible."""
    T = np.array([[1.0, 0.0], [-1.0, 1.0]])
    row = np.diag([1.0, 0.0])
    problem = ml.LinearSDP.with_senses(-row, [row], [1.0], "==", trace_bound=1.0)
    certificate = ml.certify(dataclasses.replace(problem, units=T), X=row, y=[-1.0])
    assert certificate.lower <= -1.0 <= certificate.upper
    solution = ml.solve(dataclasses.replace(problem, units=T), tol=1e-6)
    assert solution.lower <= -1.0 <= solution.upper


def test_a_basis_that_is_singular_is_refused():
    with pytest.raises(ProblemError, match="invertible"):
        ml.LinearSDP(np.eye(2), np.eye(2)[None], [1.0], units=np.ones((2, 2)))


@pytest.mark.parametrize("half", [8, 14, 20])
def test_an_optimum_in_directions_that_are_no_coordinates(half):
    """2 X'_01 with X'_00 = 4^-half X'_11, tr X' <= 1 in X = T X' T': 2^(1 - half) / (1 + 4^-half)."""
    e, T = 4.0**-half, np.array([[1.0, 0.0], [-1.0, 1.0]])
    C, A, trace = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -e]), np.eye(2)
    mixed = [T.T @ M @ T for M in (C, A, trace)]
    problem = ml.LinearSDP.with_senses(mixed[0], mixed[1:], [0.0, 1.0], ["==", "<="])
    solution = ml.solve(problem, tol=1e-4)
    optimum = 2.0 ** (1 - half) / (1 + e)
    assert solution.status == "optimal", solution.explain()
    assert solution.lower <= optimum * (1 + 1e-15) and solution.upper >= optimum * (1 - 1e-15)


@given(seed=st.integers(0, 10**6))
def test_what_is_solved_in_a_basis_is_right(seed):
    """Kind `nearly semidefinite`, which `solve` takes there."""
    program = exact_program(23 * seed + 20)
    assume(program.kind == "nearly semidefinite")
    solution = ml.solve(program.problem(), tol=1e-3, time_limit=5)
    assert solve_faults(program, solution, 1e-3) == []
    if solution.certificate.rigour == "checked":
        solution.certificate.verify()


def test_the_value_of_a_matrix_in_another_basis_is_within_the_bounds():
    """What X proves is the bound of a matrix further on: the value was 5e-6 of itself below it."""
    solution = ml.solve(exact_program(46089).problem(), tol=1e-3)
    assert solution.status == "optimal"
    assert solution.lower <= solution.value <= solution.upper
