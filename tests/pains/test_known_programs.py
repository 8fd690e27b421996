"""Programs with an exactly known optimum that went wrong once, by the seed of `matrixlearn.testing.exact`."""

import functools

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.testing.exact import exact_program, faults, solve_faults

pytestmark = pytest.mark.usefixtures("cpu_clock")


@functools.cache
def solved(seed, tol=1e-6):
    program = exact_program(seed)
    solution = ml.solve(program.problem(), tol=tol, time_limit=10)
    assert solve_faults(program, solution, tol) == []
    return program, solution


def test_a_ray_on_a_face_has_no_cost():
    """ "infeasible" for -16384: the multiplier of a ray was held against the cost."""
    program, solution = solved(20267, 1e-3)
    assert solution.status == "optimal" and solution.value == pytest.approx(float(program.low), rel=1e-3)


@pytest.mark.parametrize("seed", [86, 20016, 20111, 20126, 20339, 40370, 40412])
def test_verify_computes_the_bounds_of_an_answer_again(seed):
    _, solution = solved(seed)
    fresh = solution.verify()
    assert (fresh.lower, fresh.upper) == (solution.lower, solution.upper)


@pytest.mark.parametrize("seed", [20016, 20111, 20126, 20339, 20331])
def test_an_optimum_of_0_at_0_is_found(seed):
    _, solution = solved(seed)
    assert solution.status == "optimal" and solution.value == 0


@pytest.mark.parametrize("seed", [20033, 20103, 20157, 20364])
def test_large_terms_do_not_make_a_gap_small(seed):
    """Values of 234.99 for 235 were "optimal" to 1e-6, since the terms of the objective add up to 1e9."""
    program, solution = solved(seed)
    assert solution.status == "optimal"
    terms = np.sum(np.abs(program.C) * np.abs(solution.matrix))
    assert abs(solution.value - float(program.low)) <= max(1e-6 * abs(float(program.low)), 2e-12 * terms)


def test_no_lower_bound_takes_more_trace_than_it_says():
    program = exact_program(20275)
    noise = np.random.default_rng(0).standard_normal(program.X.shape)
    for size in (0.0, 1e-12, 1e-10, 1e-8):
        X = program.X * (1 + size) + size * (noise + noise.T)
        assert faults(program, ml.certify(program.problem(), X=X, y=program.signs * program.y)) == []


@pytest.mark.parametrize("seed", [30042, 30088, 30249, 50098])
def test_multipliers_whose_slack_is_singular_are_proved_exactly(seed):
    """No y has A(y) - C > 0: the optimal one, in whole numbers, proves its bound without a factorization."""
    program, solution = solved(seed)
    assert solution.status == "optimal" and solution.value == pytest.approx(float(program.low), rel=1e-6)
