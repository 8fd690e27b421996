"""Multipliers in whole numbers near a point: what they prove is exact."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.digits import exact_farkas, exact_ray, proved_ray
from matrixlearn.problems.linear.face import exact_inner
from matrixlearn.problems.linear.proof import Proof


def contradicting(rng, short):
    """(rows, z): A(z) = V V' of any rank, b.z = -short, and a positive definite matrix that misses the rows by that."""
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    G = rng.integers(-3, 4, (m, n, n)).astype(float)
    z = rng.integers(-2, 3, m).astype(float)
    V = rng.integers(-1, 2, (n, int(rng.integers(0, n)))).astype(float)
    A = np.concatenate([G + G.transpose(0, 2, 1), np.zeros((1, n, n))])
    A[-1] = V @ V.T - np.tensordot(z, A[:-1], axes=1)
    b = rng.integers(-3, 4, m).astype(float)
    b = np.append(b, -short - z @ b)
    return Proof(np.eye(n), DenseMap(A), b, np.ones(m + 1, dtype=bool)), np.append(z, 1.0)


@given(seed=st.integers(0, 10**6), k=st.integers(0, 40), far=st.sampled_from([1e4, 1e8]))
def test_rows_that_contradict_each_other_by_little(seed, k, far):
    """Far along z, a y with b.y > 0 is near a z that proves it."""
    rng = np.random.default_rng(seed)
    rows, z = contradicting(rng, 2.0**-k)
    found = exact_farkas(rows, far * z + rng.standard_normal(len(z)))
    assert found is not None
    assert exact_inner(rows.b, found) < 0
    assert np.linalg.eigvalsh(rows.family.apply(found))[0] >= -1e-12 * np.abs(found).max()


@given(seed=st.integers(0, 10**6), far=st.sampled_from([0.0, 1.0, 1e4, 1e8]))
def test_rows_that_a_matrix_meets_are_contradicted_by_no_multipliers(seed, far):
    """b.z = <X, A(z)> >= 0 for the X = V V' that meets them, be it singular."""
    rng = np.random.default_rng(seed)
    rows, z = contradicting(rng, 1.0)
    V = rng.integers(-2, 3, (len(rows.C), int(rng.integers(1, 3)))).astype(float)
    met = Proof(rows.C, rows.family, rows.family.adjoint(V @ V.T), rows.equal)
    assert exact_farkas(met, far * z + rng.standard_normal(len(z))) is None


def test_a_ray_on_the_boundary_that_is_no_small_whole_matrix():
    """<A, X> = 0 for X = v v^T, v = (21, 7, 15): no v v^T / max of few digits is one, the range of X is."""
    v = np.array([21.0, 7, 15])
    A = np.outer([1.0, -3, 0], [1.0, -3, 0]) + np.outer([0, 15.0, -7], [0, 15.0, -7])
    proof = Proof(np.diag([1.0, 0, 0]), DenseMap(A[None]), np.zeros(1), np.ones(1, dtype=bool))
    noise = np.random.default_rng(0).standard_normal((3, 3))
    X = np.outer(v, v) + 1e-7 * (noise + noise.T)
    assert exact_ray(proof, X) is None
    ray = proved_ray(proof, X)
    assert ray is not None
    assert np.allclose(ray / ray[0, 0], np.outer(v, v) / v[0] ** 2, atol=1e-8)
    assert proved_ray(proof, ray) is not None
