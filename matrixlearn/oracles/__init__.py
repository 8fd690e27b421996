"""Oracles: functions that answer a matrix with a loss, or say that the rounds are over."""

from matrixlearn.oracles.base import Done, Leveled, Move, Oracle, at_level
from matrixlearn.oracles.matching import bipartite_matching, minimum_weight_matching, sorted_pairing
from matrixlearn.oracles.polytope import PolytopeOracle
from matrixlearn.oracles.responses import ResponseOracle
from matrixlearn.oracles.simplex import LevelOracle, SortedListOracle, VertexOracle, width_bound

__all__ = [
    "Done",
    "LevelOracle",
    "Leveled",
    "Move",
    "Oracle",
    "PolytopeOracle",
    "ResponseOracle",
    "SortedListOracle",
    "VertexOracle",
    "at_level",
    "bipartite_matching",
    "minimum_weight_matching",
    "sorted_pairing",
    "width_bound",
]
