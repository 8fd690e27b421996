"""Rows that are copies or multiples of others are found, however their entries are stored."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.maps import DenseMap, ScaledMap, SparseMap
from matrixlearn.problems.linear.exact import multiples


@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), m=st.integers(1, 8))
def test_multiples_of_sparse_rows_are_those_of_dense_ones(seed, n, m):
    rng = np.random.default_rng(seed)
    G = rng.integers(-2, 3, (m, n, n)) * (rng.random((m, n, n)) < 0.4)
    A = (G + G.transpose(0, 2, 1)).astype(float)
    A = np.concatenate([A, A[rng.integers(0, m, 2)] * np.array([2.0, -0.5])[:, None, None], np.zeros((1, n, n))])
    rows = sp.csr_array(A.reshape(len(A), -1))
    for i in range(len(A)):  # in any order
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        order = rng.permutation(rows.indptr[i + 1] - rows.indptr[i])
        rows.indices[part], rows.data[part] = rows.indices[part][order], rows.data[part][order]
    rows.has_sorted_indices = False
    signs = rng.choice([-1.0, 1.0], len(A))

    def classes(family):
        return {frozenset((each.i, each.of, each.factor) for each in group) for group in multiples(family)}

    assert classes(SparseMap(rows, n)) == classes(DenseMap(A))
    assert classes(ScaledMap(SparseMap(rows, n), signs)) == classes(ScaledMap(DenseMap(A), signs))
