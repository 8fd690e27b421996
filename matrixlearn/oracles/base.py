"""The contract of an oracle: the answer to a matrix.

An oracle is any callable X -> `Move` | `Done`. A move is a loss for the mirror map and how far to go
along it; "done" ends the rounds and brings the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from matrixlearn.typing import Array


@dataclass(frozen=True)
class Move:
    """G <- G + step * loss.

    Attributes
    ----------
    loss : array
        A Hermitian loss, e.g. A(y) - C.
    step : float
        How far to go.
    y : ndarray or None
        The vector that the loss came from.
    slack : float
        By how much the oracle's inequality holds, >= 0 (Arora-Kale: level - value at (X, y)).
    width : float
        An upper bound of the spectral norm of the loss.
    point : array or None
        What is worth certifying, where that is not the matrix played: an average, or another block.
    then : Oracle or None
        The oracle of the next round, where this one has a memory: the rest of a stream, the other
        blocks of an alternation, the sum of the steps so far. None: the same oracle again.
    """

    loss: Array
    step: float = 1.0
    y: np.ndarray | None = None
    slack: float = 0.0
    width: float = float("inf")
    point: Array | None = None
    then: Oracle | None = None


@dataclass(frozen=True)
class Done:
    """Why the rounds end.

    Attributes
    ----------
    reason : str
        "fails" (Arora-Kale: no y in D_alpha satisfies the inequality, so X / phi is feasible with at
        least alpha), "satisfied" (no constraint is violated), "end of stream".
    phi : float or None
        phi* of Lemma 4.2.1, where the oracle fails: X / phi is a feasible primal point.
    evidence : object
        Anything else that proves the reason.
    point : array or None
        What is worth certifying, where that is not the matrix played.
    """

    reason: str
    phi: float | None = None
    evidence: Any = None
    point: Array | None = None


@runtime_checkable
class Oracle(Protocol):
    """X -> what to do next."""

    def __call__(self, X: Array) -> Move | Done:
        """Answer the matrix X."""


@runtime_checkable
class Leveled(Protocol):
    """The oracle of a game, which is asked at a guess of the value."""

    def at(self, level: float, anchor: np.ndarray | None = None) -> Oracle:
        """The oracle of a level, where it likes to stay near a point of Y."""


def at_level(oracle: Oracle, level: float, anchor: np.ndarray | None) -> Oracle:
    """The oracle of a level; itself, where it knows of none."""
    at = getattr(oracle, "at", None)
    return oracle if at is None else at(level, anchor)
