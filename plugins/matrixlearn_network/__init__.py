"""Tasks on a graph: machines that keep their rows and learn from their neighbours, with a certificate."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
from matrixlearn_network.engines import BOL, BSR, DMTL, SOL, SSR, GradientDescent, Krylov, MomentsAtHub
from matrixlearn_network.graph import Graph, GraphWarning, as_graph, complete, neighbours, of_edges, variogram
from matrixlearn_network.problem import GraphMultitask

if TYPE_CHECKING:
    from matrixlearn_network.estimator import GraphClassifier, GraphClassifierCV, GraphRegressor, GraphRegressorCV

__all__ = [
    "BOL",
    "BSR",
    "DMTL",
    "SOL",
    "SSR",
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

_ESTIMATORS = ("GraphClassifier", "GraphClassifierCV", "GraphRegressor", "GraphRegressorCV")
"""What needs scikit-learn."""

__getattr__ = _late(__name__, dict.fromkeys(_ESTIMATORS, "estimator"))
