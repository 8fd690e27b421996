"""The polytope Y: its linear minimizer against scipy's linprog, its projection against cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from matrixlearn.exceptions import ProblemError
from matrixlearn.sets import KnapsackSet

seeds = st.integers(0, 2**32 - 1)


def simplex(rng, m):
    return KnapsackSet.simplex(m)


def capped_simplex(rng, m):
    return KnapsackSet.simplex(m, cap=float(rng.uniform(1, 4)) / m)


def box(rng, m):
    centre = rng.standard_normal(m)
    return KnapsackSet.box(centre - rng.exponential(size=m), centre + rng.exponential(size=m))


def weighted_simplex(rng, m):
    return KnapsackSet.weighted_simplex(10.0 ** rng.uniform(-3, 3, m), float(10.0 ** rng.uniform(-2, 2)))


def row_with_boxes(rng, m):
    """lower <= y <= upper of both signs, with an equality or a range of the row."""
    centre, w = rng.standard_normal(m), rng.uniform(0.2, 3.0, m)
    lower, upper = centre - rng.exponential(size=m), centre + rng.exponential(size=m)
    low, high = float(w @ lower), float(w @ upper)
    ends = np.sort(rng.uniform(low, high, 2))
    if rng.random() < 0.5:
        ends[:] = ends[0]
    return KnapsackSet(lower, upper, w, float(ends[0]), float(ends[1]))


def row_without_caps(rng, m):
    """lower of both signs, some upper bounds infinite."""
    lower, w = rng.standard_normal(m), rng.uniform(0.2, 3.0, m)
    upper = np.where(rng.random(m) < 0.5, np.inf, lower + rng.exponential(size=m))
    upper[0] = np.inf
    total = float(w @ lower) + float(rng.exponential())
    return KnapsackSet(lower, upper, w, total if rng.random() < 0.5 else -np.inf, total)


MAKERS = (simplex, capped_simplex, box, weighted_simplex, row_with_boxes, row_without_caps)
sets = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def instance(make, seed):
    rng = np.random.default_rng(seed)
    return make(rng, int(rng.integers(1, 9))), rng


def violation(Y, y):
    """By how much y leaves Y, relative to the size of what is added up."""
    out = max(float(np.max(Y.lower - y)), float(np.max(y - Y.upper)), 0.0) / max(1.0, float(np.max(np.abs(y))))
    if Y.weights is not None:
        row, size = float(Y.weights @ y), float(Y.weights @ np.abs(y)) + 1e-300
        out = max(out, (Y.row_lower - row) / size, (row - Y.row_upper) / size)
    return out


def rows_for_linprog(Y):
    if Y.weights is None:
        return {}
    if Y.row_lower == Y.row_upper:
        return {"A_eq": Y.weights[None, :], "b_eq": [Y.row_upper]}
    pairs = [(Y.weights, Y.row_upper), (-Y.weights, -Y.row_lower)]
    kept = [(w, r) for w, r in pairs if np.isfinite(r)]
    return {"A_ub": np.array([w for w, _ in kept]), "b_ub": [r for _, r in kept]}


@sets
@given(seed=seeds)
def test_minimize_equals_linprog(make, seed):
    Y, rng = instance(make, seed)
    cost = rng.standard_normal(Y.size) * rng.integers(0, 2, Y.size)  # some costs are exactly 0
    value, y = Y.minimize(cost)
    result = linprog(cost, bounds=np.stack([Y.lower, Y.upper], axis=1), method="highs", **rows_for_linprog(Y))
    assert result.status == 0
    size = float(np.abs(cost) @ np.abs(y)) + float(np.abs(cost) @ np.abs(result.x)) + 1e-9
    assert value == pytest.approx(result.fun, abs=1e-7 * size)
    assert value == pytest.approx(float(cost @ y), abs=1e-13 * size)
    assert violation(Y, y) < 1e-14


@sets
@given(seed=seeds)
def test_the_multiplier_of_the_row_proves_the_minimum(make, seed):
    Y, rng = instance(make, seed)
    cost = rng.standard_normal(Y.size) * rng.integers(0, 2, Y.size)
    value, y = Y.minimize(cost)
    theta, w = Y.multiplier(cost), np.zeros(Y.size) if Y.weights is None else Y.weights
    rate = cost + theta * w
    rate[np.abs(rate) <= 1e-12 * (np.abs(cost) + abs(theta) * w)] = 0.0
    end = 0.0 if theta == 0 else theta * (Y.row_upper if theta > 0 else Y.row_lower)
    proved = KnapsackSet(Y.lower, Y.upper).minimize(rate)[0] - end
    assert proved == pytest.approx(value, abs=1e-10 * (1 + float(np.abs(cost) @ np.abs(y)) + abs(end)))


@given(seed=seeds)
def test_minimize_over_the_orthant_is_zero_or_unbounded(seed):
    rng = np.random.default_rng(seed)
    Y, cost = KnapsackSet.orthant(4), rng.standard_normal(4)
    value, _ = Y.minimize(cost)
    assert value == (0.0 if np.all(cost >= 0) else -np.inf)
    assert not Y.is_bounded


def test_minimize_over_an_unbounded_row_is_minus_infinity():
    Y = KnapsackSet(np.zeros(2), np.array([1.0, np.inf]), np.ones(2), 1.0, np.inf)
    assert Y.minimize(np.array([1.0, -1.0]))[0] == -np.inf
    value, y = Y.minimize(np.array([1.0, 3.0]))
    assert (value, list(y)) == (1.0, [1.0, 0.0])


def test_minimize_with_a_free_coordinate_and_no_cost_stays_between_the_bounds():
    Y = KnapsackSet.box(np.array([-np.inf, -np.inf]), np.array([-2.0, 5.0]))
    value, y = Y.minimize(np.zeros(2))
    assert value == 0.0 and list(y) == [-2.0, 0.0]


@sets
@given(seed=seeds, magnitude=st.sampled_from([1e-8, 1.0, 1e4]))
def test_project_lands_in_the_set_and_stays_there(make, seed, magnitude):
    Y, rng = instance(make, seed)
    y = Y.project(magnitude * rng.standard_normal(Y.size))
    assert violation(Y, y) < 1e-12
    again = Y.project(y)
    np.testing.assert_allclose(again, y, rtol=1e-12, atol=1e-12 * float(np.max(np.abs(y))))


@sets
@given(seed=seeds)
def test_project_leaves_points_of_the_set_alone(make, seed):
    Y, rng = instance(make, seed)
    vertices = [Y.minimize(rng.standard_normal(Y.size))[1] for _ in range(3)]
    y = np.mean([*vertices, Y.center()], axis=0)
    np.testing.assert_allclose(Y.project(y), y, rtol=1e-12, atol=1e-13 * float(np.max(np.abs(y))))


@sets
@given(seed=seeds)
def test_project_is_the_nearest_point_by_its_variational_inequality(make, seed):
    """<x - P(x), z - P(x)> <= 0 for every z of Y: enough to ask the linear minimizer."""
    Y, rng = instance(make, seed)
    x = 3 * rng.standard_normal(Y.size)
    p = Y.project(x)
    worst, z = Y.minimize(p - x)
    size = float(np.linalg.norm(p - x)) * (float(np.linalg.norm(p)) + float(np.linalg.norm(z)))
    assert float((p - x) @ p) - worst <= 1e-10 * (size + 1e-300)


@sets
@pytest.mark.parametrize("seed", range(3))
def test_project_equals_cvxpy(make, seed):
    Y, rng = instance(make, seed)
    x = 3 * rng.standard_normal(Y.size)
    y = cp.Variable(Y.size)
    bounds = [y >= Y.lower]
    capped = np.isfinite(Y.upper)
    if np.any(capped):
        bounds.append(y[capped] <= Y.upper[capped])
    if Y.weights is not None:
        bounds.append(Y.weights @ y <= Y.row_upper)
        if np.isfinite(Y.row_lower):
            bounds.append(Y.weights @ y >= Y.row_lower)
    cp.Problem(cp.Minimize(cp.sum_squares(y - x)), bounds).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(Y.project(x), y.value, atol=1e-5 * (1 + np.max(np.abs(x))))


@sets
@given(seed=seeds, scaled=st.booleans())
@example(seed=847, scaled=True)  # y is the minimizer: the bound is missed by rounding only
def test_move_below_reaches_the_bound_inside_the_set(make, seed, scaled):
    Y, rng = instance(make, seed)
    y, cost = Y.project(rng.standard_normal(Y.size)), rng.standard_normal(Y.size)
    scale = 10.0 ** rng.uniform(-2, 2, Y.size) if scaled else np.ones(Y.size)
    least, held = Y.minimize(cost)[0], float(cost @ y)
    size = float(np.abs(cost) @ np.abs(y)) + abs(least) + 1e-9
    bound = least + float(rng.uniform(0.05, 1.3)) * (held - least)
    moved = Y.move_below(y, cost, bound, scale)
    assert violation(Y, moved) < 1e-11
    assert float(cost @ moved) <= bound + 1e-11 * size
    if held <= bound:
        np.testing.assert_allclose(moved, y, rtol=1e-9, atol=1e-11 * size)
    else:  # and hardly farther than needed
        assert float(cost @ moved) >= bound - 1.01e-2 * (held - bound) - 1e-11 * size


@sets
@pytest.mark.parametrize("seed", range(3))
def test_move_below_is_the_smallest_move(make, seed):
    Y, rng = instance(make, seed)
    y, cost = Y.project(rng.standard_normal(Y.size)), rng.standard_normal(Y.size)
    scale = rng.uniform(0.3, 3.0, Y.size)
    least, held = Y.minimize(cost)[0], float(cost @ y)
    moved = Y.move_below(y, cost, least + 0.4 * (held - least), scale)
    z = cp.Variable(Y.size)
    bounds = [z >= Y.lower, cost @ z <= cost @ moved]  # no other point is as low for a smaller move
    capped = np.isfinite(Y.upper)
    if np.any(capped):
        bounds.append(z[capped] <= Y.upper[capped])
    if Y.weights is not None:
        bounds.append(Y.weights @ z <= Y.row_upper)
        if np.isfinite(Y.row_lower):
            bounds.append(Y.weights @ z >= Y.row_lower)
    nearest = cp.Problem(cp.Minimize(cp.norm(cp.multiply(scale, z - y))), bounds)
    nearest.solve(solver=cp.CLARABEL)
    assert float(np.linalg.norm(scale * (moved - y))) == pytest.approx(nearest.value, rel=1e-5, abs=1e-6)


@sets
def test_move_below_a_bound_out_of_reach_gives_the_minimizer(make):
    Y, rng = instance(make, 4)
    y = Y.project(rng.standard_normal(Y.size))
    for cost in (rng.standard_normal(Y.size), np.zeros(Y.size)):
        moved = Y.move_below(y, cost, Y.minimize(cost)[0] - 1.0, np.ones(Y.size))
        assert violation(Y, moved) < 1e-12
        assert float(cost @ moved) == pytest.approx(Y.minimize(cost)[0], abs=1e-12)


@sets
@given(seed=seeds)
def test_center_is_strictly_inside(make, seed):
    Y, _ = instance(make, seed)
    if not Y.is_bounded:
        return
    y = Y.center()
    assert violation(Y, y) < 1e-12
    if Y.size > 1 or Y.weights is None:
        assert np.all(y > Y.lower)
        assert np.all(y < Y.upper)
    if Y.weights is not None and Y.row_lower != Y.row_upper:
        assert Y.row_lower < Y.weights @ y < Y.row_upper


@pytest.mark.parametrize("m", range(1, 120))
def test_caps_that_sum_to_one_only_to_rounding_leave_one_point(m):
    """49 times 1/49 is less than one in floating point."""
    Y = KnapsackSet.simplex(m, cap=1.0 / m)
    uniform = np.full(m, 1.0 / m)
    for y in (Y.center(), Y.project(np.arange(m, dtype=float)), Y.minimize(np.arange(m, dtype=float))[1]):
        np.testing.assert_allclose(y, uniform, rtol=1e-12)


@pytest.mark.parametrize("low", [0.0, -7.3, 0.1])
def test_a_box_of_one_point_with_its_own_row(low):
    point = low + np.array([0.1, 0.2, 0.3])
    Y = KnapsackSet(point, point.copy(), np.ones(3), 3 * low + 0.6, 3 * low + 0.6)
    for y in (Y.center(), Y.project(np.array([5.0, -5.0, 0.0])), Y.minimize(np.array([1.0, -1.0, 0.0]))[1]):
        np.testing.assert_allclose(y, point, rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(2), np.zeros(2)), "lower must not exceed upper"),
        ((np.zeros(2), np.ones(3)), "shape"),
        ((np.array([np.nan, 0.0]), np.ones(2)), "lower must hold numbers, got NaN at coordinate 0"),
        ((0.0, 1.0), r"lower must have shape \(m,\), got shape \(\): np.full"),
        (([0.0, "a"], np.ones(2)), "lower must be a vector of numbers"),
        (([[0.0], [0.0, 1.0]], np.ones(2)), "lower must be a vector of numbers"),
        ((np.full(2, np.inf), np.full(2, np.inf)), "lower must not exceed upper"),
        ((np.zeros(2), np.ones(2), np.array([1.0, 0.0]), 0.0, 1.0), "weights of the row must be positive"),
        ((np.zeros(2), np.ones(2), np.array([1.0, -1.0]), 0.0, 1.0), "weights of the row must be positive"),
        ((np.zeros(2), np.ones(2), np.ones(3), 0.0, 1.0), "weights of the row"),
        ((np.zeros(2), np.ones(2), np.ones(2), 3.0, 3.0), "empty"),
        ((np.zeros(2), np.ones(2), np.ones(2), -2.0, -1.0), "empty"),
        ((np.zeros(2), np.ones(2), np.ones(2), 1.0, 0.5), "empty"),
        ((np.full(2, -np.inf), np.ones(2), np.ones(2), 0.0, 1.0), "lower must be finite"),
    ],
)
def test_sets_that_are_none_are_refused(arguments, message):
    with pytest.raises(ProblemError, match=message):
        KnapsackSet(*arguments)


def test_costs_and_points_must_be_finite():
    Y = KnapsackSet.simplex(2)
    with pytest.raises(ProblemError, match="finite"):
        Y.minimize(np.array([0.0, np.nan]))
    with pytest.raises(ProblemError, match="finite"):
        Y.project(np.array([0.0, np.inf]))


def test_arguments_are_left_alone():
    x = np.array([3.0, -1.0])
    for array in (x, *(parts := (np.zeros(2), np.ones(2), np.ones(2)))):
        array.flags.writeable = False
    Y = KnapsackSet(*parts, 1.0, 1.0)
    Y.project(x)
    Y.minimize(x)
    Y.center()


@given(seed=st.integers(0, 10**6), m=st.integers(1, 30), equality=st.booleans())
def test_a_face_at_a_vertex_is_never_empty(seed, m, equality):
    """Where the coordinates outside of the index use up the row, what is left is zero, and not a rounding below."""
    rng = np.random.default_rng(seed)
    weights, total = rng.uniform(0.1, 3, m), rng.uniform(0.1, 10)
    Y = KnapsackSet(np.zeros(m), np.full(m, np.inf), weights, total if equality else -np.inf, total)
    fixed = rng.dirichlet(np.ones(m)) * total / weights
    fixed[rng.random(m) < 0.5] = 0.0
    used = float(weights @ fixed)
    fixed = fixed * (total / used) if used > 0 else fixed
    index = np.flatnonzero(fixed == 0)
    face = Y.face(index, fixed)
    if used > 0 and len(index):
        assert 0 <= face.row_upper <= 1e-14 * total
        assert (face.row_lower == face.row_upper) == equality
        np.testing.assert_allclose(face.project(rng.standard_normal(len(index))), 0, atol=1e-13 * total)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 5))
def test_the_extent_is_the_largest_coordinate(seed, m):
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-2, 1, m)
    upper = lower + np.where(rng.random(m) < 0.3, np.inf, rng.uniform(0, 2, m))
    weights = rng.uniform(0.1, 3, m)
    Y = KnapsackSet(lower, upper, weights, -np.inf, float(weights @ lower) + rng.uniform(0, 5))
    best = [max(-Y.minimize(-e)[0], -Y.minimize(e)[0]) for e in np.eye(m)]
    np.testing.assert_allclose(Y.extent, np.maximum(best, np.abs(lower)), rtol=1e-12)
