"""Generalized discrepancy: the judge's optimum, the bounds, the trust region in closed form."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matrixlearn_discrepancy import GeneralizedDiscrepancy
from sklearn.linear_model import Ridge

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.testing import check_problem

seeds = st.integers(0, 2**32 - 1)


def test_the_laws_of_the_kit():
    check_problem(GeneralizedDiscrepancy, max_examples=3)


@settings(max_examples=10)
@given(seed=seeds)
def test_the_optimum_is_that_of_cvxpy(seed):
    problem = GeneralizedDiscrepancy.random(np.random.default_rng(seed))
    solution = ml.solve(problem, tol=1e-5)
    judge = problem.reference()
    judge.solve(solver="CLARABEL")
    assert solution.status is ml.Status.OPTIMAL
    assert solution.value == pytest.approx(judge.value, rel=1e-4, abs=1e-7)
    assert solution.lower <= judge.value * (1 + 1e-5) + 1e-8 and solution.certificate.verify()


@settings(max_examples=20)
@given(seed=seeds)
def test_every_point_and_all_moments_bound_each_other(seed):
    rng = np.random.default_rng(seed)
    problem = GeneralizedDiscrepancy.random(rng)
    r = problem.X_source.shape[1]
    root = rng.standard_normal((r + 1, r + 1))
    lower = problem.bound_from_matrix(root @ root.T).lower
    assert lower <= problem.bound_from_vector(rng.standard_normal(r)).upper


@settings(max_examples=20)
@given(seed=seeds)
@example(seed=3752)  # t of 0 and 1e-17
@example(seed=1472)
def test_the_distances_are_those_of_many_points_of_the_ball(seed):
    rng = np.random.default_rng(seed)
    ball = GeneralizedDiscrepancy.random(rng).ball
    r = len(ball.t)
    s = rng.standard_normal(r) * ball.rho * rng.uniform(0, 3)
    a = rng.standard_normal((4000, r))
    a *= ball.rho * rng.random((4000, 1)) ** (1 / r) / np.linalg.norm(a, axis=1, keepdims=True)
    a = np.concatenate([a, ball.rho * a / np.linalg.norm(a, axis=1, keepdims=True)])
    distance = (s - a) ** 2 @ ball.t
    largest, nearest = ball.largest(s), ball.nearest(s)
    assert np.max(distance) <= largest * (1 + 1e-9)
    assert np.max(distance) >= 0.7 * largest
    assert np.linalg.norm(nearest) <= ball.rho * (1 + 1e-12) or nearest is s
    assert ball.t @ (s - nearest) ** 2 <= np.min(distance) * (1 + 1e-9) + 1e-15


def test_without_a_ridge_of_its_own_it_is_the_weighted_ridge_regression():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((40, 3)), rng.standard_normal((30, 3)) + 0.5
    y, q = X @ [1.0, -1.0, 0.5] + rng.standard_normal(40), rng.dirichlet(np.ones(40))
    problem = GeneralizedDiscrepancy(X, T, y, q, regularization=1e-9, surrogate_regularization=0.2)
    ridge = Ridge(alpha=0.2, fit_intercept=False).fit(X, y, sample_weight=q)
    np.testing.assert_allclose(ml.solve(problem, tol=1e-6).y, ridge.coef_, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": [0.5, 0.6]}, "weights must be >= 0 and sum to one"),
        ({"radius": 0.0}, "radius must be positive"),
        ({"X_target": [[1.0, 2.0]]}, "must have the same features"),
    ],
)
def test_wrong_arguments_are_named(change, words):
    given = {"X_source": [[1.0], [2.0]], "X_target": [[1.0]], "y_source": [1.0, 2.0], **change}
    with pytest.raises(ProblemError, match=words):
        GeneralizedDiscrepancy(**given)
