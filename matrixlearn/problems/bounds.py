"""The bounds on the value of a game that points prove, with an allowance for rounding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import cholesky, plus_identity, trace
from matrixlearn.problems.base import INF, Bound
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


def bound_from_member(game: Game, X: Array) -> Bound:
    """The bound of a point of S, repaired: an answer is feasible as returned, even where a penalty proves more."""
    point = game.repaired(X)
    value, y = game.lower(point)
    return Bound(point=point, lower=value - game.rounding(y) if value > -INF else value)


def bounds_from_interior(game: Game, X: Sequence[Array], y: np.ndarray, t: float) -> tuple[Bound, Bound]:
    """The bounds of a strictly feasible pair by Cholesky factorizations: X_k > 0 and S_k = t I - s_k (C - A(y)) > 0.

        sum_k s_k X_k R / sum_k Tr X_k  in S,        sigma_S(C - A(y)) <= R t

    Nearly as good as all eigenvalues near an interior method's optimum, and next to nothing in cost. Nothing is proved
    where one of them fails. A factorization proves S_k > 0 up to (n + 2) eps Tr S_k (Demmel 1989; Rump 2006).
    """
    S, blocks = game.S, semidefinite_blocks(game)
    inside = game.Y.project(y)
    F = game.image(inside)
    from_matrix, from_vector = Bound(), Bound()
    if all(cholesky(x) is not None for x in X):
        from_matrix = bound_from_member(game, assembled(blocks, X, S.n) * S.clip_scale(sum(trace(x) for x in X)))
    slacks = [plus_identity(-block.sign * block.part(F), t) for block in blocks]
    if all(cholesky(s) is not None for s in slacks):
        t += (S.n + 2) * EPS * max(trace(s) for s in slacks)
        upper = float(game.c @ inside) + S.trace * t + game.constant
        from_vector = Bound(point=inside, upper=upper + game.rounding(inside))
    return from_matrix, from_vector
