"""Both certificates: they hold whatever the weights, agree with the gradient's gap, and survive all units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_network import GraphMultitask
from matrixlearn_network.bounds import lower_bound

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Local
from matrixlearn.testing.reference import optimum

seeds = st.integers(0, 2**31 - 2)


def instance(seed, **changed):
    """A random problem, parameters changed."""
    problem = GraphMultitask.random(np.random.default_rng(seed))
    return type(problem)(**{**problem.parameters(), **changed}), np.random.default_rng(seed + 1)


@given(seeds, st.sampled_from(["at random", "near the optimum"]))
def test_bounds_hold_for_any_weights_and_any_dual_point(seed, where):
    problem, rng = instance(seed)
    judged = optimum(problem)
    W = rng.standard_normal(problem.shape) * 10.0 ** rng.uniform(-3, 2)
    if where == "near the optimum":
        W = ml.solve(problem, tol=1e-6, max_iter=50).matrix + 1e-4 * W
    u = rng.standard_normal(problem.rows) * 10.0 ** rng.uniform(-2, 1)
    certificate = ml.certify(problem, X=W, y=u)
    peers, _ = instance(seed, machines=Local(hub=False))
    for bound in (certificate, peers.bound_from_matrix(W), problem.bound_from_vector(u)):
        assert bound.lower <= judged.value + judged.error
        assert bound.upper >= judged.value - judged.error
    assert certificate.upper >= problem.value(W)


@given(seeds)
def test_the_gap_of_a_smooth_loss_is_the_gradient_in_the_metric_of_the_graph(seed):
    """P - D = (m / 2 eta) tr(G M^-1 G^T), and at most (m / 2 eta) ||G||^2 without a hub."""
    problem, rng = instance(seed)
    if not np.isfinite(problem.loss.smoothness):
        return
    W = rng.standard_normal(problem.shape)
    m, G = problem.shape[1], problem.gradient(W) / problem.shape[1]
    wanted = m / (2 * problem.eta) * float(np.vdot(G, problem.coupling.solve(G)))
    one = problem.passed(W)
    gap = problem.value(W) - lower_bound(one.conjugate, one.slope, one.slope_error, problem.coupling)
    size = abs(problem.value(W)) + abs(gap)
    assert gap == pytest.approx(wanted, abs=1e-10 * size)
    apart = lower_bound(one.conjugate, one.slope, one.slope_error, problem.coupling, -problem.eta * W.T)
    peers = problem.value(W) - apart
    assert peers == pytest.approx(m / (2 * problem.eta) * float(np.vdot(G, G)), abs=1e-10 * (size + abs(peers)))
    assert gap <= peers + 1e-10 * size


@given(seeds, st.sampled_from([-6, -3, 3, 6]), st.sampled_from(["square", "huber", "logistic", "hinge"]))
def test_bounds_scale_with_the_units_of_the_features(seed, power, loss):
    """X -> k X with eta, tau -> k^2 eta, k^2 tau and W -> W / k is the same problem."""
    k = 10.0**power
    problem, rng = instance(seed)
    data = problem.parameters() | {"loss": loss, "Y": np.where(problem.Y > 0, 1.0, -1.0)}
    problem = GraphMultitask(**data)
    other = GraphMultitask(**{**data, "X": k * problem.X, "eta": k**2 * problem.eta, "tau": k**2 * problem.tau})
    W = 0.1 * rng.standard_normal(problem.shape)
    here, there = problem.bound_from_matrix(W), other.bound_from_matrix(W / k)
    assert there.upper == pytest.approx(here.upper, rel=1e-9)
    assert there.lower == pytest.approx(here.lower, rel=1e-9, abs=1e-9 * here.upper)


@given(seeds)
def test_permuted_tasks_and_turned_features_are_the_same_problem(seed):
    problem, rng = instance(seed)
    d, m = problem.shape
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(m)
    label = np.argsort(order)[np.searchsorted(problem.tasks, problem.task)]
    A = problem.graph.weights.toarray()[np.ix_(order, order)]
    other = GraphMultitask(problem.X @ Q, problem.Y, A, problem.eta, problem.tau, problem.loss, label)
    W = rng.standard_normal((d, m))
    assert other.value(Q.T @ W[:, order]) == pytest.approx(problem.value(W), rel=1e-10)


def test_a_certified_answer_is_far_within_its_tolerance_where_rounding_matters():
    """The bounds are of use: a gap of 1e-10 is proved."""
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((200, 5)), np.repeat(np.arange(10), 20)
    problem = GraphMultitask(X, X @ rng.standard_normal(5) + rng.standard_normal(200), None, 0.1, 1.0, task=task)
    assert ml.solve(problem, tol=1e-10).status == "optimal"
    assert ml.solve(problem, method="bsr", tol=1e-10).status == "optimal"


def test_without_a_ridge_the_least_eigenvalue_of_the_system_certifies_the_square_loss():
    rng = np.random.default_rng(1)
    X, task = rng.standard_normal((40, 3)), np.repeat(np.arange(8), 5)
    data = (X, X @ rng.standard_normal(3) + rng.standard_normal(40), None, 0.0, 1.0)
    problem = GraphMultitask(*data, task=task)
    assert "dmtl" in ml.methods(problem) and "bol" not in ml.methods(problem)
    solution = ml.solve(problem, tol=1e-8)
    assert (solution.status, solution.method) == ("optimal", "dmtl")
    judged = optimum(problem)
    assert solution.lower <= judged.value + judged.error and judged.value - judged.error <= solution.upper
    worse = ml.certify(problem, X=solution.matrix + 0.1)
    assert worse.lower <= judged.value + judged.error
    huber = GraphMultitask(*data, task=task, loss="huber")
    assert ml.solve(huber, method="dmtl", tol=1e-6, max_iter=20).status == "stopped"
    with pytest.raises(ProblemError, match="eta = 0 leaves no ridge"):
        _ = problem.coupling


def test_a_tampered_answer_is_refused():
    problem, rng = instance(3)
    with pytest.raises(ProblemError, match=r"W must have shape"):
        problem.bound_from_matrix(np.zeros((9, 9)))
    with pytest.raises(ProblemError, match="NaN"):
        problem.bound_from_matrix(np.full(problem.shape, np.nan))
    with pytest.raises(ProblemError, match="y must hold a number for each"):
        problem.bound_from_vector(np.zeros(problem.rows + 1))
