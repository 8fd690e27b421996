"""Sparse samples and targets in batches are the problem of the dense array."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy, summarize_target

import matrixlearn as ml


def text(rng, q, N, density=0.2):
    """Counts, as of words; some rows repeated and some empty."""
    X = rng.poisson(1.0, (q, N)) * (rng.random((q, N)) < density)
    if q > 3:
        X[1] = X[0]
        X[2] = 0
    return X.astype(float)


def assert_same(sparse, dense, rng):
    y = rng.dirichlet(np.ones(dense.game.Y.size))
    assert sparse.game.upper(y) == pytest.approx(dense.game.upper(y), rel=1e-9, abs=1e-9 * dense.scale + 1e-300)
    a, b = ml.solve(sparse, tol=1e-6), ml.solve(dense, tol=1e-6)
    assert a.status == b.status == "optimal"
    assert a.lower <= b.upper and b.lower <= a.upper


@given(seed=st.integers(0, 10**6), N=st.integers(1, 60), m=st.integers(1, 9), n=st.integers(1, 9))
def test_sparse_samples_are_the_problem_of_the_dense_ones(seed, N, m, n):
    rng = np.random.default_rng(seed)
    S, T = text(rng, m, N), text(rng, n, N)
    form = [sp.csr_array, sp.csc_matrix, sp.coo_array][seed % 3]
    assert_same(Discrepancy(form(S), form(T)), Discrepancy(S, T), rng)


def test_a_dense_side_joins_a_sparse_one_and_the_users_arrays_stay():
    rng = np.random.default_rng(3)
    S, T = text(rng, 8, 40), text(rng, 6, 40)
    given_S = sp.csr_array(S.astype(np.int16))
    before = given_S.copy()
    assert_same(Discrepancy(given_S, T), Discrepancy(S, T), rng)
    assert (given_S != before).nnz == 0 and given_S.dtype == np.int16


def test_the_features_never_become_dense():
    """A hundred thousand features and thirty points: a dense array would take 24 MB, N x N 80 GB."""
    import tracemalloc

    rng = np.random.default_rng(4)
    P = sp.random_array((30, 100_000), density=1e-3, rng=rng, format="csr")
    Discrepancy(P[:4], P[4:8])
    tracemalloc.start()
    problem = Discrepancy(P[:20], P[20:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.rank == 30
    assert peak < 4_000_000
    K = (P @ P.T).toarray()
    np.testing.assert_allclose(problem.points @ problem.points.T, K, atol=1e-10 * np.max(K))


def test_a_kernel_of_sparse_samples():
    rng = np.random.default_rng(5)
    S, T = text(rng, 8, 30), text(rng, 6, 30)

    def squared(A, B):
        return (np.asarray((A @ B.T).todense() if sp.issparse(A) else A @ B.T) + 1.0) ** 2

    assert_same(Discrepancy(sp.csr_array(S), sp.csr_array(T), kernel=squared), Discrepancy(S, T, kernel=squared), rng)


def test_a_saved_answer_of_sparse_samples_verifies(tmp_path):
    rng = np.random.default_rng(6)
    solution = ml.solve(Discrepancy(sp.csr_array(text(rng, 8, 30)), sp.csr_array(text(rng, 6, 30))), tol=1e-6)
    solution.save(tmp_path / "answer.npz")
    assert ml.Solution.load(tmp_path / "answer.npz").certificate.verify().gap == pytest.approx(solution.gap)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (sp.csr_array([[1.0, np.nan]]), "X_source holds 1 NaN"),
        (sp.csr_array([[1.0, 1j]]), "X_source must be real"),
        (sp.csr_array((0, 2)), "X_source must be two-dimensional .* not empty"),
        (sp.csr_array([[1.0, 2.0, 3.0]]), "same features, got 3 and 2 columns"),
    ],
)
def test_bad_sparse_samples_are_named(samples, message):
    with pytest.raises(ml.exceptions.ProblemError, match=message):
        Discrepancy(samples, sp.csr_array([[1.0, 2.0]]))


@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 39), max_size=5), weighted=st.booleans())
def test_a_target_in_batches_has_the_moments_of_the_whole(seed, cuts, weighted):
    """T^T T / len(T) = sum_j p_j x_j x_j^T, in at most N rows; hence the same discrepancy."""
    rng = np.random.default_rng(seed)
    X, N = rng.standard_normal((40, 6)) * 10.0 ** rng.uniform(-3, 3), 6
    p = rng.random(40) if weighted else np.ones(40)
    at = sorted(set(cuts))
    T = summarize_target(np.split(X, at), np.split(p, at) if weighted else None)
    M = (X.T * p) @ X / p.sum()
    assert len(T) <= N
    np.testing.assert_allclose(T.T @ T / len(T), M, rtol=1e-10, atol=1e-12 * np.max(np.abs(M)))
    S = X[:9] + 1.0
    whole = Discrepancy(S, X, target_weights=p / p.sum())
    y = rng.dirichlet(np.ones(9))
    assert Discrepancy(S, T).game.upper(y) == pytest.approx(whole.game.upper(y), rel=1e-9)


@pytest.mark.parametrize(
    ("batches", "weights", "message"),
    [
        ([], None, "at least one point"),
        ([np.ones((2, 3)), np.ones((2, 4))], None, "batch 1 must have 3 columns"),
        ([np.ones((2, 3))], [[1.0]], "weights 0 must be >= 0 and of shape"),
        ([np.ones((2, 3))], [[0.0, 0.0]], "at least one point of positive weight"),
        ([[[1.0, np.inf]]], None, "batch 0 holds 1 NaN or infinite"),
    ],
)
def test_bad_batches_are_named(batches, weights, message):
    with pytest.raises(ml.exceptions.ProblemError, match=message):
        summarize_target(batches, weights)


@pytest.mark.parametrize(("m", "n", "N"), [(7, 9, 5), (3, 2, 12), (6, 6, 3)])
def test_complex_samples_have_the_hermitian_matrix_of_their_moments(m, n, N):
    """One column, or one point, is a complex multiple of another: the span has fewer dimensions."""
    rng = np.random.default_rng(m)
    Xs, Xt = (rng.standard_normal((k, N)) + 1j * rng.standard_normal((k, N)) + 0.3 for k in (m, n))
    Xs[:, -1], Xt[:, -1] = (1 + 2j) * Xs[:, 0], (1 + 2j) * Xt[:, 0]
    Xs[-1] = 1j * Xs[0]
    problem = Discrepancy(Xs, Xt)
    assert problem.rank == min(N - 1, m + n - 1)
    solution = ml.solve(problem, tol=1e-7)
    M = Xt.T @ Xt.conj() / n - (Xs.T * solution.y) @ Xs.conj()
    assert solution.value == pytest.approx(np.linalg.norm(M, 2), rel=1e-10)
    assert solution.value == pytest.approx(problem.reference().solve(solver="CLARABEL"), rel=1e-6)
    P = np.concatenate([Xs, Xt])
    assert ml.solve(Discrepancy(Xs, Xt, kernel=P @ P.conj().T), tol=1e-6).value == pytest.approx(
        solution.value, rel=1e-5
    )
