"""Multipliers in whole numbers near a point: what they prove is exact."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.digits import exact_farkas
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
