"""The problem in min(m + n, N) dimensions is the problem itself: thesis (2.16)-(2.18), Lemma 2.4.1."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn._array import as_numpy
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import (
    DenseExponent,
    KernelizedExponent,
    SignedExponent,
    kernel_coordinates,
    span_coordinates,
)
from matrixlearn.sets import SpectralBall, Spectraplex

seeds = st.integers(0, 2**32 - 1)


def tall(rng):
    return rng.standard_normal((9, 4))


def wide(rng):
    return rng.standard_normal((4, 9))


def tall_deficient(rng):
    return rng.standard_normal((9, 2)) @ rng.standard_normal((2, 6))


def wide_deficient(rng):
    points = rng.standard_normal((3, 8))
    return points[[0, 1, 2, 0, 1]]  # duplicates


def constant_feature(rng):
    P = rng.standard_normal((7, 4))
    P[:, 1] = 2.0
    P[:, 3] = 4.0  # a multiple of the other constant
    return P


SAMPLES = (tall, wide, tall_deficient, wide_deficient, constant_feature)
samples = pytest.mark.parametrize("draw", SAMPLES, ids=lambda draw: draw.__name__)
RANKS = {tall: 4, wide: 4, tall_deficient: 2, wide_deficient: 3, constant_feature: 3}


@samples
@given(seed=seeds)
def test_span_coordinates_keep_inner_products_in_rank_dimensions(backend, draw, seed):
    P = draw(np.random.default_rng(seed))
    L = as_numpy(span_coordinates(backend.array(P)))
    assert L.shape == (len(P), RANKS[draw])
    np.testing.assert_allclose(L @ L.T, P @ P.T, atol=1e-12 * np.linalg.norm(P) ** 2)


@samples
@given(seed=seeds)
def test_kernel_coordinates_keep_the_kernel_in_rank_dimensions(backend, draw, seed):
    P = draw(np.random.default_rng(seed))
    K = P @ P.T
    L = as_numpy(kernel_coordinates(backend.array((K + K.T) / 2)))
    assert L.shape[1] <= RANKS[draw]
    np.testing.assert_allclose(L @ L.T, K, atol=1e-12 * np.linalg.norm(K))


def full_and_small(P, d, coordinates):
    L = as_numpy(coordinates)
    return (P.T * d) @ P, (L.T * d) @ L, L


@samples
@pytest.mark.parametrize("source", ["samples", "kernel"])
@given(seed=seeds)
def test_quadratic_forms_of_spectral_functions_agree(backend, draw, source, seed):
    """x_i^T f(M) x_i = l_i^T f(L^T diag(d) L) l_i for f(0) = 0, and the spectra agree but for zeros."""
    rng = np.random.default_rng(seed)
    P = draw(rng)
    d = rng.standard_normal(len(P))
    if source == "samples":
        coordinates = span_coordinates(backend.array(P))
    else:
        K = P @ P.T
        coordinates = kernel_coordinates(backend.array((K + K.T) / 2))
    M, small, L = full_and_small(P, d, coordinates)
    size = np.linalg.norm(M)
    for f in (scipy.linalg.sinhm, lambda A: A @ A @ A):
        full = np.einsum("ia,ab,ib->i", P, f(M / size), P)
        reduced = np.einsum("ia,ab,ib->i", L, f(small / size), L)
        # a kernel knows its points to the square root of its own rounding only
        tolerance = 1e-11 if source == "samples" else 1e-6
        np.testing.assert_allclose(reduced, full, atol=tolerance * np.linalg.norm(P) ** 2)
    w, v = np.linalg.eigvalsh(M), np.linalg.eigvalsh(small)
    padded = np.sort(np.concatenate([v, np.zeros(max(0, len(w) - len(v)))]))
    np.testing.assert_allclose(padded[-len(w) :] if len(padded) > len(w) else padded, w, atol=1e-6 * size)


@samples
@given(seed=seeds)
def test_signed_exponent_in_the_span_is_that_of_the_whole_space(backend, draw, seed):
    """sinh(0) = 0: X in N dimensions is Q X_r Q^T up to the trace, where cosh(0) = 1 counts N - r more."""
    rng = np.random.default_rng(seed)
    P = draw(rng)
    d = rng.standard_normal(len(P))
    d /= np.linalg.norm((P.T * d) @ P, 2)
    coordinates = span_coordinates(backend.array(P))
    r, N = coordinates.shape[1], P.shape[1]
    small = KernelizedExponent(SignedExponent(SpectralBall(r, 1.0)), coordinates)
    M = (P.T * d) @ P
    full = as_numpy(SignedExponent(SpectralBall(N, 1.0))(M))
    cosh = np.cosh(np.linalg.eigvalsh(M)).sum()
    L = as_numpy(coordinates)
    reduced = np.einsum("ia,ab,ib->i", L, as_numpy(small(backend.array(d))), L)
    expected = np.einsum("ia,ab,ib->i", P, full, P) * cosh / (cosh - (N - r))
    np.testing.assert_allclose(reduced, expected, atol=1e-11 * np.linalg.norm(P) ** 2)


def test_source_points_enter_with_a_minus_sign():
    """Erratum of the thesis, (2.16) and (5.12): D has -z_i on the source part, M(z) = M_0 - sum z_i x_i x_i^T."""
    from matrixlearn_discrepancy import Discrepancy

    rng = np.random.default_rng(6)
    Xs, Xt = rng.standard_normal((5, 7)), rng.standard_normal((4, 7))
    z = rng.dirichlet(np.ones(5))
    M = Xt.T @ Xt / 4 - (Xs.T * z) @ Xs
    P = np.vstack([Xs, Xt])
    K = P @ P.T
    D = np.concatenate([-z, np.full(4, 0.25)])
    root = np.real(scipy.linalg.sqrtm(K))
    right = np.linalg.eigvalsh(root @ np.diag(D) @ root)
    printed = np.linalg.eigvalsh(root @ np.diag(np.abs(D)) @ root)
    game = Discrepancy(Xs, Xt)
    norm = np.linalg.norm(M, 2)
    assert np.max(np.abs(right)) == pytest.approx(norm, rel=1e-9)
    assert game.game.upper(z) == pytest.approx(norm, rel=1e-12)
    assert np.max(np.abs(printed)) > 1.05 * norm
    np.testing.assert_allclose(as_numpy(game.game.image(z)), (game.points.T * D) @ game.points, atol=1e-12)


def test_directions_of_relative_size_1e_minus_7_are_kept(backend):
    """Their second moments meet the others' in products of 1e-7, far above rounding: a Gram matrix of
    P, whose eigenvalues are squares, cannot tell 1e-14 from rounding.
    """
    P = np.diag([1.0, 1e-7, 1e-10]) + 1e-3 * np.eye(3, k=1)
    Q = np.linalg.qr(np.random.default_rng(7).standard_normal((8, 8)))[0][:, :3]
    for points in (P, P @ Q.T):  # tall and wide
        L = as_numpy(span_coordinates(backend.array(points)))
        assert L.shape[1] == 3
    d = np.array([1.0, -1.0, 0.5])
    M = (P.T * d) @ P
    _, small, _ = full_and_small(P @ Q.T, d, span_coordinates(backend.array(P @ Q.T)))
    np.testing.assert_allclose(np.linalg.eigvalsh(small), np.linalg.eigvalsh(M), atol=1e-15)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 1)])
def test_zero_points_have_one_coordinate(backend, shape):
    L = as_numpy(span_coordinates(backend.array(np.zeros(shape))))
    assert L.shape == (shape[0], 1)
    assert not np.any(L)
    assert kernel_coordinates(backend.array(np.zeros((3, 3)))).shape == (3, 1)


def test_an_indefinite_kernel_is_refused_and_its_smallest_eigenvalue_named(backend):
    rng = np.random.default_rng(8)
    K = np.tanh(rng.standard_normal((6, 6)))
    K = (K + K.T) / 2
    lowest = np.linalg.eigvalsh(K)[0]
    with pytest.raises(ProblemError, match=rf"kernel must be positive semidefinite.*{lowest:.3g}"):
        kernel_coordinates(backend.array(K))


def test_a_kernel_that_is_indefinite_by_rounding_is_taken(backend):
    P = np.random.default_rng(9).standard_normal((30, 2))
    K = P @ P.T
    assert np.linalg.eigvalsh(K)[0] < 0
    assert kernel_coordinates(backend.array(K)).shape == (30, 2)


def test_losses_are_coefficients(backend):
    """accumulate adds coefficient vectors; the matrix is formed in the routine."""
    P = np.random.default_rng(10).standard_normal((4, 9))
    L = span_coordinates(backend.array(P))
    exponent = KernelizedExponent(DenseExponent(Spectraplex(4, 1.0)), L)
    d = exponent.zero(L)
    assert tuple(d.shape) == (4,)
    d = exponent.accumulate(d, backend.array(np.array([1.0, 0.0, -1.0, 0.0])), 0.5)
    X = as_numpy(exponent(d))
    S = as_numpy(L)
    M = 0.5 * (np.outer(S[0], S[0]) - np.outer(S[2], S[2]))
    E = scipy.linalg.expm(-M)
    np.testing.assert_allclose(X, E / np.trace(E), atol=1e-12)
