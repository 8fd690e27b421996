"""`LinearSDP` for people: which bound binds, the spectrum of X, SDPA files on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn.linalg import frobenius
from matrixlearn.present.base import Argument, Presenter, Say

if TYPE_CHECKING:
    from matrixlearn.problems.linear import LinearSDP
    from matrixlearn.solution import Solution


class LinearPresenter(Presenter["LinearSDP"]):
    """A program from an SDPA file."""

    arguments = (
        Argument(
            "program",
            "sparse SDPA file, such as SDPLIB's .dat-s or .dat-s.gz; - for standard input",
            required=True,
            positional=True,
        ),
        Argument("trace_bound", "a trace that no X of interest exceeds, for programs that nothing else bounds", float),
    )

    def describe(self, solution: Solution) -> list[str]:
        problem = self.problem_of(solution)
        X = solution.matrix
        if X is None or not np.any(problem.equalities) or not np.isfinite(solution.lower):
            return []
        apart = np.abs(problem.b - problem.family.adjoint(X))[problem.equalities]
        size = (np.abs(problem.b) + problem.family.sizes * frobenius(X))[problem.equalities]
        worst = float(np.max(apart / np.where(size > 0, size, 1.0)))
        return [f"equalities {np.count_nonzero(problem.equalities)} rows, met to {worst:.1e} of their size"]

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
        cls = self.problem_class
        problem = cls.from_sdpa(given["program"], given.get("trace_bound"))
        say(f"read {given['program']} as sparse SDPA: {len(problem.b)} equations in {problem.C.shape[0]} dimensions")
        return problem
