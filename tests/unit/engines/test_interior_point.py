"""The interior point: what its factors prove without eigenvalues, and what it brings home where it is stopped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.engines import Incumbent, InteriorPoint
from matrixlearn.engines.base import DECISIVE
from matrixlearn.problems.bounds import bounds_from_interior

seeds = st.integers(0, 2**32 - 1)
ENGINE = InteriorPoint()


def states(game, most=60):
    """The states of a solve, one after another, until the proven gap is small."""
    incumbent = Incumbent.first(game)
    state = ENGINE.init(game.game, incumbent)
    for _ in range(most):
        state = ENGINE.step(game.game, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.shown(proposal)
        if state.finished or incumbent.gap < 1e-7:
            break
        yield state
    assert incumbent.gap < 1e-7


@pytest.mark.parametrize("name", ["discrepancy", "maxcut", "template"])  # a program is proved without a trace
@given(seed=seeds)
def test_what_the_factors_prove_the_eigenvalues_prove_too(name, random_game, seed):
    """lower <= sharp lower <= sharp upper <= upper, and no two bounds of one game cross."""
    game = random_game(name, seed)
    if game is None or ENGINE.objection(game):
        return
    known = Incumbent.first(game)
    for state in states(game):
        proposal = state.proposals[0]
        interior = proposal.interior
        from_matrix, from_vector = bounds_from_interior(game.game, interior.X, proposal.y, interior.t)
        sharp = ml.certify(game, X=from_matrix.point, y=from_vector.point)
        slack = 1e-12 * max(game.scale, abs(sharp.upper), abs(sharp.lower))
        assert from_matrix.lower <= sharp.lower + slack
        assert sharp.upper <= from_vector.upper + slack
        assert sharp.lower <= known.upper and known.lower <= sharp.upper
        known = known.shown(proposal)


@pytest.mark.parametrize("limit", [{"max_iter": 4}, {"max_iter": 7}])
@given(seed=seeds)
def test_where_it_is_stopped_the_last_point_is_certified_by_all_eigenvalues(random_problem, limit, seed):
    game = random_problem("discrepancy", seed)
    solution = ml.solve(game, ENGINE, tol=1e-12, atol=0, **limit)
    assert solution.history[-1].gap == pytest.approx(solution.gap, rel=1e-9, abs=1e-14)
    incumbent = Incumbent.first(game)
    state = ENGINE.init(game.game, incumbent)
    for _ in range(solution.iterations):
        state = ENGINE.step(game.game, state, incumbent)
        incumbent = incumbent.shown(state.proposals[0]) if state.proposals else incumbent
    if state.proposals:
        sharp = incumbent.offered(state.proposals[0])
        assert (solution.lower, solution.upper) == (sharp.lower, sharp.upper)


def test_ctrl_c_brings_home_the_last_point():
    game = ml.LinearSDP.random(np.random.default_rng(3))

    def stop(event):
        if event.iteration == 5:
            raise KeyboardInterrupt
        return False

    solution = ml.solve(game, "interior-point", tol=1e-12, atol=0, callback=stop)
    counted = ml.solve(game, "interior-point", tol=1e-12, atol=0, max_iter=5)
    assert solution.iterations == 5
    assert "interrupted" in solution.explain()
    assert (solution.lower, solution.upper) == (counted.lower, counted.upper)


def test_eigenvalues_are_computed_where_they_can_decide(random_problem, monkeypatch):
    game = random_problem("discrepancy", 1)
    asked = []
    plain = type(game).bound_from_vector
    monkeypatch.setattr(type(game), "bound_from_vector", lambda self, y: asked.append(1) or plain(self, y))
    solution = ml.solve(game, ENGINE, tol=1e-7, atol=0)
    decisive = [event for event in solution.history if event.gap <= DECISIVE * 1e-7]
    assert solution.status == "optimal"
    assert len(solution.history) == solution.iterations + 1  # each iteration shows proven bounds
    assert len(asked) <= len(decisive) + 4  # and the first points, and the answer
