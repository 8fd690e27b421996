"""The families of constraint matrices, against their definition in terms of A_1, ..., A_m."""

import numpy as np
import pytest
import scipy.sparse as sp

from matrixlearn._array import as_numpy
from matrixlearn.problem import DenseFamily, RankOneFamily, SparseFamily

M, N = 5, 4
FIELDS = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
KINDS = pytest.mark.parametrize("kind", ["rank-one", "dense", "sparse"])


def draw(rng, *shape, complex_):
    G = rng.standard_normal(shape)
    return G + 1j * rng.standard_normal(shape) if complex_ else G


def hermitian(rng, complex_, n=N):
    G = draw(rng, n, n, complex_=complex_)
    return (G + G.conj().T) / 2


def family(kind, complex_, backend, rng):
    """A family, and its matrices as a NumPy stack."""
    if kind == "rank-one":
        P = draw(rng, M, N, complex_=complex_)
        return RankOneFamily(backend.array(P)), np.stack([np.outer(x, x.conj()) for x in P])
    A = np.stack([hermitian(rng, complex_) for _ in range(M)])
    if kind == "dense":
        return DenseFamily(backend.array(A)), A
    if not backend.is_numpy:
        pytest.skip("scipy's sparse matrices go with NumPy arrays only")
    A[np.abs(A) < 0.4] = 0.0
    A[0] = 0.0  # an empty constraint
    return SparseFamily(sp.csr_array(A.reshape(M, N * N)), N), A


@KINDS
@FIELDS
def test_matrices_and_shape(backend, kind, complex_):
    out, A = family(kind, complex_, backend, np.random.default_rng(0))
    assert out.shape == (M, N)
    for j in range(M):
        np.testing.assert_allclose(as_numpy(out.matrix(j)), A[j], atol=1e-14)


@KINDS
@FIELDS
@pytest.mark.parametrize("nonzero", [M, 1, 0])
def test_apply_is_the_weighted_sum(backend, kind, complex_, nonzero):
    rng = np.random.default_rng(1)
    out, A = family(kind, complex_, backend, rng)
    y = np.where(np.arange(M) < nonzero, rng.standard_normal(M), 0.0)
    np.testing.assert_allclose(as_numpy(out.apply(y)), np.einsum("j,jab->ab", y, A), atol=1e-13)


@KINDS
@FIELDS
@pytest.mark.parametrize("complex_X", [False, True], ids=["X real", "X complex"])
def test_adjoint_is_the_inner_products(backend, kind, complex_, complex_X):
    rng = np.random.default_rng(2)
    out, A = family(kind, complex_, backend, rng)
    X = hermitian(rng, complex_X)
    expected = [np.real(np.trace(a.conj().T @ X)) for a in A]
    got = out.adjoint(backend.array(X))
    assert isinstance(got, np.ndarray) and got.dtype == np.float64
    np.testing.assert_allclose(got, expected, atol=1e-12)


@KINDS
@FIELDS
def test_apply_and_adjoint_are_adjoint(backend, kind, complex_):
    rng = np.random.default_rng(3)
    out, _ = family(kind, complex_, backend, rng)
    y, X = rng.standard_normal(M), hermitian(rng, complex_)
    assert np.real(np.trace(as_numpy(out.apply(y)) @ X)) == pytest.approx(
        float(y @ out.adjoint(backend.array(X))), abs=1e-11
    )


@KINDS
@FIELDS
@pytest.mark.parametrize("complex_U", [False, True], ids=["U real", "U complex"])
@pytest.mark.parametrize("complex_V", [False, True], ids=["V real", "V complex"])
def test_schur_is_the_four_fold_trace(backend, kind, complex_, complex_U, complex_V):
    rng = np.random.default_rng(4)
    out, A = family(kind, complex_, backend, rng)
    U, V = hermitian(rng, complex_U), hermitian(rng, complex_V)
    expected = np.array([[np.real(np.trace(a @ U @ b @ V)) for b in A] for a in A])
    # the Schur matrix of the engine is symmetric: it takes the symmetric part
    got = out.schur(backend.array(U), backend.array(V))
    np.testing.assert_allclose(got, (expected + expected.T) / 2, atol=1e-11)


@KINDS
@FIELDS
def test_norms_bound_the_spectral_norms(backend, kind, complex_):
    out, A = family(kind, complex_, backend, np.random.default_rng(5))
    exact = np.array([np.linalg.norm(a, 2) for a in A])
    assert np.all(out.norms >= exact * (1 - 1e-14))
    if kind == "sparse":  # the largest row sum, exact for diagonal matrices
        np.testing.assert_allclose(out.norms, [np.abs(a).sum(axis=1).max() for a in A], rtol=1e-14)
    else:
        np.testing.assert_allclose(out.norms, exact, rtol=1e-13)


def test_dense_schur_in_chunks_equals_the_whole(monkeypatch, backend):
    """More constraints than fit into one chunk of temporaries: the last chunk is a short one."""
    import matrixlearn.linalg.constraints as module

    rng = np.random.default_rng(6)
    out, _ = family("dense", True, backend, rng)
    U, V = backend.array(hermitian(rng, True)), backend.array(hermitian(rng, True))
    whole = out.schur(U, V)
    monkeypatch.setattr(module, "CHUNK", 2 * N * N)
    np.testing.assert_allclose(out.schur(U, V), whole, atol=1e-12)


@pytest.mark.parametrize("chunk", [1, 4_000_000])
@pytest.mark.parametrize("spoil", [lambda A: 1e-6 * A[0, 1], lambda A: np.nan, lambda A: np.inf])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@FIELDS
def test_the_least_hermitian_member_is_found(kind, complex_, spoil, chunk, backend, monkeypatch):
    monkeypatch.setattr("matrixlearn.linalg.constraints.CHUNK", chunk)
    rng = np.random.default_rng(5)
    _, A = family(kind, complex_, backend, rng)
    A = A * np.array([1e-9, 1e3, 1.0, 1e-6, 1e6])[:, None, None]  # for its size
    for k in (3, 1):
        spoiled = A.copy()
        spoiled[k, 0, 1] = 1.0
        spoiled[k, 1, 0] = 1.0 + spoil(spoiled[k])
        made = DenseFamily(backend.array(spoiled)) if kind == "dense" else sparse(spoiled)
        assert made.least_hermitian() == k


def sparse(A):
    return SparseFamily(sp.csr_array(A.reshape(M, N * N)), N)


@FIELDS
def test_the_hermitian_part_of_a_sparse_family(complex_):
    rng = np.random.default_rng(6)
    A = draw(rng, M, N, N, complex_=complex_) * (rng.random((M, N, N)) < 0.4)
    made = sparse(A).hermitian()
    for j in range(M):
        np.testing.assert_array_equal(made.matrix(j), (A[j] + A[j].conj().T) / 2)
