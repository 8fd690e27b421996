"""A barrier for the dual of DefiniteBoost: smooth however high the prices of violations are.

    G(x) = h(log W_1 - A(x)) + c.x - mu sum log(x - low) - mu sum log(high - x),     low < x < high
    h(M) = max over W > 0, tr W = 1 of  <M, W> - tr W log W + mu log det W

in the scaled sides A_i = s_i S_j(i) / scale_i, c_i / scale_i of `dual`, ends of the box that are infinite left out:
both for a hard equality, one for a hard inequality. At mu = 0 it is f of `dual`. The maximizer has M's eigenvectors and

    log w_a - mu / w_a = m_a - lambda,   sum w_a = 1;       grad G = g(W) - p + q,   g_i = c_i - <A_i, W>,
    p = mu / (x - low),   q = mu / (high - x)
    Hess G = R R^T + p / (x - low) + q / (high - x),     (R R^T)_ik = sum_ab Gamma_ab Re(conj(B_i)_ab (B_k)_ab)
    1 / Gamma_ab = (log w_a - log w_b) / (w_a - w_b) + mu / (w_a w_b)

with B_i = V^H A_i V less its mean under the weights Gamma_aa. Three facts carry the method:

- G / mu is self-concordant (logarithms, and the conjugate of log det with an entropy that goes with it): damped Newton
  steps reach the centre of any mu from anywhere in the box, where f itself is piecewise linear but for kinks of width
  1 / x.
- A Newton step dx brings W+ = W - Gamma o A(dx) along: g(W+) = p+ - q+, the linear change of p - q. So W+ satisfies the
  equalities exactly, and the inequalities strictly while p+ > 0: no search for a feasible matrix.
- At the centre the gap is at most mu times the number of logarithms (`Barrier.count`): D is concave, and
  grad Delta(W) = -A(x) - lambda + mu / W.

p and q are variables of their own (primal-dual): these follow a fall of mu in one step, mu / (x - low) in many.

References
----------
Nesterov and Nemirovskii (1994), "Interior-point polynomial algorithms"; Benson, Ye and Zhang (2000), for W+.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn_definiteboost.dual import ARMIJO, ENTRIES, EPS, Sides, gram

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost

TO_THE_BOUNDARY = 0.95
"""The share of the way to the boundary of the box that a step may take."""

STIFF = 1e-6
"""Sides with D below this, relative to Gamma, are not divided by D."""

REFINEMENTS = 6
"""Of a Newton system: at a small mu the factors have lost digits that the products have not."""

APART = 1e3
"""p (x - low) and q (high - x) stay within this factor of mu."""


def barrier_weights(m: np.ndarray, mu: float) -> np.ndarray:
    """w with log w_a - mu / w_a = m_a - lambda and sum w_a = 1, (d,).

    mu / w = omega(log mu - m + lambda), Wright's function; lambda by Newton's method on sum w = 1, convex and
    decreasing, from where the largest w is 1.
    """
    from scipy.special import wrightomega

    t = m - m.max() - mu
    for _ in range(80):
        v = np.maximum(wrightomega(np.log(mu) - t), np.finfo(float).tiny)
        w = np.where(v > 1, mu / v, np.exp(np.minimum(t + v, 0.0)))
        excess = float(w.sum()) - 1.0
        if excess <= 4 * EPS * len(m):
            break
        t = t - excess / float(np.sum(w * w / (w + mu)))
    return np.asarray(w / w.sum())


def inverse_curvature(w: np.ndarray, mu: float) -> np.ndarray:
    """Gamma_ab = 1 / ((log w_a - log w_b) / (w_a - w_b) + mu / (w_a w_b)), at w_a = w_b 1 / (1 / w_a + mu / w_a^2)."""
    large, small = np.maximum(w[:, None], w[None, :]), np.minimum(w[:, None], w[None, :])
    r = (large - small) / large
    safe = np.where(r > 0, np.minimum(r, 1 - EPS), 0.5)
    slope = np.where(r > 0, -np.log1p(-safe) / safe, 1.0)  # of the logarithm, times large
    return np.asarray(large / (slope + mu / small))


@dataclass(frozen=True, eq=False)
class Centring:
    """G, its gradient and the matrix at x, for one mu."""

    x: np.ndarray
    mu: float
    value: float
    noise: float
    gradient: np.ndarray
    W: np.ndarray
    m: np.ndarray
    V: np.ndarray
    w: np.ndarray


@dataclass(frozen=True, eq=False)
class BarrierStep:
    """A Newton step: dx, the p and q after it, W+, and the squared decrement -grad G . dx."""

    dx: np.ndarray
    p: np.ndarray
    q: np.ndarray
    W: np.ndarray
    decrement: float


@dataclass(frozen=True, eq=False)
class Barrier:
    """G for a problem; x, p and q have shape (k,), k sides."""

    problem: DefiniteBoost
    sides: Sides

    @cached_property
    def low(self) -> np.ndarray:
        return self.sides.low * self.sides.scale

    @cached_property
    def high(self) -> np.ndarray:
        return self.sides.high * self.sides.scale

    @cached_property
    def count(self) -> int:
        """Logarithms: d eigenvalues and the finite ends of the box."""
        return self.problem.d + int(np.sum(np.isfinite(self.low)) + np.sum(np.isfinite(self.high)))

    @property
    def entries(self) -> int:
        """Real numbers in W."""
        d = self.problem.d
        return d * d if self.problem.family.is_complex else d * (d + 1) // 2

    def start(self) -> tuple[np.ndarray, float]:
        """(x, mu): about the gap at W_1 over `count`, and x where p - q is the slack of W_1, or positive."""
        g = self._slacks(self.problem.initial_matrix)
        one = np.isfinite(self.low)
        box = one & np.isfinite(self.high)
        low, high = np.where(box, self.low, 0.0), np.where(box, self.high, 0.0)
        price = np.where(g < 0, np.where(box, high, 1.0), low)
        mu = 3.0 * (self.problem.scale + float(-price @ g)) / self.count
        half, middle = (high - low) / 2, (high + low) / 2
        centred = middle - g * half**2 / (mu + np.sqrt(mu**2 + (g * half) ** 2))
        return np.where(box, centred, np.where(one, mu / np.maximum(g, 0.1), 0.0)), mu

    def interior_below(self, x: np.ndarray, mu: float) -> float:
        """What x proves, near a centre, of the least slack s of any matrix in all hard inequalities: s sum x <= the
        largest divergence + mu times `count`.
        """
        hard = np.isfinite(self.low) & np.isinf(self.high)
        return (self.problem.farthest + mu * self.count) / max(float(x[hard].sum()), 1e-300)

    def multipliers(self, x: np.ndarray) -> np.ndarray:
        """y, (m,)."""
        return self.sides.multipliers(x / self.sides.scale, self.problem.m)

    def _slacks(self, W: np.ndarray) -> np.ndarray:
        """g(W)."""
        s = self.sides
        return (s.bound - s.sign * self.problem.family.adjoint(W)[s.index]) / s.scale

    def ends(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x - low and high - x."""
        return x - self.low, self.high - x

    def at(self, x: np.ndarray, mu: float) -> Centring:
        """One eigendecomposition."""
        p = self.problem
        m, V = np.linalg.eigh(p.log_initial - p.family.apply(self.multipliers(x)))
        return self._at(x, mu, m, V)

    def moved(self, at: Centring, mu: float) -> Centring:
        """The same x for another mu: no eigendecomposition."""
        return self._at(at.x, mu, at.m, at.V)

    def _at(self, x: np.ndarray, mu: float, m: np.ndarray, V: np.ndarray) -> Centring:
        w = barrier_weights(m, mu)
        W = (V * w) @ V.conj().T
        log, c = np.log(w), self.sides.bound / self.sides.scale
        ends = [end[np.isfinite(end)] for end in self.ends(x)]
        logs = float(log.sum()) + sum(float(np.log(end).sum()) for end in ends)
        value = float(w @ m) - float(w @ log) + mu * (2 * float(log.sum()) - logs) + float(c @ x)
        noise = 16 * EPS * (1 + float(np.abs(m).max()) + float(np.abs(c) @ np.abs(x)) + mu * abs(logs))
        s, t = self.ends(x)
        return Centring(x, mu, value, noise, self._slacks(W) - mu / s + mu / t, W, m, V, w)

    def direction(self, at: Centring, p: np.ndarray, q: np.ndarray, model: np.ndarray) -> BarrierStep:
        """The Newton step of G with Gamma = ``model``, (d, d), for W, and with p and q for the ends of the box."""
        s, t = self.ends(at.x)
        D = p / s + q / t
        dx = self._solved(at.V, model, D, -at.gradient)
        dW = -self._pushed(at.V, model, dx)
        return BarrierStep(dx, at.mu / s - p / s * dx, at.mu / t + q / t * dx, at.W + dW, -float(at.gradient @ dx))

    def _pushed(self, V: np.ndarray, model: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Gamma o A(dx), of trace zero."""
        T = V.conj().T @ self.problem.family.apply(self.multipliers(dx)) @ V
        share = np.diag(model) / np.trace(model)
        T[np.diag_indices_from(T)] -= share @ np.diag(T).real
        out = V @ (model * T) @ V.conj().T
        return np.asarray((out + out.conj().T) / 2)

    def _product(self, V: np.ndarray, model: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """R R^T dx, from the constraints themselves."""
        s = self.sides
        return s.sign * self.problem.family.adjoint(self._pushed(V, model, dx))[s.index] / s.scale

    def _solved(self, V: np.ndarray, model: np.ndarray, D: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(R R^T + D)^{-1} right, refined with products from the constraints themselves."""
        if len(D) == 0:
            return right
        solve = self._by_sides(V, model, D) if len(D) <= self.entries else self._by_entries(V, model, D)
        dx, left, size = np.zeros(len(D)), right, np.inf
        for _ in range(REFINEMENTS):
            new = dx + solve(left)
            residual = right - D * new - self._product(V, model, new)
            norm = float(np.linalg.norm(residual))
            if not norm < 0.5 * size:
                break
            dx, left, size = new, residual, norm
            if size <= 1e-13 * float(np.linalg.norm(right)):
                break
        return dx

    def _by_sides(self, V: np.ndarray, model: np.ndarray, D: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """By one factor of order k."""
        H = gram(self.problem, self.sides, V, model, np.arange(len(D)))
        H[np.diag_indices_from(H)] += D
        return _solver(H)

    def _by_entries(self, V: np.ndarray, model: np.ndarray, D: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """By a factor of K = I + R_L^T D_L^{-1} R_L, of the order of W's entries, and one of order of the other, stiff
        sides, whose D is too small to divide by: R_S K^{-1} R_S^T + D_S.
        """
        rows = CurvatureRows(self, V, model)
        loose = STIFF * float(np.max(model)) < D
        K = rows.normal(np.flatnonzero(loose), D)
        K[np.diag_indices_from(K)] += 1.0
        by_K = _solver(K)
        inverse = np.divide(1.0, D, out=np.zeros_like(D), where=loose)
        stiff = np.flatnonzero(~loose)
        R = rows.of(stiff)
        S = R @ by_K(R.T)
        by_S = _solver((S + S.T) / 2 + np.diag(D[stiff])) if len(stiff) else np.copy

        def solve(r: np.ndarray) -> np.ndarray:
            v = by_K(rows.transposed(inverse * r))
            held = by_S(r[stiff] - R @ v)
            out = inverse * (r - rows.times(v + by_K(R.T @ held)))
            out[stiff] = held
            return np.asarray(out)

        return solve

    def search(self, at: Centring, step: BarrierStep, p: np.ndarray, q: np.ndarray) -> tuple[Centring, float, float]:
        """(the next point, the share of dx, that of p and q): the first of the halved steps that lowers G enough."""
        s, t = self.ends(at.x)
        longest = min(_room(s, step.dx), _room(t, -step.dx))
        share = full = min(1.0, TO_THE_BOUNDARY * longest)
        enough = ARMIJO * step.decrement
        for _ in range(40):
            there = self.at(at.x + share * step.dx, at.mu)
            if there.value <= at.value - share * enough or (step.decrement <= at.noise and share == full):
                break
            share /= 2
        else:
            return at, 0.0, 0.0
        other = min(1.0, TO_THE_BOUNDARY * min(_room(p, step.p - p), _room(q, step.q - q)))
        return there, share, other if share == full else min(share, other)

    def kept_near(self, x: np.ndarray, mu: float, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """p and q within a factor `APART` of mu / (x - low) and mu / (high - x)."""
        s, t = self.ends(x)
        return np.clip(p, mu / s / APART, mu / s * APART), np.clip(q, mu / t / APART, mu / t * APART)


def _solver(H: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """H^{-1} by its Cholesky factor, with the least ridge that gives it one."""
    from scipy.linalg import cho_factor, cho_solve

    largest, ridge = float(np.max(np.diag(H))), EPS
    while True:
        try:
            factor = cho_factor(H, lower=True, check_finite=False)
            return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))
        except np.linalg.LinAlgError:
            H[np.diag_indices_from(H)] += ridge * largest
            ridge *= 100


def _room(z: np.ndarray, dz: np.ndarray) -> float:
    """The largest share with z + share dz >= 0."""
    falling = dz < 0
    return float(np.min(-z[falling] / dz[falling], initial=np.inf))


@dataclass(frozen=True, eq=False)
class CurvatureRows:
    """R by its rows, sqrt(Gamma) o B_i on and above the diagonal, never all of them at once."""

    barrier: Barrier
    V: np.ndarray
    model: np.ndarray

    @cached_property
    def _upper(self) -> tuple[np.ndarray, np.ndarray]:
        return np.triu_indices(len(self.model))

    @cached_property
    def _weights(self) -> np.ndarray:
        i, j = self._upper
        return np.asarray(np.sqrt(np.where(i == j, 1.0, 2.0) * self.model[i, j]))

    def _flat(self, T: np.ndarray) -> np.ndarray:
        """The weighted entries of centred matrices, real: shape (..., d, d) -> (..., entries)."""
        i, j = self._upper
        out = T[..., i, j] * self._weights
        return np.concatenate([out.real, out.imag[..., i != j]], axis=-1) if np.iscomplexobj(out) else out

    def _centred(self, T: np.ndarray) -> np.ndarray:
        share = np.diag(self.model) / np.trace(self.model)
        inner = np.arange(len(share))
        T[..., inner, inner] -= (T[..., inner, inner].real @ share)[..., None]
        return T

    def of(self, which: np.ndarray) -> np.ndarray:
        """The rows of an index, (k, entries)."""
        family, s, every = self.barrier.problem.family, self.barrier.sides, slice(0, len(self.model))
        B = self._centred(family.rotated(self.V, s.index[which], every, every))
        return np.asarray(self._flat(B) * (s.sign[which] / s.scale[which])[:, None])

    def normal(self, which: np.ndarray, D: np.ndarray) -> np.ndarray:
        """R^T D^{-1} R over the rows of an index."""
        size, out = max(1, ENTRIES // self.model.size), np.zeros((0, 0))
        for start in range(0, max(len(which), 1), size):
            part = which[start : start + size]
            Q = self.of(part) / np.sqrt(D[part])[:, None]
            out = Q.T @ Q if start == 0 else out + Q.T @ Q
        return out

    def transposed(self, r: np.ndarray) -> np.ndarray:
        """R^T r."""
        b = self.barrier
        T = self.V.conj().T @ b.problem.family.apply(b.multipliers(r)) @ self.V
        return self._flat(self._centred(T))

    def times(self, v: np.ndarray) -> np.ndarray:
        """R v."""
        b, (i, j) = self.barrier, self._upper
        n = len(i)
        E = np.zeros(self.model.shape, dtype=complex if len(v) > n else float)
        E[i, j] = v[:n] * self._weights / np.where(i == j, 1.0, 2.0)
        if len(v) > n:
            off = i != j
            E[i[off], j[off]] += 1j * v[n:] * self._weights[off] / 2
        E = E + np.triu(E, 1).conj().T
        E[np.diag_indices_from(E)] -= np.trace(E).real * np.diag(self.model) / np.trace(self.model)
        t = b.problem.family.adjoint(self.V @ E @ self.V.conj().T)
        return b.sides.sign * t[b.sides.index] / b.sides.scale
