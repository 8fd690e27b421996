"""What is said of rows is so, in fractions; and nothing is said of rows that are independent."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.problems.linear.dependence import PRIMES, dependence

exact = np.vectorize(Fraction, otypes=[object])


@given(seed=st.integers(0, 10**6))
def test_dropped_rows_are_exactly_what_it_says(seed):
    """Rows in any units, whose weights are fractions, some of them nearly dependent."""
    rng = np.random.default_rng(seed)
    rank, m, columns = int(rng.integers(1, 5)), int(rng.integers(5, 9)), int(rng.integers(5, 9))
    basis = rng.integers(-9, 10, (rank, columns)).astype(float)
    if rng.random() < 0.3 and rank > 1:
        basis[0] = basis[1] + 2.0**-40 * basis[0]
    mixed = rng.integers(-9, 10, (m, rank)) @ basis
    rows = mixed[rng.permutation(m)] * 2.0 ** rng.integers(-60, 60, m)[:, None]
    found = dependence(rows)
    assert found is not None
    assert len(found.kept) == len(found.places) == np.linalg.matrix_rank(mixed, tol=1e-14 * np.abs(mixed).max())
    whole = exact(rows) / exact(np.ldexp(1.0, found.exponents))[:, None]
    left = found.denominators[:, None] * whole[found.dropped]
    assert np.all(left == found.numerators.dot(whole[found.kept]))
    np.testing.assert_allclose(
        found.weights() @ rows[found.kept] - rows[found.dropped],
        0,
        atol=1e-9 * np.max(np.abs(found.weights()) @ np.abs(rows[found.kept]), initial=1e-300),
    )
    null = found.null_vectors()
    if null is not None:
        assert null.shape == (m, len(found.dropped))
        assert np.linalg.matrix_rank(null / np.abs(null).max(axis=1, initial=1e-300)[:, None]) == len(found.dropped)
        assert not np.any(exact(null).T.dot(exact(rows)))


def test_the_last_row_is_kept_only_where_it_is_no_combination():
    rows = np.array([[1.0, 2, 3], [0, 1, 1], [100, 300, 400]])
    assert list(np.sort(dependence(rows, last=1).kept)) == [0, 1]
    rows[2, 0] += 2.0**-30
    assert list(np.sort(dependence(rows, last=1).kept)) == [0, 1, 2]


def test_a_prime_that_divides_a_minor_says_nothing_wrong():
    p = float(PRIMES[0])
    rows = np.array([[1.0, 0], [0, p], [1, 1]])
    found = dependence(rows)
    assert len(found.kept) == 2
    rows = np.array([[1.0, 1], [1, 1 + p], [3, 3 + p]])  # one row, mod p
    assert len(dependence(rows).kept) == 2


def test_nearly_dependent_rows_are_independent():
    rows = np.array([[1.0, 2, 3], [1, 2, 3 + 2.0**-51]])
    assert len(dependence(rows).dropped) == 0


def test_nothing_is_said_of_weights_with_too_many_digits():
    """Weights are quotients of determinants of 40 random rows: thousands of digits."""
    rng = np.random.default_rng(0)
    rows = rng.integers(-(2**40), 2**40, (60, 50)).astype(float)
    assert dependence(rows) is None
