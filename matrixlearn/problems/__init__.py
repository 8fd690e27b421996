"""Problems: the base classes for plugin authors, and `LinearSDP`."""

from matrixlearn.problems.base import Bound, MulticonvexProblem, Problem
from matrixlearn.problems.family import FamilyGame
from matrixlearn.problems.game import SpectralGame
from matrixlearn.problems.linear import LinearSDP
from matrixlearn.problems.unit_diagonal import UnitDiagonalGame

__all__ = [
    "Bound",
    "FamilyGame",
    "LinearSDP",
    "MulticonvexProblem",
    "Problem",
    "SpectralGame",
    "UnitDiagonalGame",
]
