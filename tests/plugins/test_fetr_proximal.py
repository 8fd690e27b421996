"""The proximal gradient step, held to brute force, closed forms, cvxpy and the rivals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_fetr import FETR, LogisticFETR, ProximalGradient, joint_precisions
from matrixlearn_fetr.covariance import joint_prox, scalar_prox
from matrixlearn_fetr.engines import Alternating, FlipFlop, ProjectedGradient

import matrixlearn as ml
from matrixlearn.testing.strategies import random_instance

seeds = st.integers(0, 2**32 - 1)
sides = st.integers(1, 6)
bounds = st.sampled_from([(1e-3, 1e3), (0.1, 10.0), (1.0, 1.0), (2.0, 30.0)])


def problem(seed, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 6)) * 10.0 ** np.linspace(0, 1.5, 6)  # units that differ
    W = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 4))
    return FETR(X, X @ W + rng.standard_normal((60, 4)), **options)


def cost(V, T, weight, bounds):
    return np.sum((V - T) ** 2) / 2 + weight * joint_precisions(V, *bounds).best_penalty()


@given(st.floats(0, 50), st.floats(1e-6, 1e2), sides, sides, bounds)
def test_no_singular_value_is_cheaper_than_that_of_the_closed_form(v, weight, d, m, bounds):
    square = lambda s: np.array([[s]]) if d == m == 1 else np.pad([[s]], ((0, d - 1), (0, m - 1)))
    of = lambda s: (s - v) ** 2 / 2 + weight * joint_precisions(square(s), *bounds).best_penalty()
    found = of(float(scalar_prox(np.array([v]), weight, d, m, *bounds)[0]))
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 60, 300)])
    assert found <= min(map(of, grid)) + 1e-9 * (1 + abs(found) + weight * 1e2)


@given(seeds, st.floats(1e-3, 10), sides, sides, bounds)
def test_no_matrix_is_cheaper_than_that_of_the_closed_form(seed, weight, d, m, bounds):
    rng = np.random.default_rng(seed)
    T = 3 * rng.standard_normal((d, m))
    V = joint_prox(T, weight, *bounds)
    others = [V + size * rng.standard_normal((d, m)) for size in 10.0 ** np.arange(-4, 1)]
    others += [share * T for share in (0.0, 0.5, 1.0)]
    best = cost(V, T, weight, bounds)
    assert best <= min(cost(other, T, weight, bounds) for other in others) + 1e-9 * (1 + abs(best))


@given(seeds, st.sampled_from([FETR, LogisticFETR]))
def test_a_gradient_step_minimizes_a_majorizer(seed, kind):
    """loss(W + D) <= loss(W) + <gradient, D> + L ||D||^2 / 2, so that F is no higher after the step."""
    p = random_instance(kind, seed % 2**31)
    rng = np.random.default_rng(seed)
    W, D = rng.standard_normal((2, *p.shape))
    model = p.loss.value(W) - 2 * np.vdot(p.loss.residual(W), D) + p.loss.curvature * np.sum(D**2) / 2
    assert p.loss.value(W + D) <= model + 1e-9 * (1 + abs(model) + p.loss.size)
    point = rng.standard_normal(p.first_points()[0][0].shape)
    here, there = (p.objective_at(x, None) for x in (point, ProximalGradient()._from(p, point)))
    assert there <= here + 1e-9 * (abs(here) + p.scale)


def test_the_curvature_of_the_logistic_loss_is_that_at_zero():
    """A quarter of the largest eigenvalue of X^T X, where each margin is 0."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.choice([-1.0, 1.0], (30, 1))
    loss, top = LogisticFETR(X, y).loss, np.linalg.svd(X)[2][:1].T
    value = lambda t: loss.value(t * top)
    second = (value(1e-3) - 2 * value(0.0) + value(-1e-3)) / 1e-6
    assert second == pytest.approx(loss.curvature, rel=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_step_is_lengthened_as_long_as_it_pays(seed):
    p, engine = problem(seed, eta=10.0), ProximalGradient()
    here = p.bound_from_matrix(p.first_points()[0][0])
    once, twice = (p.objective_at(engine._from(p, here.point, k), None) for k in (1.0, 2.0))
    assert twice < once
    assert p.objective_at(engine._lengthened(p, here), None) <= twice


def test_where_the_precisions_are_fixed_it_ends_at_the_ridge_solution():
    p = problem(0, eta=3.0, lower=1.0, upper=1.0)
    ridge = np.linalg.solve(p.X.T @ p.X + 3.0 * np.eye(6), p.X.T @ p.Y)
    found = ml.solve(p, ProximalGradient(), tol=1e-12, max_iter=3000)
    np.testing.assert_allclose(found.matrix, ridge, rtol=1e-6)


@pytest.mark.parametrize("mean", ["zero", "shared"])
def test_cvxpy_improves_no_block_of_what_it_ends_at(mean):
    p = problem(3, eta=2.0, lower=0.1, upper=10.0, mean=mean)
    found = ml.solve(p, ProximalGradient(), tol=1e-9, max_iter=3000)
    assert found.status == "stationary"
    for block in p.block_references(found.matrix):
        assert block.solve(solver="CLARABEL") >= found.value - 1e-5 * p.scale


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("mean", ["zero", "shared"])
def test_it_is_as_low_as_the_rivals(seed, mean):
    p = problem(seed, eta=1.0, mean=mean)
    ours = ml.solve(p, ProximalGradient(), tol=1e-9, max_iter=1000).value
    rivals = [ml.solve(p, e, tol=1e-9, max_iter=200).value for e in (Alternating(), FlipFlop(), ProjectedGradient())]
    assert ours <= min(rivals) + 1e-6 * p.scale
