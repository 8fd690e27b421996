"""Problems: their contract, games, and the programs of the library."""

from matrixlearn.problems.base import Bound, MulticonvexProblem, Problem
from matrixlearn.problems.conic import ConicProblem
from matrixlearn.problems.game import Game
from matrixlearn.problems.linear import LinearSDP
from matrixlearn.problems.play import Play
from matrixlearn.problems.played import GameProblem
from matrixlearn.problems.unit_diagonal import UnitDiagonalProblem

__all__ = [
    "Bound",
    "ConicProblem",
    "Game",
    "GameProblem",
    "LinearSDP",
    "MulticonvexProblem",
    "Play",
    "Problem",
    "UnitDiagonalProblem",
]
