"""Functions of a matrix from the ends of its spectrum, against all of it."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.engines.entropies import DEPTH, soft_response, soft_support, trimmed
from matrixlearn.engines.saddle import nearest, nearest_eigenvalues
from matrixlearn.engines.spectrum import eigenvalues_within
from matrixlearn.linalg import tridiagonal
from matrixlearn.sets import ScaledSimplex, SpectralBall, Spectraplex, TraceBall


@pytest.fixture(autouse=True)
def _tridiagonal_at_every_size():
    with patch.object(tridiagonal, "TRIDIAGONAL_FROM", 2):
        yield


@st.composite
def sets_and_matrices(draw):
    sizes = draw(st.lists(st.integers(1, 30), min_size=1, max_size=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    F = np.zeros((sum(sizes), sum(sizes)))
    kind = draw(st.sampled_from([Spectraplex, TraceBall, SpectralBall]))
    S = kind(len(F), 10.0 ** draw(st.integers(-2, 2)), tuple(sizes))
    scale = 10.0 ** draw(st.integers(-6, 6))
    for block in S.slices():
        A = rng.standard_normal((block.stop - block.start,) * 2)
        rank = draw(st.integers(0, len(A)))
        F[block, block] = scale * (A + A.T if rank == len(A) else A[:, :rank] @ A[:, :rank].T)
    return S, F * draw(st.sampled_from([1, -1]))


def whole(S, F, of):
    """V diag(p) V^T, and p = of(w), from NumPy's decompositions."""
    pairs = [np.linalg.eigh(F[block, block]) for block in S.slices()]
    p, X = of(np.concatenate([w for w, _ in pairs])), np.zeros_like(F)
    for block, (_, V) in zip(S.slices(), pairs, strict=True):
        X[block, block] = (V * p[block]) @ V.T
    return p, X


@given(given=sets_and_matrices(), sharpness=st.sampled_from([0.01, 1.0, 30.0, 1000.0]))
def test_hidden_experts_change_neither_the_smoothed_support_nor_its_gradient(given, sharpness):
    S, F = given
    size = float(np.max(np.abs(np.linalg.eigvalsh(F)))) or 1.0
    mu = size / sharpness
    values = {}

    def weights(w):
        values["all"], p = soft_support(S, w, mu)
        return p

    _, X = whole(S, F, weights)
    value, mine = soft_response(S, F, mu)
    rounding = 1e-12 * (1 + sharpness) * S.trace
    assert value == pytest.approx(values["all"], abs=rounding * size)
    np.testing.assert_allclose(mine, X, rtol=0, atol=rounding)
    assert soft_support(S, eigenvalues_within(S, F, DEPTH * mu), mu)[0] == pytest.approx(value, abs=rounding * size)


@given(given=sets_and_matrices())
def test_the_projection_and_the_trimmed_exponent_are_those_of_all_eigenvectors(given):
    S, F = given
    size = float(np.max(np.abs(F)))
    _, X = whole(S, F, lambda w: nearest_eigenvalues(S, w))
    np.testing.assert_allclose(nearest(S, F), X, rtol=0, atol=1e-11 * (size + S.trace))
    # far below nothing is trimmed, but for a multiple of I that X(L) does not depend on
    L, n = trimmed(S, F, 1e3 * (1 + size)), len(F)
    difference = L - F
    if not S.slack and len(S.signs) == 1:
        difference -= np.eye(n) * np.trace(difference) / n
    np.testing.assert_allclose(difference, 0 * F, rtol=0, atol=1e-11 * (1 + size))


@given(given=sets_and_matrices())
def test_the_support_function_is_reached_by_the_best_response(given):
    S, F = given
    w = np.linalg.eigvalsh(F)
    rounding = 1e-12 * S.trace * float(np.max(np.abs(w)))
    experts = np.concatenate([sign * w for sign in S.signs] + [np.zeros(S.slack)])
    assert S.support(F) == pytest.approx(S.trace * np.max(experts), abs=rounding)
    assert np.vdot(F, S.best_response(F)) == pytest.approx(S.support(F), abs=rounding)


def test_the_experts_of_a_vector_are_all_kept():
    S, f = ScaledSimplex(3, 2.0), np.array([0.0, 1.0, -500.0])
    value, x = soft_response(S, f, 1.0)
    assert value == pytest.approx(2 * np.log(np.sum(np.exp(f))))
    np.testing.assert_allclose(x, 2 * np.exp(f) / np.sum(np.exp(f)))
    np.testing.assert_array_equal(eigenvalues_within(S, f, 1.0), f)
