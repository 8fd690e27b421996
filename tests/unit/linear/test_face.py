"""V^T A V without rounding."""

from fractions import Fraction

import numpy as np
import pytest

from matrixlearn.problems.linear.face import exact_congruence


def in_fractions(A, V):
    exact = np.vectorize(Fraction, otypes=[object])
    return exact(V).T.dot(exact(A)).dot(exact(V))


@pytest.mark.parametrize("V", [np.eye(5), np.eye(5)[:, [3, 0]], np.eye(5)[:, [1, 1, 2]], np.zeros((5, 0))])
def test_columns_of_the_identity_take_rows_and_columns(V):
    A = np.random.default_rng(0).standard_normal((5, 5))
    found = exact_congruence(A, V)
    assert np.all(in_fractions(A, V) == found)
    found[:] = 0  # a copy
    assert np.all(A != 0)


@pytest.mark.parametrize("seed", range(20))
def test_small_whole_numbers_are_exact(seed):
    rng = np.random.default_rng(seed)
    A, V = rng.integers(-9, 10, (6, 6)) / 2.0 ** rng.integers(0, 9), rng.integers(-3, 4, (6, 4)) * 2.0**-3
    assert np.all(in_fractions(A, V) == exact_congruence(A, V))


def test_what_has_more_digits_than_floating_point_is_none():
    A = np.array([[1.0, 2.0**-30], [2.0**-30, 1.0]])
    assert exact_congruence(A, np.array([[1.0], [2.0**-40 + 1]])) is None
