"""Losses through their factors: the same matrices, inner products and rounds as losses that are formed."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import MatrixMultiplicativeWeights
from matrixlearn.exponents import ActionExponent, SketchedExponent
from matrixlearn.linalg import inner
from matrixlearn.linalg.rank_one import RankOneSum
from matrixlearn.maps import DenseMap
from matrixlearn.problems import Game
from matrixlearn.problems.played import Played
from matrixlearn.problems.rank_one import RankOneLosses
from matrixlearn.sets import KnapsackSet, Spectraplex


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("complex_", [False, True])
def test_sums_and_inner_products_are_those_of_the_matrices(form, complex_):
    rng = np.random.default_rng(0)
    P, X = (rng.standard_normal((5, n)) + 1j * complex_ * rng.standard_normal((5, n)) for n in (4, 4))
    X = X[:4] + X[:4].conj().T
    rows = form(P)
    M, N = RankOneSum(rows, rng.standard_normal(5)), RankOneSum(rows, rng.standard_normal(5))
    as_formed = [(P.T * S.d) @ P.conj() for S in (M, N)]
    np.testing.assert_allclose((2.0 * M - N).toarray(), 2 * as_formed[0] - as_formed[1], atol=1e-13)
    np.testing.assert_allclose(np.eye(4) + M, np.eye(4) + as_formed[0], atol=1e-13)
    other = RankOneSum(form(P[::-1].copy()), N.d)
    np.testing.assert_allclose(M + other, as_formed[0] + other.toarray(), atol=1e-13)
    assert sp.csr_array((4, 4)) + M is M
    assert inner(M, X) == pytest.approx(np.real(np.vdot(as_formed[0], X)), rel=1e-12)


@pytest.mark.parametrize("exponent", [functools.partial(SketchedExponent, columns=7), ActionExponent, None])
def test_mmw_plays_the_same_rounds(exponent):
    rng = np.random.default_rng(1)
    p = Discrepancy(rng.standard_normal((6, 4)), rng.standard_normal((9, 4)) + 0.5)
    factored = RankOneLosses(p.game, p.points[6:], np.full(9, 1 / 9))
    engine = MatrixMultiplicativeWeights(exponent=exponent)
    formed, through = (ml.solve(q, engine, tol=0.01, max_iter=60) for q in (p, Played(factored)))
    assert through.iterations == formed.iterations > 3
    assert through.upper == pytest.approx(formed.upper, rel=1e-8)
    assert through.lower == pytest.approx(formed.lower, rel=1e-8)
    np.testing.assert_allclose(factored.loss(through.y).toarray(), p.game.loss(through.y), atol=1e-13)


def test_data_that_are_not_of_rank_one_are_refused():
    A = DenseMap(np.eye(2)[None])
    game = Game(np.eye(2), A, np.zeros(1), Spectraplex(2, 1.0), KnapsackSet.simplex(1))
    with pytest.raises(TypeError, match="must be a RankOneMap, got a DenseMap"):
        RankOneLosses(game, np.eye(2), np.ones(2))
