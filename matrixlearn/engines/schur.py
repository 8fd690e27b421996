"""The Schur system that interior methods end in, solved and refined: dense, symmetric, positive definite.

M x = b               or, with a row,        M x + theta w = b,   w.x - kappa theta = k

where Y has an equality w.y = T (kappa = 0) or a bound w.y <= T, eliminated, whose compliance is kappa > 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.clock import ask_the_clock
from matrixlearn.linalg._lapack import lapack
from matrixlearn.maps import Basis

REFINEMENTS = 2
"""Steps of iterative refinement: cheap beside the factorization."""

TINY = float(np.finfo(float).tiny)


class LinearSystem(ABC):
    """A positive definite matrix M with a solver, made exact by iterative refinement."""

    @abstractmethod
    def product(self, x: np.ndarray) -> np.ndarray:
        """M x."""

    @abstractmethod
    def backsolve(self, b: np.ndarray) -> np.ndarray:
        """M^{-1} b, but for rounding and a ridge."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M^{-1} b, refined."""
        x = self.backsolve(b)
        for _ in range(REFINEMENTS):
            x = x + self.backsolve(b - self.product(x))
        return x


@dataclass(frozen=True)
class BorderedSystem:
    """M x + theta w = b and w.x - kappa theta = k; refined as one system, which is far better conditioned than M alone.

    Attributes
    ----------
    system : LinearSystem
    row : ndarray, shape (m + 1,)
        w.
    compliance : float
        kappa.
    along : ndarray, shape (m + 1,)
        M^{-1} w.
    """

    system: LinearSystem
    row: np.ndarray
    compliance: float
    along: np.ndarray

    @classmethod
    def of(cls, system: LinearSystem, row: np.ndarray, compliance: float) -> BorderedSystem:
        return cls(system, row, compliance, system.backsolve(row))

    def solve(self, b: np.ndarray, missing: float) -> tuple[np.ndarray, float]:
        """(x, theta), for k = ``missing``."""
        system, row, along = self.system, self.row, self.along
        curvature = float(row @ along) + self.compliance
        plain = system.backsolve(b)
        theta = (float(row @ plain) - missing) / curvature
        x = plain - theta * along
        for _ in range(REFINEMENTS):
            plain = system.backsolve(b - system.product(x) - theta * row)
            change = (float(row @ (plain + x)) - missing - self.compliance * theta) / curvature
            x = x + plain - change * along
            theta += change
        return x, theta


@dataclass(frozen=True)
class SchurSystem(LinearSystem):
    """M with its Cholesky factorization, scaled to a unit diagonal."""

    matrix: np.ndarray
    jacobi: np.ndarray
    factor: Any

    @classmethod
    def of(cls, matrix: np.ndarray) -> SchurSystem | None:
        """Factorize, with the smallest ridge that makes M definite; None where none does."""
        size = np.diag(matrix)
        if not np.isfinite(size).all():
            return None
        empty = np.abs(size) <= TINY  # a row that says nothing of x
        jacobi = 1.0 / np.sqrt(np.where(size > TINY, size, 1.0))
        ask_the_clock()
        for ridge in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is no factor
                scaled = matrix * jacobi
                scaled *= jacobi[:, None]
            scaled.flat[:: len(scaled) + 1] += ridge + empty
            # LAPACK reads columns: the transpose is in its order
            factor, info = lapack().dpotrf(scaled.T, lower=1, overwrite_a=1, clean=0)
            if info == 0 and np.isfinite(factor.diagonal()).all():
                return cls(matrix, jacobi, factor)
        return None

    def product(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x

    def lower(self) -> np.ndarray:
        """L with L L^T = M, of what was factorized."""
        return np.asarray(np.tril(self.factor) / self.jacobi[:, None])

    def backsolve(self, b: np.ndarray) -> np.ndarray:
        return np.asarray(self.jacobi * lapack().dpotrs(self.factor, self.jacobi * b, lower=1)[0])


@dataclass(frozen=True)
class SpannedSystem(LinearSystem):
    """M = G B G^T + Diag(d, 0), G = diag(E, 1), where the A_i = sum_b E_ib B_b have few coordinates: m k^2 flops.

    Woodbury's formula for all rows at once would add the 1/d of active rows, which grow without end, to those of the
    others, and lose the latter. The k rows of least d, "near" their bounds' end, stay as they are; the others, of
    E_I and d_I, leave:

        B' = (B^{-1} + diag(N, 0))^{-1} = L (I + L^T diag(N, 0) L)^{-1} L^T,     N = E_I^T D_I^{-1} E_I,  B = L L^T,
        (G_A B' G_A^T + D_A) x_A = b_A - G_A B' g,                          g = E_I^T D_I^{-1} b_I,
        v = B' (G_A^T x_A + g),    x_I = D_I^{-1} (b_I - E_I v)
    """

    core: np.ndarray
    """B, bordered by the column of t, (k + 1, k + 1)."""
    diagonal: np.ndarray
    span: Basis
    near: np.ndarray
    far: np.ndarray
    reduced: np.ndarray
    """B'."""
    members: SchurSystem

    @classmethod
    def of(cls, core: np.ndarray, diagonal: np.ndarray, span: Basis) -> SpannedSystem | None:
        """Factorize; None where a system is not definite."""
        E = span.coordinates
        size = np.einsum("ij,ij->i", E, E)
        d = np.maximum(diagonal, 1e-14 * np.max(np.diag(core)[:-1]) * size + TINY)  # free multipliers have none
        k = E.shape[1]
        order = np.argpartition(d / np.maximum(size, TINY), k)
        near, far = order[:k], order[k:]
        whole = SchurSystem.of(core)
        if whole is None:
            return None
        L = whole.lower()
        root = (E[far] / np.sqrt(d[far])[:, None]) @ L[:-1]
        inside = SchurSystem.of(root.T @ root + np.eye(k + 1))
        if inside is None:
            return None
        Z = lapack().dtrtrs(inside.lower(), L.T, lower=1)[0]
        reduced = Z.T @ Z
        G = _bordered(E[near])
        matrix = G @ reduced @ G.T
        matrix[np.arange(k), np.arange(k)] += diagonal[near]
        members = SchurSystem.of((matrix + matrix.T) / 2)
        return None if members is None else cls(core, d, span, near, far, reduced, members)

    def product(self, x: np.ndarray) -> np.ndarray:
        inner = self.core @ np.append(self.span.summed(x[:-1]), x[-1])
        return np.append(self.span.spread(inner[:-1]) + self.diagonal * x[:-1], inner[-1])

    def backsolve(self, b: np.ndarray) -> np.ndarray:
        E, near, far = self.span.coordinates, self.near, self.far
        gone = np.append((b[far] / self.diagonal[far]) @ E[far], 0.0)
        answer = self.reduced @ gone
        solved = self.members.backsolve(np.append(b[near] - E[near] @ answer[:-1], b[-1] - answer[-1]))
        answer = answer + self.reduced @ np.append(solved[:-1] @ E[near], solved[-1])
        x = np.empty_like(b)
        x[near], x[-1] = solved[:-1], solved[-1]
        x[far] = (b[far] - E[far] @ answer[:-1]) / self.diagonal[far]
        return x


def _bordered(E: np.ndarray) -> np.ndarray:
    """diag(E, 1)."""
    out = np.zeros((E.shape[0] + 1, E.shape[1] + 1))
    out[:-1, :-1], out[-1, -1] = E, 1.0
    return out


def linear_system(
    core: np.ndarray, diagonal: np.ndarray, span: Basis | None, noise: Callable[[], np.ndarray]
) -> LinearSystem | None:
    """M = the bordered core, spread over the rows, and the diagonal of the bounds; None where it is not definite.

    Rows that X leaves no room for have a tiny diagonal, all cancelled: where M is not definite for that, they get
    ``noise``, the rounding of what was cancelled, (m,), so that their y stay where they are.
    """
    if span is not None:
        return SpannedSystem.of(core, diagonal, span)
    places = np.arange(len(diagonal))
    core[places, places] += diagonal
    system = SchurSystem.of(core)
    if system is None:
        core[places, places] += noise()
        system = SchurSystem.of(core)
    return system
