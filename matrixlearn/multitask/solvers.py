"""Solvers of the weight equation: the contract, and the three methods of the paper.

    G(D) + eta S1 D S2 = R

The Kronecker system (Proposition 4.1), Bartels-Stewart, and gradient descent (Proposition 4.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.multitask.equation import WeightEquation


class WeightSolver(ABC):
    """A solver of the weight equation."""

    name: str
    """What ``solver=`` says."""

    def objection(self, equation: WeightEquation) -> str:
        """Why the equation cannot be solved this way; empty where it can."""
        return ""

    @abstractmethod
    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        """D, of shape (d, m)."""


class SharedSolver(WeightSolver):
    """One that needs one Gram matrix for all tasks."""

    def objection(self, equation: WeightEquation) -> str:
        return "" if equation.moments.is_shared else f"{self.name} needs tasks that share their instances"


@dataclass(frozen=True)
class Kronecker(WeightSolver):
    """vec(D) = (I (x) G + eta S2 (x) S1)^{-1} vec(R), one factorization of order d m (Proposition 4.1)."""

    name = "kronecker"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_factor, cho_solve

        d, m = R.shape
        prior = equation.prior
        system = prior.eta * np.kron(prior.right.dense(), prior.feature.dense())
        grams = np.broadcast_to(equation.moments.gram, (m, d, d))
        for i in range(m):
            block = slice(i * d, (i + 1) * d)
            system[block, block] += grams[i]
        right = R.T.reshape(-1)
        if prior.is_singular:
            return np.linalg.lstsq(system, right, rcond=EPS * d * m)[0].reshape(m, d).T
        try:
            solution = cho_solve(cho_factor(system), right)
        except np.linalg.LinAlgError:  # eta is below the rounding of singular moments: the shortest solution
            solution = np.linalg.lstsq(system, right, rcond=None)[0]
        return np.asarray(solution).reshape(m, d).T


@dataclass(frozen=True)
class BartelsStewart(SharedSolver):
    """S1^{-1} G D + D eta S2 = S1^{-1} R by scipy's ``solve_sylvester``: as published."""

    name = "bartels-stewart"

    def objection(self, equation: WeightEquation) -> str:
        if equation.prior.is_singular:
            return f"{self.name} needs a nonsingular S2, which a shared mean has not"
        return super().objection(equation)

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        from scipy.linalg import solve_sylvester

        prior = equation.prior
        left = prior.feature.solve(equation.moments.gram)
        return np.asarray(solve_sylvester(left, prior.eta * prior.right.dense(), prior.feature.solve(R)))


@dataclass(frozen=True)
class GradientDescent(WeightSolver):
    """D <- D - t (G(D) + eta S1 D S2 - R) with t = 2 / (lambda_u + lambda_l) (Proposition 4.2).

    The proposition's step belongs to *half* the gradient of the objective: lambda_l and lambda_u bound the
    eigenvalues of the left side. Its eta l^2 and eta u^2 are taken here from the matrices at hand,
    eta lambda_min(S1) lambda_min(S2) and so on: never a shorter step, and the same proof.

    Parameters
    ----------
    tol : float
        Of the residual, relative to R.
    max_iter : int
    """

    tol: float = 1e-12
    max_iter: int = 1_000_000

    name = "gradient-descent"

    @staticmethod
    def step_length(equation: WeightEquation) -> float:
        """2 / (lambda_u + lambda_l)."""
        gram, prior = np.linalg.eigvalsh(equation.moments.gram), equation.prior
        (low1, high1), (low2, high2) = prior.feature.extremes, prior.right.extremes
        least = max(0.0, float(np.min(gram))) + prior.eta * low1 * low2
        return 2.0 / (least + float(np.max(gram)) + prior.eta * high1 * high2)

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        t, goal = self.step_length(equation), self.tol * float(np.linalg.norm(R))
        D = np.zeros_like(R)
        for _ in range(self.max_iter):
            residual = R - equation.apply(D)
            if float(np.linalg.norm(residual)) <= goal:
                break
            D = D + t * residual
        return D
