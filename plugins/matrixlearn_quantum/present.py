"""`StateTomography` for people: the spectrum and the picture of a state, counts from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.files import read_arrays
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_quantum.states import fidelity

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_quantum.problem import StateTomography


class StatePresenter(Presenter["StateTomography"]):
    """A state that was estimated from counts."""

    arguments = (
        Argument(
            "data",
            ".npz with settings, strings such as XZ, or POVMs (S, K, d, d), and counts (S, K); perhaps a target state.",
            required=True,
            positional=True,
        ),
    )

    def describe(self, solution: Solution) -> list[str]:
        problem = self.problem_of(solution)
        n = problem.counts
        lines = [
            f"counts     {n.sum():g} in {len(n)} settings; {np.count_nonzero(n == 0)} of {n.size} outcomes never came"
        ]
        if solution.matrix is None:
            return lines
        w = np.linalg.eigvalsh(np.asarray(solution.matrix))[::-1]
        largest = " ".join(f"{value:.4g}" for value in w[:4])
        lines.append(f"spectrum   purity {float(w @ w):.6g}, eigenvalues {largest}{' ...' if len(w) > 4 else ''}")
        if problem.target is not None:
            lines.append(f"target     fidelity {fidelity(solution.matrix, problem.target):.6g}")
        return lines

    def plot(self, solution: Solution, axes: Any) -> bool:
        """The real and the imaginary part of rho, side by side."""
        if solution.matrix is None:
            return False
        problem = self.problem_of(solution)
        rho, d = np.asarray(solution.matrix), problem.d
        gap = np.full((d, 1), np.nan)
        most = float(np.max(np.abs(rho)))
        image = axes.imshow(np.hstack([rho.real, gap, rho.imag]), cmap="RdBu_r", vmin=-most, vmax=most)
        axes.figure.colorbar(image, ax=axes, shrink=0.6)
        middle = (d - 1) / 2
        axes.set_xticks([middle, middle + d + 1], ["real part", "imaginary part"])
        axes.set_yticks([0, d - 1], problem.measurement.ends)
        axes.set_title(f"state of dimension {d}")
        return True

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> StateTomography:
        """The problem of the settings and counts in a file."""
        cls = self.problem_class
        arrays = read_arrays(given["data"], ("settings", "counts", "target"))
        if not arrays.keys() >= {"settings", "counts"}:
            msg = f"{given['data']} must hold settings and counts, got {', '.join(arrays)} only"
            raise ProblemError(msg)
        return cls(arrays["settings"], arrays["counts"], arrays.get("target"))
