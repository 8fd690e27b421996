"""V^T A V without rounding."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.face import least_face
from matrixlearn.problems.linear.whole import exact_congruence
from matrixlearn.testing.exact import exact_program, solve_faults


def in_fractions(A, V):
    exact = np.vectorize(Fraction, otypes=[object])
    return exact(V).T.dot(exact(A)).dot(exact(V))


@pytest.mark.parametrize("V", [np.eye(5), np.eye(5)[:, [3, 0]], np.eye(5)[:, [1, 1, 2]], np.zeros((5, 0))])
def test_columns_of_the_identity_take_rows_and_columns(V):
    A = np.random.default_rng(0).standard_normal((5, 5))
    found = exact_congruence(A, V)
    assert np.all(in_fractions(A, V) == found)
    found[:] = 0  # a copy
    assert np.all(A != 0)


@pytest.mark.parametrize("seed", range(20))
def test_small_whole_numbers_are_exact(seed):
    rng = np.random.default_rng(seed)
    A, V = rng.integers(-9, 10, (6, 6)) / 2.0 ** rng.integers(0, 9), rng.integers(-3, 4, (6, 4)) * 2.0**-3
    assert np.all(in_fractions(A, V) == exact_congruence(A, V))


def test_what_has_more_digits_than_floating_point_is_none():
    A = np.array([[1.0, 2.0**-30], [2.0**-30, 1.0]])
    assert exact_congruence(A, np.array([[1.0], [2.0**-40 + 1]])) is None


@given(seed=st.integers(0, 10**6), stages=st.integers(1, 3), mistaken=st.booleans())
def test_no_multipliers_cut_off_a_feasible_matrix(seed, stages, mistaken):
    """X* = V W V^T on every face, whatever multipliers are tried: those that prove it, or others."""
    program, rng = exact_program(seed), np.random.default_rng(seed)
    assume(program.X is not None and np.isrealobj(program.A) and program.n <= 12)
    rows, signs = program.A * program.signs[:, None, None], program.signs
    given = [signs * z for z in program.faces[:stages]]
    if mistaken or not given:
        given += [rng.integers(-1, 3, len(signs)).astype(float) for _ in range(stages)]
        rng.shuffle(given)
    face = least_face(DenseMap(rows), signs * program.b, program.equalities, np.array(given))
    if face is None:
        return
    assert face.contradiction == ""
    V, X = face.V, program.X
    back = np.linalg.pinv(V) if V.shape[1] else np.zeros((0, len(X)))
    np.testing.assert_allclose(V @ (back @ X @ back.T) @ V.T, X, atol=1e-9 * (np.abs(X).max() or 1.0))
    tight = np.zeros(len(signs), dtype=bool) if face.tight is None else face.tight
    reached = np.einsum("jab,ab->j", rows, X)
    np.testing.assert_allclose(reached[tight], (signs * program.b)[tight], rtol=1e-9, atol=1e-9 * np.abs(X).max())


@pytest.mark.parametrize("seed", [840112, 840251, 840480, 850304])
def test_faces_within_faces_that_only_sums_of_rows_show(seed):
    """Chains and weak infeasibility in mixed rows and another basis: y runs away along each face in turn."""
    program = exact_program(seed)
    solution = ml.solve(program.problem(), tol=1e-6)
    assert solution.status == program.outcome, solution.explain()
    assert solve_faults(program, solution, 1e-6) == []
