"""`DefiniteBoost` and `MinMaxSDP` for people: violations, spectra, constraints from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.files import read_arrays
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_definiteboost.dual import EPS
from matrixlearn_definiteboost.problem import PARAMETERS

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn.problems import Problem
    from matrixlearn_definiteboost.minmax import MinMaxSDP
    from matrixlearn_definiteboost.problem import DefiniteBoost


class ProjectionPresenter(Presenter["DefiniteBoost"]):
    """The density matrix nearest to W_1 under constraints."""

    arguments = (
        Argument(
            "constraints",
            ".npz with constraints, shape (m, d, d), or vectors and perhaps minus, shape (m, d); perhaps upper, lower "
            "and slack, a number or shape (m,), and initial, shape (d, d).",
            required=True,
            positional=True,
        ),
        Argument("slack", "The price of a unit of violation, the same for all; hard constraints by default.", float),
    )

    def describe(self, solution: Solution) -> list[str]:
        W, y = solution.matrix, solution.y
        problem: DefiniteBoost = self.problem_of(solution)
        lines = []
        if W is not None:
            v = problem.violations(W)
            kind = "soft" if problem.slack is not None else "hard"
            lines.append(f"constraints {problem.m} {kind}, largest violation {v.max():.2e}")
            if solution.status == "stopped" and problem.slack is None and not problem.is_feasible(W):
                lines.append("feasible    only to that violation: no interior is known; lower is proven")
        if y is not None:
            lines.append(f"active      {int(np.sum(np.abs(y) > 1e-9 * np.abs(y).max(initial=0.0)))} multipliers")
        return lines

    def plot(self, solution: Solution, axes: Any) -> bool:
        """The eigenvalues of W and W_1 and the multipliers that are not zero, each from the largest down."""
        if solution.matrix is None:
            return False
        problem: DefiniteBoost = self.problem_of(solution)
        multipliers = np.zeros(0) if solution.y is None else np.abs(solution.y)
        for values, style, label in (
            (np.linalg.eigvalsh(solution.matrix), "o-C0", "eigenvalues of $W$"),
            (np.linalg.eigvalsh(problem.initial_matrix), "-C7", "eigenvalues of $W_1$"),
            (multipliers, ".C3", "multipliers $|y_j|$"),
        ):
            shown = np.sort(values[values > EPS * np.max(values, initial=0.0)])[::-1]
            axes.loglog(np.arange(1, len(shown) + 1), shown, style, ms=3, label=label)
        divergence = problem.divergence(solution.matrix)
        axes.set(xlabel="rank", ylabel="size", title=f"{problem.m} constraints, divergence {divergence:.4g}")
        axes.legend(frameon=False)
        return True

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> Problem:
        """The problem of the constraints in a file."""
        settings = dict(given)
        return self.problem_class(**read_arrays(settings.pop("constraints"), PARAMETERS) | settings)


class MinMaxPresenter(Presenter["MinMaxSDP"]):
    """The least largest tr(W C_j)."""

    arguments = (Argument("constraints", ".npz with constraints, shape (m, d, d).", required=True, positional=True),)

    def describe(self, solution: Solution) -> list[str]:
        problem: MinMaxSDP = self.problem_of(solution)
        low, high = problem.theta_bounds(solution)
        theta = problem.theta(solution)
        return [f"theta      max_j tr(W C_j) = {theta:.9g}; certified {low:.9g} <= theta* <= {high:.9g}"]

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> Problem:
        """The problem of the matrices in a file."""
        return self.problem_class(**read_arrays(given["constraints"], ("constraints",)))
