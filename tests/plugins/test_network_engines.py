"""Engines: all reach the same optimum, send what is counted by hand, and survive what they promise to survive."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_network import (
    BOL,
    BSR,
    DMTL,
    SOL,
    SSR,
    GradientDescent,
    GraphMultitask,
    GraphWarning,
    Krylov,
    MomentsAtHub,
)
from matrixlearn_network.corner import proximal_pair
from matrixlearn_network.engines import moments
from matrixlearn_network.local_steps import proximal

import matrixlearn as ml
from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import CapabilityError
from matrixlearn.losses import LOSSES, loss_named
from matrixlearn.machines import Local, Shards

seeds = st.integers(0, 2**31 - 2)
RING = nx.to_numpy_array(nx.cycle_graph(12))


def simulated(seed=0, graph=RING, n=15, d=3, loss="square", eta=0.1, tau=1.0, **more):
    rng, m = np.random.default_rng(seed), len(graph)
    W = rng.standard_normal((d, 1)) + 0.3 * rng.standard_normal((d, m))
    X = rng.standard_normal((m, n, d))
    y = np.einsum("mnd,dm->mn", X, W) + 0.5 * rng.standard_normal((m, n))
    y = np.where(y > 0, 1.0, -1.0) if loss in ("logistic", "hinge") else y
    return GraphMultitask(list(X), list(y), graph, eta, tau, loss, **more)


def walk(problem, engine, rounds, start=None):
    """The states of the first rounds."""
    incumbent = Incumbent.first(problem) if start is None else Incumbent(problem).offered(ml.engines.Proposal(X=start))
    state = engine.init(problem, incumbent)
    for _ in range(rounds):
        state = engine.step(problem, state, incumbent)
        yield state


@pytest.mark.parametrize(
    "loss", ["square", "logistic", "huber", "hinge", "smoothed-hinge", "squared-hinge", "absolute"]
)
def test_every_engine_reaches_the_optimum(loss):
    signs = loss in ("smoothed-hinge", "squared-hinge")
    problem = simulated(loss="logistic" if signs else loss)
    problem = GraphMultitask(**{**problem.parameters(), "loss": loss})
    reference = problem.reference()
    least = reference.solve(solver="CLARABEL")
    names = [name for name in ml.methods(problem) if name not in ("reference", "ssr", "sol")]
    assert set(names) >= ({"bol"} if loss in ("hinge", "absolute") else {"krylov", "bol", "gd", "bsr", "dmtl"})
    for name in names:
        solution = ml.solve(problem, method=name, tol=1e-6, max_iter=3000)
        assert solution.status == "optimal", name
        assert solution.lower <= least + 1e-7 and least - 1e-7 <= solution.upper
        assert solution.value == pytest.approx(least, abs=2e-6 * max(abs(least), 1e-3 * problem.scale))


@given(seeds, st.sampled_from(sorted(LOSSES)), st.floats(-3, 3))
def test_a_proximal_step_leaves_no_gradient(seed, name, power):
    """u = t - a grad F(u), for a subgradient where there is a corner: its dual certifies it."""
    rng, loss = np.random.default_rng(seed), loss_named(name)
    k, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    task = np.repeat(np.arange(k), rng.integers(1, 6, k))
    X, y = rng.standard_normal((len(task), d)), rng.standard_normal(len(task))
    block = Shards.of(X, np.where(y > 0, 1.0, -1.0), task, rng.random(len(task)) + 0.1).block()
    T, a = rng.standard_normal((k, d)), np.full(k, 10.0**power)
    if np.isfinite(loss.smoothness):
        U = proximal(block, T, a, np.zeros_like(T), loss)
        u = loss.gradient(block.predict(U), block.y)
    else:
        U, u = proximal_pair(block, T, a, loss)
        lower, upper = loss.domain(block.y)
        assert np.all((lower <= u) & (u <= upper))
    V = block.adjoint(block.shares * u)
    primal = block.summed(block.shares * loss.value(block.predict(U), block.y)) + np.sum((U - T) ** 2, axis=1) / (2 * a)
    dual = (
        np.sum(V * T, axis=1) - a * np.sum(V**2, axis=1) / 2 - block.summed(block.shares * loss.conjugate(u, block.y))
    )
    size = 1 + block.summed(block.shares * loss.value(block.predict(T), block.y))
    assert np.all(primal - dual <= 1e-6 * size)
    assert np.all(primal - dual >= -1e-9 * size)


def test_what_is_sent_is_what_a_count_by_hand_says():
    """A ring of 20: BOL 40 vectors a round, BSR 40 through the hub; moments d (d + 3) / 2 numbers a machine, once."""
    problem = simulated(graph=nx.to_numpy_array(nx.cycle_graph(20)), d=4)
    m, d = 20, 4
    hessians = m * d * (d + 1) // 2
    expected = {  # numbers between neighbours, up, down after three rounds
        BOL(): (3 * 40 * d, 0, 0),
        GradientDescent(): (3 * 40 * d, 0, 0),
        DMTL(): (3 * 40 * d, 0, 0),
        BSR(): (0, 3 * m * d, 3 * m * d),
        Krylov("mean"): (0, hessians + m * d + 3 * m * d, 3 * m * d),
        Krylov("own"): (3 * 40 * d, 3 * 2 * m, 3 * 2 * m),
        SSR(): (0, 3 * m * d, 3 * m * d),
        SOL(): (3 * 40 * d, 0, 0),
    }
    for engine, (between, up, down) in expected.items():
        *_, state = walk(problem, engine, 3)
        ledger = state.ledger
        assert (ledger.rounds, ledger.between, ledger.up, ledger.down) == (3, between, up, down), engine
        assert ledger is problem.ledger(engine.name)
        assert ledger.vectors_after(3) == (between + up + down) / d
    *_, state = walk(problem, MomentsAtHub(), 1)
    assert (state.ledger.rounds, state.ledger.up) == (1, m * d * (d + 3) // 2)
    assert "1 rounds" in ml.solve(problem, method="moments", tol=1e-8).explain()


@settings(max_examples=15)
@given(
    seeds, st.sampled_from(["square", "logistic", "huber", "hinge"]), st.sampled_from([(0, 0.0), (3, 0.0), (2, 0.5)])
)
def test_bol_and_gd_contract_by_1_minus_a_eta_also_where_messages_are_late_or_lost(seed, loss, faults):
    """max_i ||w_i - w_i*|| shrinks by 1 - a eta in every round, and with faults stays below the largest so far."""
    delay, lost = faults
    problem = simulated(seed % 100, nx.to_numpy_array(nx.cycle_graph(5)), 6, 2, loss, machines=Local(delay, lost, seed))
    W = ml.solve(
        simulated(seed % 100, nx.to_numpy_array(nx.cycle_graph(5)), 6, 2, loss), tol=1e-9, max_iter=2000
    ).matrix.T
    engines = [BOL(False)] if loss == "hinge" else [BOL(False), GradientDescent(False)]
    for engine in engines:
        step = 1 / (problem.eta + problem.tau * 2)  # the largest degree of a ring
        if engine.name == "gd":
            L = problem.smoothness
            step = min(step, 1 / (L + problem.eta + problem.tau * problem.graph.largest), 1 / (L / 2 + problem.eta + 2))
        elif problem.machines.reliable:
            step = 1 / (problem.eta + problem.tau * problem.graph.largest)
        distances = [np.linalg.norm(W, axis=1).max()]
        for state in walk(problem, engine, 12):
            now = np.linalg.norm(state.W - W, axis=1).max()
            bound = (1 - step * problem.eta) * distances[-1] if faults == (0, 0.0) else max(distances)
            assert now <= bound + 1e-4
            distances.append(now)


@pytest.mark.parametrize("faults", [(3, 0.0), (10, 0.0), (0, 0.5), (3, 0.5)])
@pytest.mark.parametrize("method", ["bol", "gd", "dmtl"])
def test_late_and_lost_messages_cost_rounds_and_not_the_answer(method, faults):
    still = ml.solve(simulated(), tol=1e-9)
    solution = ml.solve(simulated(machines=Local(*faults, seed=1)), method=method, tol=1e-5, max_iter=2000)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(still.value, rel=2e-5)


def test_what_has_no_proof_is_refused_by_name():
    late, apart, hinge = (
        simulated(machines=Local(delay=1)),
        simulated(machines=Local(hub=False)),
        simulated(loss="hinge"),
    )
    for engine in (BSR(), Krylov(), MomentsAtHub(), BOL(True), GradientDescent(True), SSR(), SOL()):
        assert "late or lost" in engine.objection(late), engine
    assert {"bol", "gd", "dmtl"} == set(ml.methods(late)) - {"reference"}
    for engine in (BSR(), MomentsAtHub(), SSR(), Krylov("mean")):
        assert "no" in engine.objection(apart) and "hub" in engine.objection(apart), engine
    assert ml.solve(apart, tol=1e-6).method == "krylov"  # own blocks
    for engine in (BSR(), GradientDescent(), Krylov()):
        assert "hinge has a corner; bol takes it" in engine.objection(hinge)
    assert "square loss, not of logistic" in MomentsAtHub().objection(simulated(loss="logistic"))
    assert "its steps differ by task" in DMTL(accelerated=True).objection(simulated())
    assert "'auto', 'mean' or 'own'" in Krylov("gram").objection(simulated())
    assert "batch of one row or more" in SSR(batch=0).objection(simulated())
    no_ridge = simulated(eta=0.0)
    assert "eta > 0; dmtl takes eta = 0" in BOL().objection(no_ridge)
    with pytest.raises(CapabilityError, match="late or lost"):
        ml.solve(late, method="bsr")


def test_without_a_hub_the_certificate_is_wider_and_still_closes():
    apart = ml.solve(simulated(tau=10.0, machines=Local(hub=False)), method="bol", tol=1e-6)
    assert apart.status == "optimal"
    W = apart.matrix + 1e-3 * np.random.default_rng(0).standard_normal(apart.matrix.shape)
    hub, peers = ml.certify(simulated(tau=10.0), X=W), ml.certify(apart.problem, X=W)
    assert hub.gap < peers.gap / 2


def test_dmtl_is_bol_with_a_step_for_each_node():
    """w = (X^T X + m_k lambda I)^-1 (X^T y + lambda sum of neighbours), to 1e-12, with lambda = n tau at eta = 0."""
    problem = simulated(eta=0.0, tau=0.4, n=9)
    W, lam = np.zeros((12, 3)), 9 * 0.4
    for state in walk(problem, DMTL(), 6):
        near = RING @ W
        new = np.empty_like(W)
        for k in range(12):
            X, y = problem.X[problem.task == k], problem.Y[problem.task == k]
            new[k] = np.linalg.solve(X.T @ X + 2 * lam * np.eye(3), X.T @ y + lam * near[k])
        W = new
        np.testing.assert_allclose(state.W, W, atol=1e-12)
        W = state.W


def test_sensors_stop_by_a_common_decision():
    """All in the round in which word of the first round without a move has reached the last of them."""
    problem = simulated(eta=0.0, tau=1.0)
    threshold, far = 1e-6, 6
    assert problem.graph.diameter == far
    moves = []
    for state in walk(problem, DMTL(threshold=threshold), 200):
        moves.append(np.max(np.sum((state.W - state.before) ** 2, axis=1)))
        if state.finished:
            break
    rounds = len(moves)
    first = next(at for at, move in enumerate(moves, 1) if move < threshold)
    assert rounds == first + far and "common decision, 6 rounds later" in state.finished
    assert state.ledger.between == rounds * 24 * (3 + 1)  # a vector and a number along each link
    alone = list(walk(problem, DMTL(), rounds))[-1]
    np.testing.assert_array_equal(alone.W, state.W)
    solution = ml.solve(problem, method=DMTL(threshold=1e-3), tol=1e-9)
    assert solution.status == "stopped" and solution.gap > 1e-7  # the decision proves nothing
    late = simulated(machines=Local(delay=1))
    with pytest.warns(GraphWarning, match="not connected"):
        parts = simulated(graph=np.kron(np.eye(2), 1 - np.eye(6)))
    assert "arrive in time" in DMTL(threshold=1e-3).objection(late)
    assert "connected graph" in DMTL(threshold=1e-3).objection(parts)
    assert "threshold > 0" in DMTL(threshold=0.0).objection(problem)


@settings(max_examples=15)
@given(seeds, st.sampled_from([(0, 0.0), (3, 0.0), (2, 0.5)]))
def test_dmtl_contracts_by_the_share_of_the_graph(seed, faults):
    """max_i ||w_i - w_i*|| shrinks by q = max tau deg_i / (lambda_min(H_i) + eta + tau deg_i) in every round."""
    ring = nx.to_numpy_array(nx.cycle_graph(5))
    still = simulated(seed % 100, ring, 6, 2, eta=0.0)
    optimum = ml.solve(still, method="dmtl", tol=1e-13, max_iter=20_000).matrix.T
    problem = simulated(seed % 100, ring, 6, 2, eta=0.0, machines=Local(*faults, seed=seed))
    least = min(np.linalg.eigvalsh(X.T @ X / 6)[0] for X in np.split(problem.X, 5))
    q = 2 / (least + 2)  # a ring, tau = 1
    distances = [np.linalg.norm(optimum, axis=1).max()]
    for state in walk(problem, DMTL(), 12):
        now = np.linalg.norm(state.W - optimum, axis=1).max()
        assert now <= (q * distances[-1] if faults == (0, 0.0) else max(distances)) + 1e-4
        distances.append(now)


def test_dmtl_damps_itself_where_a_direction_is_seen_by_no_sensor():
    """On an even ring Jacobi would swing for ever in that direction."""
    rng = np.random.default_rng(0)
    ring = nx.to_numpy_array(nx.cycle_graph(6))
    X = rng.standard_normal((6, 4, 2)) * [1.0, 0.0]
    problem = GraphMultitask(list(X), list(X[:, :, 0] + 0.1 * rng.standard_normal((6, 4))), ring, 0.0, 1.0)
    start = rng.standard_normal((2, 6))
    states = list(walk(problem, DMTL(), 200, start))
    assert np.linalg.norm(states[-1].W - states[-2].W) < 1e-10


def test_consensus_is_the_limit_of_a_strong_graph():
    """The distance to the pooled model falls as 1 / tau."""
    problem = simulated()
    X, y = problem.X, problem.Y
    pooled = np.linalg.solve(X.T @ X / len(X) + problem.eta * np.eye(3), X.T @ y / len(X))
    far = [
        np.abs(ml.solve(problem.with_prior(0.1, tau), tol=1e-12).matrix - pooled[:, None]).max() for tau in (1e2, 1e4)
    ]
    assert far[0] / far[1] == pytest.approx(100, rel=0.1)
    # and M^-1, BSR's averaging, becomes the mean
    inverse = problem.with_prior(0.1, 1e6).coupling.solve(np.eye(12))
    np.testing.assert_allclose(inverse, 1 / 12, atol=1e-5)


def test_one_pass_ends_with_its_stream_and_learns_something():
    problem = simulated(n=40)
    for engine in (SSR(batch=2), SOL(batch=5)):
        solution = ml.solve(problem, method=engine, tol=1e-9)
        assert solution.iterations == 40 // engine.batch + 1
        assert "end of stream" in solution.explain()
        assert solution.value < 0.6 * problem.scale
    broken = ml.solve(problem, method=SSR(length=1e200), tol=1e-9)
    assert "beyond all bounds" in broken.explain() or broken.status == "stopped"


def test_own_blocks_serve_weak_coupling_and_the_mean_strong():
    weak, strong = simulated(tau=1e-3), simulated(tau=10.0)
    assert not Krylov().uses_mean(weak) and Krylov().uses_mean(strong)
    assert ml.solve(weak, method="krylov", tol=1e-6).iterations <= 5
    assert ml.solve(strong, method="krylov", tol=1e-6).iterations <= 5


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_newton_needs_few_rounds(loss):
    solution = ml.solve(simulated(loss=loss), method="krylov", tol=1e-8)
    assert solution.status == "optimal"
    assert solution.iterations < 60


def test_many_machines_are_solved_at_the_hub_by_sparse_factors(monkeypatch):
    dense = ml.solve(simulated(), method="moments", tol=1e-9).matrix
    monkeypatch.setattr(moments, "DENSE", 5)
    monkeypatch.setattr("matrixlearn_network.coupling.DENSE", 5)
    np.testing.assert_allclose(ml.solve(simulated(), method="moments", tol=1e-9).matrix, dense, atol=1e-9)


def test_a_warm_start_goes_on_from_there():
    problem = simulated()
    first = ml.solve(problem, method="bol", tol=1e-4)
    near = problem.with_prior(0.1, 1.01)
    assert ml.solve(near, method="bol", tol=1e-4, warm_start=first).iterations < first.iterations
