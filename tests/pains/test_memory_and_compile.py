"""Pain 1 (cvxpy #2051, #1521): compiling a semidefinite program blows up the memory. Pain 2 (Clarabel.cpp #74, drake
#20705): one block of 200 x 200 and only 64 free variables take minutes.

Reduced for the suite; n = 1000 is a matter of seconds, in benchmarks/.
"""

import time
import tracemalloc

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml


def traced(work):
    """(result, peak bytes allocated by NumPy on top of what was there)."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def symmetric(rng, *shape):
    G = rng.standard_normal(shape)
    return (G + np.swapaxes(G, -1, -2)) / 2


@pytest.mark.parametrize("n", [150, 300])
def test_a_dense_cost_on_correlation_matrices(n):
    """min tr(Q X), X_ii = 1, Q dense and random: at most ten matrices of n^2."""
    W = symmetric(np.random.default_rng(n), n, n)
    np.fill_diagonal(W, 0.0)
    ml.solve(MaxCut(W[:5, :5]))  # imports
    solution, peak = traced(lambda: ml.solve(MaxCut(W), tol=1e-3))
    assert solution.status == "optimal"
    assert peak <= 10 * n * n * 8 + 2_000_000
    laplacian = np.diag(W.sum(axis=1)) - W
    assert float(np.sum(laplacian * np.asarray(solution.matrix))) / 4 == pytest.approx(solution.value, rel=1e-9)


def test_a_discrepancy_holds_a_few_matrices_of_its_points():
    """400 points in 30 dimensions: cvxpy compiles 400 matrices; here nothing is larger than the Schur matrix."""
    rng = np.random.default_rng(1)
    m, n, N = 400, 100, 30
    S, T = rng.standard_normal((m, N)) + 0.5, rng.standard_normal((n, N))
    ml.solve(Discrepancy(S[:5], T[:5]))
    solution, peak = traced(lambda: ml.solve(Discrepancy(S, T), "interior-point", tol=1e-6))
    assert solution.status == "optimal"
    assert peak <= 10 * m * m * 8 + 10 * (m + n) * N * 8


def test_few_variables_and_one_large_block():
    """min b.y + R t, t I - C + sum y_k A_k >= 0: the Schur matrix has the order of the variables."""
    rng = np.random.default_rng(2)
    m, n = 24, 120
    C, A = symmetric(rng, n, n), np.concatenate([symmetric(rng, m - 1, n, n), np.eye(n)[None]])
    problem = ml.LinearSDP(C, A, np.append(np.full(m - 1, 3.0), 10.0))
    assert problem.family.newton_terms(np.eye(n), np.eye(n)).second.shape == (m, m)
    start = time.process_time()
    solution, peak = traced(lambda: ml.solve(problem, tol=1e-6))
    assert solution.status == "optimal"
    assert time.process_time() - start < 20  # 0.4 s when the machine is idle
    assert peak <= 3 * m * n * n * 8 + 40 * n * n * 8
