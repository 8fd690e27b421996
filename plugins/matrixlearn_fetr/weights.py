"""The weight step for the squared loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.multitask import Moments, Prior, WeightEquation, solver_for

if TYPE_CHECKING:
    import cvxpy


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """sum_i ||y_i - X_i w_i||^2, by its moments."""

    moments: Moments
    """Of the rows, all that the loss needs."""

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.moments.shape

    @property
    def size(self) -> float:
        """The loss at W = 0."""
        return float(np.sum(self.moments.square))

    @property
    def least(self) -> float:
        """The residual of least squares."""
        return self.moments.least

    @cached_property
    def curvature(self) -> float:
        """Twice the largest eigenvalue of any task's X_i^T X_i."""
        return 2.0 * float(np.max(np.linalg.eigvalsh(self.moments.gram)[..., -1]))

    def value(self, W: np.ndarray) -> float:
        """The loss."""
        return self.moments.loss(W)

    def residual(self, W: np.ndarray) -> np.ndarray:
        """Minus half the gradient, X^T (Y - X W)."""
        return self.moments.residual(W)

    def left(self, W: np.ndarray, prior: Prior) -> float:
        """What could be gained at most, without a solve."""
        R = self.residual(W) - prior.apply(W)
        return WeightEquation(self.moments, prior).decrease(R, np.zeros_like(R))[2]

    def step(self, W: np.ndarray, prior: Prior) -> tuple[np.ndarray, float, float]:
        """The way to argmin of loss(W) + eta tr(S1 W S2 W^T), what it gains, and what could be gained at most."""
        equation = WeightEquation(self.moments, prior)
        R = self.residual(W) - prior.apply(W)
        return equation.decrease(R, solver_for(equation)(equation, R))

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        """The loss in cvxpy's terms, by square roots of the Gram matrices."""
        import cvxpy as cp

        total = float(np.sum(self.moments.square)) - 2 * cp.sum(cp.multiply(self.moments.cross, W))
        grams = [self.moments.gram] if self.moments.is_shared else self.moments.gram
        for i, gram in enumerate(grams):
            values, vectors = np.linalg.eigh(gram)
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
            total += cp.sum_squares(root @ (W if self.moments.is_shared else W[:, i]))
        return total
