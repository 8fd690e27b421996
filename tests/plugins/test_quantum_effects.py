"""Tomography by any POVMs and by single projectors: the laws of a problem, cvxpy's optimum, Pauli settings as POVMs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_quantum import PauliMeasurement, StateTomography, all_settings, random_state, sample_counts

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.testing import parametrize_with_checks
from matrixlearn.testing.reference import optimum

seeds = st.integers(0, 2**32 - 1)


def povm(rng, d, K):
    """K effects S^{-1/2} A_k S^{-1/2}, S = sum_k A_k."""
    A = rng.standard_normal((K, d, d)) + 1j * rng.standard_normal((K, d, d))
    A = A @ A.conj().swapaxes(1, 2)
    w, V = np.linalg.eigh(A.sum(axis=0))
    root = (V / np.sqrt(w)) @ V.conj().T
    return root @ A @ root


def drawn(seed):
    """Dimension 2 to 4, POVMs of two to five outcomes, a projector, a vector; now and then an outcome never came."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    psi = rng.standard_normal(d) + 1j * rng.standard_normal(d)
    measured = [povm(rng, d, int(rng.integers(2, 6))) for _ in range(int(rng.integers(1, 5)))]
    measured += [np.diag([1.0] + [0.0] * (d - 1)), psi]
    counts = [list(rng.integers(0, 30, 2 if each.ndim < 3 else len(each))) for each in measured]
    counts[0][0] += 1
    return StateTomography(measured, counts)


@parametrize_with_checks([drawn(0)])
def test_the_laws_hold_for_povms(check):
    check()


@given(seeds, st.sampled_from(["factored", "exponentiated-gradient"]))
@settings(max_examples=max(3, settings().max_examples // 3))
def test_against_cvxpy(seed, method):
    problem = drawn(seed)
    solution, judge = ml.solve(problem, method, tol=1e-6 if method == "factored" else 1e-3), optimum(problem)
    solution.certificate.verify()
    assert solution.status == "optimal"
    if judge.is_sharp:
        assert solution.lower <= judge.value + judge.error
        assert judge.value - judge.error <= solution.upper


@given(seeds)
def test_pauli_settings_as_povms_have_the_same_optimum(seed):
    rng = np.random.default_rng(seed)
    named = [all_settings(2)[s] for s in rng.integers(0, 9, 4)]
    n = sample_counts(random_state(2, int(rng.integers(1, 5)), rng), named, 50, rng)
    pauli = PauliMeasurement(named)
    effects = np.array([pauli.matrix(k) for k in range(pauli.shape[0])]).reshape(4, 4, 4, 4)
    one, other = ml.solve(StateTomography(named, n), tol=1e-7), ml.solve(StateTomography(effects, n), tol=1e-7)
    assert one.lower <= other.upper and other.lower <= one.upper
    rho = random_state(2, None, rng)
    np.testing.assert_allclose(other.problem.measurement.probabilities(rho), pauli.probabilities(rho), atol=1e-13)


def test_a_projector_is_measured_against_the_rest():
    """|+> came 30 times of 40 and |0> 10 of 20: the frequencies are probabilities of a state, and the answer is one."""
    plus, zero = np.array([1.0, 1.0]), np.diag([1.0, 0.0])
    rho = ml.solve(StateTomography([plus, zero], [[30, 10], [10, 10]]), tol=1e-9).matrix
    assert np.real(plus @ rho @ plus) / 2 == pytest.approx(0.75, abs=1e-4)
    assert np.real(rho[0, 0]) == pytest.approx(0.5, abs=1e-4)


TRINE = [2 / 3 * np.outer(v, v) for v in ([1, 0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)])]


def test_settings_of_different_lengths_are_filled_up():
    problem = StateTomography([TRINE, np.diag([1.0, 0.0])], [[5, 1, 2], [7, 3]])
    assert problem.settings.shape == (2, 3, 2, 2)
    assert problem.counts.tolist() == [[5, 1, 2], [7, 3, 0]]
    again = StateTomography(problem.settings, problem.counts)
    assert ml.solve(again).value == ml.solve(problem).value


@pytest.mark.parametrize(
    ("measured", "counts", "match"),
    [
        ([np.diag([1.5, 0.0])], [[1, 1]], r"settings\[0\]\[1\] must be positive semidefinite, .* -0.5"),
        ([TRINE[:2]], [[1, 1]], r"settings\[0\] must add up to I, but miss it by"),
        ([np.triu(np.ones((2, 2)))], [[1, 1]], r"settings\[0\]\[0\] must be .*ymmetric|Hermitian"),
        ([np.zeros(2)], [[1, 1]], r"settings\[0\] must be a string .* got shape \(2,\)"),
        ([np.ones((2, 3))], [[1, 1]], r"settings\[0\] must be a string .* got shape \(2, 3\)"),
        ([np.eye(2) / 2, np.eye(3) / 2], [[1, 1], [1, 1]], r"one dimension, got 2 in settings\[0\] and 3"),
        ([TRINE, TRINE], [[1, 2, 3]], "one row for each of the 2 settings"),
        ([TRINE], [[1, 2, -3]], "counts must not be negative"),
        ([TRINE, np.diag([1.0, 0.0])], np.ones((2, 3)), r"counts\[1\]\[2\] is 1, but the effect of that outcome is 0"),
        ([np.eye(2)], [[3, 1]], r"counts\[0\]\[1\] is 1, but the effect"),
        (["XX", np.eye(4)], [[1] * 4] * 2, r"settings must be strings"),
    ],
)
def test_what_is_no_measurement_is_refused(measured, counts, match):
    with pytest.raises(ProblemError, match=match):
        StateTomography(measured, counts)
