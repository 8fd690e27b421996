"""The face of what is feasible, from the central path of the rows alone."""

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.engines import InteriorPoint
from matrixlearn.engines.base import Limits, run
from matrixlearn.exceptions import CapabilityError
from matrixlearn.problems.linear.central import RowsAlone, exposing
from matrixlearn.problems.linear.face import least_face
from matrixlearn.reductions.linear import CENTRAL, LinearReduction


def assignments(n, rng):
    """The relaxation of Zhao et al. (1998) of quadratic assignment: Y = (1, x)(1, x)^T, x the entries of a permutation
    matrix, with the squares of its row and column sums hidden in sums of rows. Y has (n - 1)^2 + 1 of n^2 + 1
    dimensions.

    The permutation matrices' mean is in the relative interior of what is feasible.
    """
    N = n * n
    rows, right = [], []

    def row(entries, b):
        A = np.zeros((N + 1, N + 1))
        for i, j, value in entries:
            A[i, j] += value / 2
            A[j, i] += value / 2
        rows.append(2 * A)
        right.append(2.0 * b)

    row([(0, 0, 1)], 1)
    for k in range(1, N + 1):
        row([(k, k, 2), (0, k, -2)], 0)
    for i in range(n):
        for j in range(n):
            for k in range(j + 1, n):
                row([(1 + i * n + j, 1 + i * n + k, 1)], 0)
                row([(1 + j * n + i, 1 + k * n + i, 1)], 0)
    for lines in (np.arange(N).reshape(n, n), np.arange(N).reshape(n, n).T):
        for line in lines:
            v = np.zeros(N + 1)
            v[0], v[1 + line] = -1, 1
            rows.append(np.outer(v, v))
            right.append(0.0)
    A, b = np.array(rows), np.array(right)
    mixing = np.eye(len(b))
    squares = np.arange(len(b) - 2 * n, len(b))
    mixing[np.ix_(squares, np.arange(1, len(b) - 2 * n))] = rng.integers(-1, 2, (2 * n, len(b) - 2 * n - 1))
    flow, distance = (np.triu(rng.integers(0, 5, (n, n)), 1) for _ in range(2))
    C = np.zeros((N + 1, N + 1))
    C[1:, 1:] = -np.kron(distance + distance.T, flow + flow.T)
    return ml.LinearSDP.with_senses(C, np.tensordot(mixing, A, axes=1), mixing @ b, "==")


@pytest.mark.parametrize("n", [3, 4])
def test_the_face_of_assignments_is_found_and_proved(n):
    program = assignments(n, np.random.default_rng(n)).standard.program
    proof = program.proof
    assert least_face(proof.family, proof.b, proof.equal) is None  # no row shows it
    last = run(InteriorPoint(), RowsAlone(program), tol=0.0, limits=Limits(max_iter=CENTRAL)).last
    w = next(exposing(proof.family, proof.b, proof.equal, last.y, last.X))
    face = least_face(proof.family, proof.b, proof.equal, w)
    assert face.V.shape == (n * n + 1, (n - 1) ** 2 + 1)
    assert face.contradiction == ""


@pytest.mark.parametrize("n", [3, 4])
def test_quadratic_assignment_is_solved_to_the_optimum_of_cvxpy(n):
    problem = assignments(n, np.random.default_rng(n))
    solution = ml.solve(problem, tol=1e-6)
    assert solution.status == "optimal"
    assert solution.certificate.rigour == "checked"
    reference = problem.reference()
    assert reference.solve(solver="CLARABEL") == pytest.approx(solution.value, rel=1e-4)


def test_where_a_positive_definite_matrix_is_feasible_no_multipliers_are_found():
    problem = ml.LinearSDP.with_senses(np.diag([1.0, 2]), [np.eye(2), np.diag([1.0, -1])], [1.0, 0.5], "==")
    program = problem.standard.program
    last = run(InteriorPoint(), RowsAlone(program), tol=0.0, limits=Limits(max_iter=CENTRAL)).last
    proof = program.proof
    candidates = exposing(proof.family, proof.b, proof.equal, last.y, last.X)
    assert all(least_face(proof.family, proof.b, proof.equal, w) is None for w in candidates)


def test_rows_alone_have_no_reference():
    program = ml.LinearSDP(np.eye(2), np.eye(2)[None], [1.0]).standard.program
    with pytest.raises(CapabilityError, match="no objective"):
        RowsAlone(program).reference()


def test_ctrl_c_between_two_programs_keeps_what_was_found(monkeypatch):
    def interrupted(self, run, tol, atol):
        raise KeyboardInterrupt

    monkeypatch.setattr(LinearReduction, "after", interrupted)
    solution = ml.solve(assignments(3, np.random.default_rng(3)), tol=1e-6, max_iter=3)
    assert "ended: interrupted" in solution.explain()
    assert np.isfinite(solution.upper)
