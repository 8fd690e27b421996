"""Functions of Hermitian matrices, against their definitions."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn import linalg
from matrixlearn._array import as_numpy

FIELDS = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
seeds = st.integers(0, 2**32 - 1)


def draw(rng, *shape, complex_):
    G = rng.standard_normal(shape)
    return G + 1j * rng.standard_normal(shape) if complex_ else G


def hermitian(rng, n, complex_):
    G = draw(rng, n, n, complex_=complex_)
    return (G + G.conj().T) / 2


def definite(rng, n, complex_):
    G = draw(rng, n, n, complex_=complex_)
    return G @ G.conj().T + 0.1 * np.eye(n)


@FIELDS
def test_sym_is_the_hermitian_part(backend, complex_):
    G = draw(np.random.default_rng(0), 5, 5, complex_=complex_)
    out = as_numpy(linalg.sym(backend.array(G)))
    np.testing.assert_array_equal(out, (G + G.conj().T) / 2)
    np.testing.assert_array_equal(out, out.conj().T)


@FIELDS
def test_adjoint_transposes_every_matrix_of_a_stack(backend, complex_):
    G = draw(np.random.default_rng(1), 3, 2, 4, complex_=complex_)
    np.testing.assert_array_equal(as_numpy(linalg.adjoint(backend.array(G))), np.conj(np.swapaxes(G, 1, 2)))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_inner_is_the_real_part_of_the_trace(backend, first, second):
    rng = np.random.default_rng(2)
    A, B = draw(rng, 4, 4, complex_=first), draw(rng, 4, 4, complex_=second)
    expected = float(np.real(np.trace(A.conj().T @ B)))
    assert linalg.inner(backend.array(A), backend.array(B)) == pytest.approx(expected, rel=1e-13)


def test_inner_of_pauli_y_with_its_own_state_is_one(backend):
    """Tr(A^T B) in place of Tr(A^H B) would give -1."""
    Y = np.array([[0, -1j], [1j, 0]])
    state = np.array([1, 1j]) / np.sqrt(2)
    assert linalg.inner(backend.array(Y), backend.array(np.outer(state, state.conj()))) == pytest.approx(1.0)


@FIELDS
def test_trace_and_norms(backend, complex_):
    H = hermitian(np.random.default_rng(3), 5, complex_)
    A = backend.array(H)
    assert linalg.trace(A) == pytest.approx(np.trace(H).real, rel=1e-14)
    assert linalg.frobenius(A) == pytest.approx(np.linalg.norm(H), rel=1e-14)
    assert linalg.spectral_norm(A) == pytest.approx(np.linalg.norm(H, 2), rel=1e-13)


@FIELDS
def test_eigh_rebuilds_the_matrix(backend, complex_):
    H = hermitian(np.random.default_rng(4), 6, complex_)
    w, V = (as_numpy(part) for part in linalg.eigh(backend.array(H)))
    assert np.all(np.diff(w) >= 0)
    np.testing.assert_allclose((V * w) @ V.conj().T, H, atol=1e-13)
    np.testing.assert_allclose(as_numpy(linalg.eigvalsh(backend.array(H))), w, atol=1e-13)


@FIELDS
def test_cholesky_factors_the_definite_and_refuses_the_rest(backend, complex_):
    rng = np.random.default_rng(5)
    P = definite(rng, 5, complex_)
    L = as_numpy(linalg.cholesky(backend.array(P)))
    np.testing.assert_allclose(L @ L.conj().T, P, atol=1e-12)
    np.testing.assert_array_equal(L, np.tril(L))
    lowest = np.linalg.eigvalsh(P)[0]
    assert linalg.cholesky(backend.array(P - 1.01 * lowest * np.eye(5))) is None
    assert linalg.cholesky(backend.array(-P)) is None


@FIELDS
@pytest.mark.parametrize("n", [1, 2, 7])
def test_inverse_factor(backend, complex_, n):
    L = np.linalg.cholesky(definite(np.random.default_rng(6), n, complex_))
    inverse = as_numpy(linalg.inverse_factor(backend.array(L)))
    np.testing.assert_allclose(inverse @ L, np.eye(n), atol=1e-11)
    np.testing.assert_array_equal(inverse, np.tril(inverse))


@FIELDS
@given(seed=seeds)
def test_max_step_reaches_the_boundary_of_the_cone(backend, complex_, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    P, D = definite(rng, n, complex_), hermitian(rng, n, complex_)
    L = linalg.cholesky(backend.array(P))
    step = linalg.max_step(linalg.inverse_factor(L), backend.array(D))
    # generalized eigenvalues P v = l (-D) v: the smallest positive one is where P + l D is singular
    crossing = scipy.linalg.eigh(-D, P, eigvals_only=True)[-1]
    if crossing <= 0:
        assert step == float("inf")
        assert np.linalg.eigvalsh(P + 1e6 * D)[0] > 0
    else:
        assert step == pytest.approx(1 / crossing, rel=1e-9)
        size = np.linalg.norm(P) + step * np.linalg.norm(D)
        assert np.linalg.eigvalsh(P + 0.999 * step * D)[0] > 0
        assert abs(np.linalg.eigvalsh(P + step * D)[0]) < 1e-11 * size


@pytest.mark.parametrize("points", [False, True])
@pytest.mark.parametrize("matrix", [False, True])
def test_quadratic_forms(backend, points, matrix):
    rng = np.random.default_rng(7)
    P, X = draw(rng, 6, 4, complex_=points), hermitian(rng, 4, matrix)
    out = as_numpy(linalg.quadratic_forms(backend.array(P), backend.array(X)))
    np.testing.assert_allclose(out, [np.real(x.conj() @ X @ x) for x in P], atol=1e-12)
    assert out.dtype == np.float64
