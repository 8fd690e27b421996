"""Around what the task weights scatter: zero, as published, or a mean that is learned with them.

    mean="zero":    W ~ MN(0, S1^{-1}, S2^{-1});          the point of the problem is W, (d, m)
    mean="shared":  W ~ MN(w0 1^T, S1^{-1}, S2^{-1});     the point is [W, w0], (d, m + 1)

For given W and S2 the best w0 is W S2 1 / (1^T S2 1), whatever S1 and the data: put in, it turns S2 into
S2 - S2 1 1^T S2 / (1^T S2 1) in the equation for W (`SpectralPrecision.without_ones`). One contract for both:
how a point is read, what stands for S2, and the best point of given weights.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from matrixlearn.multitask import SpectralPrecision
from matrixlearn_fetr.covariance import PrecisionPair


class Mean(Protocol):
    """How a point of the problem holds weights and mean."""

    columns: int
    """Columns of a point beyond those of W."""

    def read(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(W, w0), of shapes (d, m) and (d,)."""

    def form(self, S2: SpectralPrecision) -> SpectralPrecision:
        """What stands for S2 once the mean is the best one."""

    def best_point(self, W: np.ndarray, S2: SpectralPrecision) -> np.ndarray:
        """The point of W with the best mean under S2."""

    def excess(self, point: np.ndarray, precisions: PrecisionPair) -> float:
        """By how much the best mean improves tr(S1 V S2 V^T), V = W - w0 1^T, with all else fixed."""


class ZeroMean:
    """No mean."""

    columns = 0

    def read(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return point, np.zeros(len(point))

    def form(self, S2: SpectralPrecision) -> SpectralPrecision:
        return S2

    def best_point(self, W: np.ndarray, S2: SpectralPrecision) -> np.ndarray:
        return W

    def excess(self, point: np.ndarray, precisions: PrecisionPair) -> float:
        return 0.0


class SharedMean:
    """One mean for all tasks, the last column of a point."""

    columns = 1

    def read(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return point[:, :-1], point[:, -1]

    def form(self, S2: SpectralPrecision) -> SpectralPrecision:
        return S2.without_ones()

    def best_point(self, W: np.ndarray, S2: SpectralPrecision) -> np.ndarray:
        weights = S2 @ np.ones(S2.n)
        return np.column_stack([W, W @ weights / weights.sum()])

    def excess(self, point: np.ndarray, precisions: PrecisionPair) -> float:
        W, w0 = self.read(point)
        S1, S2 = precisions.feature, precisions.task
        off = self.best_point(W, S2)[:, -1] - w0
        return float(off @ (S1 @ off) * np.sum(S2 @ np.ones(S2.n)))


MEANS: dict[str, Mean] = {"zero": ZeroMean(), "shared": SharedMean()}
