"""The dual of DefiniteBoost (4.2), its derivatives, and one Newton step on it.

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
    height = max(1, min(d // 4 + 1, ENTRIES // (k * d)))
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


def box_quadratic(H: np.ndarray, g: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """argmin g.p + p.H p / 2 over low <= p <= high, by a primal-dual active set.

    That set is found in a few factorizations as a rule, or cycles; then by projected Newton steps, which descend.
    """
    p, free = np.zeros(len(g)), np.ones(len(g), dtype=bool)
    at = np.zeros(len(g))  # the bound at which a variable is held
    for _ in range(12):
        p = np.where(free, 0.0, at)
        p[free] = _solved(H, free, -(g + H @ p))
        slope = g + H @ p
        below = np.where(free, p < low, (at == low) & (slope > 0))
        above = np.where(free, p > high, (at == high) & (slope < 0))
        now = ~(below | above)
        if np.array_equal(now, free):
            return np.clip(p, low, high)
        free, at = now, np.where(below, low, np.where(above, high, 0.0))
    p = np.clip(np.zeros(len(g)), low, high)
    size = float(np.max(np.abs(g)))
    for _ in range(60):
        slope = g + H @ p
        free = ~(((p <= low) & (slope > 0)) | ((p >= high) & (slope < 0)))
        if float(np.max(np.abs(slope[free]), initial=0.0)) <= 1e-9 * size:
            break
        step = np.zeros(len(g))
        step[free] = _solved(H, free, -slope)
        length = 1.0
        while length > 1e-10:
            move = np.clip(p + length * step, low, high) - p
            if float(slope @ move) + float(move @ H @ move) / 2 <= ARMIJO * float(slope @ move) < 0:
                break
            length /= 2
        else:
            break
        p = p + move
    return p


def _solved(H: np.ndarray, free: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of the free block of H."""
    from scipy.linalg import cho_factor, cho_solve

    if not np.any(free):
        return np.zeros(0)
    return np.asarray(cho_solve(cho_factor(H[np.ix_(free, free)], lower=True), right[free]))


def newton_step(problem: DefiniteBoost, sides: Sides, at: Point) -> Point | None:
    """The minimizer of the quadratic model over the box, and an Armijo search towards it; None where nothing moves.

    Only sides that hold a multiplier or push for one enter the model.
    """
    g = at.gradient / sides.scale
    which = np.flatnonzero((at.pushes(sides) != 0) | (at.z > sides.low))
    if len(which) == 0:
        return None
    H = hessian(problem, sides, at, which)
    ridge = 1e-12 * max(float(np.max(np.diag(H))), 1e-12)
    H[np.diag_indices_from(H)] += ridge
    z, scale = at.z[which], sides.scale[which]
    low, high = (sides.low[which] - z) * scale, (sides.high[which] - z) * scale
    for ridge in (0.0, 1e-9, 1e-6, 1e-3):  # a singular model takes more of it
        H[np.diag_indices_from(H)] += ridge
        try:
            step = box_quadratic(H, g[which], low, high)
        except np.linalg.LinAlgError:
            continue
        slope = float(g[which] @ step)
        if np.all(np.isfinite(step)) and slope < 0:
            found = _search(problem, sides, at, which, step / scale, slope)
            if found is not None:
                return found
    step = np.clip(-g[which], low, high)
    return _search(problem, sides, at, which, step / scale, float(g[which] @ step))


def _search(
    problem: DefiniteBoost, sides: Sides, at: Point, which: np.ndarray, step: np.ndarray, slope: float
) -> Point | None:
    """The first of the halved steps that f falls along; near the end, where f cannot tell, that the gradient does."""
    length = 1.0
    noise = 8 * EPS * (1 + abs(at.value) + float(np.abs(at.z) @ np.abs(sides.bound)))
    before = float(np.max(np.abs(at.pushes(sides))))
    for _ in range(40):
        z = at.z.copy()
        z[which] = np.clip(z[which] + length * step, sides.low[which], sides.high[which])
        there = evaluate(problem, sides, z)
        if there.value <= at.value + ARMIJO * length * slope:
            return there
        if there.value <= at.value + noise and float(np.max(np.abs(there.pushes(sides)))) < 0.5 * before:
            return there
        length /= 2
    return None


def strictly_feasible(problem: DefiniteBoost, y: np.ndarray | None = None) -> np.ndarray | None:
    """A density matrix with s_i tr(W S_j(i)) < c_i for all inequalities, near the optimum; None where none is found.

    The projection on constraints tightened by a margin, from the multipliers y; a smaller margin where the
    tightened constraints have no point.
    """
    sides = problem.sides
    start = np.zeros(len(sides.index)) if y is None else sides.from_multipliers(y)
    for margin in (1e-3, 1e-5, 1e-7):
        tight, z = sides.tightened(margin), start
        at: Point | None = evaluate(problem, tight, z)
        for _ in range(60):
            if at is None or -at.value > problem.ceiling + 1.0:
                break
            W = problem.on_equalities(at.W)
            if W is not None and np.all(problem.margins(W) >= 0.5 * margin):
                return W
            at = newton_step(problem, tight, at)
    return None
