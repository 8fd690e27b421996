"""Games of vectors: a map of three methods and a `ScaledSimplex` are enough for every engine of games."""

import numpy as np
import pytest
from scipy.optimize import linprog

import matrixlearn as ml
from matrixlearn.maps import LinearMap
from matrixlearn.problems import Game
from matrixlearn.problems.played import Played
from matrixlearn.sets import KnapsackSet, ScaledSimplex

pytestmark = pytest.mark.usefixtures("cpu_clock")


class Rows(LinearMap):
    """y -> P^T y, the payoffs of a matrix game; no norms of its own."""

    def __init__(self, P):
        self.P = P

    @property
    def shape(self):
        return self.P.shape

    def apply(self, y):
        return y @ self.P

    def adjoint(self, X):
        return self.P @ X


def value(P):
    """min over y max over x of -y.P x, by HiGHS."""
    m, n = P.shape
    answer = linprog(
        [*np.zeros(m), 1.0],
        A_ub=np.hstack([-P.T, -np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=[[*np.ones(m), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    return answer.fun


@pytest.mark.parametrize("method", ["mmw", "pdhg", "mirror-prox", "smoothing", "subgradient", "reference"])
def test_a_matrix_game_of_vectors_is_solved(method):
    P = np.random.default_rng(0).uniform(-1, 1, (4, 6))
    game = Played(Game(np.zeros(6), Rows(P), np.zeros(4), ScaledSimplex(6, 1.0), KnapsackSet.simplex(4)))
    assert method in ml.methods(game)
    solution = ml.solve(game, method, tol=0.05, time_limit=10)
    assert solution.status == "optimal" or method == "subgradient"
    assert solution.lower <= value(P) + 1e-8 and value(P) <= solution.upper + 1e-8
