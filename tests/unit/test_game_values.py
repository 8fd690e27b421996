"""The values of a game against sums that are written out: c, the constant and the support function each count."""

import numpy as np
import pytest

from matrixlearn.maps import DenseMap
from matrixlearn.problems import Game
from matrixlearn.sets import KnapsackSet, SpectralBall, Spectraplex, TraceBall


@pytest.mark.parametrize(
    ("of", "support"),
    [
        (Spectraplex, lambda w: w[-1]),
        (TraceBall, lambda w: max(w[-1], 0.0)),
        (SpectralBall, lambda w: np.abs(w).max()),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_values_and_both_bounds(of, support, seed):
    rng = np.random.default_rng(seed)
    H, c = rng.standard_normal((4, 3, 3)), rng.standard_normal(3)
    H, R, constant = H + H.swapaxes(1, 2), 2.5, 0.75
    C, A = H[0], H[1:]
    game = Game(C, DenseMap(A), c, of(3, R), KnapsackSet.simplex(3), constant=constant)
    y = rng.dirichlet(np.ones(3))
    F = C - np.tensordot(y, A, axes=1)
    assert game.upper(y) == pytest.approx(c @ y + R * support(np.linalg.eigvalsh(F)) + constant)
    X = game.S.project(H[1] @ H[1])
    prices = c - np.einsum("jab,ab->j", A, X)
    assert game.lower(X)[0] == pytest.approx(np.sum(C * X) + prices.min() + constant)
    assert game.value(X, y) == pytest.approx(np.sum(C * X) + prices @ y + constant)
    assert game.lower(X)[0] <= game.value(X, y) <= game.upper(y)
