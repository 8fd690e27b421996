"""Exponent routines against the exponential itself, scipy.linalg.expm, and long-double sums."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn._array import as_numpy
from matrixlearn.exponents import DenseExponent, DiagonalExponent, Exponent, SignedExponent
from matrixlearn.sets import ScaledSimplex, SpectralBall, Spectraplex, TraceBall

seeds = st.integers(0, 2**32 - 1)
FIELDS = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
BLOCKS = pytest.mark.parametrize("blocks", [(), (2, 1, 2)], ids=["whole", "blocks"])
N, R = 5, 1.7


def mask(blocks):
    return scipy.linalg.block_diag(*(np.ones((k, k)) for k in blocks)) if blocks else np.ones((N, N))


def hermitian(rng, complex_, blocks=(), n=N):
    G = rng.standard_normal((n, n))
    if complex_:
        G = G + 1j * rng.standard_normal((n, n))
    H = (G + G.conj().T) / 2
    return H * mask(blocks) if blocks else H


def routine(kind, blocks=()):
    return {
        "spectraplex": lambda: DenseExponent(Spectraplex(N, R, blocks)),
        "trace ball": lambda: DenseExponent(TraceBall(N, R, blocks)),
        "signed": lambda: SignedExponent(SpectralBall(N, R, blocks)),
    }[kind]()


def definition(kind, G):
    E = scipy.linalg.expm(-G)
    if kind == "spectraplex":
        return R * E / np.trace(E).real
    if kind == "trace ball":
        return R * E / (1 + np.trace(E).real)
    # the two n x n blocks of the exponential of the pair blkdiag(-G, G), whose trace is R together
    Z = np.zeros_like(G)
    pair = scipy.linalg.expm(np.block([[-G, Z], [Z, G]]))
    pair *= R / np.trace(pair).real
    n = len(G)
    return pair[:n, :n] - pair[n:, n:]


KINDS = pytest.mark.parametrize("kind", ["spectraplex", "trace ball", "signed"])


@KINDS
@FIELDS
@BLOCKS
@given(seed=seeds, scale=st.sampled_from([1e-3, 1.0, 5.0]))
def test_equals_the_exponential(backend, kind, complex_, blocks, seed, scale):
    G = scale * hermitian(np.random.default_rng(seed), complex_, blocks)
    X = as_numpy(routine(kind, blocks)(backend.array(G)))
    np.testing.assert_allclose(X, definition(kind, G), atol=1e-12 * R)
    np.testing.assert_array_equal(X, X.conj().T)


@KINDS
@FIELDS
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_trace_and_sign_hold_at_every_spectral_range(backend, kind, complex_, scale):
    G = scale * hermitian(np.random.default_rng(1), complex_)
    w = np.linalg.eigvalsh(as_numpy(routine(kind)(backend.array(G))))
    assert np.all(np.isfinite(w))
    if kind == "signed":
        assert np.abs(w).sum() <= R * (1 + 1e-13)
        return
    assert w[0] >= -1e-14 * R
    if kind == "spectraplex":
        assert w.sum() == pytest.approx(R, rel=1e-13)
    else:
        assert w.sum() <= R * (1 + 1e-13)


@KINDS
@pytest.mark.parametrize("shift", [0.0, 1e6, -1e6])
def test_weights_equal_long_double_sums_at_a_range_of_a_million(backend, kind, shift):
    """Eigenvalues e of -G to those of X, summed in extended precision; nothing overflows."""
    e = np.array([-1e6, -3.0, -0.5, 0.25, 1.0]) + shift
    got = as_numpy(routine(kind)(backend.array(np.diag(-e))))
    x = e.astype(np.longdouble)
    top = max(
        np.max(np.abs(x)) if kind == "signed" else np.max(x), np.longdouble(0) if kind != "spectraplex" else -np.inf
    )
    if kind == "signed":
        up, down = np.exp(x - top), np.exp(-x - top)
        expected = R * (up - down) / np.sum(up + down)
    else:
        p = np.exp(x - top)
        expected = R * p / (np.sum(p) + (np.exp(-top) if kind == "trace ball" else 0))
    np.testing.assert_allclose(np.diag(got), expected.astype(float), rtol=1e-13, atol=1e-300)


@FIELDS
def test_losses_of_1e_minus_12_are_not_lost(backend, complex_):
    """R sinh(-G) / Tr cosh(G) is -R G / n to first order: the difference of two exponentials of 1 +- 1e-12
    would keep four digits of it.
    """
    G = 1e-12 * hermitian(np.random.default_rng(2), complex_)
    X = as_numpy(routine("signed")(backend.array(G)))
    np.testing.assert_allclose(X, -R * G / N, rtol=1e-9, atol=1e-27)


@FIELDS
@given(seed=seeds, shift=st.sampled_from([-1e4, -1.0, 1e-3, 1e4]))
def test_spectraplex_does_not_see_multiples_of_the_identity(backend, complex_, seed, shift):
    G = hermitian(np.random.default_rng(seed), complex_)
    exponent = routine("spectraplex")
    moved = as_numpy(exponent(backend.array(G + shift * np.eye(N))))
    np.testing.assert_allclose(moved, as_numpy(exponent(backend.array(G))), atol=1e-13 * R * max(1.0, abs(shift)))


def test_trace_ball_is_the_spectraplex_with_one_more_scalar_block(backend):
    G = hermitian(np.random.default_rng(3), True)
    larger = DenseExponent(Spectraplex(N + 1, R, (N, 1)))
    padded = np.zeros((N + 1, N + 1), dtype=complex)
    padded[:N, :N] = G
    whole = as_numpy(larger(backend.array(padded)))
    np.testing.assert_allclose(as_numpy(routine("trace ball")(backend.array(G))), whole[:N, :N], atol=1e-14)


def test_diagonal_blocks_of_the_signed_exponent_are_zero():
    """Erratum of the thesis, Section 5.2: it prints sum M in all four blocks of the exponent.

    The exponent of the pair is [[0, M], [M, 0]] (or, in other coordinates, blkdiag(M, -M)), whose
    exponential has the off-diagonal block sinh(M); with M in all four blocks it would be another one.
    """
    M = hermitian(np.random.default_rng(4), False)
    Z = np.zeros_like(M)
    right = scipy.linalg.expm(-np.block([[Z, M], [M, Z]]))
    right *= R / np.trace(right)
    X = routine("signed")(M)
    np.testing.assert_allclose(2 * right[:N, N:], X, atol=1e-13)
    printed = scipy.linalg.expm(-np.block([[M, M], [M, M]]))
    printed *= R / np.trace(printed)
    assert np.max(np.abs(2 * printed[:N, N:] - X)) > 0.05


@given(seed=seeds, scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_diagonal_routine_is_the_dense_one_on_diagonal_losses(backend, seed, scale):
    g = scale * np.random.default_rng(seed).standard_normal(N)
    got = as_numpy(DiagonalExponent(ScaledSimplex(N, R))(backend.array(g)))
    dense = as_numpy(routine("spectraplex")(backend.array(np.diag(g))))
    np.testing.assert_allclose(got, np.diag(dense), rtol=1e-12, atol=1e-300)
    assert got.sum() == pytest.approx(R, rel=1e-13)


@KINDS
@FIELDS
def test_losses_add_up(backend, kind, complex_):
    rng = np.random.default_rng(5)
    exponent = routine(kind)
    assert isinstance(exponent, Exponent)
    losses = [hermitian(rng, complex_) for _ in range(3)]
    G = exponent.zero(backend.array(losses[0]))
    np.testing.assert_allclose(as_numpy(exponent(G)), as_numpy(exponent.on.center(G)), atol=1e-15)
    for k, loss in enumerate(losses):
        G = exponent.accumulate(G, backend.array(loss), 0.5 + k)
    np.testing.assert_allclose(as_numpy(G), sum((0.5 + k) * loss for k, loss in enumerate(losses)), atol=1e-14)


@KINDS
def test_one_dimension(backend, kind):
    one = {
        "spectraplex": DenseExponent(Spectraplex(1, R)),
        "trace ball": DenseExponent(TraceBall(1, R)),
        "signed": SignedExponent(SpectralBall(1, R)),
    }[kind]
    x = float(one(backend.array([[0.3]]))[0, 0])
    expected = {"spectraplex": 1.0, "trace ball": np.exp(-0.3) / (1 + np.exp(-0.3)), "signed": -np.tanh(0.3)}[kind]
    assert x == pytest.approx(R * expected, rel=1e-14)
