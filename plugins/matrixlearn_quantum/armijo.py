"""Exponentiated gradient with Armijo's rule, as an oracle of the loop that every mirror descent here shares.

    rho+ = exp(log rho + alpha R(rho)) / tr,      f(rho+) <= f(rho) - tau (<R, rho+> - 1)

-R is the gradient and <R, rho> = 1. The losses G = -sum alpha R are kept, never log rho: eigenvalues of rho may fall
below the smallest double and come back. A trial is a round: where it fails the rule, the next one takes a part of its
step back, so that every round costs one decomposition and f falls from each accepted state to the next. The first
trial is twice the last step accepted (Li and Cevher begin every search at the same length).

References
----------
Li and Cevher (2019), Convergence of the exponentiated gradient method with Armijo line search, J. Optim. Theory Appl.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.linalg import inner
from matrixlearn.oracles import Done, Move

if TYPE_CHECKING:
    from matrixlearn_quantum.problem import StateTomography

LEAST = 1e-12
"""The step at which rounding is taken to have the last word."""


@dataclass(frozen=True, eq=False)
class ArmijoStep:
    """rho -> the gradient step from it, or the part of the last step that was too long.

    Parameters
    ----------
    problem : StateTomography
    sufficient, shrink, grow : float
        As for `ExponentiatedGradient`.
    alpha : float
        The last step tried.
    value : float
        f of the state last accepted; infinite before the first.
    R : array, shape (d, d), optional
        Its gradient, negative.
    y : array, optional
        Its multipliers.
    """

    problem: StateTomography
    sufficient: float = 0.1
    shrink: float = 0.5
    grow: float = 2.0
    alpha: float = 1.0
    value: float = np.inf
    R: np.ndarray | None = None
    y: np.ndarray | None = None

    def __call__(self, X: np.ndarray) -> Move | Done:
        p = self.problem.probabilities(X)
        value = self.problem.value_at(p)
        if self.R is not None and value > self.value - self.sufficient * (inner(self.R, X) - 1):
            if self.alpha < LEAST:
                return Done("no step lowers the objective: numerical limit")
            alpha = self.shrink * self.alpha
            return Move(-self.R, alpha - self.alpha, y=self.y, then=replace(self, alpha=alpha))
        y = self.problem.multipliers_at(p)
        R = self.problem.measurement.apply(y)
        alpha = self.alpha if self.R is None else self.grow * self.alpha
        return Move(-R, alpha, y=y, then=replace(self, alpha=alpha, value=value, R=R, y=y))
