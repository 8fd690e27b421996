"""Proofs of matrices in blocks: each block is factorized by itself."""

import numpy as np
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.linalg.verified import diagonal_blocks, is_definite, least_eigenvalue

orders = st.lists(st.integers(1, 60), min_size=1, max_size=6)


def matrices(seed, sizes, rank_lost=0):
    """Positive semidefinite blocks, whole numbers; the last is singular where a rank is lost."""
    rng = np.random.default_rng(seed)
    blocks = []
    for k, n in enumerate(sizes):
        G = rng.integers(-3, 4, (n, n + 2 if k < len(sizes) - 1 else max(n - rank_lost, 1))).astype(float)
        blocks.append(G @ G.T)
    return blocks


@given(st.integers(0, 10**6), orders)
def test_blocks_hold_all_entries_and_join_no_two_that_are_large(seed, sizes):
    F = scipy.linalg.block_diag(*matrices(seed, sizes))
    blocks, left = diagonal_blocks(F), F.copy()
    for block in blocks:
        left[block, block] = 0
    assert not left.any()
    assert [block.start for block in blocks[1:]] == [block.stop for block in blocks[:-1]]
    assert blocks[0].start == 0 and blocks[-1].stop == len(F)
    if min(sizes) >= 32:
        assert len(blocks) == len(sizes)


@given(st.integers(0, 10**6), orders)
def test_no_singular_block_is_proved_definite(seed, sizes):
    blocks = matrices(seed, sizes, rank_lost=1)
    F = scipy.linalg.block_diag(*blocks)
    if sizes[-1] > 1:
        assert not is_definite(F, 1e-13 * np.trace(F))
        assert least_eigenvalue(F) <= 0
    lifted = F + np.trace(F) * 1e-9 * np.eye(len(F))
    assert is_definite(lifted)
    low = least_eigenvalue(lifted)
    assert low <= np.trace(F) * (1e-9 + 1e-13) if sizes[-1] > 1 else low >= 0


def test_an_entry_far_off_joins_blocks():
    F = 4 * np.eye(128)
    assert len(diagonal_blocks(F)) == 4
    F[0, 127] = F[127, 0] = 5.0
    assert len(diagonal_blocks(F)) == 1
    assert not is_definite(F)
    assert len(diagonal_blocks(np.eye(128), F)) == 1
