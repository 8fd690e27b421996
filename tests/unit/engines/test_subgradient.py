"""Projected subgradient: its law on random instances, and the regret that bounds its gap."""

from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Incumbent, Subgradient
from matrixlearn.engines.saddle import diameter
from matrixlearn.maps import LinearMap
from matrixlearn.problems import Game, GameProblem
from matrixlearn.sets import KnapsackSet, ScaledSimplex
from matrixlearn.testing.laws.engine import Opaque

seeds = st.integers(0, 2**32 - 1)


def test_the_law_holds(instances, hold_the_law):
    """How many are solved is the class's own affair: O(1 / epsilon^2) rounds, half of them to 10 % in 800."""
    assert hold_the_law(Subgradient(), instances, 1e-1, 800) >= len(instances) / 2


@pytest.mark.parametrize("name", ["sdp", "discrepancy", "maxcut", "template"])
@given(seed=seeds, rounds=st.integers(1, 60))
def test_the_averages_are_as_near_as_the_regret_says(name, random_game, seed, rounds):
    problem = random_game(name, seed)
    if problem is None or not problem.game.Y.is_bounded:
        return
    engine = Subgradient()
    state = engine.init(problem.game, Incumbent(problem))
    for _ in range(rounds):
        state = engine.step(problem.game, state, Incumbent(problem))
        np.testing.assert_allclose(state.y, problem.game.Y.project(state.y), atol=1e-9 * (1 + np.abs(state.y).max()))
    upper = problem.game.upper(state.sum_y / rounds)
    lower = problem.game.lower(state.sum_X / rounds)[0]
    assert upper - lower <= state.regret_bound * (1 + 1e-9) + 1e-10 * (problem.scale + abs(upper))


@given(seed=seeds)
def test_no_two_points_are_farther_apart_than_the_diameter(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    d, lower = 10.0 ** rng.uniform(-2, 2, m), rng.uniform(-2, 0, m)
    upper = lower + rng.uniform(0.1, 3, m)
    w = 10.0 ** rng.uniform(-1, 1, m)
    middle = float(w @ (lower + upper)) / 2
    for Y in (
        KnapsackSet.box(lower, upper),
        KnapsackSet(lower, upper, w, middle, middle),
        KnapsackSet(lower, np.full(m, np.inf), w, -np.inf, middle),
        KnapsackSet(lower, upper, w, middle, np.inf),
        KnapsackSet.simplex(m),
    ):
        ends = [Y.minimize(rng.standard_normal(m))[1] for _ in range(20)]
        widest = max(float(np.linalg.norm(d * (a - b))) for a in ends for b in ends)
        assert widest <= diameter(Y, d) * (1 + 1e-9)


def test_the_diameter_of_the_simplex_is_an_edge():
    assert diameter(KnapsackSet.simplex(5), np.ones(5)) == pytest.approx(np.sqrt(2))


class Columns(LinearMap):
    """The diagonal matrices Diag(b_j), by their diagonals."""

    def __init__(self, B):
        self.B = B

    shape = property(lambda self: self.B.shape[::-1])
    norms = property(lambda self: np.abs(self.B).max(axis=0))

    def apply(self, y):
        return self.B @ y

    def adjoint(self, X):
        return self.B.T @ X


class Diagonal(GameProblem):
    """A game on vectors: max over x, min over y of x.(f - B y)."""

    name = "diagonal-game"
    f, B = np.array([1.0, 2.0, 0.5]), np.array([[1.0, 0.2], [0.1, 3.0], [0.4, 0.4]])

    @cached_property
    def game(self):
        return Game(self.f, Columns(self.B), np.zeros(2), ScaledSimplex(3, 1.0), KnapsackSet.simplex(2))

    @classmethod
    def random(cls, rng):
        return cls()


@pytest.mark.parametrize(("method", "tol"), [("subgradient", 3e-2), ("smoothing", 1e-4), ("pdhg", 1e-6)])
def test_vector_games(method, tol):
    from scipy.optimize import linprog

    program = linprog([0, 0, 1], np.column_stack([-Diagonal.B, -np.ones(3)]), -Diagonal.f, [[1, 1, 0]], [1],
                      bounds=[(0, None), (0, None), (None, None)])  # fmt: skip
    solution = ml.solve(Diagonal(), method, tol=tol)
    assert solution.status == "optimal"
    assert solution.lower <= program.fun + 1e-9
    assert solution.upper >= program.fun - 1e-9


def test_the_arrays_of_other_libraries(backend):
    rng = np.random.default_rng(0)
    Xs, Xt = rng.standard_normal((12, 4)), rng.standard_normal((9, 4)) + 0.3
    mine = ml.solve(Discrepancy(backend.array(Xs), backend.array(Xt)), "subgradient", tol=1e-12, max_iter=50)
    numpys = ml.solve(Discrepancy(Xs, Xt), "subgradient", tol=1e-12, max_iter=50)
    assert mine.upper == pytest.approx(numpys.upper, rel=1e-9)
    assert mine.lower == pytest.approx(numpys.lower, rel=1e-9)


def test_a_subgradient_that_is_not_finite_ends_it():
    class Broken(Columns):
        def adjoint(self, X):
            return np.full(2, np.nan)

    problem = Diagonal()
    good, incumbent = problem.game, Incumbent(problem)
    game = Game(good.C, Broken(Diagonal.B), good.c, good.S, good.Y)
    state = Subgradient().step(game, Subgradient().init(game, incumbent), incumbent)
    assert "not finite" in state.finished


def test_what_it_cannot_play_is_refused():
    assert "bounded" in Subgradient().objection(ml.LinearSDP(np.eye(2), [-np.eye(2)], [-0.5], 1.0).standard.program)
    assert "plays games" in Subgradient().objection(Opaque())
