"""A start for the interior-point method from points that are known, such as an earlier answer.

The points (X^, y^) of an answer lie near the boundary, where Newton steps are short: some of their products are 0. Let
mu be the mean product that the distance of their bounds stands for, and delta a part of it. Products below delta are
raised to it, and no others are touched: a larger step in a direction in which X^ or y^ is determined costs more than
mu. With p = c - A*(X^) + theta w >= 0 and S = t I - s (C - A(y)) = L L^H,

    y_j  =  max(y^_j, l_j + delta / p_j)                        and so on for upper bounds and the row
    X    =  L^{-H} max(L^H X^ L, delta I) L^{-1}                by the eigenvalues of L^H X^ L

scaled to the row and to the trace of the set. Where the mean product is not clearly less than the cold start's, or what
the rows miss is not as small beside it, the cold start is better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn.engines.incumbent import Incumbent
from matrixlearn.engines.interior_state import InteriorState, all_definite, slacks
from matrixlearn.linalg import cholesky, inner, inverse_factor, sym, trace
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.conic import toward
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array

CENTRED = (0.3, 0.01)
"""Parts of their mean to which products are raised, tried in turn: the first is better where an answer is far away, the
last where it is near. 0.3 costs neighbouring discrepancies two iterations, 0.01 others one to three at noises from 1e-2
on.
"""

LESS = 0.5
"""A start that is less central is taken where it leaves less than this part of the mean product."""

WORTH = 0.07
"""The part of the cold start's mean product, or of what its rows miss, below which a warm one is worth it."""

MISSES, LEAST = 30.0, 1e-3
"""What rows may miss beside mu, both in units of the cold start; which is taken to miss `LEAST` at least."""

StateAt = Callable[[Game, tuple[Array, ...], np.ndarray, float, float, float], InteriorState]
"""(game, X, y, t, mu, R) to a state whose scalar products are mu, or nearly."""


def warmer(game: Game, cold: InteriorState, incumbent: Incumbent, state_at: StateAt) -> InteriorState:
    """The better of the cold start and one from the points of an earlier answer."""
    X, y = incumbent.hint.X, incumbent.hint.y
    if X is None or y is None:
        return cold
    X = X.dense() if isinstance(X, FactoredMatrix) else X
    blocks, is_open = _blocks_of(game, toward(incumbent.problem, X, None)), not game.Y.is_bounded
    mu, missing = mean_product(game, cold), max(_missing(game, cold), LEAST)
    best, worth = cold, WORTH
    for part in CENTRED:
        state = _raised(game, cold, blocks, y, part, state_at)
        if state is None:
            continue
        score = mean_product(game, state) / mu
        if is_open:
            score = max(score, _missing(game, state) / missing / MISSES)
        if 0 < score < worth:
            best, worth = state, LESS * score
    return best


def _raised(
    game: Game, cold: InteriorState, X: tuple[Array, ...], y: np.ndarray, part: float, state_at: StateAt
) -> InteriorState | None:
    """The state at X and y, their small products raised; None where they are no points of a game."""
    Y, S = game.Y, game.S
    y, total = np.clip(y, Y.lower, Y.upper), sum(trace(x) for x in X)
    R, prices = cold.trace if Y.is_bounded else 2 * total, game.prices(assembled(semidefinite_blocks(game), X, S.n))
    if not (0 < R < np.inf and np.isfinite(prices).all()):
        return None
    theta, width = Y.multiplier(prices), _largest(game, X, y)[1]
    if Y.is_bounded:
        width += float(prices @ y) - Y.minimize(prices)[0]
    width = max(width, 1e-14 * game.scale)
    if not 0 < width < np.inf:
        return None
    delta = part * width / (S.dimension + Y.size + len(Y.capped))
    y = _inside(game, y, prices, theta, delta, width)
    if not bool(((Y.lower < y) & (y < Y.upper)).all()):
        return None
    largest, width_at_y = _largest(game, X, y)
    t = largest + max(width, width_at_y) / R
    factors = [cholesky(s) for s in slacks(game, y, t)]
    if not all_definite(factors):
        return None
    X = tuple(raised_block(x, L, delta) for x, L in zip(X, factors, strict=True))
    total = sum(trace(x) for x in X)
    if not 0 < total < np.inf:
        return None
    if not Y.is_bounded:
        R = 8 * total
    elif not S.slack or total > (1 - 1e-3) * R:
        X = tuple(x * (R * (1 - 1e-3 * S.slack) / total) for x in X)
    return state_at(game, X, y, t, delta, R)


def _largest(game: Game, X: tuple[Array, ...], y: np.ndarray) -> tuple[float, float]:
    """The largest eigenvalue of s (C - A(y)), and what X would earn more there with all its trace."""
    F, S, total = game.image(y), game.S, sum(trace(x) for x in X)
    largest = S.support_of(S.eigenvalues(F)) / S.trace
    along = sum(block.sign * inner(x, block.part(F)) for block, x in zip(semidefinite_blocks(game), X, strict=True))
    return largest, max(total * largest - along, 0.0) + 1e-10 * max(abs(along), total * abs(largest))


def _inside(game: Game, y: np.ndarray, prices: np.ndarray, theta: float, delta: float, width: float) -> np.ndarray:
    """y between its bounds, where its products with the prices are ``delta`` at least; a price counts as no less than
    what makes a y_j as far away as it may be worth a share of ``width``.
    """
    Y, extent, room = game.Y, _extent(game), 0.0
    if Y.weights is not None:
        prices, room = prices + theta * Y.weights, Y.row_upper - float(Y.weights @ Y.lower)
    third, least = (Y.upper - Y.lower) / 3, width / extent
    lowest = Y.lower + np.minimum(delta / np.maximum(prices, least), third)
    highest = Y.upper - np.minimum(delta / np.maximum(-prices, least), third)
    y = np.clip(y, lowest, highest)
    if Y.weights is None:
        return y
    slack = 0.0 if Y.row_lower == Y.row_upper else delta / max(theta, width / room)
    excess = float(Y.weights @ y) + slack - Y.row_upper
    if excess == 0 or (excess < 0 and slack > 0):
        return y
    way = y - lowest if excess > 0 else np.where(np.isinf(highest), y - Y.lower, highest - y)
    return y - way * (excess / float(Y.weights @ way))


def _extent(game: Game) -> np.ndarray:
    """How far each y_j may be from its bounds; where it may be anywhere, what makes its row worth the scale."""
    Y = game.Y
    if not Y.is_bounded:
        size = np.abs(game.c) + game.S.trace * game.A.norms
        return game.scale / np.where(size > 0, size, 1.0)
    extent = Y.size * (Y.upper - Y.lower)
    return extent if Y.weights is None else np.minimum(extent, (Y.row_upper - Y.weights @ Y.lower) / Y.weights)


def raised_block(X: Array, L: Array, delta: float) -> Array:
    """X with the eigenvalues of L^H X L raised to delta."""
    K = as_numpy(L)
    w, V = np.linalg.eigh(K.conj().T @ as_numpy(X) @ K)
    low = w < delta
    root = as_numpy(inverse_factor(L)).conj().T @ V[:, low]
    return sym(X + from_numpy((root * (delta - w[low])) @ root.conj().T, X))


def _blocks_of(game: Game, X: Array) -> tuple[Array, ...]:
    """X_k with X = sum_k s_k X_k, of the trace that the set asks for."""
    S = game.S
    if len(S.signs) == 1:
        return tuple(block.sign * block.part(X) for block in semidefinite_blocks(game))
    w, V = np.linalg.eigh(as_numpy(X))
    rest = max(S.trace - float(np.abs(w).sum()), 0.0) / S.dimension
    by_sign = {s: (V * (np.maximum(s * w, 0.0) + rest)) @ V.conj().T for s in S.signs}
    return tuple(block.part(from_numpy(by_sign[block.sign], X)) for block in semidefinite_blocks(game))


def mean_product(game: Game, state: InteriorState) -> float:
    """mu, the mean of the products that go to 0."""
    Y, z, S = game.Y, state.scalars, slacks(game, state.y, state.t)
    assert z is not None
    total = sum(inner(x, s) for x, s in zip(state.X, S, strict=True))
    total += float(z.p @ (state.y - Y.lower)[Y.floored]) + float(z.q @ (Y.upper - state.y)[Y.capped])
    return (total + z.x0 * state.t) / (len(z.p) + len(z.q) + game.S.dimension)


def _missing(game: Game, state: InteriorState) -> float:
    """The largest part that the equation of X misses of |c_j| + R ||A_j||_2."""
    Y, z = game.Y, state.scalars
    assert z is not None
    r = game.prices(assembled(semidefinite_blocks(game), state.X, game.S.n))
    r[Y.floored] -= z.p
    r[Y.capped] += z.q
    size = np.abs(game.c) + state.trace * game.A.norms
    return float(np.max(np.abs(r) / np.where(size > 0, size, 1.0), initial=0.0))
