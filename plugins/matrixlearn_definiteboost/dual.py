"""The dual of DefiniteBoost (4.2) and its derivatives.

    f(z) = log tr exp(log W_1 - sum_i z_i s_i S_j(i)) + c.z,      z in a box,      - min f = min Delta_F(W, W_1)

over the *sides* i of the constraints: s_i tr(W S_j(i)) <= c_i, with s = +1 for an upper bound, -1 for a lower
one; z_i >= 0, free for an equality, at most the slack's price for a soft constraint. With M = V diag(w) V^H the
exponent, p = softmax(w) and W = V diag(p) V^H,

    grad_i  = c_i - s_i tr(W S_j(i))                                       (minus the violation)
    Hess_ik = sum_ab Gamma_ab Re(conj(B_i)_ab (B_k)_ab),                B_i = V^H s_i S_j(i) V - s_i tr(W S_j(i)) I
    Gamma_ab = (p_a - p_b) / (w_a - w_b), at repeated eigenvalues p_a    (a divided difference)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost

EPS = float(np.finfo(float).eps)
ARMIJO = 1e-4
ENTRIES = 4_000_000
"""Of a block of rotated constraints: 32 MB."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The inequalities s_i tr(W S_j(i)) <= c_i and the box of their multipliers, (k,) each."""

    index: np.ndarray
    sign: np.ndarray
    bound: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    """||s_i S_j(i) - c_i I||_2: the size of a violation."""

    @property
    def is_equality(self) -> np.ndarray:
        """Whose multipliers are free to be negative."""
        return self.low < 0

    def tightened(self, margin: float) -> Sides:
        """s_i tr(W S_j(i)) <= c_i - margin * scale_i for the inequalities."""
        moved = np.where(self.is_equality, self.bound, self.bound - margin * self.scale)
        return Sides(self.index, self.sign, moved, self.low, self.high, self.scale)

    def capped(self, cap: float) -> Sides:
        """The multipliers of at most ``cap`` in scaled units: a lower price of violations."""
        most = np.minimum(self.high, cap / self.scale)
        return Sides(self.index, self.sign, self.bound, np.maximum(self.low, -cap / self.scale), most, self.scale)

    def multipliers(self, z: np.ndarray, m: int) -> np.ndarray:
        """y_j = sum of s_i z_i over the sides of constraint j, (m,)."""
        y = np.zeros(m)
        np.add.at(y, self.index, self.sign * z)
        return y

    def from_multipliers(self, y: np.ndarray) -> np.ndarray:
        """The z in the box whose multipliers are y: each sign on its own side."""
        z = self.sign * y[self.index]
        return np.clip(z, self.low, self.high)


def gibbs(M: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(w, V, p, log tr exp M): eigenvalues, eigenvectors and softmax weights, overflow-safe."""
    w, V = np.linalg.eigh(M)
    p = np.exp(w - w[-1])
    total = float(p.sum())
    return w, V, p / total, float(w[-1]) + float(np.log(total))


def log_tr_exp(M: np.ndarray) -> float:
    """log tr exp M from eigenvalues alone."""
    w = np.linalg.eigvalsh(M)
    return float(w[-1] + np.log(np.sum(np.exp(w - w[-1]))))


def divided_differences(w: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(p_a - p_b) / (w_a - w_b) for p = exp(w) / Z: max(p) (1 - exp(-|dw|)) / |dw|, and p_a where w_a = w_b."""
    gap = np.abs(w[:, None] - w[None, :])
    safe = np.where(gap > 0, gap, 1.0)
    return np.maximum(p[:, None], p[None, :]) * np.where(gap > 0, -np.expm1(-safe) / safe, 1.0)


@dataclass(frozen=True, eq=False)
class Point:
    """f, its gradient and the matrix at z."""

    z: np.ndarray
    value: float
    gradient: np.ndarray
    W: np.ndarray
    w: np.ndarray
    V: np.ndarray
    p: np.ndarray

    def pushes(self, sides: Sides) -> np.ndarray:
        """The scaled projected gradient: what keeps z from being optimal, (k,)."""
        g = self.gradient / sides.scale
        blocked = ((self.z <= sides.low) & (g > 0)) | ((self.z >= sides.high) & (g < 0))
        return np.where(blocked, 0.0, g)


def evaluate(problem: DefiniteBoost, sides: Sides, z: np.ndarray) -> Point:
    """f(z), its gradient and W(z): one eigendecomposition."""
    family = problem.family
    w, V, p, lse = gibbs(problem.log_initial - family.apply(sides.multipliers(z, family.shape[0])))
    W = (V * p) @ V.conj().T
    t = family.adjoint(W)[sides.index]
    return Point(z, lse + float(sides.bound @ z), sides.bound - sides.sign * t, W, w, V, p)


def hessian(problem: DefiniteBoost, sides: Sides, at: Point, which: np.ndarray) -> np.ndarray:
    """The block of Hess f of the sides in ``which``, in the scaled variables scale_i z_i, (k, k)."""
    return gram(problem, sides, at.V, divided_differences(at.w, at.p), which)


def gram(problem: DefiniteBoost, sides: Sides, V: np.ndarray, weights: np.ndarray, which: np.ndarray) -> np.ndarray:
    """sum_ab Gamma_ab Re(conj(B_i)_ab (B_k)_ab) for weights Gamma and B_i = V^H s_i S_j(i) V / scale_i, the mean of
    its diagonal under Gamma_aa taken off, (k, k).

    By blocks of rows of the rotated constraints, from the diagonal on, so that no k x d^2 array is held.
    """
    d, k = problem.d, len(which)
    mean = (V * (np.diag(weights) / np.trace(weights))) @ V.conj().T
    t = problem.family.adjoint(mean)[sides.index[which]]
    unit = sides.sign[which] / sides.scale[which]
    H = np.zeros((k, k))
    height = max(1, min(d // 8 + 1, ENTRIES // (k * d)))
    for start in range(0, d, height):
        stop = min(start + height, d)
        B = problem.family.rotated(V, sides.index[which], slice(start, stop), slice(start, d))
        inner = np.arange(stop - start)
        B[:, inner, inner] -= t[:, None]
        block = weights[start:stop, start:].copy()
        block[:, stop - start :] *= 2  # and its mirror image below the diagonal
        Q = (B * np.sqrt(block)).reshape(k, -1) * unit[:, None]
        H += Q.real @ Q.real.T
        if np.iscomplexobj(Q):
            H += Q.imag @ Q.imag.T
    return H
