"""A start for the interior-point method from points that are known, such as an earlier answer.

The points (X^, y^) of an answer lie near the boundary, where Newton steps are short. y^ is shifted a little towards the
cold start's y_0, which makes S = t I - s (C - A(y)) > 0 for a t beyond the largest eigenvalue; and X^ gets what is
central to that S:

    X = X^ + mu S^{-1},   mu = <X^, S> / n,     so that  X S = X^ S + mu I  has all eigenvalues between mu and 2 n mu,

scaled to the trace of the set. The shift is the one of `SHIFTS` that leaves the least mean of all products. Where that
is not clearly less than the cold start's, or what the rows miss is not as small beside it, the cold start is better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn.engines.incumbent import Incumbent, is_finite
from matrixlearn.engines.interior_state import InteriorState, all_definite, slacks
from matrixlearn.linalg import cholesky, inner, inverse_factor, inverse_from, trace
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.conic import toward
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array

SHIFTS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
"""Of y, tried in turn."""

CENTRED = 0.1
"""Products of single numbers are at least this part of mu."""

WORTH = 0.1
"""The part of the cold start's mean product, or of what its rows miss, below which a warm one is worth it."""

MISSES, LEAST = 30.0, 1e-3
"""What rows may miss beside mu, both in units of the cold start; which is taken to miss `LEAST` at least."""

OPEN_PARTS = (0.0, 1e-2, 1e-1)
"""Of mu S^{-1}, that X gets where the rows must hold for it, too: tried in turn."""

StateAt = Callable[[Game, tuple[Array, ...], np.ndarray, float, float, float], InteriorState]
"""(game, X, y, t, mu, R) to a state whose scalar products are mu, or nearly."""


def warmer(game: Game, cold: InteriorState, incumbent: Incumbent, state_at: StateAt) -> InteriorState:
    """The better of the cold start and one from the points of an earlier answer."""
    X, y = incumbent.hint.X, incumbent.hint.y
    if X is None or y is None or not (is_finite(X) and np.isfinite(y).all()):
        return cold
    X = X.dense() if isinstance(X, FactoredMatrix) else X
    blocks, mu_cold = _blocks_of(game, toward(incumbent.problem, X, None)), mean_product(game, cold)
    missing_cold, is_open = max(_missing(game, cold), LEAST), not game.Y.is_bounded
    best, least = cold, WORTH
    for k in SHIFTS:
        for part in OPEN_PARTS if is_open else (0.0, 0.1, 1.0):
            state = _centred(game, cold, blocks, (1 - k) * y + k * cold.y, part, state_at)
            if state is None:
                continue
            score = mean_product(game, state) / mu_cold
            if is_open:
                score = max(score, _missing(game, state) / missing_cold / MISSES)
            if 0 < score < least:
                best, least = state, score
                break
    return best


def _centred(
    game: Game, cold: InteriorState, X: tuple[Array, ...], y: np.ndarray, part: float, state_at: StateAt
) -> InteriorState | None:
    """The state at y and X + mu S^{-1}; None where y is not inside Y, or S is not definite."""
    Y, spectral = game.Y, game.S
    if not bool(((Y.lower < y) & (y < Y.upper)).all()):
        return None
    F, total = game.image(y), sum(trace(x) for x in X)
    R = cold.trace if Y.is_bounded else 2 * total
    if not 0 < R < np.inf:
        return None
    largest = spectral.support_of(spectral.eigenvalues(F)) / spectral.trace
    along = sum(block.sign * inner(x, block.part(F)) for block, x in zip(semidefinite_blocks(game), X, strict=True))
    width = max(total * largest - along, 0.0) + 1e-10 * max(abs(along), total * abs(largest))
    t = largest + max(width, 1e-14 * game.scale) / R
    factors = [cholesky(s) for s in slacks(game, y, t)]
    if not all_definite(factors):
        return None
    inverses = [inverse_from(inverse_factor(factor)) for factor in factors]
    mu = max(total * t - along, 0.0) / sum(block.size for block in semidefinite_blocks(game))
    moved = [x + part * mu * inverse for x, inverse in zip(X, inverses, strict=True)]
    if part < 1 and not _is_centred(moved, slacks(game, y, t), mu):
        return None
    total = sum(trace(x) for x in moved)
    if not (mu > 0 and 0 < total < np.inf):
        return None
    if not Y.is_bounded:
        R = 8 * total
    elif not spectral.slack or total > (1 - 1e-3) * R:
        moved = [x * (R * (1 - 1e-3 * spectral.slack) / total) for x in moved]
    return state_at(game, tuple(moved), y, t, CENTRED * mu, R)


def _blocks_of(game: Game, X: Array) -> tuple[Array, ...]:
    """X_k >= 0 with X = sum_k s_k X_k, of the trace that the set asks for."""
    S = game.S
    if len(S.signs) == 1:
        return tuple(_clipped(block.sign * block.part(X)) for block in semidefinite_blocks(game))
    w, V = np.linalg.eigh(as_numpy(X))
    rest = max(S.trace - float(np.abs(w).sum()), 0.0) / S.dimension
    by_sign = {s: (V * (np.maximum(s * w, 0.0) + rest)) @ V.conj().T for s in S.signs}
    return tuple(block.part(from_numpy(by_sign[block.sign], X)) for block in semidefinite_blocks(game))


def _clipped(X: Array) -> Array:
    """X without negative eigenvalues: moved onto the rows of another problem, it may have some."""
    if cholesky(X) is not None:
        return X
    w, V = np.linalg.eigh(as_numpy(X))
    return from_numpy((V * np.maximum(w, 0.0)) @ V.conj().T, X)


def _is_centred(X: list[Array], S: list[Array], mu: float) -> bool:
    """Whether all eigenvalues of X S are at least a part of mu."""
    for x, s in zip(X, S, strict=True):
        L = cholesky(x)
        if L is None or float(np.linalg.eigvalsh(as_numpy(L.conj().T @ s @ L))[0]) < 0.03 * mu:
            return False
    return True


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
