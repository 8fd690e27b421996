"""Complex data in the learning of density matrices.

Pain 8 (toqito #431): a real variable where the data are complex. Pain 9 (SDPLab, "mind the transpose"): tr(M^T X)
flips every expectation of Pauli Y. Pain 10 (cvxpy PR #3388): the dual of a Hermitian problem at half its value.
Pain 13 (cvxpy #1816): log det of a complex matrix is -inf.
"""

import numpy as np
import pytest
import scipy.sparse
from matrixlearn_meg import Dense, LowRank, MEGLearner, MEGRegression, Sparse
from matrixlearn_meg.instances import as_instance

import matrixlearn as ml
from matrixlearn.exponents import LogDetExponent

PAULI_Y = np.array([[0, -1j], [1j, 0]])
PLUS_I = np.array([1, 1j]) / np.sqrt(2)
STATE = np.outer(PLUS_I, PLUS_I.conj())


@pytest.mark.parametrize(
    "form", [PAULI_Y, scipy.sparse.csr_array(PAULI_Y), LowRank(np.linalg.eigh(PAULI_Y)[1], [-1, 1])]
)
def test_the_expectation_of_pauli_y_has_its_sign(form):
    instance = as_instance(form)
    assert isinstance(instance, Dense | Sparse | LowRank)
    assert instance.inner(STATE) == pytest.approx(1.0)
    assert instance.inner(STATE.T) == pytest.approx(-1.0)


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_batch_and_online_find_the_complex_state(label):
    """Over real W, tr(W Y) = 0 whatever W: the loss would stay at 1."""
    solution = ml.solve(MEGRegression(PAULI_Y[None], [label]), tol=1e-6)
    assert solution.status == "optimal" and solution.value < 1e-8
    np.testing.assert_allclose(solution.matrix, STATE if label > 0 else STATE.conj(), atol=1e-4)
    learner = MEGLearner(2, 0.5).learn((PAULI_Y, label) for _ in range(2000))
    assert learner.predict(PAULI_Y) == pytest.approx(label, abs=1e-3)


def test_multipliers_of_a_hermitian_problem_prove_the_whole_optimum():
    """min (tr(W Y) - 3)^2 = 4 at u = -4: lambda_min(-4 Y) - l*(-4) = -4 - (-12 + 4) = 4, not half of it."""
    problem = MEGRegression(PAULI_Y[None], [3.0])
    solution = ml.solve(problem, tol=1e-8)
    assert solution.value == pytest.approx(4.0, rel=1e-7)
    assert solution.y == pytest.approx([-4.0], rel=1e-6)
    assert ml.certify(problem, y=np.array([-4.0])).lower == pytest.approx(4.0, rel=1e-12)


def test_log_det_of_a_complex_matrix():
    """The LogDet map at G = W^{-1} gives W, and the largest log det at trace 9 in three dimensions is that of 3 I."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    W = A @ A.conj().T + np.eye(3)
    np.testing.assert_allclose(LogDetExponent(3)(np.linalg.inv(W)), W, atol=1e-9)
    np.testing.assert_allclose(LogDetExponent(3)(np.eye(3, dtype=complex) / 3), 3 * np.eye(3), atol=1e-12)
    learner = MEGLearner(3, 0.5, update="logdet").learn((LowRank(a), 1.0) for a in A)
    assert np.isfinite(np.linalg.slogdet(learner.W)[1]) and np.linalg.eigvalsh(learner.W)[0] > 0
