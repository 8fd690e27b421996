"""Games of rank-one data whose losses are never formed: the operator (5.12) of the thesis."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn.linalg.rank_one import RankOneSum
from matrixlearn.maps import RankOneMap
from matrixlearn.problems.game import Game


class RankOneLosses(Game):
    """A game of C = sum_j p_j t_j t_j^H and A_i = x_i x_i^H, whose losses stay sums of rank-one matrices:

        A(y) - C = sum_i y_i x_i x_i^H - sum_j p_j t_j t_j^H,   a product with a vector 4 q n flops, q rows in all.

    Solve it with an exponent routine that asks for products alone, such as ``functools.partial(SketchedExponent,
    columns=30)``: ``solve(Played(game), MatrixMultiplicativeWeights(exponent=...))``. A routine that decomposes its
    losses forms them in every round. NumPy only.

    Parameters
    ----------
    game : Game
        With a `RankOneMap`.
    rows : ndarray, shape (k, n)
        The rows t_j^T.
    weights : ndarray, shape (k,)
        p.
    """

    def __init__(self, game: Game, rows: np.ndarray, weights: np.ndarray) -> None:
        if not isinstance(game.A, RankOneMap):
            msg = f"the A_j of the game must be a RankOneMap, got a {type(game.A).__name__}"
            raise TypeError(msg)
        super().__init__(game.C, game.A, game.c, game.S, game.Y, size=game.scale, constant=game.constant)
        self._rows, self._weights = np.concatenate([game.A.P, rows]), weights

    def loss(self, y: np.ndarray) -> Any:
        return RankOneSum(self._rows, np.concatenate([y, -self._weights]))
