"""Tasks on a graph for people: what was solved, the graph at its places, rows from a file, a demonstration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from matrixlearn.files import name_of, read_arrays
from matrixlearn.machines import ARGUMENTS, machines_of
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_network.picture import draw_solution

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_network.gspartan import GSpartan
    from matrixlearn_network.networked import NetworkProblem


DATA = Argument(
    "data",
    ".npz with X, shape (n, d), y (n,), task (n,), and graph (m, m), weights of the tasks in ascending order.",
    required=True,
    positional=True,
)


class NetworkPresenter(Presenter["NetworkProblem"]):
    """Weights of tasks on a graph."""

    settings: tuple[Argument, ...] = ()
    """The parameters that a command line may give."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Those that differ from the problem's own."""

    def __init_subclass__(cls) -> None:
        cls.arguments = (DATA, *cls.settings, *ARGUMENTS)

    def describe(self, solution: Solution) -> list[str]:
        problem = self.problem_of(solution)
        given = ", ".join(f"{each.name} {self._shown(getattr(problem, each.name))}" for each in self.settings)
        return [
            f"tasks      {len(problem.tasks)} with {problem.rows} rows in {problem.features} features, "
            f"{problem.graph.edges} edges, {given}"
        ]

    @staticmethod
    def _shown(value: Any) -> str:
        return f"{value:g}" if isinstance(value, int | float | np.integer) else str(getattr(value, "name", value))

    def plot(self, solution: Solution, axes: Any) -> bool:
        return draw_solution(solution, axes)

    def columns(self, solution: Solution) -> dict[str, Any]:
        """The tasks and their weights."""
        if solution.matrix is None:
            return {}
        problem = self.problem_of(solution)
        weights = {f"w{k}": row for k, row in enumerate(problem.weights(solution), 1)}
        return {"task": list(problem.tasks), **weights}

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> NetworkProblem:
        """The problem of the rows and the graph in a file."""
        arrays = read_arrays(given["data"], ("X", "y", "task", "graph"))
        names = [each.name for each in self.settings]
        settings = {**self.defaults} | {name: given[name] for name in names if name in given}
        settings |= {"task": arrays.get("task"), "machines": machines_of(given)}
        make: Any = self.problem_class
        problem: NetworkProblem = make(arrays["X"], arrays["y"], arrays.get("graph"), **settings)
        say(f"read {name_of(given['data'])}: {problem.rows} rows of {len(problem.tasks)} tasks")
        return problem


class GraphPresenter(NetworkPresenter):
    """Weights of tasks that are near their neighbours'."""

    settings = (
        Argument("eta", "Weight of the ridge, > 0 (default 0.01).", float),
        Argument("tau", "Weight of the graph, >= 0 (default 1).", float),
        Argument("loss", "square (default), huber, logistic or hinge.", str),
    )
    defaults = {"eta": 0.01}

    def demo(self) -> Callable[[Say], Any]:
        from matrixlearn_network.demo import run  # late: scikit-learn

        return run


class SpartanPresenter(NetworkPresenter):
    """Base models that tasks share, and how they mix them."""

    settings = (
        Argument("rank", "Base models (default 1).", int),
        Argument("mix", "Weight of the sum of V, > 0 (default 1).", float),
        Argument("base", "Weight of the sum of |U|, > 0 (default 1).", float),
        Argument("tie", "Weight of the graph, >= 0 (default 1).", float),
    )

    def describe(self, solution: Solution) -> list[str]:
        if solution.matrix is None:
            return super().describe(solution)
        at = cast("GSpartan", solution.problem).factors(solution.matrix)
        used = int(np.count_nonzero(np.any(at.U, axis=0) & np.any(at.V, axis=0)))
        shares = [f"{np.mean(part != 0):.0%} of {name}" for name, part in (("U", at.U), ("V", at.V))]
        return [*super().describe(solution), f"factors    {used} base models used, {' and '.join(shares)} not 0"]


class JointPresenter(NetworkPresenter):
    """Features that neighbours use together."""

    settings: tuple[Argument, ...] = (
        Argument("rho", "Weight of the graph, >= 0 (default 1).", float),
        Argument("eta", "Weight of the norms of rows, >= 0 (default 0.1).", float),
        Argument("ridge", "Of the bounds, > 0 (default 1e-6).", float),
    )

    def describe(self, solution: Solution) -> list[str]:
        if solution.matrix is None:
            return super().describe(solution)
        W = self.problem_of(solution).weights(solution)
        anywhere, used = int(np.count_nonzero(np.any(W, axis=1))), np.count_nonzero(W, axis=0)
        return [
            *super().describe(solution),
            f"support    {anywhere} features used, {used.min()} to {used.max()} by a task",
        ]


class ConcavePresenter(JointPresenter):
    """The same, large rows spared."""

    settings = (
        *JointPresenter.settings,
        Argument("penalty", "rw (default) or l20.", str),
        Argument("epsilon", "One over the size from which a row is spared (default 10).", float),
    )
