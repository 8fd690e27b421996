"""The adaptive schedule's regret: as defined, and within its bound where the theory has one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Adaptive, Incumbent, MatrixMultiplicativeWeights


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


def test_explain_reports_it():
    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((30, 5)) + 0.5, 1.5 * rng.standard_normal((30, 5)))
    solution = ml.solve(problem, "mmw", tol=1e-3, max_iter=60)
    assert "regret of the rounds" in solution.explain()
