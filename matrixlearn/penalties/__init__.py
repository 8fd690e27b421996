"""Convex penalties psi(x) of the weights x: a ridge and a norm, with their conjugates and proximal maps."""

from matrixlearn.penalties.base import Penalty
from matrixlearn.penalties.matrices import Nuclear, Spectral
from matrixlearn.penalties.named import PENALTIES, penalty_named
from matrixlearn.penalties.vectors import ElasticNet, Group

__all__ = [
    "PENALTIES",
    "ElasticNet",
    "Group",
    "Nuclear",
    "Penalty",
    "Spectral",
    "penalty_named",
]
