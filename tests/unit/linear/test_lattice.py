"""Short whole-number combinations of rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.lattice import shortened


def mixed(rng, k, e):
    """(family, right, rows) of U (B_0, e B_1, ..., e B_{k-1}), U of determinant 1, diagonal matrices."""
    n = k + 2
    B = rng.integers(-3, 4, (k, n)).astype(float)
    U = np.tril(rng.integers(-2, 3, (k, k)), -1) + np.eye(k)
    rows = U @ (np.append(1.0, np.full(k - 1, e))[:, None] * B)
    return DenseMap(np.stack([np.diag(row) for row in rows])), rows @ np.ones(n), rows


def exactly(left, right, whole):
    """Whether left right = whole, as fractions."""
    return all(
        sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, column, strict=True))
        == Fraction(float(whole[i, j]))
        for i, row in enumerate(left)
        for j, column in enumerate(right.T)
    )


@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), exponent=st.integers(20, 40))
def test_the_rows_say_the_same_and_do_not_depend_on_each_other_nearly(seed, k, exponent):
    family, right, rows = mixed(np.random.default_rng(seed), k, 2.0**-exponent)
    found = shortened(family, right)
    if found is None:  # nothing could be shortened: rows that are 0, or orthogonal
        assert np.linalg.matrix_rank(rows) < k or np.linalg.cond(rows / np.linalg.norm(rows, axis=1)[:, None]) < 1e3
        return
    Z = np.stack([np.diag(found.family.matrix(j)) for j in range(len(found.right))])
    assert found.rounding == 0
    assert exactly(found.M, Z, rows) and exactly(found.U, rows, Z)
    assert exactly(found.M, found.right[:, None], right[:, None])
    assert np.linalg.cond(Z / np.linalg.norm(Z, axis=1)[:, None]) < 1e3


def test_multipliers_go_over():
    family, right, _ = mixed(np.random.default_rng(1), 4, 2.0**-30)
    found = shortened(family, right)
    z = np.array([1.0, -2.0, 3.0, 0.5])[: len(found.right)]
    assert found.lowered(found.lifted(z)) == pytest.approx(z, abs=1e-5)


def test_rows_that_contradict_each_other_have_no_short_form():
    A = np.diag([1.0, 2, 3])
    assert shortened(DenseMap(np.stack([A, A])), np.array([1.0, 2.0])) is None


def test_multipliers_that_are_0_stay_so():
    family, right, _ = mixed(np.random.default_rng(1), 4, 2.0**-30)
    found = shortened(family, right)
    for k in range(len(found.right)):
        z = np.eye(len(found.right))[k]
        assert np.isfinite(found.lifted(z)).all()
        assert found.lowered(found.lifted(z)) == pytest.approx(z, abs=1e-5)
    assert not np.any(found.lifted(0 * z))
