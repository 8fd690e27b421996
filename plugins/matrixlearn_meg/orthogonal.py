"""The linear system of a Newton step as a least-squares problem, by an orthogonal factorization.

    w + F^T du = M,    du = beta (F w + h)

are, with b^2 = beta and du = b z, the optimality conditions of

    min over w of ||b (F w + h)||^2 + ||w - M||^2,    -z the residual,   or of
    min over z of ||F^T b z - M||^2 + ||z - b h||^2,  -w the residual:

the one with fewer unknowns. Where more instances meet their labels than can be told apart, beta -> inf for all of them:
F^T beta F squares the condition, and w = M - F^T du multiplies the rounding of du by F -> inf. Here neither is formed.
The triangular factor of a Householder factorization and two passes of the corrected semi-normal equations are as good
as the orthogonal factor itself (Bjorck, "Numerical methods for least squares problems", 1996, Section 6.6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn_meg.stacks import from_coordinates, to_coordinates

PASSES = 2
HELD = 3e7
"""The most numbers of the matrix that is factorized."""
WIDE = 2000
"""The most unknowns."""


@dataclass(frozen=True, eq=False)
class Orthogonal:
    """The factorized least-squares problem."""

    stack: Any
    b: np.ndarray
    A: np.ndarray
    """b F over I, or (b F)^T over I."""
    upper: np.ndarray
    """The triangular factor."""

    @staticmethod
    def fits(stack: Any) -> bool:
        """Whether the matrix is of a size to be factorized."""
        unknowns, rows = min(stack.T, stack.m), stack.T + stack.m
        return unknowns <= WIDE and unknowns * rows <= HELD

    @classmethod
    def of(cls, stack: Any, R: np.ndarray, beta: np.ndarray) -> Orthogonal:
        b = np.sqrt(beta)
        F = stack.coordinates(R, slice(None)) * b[:, None]
        A = np.vstack([F.T, np.eye(stack.T)]) if stack.m >= stack.T else np.vstack([F, np.eye(stack.m)])
        order = np.argsort(-np.max(np.abs(A), axis=1))  # by size: small rows keep their digits
        return cls(stack, b, A, np.asarray(np.linalg.qr(A[order], mode="r")))

    def solution(self, M: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w and du."""
        T, dtype = self.stack.T, self.stack.dtype
        inside, hard = to_coordinates(M.astype(dtype)), self.b * h
        by_instances = self.stack.m >= T
        x, rest = np.zeros(len(self.upper)), np.concatenate([inside, hard] if by_instances else [-hard, inside])
        for _ in range(PASSES):
            move = self._normal(self.A.T @ rest)
            x, rest = x + move, rest - self.A @ move
        w, z = (rest[: len(inside)], x) if by_instances else (x, -rest[:T])
        return from_coordinates(w, self.stack.d, dtype), self.b * z

    def _normal(self, right: np.ndarray) -> np.ndarray:
        """(A^T A)^-1 right."""
        from scipy.linalg import solve_triangular

        half = solve_triangular(self.upper, right, trans=1, check_finite=False)
        return np.asarray(solve_triangular(self.upper, half, check_finite=False))
