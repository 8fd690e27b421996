"""The logistic loss of FETR: classification, one label -1 or 1 for each row and task.

    min over W of    sum_k a_k log(1 + exp(-y_k p_k)) + eta tr(S1 W S2 W^T),     p_k = x_k . w_i for row k of task i

Convex, by Newton steps: half the Hessian is X^T diag(c) X + eta S1 (x) S2 with c_k = a_k s_k (1 - s_k) / 2 and
s_k = 1 / (1 + exp(y_k p_k)), so that a step solves the weight equation (`weights`) of weighted rows.

How much there is left to gain is bounded by Fenchel's duality. Any 0 <= s' <= 1, with B = X^T u, u_k = -a_k y_k s'_k,
proves that the minimum is at least -sum_k a_k (s' log s' + (1 - s') log(1 - s')) - <B, S1^{-1} B S2^{-1}> / (4 eta),
and the difference to the value at W is

    gap = sum_k a_k KL(s'_k || s_k) + <R, S1^{-1} R S2^{-1}> / eta,        R = -B / 2 - eta S1 W S2

without cancellation. At s' = s it is the bound by strong convexity, <R, ...> for minus half the gradient R. Where a
mean is shared S2 is singular in the primal, and B 1 = 0 is asked of the dual: s' = s + y s (1 - s) (x . z) does it
for the z of one Newton step in the mean, and stays in (0, 1) as long as |x_k . z| <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from matrixlearn.multitask import EPS, ConjugateGradients, Prior, WeightEquation

if TYPE_CHECKING:
    import cvxpy

NEWTON = ConjugateGradients(tol=1e-3)
ENOUGH = 1e-2
"""Newton steps end when what is left is this share of what was gained: the next pair of precisions moves more."""
STEPS = 100
HALVINGS = 40


# -- rows ------------------------------------------------------------------------------------------


class PredictionMap(Protocol):
    """The linear map from weights (d, m) to predictions, one for each label."""

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""

    def predict(self, W: np.ndarray) -> np.ndarray:
        """The predictions p."""

    def predict_alike(self, w: np.ndarray) -> np.ndarray:
        """p where every task has the weights w (d,)."""

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        """B (d, m) with <B, W> = <u, p(W)>."""

    def gram(self, c: np.ndarray) -> np.ndarray:
        """sum_k c_k x_k x_k^T over the labels of all tasks, (d, d)."""

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        """p in cvxpy's terms."""


@dataclass(frozen=True, eq=False)
class SharedRows(PredictionMap):
    """Instances X (n, d) that all m tasks see: predictions X W, (n, m)."""

    X: Any
    """Instances, (n, d)."""
    m: int
    """How many tasks there are."""

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[1]), self.m

    def predict(self, W: np.ndarray) -> np.ndarray:
        return np.asarray(self.X @ W)

    def predict_alike(self, w: np.ndarray) -> np.ndarray:
        return np.repeat((self.X @ w)[:, None], self.m, axis=1)

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.X.T @ u)

    def gram(self, c: np.ndarray) -> np.ndarray:
        return _weighted_gram(self.X, c.sum(axis=1))

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        return self.X @ W


@dataclass(frozen=True, eq=False)
class OwnRows(PredictionMap):
    """PredictionMap X (n, d), each of one task, whose number is in code (n,): predictions (n,)."""

    X: Any
    """Instances, (n, d)."""
    code: np.ndarray
    """The number of the task of each, (n,)."""
    m: int
    """How many tasks there are."""

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[1]), self.m

    def predict(self, W: np.ndarray) -> np.ndarray:
        if hasattr(self.X, "multiply"):
            return np.asarray(self.X.multiply(W.T[self.code]).sum(axis=1)).reshape(-1)
        return np.einsum("kd,kd->k", self.X, W.T[self.code])

    def predict_alike(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.X @ w)

    def adjoint(self, u: np.ndarray) -> np.ndarray:
        from scipy.sparse import csr_array

        n = len(u)
        product = self.X.T @ csr_array((u, self.code, np.arange(n + 1)), shape=(n, self.m))
        return np.asarray(product.toarray() if hasattr(product, "toarray") else product)

    def gram(self, c: np.ndarray) -> np.ndarray:
        return _weighted_gram(self.X, c)

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        import cvxpy as cp

        return cp.sum(cp.multiply(self.X, W.T[self.code]), axis=1)


def _weighted_gram(X: Any, c: np.ndarray) -> np.ndarray:
    if hasattr(X, "multiply"):
        return np.asarray((X.T @ X.multiply(c[:, None])).toarray())
    half = np.sqrt(c)[:, None] * X
    return np.asarray(half.T @ half)


@dataclass(frozen=True, eq=False)
class WeightedMoments:
    """X^T diag(c) X, task by task: what the weight equation takes of `Moments`, the matrices never formed."""

    rows: PredictionMap
    c: np.ndarray

    is_shared = False

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.rows.shape

    def apply(self, W: np.ndarray) -> np.ndarray:
        """X_i^T diag(c_i) X_i w_i for every task i, (d, m)."""
        return self.rows.adjoint(self.c * self.rows.predict(W))

    @cached_property
    def mean_gram(self) -> np.ndarray:
        """The mean over tasks, (d, d)."""
        return self.rows.gram(self.c) / self.shape[1]

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues, ascending and not negative, and eigenvectors of the mean."""
        values, vectors = np.linalg.eigh(self.mean_gram)
        return np.maximum(values, 0.0), vectors


# -- the loss --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """sum_k a_k log(1 + exp(-y_k p_k)), and the weight step.

    Parameters
    ----------
    rows : PredictionMap
    signs : array, of the shape of the predictions
        y, -1 or 1.
    counts : array, of a shape that broadcasts to theirs
        a >= 0, what each label counts.
    """

    rows: PredictionMap
    signs: np.ndarray
    counts: Any = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.rows.shape

    @property
    def size(self) -> float:
        """The loss at W = 0: log 2 for each label."""
        return float(np.log(2.0)) * self.total

    @property
    def total(self) -> float:
        """The sum of the weights of all labels."""
        return float(np.sum(np.broadcast_to(self.counts, self.signs.shape)))

    @property
    def least(self) -> float:
        """0, which separable labels come near to."""
        return 0.0

    @cached_property
    def curvature(self) -> float:
        """The largest eigenvalue of X^T diag(a / 4) X, over all labels; no task's is larger."""
        quarter = np.broadcast_to(self.counts, self.signs.shape) / 4
        return float(np.linalg.eigvalsh(self.rows.gram(quarter))[-1])

    def value(self, W: np.ndarray) -> float:
        """The loss."""
        return float(np.sum(self.counts * np.logaddexp(0.0, -self.signs * self.rows.predict(W))))

    def residual(self, W: np.ndarray) -> np.ndarray:
        """Minus half the gradient, (d, m)."""
        return Slopes.at(self, W).residual

    def left(self, W: np.ndarray, prior: Prior) -> float:
        """What could be gained at most; no more than there is, since neither term is negative."""
        slopes, here = Slopes.at(self, W), prior.apply(W)
        return min(slopes.left(slopes.residual - here, prior), self.value(W) + max(float(np.vdot(W, here)), 0.0))

    def step(self, W: np.ndarray, prior: Prior) -> tuple[np.ndarray, float, float]:
        """Newton steps from W with the precisions fixed, until little is left to gain.

        Returns
        -------
        D, achieved, at_most
            The move, by how much loss + eta tr(S1 W S2 W^T) falls, and by how much it could fall at most.
        """

        def total(V: np.ndarray) -> float:
            return self.value(V) + float(np.vdot(V, prior.apply(V)))

        D, start = np.zeros_like(W), total(W)
        value = start
        for _ in range(STEPS):
            slopes = Slopes.at(self, W + D)
            R = slopes.residual - prior.apply(W + D)
            left = min(slopes.left(R, prior), max(value, 0.0))  # neither term is negative
            if left <= max(ENOUGH * (start - value), EPS * abs(start)):
                break
            direction = NEWTON(WeightEquation(slopes.moments, prior), R)  # type: ignore[arg-type]  # all that it asks
            gain, length = 2 * float(np.vdot(R, direction)), 1.0
            for _ in range(HALVINGS):
                trial = total(W + D + length * direction)
                if trial <= value - 1e-4 * length * gain:
                    break
                length /= 2
            else:  # rounding has the last word
                break
            D, value = D + length * direction, trial
        return D, start - value, start - value + left

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        """The loss in cvxpy's terms."""
        import cvxpy as cp

        each = cp.logistic(-cp.multiply(self.signs, self.rows.expression(W)))
        return cp.sum(cp.multiply(np.broadcast_to(self.counts, self.signs.shape), each))


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of the loss at W, and the bound that they prove."""

    loss: LogisticLoss
    wrong: np.ndarray
    """s = 1 / (1 + exp(y p)): minus the derivative in the margin y p."""
    right: np.ndarray
    """1 - s."""

    @classmethod
    def at(cls, loss: LogisticLoss, W: np.ndarray) -> Slopes:
        margin = loss.signs * loss.rows.predict(W)
        return cls(loss, np.exp(-np.logaddexp(0.0, margin)), np.exp(-np.logaddexp(0.0, -margin)))

    @cached_property
    def residual(self) -> np.ndarray:
        """Minus half the gradient of the loss, (d, m)."""
        return self.loss.rows.adjoint(self.loss.counts * self.loss.signs * self.wrong) / 2

    @cached_property
    def moments(self) -> WeightedMoments:
        """Half the Hessian."""
        return WeightedMoments(self.loss.rows, self.loss.counts * self.wrong * self.right / 2)

    def left(self, R: np.ndarray, prior: Prior) -> float:
        """The gap of the module's docstring, for R = minus half the gradient of loss and prior."""
        divergence = 0.0
        if prior.is_singular:
            from scipy.special import xlog1py  # 0 where the first argument is 0, whatever the second

            step = self._mean_step()
            t = np.clip(step, -1.0, 1.0)
            if not float(np.sum(self.moments.c * np.abs(step - t))) <= EPS * self.loss.total:  # more than rounding
                return np.inf
            y, s, r = self.loss.signs, self.wrong, self.right
            moved = s + y * s * r * t
            each = xlog1py(moved, y * r * t) + xlog1py(1 - moved, -y * s * t)
            divergence = float(np.sum(self.loss.counts * each))
            R = R + self.loss.rows.adjoint(self.moments.c * t)
            R = R - R.mean(axis=1, keepdims=True)  # 0 but for rounding
        return divergence + float(np.vdot(R, prior.feature.inverse @ R @ prior.task.inverse)) / prior.eta

    def _mean_step(self) -> np.ndarray:
        """x . z for each label, z minus the step by which Newton's method would move all tasks alike."""
        values, vectors = self.moments.spectrum
        used = values > values[-1] * EPS * len(values)
        along = vectors.T @ self.residual.mean(axis=1)
        return -self.loss.rows.predict_alike(vectors @ np.where(used, along / np.where(used, values, 1.0), 0.0))
