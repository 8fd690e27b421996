"""min over W of sum_i ||y_i - X_i w_i||^2 + ridge ||W||_F^2 + alpha ||W||_*^2, to a duality gap.

The squared trace norm is what learned covariances come to (Argyriou, Evgeniou and Pontil, 2008, Theorem 3):

    ||W||_*^2 = min over D >= 0, tr D = 1 of tr(W^T D^-1 W)       at D = (W W^T)^(1/2) / tr(.)
              = min over O >= 0, tr O = 1 of tr(W O^-1 W^T)       at O = (W^T W)^(1/2) / tr(.)

so that MTFL, with D, and MTRL, with O, are this one convex program. The alternation between W and D (or O) that
their papers use stands still wherever W has lost rank: the range of the next W lies in that of D, unless eps I is
added, and then it creeps at a rate of the size of eps^(1/2). (Of 40 small random programs 25 were left with a gap
between 1e-6 and 1e-1 after 20,000 rounds.) Here W and a copy Z of it take turns instead (ADMM), W with the loss and
Z with the norm, whose proximal map is a soft threshold of singular values.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from matrixlearn.multitask import Moments


@dataclass(frozen=True)
class TraceNorm:
    """The convex program.

    Attributes
    ----------
    moments : Moments
    alpha : float
        > 0, of the squared trace norm.
    ridge : float
        >= 0, of the squared Frobenius norm.
    """

    moments: Moments
    alpha: float
    ridge: float = 0.0

    def value(self, W: np.ndarray) -> float:
        """The objective."""
        norms = self.ridge * float(np.vdot(W, W)) + self.alpha * float(np.linalg.svd(W, compute_uv=False).sum()) ** 2
        return self.moments.loss(W) + norms

    def lower(self, W: np.ndarray) -> float:
        """A bound from the residuals R of any W: <R, 2 Y - R> - h*(2 X^T R) <= optimum, h the two penalties.

        h*(V) = min over t of sum_k (v_k - t)_+^2 / (4 ridge) + t^2 / (4 alpha), v the singular values of V.
        """
        fitted = self.moments.apply(W)
        v = np.linalg.svd(2 * (self.moments.cross - fitted), compute_uv=False)
        of_residuals = float(self.moments.square.sum() - np.vdot(W, fitted))  # <R, 2 Y - R> = ||Y||^2 - ||X W||^2
        if self.ridge == 0:
            return of_residuals - float(v[0]) ** 2 / (4 * self.alpha)
        t = self.alpha / self.ridge * _shrunk_sum(v, self.alpha / self.ridge)
        return of_residuals - float(np.sum(np.maximum(v - t, 0) ** 2)) / (4 * self.ridge) - t**2 / (4 * self.alpha)

    def solve(self, tol: float, max_iter: int) -> Ended:
        """W to a duality gap of tol sum_i ||y_i||^2.

        W minimizes loss + ridge + t/2 ||W - Z + U||^2, then Z the norm + t/2 ||W - Z + U||^2, then U += W - Z, with
        t such that the two sides agree (residual balancing); the eigenvectors of the Gram matrices serve every t.
        """
        moments = self.moments
        scale = float(moments.square.sum())
        values, Q = np.linalg.eigh(moments.gram)
        values = np.maximum(values, 0).T.reshape(len(moments.cross), -1)
        spectral = _rotated(Q, moments.cross)
        t = 2 * (float(values.mean()) + self.ridge + self.alpha / len(moments.cross)) or 1.0
        Z, U = np.zeros(moments.shape), np.zeros(moments.shape)
        gaps: list[float] = []
        for iteration in range(max_iter):
            right = 2 * spectral + t * _rotated(Q, Z - U)
            W = _rotated(Q.swapaxes(-1, -2), right / (2 * (values + self.ridge) + t))
            last = Z
            left, v, right_t = np.linalg.svd(W + U, full_matrices=False)
            shrink = 2 * self.alpha / t
            v = np.maximum(v - shrink * _shrunk_sum(v, shrink), 0)
            Z = (left * v) @ right_t
            U = U + W - Z
            gaps.append((self.value(Z) - self.lower(W)) / scale if scale else 0.0)
            if gaps[-1] <= tol:
                break
            apart, moved = np.linalg.norm(W - Z), t * np.linalg.norm(Z - last)
            if iteration % 5 == 4 and max(apart * t, moved) > 3 * min(apart * t, moved):
                factor = float(np.clip(np.sqrt(apart * t / moved), 0.1, 10)) if moved > 0 else 10.0
                t, U = t * factor, U / factor
        return Ended(Z, np.array(gaps))


def _rotated(Q: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Q_i^T w_i in column i; one Q for all, (d, d), or one for each task, (m, d, d)."""
    if Q.ndim == 2:
        return Q.T @ W
    return (W.T[:, None, :] @ Q)[:, 0, :].T


def _shrunk_sum(v: np.ndarray, shrink: float) -> float:
    """S = sum_k (v_k - shrink S)_+, v >= 0 in descending order: the largest S that the first k terms give."""
    return float(np.max(np.cumsum(v) / (1 + shrink * np.arange(1, len(v) + 1))))


@dataclass(frozen=True)
class Ended:
    """W, shape (d, m), and the duality gap relative to sum_i ||y_i||^2 after each round."""

    W: np.ndarray
    gaps: np.ndarray

    def warn_unless(self, tol: float) -> None:
        """A ConvergenceWarning where the gap is above tol."""
        if self.gaps[-1] > tol:
            msg = f"duality gap {self.gaps[-1]:.1e} above tol = {tol:g} after {len(self.gaps)} rounds: raise max_iter"
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)


def root_covariance(W: np.ndarray) -> np.ndarray:
    """(W W^T)^(1/2) / tr(.); I / d for W = 0."""
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    if s.sum() == 0:
        return np.eye(len(W)) / len(W)
    return (U * (s / s.sum())) @ U.T
