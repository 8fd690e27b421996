"""Rank-one matrices of rows on machines: the map of the rows as they are, to rounding."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.machines import Local, Shards, SpreadMap, spread
from matrixlearn.maps import RankOneMap

seeds = st.integers(0, 2**31 - 2)


@given(seeds, st.sampled_from([1, 3, 8192]), st.booleans())
def test_it_is_the_map_of_all_rows(seed, together, sparse):
    rng = np.random.default_rng(seed)
    sizes, n = rng.integers(1, 6, rng.integers(1, 5)), int(rng.integers(1, 5))
    P = rng.standard_normal((int(sizes.sum()), n))
    parts = np.split(P, np.cumsum(sizes)[:-1])
    shards = Shards.loaded(lambda i: sp.csr_array(parts[i]) if sparse else parts[i], range(len(sizes)))
    held, whole = Local().hold(shards), RankOneMap(P)
    before, spread.ROWS = spread.ROWS, together
    try:
        family = SpreadMap(held)
        m = len(P)
        assert family.shape == whole.shape
        y = rng.standard_normal(m) * (rng.random(m) < 0.7)
        for weights in (y, np.abs(y)):
            np.testing.assert_allclose(family.apply(weights), whole.apply(weights), atol=1e-12)
        X = rng.standard_normal((n, n))
        X += X.T
        np.testing.assert_allclose(family.adjoint(X), whole.adjoint(X), atol=1e-12)
        np.testing.assert_allclose(np.vdot(family.apply(y), X), y @ family.adjoint(X), atol=1e-11)
        np.testing.assert_allclose(family.norms, whole.norms)
        index = rng.permutation(m)[: rng.integers(1, m + 1)]
        np.testing.assert_array_equal(family.at(index).P, P[index])
        np.testing.assert_allclose(family.matrix(int(index[0])), whole.matrix(int(index[0])))
    finally:
        spread.ROWS = before


def test_the_ledger_counts_matrices_and_prices_and_rows_that_come():
    held = Local().hold(Shards.loaded(lambda i: np.ones((4, 3)), range(2)))
    family = SpreadMap(held)
    ledger = held.opened(3)
    family.apply(np.ones(8))
    assert (ledger.down, ledger.up, ledger.rounds) == (8, 2 * 9, 1)
    family.adjoint(np.eye(3))
    assert (ledger.down, ledger.up, ledger.rounds) == (8 + 2 * 9, 2 * 9 + 8, 2)
    family.at(np.array([1, 6]))
    assert ledger.up == 2 * 9 + 8 + 2 * 3
