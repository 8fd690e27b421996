"""Pain 5 (cvxpy #1588) and pain 6 (adapt): the answer must not depend on the units.

A general solver says "optimal" 81 % off for C times 1e-6; ADAPT returns uniform weights for features times
1e-5, and lets options of one solve leak into the next.
"""

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml

TOL = 1e-7
scales = pytest.mark.parametrize("k", [1e-8, 1e-6, 1e-5, 1e-3, 1e3, 1e6, 1e8])


def symmetric(rng, *shape):
    G = rng.standard_normal(shape)
    return (G + np.swapaxes(G, -1, -2)) / 2


@pytest.fixture(scope="module", params=["b > 0", "b of both signs", "complex"])
def program(request):
    rng = np.random.default_rng(51)
    C, A = symmetric(rng, 5, 5), symmetric(rng, 4, 5, 5)
    if request.param == "complex":
        skew = rng.standard_normal((5, 5))
        C = C + 1j * (skew - skew.T)
    b = np.array([1.0, -0.3 if request.param == "b of both signs" else 0.3, 2.0, 0.7])
    data = {"C": C, "A": np.concatenate([A, np.eye(5)[None]]), "b": np.append(b, 3.0)}  # tr X <= 3
    return data, ml.solve(ml.LinearSDP(**data), tol=TOL)


def assert_same(solution, reference, k):
    assert solution.status == reference.status == "optimal"
    for name in ("value", "lower", "upper"):
        assert getattr(solution, name) / k == pytest.approx(getattr(reference, name), rel=1e-6)


@scales
def test_linear_program_with_another_cost(program, k):
    data, reference = program
    assert_same(ml.solve(ml.LinearSDP(**{**data, "C": k * data["C"]}), tol=TOL), reference, k)


@scales
def test_linear_program_with_another_right_hand_side(program, k):
    """b -> k b: X -> k X."""
    data, reference = program
    scaled = {**data, "b": k * data["b"]}
    solution = ml.solve(ml.LinearSDP(**scaled), tol=TOL)
    assert_same(solution, reference, k)
    np.testing.assert_allclose(solution.matrix / k, reference.matrix, atol=1e-3)


@scales
def test_linear_program_with_rows_in_other_units(program, k):
    """A_j -> k_j A_j and b_j -> k_j b_j change nothing."""
    data, reference = program
    units = np.array([k, 1.0, 1 / k, k**0.5, k**-0.3])
    scaled = {**data, "A": units[:, None, None] * data["A"], "b": units * data["b"]}
    assert_same(ml.solve(ml.LinearSDP(**scaled), tol=TOL), reference, 1.0)


@scales
def test_maxcut(k):
    rng = np.random.default_rng(52)
    W = np.triu(rng.uniform(0, 3, (8, 8)), 1)
    W = W + W.T
    reference = ml.solve(MaxCut(W), tol=TOL)
    solution = ml.solve(MaxCut(k * W), tol=TOL)
    assert_same(solution, reference, k)
    # and it is the objective of the returned matrix, by the definition
    laplacian = np.diag(W.sum(axis=1)) - W
    assert float(np.sum(laplacian * solution.matrix)) / 4 == pytest.approx(reference.value, rel=1e-6)


@pytest.mark.parametrize("max_weight", [None, 2.0])
@scales
def test_discrepancy(max_weight, k):
    """Features times k: the value times k^2, the weights the same, and not the uniform ones."""
    rng = np.random.default_rng(53)
    Xs, Xt = rng.standard_normal((15, 3)), rng.standard_normal((9, 3)) * [0.4, 1.0, 1.5]
    reference = ml.solve(Discrepancy(Xs, Xt, max_weight=max_weight), tol=TOL)
    solution = ml.solve(Discrepancy(k * Xs, k * Xt, max_weight=max_weight), tol=TOL)
    assert_same(solution, reference, k * k)
    assert solution.y.sum() == pytest.approx(1.0, abs=1e-12) and solution.y.min() >= 0
    norm = np.linalg.norm(Xt.T @ Xt / 9 - (Xs.T * solution.y) @ Xs, 2)
    assert norm == pytest.approx(reference.value, rel=1e-6)
    uniform = np.linalg.norm(Xt.T @ Xt / 9 - Xs.T @ Xs / 15, 2)
    assert norm < 0.9 * uniform


def test_one_solve_leaves_no_option_behind():
    """Pain 6: a limit of an earlier solve must not cut the next one short."""
    rng = np.random.default_rng(54)
    problem = Discrepancy(rng.standard_normal((15, 3)), 0.5 * rng.standard_normal((9, 3)))
    before = ml.solve(problem, tol=TOL)
    cut = ml.solve(problem, tol=TOL, max_iter=1)
    after = ml.solve(problem, tol=TOL)
    assert cut.status == "stopped" and cut.iterations == 1
    assert cut.y.sum() == pytest.approx(1.0, abs=1e-12) and cut.y.min() >= 0
    assert (after.status, after.iterations, after.value) == ("optimal", before.iterations, before.value)
