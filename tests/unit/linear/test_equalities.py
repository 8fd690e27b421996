"""How far from X a matrix is that meets equalities, also of rows that depend on each other nearly."""

from fractions import Fraction

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.equalities import Equalities


def nearly_dependent(seed, e, n=4):
    """(rows, X, C) of I, B, B', B + e B'', B + B' + e B''', X > 0."""
    rng = np.random.default_rng(seed)

    def drawn():
        G = rng.standard_normal((n, n))
        return (G + G.T) / 2

    rows = [np.eye(n), drawn(), drawn()]
    rows += [rows[1] + e * drawn(), rows[1] + rows[2] + e * drawn()]
    X = drawn()
    return np.array(rows), X @ X + 0.1 * np.eye(n), drawn()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("e", [1e-7, 1e-10])
def test_rows_that_depend_on_each_other_nearly_prove_a_bound(seed, e):
    """X meets the rows to rounding, and a feasible matrix is next to it; no bound was proved from 1e-7 on."""
    rows, X, C = nearly_dependent(seed, e)
    b = np.sum(rows * X, axis=(1, 2))
    certificate = ml.certify(ml.LinearSDP.with_senses(C, rows, b, "=="), X=X, y=np.zeros(5))
    assert certificate.lower == pytest.approx(np.sum(C * X), abs=1e-4)
    assert Equalities.of(DenseMap(rows), b).sigma > 1e-3


@pytest.mark.parametrize("e", [2.0**-25, 2.0**-33, 2.0**-41])
def test_what_a_matrix_misses_by_little_is_far_where_rows_depend_on_each_other(e):
    """X_00 + X_11 = 1 and X_00 + (1 + e) X_11 = 1 + e t: X_11 = t, however little another X_11 misses the rows by."""
    rows, t = np.array([np.diag([1.0, 1.0]), np.diag([1.0, 1 + e])]), 0.25
    b = np.array([1.0, 1 + e * t])
    assert Fraction(b[1]) == 1 + Fraction(e) * Fraction(t)
    for wrong in (0.25 + 1e-3, 0.75):
        X = np.diag([1 - wrong, wrong])
        distance = np.sqrt(2) * abs(wrong - t)
        assert Equalities.of(DenseMap(rows), b).delta(X) >= distance * (1 - 1e-12)
        certificate = ml.certify(ml.LinearSDP.with_senses(np.diag([0.0, 1.0]), rows, b, "=="), X=X, y=[0.0, 0.0])
        assert certificate.lower <= t
    right = ml.certify(
        ml.LinearSDP.with_senses(np.diag([0.0, 1.0]), rows, b, "=="), X=np.diag([0.75, 0.25]), y=[0.0, 0]
    )
    assert right.lower == pytest.approx(t)
