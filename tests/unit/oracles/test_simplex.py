"""Oracles over Y: the vertex, the sorted list of Algorithm 3, and the smallest move."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

from matrixlearn._array import as_numpy
from matrixlearn.maps import DenseMap
from matrixlearn.oracles import Done, LevelOracle, Move, Oracle, SortedListOracle, VertexOracle, width_bound
from matrixlearn.problems import Game
from matrixlearn.problems.played import Played
from matrixlearn.sets import KnapsackSet, Spectraplex, TraceBall

seeds = st.integers(0, 2**32 - 1)


def game_and_matrix(seed, array=np.asarray, max_weight=None):
    """A small discrepancy game and a point of its spectral set."""
    rng = np.random.default_rng(seed)
    m, n, N = (int(rng.integers(2, 7)) for _ in range(3))
    problem = Discrepancy(
        array(rng.standard_normal((m, N))), array(0.5 + rng.standard_normal((n, N))), max_weight=max_weight
    )
    game, G = problem.game, rng.standard_normal((problem.rank, problem.rank))
    return game, game.S.project(array((G + G.T) * rng.choice([0.05, 5.0]))), rng


def vertex_values(game, X):
    """<C, X> + c_j - <A_j, X> for every j, from the matrices themselves."""
    X = as_numpy(X)
    forward = [as_numpy(game.image(e)) for e in np.eye(game.Y.size)]
    return np.array([np.trace(F @ X) for F in forward]), [np.linalg.norm(F, 2) for F in forward]


def level_between(values, rng):
    return float(rng.uniform(values.min() - 0.2 * np.ptp(values) - 0.01, values.max() + 0.01))


@given(seed=seeds)
def test_vertex_oracle_answers_with_the_least_value(backend, seed):
    game, X, rng = game_and_matrix(seed, backend.array)
    values, _ = vertex_values(game, X)
    level = level_between(values, rng)
    answer = VertexOracle(game, level)(X)
    if isinstance(answer, Done):
        assert values.min() > level - 1e-12
        assert answer.evidence == pytest.approx(values.min(), abs=1e-12)
        assert answer.phi == 1.0
        return
    assert values.min() <= level + 1e-12
    assert answer.slack == pytest.approx(level - values.min(), abs=1e-12)
    assert values @ answer.y == pytest.approx(values.min(), abs=1e-12)


@given(seed=seeds)
def test_sorted_list_takes_the_first_satisfying_vertex_in_order_of_width(backend, seed):
    game, X, rng = game_and_matrix(seed, backend.array)
    values, widths = vertex_values(game, X)
    level = level_between(values, rng)
    oracle = SortedListOracle(game, level)
    np.testing.assert_allclose(oracle.widths, widths, rtol=1e-10)
    assert np.all(np.diff(oracle.widths[oracle.order]) >= 0)
    answer = oracle(X)
    if isinstance(answer, Done):
        assert values.min() > level - 1e-12
        assert answer.evidence == pytest.approx(values.min(), abs=1e-12)
        return
    j = int(np.argmax(answer.y))
    np.testing.assert_array_equal(answer.y, np.eye(len(values))[j])
    assert values[j] <= level + 1e-12
    # every narrower vertex violates the inequality
    narrower = np.array(widths) < widths[j] - 1e-9
    assert np.all(values[narrower] > level - 1e-12)
    assert answer.slack == pytest.approx(level - values[j], abs=1e-12)


def test_sorted_list_is_shared_between_levels(backend):
    game, X, _ = game_and_matrix(3, backend.array)
    first = SortedListOracle(game, np.inf)
    other = first.at(-np.inf)
    assert other.order is first.order and other.widths is first.widths
    assert isinstance(first(X), Move) and isinstance(other(X), Done)


@pytest.mark.parametrize("kind", [VertexOracle, SortedListOracle])
@given(seed=seeds)
def test_width_claims_hold_for_the_loss(kind, seed):
    game, X, rng = game_and_matrix(seed)
    answer = kind(game, level_between(vertex_values(game, X)[0], rng))(X)
    assert isinstance(kind(game, 0.0), Oracle)
    if isinstance(answer, Move):
        np.testing.assert_allclose(answer.loss, -game.image(answer.y), atol=1e-13)
        assert np.linalg.norm(answer.loss, 2) <= answer.width * (1 + 1e-12)


def level_case(seed, array, max_weight):
    """A game, X, the vertices' values, an anchor in Y, and a level on either side of the anchor's value."""
    game, X, rng = game_and_matrix(seed, array, max_weight)
    values, _ = vertex_values(game, X)
    anchor = game.Y.project(rng.dirichlet(np.ones(game.Y.size)))
    least, held = game.Y.minimize(values)[0], float(values @ anchor)
    return game, X, values, anchor, least, held, float(rng.uniform(least - 0.1, max(held, least) + 0.1))


@pytest.mark.parametrize("max_weight", [None, 1.5])
@given(seed=seeds)
def test_level_oracle_satisfies_the_inequality_with_no_more_than_needed(backend, max_weight, seed):
    game, X, values, anchor, least, held, level = level_case(seed, backend.array, max_weight)
    answer = LevelOracle(game, level, anchor)(X)
    if isinstance(answer, Done):
        assert least > level - 1e-12
        assert answer.evidence == pytest.approx(least, abs=1e-12)
        return
    y, Y = answer.y, game.Y
    np.testing.assert_allclose(Y.project(y), y, atol=1e-12)
    reached = float(values @ y)
    assert reached <= level + 1e-12
    assert answer.slack == pytest.approx(level - reached, abs=1e-11)
    if held <= level:
        np.testing.assert_allclose(y, anchor, atol=1e-12)
    else:
        assert reached >= level - 1.1e-2 * (held - level) - 1e-11  # the oracle promises a hundredth
    assert np.linalg.norm(as_numpy(answer.loss), 2) <= answer.width * (1 + 1e-12)


@pytest.mark.parametrize("max_weight", [None, 1.5])
@pytest.mark.parametrize("seed", range(6))
def test_level_oracle_makes_the_smallest_move(max_weight, seed):
    """No y of Y is as low for a smaller move, where that of y_j counts ||A_j||: against cvxpy."""
    game, X, values, anchor, least, held, _ = level_case(seed, np.asarray, max_weight)
    level = least + 0.4 * (held - least)
    answer = LevelOracle(game, level, anchor)(X)
    assert isinstance(answer, Move)
    norms = game.A.norms
    scale = norms + 1e-3 * norms.max()
    z = cp.Variable(len(anchor))
    distance = cp.norm(cp.multiply(scale, z - anchor))
    nearest = cp.Problem(cp.Minimize(distance), [*game.Y.constraints(z), values @ z <= values @ answer.y])
    nearest.solve(solver=cp.CLARABEL)
    moved = float(np.linalg.norm(scale * (answer.y - anchor)))
    assert moved <= nearest.value * (1 + 2e-2)
    assert moved >= nearest.value * (1 - 1e-5)


def least_room(A, b, X):
    """The largest factor that keeps <A_j, X> <= b_j."""
    used = np.array([np.trace(a @ X) for a in A])
    return min((float(bj / u) for bj, u in zip(b, used, strict=True) if u > bj), default=1.0)


@given(seed=seeds)
def test_level_oracle_with_offsets(seed):
    """A game with c != 0, bounded by the strictly feasible X = 0, and its D_alpha."""
    rng = np.random.default_rng(seed)
    n, m = 3, 4
    G = rng.standard_normal((m + 1, n, n))
    G = (G + G.swapaxes(1, 2)) / 2
    b = rng.uniform(0.2, 2, m)
    zero, S = np.zeros((n, n)), TraceBall(n, 2.0)
    upper = 2.0 * max(0.0, float(np.linalg.eigvalsh(G[0])[-1]))  # of y = 0
    Y = KnapsackSet.weighted_simplex(b, 2 * upper + 1.0)
    game = Game(G[0], DenseMap(G[1:]), b, S, Y, repair=lambda X: X * min(1.0, least_room(G[1:], b, X)), interior=zero)
    X = game.S.project(rng.standard_normal((n, n)))
    anchor = game.Y.center()
    gradient = b - np.array([np.trace(a @ X) for a in G[1:]])
    constant = float(np.trace(G[0] @ X))
    level = game.upper(anchor) * float(rng.uniform(0.01, 1.0))
    Y = game.level_set(level)
    assert np.all(Y.lower == 0) and Y.row_upper <= game.Y.row_upper
    least = constant + Y.minimize(gradient)[0]
    answer = LevelOracle(game, level, anchor)(X)
    size = 1 + abs(level) + np.abs(gradient) @ anchor
    if isinstance(answer, Done):
        assert least > level - 1e-11 * size
        # Lemma 4.2.1: what the level's own set cannot answer, X itself proves
        bound = Played(game).bound_from_matrix(X)
        assert bound.lower > level - 1e-9 * size
        return
    assert least <= level + 1e-11 * size
    assert float(b @ answer.y) <= level * (1 + 1e-9) + 1e-11 * size  # y in D_alpha
    assert constant + float(gradient @ answer.y) <= level + 1e-10 * size


@given(seed=seeds)
def test_width_bound_is_a_bound(seed):
    game, _, rng = game_and_matrix(seed)
    y = rng.standard_normal(game.Y.size)
    assert np.linalg.norm(as_numpy(game.image(y)), 2) <= width_bound(game, y) * (1 + 1e-12)


def test_widths_of_a_set_in_blocks_are_those_of_all_blocks():
    A = np.zeros((2, 4, 4))
    A[0, :2, :2], A[0, 2:, 2:] = np.diag([1.0, 5.0]), np.diag([2.0, 3.0])  # listed 1, 5, 2, 3
    A[1, :2, :2], A[1, 2:, 2:] = np.diag([-1.0, 2.0]), np.diag([-7.0, 1.0])
    game = Game(0 * A[0], DenseMap(A), np.zeros(2), Spectraplex(4, 1.0, blocks=(2, 2)), KnapsackSet.simplex(2))
    np.testing.assert_allclose(SortedListOracle(game, 0.0).widths, [5, 7])
