"""Errata of the report on networks: what the printed formula gives, and what is right."""

import networkx as nx
import numpy as np
import pytest
from matrixlearn_network import DMTL, SSR, GradientDescent, GraphMultitask

import matrixlearn as ml
from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import ProblemError

M, N, D = 6, 8, 3
RING = nx.to_numpy_array(nx.cycle_graph(M))


def problem_of(eta=0.2, tau=0.7, rows=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, rows, D))
    y = X @ rng.standard_normal(D) + rng.standard_normal((M, rows))
    return GraphMultitask(list(X), list(y), RING, eta, tau), X, y


def gradients(X, y, W):
    """The gradients of the F_i, by task."""
    return np.einsum("mnd,mn->md", X, np.einsum("mnd,md->mn", X, W) - y) / X.shape[1]


def limit(step, rounds=4000):
    W = np.zeros((M, D))
    for _ in range(rounds):
        W = step(W)
    return W


def distance(W, other):
    return np.linalg.norm(W - other) / np.linalg.norm(other)


def test_e1_bsr_as_printed_solves_the_problem_of_m_times_the_penalties():
    problem, X, y = problem_of()
    right = ml.solve(problem, method="bsr", tol=1e-12).matrix.T
    inverse, a = problem.coupling.solve(np.eye(M)), 0.1
    printed = limit(lambda W: (1 - a * 0.2) * W - a * inverse @ gradients(X, y, W) / M)  # grad F = (1/m) [grad F_i]
    np.testing.assert_allclose(printed, ml.solve(problem.with_prior(M * 0.2, M * 0.7), tol=1e-12).matrix.T, atol=1e-6)
    assert distance(printed, right) > 0.3
    ours = limit(lambda W: (1 - a * 0.2) * W - a * inverse @ gradients(X, y, W))
    np.testing.assert_allclose(ours, right, atol=1e-6)


def test_e2_bsr_without_shrinkage_minimises_the_loss_alone():
    problem, X, y = problem_of()
    inverse, a = problem.coupling.solve(np.eye(M)), 0.2
    printed = limit(lambda W: W - a * inverse @ gradients(X, y, W), 20_000)
    alone = np.stack([np.linalg.lstsq(X[i], y[i])[0] for i in range(M)])
    np.testing.assert_allclose(printed, alone, atol=1e-5)
    assert distance(printed, ml.solve(problem, tol=1e-12).matrix.T) > 0.3


def test_e3_ssr_averages_the_gradients_of_the_f_i_not_those_over_m_and_has_no_shrinkage():
    problem, X, y = problem_of()
    start, rng = Incumbent.first(problem), np.random.default_rng(1)
    engine, W = SSR(batch=N, length=0.3), rng.standard_normal((M, D))
    state = engine.init(problem, Incumbent(problem).offered(ml.engines.Proposal(X=W.T)))
    moved = engine.step(problem, state, start).W
    averaged = problem.coupling.solve(gradients(X, y, W))
    np.testing.assert_allclose(moved, W - 0.3 * averaged, atol=1e-12)
    assert distance(moved, W - 0.3 * averaged / M) > 0.1
    assert distance(moved, (1 - 0.3 * 0.2) * W - 0.3 * averaged) > 0.01


def test_e4_gradient_descent_takes_its_step_on_loss_and_regulariser_both():
    problem, X, y = problem_of()
    W = np.random.default_rng(1).standard_normal((M, D))
    engine = GradientDescent()
    state = engine.init(problem, Incumbent(problem).offered(ml.engines.Proposal(X=W.T)))
    a = float(state.step[0])
    moved = engine.step(problem, state, None).W
    np.testing.assert_allclose(moved, W - a * problem.gradient(W.T), atol=1e-12)  # m a on P, whose gradient has 1/m
    assert distance(moved, W - a * gradients(X, y, W)) > 0.01


def jacobi(X, y, lam, near, W, rounds):
    """DMTL's (5) with neighbours ``near``, a 0-1 matrix that need not be symmetric."""
    m, _, d = X.shape
    for _ in range(rounds):
        pulled = near @ W
        W = np.stack(
            [
                np.linalg.solve(X[k].T @ X[k] + near[k].sum() * lam * np.eye(d), X[k].T @ y[k] + lam * pulled[k])
                for k in range(m)
            ]
        )
    return W


def slope_of_sum(X, y, lam, near, W):
    """Half the gradient of sum ||X_k w_k - y_k||^2 + lam sum_k sum_{k' in S_k} ||w_k - w_k'||^2."""
    both = near + near.T
    return np.einsum("mnd,mn->md", X, np.einsum("mnd,md->mn", X, W) - y) + lam * (both.sum(1)[:, None] * W - both @ W)


def test_e22_dmtl_minimises_its_objective_with_half_of_lambda():
    problem, X, y = problem_of(eta=0.0)
    lam = N * 0.7
    W = jacobi(X, y, lam, RING, np.zeros((M, D)), 2000)
    assert np.linalg.norm(slope_of_sum(X, y, lam / 2, RING, W)) < 1e-9
    assert np.linalg.norm(slope_of_sum(X, y, lam, RING, W)) > 1.0
    np.testing.assert_allclose(ml.solve(problem, method="dmtl", tol=1e-12, max_iter=3000).matrix.T, W, atol=1e-5)


def test_e23_neighbours_that_are_not_mutual_minimise_nothing_and_are_refused():
    _, X, y = problem_of()
    one_way = np.roll(np.eye(M), 1, axis=1)
    lam = 5.0
    W = jacobi(X, y, lam, one_way, np.zeros((M, D)), 3000)
    assert distance(jacobi(X, y, lam, one_way, W, 1), W) < 1e-12  # converged, and yet
    for candidate in (lam, lam / 2):
        assert np.linalg.norm(slope_of_sum(X, y, candidate, one_way, W)) > 0.1
    with pytest.raises(ProblemError, match="not mutual the method minimises nothing"):
        GraphMultitask(list(X), list(y), one_way, 0.0, 1.0)


def test_e24_the_residual_is_that_of_rows_times_weights():
    """w^T X - y of square X is the residual of another system: it is not 0 where the fit is exact."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((D, D)), rng.standard_normal(D)
    y = X @ w
    assert np.linalg.norm(w @ X - y) > 0.1
    problem = GraphMultitask([X], [y], None, 1e-9, 0.0)
    assert problem.value(w[:, None]) < 1e-8


def test_e25_least_squares_at_the_start_needs_the_pseudo_inverse_where_rows_are_few():
    problem, X, y = problem_of(eta=0.0, rows=2)
    assert np.linalg.matrix_rank(X[0].T @ X[0]) < D  # (X^T X)^-1, as printed, is not there
    start = np.stack([np.linalg.pinv(X[k]) @ y[k] for k in range(M)])
    engine = DMTL()
    state = engine.init(problem, Incumbent(problem).offered(ml.engines.Proposal(X=start.T)))
    for _ in range(3000):
        state = engine.step(problem, state, None)
    assert ml.certify(problem, X=state.W.T).gap < 1e-6


def sensors_that_stop(X, y, lam, near, rounds, counters):
    """Algorithm 1, sensor after sensor; ``counters`` is "one" for a single r set once, as printed, or "each"."""
    W, r, before = np.zeros((M, D)), 0, np.zeros((M, D))
    for k in range(M):
        if counters == "each":
            r = 0
        while r < rounds:
            before[k] = W[k]
            W[k] = jacobi(X, y, lam, near, W, 1)[k]
            r += 1
    return W


def test_e26_a_counter_that_is_set_once_leaves_all_sensors_but_the_first_where_they_were():
    _, X, y = problem_of()
    printed = sensors_that_stop(X, y, 5.0, RING, 5, "one")
    assert np.all(printed[1:] == 0)
    assert np.all(np.any(sensors_that_stop(X, y, 5.0, RING, 5, "each") != 0, axis=1))


def rounds_by_algorithm_1(X, y, lam, threshold, counted_first):
    """Line by line: where r is counted before the test of the move, the test asks for a round that is not there."""
    W, r = [np.zeros((M, D))], 0
    while True:
        if counted_first:
            r += 1
        if r > 0 and np.sum((W[r] - W[r - 1]) ** 2) < threshold:
            return r
        W.append(jacobi(X, y, lam, RING, W[-1], 1))
        if not counted_first:
            r += 1


def test_e27_the_move_is_tested_before_the_next_round_is_counted():
    _, X, y = problem_of()
    with pytest.raises(IndexError):
        rounds_by_algorithm_1(X, y, 5.0, 1e-6, counted_first=True)
    assert 2 < rounds_by_algorithm_1(X, y, 5.0, 1e-6, counted_first=False) < 200


def test_e28_a_sensor_that_stops_sending_is_known_by_its_last_message():
    """No one waits: with nearly all messages lost the rounds go on, and reach the optimum."""
    from matrixlearn.machines import Local

    still, X, y = problem_of()
    lossy = GraphMultitask(list(X), list(y), RING, 0.2, 0.7, machines=Local(loss=0.9, seed=3))
    solution = ml.solve(lossy, method="dmtl", tol=1e-4, max_iter=2000)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(ml.solve(still, tol=1e-8).value, rel=1e-3)
