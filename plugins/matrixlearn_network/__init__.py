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
    Krylov,
    MomentsAtHub,
)
from matrixlearn_network.graph import Graph, GraphWarning, as_graph, complete, neighbours, of_edges, variogram
from matrixlearn_network.gspartan import GSpartan
from matrixlearn_network.problem import GraphMultitask

if TYPE_CHECKING:
    from matrixlearn_network.classifier import GraphClassifier, GraphClassifierCV
    from matrixlearn_network.regressor import GraphRegressor, GraphRegressorCV
    from matrixlearn_network.sparse_regressors import GSpartanRegressor

__all__ = [
    "BOL",
    "BSR",
    "DMTL",
    "SOL",
    "SSR",
    "BlockCoordinateDescent",
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
    "Krylov",
    "MomentsAtHub",
    "as_graph",
    "complete",
    "neighbours",
    "of_edges",
    "variogram",
]

_ESTIMATORS = {
    "GSpartanRegressor": "sparse_regressors",
    "GraphClassifier": "classifier",
    "GraphClassifierCV": "classifier",
    "GraphRegressor": "regressor",
    "GraphRegressorCV": "regressor",
}
"""Names that need scikit-learn, and the modules that they are in."""

__getattr__ = _late(__name__, _ESTIMATORS)
