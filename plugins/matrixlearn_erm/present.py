"""`ERM` for people: the case, the weights, predictions against labels, samples from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.files import read_arrays
from matrixlearn.losses import LOSSES
from matrixlearn.machines import ARGUMENTS, Local, Shards, machines_of
from matrixlearn.present import Argument, Presenter, Say

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_erm.problem import ERM


DEALT = 8
"""Machines that rows without a task are dealt to, on workers that run."""


class ERMPresenter(Presenter["ERM"]):
    """Weights that were learned from samples and labels."""

    arguments = (
        Argument(
            "data",
            ".npz with A, shape (n, d), and b, shape (n,); for machines also task (n,), the machine of each row.",
            required=True,
            positional=True,
        ),
        Argument("loss", f"{', '.join(LOSSES)}; parameters in parentheses.", str, required=True),
        Argument("penalty", 'such as "ridge(ridge=0.1)" or "elastic-net(ridge=0.1, l1=0.01)".', str, required=True),
        *ARGUMENTS,
    )

    def describe(self, solution: Solution) -> list[str]:
        problem = self.problem_of(solution)
        lines = [f"case       {problem.case}"]
        if solution.matrix is not None:
            x = np.asarray(solution.matrix)
            lines.append(f"weights    {np.count_nonzero(x)} of {problem.d} are not 0, ||x|| = {np.linalg.norm(x):.4g}")
        return lines

    def plot(self, solution: Solution, axes: Any) -> bool:
        problem = self.problem_of(solution)
        if solution.matrix is None or not problem.design.is_here:
            return False
        b, p = problem.b, problem.design.apply(np.asarray(solution.matrix))
        title = f"{problem.loss}, {problem.penalty}"
        if set(np.unique(b)) <= {-1.0, 1.0}:
            for sign, colour in ((-1.0, "C0"), (1.0, "C3")):
                if np.any(b == sign):
                    axes.hist(p[b == sign], bins=40, alpha=0.6, color=colour, density=True, label=f"b = {sign:+.0f}")
            axes.set(xlabel="prediction $a_i \\cdot x$", ylabel="density", title=title)
            axes.legend(frameon=False)
            return True
        axes.scatter(b, p, s=12, color="C2", alpha=0.7, lw=0)
        ends = [min(b.min(), p.min()), max(b.max(), p.max())]
        axes.plot(ends, ends, color="C7", lw=1)
        axes.set(xlabel="label $b_i$", ylabel="prediction $a_i \\cdot x$", title=title)
        return True

    def columns(self, solution: Solution) -> dict[str, Any]:
        """The weights, one a row."""
        return {} if solution.matrix is None else {"weight": np.asarray(solution.matrix)}

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> ERM:
        """The problem of the samples and labels in a file."""
        cls = self.problem_class
        arrays = read_arrays(given["data"], ("A", "b", "task"))
        if "A" not in arrays or "b" not in arrays:
            msg = f"{given['data']} must hold A and b, got {', '.join(arrays)} only"
            raise ProblemError(msg)
        settings = {name: given[name] for name in ("loss", "penalty")}
        machines = machines_of(given)
        if isinstance(machines, Local) and "task" not in arrays:
            return cls(arrays["A"], arrays["b"], **settings)
        rows = len(arrays["b"])
        task = arrays.get("task", np.arange(rows) * (given.get("workers") or DEALT) // rows)
        return cls(Shards.of(arrays["A"], arrays["b"], task), None, **settings, machines=machines)
