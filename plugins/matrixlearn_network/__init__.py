"""Tasks on a graph: machines that keep their rows and learn from their neighbours, with a certificate."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
from matrixlearn_network.engines import (
    BOL,
    BSR,
    DMTL,
    SOL,
    SSR,
    BlockCoordinateDescent,
    GradientDescent,
    JointADMM,
    Krylov,
    MomentsAtHub,
    Reweighting,
)
from matrixlearn_network.graph import Graph, GraphWarning, as_graph, complete, neighbours, of_edges, variogram
from matrixlearn_network.gspartan import GSpartan
from matrixlearn_network.joint import ConcaveJointlySparse, JointlySparse
from matrixlearn_network.learner import DivergenceError, JointlySparseLearner
from matrixlearn_network.problem import GraphMultitask

if TYPE_CHECKING:
    from matrixlearn_network.classifier import GraphClassifier, GraphClassifierCV
    from matrixlearn_network.regressor import GraphRegressor, GraphRegressorCV
    from matrixlearn_network.sparse_regressors import GSpartanRegressor, JointlySparseRegressor

__all__ = [
    "BOL",
    "BSR",
    "DMTL",
    "SOL",
    "SSR",
    "BlockCoordinateDescent",
    "ConcaveJointlySparse",
    "DivergenceError",
    "GSpartan",
    "GSpartanRegressor",
    "GradientDescent",
    "Graph",
    "GraphClassifier",
    "GraphClassifierCV",
    "GraphMultitask",
    "GraphRegressor",
    "GraphRegressorCV",
    "GraphWarning",
    "JointADMM",
    "JointlySparse",
    "JointlySparseLearner",
    "JointlySparseRegressor",
    "Krylov",
    "MomentsAtHub",
    "Reweighting",
    "as_graph",
    "complete",
    "neighbours",
    "of_edges",
    "variogram",
]

_ESTIMATORS = {
    "JointlySparseRegressor": "sparse_regressors",
    "GSpartanRegressor": "sparse_regressors",
    "GraphClassifier": "classifier",
    "GraphClassifierCV": "classifier",
    "GraphRegressor": "regressor",
    "GraphRegressorCV": "regressor",
}
"""Names that need scikit-learn, and the modules that they are in."""

__getattr__ = _late(__name__, _ESTIMATORS)
