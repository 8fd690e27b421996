"""cvxpy as an engine reads programs that are written in other words than the game's."""

from dataclasses import dataclass
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.maps import DenseMap
from matrixlearn.problems import Game, GameProblem
from matrixlearn.sets import KnapsackSet, SpectralBall

TARGET = np.diag([1.0, 0.0])
PARTS = np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), np.eye(2)])


@dataclass(frozen=True, eq=False)
class Mixture(GameProblem):
    """min over w on the simplex of ||T - sum_j w_j B_j||_2: 0 for the first of these parts."""

    @cached_property
    def game(self):
        return Game(TARGET, DenseMap(PARTS), np.zeros(3), SpectralBall(2, 1.0), KnapsackSet.simplex(3))


class OfNorms(Mixture):
    """No semidefinite constraint: there are no multipliers that would be X."""

    def reference(self):
        w = cp.Variable(3, name="y")
        return cp.Problem(
            cp.Minimize(cp.sigma_max(TARGET - sum(w[j] * PARTS[j] for j in range(3)))), [w >= 0, sum(w) == 1]
        )


class OfOneBlock(Mixture):
    """One semidefinite constraint of twice the order, where the game has two."""

    def reference(self):
        w, t = cp.Variable(3, name="y"), cp.Variable()
        F = TARGET - sum(w[j] * PARTS[j] for j in range(3))
        return cp.Problem(
            cp.Minimize(t), [cp.bmat([[t * np.eye(2), F], [F.T, t * np.eye(2)]]) >> 0, w >= 0, sum(w) == 1]
        )


@pytest.mark.parametrize("cls", [Mixture, OfNorms, OfOneBlock])
def test_a_reference_of_ones_own_may_have_other_constraints(cls):
    solution = ml.solve(cls(), method="reference", tol=1e-6)
    assert solution.lower <= 1e-12
    assert 0 <= solution.upper <= 1e-6
    np.testing.assert_allclose(solution.y, [1.0, 0.0, 0.0], atol=1e-6)
