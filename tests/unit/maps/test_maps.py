"""The linear maps, against their definition in terms of A_1, ..., A_m."""

import numpy as np
import pytest
import scipy.sparse as sp

from matrixlearn._array import as_numpy
from matrixlearn.maps import CompressedMap, DenseMap, DiagonalMap, LinearMap, RankOneMap, ScaledMap, SparseMap

M, N = 5, 4
FIELDS = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
KINDS = pytest.mark.parametrize("kind", ["rank-one", "dense", "sparse", "scaled", "compressed", "of one's own"])


def draw(rng, *shape, complex_):
    G = rng.standard_normal(shape)
    return G + 1j * rng.standard_normal(shape) if complex_ else G


def hermitian(rng, complex_, n=N):
    G = draw(rng, n, n, complex_=complex_)
    return (G + G.conj().T) / 2


class Own(LinearMap):
    """The least that an author writes."""

    def __init__(self, A):
        self.A = A

    @property
    def shape(self):
        return self.A.shape[:2]

    def apply(self, y):
        return DenseMap(self.A).apply(y)

    def adjoint(self, X):
        return DenseMap(self.A).adjoint(X)


def family(kind, complex_, backend, rng):
    """A map, and its matrices as a NumPy stack."""
    if kind == "rank-one":
        P = draw(rng, M, N, complex_=complex_)
        return RankOneMap(backend.array(P)), np.stack([np.outer(x, x.conj()) for x in P])
    A = np.stack([hermitian(rng, complex_) for _ in range(M)])
    if kind == "dense":
        return DenseMap(backend.array(A)), A
    if kind == "of one's own":
        return Own(backend.array(A)), A
    if kind == "scaled":
        factors = np.array([-1.0, 1.0, 3.0, -0.5, 1e-3])
        return ScaledMap(DenseMap(backend.array(A / factors[:, None, None])), factors), A
    if kind == "compressed":
        V = np.linalg.qr(draw(rng, N + 2, N, complex_=complex_))[0]
        return CompressedMap(DenseMap(backend.array(V @ A @ V.conj().T)), backend.array(V)), A
    if not backend.is_numpy:
        pytest.skip("scipy's sparse matrices go with NumPy arrays only")
    A[np.abs(A) < 0.4] = 0.0
    A[0] = 0.0  # an empty constraint
    return SparseMap(sp.csr_array(A.reshape(M, N * N)), N), A


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
    frobenius = np.array([np.linalg.norm(a) for a in A])
    assert np.all(out.sizes >= frobenius * (1 - 1e-13))


def test_dense_schur_in_chunks_equals_the_whole(monkeypatch, backend):
    """More constraints than fit into one chunk of temporaries: the last chunk is a short one."""
    import matrixlearn.maps.base as module

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
    monkeypatch.setattr("matrixlearn.maps.base.CHUNK", chunk)
    rng = np.random.default_rng(5)
    _, A = family(kind, complex_, backend, rng)
    A = A * np.array([1e-9, 1e3, 1.0, 1e-6, 1e6])[:, None, None]  # for its size
    for k in (3, 1):
        spoiled = A.copy()
        spoiled[k, 0, 1] = 1.0
        spoiled[k, 1, 0] = 1.0 + spoil(spoiled[k])
        made = DenseMap(backend.array(spoiled)) if kind == "dense" else sparse(spoiled)
        assert made.least_hermitian() == k


def sparse(A):
    return SparseMap(sp.csr_array(A.reshape(M, N * N)), N)


@FIELDS
def test_the_hermitian_part_of_a_sparse_map(complex_):
    rng = np.random.default_rng(6)
    A = draw(rng, M, N, N, complex_=complex_) * (rng.random((M, N, N)) < 0.4)
    made = sparse(A).hermitian()
    for j in range(M):
        np.testing.assert_array_equal(made.matrix(j), (A[j] + A[j].conj().T) / 2)


def test_a_prescribed_diagonal():
    n, rng = 4, np.random.default_rng(7)
    ours, plain = DiagonalMap(n), DenseMap(np.stack([np.diag(e) for e in np.eye(n)]))
    y, C, U, V = rng.standard_normal(n), hermitian(rng, False, n), hermitian(rng, True, n), hermitian(rng, True, n)
    assert ours.shape == plain.shape
    np.testing.assert_array_equal(ours.apply(y), plain.apply(y))
    np.testing.assert_array_equal(ours.subtracted(C, y), C - np.diag(y))
    np.testing.assert_allclose(ours.adjoint(U), plain.adjoint(U), atol=1e-15)
    np.testing.assert_allclose(ours.schur(U, V), (lambda H: (H + H.T) / 2)(plain.schur(U, V)), atol=1e-14)
    np.testing.assert_array_equal(ours.norms, plain.norms)
    np.testing.assert_array_equal(ours.sizes, plain.sizes)
    index = np.array([2, 0])
    for part, j in zip((0, 1), index, strict=True):
        np.testing.assert_array_equal(ours.at(index).matrix(part), plain.matrix(j))


@KINDS
@FIELDS
def test_parts_are_those_of_the_definition(backend, kind, complex_):
    rng = np.random.default_rng(8)
    out, A = family(kind, complex_, backend, rng)
    V, index, block = np.linalg.qr(draw(rng, N, 2, complex_=complex_))[0], np.array([3, 1]), slice(1, 3)
    few, small, inside = out.at(index), out.compressed(backend.array(V)), out.principal(block)
    for k, j in enumerate(index):
        np.testing.assert_allclose(as_numpy(few.matrix(k)), A[j], atol=1e-13)
    for j in range(M):
        np.testing.assert_allclose(as_numpy(small.matrix(j)), V.conj().T @ A[j] @ V, atol=1e-13)
        np.testing.assert_allclose(as_numpy(inside.matrix(j)), A[j][block, block], atol=1e-13)
    y, C = rng.standard_normal(M), backend.array(hermitian(rng, complex_))
    np.testing.assert_allclose(as_numpy(out.subtracted(C, y)), as_numpy(C) - np.einsum("j,jab->ab", y, A), atol=1e-13)
