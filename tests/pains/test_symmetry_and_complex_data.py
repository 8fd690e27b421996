"""Matrices that are not what they seem.

Pain 7 (cvxpy #674, scs #31, casos #118): a non-symmetric matrix is silently replaced by its symmetric part.
Pain 8 (toqito #431): complex data meet a real variable, and the optimum is over the wrong set.
"""

import numpy as np
import pytest

import matrixlearn as ml

SHEAR = np.array([[1.0, 5.0], [0.0, 1.0]])
PAULI_Y = np.array([[0, -1j], [1j, 0]])
LOOSE = {"A": [np.eye(2)], "b": [5.0], "trace_bound": 1.0}


@pytest.mark.parametrize("where", ["C", "A", "interior", "certify"])
def test_a_shear_is_refused_and_its_asymmetry_named(where):
    data = {"C": np.eye(2), **LOOSE}
    if where == "certify":
        call, data = ml.certify, {"problem": ml.LinearSDP(**data), "X": SHEAR}
    else:
        call, data = ml.LinearSDP, {**data, where: [SHEAR] if where == "A" else SHEAR}
    with pytest.raises(ValueError, match=r"max \|A - A\^H\| = 5 .*pass \(A \+ A\^H\) / 2"):
        call(**data)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_an_asymmetry_of_rounding_is_no_fuss(size):
    noisy = size * np.array([[1.0, 0.5 * (1 + 1e-12)], [0.5, 2.0]])
    solution = ml.solve(ml.LinearSDP(noisy, **LOOSE), tol=1e-8)
    assert solution.value / size == pytest.approx((3 + np.sqrt(2)) / 2, rel=1e-7)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("method", ["interior-point", "mmw"])
def test_pauli_y_has_the_extreme_value_one(sign, method):
    """Over real symmetric matrices Y . X = 0 for every X: a wrong "optimum" of 0."""
    tol = 1e-6 if method == "interior-point" else 1e-2
    solution = ml.solve(ml.LinearSDP(sign * PAULI_Y, [np.eye(2)], [1.0]), tol=tol, method=method)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(1.0, rel=tol)
    state = np.array([1, sign * 1j]) / np.sqrt(2)
    assert np.real(state.conj() @ solution.matrix @ state) == pytest.approx(1.0, abs=3 * tol)


def test_real_cost_with_complex_constraints_is_a_complex_program():
    """max X_00 + X_11 + 2 Re X_01 with <Y, X> >= 0.8 within trace 1: 1 + sqrt(1 - 0.64) on the Bloch ball."""
    problem = ml.LinearSDP(np.ones((2, 2)), [-PAULI_Y], [-0.8], 1.0)
    assert np.iscomplexobj(problem.C)  # so that every X is complex from the start
    solution = ml.solve(problem, tol=1e-7)
    assert solution.value == pytest.approx(1.6, rel=1e-6)
    assert np.real(np.trace(PAULI_Y @ solution.matrix)) >= 0.8 - 1e-9
    assert np.iscomplexobj(solution.matrix)


def test_the_real_part_of_the_same_program_is_infeasible():
    problem = ml.LinearSDP(np.ones((2, 2)), [-np.real(PAULI_Y)], [-0.8], 1.0)
    assert ml.solve(problem).status == "infeasible"
