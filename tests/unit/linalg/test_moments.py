"""What interior methods ask of the linear algebra: moments, compressions, inverses from factors, Schur systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.engines.schur import SchurSystem
from matrixlearn.linalg import cholesky, inverse_factor, inverse_from
from matrixlearn.linalg.constraints import DenseFamily, RankOneFamily


def normal(rng, shape, imaginary):
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if imaginary else 0)


def families(rng, m, n, imaginary):
    P, G = normal(rng, (m, n), imaginary), normal(rng, (m, n, n), imaginary)
    return [RankOneFamily(P), DenseFamily(G + np.conj(np.swapaxes(G, 1, 2)))]


SIZE = st.integers(1, 6)


@given(seed=st.integers(0, 10**6), m=SIZE, n=SIZE, imaginary=st.booleans(), same=st.booleans())
def test_moments_are_those_of_the_definition(seed, m, n, imaginary, same):
    rng = np.random.default_rng(seed)
    U, V = (G @ G.conj().T for G in (normal(rng, (n, n), imaginary) for _ in range(2)))
    V = U if same else V
    for family in families(rng, m, n, imaginary):
        A = [family.matrix(j) for j in range(m)]
        moments = family.moments(U, V)
        size = 1e-10 * (1 + max(np.abs(a).max() for a in A)) ** 2 * (1 + np.abs(U).max()) * (1 + np.abs(V).max()) * n**3
        np.testing.assert_allclose(moments.single, [np.trace(a @ U).real for a in A], atol=size)
        np.testing.assert_allclose(moments.product, [np.trace(a @ (U @ V + V @ U)).real / 2 for a in A], atol=size)
        np.testing.assert_allclose(moments.second, [[np.trace(a @ U @ b @ V).real for b in A] for a in A], atol=size)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), r=st.integers(1, 4), imaginary=st.booleans())
def test_compressions_are_those_of_the_definition(seed, n, r, imaginary):
    rng = np.random.default_rng(seed)
    V = normal(rng, (n, r), imaginary)
    for family in families(rng, 3, n, imaginary):
        small = family.compressed(V)
        for j in range(3):
            wanted = V.conj().T @ family.matrix(j) @ V
            np.testing.assert_allclose(small.matrix(j), wanted, atol=1e-10 * (1 + np.abs(wanted).max()))


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("n", [1, 2, 7, 70])
def test_the_inverse_from_a_factor(n, imaginary):
    rng = np.random.default_rng(n)
    G = normal(rng, (n, n), imaginary)
    S = G @ G.conj().T + np.eye(n)
    U = inverse_from(inverse_factor(cholesky(S)))
    np.testing.assert_allclose(U @ S, np.eye(n), atol=1e-10 * np.linalg.cond(S))
    np.testing.assert_array_equal(U, U.conj().T)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), spread=st.sampled_from([0.0, 4.0, 8.0]))
def test_schur_systems_in_any_units(seed, n, spread):
    """M x + theta w = b, w.x = k: both equations hold, whatever the units of the variables."""
    rng = np.random.default_rng(seed)
    G, units = rng.standard_normal((n, n)), 10.0 ** rng.uniform(-spread, spread, n)
    M = (G @ G.T + np.eye(n)) * np.outer(units, units)
    b, row = rng.standard_normal(n) * units, rng.uniform(0.5, 2, n)
    system = SchurSystem.of(M)
    np.testing.assert_allclose((M @ system.solve(b) - b) / units, 0, atol=1e-9)
    x, theta = system.solve_on_row(b, row, 3.0)
    assert row @ x == pytest.approx(3.0, rel=1e-9, abs=1e-14 * (row @ np.abs(x)))  # the terms may cancel
    size = 1 + np.abs(theta * row / units).max()
    np.testing.assert_allclose((M @ x + theta * row - b) / units, 0, atol=1e-8 * size)


def test_a_singular_schur_matrix_is_helped_by_a_ridge_and_an_indefinite_one_refused():
    x = np.array([1.0, 2.0, 3.0])
    assert SchurSystem.of(np.outer(x, x)) is not None
    assert SchurSystem.of(np.diag([1.0, -1.0])) is None
    assert SchurSystem.of(np.full((2, 2), np.nan)) is None
