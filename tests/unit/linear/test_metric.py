"""Matrices moved onto rows in their own metric."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.metric import within_the_cone
from matrixlearn.problems.linear.proof import Proof


def nearly_on_the_boundary(rng, least):
    """(proof, X, interior) X > 0 with eigenvalues down to ``least`` misses the rows by a part of 1e-9."""
    n, m = 6, 5
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    X = (Q * np.array([1.0, 2, 1, least, 2 * least, least])) @ Q.T
    G = rng.standard_normal((m, n, n))
    A = G + G.transpose(0, 2, 1)
    b = np.einsum("jab,ab->j", A, X) + 1e-9 * rng.standard_normal(m)
    return Proof(rng.standard_normal((n, n)), DenseMap(A), b, np.ones(m, dtype=bool)), X


@given(seed=st.integers(0, 10**6), least=st.sampled_from([1e-11, 1e-12]))
def test_a_matrix_near_the_boundary_stays_within_the_cone(seed, least):
    """The smallest move leaves the cone by a part of 1e-10; in the metric of X small eigenvalues stay as they are."""
    proof, X = nearly_on_the_boundary(np.random.default_rng(seed), least)
    moved = proof.toward(X, None)
    assert proof.proves(moved)
    assert np.linalg.norm(moved - X) <= 1e-6
    assert np.linalg.eigvalsh(moved)[0] > 0.5 * least


def test_matrices_that_are_far_from_the_rows_stay():
    proof, X = nearly_on_the_boundary(np.random.default_rng(0), 1e-12)
    assert within_the_cone(proof.equalities, 2 * X) is None
