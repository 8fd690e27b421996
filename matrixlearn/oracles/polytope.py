"""The linear program over D_alpha = {y >= 0, b.y <= alpha} of Arora and Kale.

    max over y of sum_j (A_j . X) y_j     subject to   b.y <= alpha,  y >= 0           (4.9)

with A_1 = I, b_1 = R. Its dual has one variable,

    min alpha phi    subject to   b_j phi >= A_j . X,  phi >= 0,

an interval, so that either is solved by ratios: the optimum is the vertex (alpha / b_j) e_j of the
largest A_j . X / b_j among b_j > 0; where the interval is empty the program is unbounded, along a
ray of two coordinates at most. Below C . X the oracle fails, and phi* makes X / phi* feasible with
at least alpha (Lemma 4.2.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import inner, trace
from matrixlearn.oracles.base import Done, Move
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True)
class PolytopeOracle:
    """Arora and Kale's oracle for the game of a linear program, S = {X >= 0, Tr X <= R}, at the level alpha > 0; b of
    any signs.  It asks D_alpha, whatever Y the game has.
    """

    game: Game
    """The game that is played."""
    level: float = math.inf
    """alpha."""

    def at(self, level: float, anchor: np.ndarray | None = None) -> PolytopeOracle:
        """The same at another level."""
        return PolytopeOracle(self.game, level)

    def widest(self, level: float) -> float:
        """||C||_2 + alpha max_j ||A_j||_2 / b_j, which no vertex of D_alpha exceeds; infinite where some b_j <= 0:
        D_alpha is not bounded there.
        """
        game = self.game
        if not np.all(game.c > 0):
            return math.inf
        return game.cost_norm + level * float(np.max(game.A.norms / game.c, initial=0.0))

    def __call__(self, X: Array) -> Move | Done:
        game, alpha = self.game, self.level
        products = np.concatenate([[trace(X)], game.A.adjoint(X)])
        R = game.S.trace
        b = np.concatenate([[R], game.c])
        target, norms = inner(game.C, X), game.A.norms
        y = _vertex(products, b) * alpha
        gained = float(products @ y)
        noise = 4 * X.shape[0] * EPS * R * np.concatenate([[1.0], norms])
        ray = _ray(products, b, noise)
        if gained < target:
            if ray is None:
                phi = gained / alpha
                return Done("fails", phi=phi, evidence=target, point=X / phi if phi > 0 else None)
            y = y + (target - gained) / float(products @ ray) * ray  # no farther than needed
            gained = target
        identity_part, rest = float(y[0]), y[1:]
        return Move(
            loss=game.loss(rest),  # the multiple of I drops out of a map that fixes the trace
            y=rest,
            slack=gained - target,
            width=identity_part + game.cost_norm + float(rest @ norms),
        )


def _vertex(products: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The best y >= 0 with b.y = 1 and one coordinate; b[0] > 0 and products[0] >= 0."""
    rate = np.divide(products, b, out=np.full(len(b), -np.inf), where=b > 0)
    y = np.zeros(len(b))
    j = int(np.argmax(rate))
    y[j] = 1.0 / b[j]
    return y


def _ray(products: np.ndarray, b: np.ndarray, noise: np.ndarray) -> np.ndarray | None:
    """y >= 0 with b.y <= 0 and products.y above its rounding, in one or two coordinates, or None."""
    y = np.zeros(len(b))
    alone = np.where(b <= 0, products - noise, -np.inf)
    k = int(np.argmax(alone))
    if alone[k] > 0:
        y[k] = 1.0
        return y
    # b_j > 0 pays for b_k < 0: some products_j / b_j exceeds some products_k / b_k
    most = np.divide(products, b, out=np.full(len(b), -np.inf), where=b > 0)
    least = np.divide(products, b, out=np.full(len(b), np.inf), where=b < 0)
    j, k = int(np.argmax(most)), int(np.argmin(least))
    if most[j] - least[k] <= noise[j] / b[j] - noise[k] / b[k]:
        return None
    y[j], y[k] = 1.0 / b[j], -1.0 / b[k]
    return y
