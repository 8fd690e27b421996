"""Tasks on a graph: machines that keep their rows and learn from their neighbours, with a certificate."""

import importlib
from typing import TYPE_CHECKING, Any

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

_LATE = ("GraphClassifier", "GraphClassifierCV", "GraphRegressor", "GraphRegressorCV")
"""What needs scikit-learn."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        return getattr(importlib.import_module("matrixlearn_network.estimator"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        from matrixlearn.exceptions import MissingExtraError

        msg = f"{name} needs scikit-learn: pip install 'matrixlearn[sklearn]'"
        raise MissingExtraError(msg) from error
