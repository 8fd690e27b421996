"""The base class of the engines that draw blocks of samples, and its state."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_number
from matrixlearn_erm.blocks import Blocks
from matrixlearn_erm.engine import ERMEngine, ERMState
from matrixlearn_erm.problem import ERM


@dataclass(frozen=True)
class BlockState(ERMState):
    """The partition, and how many epochs are over."""

    blocks: Blocks | None = None
    epoch: int = 0


@dataclass(frozen=True)
class Stochastic(ERMEngine):
    """An engine that draws blocks of samples; one step of the loop is one epoch.

    Parameters
    ----------
    batch : int, optional
        Rows of a block; 1 is the method as printed. By default up to 64, see `Blocks.of`.
    seed : int
        Of the partition and of each epoch's draws.
    """

    batch: int | None = None
    seed: int = 0

    def step(self, problem: ERM, state: Any, incumbent: Incumbent) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            new = self.advanced(problem, state, incumbent)
        if all(np.all(np.isfinite(value)) for value in vars(new).values() if isinstance(value, np.ndarray)):
            return new
        return replace(state, proposals=(), finished="the iteration diverged: its steps are too long for these data")

    @abstractmethod
    def advanced(self, problem: ERM, state: Any, incumbent: Incumbent) -> Any:
        """The state after one more epoch."""

    def partition(self, problem: ERM) -> Blocks:
        """The samples in blocks."""
        return Blocks.of(problem, self.batch, np.random.default_rng(self.seed))

    def draws(self, epoch: int) -> np.random.Generator:
        """The random numbers of an epoch."""
        return np.random.default_rng((self.seed, epoch))


def best_x(incumbent: Incumbent, d: int) -> np.ndarray:
    """A copy of the best x known, or 0."""
    return np.zeros(d) if incumbent.X is None else np.array(incumbent.X, dtype=float)


def best_y(problem: ERM, incumbent: Incumbent) -> np.ndarray:
    """A copy of the best y known, or 0."""
    return np.zeros(problem.n) if incumbent.y is None else np.array(incumbent.y, dtype=float)


def require_length(value: float) -> None:
    """A positive number.

    Raises
    ------
    ProblemError
        For others.
    """
    if not 0 < as_number("length", value) < np.inf:
        msg = f"length must be positive and finite, got {value!r}"
        raise ProblemError(msg)
