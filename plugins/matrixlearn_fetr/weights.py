"""The weight step of FETR: one linear matrix equation, several ways to solve it.

    G(D) + eta S1 D S2 = R,        D and R of shape (d, m)

the normal equations of min over W of sum_i ||y_i - X_i w_i||^2 + eta tr(S1 W S2 W^T) for R = X^T Y, and those of
the correction D = W* - W for R = X^T Y - G(W) - eta S1 W S2, minus half the gradient at W (the paper prints it with
a wrong sign). For a shared mean S2 is `SpectralPrecision.without_ones`, singular: the answer is then the one of
least S1-norm among those that differ by w 1^T with X w = 0.

A strategy is a `WeightSolver`; `solver_for` picks one by structure. What any of them returns is judged by
`decrease_of`, which certifies by how much W can be improved at most, however inexact the solver was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn_fetr.covariance import SpectralPrecision
from matrixlearn_fetr.data import Moments

if TYPE_CHECKING:
    import cvxpy

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Prior:
    """eta tr(S1 W S2 W^T), the log density of the weights for given precisions.

    Parameters
    ----------
    feature, task : SpectralPrecision
        S1 and S2, positive definite.
    eta : float
    form : SpectralPrecision, optional
        What stands in the place of S2: ``task.without_ones()`` for a shared mean; S2 itself by default.
    """

    feature: SpectralPrecision
    task: SpectralPrecision
    eta: float
    form: SpectralPrecision = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.form is None:
            object.__setattr__(self, "form", self.task)

    @property
    def is_singular(self) -> bool:
        """Whether the multiples of 1 are free of the prior."""
        return self.form is not self.task

    def apply(self, W: np.ndarray) -> np.ndarray:
        """eta S1 W S2: half the gradient."""
        return np.asarray(self.eta * (self.feature @ W @ self.form))


@dataclass(frozen=True, eq=False)
class WeightEquation:
    """G(D) + eta S1 D S2 = R, without the right-hand side.

    Parameters
    ----------
    moments : Moments
        G; anything with ``shape``, ``is_shared``, ``apply``, ``mean_gram`` and ``spectrum`` where `ConjugateGradients`
        solves.
    prior : Prior
    """

    moments: Moments
    prior: Prior

    @property
    def feature(self) -> SpectralPrecision:
        """S1."""
        return self.prior.feature

    @property
    def task(self) -> SpectralPrecision:
        """S2, positive definite."""
        return self.prior.task

    @property
    def form(self) -> SpectralPrecision:
        """What stands in the place of S2."""
        return self.prior.form

    @property
    def eta(self) -> float:
        """The weight of the prior."""
        return self.prior.eta

    @property
    def is_singular(self) -> bool:
        """Whether the multiples of 1 are free of the prior."""
        return self.prior.is_singular

    def apply(self, D: np.ndarray) -> np.ndarray:
        """G(D) + eta S1 D S2."""
        return self.moments.apply(D) + self.prior.apply(D)

    def balanced(self, D: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D + w 1^T and its residual, such that the residual is orthogonal to all multiples of 1^T."""
        if not self.is_singular:
            return D, residual
        values, vectors = self.moments.spectrum
        used = values > values[-1] * EPS * len(values)
        along = vectors.T @ residual.mean(axis=1)
        w = vectors @ np.where(used, along / np.where(used, values, 1.0), 0.0)
        everywhere = np.repeat(w[:, None], D.shape[1], axis=1)
        residual = residual - self.moments.apply(everywhere)
        return D + everywhere, residual - residual.mean(axis=1, keepdims=True)

    def decrease(self, R: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, float, float]:
        """What D makes of the objective, and what no other D can beat.

        max over D of 2 <R, D> - <D, H D>, H the left side, is at least its value at D and at most that and
        <r, S1^{-1} r S2^{-1}> / eta for the residual r = R - H D: H >= eta S1 (x) S2 (for a shared mean after the
        minimum over the mean, which an r with r 1 = 0 does not see).

        Returns
        -------
        D, achieved, at_most
            D, moved by a w 1^T where the mean is shared.
        """
        D, residual = self.balanced(D, R - self.apply(D))
        achieved = float(np.vdot(R, D) + np.vdot(residual, D))
        beyond = float(np.vdot(residual, self.feature.inverse @ residual @ self.task.inverse)) / self.eta
        return D, achieved, achieved + beyond


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """sum_i ||y_i - X_i w_i||^2, by its moments."""

    moments: Moments

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.moments.shape

    @property
    def size(self) -> float:
        """The loss at W = 0."""
        return float(np.sum(self.moments.square))

    def value(self, W: np.ndarray) -> float:
        """The loss."""
        return self.moments.loss(W)

    def residual(self, W: np.ndarray) -> np.ndarray:
        """Minus half the gradient, X^T (Y - X W)."""
        return self.moments.residual(W)

    def step(self, W: np.ndarray, prior: Prior) -> tuple[np.ndarray, float, float]:
        """The way to argmin of loss(W) + eta tr(S1 W S2 W^T), what it gains, and what could be gained at most."""
        equation = WeightEquation(self.moments, prior)
        R = self.residual(W) - prior.apply(W)
        return equation.decrease(R, solver_for(equation)(equation, R))

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        """The loss in cvxpy's terms, by square roots of the Gram matrices."""
        import cvxpy as cp

        total = float(np.sum(self.moments.square)) - 2 * cp.sum(cp.multiply(self.moments.cross, W))
        grams = [self.moments.gram] if self.moments.is_shared else self.moments.gram
        for i, gram in enumerate(grams):
            values, vectors = np.linalg.eigh(gram)
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
            total += cp.sum_squares(root @ (W if self.moments.is_shared else W[:, i]))
        return total


class WeightSolver(ABC):
    """One way to solve the weight equation."""

    name: str

    def supports(self, equation: WeightEquation) -> str:
        """Empty, or why this way is closed."""
        return ""

    @abstractmethod
    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        """D, of shape (d, m)."""


class SharedSolver(WeightSolver):
    """One that needs one Gram matrix for all tasks."""

    def supports(self, equation: WeightEquation) -> str:
        return "" if equation.moments.is_shared else f"{self.name} needs tasks that share their instances"


@dataclass(frozen=True)
class Kronecker(WeightSolver):
    """vec(D) = (I (x) G + eta S2 (x) S1)^{-1} vec(R), one factorization of order d m (Proposition 4.1)."""

    name = "kronecker"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_factor, cho_solve

        d, m = R.shape
        system = equation.eta * np.kron(equation.form.dense(), equation.feature.dense())
        grams = np.broadcast_to(equation.moments.gram, (m, d, d))
        for i in range(m):
            block = slice(i * d, (i + 1) * d)
            system[block, block] += grams[i]
        right = R.T.reshape(-1)
        if equation.is_singular:
            return np.linalg.lstsq(system, right, rcond=EPS * d * m)[0].reshape(m, d).T
        return np.asarray(cho_solve(cho_factor(system, overwrite_a=True), right)).reshape(m, d).T


@dataclass(frozen=True, eq=False)
class Diagonalisation:
    """G(D) + eta S1 D S2 in the basis where it is diagonal, for one Gram matrix G.

    With S1^{-1/2} G S1^{-1/2} = U diag(lambda) U^T and S2 = Q diag(mu) Q^T,

        D = S1^{-1/2} U Z Q^T,    Z_ij = (U^T S1^{-1/2} R Q)_ij / (lambda_i + eta mu_j)

    One symmetric decomposition of order d, where S1 and S2 are known by theirs, and that of G itself, done once for
    all, where S1 = c I; on the complement of the columns of Q, where mu is the rest, the division needs no basis.
    """

    basis: np.ndarray
    """S1^{-1/2} U."""
    values: np.ndarray
    """lambda."""
    task: SpectralPrecision
    eta: float

    @classmethod
    def of(cls, equation: WeightEquation) -> Diagonalisation:
        """That of an equation; with the mean Gram matrix where each task has its own."""
        moments, S1 = equation.moments, equation.feature
        if S1.is_scalar:
            values, E = moments.spectrum
            return cls(E / np.sqrt(S1.rest), values / S1.rest, equation.form, equation.eta)
        root = S1.power(-0.5)
        pencil = root @ moments.mean_gram @ root
        values, U = np.linalg.eigh((pencil + pencil.T) / 2)
        return cls(root @ U, np.maximum(values, 0.0), equation.form, equation.eta)

    def solve(self, R: np.ndarray) -> np.ndarray:
        """D."""
        Q, mu, rest = self.task.vectors, self.task.values, self.task.rest
        turned = self.basis.T @ R
        inside = turned @ Q
        Z = self._divided(inside, mu) @ Q.T
        if not self.task.is_whole:
            Z += (turned - inside @ Q.T) / (self.values + self.eta * rest)[:, None]
        return np.asarray(self.basis @ Z)

    def _divided(self, inside: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """inside / (lambda_i + eta mu_j), 0 where both are: there the equation asks nothing."""
        size = self.values[:, None] + self.eta * mu
        used = size > self.values[-1] * EPS * len(self.values)
        return np.asarray(np.where(used, inside / np.where(used, size, 1.0), 0.0))


@dataclass(frozen=True)
class Diagonalised(SharedSolver):
    """`Diagonalisation`, O(d^3 + d^2 m + d m min(d, m))."""

    name = "diagonalised"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        return Diagonalisation.of(equation).solve(R)


@dataclass(frozen=True)
class Tridiagonalised(SharedSolver):
    """`Diagonalisation` stopped half-way: Householder's tridiagonal form, and m tridiagonal systems side by side.

    With S1 = V diag(a) V^T and a^{-1/2} V^T G V a^{-1/2} = H T H^T, T tridiagonal and H a product of reflections,

        D = V a^{-1/2} H Z Q^T,    (T + eta mu_j I) z_j = (H^T a^{-1/2} V^T R Q)_j

    No eigenvectors are computed, which is most of what a symmetric eigendecomposition costs.
    """

    name = "tridiagonalised"

    def supports(self, equation: WeightEquation) -> str:
        if equation.is_singular:
            return f"{self.name} needs a nonsingular S2, which a shared mean has not"
        return super().supports(equation)

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        from scipy.linalg import lapack

        (a, V), (mu, Q) = _whole(equation.feature), _whole(equation.form)
        root = np.sqrt(a)
        pencil = (V.T @ equation.moments.gram @ V) / np.outer(root, root)
        right = (V.T @ R @ Q) / root[:, None]
        d, m = R.shape
        if d == 1:
            return np.asarray(V @ (right / (pencil + equation.eta * mu) / root[:, None]) @ Q.T)
        reflections, main, side, scales, _ = lapack.dsytrd(pencil, lower=1, lwork=64 * d, overwrite_a=1)
        across = np.asfortranarray(reflections[1:, :-1])  # the first coordinate stays

        def turned(transposed: str, A: np.ndarray) -> np.ndarray:
            return np.vstack([A[:1], lapack.dormqr("L", transposed, across, scales, A[1:], lwork=64 * m)[0]])

        Z = _tridiagonal(main[:, None] + equation.eta * mu, side, turned("T", right))
        return np.asarray(V @ (turned("N", Z) / root[:, None]) @ Q.T)


def _tridiagonal(main: np.ndarray, side: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solutions of positive definite tridiagonal systems that differ in their diagonals, the columns of main."""
    pivot, Z = main.copy(), right.copy()
    for i in range(1, len(Z)):
        factor = side[i - 1] / pivot[i - 1]
        pivot[i] -= side[i - 1] * factor
        Z[i] -= factor * Z[i - 1]
    Z[-1] /= pivot[-1]
    for i in range(len(Z) - 2, -1, -1):
        Z[i] = (Z[i] - side[i] * Z[i + 1]) / pivot[i]
    return Z


@dataclass(frozen=True)
class TaskByTask(WeightSolver):
    """(G_i + eta c S1) d_i = r_i for each task, where S2 = c I couples none: stacked factorizations of order d.

    With a shared mean, d_i = A_i^{-1} (r_i + eta c S1 e) for A_i = G_i + eta c S1 and the mean e of the d_i, which
    solves (mean of A_i^{-1} G_i) e = mean of A_i^{-1} r_i.
    """

    name = "task-by-task"

    def supports(self, equation: WeightEquation) -> str:
        return "" if equation.task.is_scalar else f"{self.name} needs S2 = c I"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        gram, S1 = equation.moments.gram, equation.feature
        A = gram + equation.eta * equation.task.rest * S1.dense()
        if not equation.is_singular:
            return _solved(A, R)
        D = _solved(A, R)
        shrunk = np.linalg.solve(A, gram)  # A_i^{-1} G_i: symmetric in the inner product of S1, eigenvalues in [0, 1)
        mean = shrunk if gram.ndim == 2 else shrunk.mean(axis=0)
        root = S1.power(0.5)
        form = root @ mean @ S1.power(-0.5)
        values, vectors = np.linalg.eigh((form + form.T) / 2)
        used = values > EPS * len(values)
        along = vectors.T @ (root @ D.mean(axis=1))
        e = S1.power(-0.5) @ (vectors @ np.where(used, along / np.where(used, values, 1.0), 0.0))
        pulled = e[:, None] - shrunk @ e[:, None] if gram.ndim == 2 else e[:, None] - (shrunk @ e).T
        return D + pulled


def _solved(A: np.ndarray, R: np.ndarray) -> np.ndarray:
    """A^{-1} R for one matrix, or A_i^{-1} r_i for each column."""
    if A.ndim == 2:
        from scipy.linalg import cho_factor, cho_solve

        return np.asarray(cho_solve(cho_factor(A), R))
    return np.linalg.solve(A, R.T[:, :, None])[:, :, 0].T


@dataclass(frozen=True)
class FewTasks(SharedSolver):
    """The Gram matrix diagonalised once for all steps, S1 - u I of rank m by the Woodbury identity.

    For every eigenpair (mu, q) of S2, with G = E diag(lambda) E^T and S1 = u I + P diag(a - u) P^T,
    (lambda + eta mu u + eta mu E^T P diag(a - u) P^T E) z = E^T R q: O(d^2 m + d m^3 + m^4) a step.
    """

    name = "few-tasks"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        D = self._solved(equation, R)
        return D + self._solved(equation, R - equation.apply(D))  # a - u loses digits where a << u

    def _solved(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        S1, eta = equation.feature, equation.eta
        values, E = equation.moments.spectrum
        mu, Q = _whole(equation.form)
        low = S1.values - S1.rest
        P = E.T @ S1.vectors[:, low != 0]
        low = low[low != 0]
        size = values[:, None] + eta * S1.rest * mu  # (d, m)
        used = size > values[-1] * EPS * len(values)
        inverse = np.where(used, 1.0 / np.where(used, size, 1.0), 0.0)
        Z = inverse * (E.T @ R @ Q)
        active = np.flatnonzero(mu > 0)
        if len(low) and len(active):
            capacitance = np.stack([(P.T * inverse[:, j]) @ P for j in active])
            capacitance += np.stack([np.diag(1.0 / (eta * mu[j] * low)) for j in active])
            inner = np.linalg.solve(capacitance, (P.T @ Z[:, active]).T[:, :, None])[:, :, 0].T
            Z[:, active] -= inverse[:, active] * (P @ inner)
        return np.asarray(E @ Z @ Q.T)


@dataclass(frozen=True)
class BartelsStewart(SharedSolver):
    """S1^{-1} G D + D eta S2 = S1^{-1} R by scipy's ``solve_sylvester``: as published."""

    name = "bartels-stewart"

    def supports(self, equation: WeightEquation) -> str:
        singular = f"{self.name} needs a nonsingular S2, which a shared mean has not" if equation.is_singular else ""
        return super().supports(equation) or singular

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        from scipy.linalg import solve_sylvester

        S1 = equation.feature
        left = S1.solve(equation.moments.gram)
        return np.asarray(solve_sylvester(left, equation.eta * equation.form.dense(), S1.solve(R)))


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
        gram = np.linalg.eigvalsh(equation.moments.gram)
        (low1, high1), (low2, high2) = equation.feature.extremes, equation.form.extremes
        least = max(0.0, float(np.min(gram))) + equation.eta * low1 * low2
        return 2.0 / (least + float(np.max(gram)) + equation.eta * high1 * high2)

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        t, goal = self.step_length(equation), self.tol * float(np.linalg.norm(R))
        D = np.zeros_like(R)
        for _ in range(self.max_iter):
            residual = R - equation.apply(D)
            if float(np.linalg.norm(residual)) <= goal:
                break
            D = D + t * residual
        return D


@dataclass(frozen=True)
class ConjugateGradients(WeightSolver):
    """Conjugate gradients, matrix-free and batched over tasks, preconditioned by the same equation with the mean
    Gram matrix in the place of each task's own (`Diagonalisation`).

    Parameters
    ----------
    tol : float
        Of the residual in the norm of the preconditioner, relative to its first value.
    max_iter : int
    """

    tol: float = 1e-13
    max_iter: int = 1_000

    name = "conjugate-gradients"

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        mean = Diagonalisation.of(equation)
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


SOLVERS: tuple[WeightSolver, ...] = (
    Diagonalised(),
    Tridiagonalised(),
    FewTasks(),
    TaskByTask(),
    ConjugateGradients(),
    Kronecker(),
    BartelsStewart(),
    GradientDescent(),
)
"""All strategies."""

SMALL = 300
"""The order d m up to which one dense factorization is quickest where tasks have data of their own."""

LARGE = 100
"""The number of features from which eigenvectors are dearer than a loop over them."""

DESCENT = ConjugateGradients(tol=1e-3)
"""A correction need not be exact: the next one is of what it left."""


def solver_for(equation: WeightEquation) -> WeightSolver:
    """The strategy that suits the structure of an equation; measured in benchmarks/fetr_weights.py."""
    d, m = equation.moments.shape
    if equation.task.is_scalar:
        return TaskByTask()
    if not equation.moments.is_shared:
        return Kronecker() if d * m <= SMALL else DESCENT
    if not equation.feature.is_scalar and d >= LARGE and m**3 <= 2 * d**2:
        return FewTasks()
    return Diagonalised() if equation.feature.is_scalar or equation.is_singular or d < LARGE else Tridiagonalised()


def _whole(S: SpectralPrecision) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues and eigenvectors."""
    if S.is_whole:
        return S.values, S.vectors
    k = S.vectors.shape[1]
    others = np.linalg.qr(S.vectors, mode="complete")[0][:, k:] if k else np.eye(S.n)
    return np.append(S.values, np.full(S.n - k, S.rest)), np.hstack([S.vectors, others])
