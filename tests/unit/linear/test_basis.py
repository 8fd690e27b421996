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


@given(seed=st.integers(0, 10**6), small=st.integers(10, 40))
def test_the_basis_of_a_matrix_that_is_nearly_singular(seed, small):
    """X = T D T', T unimodular and D from 1 down to 2^-small: in the basis its condition is about a root of what it was."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    T = np.tril(rng.integers(-1, 2, (n, n)), -1) + np.eye(n)
    X = (T * 2.0 ** -rng.uniform(0, small, n)) @ T.T
    basis = basis_of(X)
    if basis is None:
        assert np.count_nonzero(np.tril(T, -1)) == 0 or not 1e4 < np.linalg.cond(X) < 1e10
        return
    assert is_invertible(basis)
    inside = np.linalg.solve(basis, np.linalg.solve(basis, X).T)
    w = np.linalg.eigvalsh((inside + inside.T) / 2)
    assert w[0] > 0 and w[-1] / w[0] < 300 * np.sqrt(np.linalg.cond(X))


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
