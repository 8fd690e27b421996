"""Engines, which propose points, and the loop (`base.run`) that has the problem certify them."""

from matrixlearn.engines.adaptive import Adaptive
from matrixlearn.engines.base import Engine, GameEngine, Limits, Run, State, run
from matrixlearn.engines.column_generation import ColumnGeneration
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.interior_point import InteriorPoint
from matrixlearn.engines.low_rank import LowRank
from matrixlearn.engines.mirror import MirrorDescent, play
from matrixlearn.engines.mirror_prox import MirrorProx
from matrixlearn.engines.mmw import MatrixMultiplicativeWeights
from matrixlearn.engines.pdhg import HybridGradient
from matrixlearn.engines.reference import Reference
from matrixlearn.engines.restarts import Restarts
from matrixlearn.engines.sa_da import SmoothApproximation
from matrixlearn.engines.smoothing import Smoothing
from matrixlearn.engines.subgradient import Subgradient
from matrixlearn.engines.subspace import Subspace
from matrixlearn.engines.theory import Theory

__all__ = [
    "Adaptive",
    "ColumnGeneration",
    "Engine",
    "GameEngine",
    "HybridGradient",
    "Incumbent",
    "InteriorPoint",
    "Limits",
    "LowRank",
    "MatrixMultiplicativeWeights",
    "MirrorDescent",
    "MirrorProx",
    "Proposal",
    "Reference",
    "Restarts",
    "Run",
    "SmoothApproximation",
    "Smoothing",
    "State",
    "Subgradient",
    "Subspace",
    "Theory",
    "play",
    "run",
]
