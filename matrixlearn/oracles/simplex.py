"""Oracles over the polytope Y of a game: find y in Y with value(X, y) <= level, or fail.

The inequality (4.8) of the thesis, with the multiplier of A_1 = I eliminated: D_alpha holds
(y_0, y) with R y_0 + c.y <= alpha, so that y_0 Tr X + <A(y) - C, X> >= 0 for some y_0 says

    <C, X> + c.y - <A(y), X> <= alpha.

Where no y in Y does, X itself proves v > alpha (phi* = 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn.linalg import inner
from matrixlearn.oracles.base import Done, Move
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


def width_bound(game: Game, y: np.ndarray) -> float:
    """||A(y) - C||_2 <= ||C||_2 + sum_j |y_j| ||A_j||_2, without an eigendecomposition."""
    return game.cost_norm + float(np.abs(y) @ game.A.norms)


@dataclass(frozen=True)
class VertexOracle:
    """The best response: a minimizer over Y of (c - A*(X)).y.  Closed form, one sort at most."""

    game: Game
    """The game that is played."""
    level: float = math.inf
    """alpha: only vertices of a value up to it will do."""

    def at(self, level: float, anchor: np.ndarray | None = None) -> VertexOracle:
        """The same at another level."""
        return VertexOracle(self.game, level)

    def __call__(self, X: Array) -> Move | Done:
        value, y = self.game.lower(X)
        if value > self.level:
            return Done("fails", phi=1.0, evidence=value)
        return Move(
            loss=self.game.loss(y),
            y=y,
            slack=self.level - value,
            width=width_bound(self.game, y),
        )


@dataclass(frozen=True)
class LevelOracle:
    """The smallest move away from an anchor that satisfies the inequality.

    The y in D_alpha nearest to the anchor with value(X, y) <= level, where a move of y_j counts
    ||A_j||_2: the prox step of a level method. Any answer in Y keeps the guarantee of Algorithm 1; what
    this one buys is width: its loss differs from the anchor's by A(y - anchor), where a vertex has the
    width of the whole set. Measured, it is what makes rounds few (docs/measurements.md). D_alpha is
    ``game.level_set(level)``.
    """

    game: Game
    """The game that is played."""
    level: float = math.inf
    """alpha: only y of a value up to it will do."""
    anchor: np.ndarray | None = None
    """The centre of Y where there is none."""

    def at(self, level: float, anchor: np.ndarray | None = None) -> LevelOracle:
        """The same at another level, near another point."""
        return LevelOracle(self.game, level, anchor)

    def __call__(self, X: Array) -> Move | Done:
        game, Y = self.game, self.game.level_set(self.level)
        gradient = game.prices(X)
        constant = inner(game.C, X)
        least, vertex = Y.minimize(gradient)
        if constant + least > self.level:
            return Done("fails", phi=1.0, evidence=constant + least)
        norms = game.A.norms
        scale = norms + (1e-3 * float(np.max(norms)) or 1.0)  # vacuous constraints may move freely
        anchor = game.Y.center() if self.anchor is None else self.anchor
        y = Y.move_below(anchor, gradient, self.level - constant, scale)
        value = constant + float(gradient @ y)
        if value > self.level:  # by rounding: the vertex is below it
            y, value = vertex, constant + least
        return Move(
            loss=game.loss(y),
            y=y,
            slack=self.level - value,
            width=width_bound(game, y),
        )


@dataclass(frozen=True)
class SortedListOracle:
    """The thesis's Algorithm 3: the first vertex e_j, in the order of the widths ||A_j - C||, that
    satisfies the inequality.  Its width is that of the last vertex it had to take.

    For a game on the simplex. The list is sorted once and shared by all levels (`at`).
    """

    game: Game
    """The game that is played, on the simplex."""
    level: float = math.inf
    """alpha: only vertices of a value up to it will do."""

    @cached_property
    def widths(self) -> np.ndarray:
        """||A_j - C||_2 for every vertex, (m,)."""
        game = self.game
        norm = game.S.eigenvalues
        unit = np.eye(game.Y.size)
        out = np.empty(len(unit))
        for j, e in enumerate(unit):
            w = norm(game.image(e))
            out[j] = float(np.max(np.abs(as_numpy(w))))  # listed block by block, or a diagonal: not in order
        return out

    @cached_property
    def order(self) -> np.ndarray:
        """The list L: vertices by increasing width."""
        return np.argsort(self.widths, kind="stable")

    def at(self, level: float, anchor: np.ndarray | None = None) -> SortedListOracle:
        """The same list at another level."""
        other = SortedListOracle(self.game, level)
        other.__dict__["widths"], other.__dict__["order"] = self.widths, self.order
        return other

    def __call__(self, X: Array) -> Move | Done:
        values = inner(self.game.C, X) + self.game.prices(X)
        satisfied = np.flatnonzero(values[self.order] <= self.level)
        if len(satisfied) == 0:
            return Done("fails", phi=1.0, evidence=float(values.min()))
        j = int(self.order[satisfied[0]])
        y = np.zeros(len(values))
        y[j] = 1.0
        return Move(
            loss=self.game.loss(y),
            y=y,
            slack=self.level - float(values[j]),
            width=float(self.widths[j]),
        )
