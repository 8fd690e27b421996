"""What the rows of a program ask of a matrix, A_j . X <= b_j or A_j . X = b_j, and by how much it misses them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import EPS, identity
from matrixlearn.linalg import trace
from matrixlearn.linalg.constraints import ConstraintFamily
from matrixlearn.problems.face import ZERO, combination
from matrixlearn.problems.phase_one import least_trace
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a `LinearSDP`.

    Parameters
    ----------
    family : ConstraintFamily
        The A_j.
    b : ndarray, shape (m,)
    equalities : ndarray of bool, shape (m,)
    trace_bound : float
        No X has a larger trace.
    """

    family: ConstraintFamily
    b: np.ndarray
    equalities: np.ndarray
    trace_bound: float

    @cached_property
    def vacuous(self) -> np.ndarray:
        """The rows 0 . X <= b_j with b_j >= 0: they have no multiplier, and are never met with equality."""
        return (self.family.norms == 0) & (self.b >= 0) & ~self.equalities

    @cached_property
    def impossible(self) -> np.ndarray:
        """The rows 0 . X = b_j with another b_j than 0."""
        return (self.family.norms == 0) & (self.b != 0) & self.equalities

    @cached_property
    def units(self) -> np.ndarray:
        """|b_j| + r ||A_j||_2, (m,), r a trace that no feasible X is below: what a tolerance is relative to."""
        equal = self.equalities
        size = least_trace(np.abs(self.b)[equal], self.family.norms[equal]) or self.trace_bound
        units = np.abs(self.b) + size * self.family.norms
        return np.where(units > 0, units, 1.0)

    def slack(self, X: Array) -> np.ndarray:
        """b - A*(X), less an allowance for its rounding; -|b - A*(X)| of an equality."""
        n, size = self.family.shape[1], min(trace(X), self.trace_bound)
        apart = self.b - self.family.adjoint(X)
        slack = apart - 4 * n * EPS * (size * self.family.norms + np.abs(self.b))
        return np.where(self.equalities, -np.abs(apart), slack)

    def missed(self, X: Array) -> np.ndarray:
        """By how much X misses each row, (m,)."""
        return np.maximum(-self.slack(X), 0.0)

    @cached_property
    def trace_multipliers(self) -> np.ndarray | None:
        """y with sum_j y_j A_j = I over equalities: all X have the trace b.y; None where none is found at once."""
        if not np.any(self.equalities):
            return None
        y, residual = combination(self.family, self.equalities, identity(self.family.shape[1], self.family.matrix(0)))
        return y if residual <= ZERO * len(y) else None
