"""The linear system of a Newton step, solved on its smaller side.

With F_t = R^H X_t R the instances in the scaling, and w the step of W there,

    w + F^T du = M,    du = beta (F w + h).

By instances, (I + b F F^T b) z = b (F M + h) with du = b z and b^2 = beta, is of order T and keeps the digits of du
where some beta_t are huge: at the corners of a loss, beta_t -> inf and F w + h -> 0. By coordinates, it is
(I + F^T beta F) w = M - F^T beta h, of order d (d + 1) / 2, and loses them: where T is larger, the few huge ones are
kept apart, by instances (`Mixed`). Where either leaves too much of the second equation, there is `orthogonal`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from matrixlearn.linalg import congruence
from matrixlearn_meg.stacks import from_coordinates, to_coordinates

DIRECT = 4000
"""The largest system that is formed; larger ones are solved by conjugate gradients."""
SMALL = 500
"""So many instances are no cost."""
STIFF = 100.0
"""Times the median of beta: kept apart."""
BLOCK = 512
"""Instances whose coordinates are held at a time."""


class System(Protocol):
    """A factorized system."""

    def solution(self, M: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w and du."""


class ByMultipliers(ABC):
    """One that is solved for du; w is what the first equation makes of it."""

    stack: Any
    R: np.ndarray

    @property
    @abstractmethod
    def slopes(self) -> np.ndarray:
        """beta."""

    @abstractmethod
    def multipliers(self, M: np.ndarray, h: np.ndarray) -> np.ndarray:
        """du."""

    def solution(self, M: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w and du, refined once."""
        stack, R = self.stack, self.R
        du = self.multipliers(M, h)
        w = M - congruence(stack.apply(du), R)
        error = stack.adjoint(congruence(w, R.conj().T)) + h - du / self.slopes
        du = du + self.multipliers(0 * M, error)
        return M - congruence(stack.apply(du), R), du


def system_at(stack: Any, R: np.ndarray, beta: np.ndarray) -> System:
    """The system of a scaling, on the cheaper side."""
    T, m = stack.T, stack.m
    if min(T, m) > DIRECT:
        return Unformed(stack, R, np.sqrt(beta))
    if max(m, SMALL) >= T:
        b = np.sqrt(beta)
        return ByInstances(stack, R, b, inverse(b[:, None] * stack.gram(R) * b))
    stiff = np.flatnonzero(beta > STIFF * np.median(beta))
    if len(stiff) > m:
        stiff = np.argpartition(beta, -m)[-m:]
    return Mixed.of(stack, R, beta, stiff)


def lower_root(N: np.ndarray) -> np.ndarray:
    """L with L L^T = N >= I, or a little more where rounding has lost the I."""
    shift, diagonal = 0.0, np.diag_indices(len(N))
    while True:
        try:
            return np.linalg.cholesky(N)
        except np.linalg.LinAlgError:
            shift = 4 * shift or float(np.finfo(float).eps * np.max(N[diagonal]))
            N[diagonal] += shift


def inverse(A: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """(I + A)^{-1} for A >= 0, which is overwritten."""
    from scipy.linalg import cho_factor, cho_solve

    A[np.diag_indices(len(A))] += 1.0
    try:
        factor = cho_factor(A, lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # rounding has lost the I
        w, V = np.linalg.eigh(A)
        return lambda r: V @ ((V.T @ r) / np.maximum(w, 1.0))
    return lambda r: cho_solve(factor, r, check_finite=False)


@dataclass(frozen=True, eq=False)
class ByInstances(ByMultipliers):
    """Order T."""

    stack: Any
    R: np.ndarray
    b: np.ndarray
    gram: Callable[[np.ndarray], np.ndarray]

    @property
    def slopes(self) -> np.ndarray:
        return self.b**2

    def multipliers(self, M: np.ndarray, h: np.ndarray) -> np.ndarray:
        return self.b * self.gram(self.b * (h + self.stack.adjoint(self.R @ M @ self.R.conj().T)))


@dataclass(frozen=True, eq=False)
class Mixed(ByMultipliers):
    """The soft instances by coordinates, N = I + F_s^T beta F_s = L L^T, and the stiff ones in the metric of N^{-1}:

    (I + G^T G) z = b h + G^T v,    G = L^{-1} F_k^T b,    v = L^{-1} (M - F_s^T beta h),    w = L^{-T} (v - G z).
    """

    stack: Any
    R: np.ndarray
    beta: np.ndarray
    stiff: np.ndarray
    L: np.ndarray
    G: np.ndarray
    gram: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, stack: Any, R: np.ndarray, beta: np.ndarray, stiff: np.ndarray) -> Mixed:
        from scipy.linalg import solve_triangular

        N, weights = np.eye(stack.m), beta.copy()
        weights[stiff] = 0.0
        for start in range(0, stack.T, BLOCK):
            rows = slice(start, start + BLOCK)
            C = stack.coordinates(R, rows) * np.sqrt(weights[rows])[:, None]
            N += C.T @ C
        L = lower_root(N)
        F = stack.coordinates(R, stiff) * np.sqrt(beta[stiff])[:, None]
        G = solve_triangular(L, F.T, lower=True, check_finite=False)
        return cls(stack, R, beta, stiff, L, G, inverse(G.T @ G))

    @property
    def slopes(self) -> np.ndarray:
        return self.beta

    def multipliers(self, M: np.ndarray, h: np.ndarray) -> np.ndarray:
        from scipy.linalg import solve_triangular

        stack, R, b = self.stack, self.R, np.sqrt(self.beta[self.stiff])
        soft = self.beta * h
        soft[self.stiff] = 0.0
        M = M - R.conj().T @ stack.apply(soft) @ R
        v = solve_triangular(self.L, to_coordinates(M), lower=True, check_finite=False)
        z = self.gram(b * h[self.stiff] + self.G.T @ v)
        w = solve_triangular(self.L, v - self.G @ z, lower=True, trans=1, check_finite=False)
        du = self.beta * (h + stack.adjoint(R @ from_coordinates(w, stack.d, M.dtype) @ R.conj().T))
        du[self.stiff] = b * z
        return du


@dataclass(frozen=True, eq=False)
class Unformed(ByMultipliers):
    """Order T, by conjugate gradients: no matrix but d x d ones."""

    stack: Any
    R: np.ndarray
    b: np.ndarray

    @property
    def slopes(self) -> np.ndarray:
        return self.b**2

    def multipliers(self, M: np.ndarray, h: np.ndarray) -> np.ndarray:
        P = self.R @ self.R.conj().T

        def product(z: np.ndarray) -> np.ndarray:
            return z + self.b * self.stack.adjoint(P @ self.stack.apply(self.b * z) @ P)

        return self.b * conjugate_gradients(product, self.b * (h + self.stack.adjoint(self.R @ M @ self.R.conj().T)))


def conjugate_gradients(matrix: Any, b: np.ndarray) -> np.ndarray:
    """x with matrix(x) = b to a residual of 1e-6, for a positive definite matrix; nearly, after 500 iterations."""
    from scipy.sparse.linalg import LinearOperator, cg  # late: import time

    return cg(LinearOperator((len(b), len(b)), matvec=matrix, dtype=float), b, rtol=1e-6, maxiter=500)[0]
