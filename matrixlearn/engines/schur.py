"""The Schur system that interior methods end in, solved and refined: dense, symmetric, positive definite.

M x = b                     or, where Y has an equality w.y = T,          M x + theta w = b,   w.x = k
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

REFINEMENTS = 2
"""Steps of iterative refinement: cheap beside the factorization."""


@dataclass(frozen=True)
class SchurSystem:
    """M with its Cholesky factorization, scaled to a unit diagonal."""

    matrix: np.ndarray
    jacobi: np.ndarray
    factor: Any

    @classmethod
    def of(cls, matrix: np.ndarray) -> SchurSystem | None:
        """Factorize, with the smallest ridge that makes M definite; None where none does."""
        from scipy.linalg import cho_factor  # late: a third of the package's import time

        jacobi = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
        for ridge in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
            scaled = matrix * jacobi
            scaled *= jacobi[:, None]
            scaled[np.diag_indices_from(scaled)] += ridge
            try:
                return cls(matrix, jacobi, cho_factor(scaled, lower=True, overwrite_a=True, check_finite=True))
            except (np.linalg.LinAlgError, ValueError):
                continue
        return None

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M^{-1} b, refined."""
        x = self._backsolve(b)
        for _ in range(REFINEMENTS):
            x = x + self._backsolve(b - self.matrix @ x)
        return x

    def solve_on_row(self, b: np.ndarray, row: np.ndarray, missing: float) -> tuple[np.ndarray, float]:
        """(x, theta) with M x + theta w = b and w.x = missing; refined as one system, which is far better
        conditioned than M alone.
        """
        along = self._backsolve(row)
        curvature = float(row @ along)
        x, theta = np.zeros_like(b), 0.0
        for _ in range(1 + REFINEMENTS):
            plain = self._backsolve(b - self.matrix @ x - theta * row)
            change = (float(row @ plain) - (missing - float(row @ x))) / curvature
            x = x + plain - change * along
            theta += change
        return x, theta

    def _backsolve(self, b: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_solve

        return self.jacobi * cho_solve(self.factor, self.jacobi * b)
