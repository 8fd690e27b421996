"""Programs without a strictly feasible point, or without a bound: never "optimal" with a wrong value.

Pain 14 (cvxopt #25): an unbounded program reported optimal.
Pain 16: a positive duality gap; solvers say optimal at -0.97, infeasible, or fail.
Pain 17: weak infeasibility; a solver says optimal.
"""

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.testing.exact import exact_program


def unit(n, i, j):
    E = np.zeros((n, n))
    E[i, j] = E[j, i] = 1.0 if i == j else 0.5
    return E


def equalities(*rows):
    """A . X = b as the pair A . X <= b, -A . X <= -b."""
    A = [sign * a for a, _ in rows for sign in (1, -1)]
    return A, [sign * b for _, b in rows for sign in (1, -1)]


def test_an_unbounded_program_has_a_ray():
    """max tr X over x12 = 0: no bound on X at all."""
    A, b = equalities((unit(2, 0, 1), 0.0))
    solution = ml.solve(ml.LinearSDP(np.eye(2), A, b))
    assert solution.status == "unbounded" and solution.upper == np.inf
    ray = solution.certificate.ray
    assert np.trace(ray) > 0 and abs(ray[0, 1]) <= 1e-12 * np.trace(ray) and np.linalg.eigvalsh(ray)[0] >= 0
    solution.certificate.verify()


def test_an_infinite_trace_bound_is_refused():
    with pytest.raises(ValueError, match="trace_bound must be positive and finite"):
        ml.LinearSDP(np.eye(2), [unit(2, 0, 1)], [1.0], np.inf)


def test_within_a_trace_bound_the_bound_is_reached():
    solution = ml.solve(ml.LinearSDP(np.eye(2), [unit(2, 0, 1)], [1.0], 1e6), tol=1e-6)
    assert solution.value == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize("method", ["auto", "mmw", "reference"])
@pytest.mark.parametrize("R", [3.0, 1e2, 1e4])
def test_positive_duality_gap(method, R):
    """min x1 over [[0, x1, 0], [x1, x2, 0], [0, 0, x1 + 1]] >= 0: x1 = 0, while the dual's supremum is -1."""
    A, b = equalities(
        (unit(3, 0, 0), 0.0),
        (unit(3, 0, 2), 0.0),
        (unit(3, 1, 2), 0.0),
        (unit(3, 2, 2) - unit(3, 0, 1), 1.0),
    )
    problem = ml.LinearSDP(-unit(3, 0, 1), A, b, R)
    try:
        solution = ml.solve(problem, method=method, max_iter=200)
    except ml.exceptions.CapabilityError:
        assert method != "auto"  # an engine may refuse a program without a bound on its multipliers
        return
    assert solution.status in ("stopped", "optimal")
    assert solution.lower <= 0.0 <= solution.upper
    if solution.status == "optimal":
        assert solution.value == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("slack", [1e-2, 1e-4, 1e-6])
def test_relaxed_by_a_little_the_same_program_has_an_interior_and_a_value(slack):
    """|x11| <= s and so on: x12 >= -sqrt(x11 x22), and x33 = 1 + x12 >= 0 to slack. Never below the bounds."""
    A, b = equalities(
        (unit(3, 0, 0), 0.0),
        (unit(3, 0, 2), 0.0),
        (unit(3, 1, 2), 0.0),
        (unit(3, 2, 2) - unit(3, 0, 1), 1.0),
    )
    R = 3.0
    solution = ml.solve(ml.LinearSDP(-unit(3, 0, 1), A, np.array(b) + slack, R), tol=1e-6)
    # a feasible point by hand: x11 = s, x22 = R - 2, x12 = -sqrt(x11 x22), x33 = 1 + x12
    by_hand = np.sqrt(slack * (R - 2))
    assert solution.upper >= by_hand - 1e-12
    # and no point is better than x12^2 <= x11 x22 <= s R allows
    assert solution.lower <= np.sqrt(slack * R)
    if solution.status == "optimal":
        assert by_hand * (1 - 1e-5) <= solution.value <= np.sqrt(slack * R)


@pytest.mark.parametrize("R", [2.0, 1e1, 1e2, 1e3, 1e6])
@pytest.mark.parametrize("cost", [-np.eye(2), np.eye(2), np.zeros((2, 2))], ids=["min", "max", "none"])
def test_weak_infeasibility(R, cost):
    """x11 = 0 and x12 = 1: infeasible, by a margin of 1 / R that shrinks with the trace bound."""
    A, b = equalities((unit(2, 0, 0), 0.0), (unit(2, 0, 1), 1.0))
    solution = ml.solve(ml.LinearSDP(cost, A, b, R))
    assert solution.status != "optimal"
    if R <= 1e3:
        assert solution.status == "infeasible"
    if solution.status == "infeasible":
        assert solution.certificate.verify().upper == -np.inf


def test_feasible_by_a_hair_is_not_called_infeasible():
    """x11 <= 2 / R and x12 = 1 +- 1e-3 have a solution within trace R."""
    R = 100.0
    A = [unit(2, 0, 0), 2 * unit(2, 0, 1), -2 * unit(2, 0, 1)]
    solution = ml.solve(ml.LinearSDP(-unit(2, 0, 0), [*A, np.eye(2)], [2 / R, 2.002, -1.998, R]), tol=1e-4)
    assert solution.status == "optimal"
    # the least x11 with x12 = 0.999, x22 = R - x11
    least = (R - np.sqrt(R * R - 4 * 0.999**2)) / 2
    assert -solution.value == pytest.approx(least, rel=2e-3)


@pytest.mark.parametrize("unit_of_objective", [1.0, 1e6])
def test_of_an_optimum_that_no_matrix_attains_the_summary_says_that_atol_decides(unit_of_objective):
    """min X_00 with X_01 = 1: 0, as X_11 grows; an atol that the summary names makes the same bounds an answer."""
    C = -unit_of_objective * unit(2, 0, 0)
    problem = ml.LinearSDP.with_senses(C, [unit(2, 0, 1)], [1.0], "==")
    solution = ml.solve(problem, tol=1e-3)
    assert solution.status == "stopped"
    assert -1e-6 * unit_of_objective <= solution.lower <= 0 == solution.upper
    named = float(solution.summary().split("atol=")[1].split(" ")[0])
    assert solution.upper - solution.lower <= named <= 3 * (solution.upper - solution.lower)
    assert ml.solve(problem, tol=1e-3, atol=1e-6 * unit_of_objective).status == "optimal"


@pytest.mark.parametrize("seed", [730015, 840093])
def test_a_ray_that_is_found_near_the_matrix_of_any_run_is_verified(seed):
    solution = ml.solve(exact_program(seed).problem(), tol=1e-6)
    assert solution.status == "unbounded", solution.explain()
    solution.verify()
