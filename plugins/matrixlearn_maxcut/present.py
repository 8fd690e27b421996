"""`MaxCut` for people: the cut of a solution, its picture, graphs from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.files import name_of
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_maxcut.files import read_graph_file

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_maxcut.problem import MaxCut

PICTURED = 4000
"""Vertices up to which the weights are drawn: an n x n picture."""


class CutPresenter(Presenter["MaxCut"]):
    """The sides of a cut, and the weight that none exceeds."""

    arguments = (
        Argument(
            "graph",
            "MatrixMarket, Gset / rudy (header 'n m', lines 'i j w'), METIS, DIMACS .col, or an edge list ('u v' or "
            "'u v w', or CSV); also with .gz; - for standard input.",
            required=True,
            positional=True,
        ),
    )

    def describe(self, solution: Solution) -> list[str]:
        if solution.matrix is None:
            return []
        cut = self.problem_of(solution).round(solution)
        return [f"cut        weight {cut.weight:.9g}; no cut weighs more than {solution.upper:.9g}"]

    def plot(self, solution: Solution, axes: Any) -> bool:
        problem = self.problem_of(solution)
        if solution.matrix is None or problem.size > PICTURED:
            return False
        cut = problem.round(solution)
        order = np.argsort(cut.side, kind="stable")
        shown = np.abs(problem.weights[np.ix_(order, order)])
        axes.imshow(shown, cmap="Greys", interpolation="nearest")
        edge = float(np.sum(cut.side < 0)) - 0.5
        axes.axhline(edge, color="C3", lw=1)
        axes.axvline(edge, color="C3", lw=1)
        axes.set_title(f"cut of weight {cut.weight:.6g}")
        axes.set_xlabel("vertex, by side of the cut")
        return True

    def columns(self, solution: Solution) -> dict[str, Any]:
        """The vertices and their sides."""
        if solution.matrix is None:
            return {}
        problem = self.problem_of(solution)
        return {"vertex": list(problem.nodes), "side": problem.round(solution).side}

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> MaxCut:
        """The problem of a graph in a file."""
        cls = self.problem_class
        file = read_graph_file(given["graph"])
        problem = cls(file.graph)
        edges = (
            np.count_nonzero(problem.adjacency) if isinstance(problem.adjacency, np.ndarray) else problem.adjacency.nnz
        )
        say(f"read {name_of(given['graph'])} as {file.format}: {problem.size} vertices, {edges // 2} edges")
        return problem
