"""The linear program over D_alpha = {y >= 0, b.y <= alpha} of Arora and Kale.

    max over y of sum_j (A_j . X) y_j     subject to   b.y <= alpha,  y >= 0           (4.9)

with A_1 = I, b_1 = R. Where b > 0 the optimum is a vertex, (alpha / b_j) e_j; otherwise scipy's HiGHS.
Below C . X the oracle fails, and the dual optimum phi* makes X / phi* feasible with at least alpha
(Lemma 4.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.linalg import inner, trace
from matrixlearn.oracles.base import Done, Move
from matrixlearn.problems.linear import LinearSDP
from matrixlearn.typing import Array


@dataclass(frozen=True)
class PolytopeOracle:
    """Arora and Kale's oracle for a `LinearSDP`, at the level alpha > 0."""

    program: LinearSDP
    level: float

    def __call__(self, X: Array) -> Move | Done:
        program, alpha = self.program, self.level
        products = np.concatenate([[trace(X)], program.adjoint(X)])
        b = np.concatenate([[program.trace_bound], program.b])
        if np.all(b > 0):
            j = int(np.argmax(products / b))
            y = np.zeros(len(b))
            y[j] = alpha / b[j]
        else:
            y = self._solve(products, b)
        gained, target = float(products @ y), inner(program.cost, X)
        if gained < target:
            return Done("fails", phi=gained / alpha, evidence=target)
        identity_part, rest = float(y[0]), y[1:]
        loss = -1 * program.forward(rest)
        return Move(
            loss=loss,  # the multiple of I drops out of a map that fixes the trace
            y=rest,
            slack=gained - target,
            width=identity_part + program.cost_norm + float(rest @ program.constraint_norms),
        )

    def _solve(self, products: np.ndarray, b: np.ndarray) -> np.ndarray:
        from scipy.optimize import linprog  # late, as in sets/knapsack.py

        # an unbounded program satisfies the inequality along a ray: bound y far out instead
        far = 1e6 * self.level / self.program.trace_bound
        result = linprog(-products, A_ub=b[None, :], b_ub=[self.level], bounds=(0, far), method="highs")
        if result.status != 0:
            msg = f"the linear program over D_alpha failed: {result.message}"
            raise MatrixLearnError(msg)
        return np.asarray(result.x)
