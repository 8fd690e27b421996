"""The units of the multipliers: a game whose Y is k times as large, and whose A_j are k times as small, is the same."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.maps import RankOneMap
from matrixlearn.problems import Game, GameProblem
from matrixlearn.sets import KnapsackSet, Spectraplex


@dataclass(frozen=True, eq=False)
class Connectivity(GameProblem):
    """max over edge weights of the second eigenvalue of a Laplacian, sum of squared lengths times weights at most 1."""

    edges: np.ndarray
    lengths: np.ndarray

    @cached_property
    def game(self):
        m, n = len(self.edges), self.edges.max()
        V = np.linalg.svd(np.ones((1, n + 1)))[2][1:].T  # off the constant vector
        A = RankOneMap(V[self.edges[:, 0]] - V[self.edges[:, 1]])
        Y = KnapsackSet.weighted_simplex(self.lengths**2, 1.0)
        return Game(np.zeros((n, n)), A, np.zeros(m), Spectraplex(n, 1.0), Y)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_kilometres_are_as_good_as_metres(tol):
    rng = np.random.default_rng(0)
    places = rng.standard_normal((8, 2))
    edges = np.array([(i, j) for i in range(8) for j in range(i)])
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    near = ml.solve(Connectivity(edges, lengths), tol=tol)
    assert near.upper < 0
    for unit in (1e-4, 1e3, 1e6):
        far = ml.solve(Connectivity(edges, unit * lengths), tol=tol)
        assert far.status == near.status == "optimal"
        assert far.problem.scale == pytest.approx(near.problem.scale / unit**2, rel=1e-12)
        assert far.upper * unit**2 == pytest.approx(near.upper, rel=2 * tol)
        assert far.lower * unit**2 == pytest.approx(near.lower, rel=2 * tol)
