"""solve(random_state=): it reaches the engines that draw, equal seeds repeat, and nonsense is refused."""

import numpy as np
import pytest
from matrixlearn_definiteboost import Algorithm2, DefiniteBoost
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml


def answer(random_state):
    """Of two edges with nothing between them: X_02 is whatever the start made of it."""
    W = np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])
    return ml.solve(MaxCut(W), method="low-rank", tol=1e-6, random_state=random_state).matrix


def test_the_start_of_low_rank_is_drawn_from_it():
    np.testing.assert_allclose(answer(3), answer(3), atol=1e-6)
    np.testing.assert_allclose(*(answer(np.random.default_rng(3)) for _ in range(2)), atol=1e-6)
    assert np.abs(answer(3) - answer(4)).max() > 1e-3


def test_so_are_the_random_constraints_of_definiteboost():
    problem = DefiniteBoost.random(np.random.default_rng(0))
    engine = Algorithm2(choice="random")
    assert engine.seeded(5) == Algorithm2(choice="random", seed=5)
    assert ml.solve(problem, method=engine, random_state=5, tol=1e-2).status in ("optimal", "infeasible")


def test_an_engine_that_draws_nothing_is_left_as_it_is():
    engine = ml.engines.InteriorPoint()
    assert engine.seeded(1) is engine


@pytest.mark.parametrize("given", [-1, 2.5, "7", [1]])
def test_nonsense_is_refused(given):
    with pytest.raises(ml.exceptions.ProblemError, match="random_state"):
        ml.solve(MaxCut(np.ones((3, 3))), random_state=given)
