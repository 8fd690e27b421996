"""What a schedule of matrix multiplicative weights decides: step sizes, levels and what is certified when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from matrixlearn._array import zeros
from matrixlearn.engines.base import Incumbent, State
from matrixlearn.exponents import Exponent
from matrixlearn.problems.game import SpectralGame
from matrixlearn.typing import Array


class Schedule(Protocol):
    """How an Arora-Kale engine runs its rounds."""

    def supports(self, game: SpectralGame) -> str:
        """Empty, or what the game lacks."""

    def remarks(self, state: Any) -> str:
        """How the rounds went, in words; empty where there is nothing to say."""

    def init(self, game: SpectralGame, incumbent: Incumbent, exponent: Exponent) -> State:
        """The first state, to be played with an exponent routine."""

    def step(self, game: SpectralGame, state: Any, incumbent: Incumbent) -> State:
        """One round."""


@dataclass(frozen=True)
class Averages:
    """Running sums of the rounds since the last restart."""

    X: Array
    y: np.ndarray
    count: int = 0

    @classmethod
    def empty(cls, game: SpectralGame) -> Averages:
        return cls(zeros(tuple(game.cost.shape), game.cost), np.zeros(game.dual_set.size))

    def with_round(self, X: Array, y: np.ndarray) -> Averages:
        return Averages(self.X + X, self.y + y, self.count + 1)
