"""Projected gradient with a length for each block, held to closed forms and to the published lengths."""

import numpy as np
import pytest
from matrixlearn_fetr import FETR
from matrixlearn_fetr.engines import Alternating, ProjectedGradient, SpectralGradient

import matrixlearn as ml


def problem(seed, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 6)) * 10.0 ** np.linspace(0, 1.5, 6)  # units that differ
    W = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 4))
    return FETR(X, X @ W + rng.standard_normal((60, 4)), **options)


def test_where_the_precisions_are_fixed_it_ends_at_the_ridge_solution():
    p = problem(0, eta=3.0, lower=1.0, upper=1.0)
    ridge = np.linalg.solve(p.X.T @ p.X + 3.0 * np.eye(6), p.X.T @ p.Y)
    found = ml.solve(p, SpectralGradient(), tol=1e-12, max_iter=300)
    np.testing.assert_allclose(found.matrix, ridge, rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("mean", ["zero", "shared"])
def test_it_is_as_low_as_the_alternation_and_lower_than_one_length_for_all(seed, mean):
    p = problem(seed, eta=1.0, mean=mean)
    values = [
        ml.solve(p, e, tol=1e-9, max_iter=n).value
        for e, n in ((SpectralGradient(), 600), (ProjectedGradient(), 600), (Alternating(), 3000))
    ]
    assert values[0] <= values[2] + 1e-3 * p.scale
    assert values[0] < values[1]
