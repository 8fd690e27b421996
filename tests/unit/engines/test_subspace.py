"""Cutting surfaces: the law on random instances, and what its theory promises of compressed games and cuts."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Incumbent, Subspace
from matrixlearn.engines.subspace import Frame
from matrixlearn.linalg.largest import extreme_pairs
from matrixlearn.problems.blocks import assembled, semidefinite_blocks

SMALL = Subspace(vectors=1)
"""One vector at a time, so that instances of a few dimensions take several rounds."""


def wide(seed, m=40, n=30, N=90):
    rng = np.random.default_rng(seed)
    return Discrepancy(rng.standard_normal((m, N)) + 0.3, rng.standard_normal((n, N)) * rng.uniform(0.2, 2, N))


def test_the_law_holds_and_every_instance_is_solved(instances, hold_the_law):
    assert hold_the_law(SMALL, instances, 1e-4, 4000) == len(instances)


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_the_interior_point_to_a_millionth(seed):
    problem = wide(seed)
    ours, whole = ml.solve(problem, "subspace", tol=1e-6), ml.solve(problem, "interior-point", tol=1e-8)
    assert ours.status == "optimal"
    assert ours.lower <= whole.upper and whole.lower <= ours.upper
    assert any("subspace of" in note for note in ours.notes)


@given(seed=st.integers(0, 10**6), r=st.integers(1, 6))
def test_a_compressed_game_is_the_game_on_a_subspace(played, seed, r):
    """<V^H F(y) V, W> = <F(y), V W V^H>, and every value with it: lower bounds carry over."""
    rng = np.random.default_rng(seed)
    game = played(ml.registered_problems()["sdp" if seed % 2 else "discrepancy"].random(rng))
    if game is None:
        return
    n, m = game.game.S.n, game.game.Y.size
    V = np.linalg.qr(rng.standard_normal((n, min(r, n))) + (1j if np.iscomplexobj(game.game.C) else 0))[0]
    frame = Frame(game.game, V)
    small = frame.game
    y = rng.uniform(0, 1, m)
    W = small.S.project((lambda G: G + G.conj().T)(rng.standard_normal((V.shape[1], V.shape[1])) + 0j * V[0, 0]))
    X = frame.expanded(W)
    size = 1e-10 * (1 + game.scale)
    assert small.value(W, y) == pytest.approx(game.game.value(X, y), rel=1e-9, abs=size)
    assert small.lower(W)[0] == pytest.approx(game.game.lower(X)[0], rel=1e-9, abs=size)
    assert np.sum(np.abs(np.linalg.eigvalsh(X))) <= game.game.S.trace * (1 + 1e-9)
    assert small.upper(y) <= game.game.upper(y) + size


def test_the_subspace_grows_and_its_lower_bounds_rise():
    problem, engine = wide(5), Subspace(vectors=2)
    state = engine.init(problem.game, Incumbent.first(problem))
    incumbent, ranks, lowers = Incumbent.first(problem), [], []
    for _ in range(60):
        state = engine.step(problem.game, state, incumbent)
        V = state.frame.V
        np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
        ranks.append(V.shape[1])
        lowers.append(state.lower)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
            assert incumbent.lower >= state.lower - 1e-9 * problem.scale  # what was promised is certified
    assert all(a <= b for a, b in pairwise(ranks)) and ranks[-1] > ranks[0]
    assert all(a <= b for a, b in pairwise(lowers))


@pytest.mark.parametrize("name", ["sdp", "discrepancy"])
@given(seed=st.integers(0, 10**6))
def test_warm_starts_are_strictly_feasible(name, random_game, seed):
    problem = random_game(name, seed)
    if problem is None or SMALL.objection(problem):
        return
    state, incumbent, before = SMALL.init(problem.game, Incumbent.first(problem)), Incumbent.first(problem), None
    for _ in range(40):
        if state.warm and state.frame is not before:
            inner, game = state.inner, state.frame.game
            S, Y, z = game.S, game.Y, inner.scalars
            F, eye = game.image(inner.y), np.eye(S.n)
            for X, sign in zip(inner.X, S.signs, strict=True):
                assert np.linalg.eigvalsh(X)[0] > 0 and np.linalg.eigvalsh(inner.t * eye - sign * F)[0] > 0
            total = sum(np.trace(X).real for X in inner.X) + z.x0
            assert total == pytest.approx(S.trace, rel=1e-9)
            assert np.all((inner.y > Y.lower) & (inner.y < Y.upper)) and np.all(z.p > 0)
            # c - <A_j, X> - p + q + theta w = 0, as far as the last interior point had it
            rest = game.prices(assembled(semidefinite_blocks(game), inner.X, S.n)) - z.p
            rest[game.Y.capped] += z.q
            rest = rest if Y.weights is None else rest + z.theta * Y.weights
            assert np.abs(rest).max() <= 1e-7 * (1 + np.abs(z.p).max() + np.abs(z.q).max(initial=0.0) + abs(z.theta))
        before = state.frame
        state = SMALL.step(problem.game, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if state.finished:
            break


@pytest.mark.parametrize("method", ["interior-point", "subspace"])
def test_a_weight_that_rounding_puts_on_its_cap_ends_it_without_a_warning(method):
    solution = ml.solve(Discrepancy.random(np.random.default_rng(259)), method, tol=1e-17, atol=0)
    assert solution.status == "stopped" and solution.gap <= 1e-11
    assert "numerical limit" in solution.explain()


def test_a_warm_start_that_fails_is_followed_by_a_cold_one():
    problem, engine = wide(5), Subspace(vectors=2)
    state, incumbent = engine.init(problem.game, Incumbent.first(problem)), Incumbent.first(problem)
    while not state.warm:
        state = engine.step(problem.game, state, incumbent)
    broken = replace(state, inner=replace(state.inner, X=tuple(-X for X in state.inner.X)))
    after = engine.step(problem.game, broken, incumbent)
    assert not after.finished and not after.warm and after.frame is broken.frame
    assert not engine.step(problem.game, after, incumbent).finished


@pytest.mark.parametrize("both", [True, False])
def test_extreme_pairs_are_those_of_the_whole_decomposition(both, monkeypatch):
    monkeypatch.setattr("matrixlearn.linalg.largest.LANCZOS_FROM", 40)
    rng = np.random.default_rng(1)
    F = rng.standard_normal((60, 60))
    F = F + F.T
    values, vectors = extreme_pairs(F, 3, both)
    w = np.linalg.eigvalsh(F)
    wanted = np.concatenate([w[:3], w[-3:]]) if both else w[-3:]
    np.testing.assert_allclose(np.sort(values), wanted, atol=0.05 * np.max(np.abs(w)))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-6)


def test_a_value_that_lanczos_missed_is_not_believed(monkeypatch):
    """Ritz values that promise too much cost rounds, and prove nothing."""
    problem = wide(7)

    def blind(F, k, both=True):
        values, vectors = extreme_pairs(F, k, both)
        return 0.5 * values, vectors

    monkeypatch.setattr("matrixlearn.engines.subspace.extreme_pairs", blind)
    solution = ml.solve(problem, "subspace", tol=1e-3, max_iter=400)
    judge = ml.solve(problem, "interior-point", tol=1e-8)
    assert solution.lower <= judge.upper and judge.lower <= solution.upper
    assert solution.certificate.verify()


def test_auto_takes_it_where_it_was_measured_ahead(monkeypatch):
    monkeypatch.setattr("matrixlearn.engines.subspace.AHEAD_FROM", 60)
    problem = wide(3)
    assert ml.solve(problem, tol=1e-3).method == "subspace"
    assert ml.solve(problem, tol=1e-9, max_iter=1).method == "interior-point"


def test_what_it_cannot_play_is_refused_before_the_first_step():
    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((4, 3)), rng.standard_normal((4, 3)), max_weight=1.0)
    with pytest.raises(ml.exceptions.CapabilityError, match="subspace needs a Y with an interior"):
        ml.solve(problem, "subspace")
