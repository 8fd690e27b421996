"""Problems over a cone: points that prove nothing as they stand are moved, and an objective may be unbounded."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from matrixlearn.problems.base import Problem
from matrixlearn.typing import Array


class ConicProblem(Problem):
    """max <C, X> over the X >= 0 that meet linear rows, of which an infeasible X proves nothing until it is moved."""

    @abstractmethod
    def toward(self, X: Array, interior: Array | None) -> Array:
        """X moved to where it proves a bound: onto the rows, and towards a strictly feasible matrix where one is known,
        by as little as that takes; X itself where no move is found.
        """

    @abstractmethod
    def toward_dual(self, y: np.ndarray, interior: np.ndarray) -> np.ndarray:
        """y moved towards a strictly feasible vector by as little as a proof takes; y itself where none is found."""

    @abstractmethod
    def ray_near(self, X: Array) -> Array | None:
        """D >= 0 near a multiple of X, along which the objective is proved to grow without end from any feasible point;
        None where none is found.
        """

    def recovered(self, X: Array, y: np.ndarray) -> tuple[Array | None, np.ndarray | None]:
        """Points next to a nearly optimal pair whose bounds may meet exactly; None for what is not found."""
        return None, None


def toward(problem: Problem, X: Array, interior: Array | None) -> Array:
    """`ConicProblem.toward`; X itself for other problems."""
    return problem.toward(X, interior) if isinstance(problem, ConicProblem) else X


def toward_dual(problem: Problem, y: np.ndarray, interior: np.ndarray) -> np.ndarray:
    """`ConicProblem.toward_dual`; y itself for other problems."""
    return problem.toward_dual(y, interior) if isinstance(problem, ConicProblem) else y


def recovered(problem: Problem, X: Array, y: np.ndarray) -> tuple[Array | None, np.ndarray | None]:
    """`ConicProblem.recovered`; nothing for other problems."""
    return problem.recovered(X, y) if isinstance(problem, ConicProblem) else (None, None)


def ray_near(problem: Problem, X: Array) -> Array | None:
    """`ConicProblem.ray_near`; None for other problems."""
    return problem.ray_near(X) if isinstance(problem, ConicProblem) else None
