"""`MEGRegression` for people: the spectrum of W, predictions against labels, instances from files, a demonstration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.files import read_arrays
from matrixlearn.present import Argument, Presenter, Say

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_meg.problem import MEGRegression


class DensityPresenter(Presenter["MEGRegression"]):
    """A density matrix that was learned from instances and labels."""

    arguments = (
        Argument(
            "data",
            ".npz with X, shape (T, d, d), or (T, d) for dyads x x^T, and y, shape (T,).",
            required=True,
            positional=True,
        ),
        Argument("loss", "square (default; without the half), absolute, huber, logistic, hinge, ...", str),
        Argument("delta", "Of the Huber loss: where the square turns into the absolute value.", float),
    )

    def describe(self, solution: Solution) -> list[str]:
        if solution.matrix is None:
            return []
        problem = self.problem_of(solution)
        w = np.linalg.eigvalsh(np.asarray(solution.matrix))
        centre = problem.value_of(np.eye(problem.d) / problem.d)
        return [
            f"I / d      {centre:.9g} is the value of the maximally mixed W",
            f"spectrum   effective rank {1 / float(w @ w):.1f} of {problem.d}, largest eigenvalue {w[-1]:.4g}",
        ]

    def plot(self, solution: Solution, axes: Any) -> bool:
        if solution.matrix is None:
            return False
        problem = self.problem_of(solution)
        if solution.method == "online":  # the same rounds again, now beside the certified matrix
            problem.learner(solution.matrix).learn(problem.examples()).meter.plot(axes)
            return True
        p = problem.predict(solution.matrix)
        axes.scatter(problem.y, p, s=12, color="C2", alpha=0.7, lw=0)
        ends = [min(problem.y.min(), p.min()), max(problem.y.max(), p.max())]
        axes.plot(ends, ends, color="C7", lw=1)
        title = f"{problem.loss.name} loss, d = {problem.d}"
        axes.set(xlabel="label $y_t$", ylabel="prediction tr$(W X_t)$", title=title)
        return True

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> MEGRegression:
        """The problem of the instances and labels in a file."""
        cls = self.problem_class
        settings = dict(given)
        arrays = read_arrays(settings.pop("data"), ("X", "y"))
        if len(arrays) < 2:
            msg = f"{given['data']} must hold X and y, got {', '.join(arrays)} only"
            raise ProblemError(msg)
        return cls(arrays["X"], arrays["y"], **settings)

    def demo(self) -> Callable[[Say], Any]:
        from matrixlearn_meg.demo import run  # late: import time

        return run
