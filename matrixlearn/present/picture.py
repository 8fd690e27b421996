"""The picture of a solve: bounds against iterations, their gap against seconds, and what the problem draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.late import needed_by
from matrixlearn.present.base import presenter_of

if TYPE_CHECKING:
    from matrixlearn.solution import Solution


def picture(solution: Solution) -> Any:
    """A matplotlib figure.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    with needed_by("plot()"):
        import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    _draw_bounds(solution, axes[0])
    _draw_gap(solution, axes[1])
    if not presenter_of(solution.problem).plot(solution, axes[2]):
        axes[0].get_gridspec().set_width_ratios((1, 1, 1e-3))
        axes[2].remove()
        figure.set_size_inches(8.7, 3.8)
    return figure


def _draw_bounds(solution: Solution, axes: Any) -> None:
    """Both bounds against iterations; the first ones, which may be far, leave the picture."""
    at = solution.history.column("iteration")
    lower, upper = solution.history.column("lower"), solution.history.column("upper")
    known = np.isfinite(lower) & np.isfinite(upper)
    at, lower, upper = at[known], lower[known], upper[known]
    axes.set_title(f"{solution.method}: {solution.status}, gap {solution.gap:.1e}")
    axes.set_xlabel("iteration")
    axes.set_ylabel("objective")
    if not len(at):
        return
    if at[-1] > 100:
        at = at + 1  # a log axis has no 0
        axes.set_xscale("log")
    marker = "o" if len(at) == 1 else ""
    axes.plot(at, upper, drawstyle="steps-post", label="upper bound", color="C3", marker=marker)
    axes.plot(at, lower, drawstyle="steps-post", label="lower bound", color="C0", marker=marker)
    axes.fill_between(at, lower, upper, step="post", alpha=0.15, color="C7")
    axes.legend(frameon=False)
    middle, room = (lower[-1] + upper[-1]) / 2, 1.5 * max(upper[-1] - lower[-1], abs(lower[-1]), abs(upper[-1]))
    if 0 < room < (upper[0] - lower[0]) / 3:
        axes.set_ylim(middle - room, middle + room)


def _draw_gap(solution: Solution, axes: Any) -> None:
    """The certified gap against seconds, and the gap that was asked for."""
    seconds, gap = solution.history.column("seconds"), solution.history.column("gap")
    shown = np.isfinite(gap) & (gap > 0)
    axes.plot(seconds[shown], gap[shown], drawstyle="steps-post", color="C7", label="certified")
    axes.axhline(solution.tol, color="C2", lw=1, ls="--", label="tol")
    axes.set_yscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("relative gap")
    axes.set_title("certified gap")
    axes.legend(frameon=False)
