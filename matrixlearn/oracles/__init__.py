"""The answers to a matrix."""

from matrixlearn.oracles.base import Done, Move, Oracle
from matrixlearn.oracles.polytope import PolytopeOracle
from matrixlearn.oracles.simplex import LevelOracle, SortedListOracle, VertexOracle, width_bound

__all__ = [
    "Done",
    "LevelOracle",
    "Move",
    "Oracle",
    "PolytopeOracle",
    "SortedListOracle",
    "VertexOracle",
    "width_bound",
]
