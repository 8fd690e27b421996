"""Equalities that were mixed by whole numbers come out as they went in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.echelon import echelon
from matrixlearn.testing.exact import exact_program, solve_faults
from matrixlearn.testing.exact.kinds import chain_of


def mixing(rng, m):
    """A matrix of determinant 1, whole, and badly conditioned."""
    upper, lower = (rng.integers(-2, 3, (m, m)) for _ in range(2))
    return (np.triu(upper, 1) + np.eye(m)) @ (np.tril(lower, -1) + np.eye(m))


@given(seed=st.integers(0, 10**6))
def test_mixed_rows_have_the_form_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    A = rng.integers(-2, 3, (m, n, n)).astype(float)
    A, b = A + A.transpose(0, 2, 1), rng.integers(-3, 4, m).astype(float)
    if not np.all(np.any(A != 0, axis=(1, 2))):
        return
    M = mixing(rng, m)
    mixed = np.tensordot(M, A, axes=1)
    if not np.all(np.any(mixed != 0, axis=(1, 2))):
        return
    plain, found = echelon(DenseMap(A), b), echelon(DenseMap(mixed), M @ b)
    assert (plain is None) == (found is None)  # contradicting rows have none
    if found is not None:
        both = np.vstack([np.column_stack([form.family.rows.toarray(), form.right]) for form in (plain, found)])
        assert np.linalg.matrix_rank(both) == len(plain.right) == len(found.right)
        Z = np.array([found.family.matrix(k) for k in range(len(found.right))])
        np.testing.assert_allclose(np.tensordot(found.M, Z, axes=1), mixed, atol=1e-12)


@given(seed=st.integers(0, 10**6))
def test_multipliers_come_back_from_the_form_in_any_units(seed):
    """y = lifted(z) has M^T y = z to the rounding of |M|^T |y|."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    A = rng.integers(-2, 3, (m, n, n)).astype(float)
    units = np.outer(*[2.0 ** rng.integers(-13, 14, n)] * 2)
    rows = 4.0 ** rng.integers(-10, 11, m)
    A = np.tensordot(mixing(rng, m), A + A.transpose(0, 2, 1), axes=1) * units * rows[:, None, None]
    found = echelon(DenseMap(A), np.zeros(m)) if np.all(np.any(A != 0, axis=(1, 2))) else None
    if found is None:
        return
    z = rng.standard_normal(len(found.right))
    y = found.lifted(z)
    np.testing.assert_array_less(np.abs(found.lowered(y) - z), 1e-14 * (np.abs(found.M).T @ np.abs(y)) + 1e-300)


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_squares_is_solved_however_its_rows_were_mixed(seed):
    """x_0^2 <= x_1, ..., x_11^2 <= 0: the condition number of the mixed rows is about 1e9."""
    program = chain_of(12)
    M = mixing(np.random.default_rng(seed), len(program.b))
    problem = ml.LinearSDP.with_senses(program.C, np.tensordot(M, program.A, axes=1), M @ program.b, "==")
    solution = ml.solve(problem, tol=1e-6)
    assert solution.status == "optimal"
    assert solution.lower == solution.upper == 0


def test_a_gap_in_mixed_rows_is_one_in_the_rows_that_were_given():
    """An equality that is another one but for a little: b.y is large in the form, and small in the rows of the user."""
    program = exact_program(401659)
    solution = ml.solve(program.problem(), tol=1e-6)
    assert solution.status == "optimal", solution.explain()
    assert solve_faults(program, solution, 1e-6) == []


@pytest.mark.parametrize("tiny", [5e-324, -5e-324, 2.0**-1000])
def test_a_right_side_that_scaling_would_lose_has_no_form(tiny):
    """Rounded to 0, -X_00 = 5e-324 would have a solution."""
    assert echelon(DenseMap(np.diag([1.0, 0])[None]), np.array([tiny])) is None
