"""Solvers of the weight equation where tasks have rows of their own: a small system each, or conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.multitask.equation import WeightEquation
from matrixlearn.multitask.shared_solvers import Diagonalisation
from matrixlearn.multitask.solvers import WeightSolver


@dataclass(frozen=True)
class TaskByTask(WeightSolver):
    """(G_i + eta c S1) d_i = r_i for each task, where S2 = c I couples none: stacked factorizations of order d.

    With a shared mean, d_i = A_i^{-1} (r_i + eta c S1 e) for A_i = G_i + eta c S1 and the mean e of the d_i, which
    solves (mean of A_i^{-1} G_i) e = mean of A_i^{-1} r_i.
    """

    name = "task-by-task"

    def objection(self, equation: WeightEquation) -> str:
        return "" if equation.prior.task.is_scalar else f"{self.name} needs S2 = c I"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        gram, prior, S1 = equation.moments.gram, equation.prior, equation.prior.feature
        A = gram + prior.eta * prior.task.rest * S1.dense()
        if not prior.is_singular:
            return _solved(A, R)
        d = len(R)
        right = R if gram.ndim == 2 else R.T[:, :, None]
        both = _divided(A, np.concatenate([gram, right], axis=-1))
        shrunk = both[..., :d]  # A_i^{-1} G_i: symmetric in the inner product of S1, eigenvalues in [0, 1)
        D = both[:, d:] if gram.ndim == 2 else both[:, :, d].T
        mean = shrunk if gram.ndim == 2 else shrunk.mean(axis=0)
        root = S1.power(0.5)
        form = root @ mean @ S1.power(-0.5)
        values, vectors = np.linalg.eigh((form + form.T) / 2)
        used = values > EPS * len(values)
        used &= _is_seen(equation.moments.mean_gram, S1.power(-0.5) @ vectors)
        along = vectors.T @ (root @ D.mean(axis=1))
        e = S1.power(-0.5) @ (vectors @ np.where(used, along / np.where(used, values, 1.0), 0.0))
        pulled = e[:, None] - shrunk @ e[:, None] if gram.ndim == 2 else e[:, None] - (shrunk @ e).T
        return D + pulled


def _is_seen(gram: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Whether x^T G x is more than its rounding, for each column x: small units are seen, missing rank is not."""
    size = np.sum(directions * (gram @ directions), axis=0)
    rounding = np.sum(np.abs(directions) * (np.abs(gram) @ np.abs(directions)), axis=0)
    return np.asarray(size > EPS * len(gram) * rounding)


def _solved(A: np.ndarray, R: np.ndarray) -> np.ndarray:
    """A^{-1} R for one matrix, or A_i^{-1} r_i for each column."""
    return _divided(A, R) if A.ndim == 2 else _divided(A, R.T[:, :, None])[:, :, 0].T


def _divided(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A^{-1} B for positive definite matrices; of least norm where rows without rank leave A singular to rounding."""
    try:
        return np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(A, rcond=EPS * A.shape[-1], hermitian=True) @ B


class Preconditioner(Protocol):
    """Nearly the inverse of an equation's left side."""

    def solve(self, R: np.ndarray) -> np.ndarray:
        """D for R, (d, m)."""


@dataclass(frozen=True)
class ConjugateGradients(WeightSolver):
    """Conjugate gradients, matrix-free and batched over tasks, preconditioned by the same equation with the mean
    Gram matrix in the place of each task's own (`Diagonalisation`).

    Parameters
    ----------
    tol : float
        Of the residual in the norm of the preconditioner, relative to its first value.
    max_iter : int
    precondition : callable
        From the equation to an object whose ``solve(R)`` is nearly its solution.
    """

    tol: float = 1e-13
    max_iter: int = 1_000
    precondition: Callable[[Any], Preconditioner] = Diagonalisation.of

    name = "conjugate-gradients"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        mean = self.precondition(equation)
        D, residual = np.zeros_like(R), R
        z = mean.solve(residual)
        direction, size = z, float(np.vdot(residual, z))
        goal = self.tol**2 * size
        for _ in range(self.max_iter):
            if size <= goal:
                break
            image = equation.apply(direction)
            curvature = float(np.vdot(direction, image))
            if curvature <= 0:  # rounding: nothing left to gain
                break
            step = size / curvature
            D, residual = D + step * direction, residual - step * image
            z = mean.solve(residual)
            before, size = size, float(np.vdot(residual, z))
            direction = z + (size / before) * direction
        return D
