"""Tasks on a graph: machines that keep their rows and learn from their neighbours, with a certificate."""

from matrixlearn_network.engines import BOL, BSR, DMTL, SOL, SSR, GradientDescent, Krylov, MomentsAtHub
from matrixlearn_network.graph import Graph, GraphWarning, as_graph, complete, neighbours, of_edges, variogram
from matrixlearn_network.problem import GraphMultitask

__all__ = [
    "BOL",
    "BSR",
    "DMTL",
    "SOL",
    "SSR",
    "Graph",
    "GraphMultitask",
    "GraphWarning",
    "GradientDescent",
    "Krylov",
    "MomentsAtHub",
    "as_graph",
    "complete",
    "neighbours",
    "of_edges",
    "variogram",
]
