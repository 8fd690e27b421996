"""The oracle of a batch solve: one damped Newton step a round, towards the optimum of a smoothed problem.

    min over density W of    f(W) + mu tr(W log W),        f(W) = (1/T) sum_t l(<X_t, W>, y_t)

has the optimum W = W(H / mu) with H = grad f(W): the mirror map again, at losses H / mu. Its duality gap
is mu (S(W) + ...) <= mu ln d, so that mu is driven to 0. With A the linear map of the instances,
D = diag(l'') / T, and M = -dW/dG the covariance of the Gibbs state,

    R = H - grad f(W),     (I + A* D A M / mu) delta = -R,     H <- H + a delta,     G = H / mu.

delta is Newton's direction for the convex function above, taken in the coordinates of the mirror map, where
the steps never meet the boundary; a comes from Armijo's rule on it. (delta = -R and a small a is plain mirror
descent, which needs no system to be solved and far more rounds.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.linalg import inner, sym
from matrixlearn.oracles import Done, Move
from matrixlearn_meg.stacks import from_coordinates, to_coordinates, upper

CUTS = (0.03, 0.1, 0.3, 0.6)
"""mu falls by the first factor that leaves the next point near its own optimum."""
WIDTH = 5.0
"""Of a smoothed loss, in units of mu."""
DIRECT = 1500
"""The largest Newton system that is formed; larger ones are solved by conjugate gradients."""
TRIALS = 40
PATIENCE = 60
"""Rounds at one mu, after which rounding is taken to have the last word there."""


@dataclass(frozen=True, eq=False)
class Gibbs:
    """W(G) with what its derivative needs."""

    p: np.ndarray
    V: np.ndarray
    log_p: np.ndarray

    @classmethod
    def of(cls, G: np.ndarray) -> Gibbs:
        w, V = np.linalg.eigh(G)
        log_p = w[0] - w
        log_p = log_p - np.log(np.sum(np.exp(log_p)))
        return cls(np.exp(log_p), V, log_p)

    @property
    def W(self) -> np.ndarray:
        return sym((self.V * self.p) @ self.V.conj().T)

    @property
    def negative_entropy(self) -> float:
        """tr(W log W)."""
        return float(self.p @ self.log_p)

    def kernel(self) -> np.ndarray:
        """(p_i - p_j) / (log p_i - log p_j), p_i on the diagonal: no cancellation for close eigenvalues."""
        high = np.maximum(self.log_p[:, None], self.log_p[None, :])
        x = np.abs(self.log_p[:, None] - self.log_p[None, :])
        ratio = np.where(x > 1e-8, -np.expm1(-x) / np.where(x > 1e-8, x, 1.0), 1 - x / 2)
        return np.exp(high) * ratio


@dataclass(frozen=True, eq=False)
class NewtonOracle:
    """One Newton step a round.

    Parameters
    ----------
    problem : MEGRegression
    mu : float
        The smoothing; 0 before the first round.
    H : array, shape (d, d), optional
        mu G, the running estimate of the gradient at the optimum.
    """

    problem: Any
    mu: float = 0.0
    H: np.ndarray | None = None
    first: float = 0.0
    rounds: int = 0
    """Rounds at this mu."""
    stuck: int = 0
    """How often in a row mu fell without its optimum having been reached."""
    best: tuple[float, np.ndarray] | None = None
    """The greatest lower bound so far, and its multipliers: rounds are not checked one by one."""

    def __call__(self, X: np.ndarray) -> Move | Done:
        its, W = self.problem, X
        stack, y, T = its.stack, its.y, its.stack.T
        if self.H is None:
            gradient = stack.adjoint(np.asarray(its.losses.smoothed(its.width).derivative(stack.apply(W), y)) / T)
            w = np.linalg.eigvalsh(gradient)
            mu = max(float(w[-1] - w[0]), 1e-12 * float(np.abs(w).max()))
            if mu == 0:
                return Done("the gradient vanishes")
            return replace(self, mu=mu, H=0 * gradient, first=mu)(X)
        mu, H = self.mu, self.H
        if mu < 1e-15 * self.first or self.stuck > 3:
            return Done("the numerical limit")
        loss = self.loss_at(mu)
        G = H / mu
        state = Gibbs.of(G)
        prediction = stack.apply(W)
        u = np.asarray(loss.derivative(prediction, y)) / T
        R = H - stack.adjoint(u)
        bend = np.broadcast_to(np.asarray(loss.curvature(prediction, y)) / T, (T,))
        system = System.at(stack, state, bend, mu)
        delta = -system.solve(R)
        decrement = max(0.0, -inner(delta, system.covariance_of(R)) / mu)
        value = float(np.mean(loss.value(prediction, y))) + mu * state.negative_entropy

        length = np.sqrt(decrement / mu)  # at least the deviation of delta / mu in the state W
        step, rounding = 1.0 if length <= 1 else 1 / length, 1e-14 * (abs(value) + its.scale * 1e-3)
        for _ in range(TRIALS):
            if self.merit(Gibbs.of((H + step * delta) / mu), mu) <= value - 1e-4 * step * decrement + rounding:
                break
            step /= 2
        else:
            step = 0.0
        new, smaller = H + step * delta, mu
        w = np.linalg.eigvalsh(delta)
        near = step == 1.0 and decrement <= mu / 4 and float(w[-1] - w[0]) <= mu
        lost = step == 0.0 or self.rounds >= PATIENCE
        if near or lost:
            drift = stack.adjoint(np.broadcast_to(np.asarray(loss.drift(prediction, y)) / T, (T,)))
            tangent = H - system.solve(H - drift)
            here = Gibbs.of(new / mu)
            for cut in CUTS:
                # along the tangent of the path of optima, in mu and in the width of the loss, where that is no
                # worse for the smaller mu than standing still at the same W
                ahead = self.merit(Gibbs.of((new + (cut - 1) * tangent) / (cut * mu)), cut * mu)
                if ahead <= self.merit(here, cut * mu):
                    new = new + (cut - 1) * tangent
                    break
            else:
                new = cut * new
            smaller = cut * mu
        # the multipliers of the step's own linear model: a dual point of second order
        dual = u - bend * stack.apply(system.covariance_of(delta)) / mu
        lower = its.bound_from_vector(dual).lower
        best = (lower, dual) if self.best is None or lower > self.best[0] else self.best
        rounds, stuck = (self.rounds + 1, self.stuck) if smaller == mu else (0, self.stuck + 1 if lost else 0)
        then = replace(self, mu=smaller, H=new, rounds=rounds, stuck=stuck, best=best)
        return Move(new / smaller - G, step=1.0, y=best[1], then=then)

    def loss_at(self, mu: float) -> Any:
        """The loss, smoothed to a width that falls with mu."""
        return self.problem.losses.smoothed(WIDTH * mu)

    def merit(self, state: Gibbs, mu: float) -> float:
        """f(W) + mu tr(W log W), with the loss of mu."""
        losses = self.loss_at(mu).value(self.problem.stack.apply(state.W), self.problem.y)
        return float(np.mean(losses)) + mu * state.negative_entropy


@dataclass(frozen=True, eq=False)
class System:
    """J = I + A* D A M / mu, in the eigenvectors of W, and its inverse by the smaller of its two forms.

        J^{-1} = I - F^T (I + F M F^T / mu)^{-1} F M / mu,        F^T F = A* D A

    F has T rows, or by a QR factorization the m rows of its triangle where T > m. M r = gamma * (r - tr(W r) I)
    is formed from centred rows: near a pure state the difference of large terms would be rounding.
    """

    F: np.ndarray
    gamma: np.ndarray
    p: np.ndarray
    V: np.ndarray
    mu: float

    @classmethod
    def at(cls, stack: Any, state: Gibbs, bend: np.ndarray, mu: float) -> System:
        i, j = upper(stack.d, np.iscomplexobj(stack.dtype.type(0)))
        F = np.sqrt(bend)[:, None] * stack.coordinates(state.V)
        if len(F) > F.shape[1]:
            F = np.linalg.qr(F, mode="r")
        return cls(F, state.kernel()[i, j], state.p, state.V, mu)

    def centred(self, rows: np.ndarray) -> np.ndarray:
        """r - tr(W r) I."""
        out, d = rows.copy(), len(self.p)
        out[..., :d] -= (rows[..., :d] @ self.p)[..., None]
        return out

    def inside(self, S: np.ndarray) -> np.ndarray:
        """Coordinates of V^H S V."""
        turned, d = self.V.conj().T @ S @ self.V, len(self.p)
        i, j = np.triu_indices(d, 1)
        return to_coordinates(np.concatenate([np.diagonal(turned), turned[i, j]]), d)

    def outside(self, s: np.ndarray) -> np.ndarray:
        """The matrix of coordinates."""
        return sym(self.V @ from_coordinates(s, len(self.p), self.V.dtype) @ self.V.conj().T)

    @cached_property
    def matrix(self) -> np.ndarray:
        """I + F M F^T / mu."""
        C = self.centred(self.F)
        return np.eye(len(C)) + (C * (self.gamma / self.mu)) @ C.T

    def solve(self, S: np.ndarray) -> np.ndarray:
        """J^{-1} S."""
        r = self.inside(S)
        right = self.F @ (self.gamma * self.centred(r)) / self.mu
        if len(self.F) <= DIRECT:
            z = _solve(self.matrix, right)
        else:
            C = self.centred(self.F)
            z = _conjugate_gradients(lambda v: v + C @ (self.gamma / self.mu * (C.T @ v)), right)
        return self.outside(r - self.F.T @ z)

    def covariance_of(self, S: np.ndarray) -> np.ndarray:
        """M S."""
        return self.outside(self.gamma * self.centred(self.inside(S)))


def _solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A^{-1} b for a symmetric A >= I, also where rounding has lost the I."""
    try:
        np.linalg.cholesky(A)
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        w, V = np.linalg.eigh(A)
        return V @ ((V.T @ b) / np.maximum(w, 1.0))


def _conjugate_gradients(matrix: Any, b: np.ndarray, accuracy: float = 1e-6, most: int = 500) -> np.ndarray:
    """x with matrix(x) = b to a relative residual, for a positive definite matrix."""
    x, residual = np.zeros_like(b), b.copy()
    direction, rho = residual.copy(), float(b @ b)
    goal = accuracy**2 * rho
    for _ in range(most):
        if rho <= goal:
            break
        image = matrix(direction)
        alpha = rho / float(direction @ image)
        x += alpha * direction
        residual -= alpha * image
        rho, old = float(residual @ residual), rho
        direction = residual + (rho / old) * direction
    return x
