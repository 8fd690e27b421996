"""The weight step of FETR: one linear matrix equation.

    G(D) + eta S1 D S2 = R,        D and R of shape (d, m)

the normal equations of min over W of sum_i ||y_i - X_i w_i||^2 + eta tr(S1 W S2 W^T) for R = X^T Y, and those of
the correction D = W* - W for R = X^T Y - G(W) - eta S1 W S2, minus half the gradient at W (the paper prints it with
a wrong sign). For a shared mean S2 is `SpectralPrecision.without_ones`, singular: the answer is then the one of
least S1-norm among those that differ by w 1^T with X w = 0.

What any solver returns is judged by `WeightEquation.decrease`, which certifies by how much W can be improved at most,
however inexact the solver was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.multitask.moments import Moments
from matrixlearn.multitask.precision import SpectralPrecision


@dataclass(frozen=True, eq=False)
class Prior:
    """eta tr(S1 W S2 W^T), the log density of the weights for given precisions.

    Parameters
    ----------
    feature, task : SpectralPrecision
        S1 and S2, positive definite.
    eta : float
    form : SpectralPrecision, optional
        What stands in the place of S2: ``task.without_ones()`` for a shared mean; S2 itself by default.
    """

    feature: SpectralPrecision
    task: SpectralPrecision
    eta: float
    form: SpectralPrecision | None = None

    @property
    def right(self) -> SpectralPrecision:
        """S2, or the form in its place."""
        return self.task if self.form is None else self.form

    @property
    def is_singular(self) -> bool:
        """Whether the multiples of 1 are free of the prior."""
        return self.right is not self.task

    def apply(self, W: np.ndarray) -> np.ndarray:
        """eta S1 W S2: half the gradient."""
        return np.asarray(self.eta * (self.feature @ W @ self.right))


@dataclass(frozen=True, eq=False)
class WeightEquation:
    """G(D) + eta S1 D S2 = R, without the right-hand side.

    Parameters
    ----------
    moments : Moments
        G; anything with ``shape``, ``is_shared``, ``apply``, ``mean_gram`` and ``spectrum`` where `ConjugateGradients`
        solves.
    prior : Prior
    """

    moments: Moments
    prior: Prior

    def apply(self, D: np.ndarray) -> np.ndarray:
        """G(D) + eta S1 D S2."""
        return self.moments.apply(D) + self.prior.apply(D)

    def balanced(self, D: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D + w 1^T and its residual, such that the residual is orthogonal to all multiples of 1^T."""
        if not self.prior.is_singular:
            return D, residual
        values, vectors = self.moments.spectrum
        used = values > values[-1] * EPS * len(values)
        along = vectors.T @ residual.mean(axis=1)
        w = vectors @ np.where(used, along / np.where(used, values, 1.0), 0.0)
        everywhere = np.repeat(w[:, None], D.shape[1], axis=1)
        residual = residual - self.moments.apply(everywhere)
        return D + everywhere, residual - residual.mean(axis=1, keepdims=True)

    def decrease(self, R: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, float, float]:
        """The gain of the objective at D, and an upper bound on the gain at any D.

        max over D of 2 <R, D> - <D, H D>, H the left side, is at least its value at D and at most that and
        <r, S1^{-1} r S2^{-1}> / eta for the residual r = R - H D: H >= eta S1 (x) S2 (for a shared mean after the
        minimum over the mean, which an r with r 1 = 0 does not see).

        Returns
        -------
        D, achieved, at_most
            D, moved by a w 1^T where the mean is shared.
        """
        D, residual = self.balanced(D, R - self.apply(D))
        achieved = float(np.vdot(R, D) + np.vdot(residual, D))
        prior = self.prior
        beyond = float(np.vdot(residual, prior.feature.inverse @ residual @ prior.task.inverse)) / prior.eta
        return D, achieved, achieved + beyond
