"""The adaptive schedule's regret: as defined, and within its bound where the theory has one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Adaptive, Incumbent, MatrixMultiplicativeWeights, Theory


@pytest.mark.parametrize("name", ["sdp", "discrepancy", "template"])
@given(seed=st.integers(0, 2**32 - 1), rounds=st.integers(1, 40))
def test_the_regret_keeps_to_the_bound_where_hints_are_as_sharp_as_losses(name, random_problem, seed, rounds):
    problem = random_problem(name, seed)
    if not problem.dual_set.is_bounded:
        return
    engine = MatrixMultiplicativeWeights(Adaptive(sharpness=0.0))
    incumbent = Incumbent.first(problem)
    state = engine.init(problem, incumbent)
    for _ in range(rounds):
        state = engine.step(problem, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if state.finished:
            break
        if state.rounds > 0 and state.proposals and state.suffered:
            assert state.regret <= state.regret_bound * (1 + 1e-9) + 1e-9 * problem.scale * state.rounds


@given(seed=st.integers(0, 2**32 - 1), rounds=st.integers(1, 60), delta=st.sampled_from([0.1, 0.9]))
def test_the_published_schedule_keeps_to_theorem_4_3_1(random_problem, seed, rounds, delta):
    """The regret as defined, from the rounds themselves, and its bound in the units of the theorem."""
    problem = random_problem("discrepancy", seed)
    engine = MatrixMultiplicativeWeights(Theory(delta))
    if engine.supports(problem):
        return
    incumbent = Incumbent.first(problem)
    state = engine.init(problem, incumbent)
    if not state.alpha > 0:
        return
    for _ in range(rounds):
        before, state = state, engine.step(problem, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if state.finished:
            break
        if state.rounds and state.check_at > before.check_at:  # measured in this round
            least = -problem.spectral_set.support(-state.G)
            size = 1e-9 * problem.scale * state.rounds
            assert state.regret == pytest.approx(state.suffered - least, abs=size)
            assert state.regret <= state.regret_bound + size
            rho, R, T = engine.schedule.width(problem, state.alpha), problem.spectral_set.trace, state.rounds
            epsilon = min(delta * state.alpha / (2 * rho * R), 0.5)
            played, best = ((value / R + rho * T) / (2 * rho) for value in (state.suffered, least))
            assert played <= (1 + epsilon) * best + np.log(problem.spectral_set.dimension) / epsilon + 1e-9 * T


def test_explain_reports_it():
    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((30, 5)) + 0.5, 1.5 * rng.standard_normal((30, 5)))
    solution = ml.solve(problem, "mmw", tol=1e-3, max_iter=60)
    assert "regret of the rounds" in solution.explain()
    published = ml.solve(problem, MatrixMultiplicativeWeights(Theory(0.5)), tol=1e-3, max_iter=60)
    assert "Theorem 4.3.1 allows" in published.explain()
