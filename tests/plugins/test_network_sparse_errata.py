"""Errata of the report on GSpartan: what the printed formula gives, and what is right."""

import networkx as nx
import numpy as np
import pytest
from matrixlearn_network import BlockCoordinateDescent, GSpartan
from matrixlearn_network.factors import Factors

from matrixlearn.engines import Incumbent
from matrixlearn.penalties import ElasticNet

M, N, D, K = 6, 8, 4, 2
RING = nx.to_numpy_array(nx.cycle_graph(M))
L = 2 * np.eye(M) - RING


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((M, N, D))
    W = rng.standard_normal((D, K)) @ rng.random((K, M))
    y = np.einsum("snd,ds->sn", X, W) + 0.3 * rng.standard_normal((M, N))
    return GSpartan(list(X), list(y), RING, K, 0.3, 0.4, 0.5)


@pytest.fixture
def moments(problem):
    """G_s and c_s."""
    S = [(problem.X[problem.task == s], problem.Y[problem.task == s]) for s in range(M)]
    return np.array([X.T @ X for X, _ in S]), np.array([X.T @ y for X, y in S])


@pytest.fixture
def at(problem):
    rng = np.random.default_rng(6)
    return Factors(rng.standard_normal((D, K)), rng.random((M, K)) * (rng.random((M, K)) < 0.8))


def smooth(problem, at):
    return problem.value(at) - problem.mix * at.V.sum() - problem.base * np.abs(at.U).sum()


def slope_U(problem, moments, U, V):
    G, c = moments
    return (np.einsum("sde,es->sd", G, U @ V.T) - c).T @ V + problem.tie * U @ V.T @ L @ V


def slope_V(problem, moments, U, V):
    G, c = moments
    return (np.einsum("sde,es->sd", G, U @ V.T) - c) @ U + problem.tie * L @ V @ U.T @ U


def tau_U(problem, moments, V):
    norms = np.linalg.eigvalsh(moments[0])[:, -1]
    return norms @ np.sum(V**2, axis=1) + problem.tie * np.linalg.norm(V.T @ L @ V, 2)


def tau_V(problem, moments, U):
    """Of each task."""
    inner = np.linalg.eigvalsh(U.T @ moments[0] @ U)[:, -1]
    return inner + 2 * problem.tie * np.linalg.norm(U, 2) ** 2 * RING.sum(axis=1)


def shrunk(x, by):
    return np.sign(x) * np.maximum(np.abs(x) - by, 0.0)


def by_engine(problem, at, before=None, ahead=0.0):
    """W after a round of the engine."""
    engine, start = BlockCoordinateDescent(), Incumbent.first(problem)
    state = engine.init(problem, start)
    object.__setattr__(state, "at", at)
    object.__setattr__(state, "before", at if before is None else before)
    return engine._moved(problem, state, ahead).at.W


def by_hand(problem, moments, at):
    """W after a step in U and a step in V, without extrapolation."""
    tau = tau_U(problem, moments, at.V)
    U = shrunk(at.U - slope_U(problem, moments, at.U, at.V) / tau, problem.base / tau)
    tau = tau_V(problem, moments, U)[:, None]
    V = np.maximum(at.V - (slope_V(problem, moments, U, at.V) + problem.mix) / tau, 0.0)
    return U @ V.T


def test_e5_the_graph_enters_by_its_laplacian_not_by_the_affinity(problem):
    alike = Factors(np.ones((D, K)), np.ones((M, K)))  # all tasks equal: nothing to pay for the graph
    untied = GSpartan(**(problem.parameters() | {"tie": 0.0}))
    assert problem.value(alike) == pytest.approx(untied.value(alike), rel=1e-12)
    printed = problem.tie / 2 * np.trace(alike.W @ RING @ alike.W.T)
    assert printed > 1.0


def test_e6_each_task_counts_once(problem, at):
    terms = [np.sum((problem.X[problem.task == s] @ at.W[:, s] - problem.Y[problem.task == s]) ** 2) for s in range(M)]
    tie = problem.tie / 2 * np.trace(at.W @ L @ at.W.T)
    assert smooth(problem, at) == pytest.approx(np.sum(terms) / 2 + tie, rel=1e-12)
    printed = sum(sum(terms) for _ in range(M)) / 2 + tie
    assert printed > 2 * smooth(problem, at)


def test_e7_the_threshold_is_lambda_over_tau(problem, moments, at):
    tau = tau_U(problem, moments, at.V)
    there = at.U - slope_U(problem, moments, at.U, at.V) / tau
    assert np.all(shrunk(there, tau / problem.base) == 0)  # as printed
    np.testing.assert_allclose(by_engine(problem, at), by_hand(problem, moments, at), atol=1e-12)
    assert np.any(by_engine(problem, at) != 0)


def test_e8_the_step_in_v_has_its_own_penalty_and_is_projected(problem, moments):
    at = Factors(np.ones((D, K)), np.full((M, K), 0.01))
    tau = tau_V(problem, moments, at.U)[:, None]
    there = at.V - slope_V(problem, moments, at.U, at.V) / tau
    printed = shrunk(there, 0.9 / problem.base)  # S with threshold omega / lambda_2
    right = np.maximum(there - problem.mix / tau, 0.0)
    assert np.any(printed == 0) and not np.allclose(printed, right)
    negative = shrunk(there - 1.0, problem.mix)
    assert np.any(negative < 0)  # both signs, infeasible
    assert np.all(right >= 0) and problem.value(Factors(at.U, right)) < problem.value(at)


def test_e9_v_is_extrapolated_by_omega_not_by_tau(problem, moments, at):
    tau = tau_V(problem, moments, at.U)[:, None]

    def step(ahead):
        there = at.V + ahead * 0.05 * at.V  # V_old = 0.95 V
        return np.maximum(there - (slope_V(problem, moments, at.U, there) + problem.mix) / tau, 0.0)

    assert problem.value(Factors(at.U, step(tau))) > problem.value(at)
    assert problem.value(Factors(at.U, step(0.5))) < problem.value(at)


def test_e10_v_at_least_zero_does_not_drop_out(problem, moments):
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((D, K)), np.zeros((M, K))
    tau, free = tau_V(problem, moments, U)[:, None], np.zeros((M, K))
    for _ in range(3000):
        V = np.maximum(V - (slope_V(problem, moments, U, V) + problem.mix) / tau, 0.0)
        free = free - (slope_V(problem, moments, U, free) + problem.mix) / tau
    assert free.min() < -0.1 and V.min() == 0.0
    assert not np.allclose(np.maximum(free, 0.0), V, atol=1e-3)
    assert np.all(slope_V(problem, moments, U, V)[V == 0] + problem.mix >= -1e-6)


def test_e11_the_model_has_the_gradient_of_the_point_that_it_is_about(problem, moments, at):
    there = Factors(at.U + 0.5, at.V)
    tau = tau_U(problem, moments, at.V)
    right, printed = slope_U(problem, moments, there.U, at.V), slope_U(problem, moments, at.U, at.V)

    def model(U, slope):
        move = U - there.U
        return smooth(problem, there) + np.vdot(move, slope) + tau / 2 * np.sum(move**2)

    others = [there.U - s * (right - printed) / tau for s in (-0.5, 0.5)]
    assert all(model(U, right) >= smooth(problem, Factors(U, at.V)) for U in others)
    assert any(model(U, printed) < smooth(problem, Factors(U, at.V)) for U in others)


def test_e12_the_steps_bound_the_curvature_of_their_blocks(problem, moments, at):
    """tau_s, task by task, bounds what Theorem 2 would: H <= blkdiag(tau_s I)."""
    G = moments[0]
    by_U = sum(np.kron(np.outer(v, v), H) for v, H in zip(at.V, G, strict=True))
    by_U += problem.tie * np.kron(at.V.T @ L @ at.V, np.eye(D))
    assert np.linalg.eigvalsh(by_U)[-1] <= tau_U(problem, moments, at.V)
    inner = at.U.T @ at.U
    by_V = problem.tie * np.kron(L, inner)
    for s in range(M):
        by_V[s * K : (s + 1) * K, s * K : (s + 1) * K] += at.U.T @ G[s] @ at.U
    slack = np.diag(np.repeat(tau_V(problem, moments, at.U), K)) - by_V
    assert np.linalg.eigvalsh(slack)[0] >= 0
    half = np.diag(np.repeat(tau_V(problem, moments, at.U), K)) / 3 - by_V  # and not by much too large
    assert np.linalg.eigvalsh(half)[0] < 0


def test_e13_u_is_shrunk_by_its_own_penalty_and_prox_has_its_step(problem, moments, at):
    heavier = {name: GSpartan(**(problem.parameters() | {name: 50.0})) for name in ("mix", "base")}
    tau = tau_U(problem, moments, at.V)
    steps = {
        name: shrunk(at.U - slope_U(problem, moments, at.U, at.V) / tau, each.base / tau)
        for name, each in heavier.items()
    }
    assert np.count_nonzero(steps["base"]) < np.count_nonzero(steps["mix"]) == D * K
    for each in heavier.values():
        np.testing.assert_allclose(by_engine(each, at), by_hand(each, moments, at), atol=1e-12)
    x, t, grid = 1.3, 0.25, np.linspace(-2, 2, 400_001)
    least = grid[np.argmin(np.abs(grid) + (grid - x) ** 2 / (2 * t))]
    printed = grid[np.argmin(np.abs(grid) + (grid - x) ** 2 / 2)]
    assert ElasticNet(l1=1.0).prox(np.array([x]), t)[0] == pytest.approx(least, abs=1e-4)
    assert abs(printed - least) > 0.5
