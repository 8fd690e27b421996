"""Spectral sets: support functions, projections and best responses, on every back end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn._array import as_numpy
from matrixlearn.exceptions import ProblemError
from matrixlearn.sets import ScaledSimplex, SpectralBall, Spectraplex, TraceBall

seeds = st.integers(0, 2**32 - 1)
MATRIX_SETS = (Spectraplex, TraceBall, SpectralBall)
kinds = pytest.mark.parametrize("kind", MATRIX_SETS, ids=lambda kind: kind.__name__)
FIELDS = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
BLOCKS = pytest.mark.parametrize("blocks", [(), (2, 1, 3)], ids=["whole", "blocks"])
N = 6


def hermitian(rng, n, complex_, blocks=()):
    G = rng.standard_normal((n, n))
    if complex_:
        G = G + 1j * rng.standard_normal((n, n))
    H = (G + G.conj().T) / 2
    return H * mask(blocks) if blocks else H


def mask(blocks):
    out = np.zeros((sum(blocks),) * 2)
    start = 0
    for size in blocks:
        out[start : start + size, start : start + size] = 1.0
        start += size
    return out


def assert_member(S, X):
    """X is Hermitian, block diagonal, and satisfies what defines S."""
    np.testing.assert_array_equal(X, X.conj().T)
    if S.blocks:
        assert not np.any(X[mask(S.blocks) == 0])
    w, R = np.linalg.eigvalsh(X), S.trace
    rounding = 1e-12 * R
    if isinstance(S, SpectralBall):
        assert np.abs(w).sum() <= R + rounding
        return
    assert w[0] >= -rounding
    if isinstance(S, Spectraplex):
        assert w.sum() == pytest.approx(R, rel=1e-12)
    else:
        assert w.sum() <= R + rounding


def inner(A, B):
    return float(np.real(np.vdot(A, B)))


@kinds
@FIELDS
@BLOCKS
@given(seed=seeds)
def test_support_function_is_the_closed_form(backend, kind, complex_, blocks, seed):
    F = hermitian(np.random.default_rng(seed), N, complex_, blocks)
    w = np.linalg.eigvalsh(F)
    expected = {Spectraplex: w[-1], TraceBall: max(0.0, w[-1]), SpectralBall: np.abs(w).max()}[kind]
    assert kind(N, 2.5, blocks).support(backend.array(F)) == pytest.approx(2.5 * expected, abs=1e-12)


@kinds
@FIELDS
@BLOCKS
@given(seed=seeds, shift=st.sampled_from([-20.0, 0.0, 20.0]))
def test_best_response_is_a_member_and_attains_the_support(backend, kind, complex_, blocks, seed, shift):
    S = kind(N, 2.5, blocks)
    F = hermitian(np.random.default_rng(seed), N, complex_, blocks) + shift * np.eye(N)
    X = as_numpy(S.best_response(backend.array(F)))
    assert_member(S, X)
    assert np.linalg.matrix_rank(X) <= 1
    assert inner(F, X) == pytest.approx(S.support(backend.array(F)), abs=1e-11)


@kinds
@FIELDS
@BLOCKS
@given(seed=seeds)
def test_no_member_exceeds_the_support(backend, kind, complex_, blocks, seed):
    rng = np.random.default_rng(seed)
    S = kind(N, 2.5, blocks)
    F = hermitian(rng, N, complex_, blocks)
    for scale in (0.1, 1.0, 10.0):
        X = as_numpy(S.project(backend.array(scale * hermitian(rng, N, complex_))))
        assert inner(F, X) <= S.support(backend.array(F)) + 1e-11


@kinds
@FIELDS
@BLOCKS
@given(seed=seeds, scale=st.sampled_from([0.0, 1e-9, 1.0, 1e9]), definite=st.booleans())
def test_project_lands_in_the_set_and_stays_there(backend, kind, complex_, blocks, seed, scale, definite):
    rng = np.random.default_rng(seed)
    S = kind(N, 2.5, blocks)
    G = rng.standard_normal((N, N)) + (1j * rng.standard_normal((N, N)) if complex_ else 0)
    given_ = scale * (G @ G.conj().T if definite else G)  # not even Hermitian
    X = as_numpy(S.project(backend.array(given_)))
    assert_member(S, X)
    np.testing.assert_allclose(as_numpy(S.project(backend.array(X))), X, atol=1e-12)


@kinds
@FIELDS
@BLOCKS
def test_project_leaves_members_alone(backend, kind, complex_, blocks):
    rng = np.random.default_rng(8)
    S = kind(N, 2.5, blocks)
    G = hermitian(rng, N, complex_, blocks)
    X = G @ G.conj().T
    X *= 2.5 / np.trace(X).real
    np.testing.assert_allclose(as_numpy(S.project(backend.array(X))), X, atol=1e-14)
    if kind is not Spectraplex:
        np.testing.assert_allclose(as_numpy(S.project(backend.array(X / 3))), X / 3, atol=1e-14)


@kinds
def test_project_keeps_its_argument(kind):
    X = np.eye(3) * 7.0
    X.flags.writeable = False
    kind(3, 1.0).project(X)
    kind(3, 1.0, (1, 2)).project(X)


@kinds
@BLOCKS
@FIELDS
def test_center_is_a_member_of_full_rank(backend, kind, blocks, complex_):
    S = kind(N, 2.5, blocks)
    like = backend.array(np.zeros((N, N), dtype=complex if complex_ else float))
    X = S.center(like)
    assert X.dtype == like.dtype
    assert_member(S, as_numpy(X))
    if kind is SpectralBall:
        assert not np.any(as_numpy(X))
    else:
        assert np.linalg.eigvalsh(as_numpy(X))[0] > 0


def test_dimension_counts_the_experts():
    assert Spectraplex(4, 1.0).dimension == 4
    assert TraceBall(4, 1.0).dimension == 5  # one more takes the trace that is left
    assert SpectralBall(4, 1.0).dimension == 8  # the pair of blocks +-F: A_0 is 2N x 2N (thesis, Section 5.2)


def test_support_of_the_ball_is_that_of_the_pair_of_blocks():
    """||F|| = lambda_max(blkdiag(F, -F)): SpectralBall(n) is the pair as one matrix."""
    F = hermitian(np.random.default_rng(9), 5, True)
    pair = np.block([[F, np.zeros((5, 5))], [np.zeros((5, 5)), -F]])
    assert SpectralBall(5, 1.5).support(F) == pytest.approx(Spectraplex(10, 1.5).support(pair), rel=1e-13)


@given(seed=seeds)
def test_scaled_simplex(backend, seed):
    rng = np.random.default_rng(seed)
    S = ScaledSimplex(5, 3.0)
    f = rng.standard_normal(5)
    assert S.support(backend.array(f)) == pytest.approx(3 * f.max(), rel=1e-14)
    x = as_numpy(S.best_response(backend.array(f)))
    assert float(x @ f) == pytest.approx(3 * f.max(), rel=1e-14)
    p = as_numpy(S.project(backend.array(f)))
    assert p.min() >= 0 and p.sum() == pytest.approx(3.0, rel=1e-13)
    np.testing.assert_allclose(as_numpy(S.project(backend.array(p))), p, rtol=1e-13)
    np.testing.assert_allclose(as_numpy(S.center(backend.array(f))), 0.6, rtol=1e-14)
    np.testing.assert_allclose(as_numpy(S.project(backend.array(-np.ones(5)))), 0.6, rtol=1e-14)


@pytest.mark.parametrize("trace", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("kind", [*MATRIX_SETS, ScaledSimplex])
def test_the_trace_must_be_positive_and_finite(kind, trace):
    with pytest.raises(ProblemError, match="trace must be positive"):
        kind(2, trace)


@pytest.mark.parametrize(("n", "blocks"), [(3, (1, 1)), (3, (4, -1)), (3, (3, 0)), (0, ())])
def test_sizes_must_add_up(n, blocks):
    with pytest.raises(ProblemError, match=r"blocks must|n must"):
        Spectraplex(n, 1.0, blocks)
