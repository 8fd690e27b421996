"""`GraphMultitask` for people: what was solved, the graph at its places, rows from a file, a demonstration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.files import name_of, read_arrays
from matrixlearn.machines import ARGUMENTS, machines_of
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_network.picture import draw_solution

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_network.problem import GraphMultitask


class GraphPresenter(Presenter["GraphMultitask"]):
    """Weights of tasks on a graph."""

    arguments = (
        Argument(
            "data",
            ".npz with X, shape (n, d), y (n,), task (n,), and graph (m, m), weights of the tasks in ascending order.",
            required=True,
            positional=True,
        ),
        Argument("eta", "Weight of the ridge, > 0 (default 0.01).", float),
        Argument("tau", "Weight of the graph, >= 0 (default 1).", float),
        Argument("loss", "square (default), huber, logistic or hinge.", str),
        *ARGUMENTS,
    )

    def describe(self, solution: Solution) -> list[str]:
        problem = self.problem_of(solution)
        d, m = problem.shape
        return [
            f"tasks      {m} with {problem.rows} rows in {d} features, {problem.graph.edges} edges, "
            f"loss {problem.loss.name}, eta {problem.eta:g}, tau {problem.tau:g}"
        ]

    def plot(self, solution: Solution, axes: Any) -> bool:
        return draw_solution(solution, axes)

    def columns(self, solution: Solution) -> dict[str, Any]:
        """The tasks and their weights."""
        if solution.matrix is None:
            return {}
        problem = self.problem_of(solution)
        weights = {f"w{k}": row for k, row in enumerate(np.asarray(solution.matrix), 1)}
        return {"task": list(problem.tasks), **weights}

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> GraphMultitask:
        """The problem of the rows and the graph in a file."""
        cls = self.problem_class
        arrays = read_arrays(given["data"], ("X", "y", "task", "graph"))
        settings = {"eta": 0.01} | {name: given[name] for name in ("eta", "tau", "loss") if name in given}
        settings["machines"] = machines_of(given)
        problem = cls(arrays["X"], arrays["y"], arrays.get("graph"), task=arrays.get("task"), **settings)
        say(f"read {name_of(given['data'])}: {problem.rows} rows of {len(problem.tasks)} tasks")
        return problem

    def demo(self) -> Callable[[Say], Any]:
        from matrixlearn_network.demo import run  # late: matplotlib

        return run
