"""Optimal pairs in few digits, found from points that are only near them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.maps import DenseMap, RankOneMap, ScaledMap, StackedMap
from matrixlearn.problems.linear.members import exact_matrix
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.recovery import lessened, recovered
from matrixlearn.testing.exact import exact_program, solve_faults


@given(seed=st.integers(0, 10**6), digits=st.floats(6, 10))
def test_the_optimal_pair_is_recovered(seed, digits):
    """max <C, X> with <A_j, X> <= b_j or = b_j, C = A(z) - S, X S = 0: from X* and y* but for noise."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    r = min(r, n - 1)
    T = np.tril(rng.integers(-1, 2, (n, n)), -1) + np.eye(n)
    inverse = np.rint(np.linalg.inv(T))
    X, S = T[:, :r] @ T[:, :r].T, inverse.T[:, r:] @ inverse[r:]
    G = rng.integers(-3, 4, (3, n, n)).astype(float)
    A = G + G.transpose(0, 2, 1)
    equal, z = rng.random(3) < 0.5, rng.integers(1, 5, 3).astype(float)
    proof = Proof(np.tensordot(z, A, axes=1) - S, DenseMap(A), np.einsum("jab,ab->j", A, X), equal)
    noise = rng.standard_normal((n, n))
    near = X + 10.0**-digits * (noise @ noise.T)
    found, y = recovered(proof, near, z + 10.0**-digits * rng.standard_normal(3))
    assert y is not None
    assert proof.b @ y == pytest.approx(float(np.sum(proof.C * X)), abs=1e-9)  # another optimal one, perhaps
    if found is not None:
        np.testing.assert_allclose(proof.family.adjoint(found), proof.b, atol=1e-8 * np.abs(X).max())
        assert float(np.sum(proof.C * found)) == pytest.approx(float(proof.b @ y), abs=1e-8)


@pytest.mark.parametrize("width", [2.0**-20, 2.0**-34])
def test_an_equality_as_two_sides_that_are_near(width):
    """max X_00 + X_01 with 1 <= X_00 + X_01 <= 1 + w, tr X <= 3: 1 + w to nine digits, where the interior is w wide."""
    A = np.zeros((3, 3))
    A[0, 0], A[0, 1], A[1, 0] = 1.0, 0.5, 0.5
    problem = ml.LinearSDP.with_senses(A, [A, A, np.eye(3)], [1 + width, 1.0, 3.0], ["<=", ">=", "<="])
    solution = ml.solve(problem, tol=1e-9)
    assert solution.status == "optimal", solution.explain()
    assert solution.lower <= 1 + width <= solution.upper
    assert solution.value == pytest.approx(1 + width, rel=1e-9)


@given(seed=st.integers(0, 10**6))
def test_of_two_sides_one_has_a_multiplier(seed):
    """The pair's common part adds nothing to A(y), and nothing good to b.y."""
    rng = np.random.default_rng(seed)
    G = rng.integers(-3, 4, (3, 3)).astype(float)
    A = np.stack([G + G.T, -float(2 ** int(rng.integers(-2, 3))) * (G + G.T), np.eye(3)])
    assume(np.any(A[0]))
    b = np.append(A[:2, 0, 0] + 0.25, 1.0)  # X = e_0 e_0' meets both
    proof = Proof(np.eye(3), DenseMap(A), b, np.zeros(3, dtype=bool))
    y = 10.0 ** rng.uniform(-3, 3, 3)
    after = proof.signed(y)
    assert min(after[:2]) == 0 and np.all(after >= 0)
    np.testing.assert_allclose(proof.family.apply(after), proof.family.apply(y), atol=1e-12 * np.abs(y).max())
    assert b @ after <= b @ y + 1e-12 * np.abs(y).max()


def test_a_row_whose_matrix_has_more_digits_is_no_exact_matrix():
    """a a' of a third is rounded; what is proved in whole numbers must not be about the rounded one."""
    third, whole = np.array([[1 / 3, 1.0]]), np.array([[3.0, -2.0]])
    assert exact_matrix(RankOneMap(third), 0) is None
    np.testing.assert_array_equal(exact_matrix(RankOneMap(whole), 0), whole.T @ whole)
    np.testing.assert_array_equal(
        exact_matrix(ScaledMap(RankOneMap(whole), np.array([-0.5])), 0), -0.5 * whole.T @ whole
    )
    assert exact_matrix(ScaledMap(DenseMap(np.eye(2)[None] / 3), np.array([3.0])), 0) is None
    assert exact_matrix(StackedMap(RankOneMap(third), DenseMap(np.eye(2)[None])), 0) is None
    # max <C, X>, a'X a <= 1, C = a a' as rounded: C has a positive eigenvalue where a a' has none, and no bound is true
    a = third[0]
    problem = ml.LinearSDP(np.outer(a, a), third, np.ones(1))
    assert ml.certify(problem, y=np.ones(1)).upper == np.inf


def test_a_multiplier_that_a_thin_row_does_not_need_is_lessened():
    """min X_00 with X_11 <= w: any z_1 >= 0 is feasible, and 0 is optimal; what the optimum needs stays."""
    A = np.array([np.diag([-1.0, 0.0]), np.diag([0.0, 1.0])])
    proof = Proof(np.diag([-1.0, 0.0]), DenseMap(A), np.array([-1.0, 2.0**-30]), np.zeros(2, dtype=bool))
    np.testing.assert_array_equal(lessened(proof, np.array([1.0, 366.5])), [1.0, 0.0])
    needed = Proof(np.diag([-1.0, 1.0]), proof.family, proof.b, proof.equal)  # X_11 is worth 1
    np.testing.assert_array_equal(lessened(needed, np.array([1.0, 3.0])), [1.0, 1.5])


@pytest.mark.parametrize("factor", [3.0, 5.0])
def test_of_two_rows_that_say_the_same_the_one_with_fewer_digits_stays(factor):
    """max <A, X>, <A, X> <= 1, 3 <A, X> <= 3, A indefinite: a multiplier of 1/3 is no number in binary."""
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    for senses in (["<=", "<=", ">="], ["==", "<=", ">="]):  # with -1 <= <A, X>, which is not tight
        for C in (A, -A):
            problem = ml.LinearSDP.with_senses(C, [factor * A, A, A], [factor, 1.0, -1.0], senses)
            solution = ml.solve(problem, tol=1e-9)
            assert solution.status == "optimal", solution.explain()
            optimum = -1.0 if C is not A and "==" in senses else 1.0
            assert solution.lower <= optimum <= solution.upper
            assert problem.b @ solution.y == pytest.approx(optimum, rel=1e-9)
            np.testing.assert_allclose(problem.family.apply(solution.y), C, atol=1e-9)


@pytest.mark.parametrize(
    ("seed", "bound"),
    [(300713, True), (300796, True), (300934, True), (301833, True), (301926, True), (401269, True), (800089, True),
     (810476, False), (812504, False), (813613, False), (814324, False)],
)  # fmt: skip
def test_programs_that_end_above_tol_but_for_the_recovery(seed, bound):
    """Thin sides, degenerate multipliers, S* = 0, and complex rows on a face."""
    program = exact_program(seed)
    program = program if bound else dataclasses.replace(program, trace_bound=None)
    solution = ml.solve(program.problem(), tol=1e-9)
    assert solution.status == "optimal", solution.explain()
    assert solve_faults(program, solution, 1e-9) == []
