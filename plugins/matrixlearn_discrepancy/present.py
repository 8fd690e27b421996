"""`Discrepancy` for people: what the weights lean on, their picture, samples from files, a demonstration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.files import is_pattern
from matrixlearn.machines import ARGUMENTS, Shards, machines_of
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_discrepancy.files import read_domains, read_samples
from matrixlearn_discrepancy.problem import effective_sample_size
from matrixlearn_discrepancy.spread import SpreadDiscrepancy

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_discrepancy.problem import Discrepancy


class WeightsPresenter(Presenter["Discrepancy"]):
    """The weights of the source points."""

    arguments = (
        Argument(
            "source",
            "Labelled points, one a row: .npy, .npz (array X), .csv or .txt; or a pattern such as 'parts/*.npy', whose "
            "files are read where they stay.",
            required=True,
        ),
        Argument("target", "Points of the target, with the same columns.", required=True),
        Argument("max_weight", "Caps each weight at this multiple of the uniform one; 2 to 3 is usual.", float),
        *ARGUMENTS,
    )

    def describe(self, solution: Solution) -> list[str]:
        y = solution.y
        if y is None:
            return []
        problem = self.problem_of(solution)
        effective, m = effective_sample_size(y), len(y)
        lines = [
            f"uniform    {problem.uniform_value():.9g} is the value of uniform weights",
            f"weights    {int(np.sum(y > 0.01 / m))} of {m} points weigh over 1 % of uniform, "
            f"effective sample size {effective:.1f}",
        ]
        if effective < 0.2 * m:
            lines.append(
                f"caution    the answer leans on a handful of points ({effective:.0f} of {m}): max_weight=2 or 3 "
                f"usually generalizes better"
            )
        return lines

    def plot(self, solution: Solution, axes: Any) -> bool:
        if solution.y is None:
            return False
        y = np.sort(solution.y)[::-1] * len(solution.y)
        axes.bar(np.arange(1, len(y) + 1), y, width=1.0, color="C2")
        axes.axhline(1.0, color="C7", lw=1, label="uniform")
        axes.set_xlabel("source point, by weight")
        axes.set_ylabel("weight / uniform weight")
        axes.set_title(f"effective sample size {effective_sample_size(solution.y):.0f} of {len(y)}")
        axes.legend(frameon=False)
        return True

    def columns(self, solution: Solution) -> dict[str, Any]:
        """The weights, in the order of the source points."""
        return {} if solution.y is None else {"weight": solution.y}

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> Discrepancy | SpreadDiscrepancy:
        """The problem of two files of samples."""
        cls = self.problem_class
        if "machines" in given or "workers" in given or any(is_pattern(given[name]) for name in ("source", "target")):
            return self._spread(given, say)
        source, target = read_domains(given["source"], given["target"])
        for name, samples in (("source", source), ("target", target)):
            say(f"read {given[name]} as a table of numbers: {len(samples)} points of {samples.shape[-1]} columns")
        return cls(source, target, max_weight=given.get("max_weight"))

    @staticmethod
    def _spread(given: Mapping[str, Any], say: Say) -> SpreadDiscrepancy:
        """The same with each file a machine, whose points stay where they are read."""

        def side(name: str) -> Shards:
            pattern = Path(given[name])
            paths = sorted(pattern.parent.glob(pattern.name)) if is_pattern(pattern) else [pattern]
            say(f"{name}: {len(paths)} files, each read where it stays")
            return Shards.from_files(paths, read_samples)

        machines, cap = machines_of(given), given.get("max_weight")
        return SpreadDiscrepancy(side("source"), side("target"), max_weight=cap, machines=machines)

    def demo(self) -> Callable[[Say], Any]:
        from matrixlearn_discrepancy.demo import run  # late: import time

        return run
