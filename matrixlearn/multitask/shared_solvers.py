"""Solvers of the weight equation where tasks share their instances, by a form in which it is (nearly) diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask.equation import WeightEquation
from matrixlearn.multitask.precision import SpectralPrecision
from matrixlearn.multitask.solvers import SharedSolver
from matrixlearn.validation import as_array, as_hermitian, require_real


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
    """S2."""
    eta: float
    """The weight of the prior."""

    @classmethod
    def of(cls, equation: WeightEquation) -> Diagonalisation:
        """That of an equation; with the mean Gram matrix where each task has its own."""
        moments, prior, S1 = equation.moments, equation.prior, equation.prior.feature
        if S1.is_scalar:
            values, E = moments.spectrum
            return cls(E / np.sqrt(S1.rest), values / S1.rest, prior.right, prior.eta)
        root = S1.power(-0.5)
        pencil = root @ moments.mean_gram @ root
        values, U = np.linalg.eigh((pencil + pencil.T) / 2)
        return cls(root @ U, np.maximum(values, 0.0), prior.right, prior.eta)

    def solve(self, R: np.ndarray) -> np.ndarray:
        """The solution D, (d, m)."""
        Q, rest = self.task.vectors, self.task.rest
        turned = self.basis.T @ R
        inside = turned @ Q
        Z = (inside / self._divisor) @ Q.T
        if not self.task.is_whole:
            Z += (turned - inside @ Q.T) / (self.values + self.eta * rest)[:, None]
        return np.asarray(self.basis @ Z)

    @cached_property
    def _divisor(self) -> np.ndarray:
        """lambda_i + eta mu_j; infinite where both are 0: there the equation asks nothing."""
        size = self.values[:, None] + self.eta * self.task.values
        return np.where(size > self.values[-1] * EPS * len(self.values), size, np.inf)


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

    def objection(self, equation: WeightEquation) -> str:
        if equation.prior.is_singular:
            return f"{self.name} needs a nonsingular S2, which a shared mean has not"
        return super().objection(equation)

    def __call__(self, equation: WeightEquation, R: np.ndarray) -> np.ndarray:
        (a, V), (mu, Q) = _whole(equation.prior.feature), _whole(equation.prior.right)
        root = np.sqrt(a)
        pencil = (V.T @ equation.moments.gram @ V) / np.outer(root, root)
        Z = _shifted(pencil, equation.prior.eta * mu, (V.T @ R @ Q) / root[:, None])
        return np.asarray(V @ (Z / root[:, None]) @ Q.T)


def solve_weights(gram: np.ndarray, S1: np.ndarray, S2: np.ndarray, cross: np.ndarray, eta: float = 1.0) -> np.ndarray:
    """W with gram W + eta S1 W S2 = cross, for precisions that come as matrices.

    With S1 = L L^T and S2 = Q diag(mu) Q^T, L^-1 gram L^-T = H T H^T takes Householder's tridiagonal form, as in
    `Tridiagonalised`: of the larger side no eigenvalue is computed at all.

    Parameters
    ----------
    gram : array, shape (d, d)
        X^T X, positive semidefinite.
    S1, S2 : arrays, shapes (d, d) and (m, m)
        Positive definite.
    cross : array, shape (d, m)
        X^T Y.
    eta : float

    Returns
    -------
    array, shape (d, m)

    Raises
    ------
    ProblemError
        For matrices that are not symmetric, of other shapes, or not positive definite.
    """
    from scipy.linalg import lapack, solve_triangular

    gram, S1, S2, cross = (
        np.asarray(require_real(name, as_array(name, value)))
        for name, value in (("gram", gram), ("S1", S1), ("S2", S2), ("cross", cross))
    )
    gram, S1, S2 = (np.asarray(as_hermitian(name, value)) for name, value in (("gram", gram), ("S1", S1), ("S2", S2)))
    if len(gram) != len(S1) or cross.shape != (len(S1), len(S2)):
        msg = f"cross must have shape {(len(S1), len(S2))} and gram that of S1, got {cross.shape} and {gram.shape}"
        raise ProblemError(msg)
    mu, Q = np.linalg.eigh(S2)
    L, failed = lapack.dpotrf(S1, lower=1, clean=1)
    if failed or not mu[0] > 0:
        msg = f"S1 and S2 must be positive definite, got {'S1' if failed else 'S2'} that is not"
        raise ProblemError(msg)
    if not 0 < eta < np.inf:
        msg = f"eta must be positive and finite, got {eta!r}"
        raise ProblemError(msg)
    lower, _ = lapack.dsygst(gram, L, lower=1)
    pencil = np.tril(lower) + np.tril(lower, -1).T
    Z = _shifted(pencil, eta * mu, solve_triangular(L, cross @ Q, lower=True))
    return np.asarray(solve_triangular(L, Z, lower=True, trans="T") @ Q.T)


def _shifted(pencil: np.ndarray, shifts: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(pencil + shift_j I)^-1 of column j of right, for all j by one tridiagonal form of the positive pencil."""
    from scipy.linalg import lapack

    d, m = right.shape
    if d == 1:
        return np.asarray(right / (pencil + shifts))
    reflections, main, side, scales, _ = lapack.dsytrd(pencil, lower=1, lwork=64 * d, overwrite_a=1)
    across = np.asfortranarray(reflections[1:, :-1])  # the first coordinate stays

    def turned(transposed: str, A: np.ndarray) -> np.ndarray:
        return np.vstack([A[:1], lapack.dormqr("L", transposed, across, scales, A[1:], lwork=64 * m)[0]])

    return turned("N", _tridiagonal(main[:, None] + shifts, side, turned("T", right)))


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
        S1, eta = equation.prior.feature, equation.prior.eta
        values, E = equation.moments.spectrum
        mu, Q = _whole(equation.prior.right)
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


def _whole(S: SpectralPrecision) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues and eigenvectors."""
    if S.is_whole:
        return S.values, S.vectors
    k = S.vectors.shape[1]
    others = np.linalg.qr(S.vectors, mode="complete")[0][:, k:] if k else np.eye(S.n)
    return np.append(S.values, np.full(S.n - k, S.rest)), np.hstack([S.vectors, others])
