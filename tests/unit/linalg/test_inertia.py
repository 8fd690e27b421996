"""The proof by a sparse factorization: what it claims holds, and it claims it where it should."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.linalg import largest
from matrixlearn.linalg.inertia import semidefinite_error

seeds = st.integers(0, 2**32 - 1)


def sparse_symmetric(rng, n, density=0.2):
    A = sp.random_array((n, n), density=density, rng=rng, data_sampler=rng.standard_normal)
    return sp.csc_array(A + A.T) * 10.0 ** rng.uniform(-6, 6)


@given(seed=seeds, distance=st.sampled_from([-1e-3, -1e-8, -1e-12, 1e-14, 1e-12, 1e-8, 1e-3, 1.0]))
def test_what_is_claimed_is_true(seed, distance):
    """lambda_min(S) >= -error wherever an error is given; and it is given where S is safely definite."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    A = sparse_symmetric(rng, n)
    w = np.linalg.eigvalsh(A.toarray())
    size = np.abs(w).max() or 1.0
    S = sp.csc_array(sp.eye_array(n) * (w[-1] + distance * size) - A)
    lowest = np.linalg.eigvalsh(S.toarray())[0]
    error = semidefinite_error(S)
    if distance >= 1e-8:
        assert error is not None
    if distance <= -1e-8:
        assert error is None
    if error is not None:
        assert 0 <= error <= 1e-10 * size
        assert lowest >= -error - n * 2.3e-16 * size  # eigvalsh's own error


def test_the_factors_are_those_of_the_permuted_matrix():
    """The bound on |P S P^T - L U| is that of elimination without exchanges and without scaling: SuperLU's here."""
    from scipy.sparse.linalg import splu

    rng = np.random.default_rng(0)
    A = sparse_symmetric(rng, 200, 0.03)
    S = sp.csc_array(sp.eye_array(200) * (1.01 * largest.row_sum_norm(A)) - A)
    options = {"SymmetricMode": True, "Equil": False}
    lu = splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    order = np.argsort(lu.perm_c)
    k = np.max(np.bincount(lu.L.indices)) + 1
    error = np.abs((lu.L @ lu.U).toarray() - S.toarray()[np.ix_(order, order)])
    assert np.all(error <= 2 * k * 2.3e-16 * (abs(lu.L) @ abs(lu.U)).toarray())


@pytest.mark.parametrize("S", [sp.csc_array((3, 3)), sp.csc_array(np.diag([1.0, 0.0])), sp.csc_array(-np.eye(2))])
def test_singular_and_negative_matrices_are_not_claimed(S):
    assert semidefinite_error(S) is None


@given(seed=seeds)
def test_the_sparse_bound_is_no_smaller_than_the_largest_eigenvalue(seed):
    rng = np.random.default_rng(seed)
    A = sparse_symmetric(rng, 250, 0.01)
    exact, size = np.linalg.eigvalsh(A.toarray())[-1], largest.row_sum_norm(A)
    assert exact - 1e-13 * size <= largest.checked_largest(A) <= exact + 1e-4 * size


def test_where_nothing_is_proven_the_circles_of_gershgorin_are(monkeypatch):
    monkeypatch.setattr(largest, "DENSE_BELOW", 200)
    monkeypatch.setattr(largest, "sparse_bound", lambda t, A: None)
    A = sparse_symmetric(np.random.default_rng(1), 250, 0.01)
    assert np.linalg.eigvalsh(A.toarray())[-1] <= largest.checked_largest(A) <= largest.row_sum_norm(A)


@given(seed=seeds)
def test_the_pair_by_inverses_is_nearly_the_largest_where_eigenvalues_cluster(seed):
    """theta = u.A u <= lambda_max always; near it even where a product tells the largest ones apart by 1e-7 only."""
    rng = np.random.default_rng(seed)
    n, scale = 300, 10.0 ** rng.uniform(-9, 9)
    d = np.where(np.arange(n) < 8, 1 + 1e-7 * rng.random(n), rng.uniform(-1, 0.9, n))
    off = np.where(rng.random(n - 1) < 0.3, 0.0, 1e-3 * rng.standard_normal(n - 1))
    A = scale * sp.csr_array(sp.diags_array([off, d, off], offsets=[-1, 0, 1]))
    w = np.linalg.eigvalsh(A.toarray())
    theta, u = largest._by_inverses(A, 1e-6 * scale)
    assert np.linalg.norm(u) == pytest.approx(1.0)
    assert np.linalg.norm(A @ u - theta * u) <= 1.1e-6 * scale
    assert w[-1] - 2e-6 * scale <= theta <= w[-1] + 1e-13 * scale


def test_where_no_factors_are_definite_arpack_guesses(monkeypatch):
    A = sparse_symmetric(np.random.default_rng(0), 250, 0.005)
    monkeypatch.setattr(largest, "definite_factors", lambda S: None)
    assert largest._by_inverses(A, 1e-6) is None
    theta, _ = largest.guess_largest(A)
    assert theta == pytest.approx(np.linalg.eigvalsh(A.toarray())[-1], rel=1e-5)
