"""What interior methods ask of the linear algebra: moments, compressions, inverses from factors, Schur systems."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.engines.schur import BorderedSystem, SchurSystem, SpannedSystem
from matrixlearn.linalg import cholesky, inverse_factor, inverse_from
from matrixlearn.maps import Basis, DenseMap, RankOneMap, ScaledMap, SparseMap


def normal(rng, shape, imaginary):
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if imaginary else 0)


def families(rng, m, n, imaginary):
    P, G = normal(rng, (m, n), imaginary), normal(rng, (m, n, n), imaginary)
    found = [RankOneMap(P), DenseMap(G + np.conj(np.swapaxes(G, 1, 2)))]
    return [*found, *(ScaledMap(family, rng.choice([-1.0, 1.0], m)) for family in found)]


SIZE = st.integers(1, 6)


@given(seed=st.integers(0, 10**6), m=SIZE, n=SIZE, imaginary=st.booleans(), same=st.booleans())
def test_moments_are_those_of_the_definition(seed, m, n, imaginary, same):
    rng = np.random.default_rng(seed)
    U, V = (G @ G.conj().T for G in (normal(rng, (n, n), imaginary) for _ in range(2)))
    V = U if same else V
    for family in families(rng, m, n, imaginary):
        A = [family.matrix(j) for j in range(m)]
        moments = family.newton_terms(U, V)
        size = 1e-10 * (1 + max(np.abs(a).max() for a in A)) ** 2 * (1 + np.abs(U).max()) * (1 + np.abs(V).max()) * n**3
        np.testing.assert_allclose(moments.single, [np.trace(a @ U).real for a in A], atol=size)
        np.testing.assert_allclose(moments.product, [np.trace(a @ (U @ V + V @ U)).real / 2 for a in A], atol=size)
        np.testing.assert_allclose(moments.second, [[np.trace(a @ U @ b @ V).real for b in A] for a in A], atol=size)
        y, t = rng.standard_normal(m), rng.standard_normal()
        D = t * np.eye(n) + sum(yj * a for yj, a in zip(y, A, strict=True))
        np.testing.assert_allclose(moments.times_V(t, y, D), D @ V, atol=size)
        np.testing.assert_allclose(moments.between(t, y, D), U @ D @ V, atol=size)


@pytest.mark.parametrize("imaginary", [False, True])
def test_sparse_schur_both_ways(imaginary, monkeypatch):
    """Members of many entries by products, of few entry by entry, in more than one tile."""
    import matrixlearn.maps.sparse as module

    rng = np.random.default_rng(int(imaginary))
    n, m = 30, 60
    A = normal(rng, (m, n, n), imaginary)
    A = A + A.conj().transpose(0, 2, 1)
    A[np.abs(A) < np.where(np.arange(m) % 3, 4.0, 1.0)[:, None, None]] = 0
    A[7] = 0
    family = SparseMap(sp.csr_array(A.reshape(m, n * n)), n)
    U, V = (G @ G.conj().T for G in (normal(rng, (n, n), imaginary) for _ in range(2)))
    wanted = np.einsum("iab,bc,jcd,da->ij", A, U, A, V, optimize=True).real
    for pair, tile in ((0.0, 256), (module.PAIR, 256), (1e9, 256), (0.0, 50), (0.0, 1)):
        monkeypatch.setattr(module, "PAIR", pair)
        monkeypatch.setattr(module, "TILE", tile)
        fresh = SparseMap(family.rows, n)
        assert (len(fresh._few) == m) == (pair == 0)
        np.testing.assert_allclose(fresh.schur(U, V), wanted, atol=1e-12 * np.abs(wanted).max())
    np.testing.assert_allclose(family.norms, np.abs(A).sum(axis=1).max(axis=1), rtol=1e-14)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), r=st.integers(1, 4), imaginary=st.booleans())
def test_compressions_are_those_of_the_definition(seed, n, r, imaginary):
    rng = np.random.default_rng(seed)
    V = normal(rng, (n, r), imaginary)
    for family in families(rng, 3, n, imaginary)[:2]:
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
    x, theta = BorderedSystem.of(system, row, 0.0).solve(b, 3.0)
    assert row @ x == pytest.approx(3.0, rel=1e-9, abs=1e-14 * (row @ np.abs(x)))  # the terms may cancel
    size = 1 + np.abs(theta * row / units).max()
    np.testing.assert_allclose((M @ x + theta * row - b) / units, 0, atol=1e-8 * size)


def test_a_singular_schur_matrix_is_helped_by_a_ridge_and_an_indefinite_one_refused():
    x = np.array([1.0, 2.0, 3.0])
    assert SchurSystem.of(np.outer(x, x)) is not None
    assert SchurSystem.of(np.diag([1.0, -1.0])) is None
    assert SchurSystem.of(np.full((2, 2), np.nan)) is None


@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), spread=st.sampled_from([0.0, 3.0, 6.0]), row=st.booleans())
def test_a_system_in_few_coordinates_is_the_dense_one(seed, n, spread, row):
    """The Newton direction by either way, for multipliers d from active to inactive."""
    rng = np.random.default_rng(seed)
    k = n * (n + 1) // 2
    m = 3 * k + int(rng.integers(1, 10))
    E, G = rng.standard_normal((m, k)), rng.standard_normal((k + 1, k + 1))
    core, d = G @ G.T + 0.1 * np.eye(k + 1), 10.0 ** rng.uniform(-spread, spread, m)
    whole = np.zeros((m + 1, k + 1))
    whole[:m, :k], whole[m, k] = E, 1.0
    M = whole @ core @ whole.T + np.diag(np.append(d, 0.0))
    few, dense = SpannedSystem.of(core, d, Basis(E)), SchurSystem.of(M)
    x, w = rng.standard_normal(m + 1), np.append(rng.uniform(0.5, 2, m), 0.0)
    np.testing.assert_allclose(few.product(x), M @ x, atol=1e-12 * np.abs(M).sum(axis=1).max())
    for system in (few, dense):
        b = M @ x + 0.7 * w if row else M @ x
        found, theta = BorderedSystem.of(system, w, 0.0).solve(b, float(w @ x)) if row else (system.solve(b), 0.7)
        assert theta == pytest.approx(0.7, abs=1e-6 * (1 + np.abs(b).max()))
        np.testing.assert_allclose(M @ found + (theta * w if row else 0), b, atol=1e-9 * (1 + np.abs(b).max()))


@pytest.mark.parametrize("rank_one", [True, False])
def test_many_members_are_moments_in_the_coordinates_of_a_basis(rank_one):
    rng = np.random.default_rng(0)
    n, m = 4, 260
    P = rng.standard_normal((m, n)) * np.array([1.0, 1.0, 1.0, 0.0])  # one coordinate that no member uses
    A = np.einsum("ja,jb->jab", P, P) + (0 if rank_one else np.einsum("j,ab->jab", P[:, 0], np.diag([1.0, 2, 3, 0])))
    family = RankOneMap(P) if rank_one else DenseMap(A)
    U, V = (G @ G.T for G in rng.standard_normal((2, n, n)))
    for member, sign in (
        (family, np.ones(m)),
        (ScaledMap(family, np.tile([1.0, -1.0], m // 2)), None),
    ):
        sign = member.factors if sign is None else sign
        moments = member.newton_terms(U, V)
        assert isinstance(moments.span, Basis) and moments.span.coordinates.shape == (m, 6)
        E, wanted = moments.span.coordinates, family.schur(U, V) * np.outer(sign, sign)
        np.testing.assert_allclose(E @ moments.second @ E.T, wanted, atol=1e-11 * np.abs(wanted).max())
        np.testing.assert_allclose(moments.span.spread(moments.single), sign * family.adjoint(U), atol=1e-10)
        halves = moments.span.scaled(np.full(m, 0.5))
        np.testing.assert_allclose(halves.summed(sign), E.T @ sign / 2, atol=1e-10)


def test_many_rows_and_few_dimensions_end_to_end():
    """Plain interior point and the one in coordinates, by column generation's certified bounds as the judge."""
    import matrixlearn as ml

    rng = np.random.default_rng(1)
    G, P = rng.standard_normal((300, 5, 5)), rng.standard_normal((300, 5))
    C = G[0] + G[0].T
    for A in (G + G.transpose(0, 2, 1), P):
        for b in (rng.uniform(0.5, 1, 300), np.append(-1e-3, rng.uniform(0.5, 1, 299))):  # the latter by phase one
            program = ml.LinearSDP(C, A, b, 10.0)
            ours, judge = (ml.solve(program, method, tol=1e-8) for method in ("interior-point", "column-generation"))
            assert ours.status == judge.status
            if ours.status == "optimal":
                assert ours.lower <= judge.upper and judge.lower <= ours.upper


def test_a_thousand_points_in_few_dimensions():
    """N is far larger than K^{-1} here: B' must not come from a difference."""
    from matrixlearn_discrepancy import Discrepancy

    import matrixlearn as ml

    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((2000, 5)) + 0.5, rng.standard_normal((300, 5)))
    assert ml.solve(problem, "interior-point", tol=1e-6).status == "optimal"
