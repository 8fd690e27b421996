"""Orthogonal random features: the kernel in the mean, the exact variance; the thin path of FETR behind them."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_fetr import FETR, OrthogonalFeatures
from scipy.special import hyp1f1
from sklearn.utils.estimator_checks import check_estimator

import matrixlearn as ml

seeds = st.integers(0, 2**31 - 1)


def test_it_is_a_transformer():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn names the checks that it skips
        check_estimator(OrthogonalFeatures(), on_fail="raise")


@given(seeds, st.integers(1, 6), st.integers(1, 8))
def test_frequencies_are_orthogonal_in_blocks_and_rows_have_norm_one(seed, d, half):
    X = np.random.default_rng(seed).standard_normal((4, d))
    features = OrthogonalFeatures(half, gamma=0.7, random_state=seed).fit(X)
    W = features.frequencies_
    assert W.shape == (d, half)
    for start in range(0, half, d):
        G = W[:, start : start + d].T @ W[:, start : start + d]
        np.testing.assert_allclose(G, np.diag(np.diag(G)), atol=1e-12 * G.max())
    Z = features.transform(X)
    np.testing.assert_allclose(np.sum(Z**2, axis=1), 1.0)
    assert len(features.get_feature_names_out()) == Z.shape[1] == 2 * half


def variance(d, half, t):
    """Of the estimate of exp(-t) by `half` frequencies in blocks of d (the module's docstring)."""
    sizes = np.array([min(d, half - start) for start in range(0, half, d)])
    within = float(np.sum(sizes * (sizes - 1)))
    plain = (1 - np.exp(-2 * t)) ** 2 / (2 * half)
    return plain + within / half**2 * (hyp1f1(d, d / 2, -t) - np.exp(-2 * t)), plain


@pytest.mark.parametrize(("d", "half"), [(1, 3), (2, 2), (4, 6), (8, 8), (8, 13)])
def test_unbiased_with_the_exact_variance_which_is_the_lower_one(d, half):
    """2,000 draws: the mean within 5 standard errors of the kernel, the variance within 20 % of the formula."""
    gamma, draws, rng = 0.5, 2000, np.random.default_rng(d)
    direction = rng.standard_normal(d)
    distances = np.array([0.5, 1.0, 1.6])
    X = np.vstack([np.zeros(d), distances[:, None] * direction / np.linalg.norm(direction)])
    estimates = np.empty((draws, len(distances)))
    for k in range(draws):
        W = OrthogonalFeatures(half, gamma=gamma, random_state=rng.integers(2**31)).fit(X).frequencies_
        estimates[k] = np.cos(X[1:] @ W).mean(axis=1)  # z(0) z(x)
    for j, r in enumerate(distances):
        t = gamma * r * r
        exact, plain = variance(d, half, t)
        assert abs(estimates[:, j].mean() - np.exp(-t)) < 5 * np.sqrt(exact / draws)
        assert estimates[:, j].var() == pytest.approx(exact, rel=0.2)
        assert exact <= plain * (1 + 1e-12)
        if d > 1:
            assert exact < 0.9 * plain


@pytest.mark.parametrize("bad", [0, -2, 2.0, "many"])
def test_the_number_of_frequencies_is_checked(bad):
    with pytest.raises(ValueError, match="n_frequencies must be a whole number"):
        OrthogonalFeatures(bad).fit(np.eye(3))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "auto"])
def test_gamma_is_checked(bad):
    with pytest.raises(ValueError, match="gamma must be a positive number"):
        OrthogonalFeatures(gamma=bad).fit(np.eye(3))


def test_gamma_by_scale_and_for_constant_data():
    X = np.random.default_rng(0).standard_normal((30, 4)) * 5
    assert OrthogonalFeatures().fit(X).gamma_ == pytest.approx(1 / (4 * X.var()))
    assert OrthogonalFeatures().fit(np.ones((3, 2))).gamma_ == 1.0


def test_same_seed_same_features():
    X = np.eye(3)
    a, b = (OrthogonalFeatures(5, random_state=3).fit_transform(X) for _ in range(2))
    np.testing.assert_allclose(a, b, atol=1e-13)


def test_fetr_behind_many_features_decomposes_the_gram_matrix_once(monkeypatch):
    """S1 stays thin, and no iteration costs a decomposition of order d."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    Y = np.sin(X @ rng.standard_normal((4, 3))) + 0.1 * rng.standard_normal((150, 3))
    Z = OrthogonalFeatures(100, gamma=0.2, random_state=0).fit_transform(X)
    calls, eigh = [], np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda A: (calls.append(A.shape[-1]), eigh(A))[1])
    problem = FETR(Z, Y, eta=1e-2, lower=0.01, upper=100.0)
    solution = ml.solve(problem, tol=1e-10)
    assert solution.status == "stationary" and solution.iterations >= 3
    assert calls.count(200) == 1
    found = problem.estimate(solution)
    assert found.feature_precision.vectors.shape[1] <= 3
    residuals = Y - Z @ found.weights
    gradient = -Z.T @ residuals + 1e-2 * (found.feature_precision @ found.weights @ found.task_precision)
    assert np.linalg.norm(gradient) < 1e-3 * np.linalg.norm(Z.T @ residuals)
