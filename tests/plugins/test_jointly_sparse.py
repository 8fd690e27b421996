"""Jointly sparse tasks: both kits, bounds at any point, the right support, reweighting, the estimator, strange data."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_network import (
    ConcaveJointlySparse,
    GraphWarning,
    JointADMM,
    JointlySparse,
    JointlySparseRegressor,
    Reweighting,
    complete,
)
from matrixlearn_network.rows_of_groups import Neighbourhoods, row_penalty
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml
from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Local
from matrixlearn.testing import parametrize_with_checks as parametrize_with_kit
from matrixlearn.testing.reference import optimum, optimum_of

seeds = st.integers(0, 2**31 - 2)
RING = np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0)


@parametrize_with_kit([JointlySparse, ConcaveJointlySparse])
def test_kit(check):
    check()


def tasks(seed=0, n=20, d=10, noise=0.2):
    """Eight tasks on a ring that use the same three features."""
    rng = np.random.default_rng(seed)
    W = np.zeros((d, 8))
    W[:3] = rng.choice([-1, 1], (3, 1)) * (1 + 0.3 * rng.standard_normal((3, 8)))
    X = rng.standard_normal((8, n, d))
    return list(X), list(np.einsum("mnd,dm->mn", X, W) + noise * rng.standard_normal((8, n))), RING, W


# -- groups and penalties ----------------------------------------------------------------------------


@given(seeds)
def test_copies_and_their_sum_are_adjoint_and_groups_are_those_of_neighbourhoods(seed):
    rng = np.random.default_rng(seed)
    graph = JointlySparse.random(rng).graph
    near, m = Neighbourhoods(graph), len(graph)
    W, Z = rng.standard_normal((m, 3)), rng.standard_normal((len(near.member), 3))
    assert np.vdot(near.copies(W), Z) == pytest.approx(np.vdot(W, near.gathered(Z)), abs=1e-12 * Z.size)
    closed = graph.weights.toarray() + np.eye(m) > 0
    expected = np.array([[np.linalg.norm(W[closed[k], r]) for r in range(3)] for k in range(m)])
    np.testing.assert_allclose(near.lengths(near.copies(W)), expected)
    assert np.all(near.lengths(near.within(Z, np.full((m, 3), 0.3))) <= 0.3)
    short = near.shrunk(Z, np.full((m, 3), 0.3))
    np.testing.assert_allclose(near.lengths(short), np.maximum(near.lengths(Z) - 0.3, 0.0), atol=1e-12)


@given(st.sampled_from(["l21", "rw", "l20"]), st.floats(0.1, 30), st.floats(1e-3, 3))
def test_a_penalty_is_concave_with_its_slope_and_the_least_of_its_majorisers(name, epsilon, t):
    import cvxpy as cp

    phi, h = row_penalty(name, epsilon), 1e-5 * t
    at = np.array([0.0, t, t + h, t - h])
    value, slope = phi.value(at), phi.slope(at)
    assert value[0] == 0.0
    assert slope[1] == pytest.approx((value[2] - value[3]) / (2 * h), rel=1e-4, abs=1e-9)
    others = np.linspace(0.0, 5.0, 30)
    assert np.all(phi.value(others) <= value[1] + slope[1] * (others - t) + 1e-12)
    if name != "l21":  # phi(t) = omega t + psi(omega) at the slope
        psi = phi.conjugate_as_cvxpy(cp.Constant(slope[1])).value
        assert slope[1] * t + psi == pytest.approx(value[1], abs=1e-9 * (1 + value[1]))


# -- bounds ------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seeds)
def test_bounds_hold_for_any_weights_and_any_dual_point(seed):
    rng = np.random.default_rng(seed)
    problem = JointlySparse.random(rng)
    best = optimum(problem)
    W = rng.standard_normal(problem.shape) * 10.0 ** rng.uniform(-3, 2)
    Z = problem.eta * rng.standard_normal(problem.multipliers) * 10.0 ** rng.uniform(-2, 1)
    assert problem.bound_from_matrix(W).upper >= max(problem.value(W), best.value - best.error)
    assert problem.bound_from_vector(Z).lower <= best.value + best.error


@settings(max_examples=10)
@given(seeds)
def test_no_reweighting_gets_below_the_lower_bound(seed):
    rng = np.random.default_rng(seed)
    problem = ConcaveJointlySparse.random(rng)
    W = rng.standard_normal(problem.shape) * (rng.random(problem.shape) < 0.7) * 10.0 ** rng.uniform(-2, 1)
    bound = problem.bound_from_matrix(W)
    assert bound.lower <= problem.value(W) <= bound.upper
    assert problem.value(bound.improved) <= bound.lower + 1e-5 * problem.value(W)  # a majoriser lies above
    for j in range(2):
        block = optimum_of(lambda j=j: problem.block_references(W)[j], problem.gap_floor)
        if block.is_sharp:
            assert bound.lower <= block.value + block.error


def test_the_objective_is_that_of_the_graph_model_and_the_norms():
    X, Y, graph, W = tasks()
    problem = JointlySparse(X, Y, graph, 0.3, 0.2, 0.1)
    norms = sum(np.linalg.norm(W[:, [k - 1, k, (k + 1) % 8]], axis=1).sum() for k in range(8))
    fits = sum(np.mean((x @ w - y) ** 2) for x, y, w in zip(X, Y, W.T, strict=True)) / 2
    rough = sum(np.sum((W[:, k] - W[:, (k + 1) % 8]) ** 2) for k in range(8))
    assert problem.value(W) == pytest.approx((fits + 0.15 * rough + 0.05 * np.sum(W**2) + 0.2 * norms) / 8, rel=1e-12)


def test_units_of_the_features_and_the_order_of_tasks_change_nothing():
    X, Y, graph, _ = tasks()
    first = ml.solve(JointlySparse(X, Y, graph, 0.1, 0.05), tol=1e-8)
    order = np.random.default_rng(0).permutation(8)
    turned = JointlySparse([X[k] for k in order], [Y[k] for k in order], graph[np.ix_(order, order)], 0.1, 0.05)
    again = ml.solve(turned, tol=1e-8)
    assert again.value == pytest.approx(first.value, rel=1e-7)
    np.testing.assert_allclose(again.matrix, first.matrix[:, order], atol=1e-4)


# -- engines -----------------------------------------------------------------------------------------


def test_the_support_is_found_and_told():
    X, Y, graph, W = tasks()
    convex = ml.solve(JointlySparse(X, Y, graph, 0.05, 0.1), tol=1e-7)
    assert convex.status == "optimal"
    reference = convex.problem.reference()
    assert convex.value == pytest.approx(reference.solve(solver="CLARABEL"), rel=1e-6)
    for penalty in ("rw", "l20"):
        found = ml.solve(ConcaveJointlySparse(X, Y, graph, 0.05, 0.03, penalty), tol=1e-6)
        assert found.status == "stationary"
        np.testing.assert_array_equal(found.matrix != 0, W != 0)
        assert np.linalg.norm(found.matrix - W) < 0.7 * np.linalg.norm(convex.matrix - W)  # large rows are spared
        assert "3 features used, 3 to 3 by a task" in found.summary()
    assert "sent: 1 rounds" in convex.explain()
    ledger = convex.problem.ledger("joint-admm")
    assert (ledger.up, ledger.down) == (8 * 10 * 13 // 2, 8 * 10)


@settings(max_examples=10)
@given(seeds)
def test_reweighting_never_raises_the_objective(seed):
    problem = ConcaveJointlySparse.random(np.random.default_rng(seed))
    engine, incumbent = Reweighting(), Incumbent.first(problem)
    state, values = engine.init(problem, incumbent), [problem.value(incumbent.X)]
    for _ in range(6):
        state = engine.step(problem, state, incumbent)
        if state.finished:
            break
        incumbent = incumbent.offered(state.proposals[0])
        values.append(problem.value(state.proposals[0].X))
    assert all(later <= earlier + 1e-7 * problem.scale for earlier, later in pairwise(values))


def test_many_machines_are_solved_by_sparse_factors(monkeypatch):
    X, Y, graph, _ = tasks()
    dense = ml.solve(JointlySparse(X, Y, graph, 0.1, 0.05), tol=1e-8)
    monkeypatch.setattr("matrixlearn_network.splitting.DENSE_SYSTEM", 5)
    sparse = ml.solve(JointlySparse(X, Y, graph, 0.1, 0.05), tol=1e-8)
    np.testing.assert_allclose(sparse.matrix, dense.matrix, atol=1e-6)


def test_a_warm_start_goes_on_from_there():
    X, Y, graph, _ = tasks()
    first = ml.solve(JointlySparse(X, Y, graph, 0.1, 0.05), tol=1e-8)
    near = JointlySparse(X, Y, graph, 0.1, 0.051)
    engine = JointADMM(inner=2)
    cold, warm = (ml.solve(near, engine, tol=1e-6, warm_start=start) for start in (None, first))
    assert warm.iterations < cold.iterations


# -- what cannot be, and what is strange -------------------------------------------------------------

RNG = np.random.default_rng(0)
X, TASK = RNG.standard_normal((12, 2)), np.repeat(np.arange(3), 4)
Y = X @ [1.0, -1.0] + 0.1 * RNG.standard_normal(12)


def posed(**changed):
    given = {"X": X, "Y": Y, "rho": 0.1, "eta": 0.05, "task": TASK} | changed
    return (ConcaveJointlySparse if "penalty" in given or "epsilon" in given else JointlySparse)(**given)


REFUSED = {
    "rho must be >= 0 and finite, got -1": {"rho": -1.0},
    "eta must be >= 0 and finite, got inf": {"eta": np.inf},
    "ridge must be > 0 and finite, got 0: bounds need it": {"ridge": 0.0},
    "epsilon must be a finite number > 0, got 0": {"epsilon": 0.0},
    "epsilon must be a finite number > 0, got -2": {"epsilon": -2.0},
    "penalty must be one of": {"penalty": "l0"},
    "with 'l21' the problem is convex: JointlySparse": {"penalty": "l21"},
    "X.*NaN": {"X": np.full((12, 2), np.nan)},
    "Y.*NaN": {"Y": np.full(12, np.nan)},
    "graph has 2 nodes, and there are 3 tasks": {"graph": complete(2)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_by_name(message):
    with pytest.raises(ProblemError, match=message):
        posed(**REFUSED[message])


STRANGE = {
    "one task": {"task": np.zeros(12, int)},
    "one feature": {"X": X[:, :1]},
    "no edges": {"graph": np.zeros((3, 3))},
    "fewer rows than features": {"X": RNG.standard_normal((12, 9))},
    "all features zero": {"X": np.zeros((12, 2))},
    "targets of zero": {"Y": np.zeros(12)},
    "a penalty that leaves nothing": {"eta": 1e3},
    "no penalty": {"eta": 0.0, "ridge": 1e-3},
    "no graph": {"rho": 0.0},
    "large units": {"X": 1e3 * X, "eta": 50.0, "rho": 1e5, "ridge": 1.0},
    "weights of rows": {"sample_weight": np.arange(12.0) % 4},
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_strange_is_solved_right(what):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        problem, concave = posed(**STRANGE[what]), posed(**STRANGE[what], penalty="l20", epsilon=1.0)
    solution, best = ml.solve(problem, tol=1e-6, max_iter=500), optimum(problem)
    assert solution.status == "optimal", solution.explain()
    assert solution.lower <= best.value + best.error and best.value - best.error <= solution.upper
    assert ml.solve(concave, tol=1e-5, max_iter=100).status == "stationary"


def test_what_an_engine_cannot_do_is_refused_by_name():
    apart = Local(hub=False)
    assert "needs a hub" in JointADMM().objection(posed(machines=apart))
    assert "is for JointlySparse" in JointADMM().objection(posed(penalty="rw"))
    assert "is for ConcaveJointlySparse" in Reweighting().objection(posed())
    with pytest.raises(ProblemError, match="y must hold 18 numbers"):
        posed().bound_from_vector(np.zeros(3))


# -- the estimator -----------------------------------------------------------------------------------


@parametrize_with_checks([JointlySparseRegressor(), JointlySparseRegressor(penalty="rw")], xfail_strict=True)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_estimator_takes_each_penalty_and_has_intercepts():
    data, targets, graph, W = tasks(n=30)
    rows, task = np.vstack(data), np.repeat(np.arange(8), 30)
    y = np.concatenate(targets) + 10.0 * task
    for penalty, status in (("l21", "optimal"), ("rw", "stationary"), ("l20", "stationary")):
        model = JointlySparseRegressor(0.02, 0.02, penalty=penalty).fit(rows, y, task, graph=graph)
        assert model.solution_.status == status
        np.testing.assert_allclose(model.intercept_, 10.0 * np.arange(8), atol=0.5)
        assert np.abs(model.coef_ - W.T).mean() < 0.1
    with pytest.raises(ValueError, match="penalty must be one of"):
        JointlySparseRegressor(penalty="l1").fit(rows, y, task)
    with pytest.raises(ValueError, match="eta must be"):
        JointlySparseRegressor(eta=-1.0).fit(rows, y, task)
