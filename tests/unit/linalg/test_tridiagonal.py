"""Partial decompositions against NumPy's whole one."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn._array import EPS
from matrixlearn.linalg import tridiagonal
from matrixlearn.linalg.tridiagonal import Pairs, Tridiagonal, pairs_of, values_of


def turned(w, rng):
    Q = np.linalg.qr(rng.standard_normal((len(w), len(w))))[0]
    return (Q * w) @ Q.T


KINDS = {
    "random": lambda n, rng: rng.standard_normal((n, n)),
    "diagonal": lambda n, rng: np.diag(rng.standard_normal(n)),
    "zero": lambda n, rng: np.zeros((n, n)),
    "repeated": lambda n, rng: turned(rng.integers(-1, 2, n), rng),
    "equal": lambda n, rng: turned(np.ones(n), rng),
    "clustered": lambda n, rng: turned(rng.integers(-1, 2, n) + 1e-13 * rng.standard_normal(n), rng),
    "one cluster": lambda n, rng: turned(1 + 10 ** rng.uniform(-16, -3, n), rng),
    "graded": lambda n, rng: turned(10 ** rng.uniform(-16, 0, n) * rng.choice([-1, 1], n), rng),
    "of low rank": lambda n, rng: turned(rng.standard_normal(n) * (np.arange(n) < 3), rng),
    "Wilkinson's": lambda n, rng: np.diag(np.abs(np.arange(n) - n // 2)) + 2 * np.diag(np.ones(n - 1), 1),
}


@st.composite
def matrices(draw):
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    A = KINDS[draw(st.sampled_from(sorted(KINDS)))](n, rng) * 10.0 ** draw(st.integers(-6, 6))
    return (A + A.T) / 2


@given(A=matrices(), share=st.sampled_from([0.0, 1.0]), data=st.data())
def test_the_ends_are_those_of_the_whole_spectrum(A, share, data):
    n = len(A)
    low = data.draw(st.integers(0, n))
    high = data.draw(st.integers(0, n - low))
    w = np.linalg.eigvalsh(A)
    rounding = 200 * n * EPS
    size = rounding * np.max(np.abs(w))
    T, index = Tridiagonal.of(A), np.r_[:low, n - high : n]
    with patch.object(tridiagonal, "FEW", share), patch.object(tridiagonal, "FEW_VALUES", share):
        pairs, values = T.ends(low, high), T.values(low, high)
    np.testing.assert_allclose(pairs.w, w[index], rtol=0, atol=size)
    np.testing.assert_allclose(values, w[index], rtol=0, atol=size)
    np.testing.assert_allclose(A @ pairs.V, pairs.V * pairs.w, rtol=0, atol=size)
    np.testing.assert_allclose(pairs.V.T @ pairs.V, np.eye(low + high), rtol=0, atol=rounding)


@pytest.mark.parametrize("seed", [22, 31, 37])
def test_the_ends_are_the_outermost_where_representations_choose_others(seed):
    """A cluster over blocks of T: dstemr counts to about sqrt(eps) only."""
    A = KINDS["one cluster"](10, np.random.default_rng(seed))
    A = (A + A.T) / 2
    with patch.object(tridiagonal, "FEW", 1.0):
        found = Tridiagonal.of(A).ends(0, 5).w
    np.testing.assert_allclose(found, np.linalg.eigvalsh(A)[5:], rtol=0, atol=1e-13)


@given(A=matrices(), data=st.data())
def test_eigenvalues_are_counted_and_enclosed(A, data):
    n, w = len(A), np.linalg.eigvalsh(A)
    size = float(np.max(np.abs(w)))
    rounding = max(20 * n * EPS * size, 1e-300)  # Sturm's pivots have a least size
    accuracy = data.draw(st.sampled_from([0.0, 1e-6, 0.1])) * size
    T = Tridiagonal.of(A)
    np.testing.assert_allclose(T.w, w, rtol=0, atol=rounding)
    np.testing.assert_allclose(T.extremes(accuracy), w[[0, -1]], rtol=0, atol=accuracy + rounding)
    assert T.bound >= size - rounding
    t = data.draw(st.floats(-1.5, 1.5)) * (size or 1.0)
    assert np.sum(w > t + rounding) <= T.above(t) <= np.sum(w > t - rounding)


@pytest.mark.parametrize("n", [1, 2, tridiagonal.TRIDIAGONAL_FROM])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
def test_every_matrix_has_a_decomposition(n, dtype):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, n)).astype(dtype)
    A = A + A.conj().T
    w, V = np.linalg.eigh(A)
    pairs = pairs_of(A).ends(0, 1)
    assert pairs.w[0] == pytest.approx(w[-1], rel=1e-5)
    assert abs(np.vdot(pairs.V[:, 0], V[:, -1])) == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(values_of(A).extremes(), w[[0, -1]], rtol=1e-5)


class Failing:
    """LAPACK, but for routines that do not converge."""

    def __init__(self, lapack, names):
        self.lapack, self.names = lapack, names

    def __getattr__(self, name):
        routine = getattr(self.lapack, name)
        return routine if name not in self.names else lambda *given: (*routine(*given)[:-1], 1)


@pytest.mark.parametrize("names", [["dstemr"], ["dstemr", "dstevd"], ["dstevd"], ["dsterf"], ["dstebz", "dsterf"]])
def test_what_does_not_converge_is_found_otherwise(names, monkeypatch):
    A = KINDS["random"](80, np.random.default_rng(0))
    A = A + A.T
    w = np.linalg.eigvalsh(A)
    failing = Failing(tridiagonal.lapack(), names)
    monkeypatch.setattr(tridiagonal, "lapack", lambda: failing)
    T = Tridiagonal.of(A)
    for low, high in ((1, 2), (40, 30)):
        pairs, index = T.ends(low, high), np.r_[:low, 80 - high : 80]
        np.testing.assert_allclose(pairs.w, w[index], rtol=1e-12)
        np.testing.assert_allclose(A @ pairs.V, pairs.V * pairs.w, atol=1e-11)
        np.testing.assert_allclose(T.values(low, high), w[index], rtol=1e-12)
    np.testing.assert_allclose(T.extremes(), w[[0, -1]], rtol=1e-12)


def test_what_is_not_a_number_is_left_to_the_whole_decomposition():
    A = np.eye(tridiagonal.TRIDIAGONAL_FROM)
    assert isinstance(pairs_of(A), Tridiagonal)
    A[3, 4] = A[4, 3] = np.nan
    with patch.object(tridiagonal, "eigh", lambda A: (np.ones(len(A)), A)):
        assert isinstance(pairs_of(A), Pairs)
