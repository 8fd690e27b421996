"""Discrepancy on the shipped data: every draw is certified, and the optimum is cvxpy's."""

import pytest
from matrixlearn_discrepancy import Discrepancy, load_beijing_air
from matrixlearn_discrepancy.data import summer_to_winter

import matrixlearn as ml


@pytest.fixture(scope="module")
def air():
    return load_beijing_air()


@pytest.mark.parametrize("draw", range(8))
@pytest.mark.parametrize("cap", [None, 2.0])
def test_every_draw_is_certified(air, draw, cap):
    """In draw 2 the lower bound is 0 for 13 iterations: the relative gap does not move while the upper bound falls."""
    task = summer_to_winter(air, draw)
    solution = ml.solve(Discrepancy(task.X_source, task.X_target, max_weight=cap), tol=1e-4)
    assert solution.status == "optimal", solution.explain()
    assert solution.certificate.verify().gap <= 1e-4


@pytest.mark.parametrize("cap", [None, 2.0])
def test_the_optimum_is_that_of_another_solver(air, cap):
    task = summer_to_winter(air, 0, n_summer=90, n_winter=30, n_target=80)
    problem = Discrepancy(task.X_source, task.X_target, max_weight=cap)
    solution = ml.solve(problem, tol=1e-6)
    reference = problem.reference()
    reference.solve()
    assert solution.lower * (1 - 1e-5) <= reference.value <= solution.upper * (1 + 1e-5)
