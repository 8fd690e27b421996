"""What makes a path of FETR problems quick: shared data, bounds without a solve, a looser gap on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_fetr import FETR, FETRClassifierCV, FETRRegressorCV, LogisticFETR

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from([FETR, LogisticFETR])


@given(seeds, kinds)
def test_another_prior_on_the_same_data_is_a_problem_of_its_own(seed, kind):
    problem = kind.random(np.random.default_rng(seed))
    before = ml.solve(problem, tol=1e-4), problem.scale, problem.floor  # with all that is cached
    prior = {"eta": 0.7, "lower": 0.3, "upper": 4.0, "mean": "shared"}
    other, fresh = problem.with_prior(**prior), kind(**{**problem.parameters(), **prior})
    assert other.loss is problem.loss
    assert (other.scale, other.floor) == pytest.approx((fresh.scale, fresh.floor), rel=1e-12)
    atol = 1e-6 * other.scale
    assert ml.solve(other, tol=1e-6).value == pytest.approx(ml.solve(fresh, tol=1e-6).value, rel=1e-6, abs=atol)
    assert (problem.scale, problem.floor) == before[1:]
    atol = 1e-4 * problem.scale
    assert ml.solve(problem, tol=1e-4).value == pytest.approx(before[0].value, rel=1e-4, abs=atol)
    for wrong, says in (({"eta": 0.0}, "eta must be"), ({"upper": 0.1}, "upper must be"), ({"X": 0}, "got 'X'")):
        with pytest.raises(ProblemError, match=says):
            problem.with_prior(**{"lower": 0.3, **wrong})


@given(seeds, kinds, st.booleans())
def test_a_bound_without_a_solve_is_one(seed, kind, near):
    """What a gradient allows is at least what steps gain, far from the optimum and at it."""
    rng = np.random.default_rng(seed)
    problem = kind.random(rng)
    point = rng.standard_normal(problem.first_points()[0][0].shape)
    if near:
        point = ml.solve(problem, tol=1e-3).matrix
    found = problem.estimate(point)
    prior = problem._prior(found.precisions)
    W, gained = found.weights, 0.0
    most = problem.loss.left(W, prior)
    for _ in range(4):
        D, achieved, _ = problem.loss.step(W, prior)
        W, gained = W + D, gained + achieved
    assert gained <= most + 1e-9 * (problem.scale + most)
    bound = problem.bound_from_matrix(point)
    assert bound.lower <= bound.upper - gained + 1e-9 * (problem.scale + most)


@pytest.mark.parametrize(("kind", "near"), [(FETRRegressorCV, 3e-3), (FETRClassifierCV, 3e-2)])
def test_a_looser_path_chooses_the_same_and_ends_as_near(kind, near):
    rng = np.random.default_rng(2)
    task = np.repeat(np.arange(8), 25)
    W = rng.standard_normal((6, 1)) + 0.7 * rng.standard_normal((6, 2)) @ rng.standard_normal((2, 8))
    X = rng.standard_normal((200, 6))
    y = np.sum(X * W.T[task], axis=1) + rng.logistic(size=200)
    target = y if kind is FETRRegressorCV else y > 0
    options = {"etas": (0.3, 10.0, 300.0), "bounds": ((0.03, 30.0),), "cv": 3}
    loose = kind(**options).fit(X, target, task)
    tight = kind(path_tol=1e-6, **options).fit(X, target, task)
    np.testing.assert_allclose(loose.error_path_, tight.error_path_, rtol=near)
    assert loose.eta_ == tight.eta_ and loose.solution_.gap <= 1e-6
    assert loose.solution_.value == pytest.approx(tight.solution_.value, rel=1e-5)
