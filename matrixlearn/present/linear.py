"""`LinearSDP` for people: which bound binds, the spectrum of X, SDPA files on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn.linalg import trace
from matrixlearn.present.base import Argument, Presenter, Say

if TYPE_CHECKING:
    from matrixlearn.problems.linear import LinearSDP
    from matrixlearn.solution import Solution


class LinearPresenter(Presenter):
    """A program from an SDPA file."""

    arguments = (
        Argument(
            "program",
            "sparse SDPA file, such as SDPLIB's .dat-s or .dat-s.gz; - for standard input",
            required=True,
            positional=True,
        ),
        Argument("trace_bound", "bound on the trace of X, where the constraints do not give it", float),
    )

    def describe(self, solution: Solution) -> list[str]:
        lines: list[str] = []
        problem: LinearSDP = solution.problem  # type: ignore[assignment]
        y, X = solution.y, solution.matrix
        if X is None or not np.isfinite(solution.lower):
            return lines
        if trace(X) >= 0.999 * problem.trace_bound and problem.implied_trace is None:
            lines.append("trace      tr X is at the trace bound: a larger one may give a larger value")
        if np.any(problem.equalities) and y is not None:
            missed, size = problem.rows.missed(X), problem.rows.units
            lines.append(
                f"equalities {np.count_nonzero(problem.equalities)} rows, missed by {np.max(missed / size):.1e} of "
                f"their size at most; at prices y {float(np.abs(y) @ missed):.1e}, charged to the lower bound 4 times"
            )
        return lines

    def plot(self, solution: Solution, axes: Any) -> bool:
        if solution.matrix is None:
            return False
        largest = np.linalg.eigvalsh(as_numpy(solution.matrix))[::-1]
        if not largest[0] > 0:
            return False
        shares = np.maximum(largest / largest[0], 1e-12)
        axes.semilogy(np.arange(1, len(shares) + 1), shares, ".", color="C2")
        axes.set_xlabel("eigenvalue of X, by size")
        axes.set_ylabel("eigenvalue / the largest")
        axes.set_title(f"rank {np.count_nonzero(shares > 1e-4)} of {len(shares)} above 1e-4")
        return True

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> LinearSDP:
        """The program of an SDPA file."""
        cls: type[LinearSDP] = self.problem_class  # type: ignore[assignment]
        problem = cls.from_sdpa(given["program"], given.get("trace_bound"))
        say(f"read {given['program']} as sparse SDPA: {len(problem.b)} equations in {problem.C.shape[0]} dimensions")
        return problem
