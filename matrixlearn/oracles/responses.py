"""Best responses to a convex function of the matrix, and the averages of both sides.

    f(X) = max over y of <A(y), X> - g(y),      y_t attains it at X_t,      loss_t = A(y_t), a subgradient of f

The matrix player minimizes. With steps eta_t and weights eta_t / sum eta, convexity gives

    f(mean X)  +  g(mean y) - min over X in S of <A(mean y), X>   <=   regret / sum_t eta_t

so that the averages prove each other: a saddle needs no level. Where y moves in a box and g is linear this is a matrix
game; where f is smooth the responses settle, and the steps stay long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.linalg import inner, spectral_norm
from matrixlearn.oracles.base import Move
from matrixlearn.typing import Array

Response = Callable[[Array], tuple[Array, np.ndarray]]
"""X -> (A(y), y) for the best y against X."""


@dataclass(frozen=True, eq=False)
class ResponseOracle:
    """The best response to X, with a step from what the steps so far have cost.

        1 / eta_t = 1 / first + sum_s [<loss_s - loss_{s-1}, X_s - X_{s+1}>]_+ / (boldness * room)

    The last loss is added in advance, as a hint of the next (optimistic mirror descent). The averages start afresh at
    rounds 1, 2, 4, 8, ...: what was played far from the end does not count.

    Parameters
    ----------
    response : function
    room : float
        The range of the entropy on S, R ln n.
    boldness : float
        Multiplies the room, as in `engines.adaptive.Adaptive`.
    """

    response: Response
    room: float
    boldness: float = 1.0
    rounds: int = 0
    """Played so far."""
    first: float = math.inf
    """The step before anything has been paid."""
    paid: float = 0.0
    """sum_s of the unrest that steps have caused."""
    weight: float = 0.0
    """The sum of the steps in the averages."""
    X: Array = None
    """The matrix of the last round."""
    loss: Array = None
    """Of the last round."""
    surprise: Array = None
    """loss_s - loss_{s-1}, of the last round."""
    hinted: float = 0.0
    """The step with which the last loss is in the sum already, as a hint."""
    mean_X: Array = None
    """The mean of the X, each by its step."""
    mean_y: np.ndarray | None = None
    """The mean of the y, each by its step."""

    def __call__(self, X: Array) -> Move:
        loss, y = self.response(X)
        paid = self.paid
        if self.X is not None:
            paid += max(inner(self.surprise, self.X - X), 0.0)
        first = self.first
        if first == math.inf:
            first = self.room / (spectral_norm(loss) or 1.0)
        before = self.hinted if self.X is not None else first
        ahead = 1 / (1 / first + paid / (self.boldness * self.room))
        afresh = self.rounds & (self.rounds - 1) == 0
        weight = (0.0 if afresh else self.weight) + before
        share = before / weight
        mean_X = X if afresh else self.mean_X + share * (X - self.mean_X)
        mean_y = y if afresh or self.mean_y is None else self.mean_y + share * (y - self.mean_y)
        surprise = loss if self.loss is None else loss - self.loss
        change = (before + ahead) * loss - (0.0 if self.loss is None else before * self.loss)
        then = replace(
            self,
            rounds=self.rounds + 1,
            first=first,
            paid=paid,
            weight=weight,
            X=X,
            loss=loss,
            surprise=surprise,
            hinted=ahead,
            mean_X=mean_X,
            mean_y=mean_y,
        )
        return Move(change, y=mean_y, point=mean_X, then=then)
