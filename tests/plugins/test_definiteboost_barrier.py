"""The barrier of DefiniteBoost's dual and the engine that follows its path of centres, held to their theory."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrixlearn_definiteboost import CentralPath, DefiniteBoost
from matrixlearn_definiteboost.barrier import Barrier, CurvatureRows, barrier_weights, inverse_curvature

import matrixlearn as ml
from matrixlearn.engines import Incumbent

seeds = st.integers(0, 2**32 - 1)
KINDS = ("hard", "soft", "two-sided", "equality", "soft equality")


def problem(seed, kind, most=4):
    """Feasible with room, real or complex, more constraints than entries of W or fewer, in any units."""
    rng = np.random.default_rng(seed)
    d, m = int(rng.integers(1, most + 1)), int(rng.integers(1, 15))
    complex_entries, unit = rng.random() < 0.4, 10.0 ** rng.uniform(-8, 8)

    def matrix():
        A = rng.standard_normal((d, d))
        return A + 1j * rng.standard_normal((d, d)) if complex_entries else A

    C = np.stack([matrix() for _ in range(m)])
    if m > 2 and rng.random() < 0.3:
        C[1] = C[0]  # a duplicate
    A = matrix()
    W = A @ A.conj().T + 0.2 * np.eye(d)
    W /= np.trace(W).real
    t = np.einsum("jab,ba->j", (C + C.conj().swapaxes(1, 2)) / 2, W).real
    upper, lower, slack = t + rng.uniform(0.02, 0.3, m), None, None
    if kind == "two-sided":
        lower = t - rng.uniform(0.02, 0.3, m)
    if kind == "equality":
        upper = np.where(np.arange(m) < min(2, d - 1), t, upper)
        lower = np.where(np.arange(m) < min(2, d - 1), t, -np.inf)
    if kind.startswith("soft"):
        slack = 10.0 ** rng.uniform(-1, 4, m)
        upper = t - rng.uniform(0, 0.3, m)  # nothing need be feasible
        lower = upper if kind == "soft equality" else None
    scaled = None if slack is None else slack / unit
    initial = None
    if rng.random() < 0.3:
        B = matrix()
        initial = B @ B.conj().T + 1e-9 * np.eye(d)  # as good as singular, at times
        initial = (initial + initial.conj().T) / (2 * np.trace(initial).real)
    return DefiniteBoost(C * unit, upper * unit, None if lower is None else lower * unit, initial, scaled)


def somewhere(p, rng):
    """A point inside the box, and a mu."""
    b = Barrier(p, p.sides)
    x, mu = b.start()
    low = np.where(np.isfinite(b.low), b.low, x - 1)
    high = np.where(np.isfinite(b.high), b.high, x + 1)
    share = rng.uniform(0.1, 0.9, len(x))
    return b, low + share * (high - low), mu * 10.0 ** rng.uniform(-3, 1)


@given(seeds, st.integers(1, 8), st.floats(-12, 3), st.floats(0, 4))
def test_the_weights_solve_their_equations(seed, d, log_mu, log_spread):
    m, mu = 10.0**log_spread * np.random.default_rng(seed).standard_normal(d), 10.0**log_mu
    w = barrier_weights(m, mu)
    assert np.all(w > 0) and w.sum() == pytest.approx(1, abs=1e-12)
    multiplier = m - np.log(w) + mu / w  # lambda, the same for all
    np.testing.assert_allclose(multiplier, multiplier[0], atol=1e-9 * (1 + np.max(np.abs(m)) + mu / w.min()))


@given(seeds, st.sampled_from(KINDS))
def test_gradient_and_curvature_are_difference_quotients(seed, kind):
    p, rng = problem(seed, kind), np.random.default_rng(seed)
    b, x, mu = somewhere(p, rng)
    mu = max(mu, 1e-2)
    at, direction = b.at(x, mu), rng.standard_normal(len(x))
    assume(len(x) > 0)
    s, t = b.ends(x)
    h = 1e-5 * min(1.0, float(np.min(s)), float(np.min(t)))
    up, down = b.at(x + h * direction, mu), b.at(x - h * direction, mu)
    slope = float(at.gradient @ direction)
    assert (up.value - down.value) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-6 + 4 * at.noise / h)
    model = inverse_curvature(at.w, mu)
    expected = b._product(at.V, model, direction) + (mu / s**2 + mu / t**2) * direction
    size = float(np.max(np.abs(expected)))
    np.testing.assert_allclose((up.gradient - down.gradient) / (2 * h), expected, atol=1e-4 * size + 1e-7)


@given(seeds, st.sampled_from(KINDS))
def test_rows_and_products_are_of_one_matrix(seed, kind):
    p, rng = problem(seed, kind), np.random.default_rng(seed)
    b, x, mu = somewhere(p, rng)
    assume(len(x) > 0)
    at = b.at(x, mu)
    rows = CurvatureRows(b, at.V, inverse_curvature(at.w, mu))
    R = rows.of(np.arange(len(x)))
    v, r, D = rng.standard_normal(R.shape[1]), rng.standard_normal(len(x)), rng.uniform(0.5, 2, len(x))
    size = 1e-12 * max(1.0, float(np.abs(R).max())) * R.size
    np.testing.assert_allclose(rows.times(v), R @ v, atol=size)
    np.testing.assert_allclose(rows.transposed(r), R.T @ r, atol=size)
    np.testing.assert_allclose(rows.normal(np.arange(len(x)), D), R.T @ (R / D[:, None]), atol=size)
    np.testing.assert_allclose(b._product(at.V, rows.model, r), R @ (R.T @ r), atol=size)


@given(seeds, st.sampled_from(KINDS))
def test_both_ways_to_a_newton_step_are_one(seed, kind):
    p = problem(seed, kind)
    b, x, mu = somewhere(p, np.random.default_rng(seed))
    assume(len(x) > 0)
    at, (s, t) = b.at(x, mu), b.ends(x)
    model, D = inverse_curvature(at.w, mu), mu / s**2 + mu / t**2
    D[::3] *= 1e-9  # stiff sides too
    H = np.stack([b._product(at.V, model, e) for e in np.eye(len(x))]) + np.diag(D)
    for way in (b._by_sides, b._by_entries):
        found = way(at.V, model, D)(H @ np.ones(len(x)))
        np.testing.assert_allclose(H @ found, H @ np.ones(len(x)), atol=1e-6 * np.abs(H).max())


@given(seeds, st.sampled_from(KINDS))
def test_steps_lower_the_barrier_and_bring_feasible_matrices(seed, kind):
    p = problem(seed, kind)
    engine, incumbent = CentralPath(), Incumbent.first(p)
    state = engine.init(p, incumbent)
    equal = p.sides.is_equality & np.isinf(p.sides.low)
    for _ in range(12):
        b, at = state.barrier, state.at
        model = inverse_curvature(at.w, at.mu) if state.model is None else state.model
        step = b.direction(at, state.p, state.q, model)
        after = b._slacks(step.W)
        scale = 1e-7 * (1 + np.abs(step.p) + np.abs(step.q))
        assert np.all(np.abs(after - step.p + step.q) <= scale)  # g(W+) = p+ - q+
        assert np.all(np.abs(after[equal]) <= 1e-9)
        assert np.trace(step.W).real == pytest.approx(1, abs=1e-9)
        there, _, _ = b.search(at, step, state.p, state.q)
        assert there.value <= at.value + 2 * at.noise
        assert np.all(there.x > b.low) and np.all(there.x < b.high)
        state = engine.step(p, state, incumbent)
        for proposal in state.proposals:
            if proposal.X is not None:
                assert np.linalg.eigvalsh(proposal.X)[0] >= 0
                assert p.slack is not None or p.is_feasible(proposal.X)


@given(seeds, st.sampled_from(KINDS))
def test_the_gap_at_a_centre_is_mu_times_the_number_of_logarithms(seed, kind):
    p = problem(seed, kind)
    b = Barrier(p, p.sides)
    x, mu = b.start()
    at = b.at(x, mu)
    for _ in range(200):
        s, t = b.ends(at.x)
        step = b.direction(at, mu / s, mu / t, inverse_curvature(at.w, mu))
        if step.decrement <= 1e-6 * mu:
            break
        at, _, _ = b.search(at, step, mu / s, mu / t)
    else:
        pytest.fail("no centre in 200 damped Newton steps")
    y, X = b.multipliers(at.x), p.feasible.admitted(step.W)
    assert X is not None
    gap = p._objective(X) - p.dual_value(np.clip(y, *p.box))
    assert -1e-9 * p.scale <= gap <= 1.01 * mu * b.count


@given(seeds, st.sampled_from(KINDS), st.sampled_from([1e-3, 1e-8]))
def test_any_kind_is_solved_to_any_tolerance_in_a_few_dozen_steps(seed, kind, tol):
    p = problem(seed, kind)
    found = ml.solve(p, method="barrier", tol=tol, max_iter=120)
    assert found.status == "optimal"
    other = ml.solve(p, method="corrective", tol=tol, max_iter=300)  # each within the other's certificate
    size = 1e-10 * p.scale
    assert found.lower <= other.upper + size and other.lower <= found.upper + size


@settings(max_examples=settings().max_examples // 3)
@given(seeds, st.sampled_from(KINDS))
def test_the_optimum_is_cvxpys(seed, kind):
    p = problem(seed, kind, most=3)
    unit = float(np.max(np.abs(p.constraints)))
    p = DefiniteBoost(
        p.constraints / unit,
        p.upper / unit,
        None if p.lower is None else p.lower / unit,
        slack=None if p.slack is None else np.minimum(p.slack * unit, 100.0),
    )
    program = p.reference()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.solve(solver="CLARABEL")
    assume(program.status == "optimal" and math.isfinite(program.value))
    found = ml.solve(p, method="barrier", tol=1e-7)
    assert found.value == pytest.approx(program.value, rel=1e-4, abs=1e-5)


def crowded(price, kind="soft", seed=0):
    """Five times more pairs than entries of W, near and far ones of five groups, which contradict each other."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 5, 200)
    X = rng.standard_normal((200, 8)) + 0.7 * rng.standard_normal((5, 8))[group]
    pairs = rng.integers(0, 200, (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:180]
    near = group[pairs[:, 0]] == group[pairs[:, 1]]
    U = X[pairs[:, 0]] - X[pairs[:, 1]]
    unit, largest = 2 * float(np.mean(np.var(X, axis=0))), np.sum(U**2, axis=1)
    lower = np.where(near, -np.inf, unit)
    upper = np.where(near, 0.2 * unit, np.maximum(1.01 * largest, lower))
    return DefiniteBoost(vectors=U, upper=upper, lower=lower, slack=price / unit)


@pytest.mark.parametrize("price", [0.1, 10.0, 1e4])
def test_high_prices_cost_few_more_steps(price):
    p = crowded(price)
    found = ml.solve(p, tol=1e-6)
    assert found.status == "optimal" and found.iterations <= 80
    if price >= 10:
        assert found.method == "barrier" and "measured ahead" in found.explain()
    assert ml.certify(p, X=found.matrix, y=found.y).gap <= 1e-6


def test_auto_stays_with_corrective_where_that_was_measured_ahead():
    C = np.random.default_rng(0).standard_normal((6, 5, 5))
    for p in (DefiniteBoost(C, 0.1), DefiniteBoost(C, 0.1, slack=1.0)):
        assert ml.solve(p).method == "corrective"


def test_multipliers_without_bound_are_known_by_their_sum():
    """Of S >= 0, tr(W S) <= 0 has no interior: the bound on it falls below any number, and W ends on the face."""
    p = DefiniteBoost([np.diag([1.0, 2.0, 0.0])], 0.0)
    engine, incumbent = CentralPath(), Incumbent.first(p)
    state = engine.init(p, incumbent)
    for _ in range(25):
        state = engine.step(p, state, incumbent)
    assert state.barrier.interior_below(state.at.x, state.at.mu) < 1e-5
    roomy = DefiniteBoost([np.diag([1.0, 2.0, 0.0])], 0.5)
    state = engine.init(roomy, Incumbent.first(roomy))
    for _ in range(25):
        assert state.barrier.interior_below(state.at.x, state.at.mu) > 0.05  # a third is true
        state = engine.step(roomy, state, incumbent)
    assert ml.solve(p, method="barrier", tol=1e-6).value == pytest.approx(math.log(3), abs=1e-5)
