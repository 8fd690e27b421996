"""Equalities that depend on each other nearly, and the rows that are solved in their place.

    (I, S_j) = M Z, with the right sides       =>       <Z_k, W> = z_k for all k says tr W = 1 and <S_j, W> = b_j

Multipliers of nearly dependent rows are large, and Newton's method does not reach them. Those of Z are not; they are
brought back by M^T (t, y) = z, and t, the multiplier of the trace, adds nothing to the dual.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn.engines import Proposal
from matrixlearn.reductions import Reduction, Unreduced, reduction_of
from matrixlearn_definiteboost.problem import DefiniteBoost
from matrixlearn_definiteboost.rows import Rows


@dataclass(frozen=True)
class IndependentRows(Reduction):
    """A `DefiniteBoost`, and the same with its equalities as `ProjectionProof.independent` has them."""

    problem: DefiniteBoost
    """The user's problem."""
    rows: Rows
    """Its equalities and tr W = 1, as rows that do not depend on each other."""
    why: str = "equalities that depend on each other nearly, as rows that do not"

    @cached_property
    def program(self) -> DefiniteBoost:
        p, kept, others = self.problem, self.kept, self.others
        matrices = np.concatenate([self.rows.family.A[kept], p.constraints[others]])
        upper, lower = (np.append(self.rows.right[kept], side[others]) for side in (p.upper, p.lower_bounds))
        return DefiniteBoost(matrices, upper=upper, lower=lower, initial=p.initial)

    @cached_property
    def kept(self) -> np.ndarray:
        """The rows that do not follow from the others and tr W = 1: all but one of the largest part in I."""
        return np.delete(np.arange(len(self.rows.right)), np.argmax(np.abs(self._eye)))

    @cached_property
    def _eye(self) -> np.ndarray:
        """The parts of Z in I."""
        return self.rows.lowered(np.eye(1, len(self.problem.proof.equal) + 1)[0])

    @cached_property
    def others(self) -> np.ndarray:
        """The rows that stay as they are."""
        return np.setdiff1d(np.arange(self.problem.m), self.problem.proof.equal)

    def lower(self, points: Proposal) -> Proposal:
        if points.y is None or len(points.y) != self.problem.m:
            return Proposal(X=points.X)
        z = self.rows.lowered(np.append(0.0, points.y[self.problem.proof.equal]))
        left = int(np.argmax(np.abs(self._eye)))
        z = z - z[left] / self._eye[left] * self._eye
        return Proposal(X=points.X, y=np.append(z[self.kept], points.y[self.others]))

    def lift(self, points: Proposal) -> Proposal:
        if points.y is None:
            return points
        y, z, k = np.zeros(self.problem.m), np.zeros(len(self.rows.right)), len(self.kept)
        z[self.kept] = points.y[:k]
        y[self.problem.proof.equal] = self.rows.lifted(z)[1:]
        y[self.others] = points.y[k:]
        return Proposal(X=points.X, y=y)


@reduction_of.register
def _(problem: DefiniteBoost) -> Reduction:
    rows = problem.proof.independent if problem.proof.depends_nearly else None
    return Unreduced(problem) if rows is None else IndependentRows(problem, rows)
