"""Programs whose optimal matrices or slacks are singular, in whole numbers: proved on the subspace that they span."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.kernel import with_exact_kernel
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.span import as_real, independent, spanned, whole_range
from matrixlearn.problems.linear.whole import reduced_echelon
from matrixlearn.testing.exact import exact_program


def whole(rng, *shape, kind=float):
    out = rng.integers(-3, 4, shape).astype(kind)
    return out + 1j * rng.integers(-3, 4, shape) if kind is complex else out


@given(seed=st.integers(0, 10**6), kind=st.sampled_from([float, complex]))
def test_the_range_of_a_whole_matrix_is_found(seed, kind):
    """X = V W V^*, V = (I, M)' in any order of its rows, M whole: the span of V is found, but for noise of 1e-12."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    r = min(r, n - 1)
    B = np.vstack([np.eye(r), np.sign(whole(rng, n - r, r))])[rng.permutation(n)]
    if kind is complex:
        B = B + 1j * np.vstack([np.zeros((r, r)), np.sign(whole(rng, n - r, r))])
    X = B @ B.conj().T
    V = whole_range(X + 1e-12 * np.trace(X).real * np.eye(n) / n)
    assert V is not None and V.shape[1] == r
    assert np.linalg.matrix_rank(np.column_stack([V, B])) == r


@given(seed=st.integers(0, 10**6))
def test_dropped_rows_follow_from_those_that_are_kept(seed):
    rng = np.random.default_rng(seed)
    basis, x = whole(rng, int(rng.integers(1, 4)), 5), whole(rng, 5)
    rows = whole(rng, int(rng.integers(1, 8)), len(basis)) @ basis
    right = rows @ x
    kept = independent(rows, right, np.ones(len(rows), dtype=bool))
    assert kept is not None and np.linalg.matrix_rank(rows[kept]) == len(kept) == np.linalg.matrix_rank(rows)
    if len(kept) < len(rows):
        contradicting = right.copy()
        contradicting[np.setdiff1d(np.arange(len(rows)), kept)[0]] += 1
        assert independent(rows, contradicting, np.ones(len(rows), dtype=bool)) is None


@given(seed=st.integers(0, 10**6))
def test_elimination_keeps_the_space_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    rows = whole(rng, 4, 5)
    pivots, lines, named = reduced_echelon(np.array([[int(v) for v in row] for row in rows], dtype=object))
    form = np.array(
        [[float(Fraction(int(v), int(line[p]))) for v in line] for p, line in zip(pivots, lines, strict=True)]
    )
    assert len(named) == np.linalg.matrix_rank(rows) == np.linalg.matrix_rank(np.vstack([rows, form.reshape(-1, 5)]))
    np.testing.assert_array_equal(form[:, pivots] if pivots else np.zeros((0, 0)), np.eye(len(pivots)))


@given(seed=st.integers(0, 10**6), kind=st.sampled_from([float, complex]))
def test_a_span_proves_no_more_than_is_true(seed, kind):
    """Tr X = t beside rows that a whole X* meets exactly: X moved by noise proves at most the largest <C, X>."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    v = whole(rng, n, 1, kind=kind)
    if not np.any(v):
        return
    X = v @ v.conj().T
    A = [(M + M.conj().T) for M in (whole(rng, n, n, kind=kind) for _ in range(3))]
    rows = np.array([*A, np.eye(n)])
    b = np.array([float(np.vdot(a, X).real) for a in rows])
    C = -np.eye(n) * 2 + rows[0]  # on the rows it is a constant
    proof = Proof(C, DenseMap(rows), b, np.ones(4, dtype=bool))
    found = spanned(proof, X + 1e-10 * np.eye(n))
    if found is not None:
        optimum = float(b[0] - 2 * b[3])
        assert found.lower <= optimum + 1e-13 * abs(optimum)
        assert optimum - found.lower <= 1e-6 * (1 + abs(b[0]) + abs(b[3]))
    wrong = spanned(Proof(C, DenseMap(rows), b + np.array([0, 0, 1.0, 0]), np.ones(4, dtype=bool)), X)
    assert wrong is None or wrong.lower == -np.inf


def test_real_form_of_a_complex_matrix():
    A = np.array([[1, 2j], [-2j, 3]])
    np.testing.assert_allclose(np.linalg.eigvalsh(as_real(A)), np.repeat(np.linalg.eigvalsh(A), 2))


def test_multipliers_whose_slack_is_singular():
    """y_1 (e_0 e_0') + y_2 (e_1 e_1') + y_3 (e_0 e_1' + e_1 e_0') >= (1, 1)(1, 1)', at y = (1, 1, 1) and rank 0."""
    A = np.zeros((3, 2, 2))
    A[0, 0, 0] = A[1, 1, 1] = A[2, 0, 1] = A[2, 1, 0] = 1.0
    proof = Proof(np.ones((2, 2)), DenseMap(A[:2]), np.ones(2), np.zeros(2, dtype=bool))
    y = with_exact_kernel(proof, np.array([2 + 1e-9, 2 - 1e-9]))
    assert y is not None
    np.testing.assert_array_equal(y, [2.0, 2.0])


@pytest.mark.parametrize(
    ("seed", "what"),
    [
        (100263, "X = 0, and rows that depend on each other"),
        (100378, "a positive definite X, the only one that its rows allow"),
        (100237, "complex, no positive definite X"),
        (100582, "complex, no positive definite X"),
        (100101, "rows that depend on each other on the span of X"),
        (100376, "no y with A(y) - C > 0"),
        (100199, "the optimum is 0, at X = 0, and no y proves it by a factorization"),
        (100419, "the optimum is 0, at X = 0, on rows that bound the trace"),
    ],
)
def test_optimal_without_interior(seed, what):
    program = exact_program(seed)
    solution = ml.solve(program.problem(), tol=1e-6)
    assert solution.status == "optimal", what
    assert Fraction(solution.lower) <= program.high + abs(program.high) * Fraction(1, 10**13)
    assert Fraction(solution.upper) >= program.low - abs(program.low) * Fraction(1, 10**13)
    solution.certificate.verify()


@pytest.mark.parametrize("seed", [100215, 100498])
def test_a_further_run_loses_no_bound(seed):
    """These are run again in the units of their last X, in which their y proves nothing: the bound of the first run."""
    program = exact_program(seed)
    solution = ml.solve(program.problem(), tol=1e-9)
    assert Fraction(solution.lower) <= program.high and Fraction(solution.upper) >= program.low
    assert np.isfinite([solution.lower, solution.upper]).all()
    solution.verify()


def test_an_interior_point_that_is_no_further_inside_divides_by_nothing():
    """A duality gap whose last X has the least eigenvalue of the interior point: it was a ZeroDivisionError."""
    program = exact_program(300580)
    solution = ml.solve(program.problem(), tol=1e-9)
    assert solution.lower <= program.high <= solution.upper + 1e-13
