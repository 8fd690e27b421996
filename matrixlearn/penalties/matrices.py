"""Penalties of a matrix by its singular values; the weights are its entries, row by row."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg.projections import onto_nuclear_ball
from matrixlearn.penalties.base import Penalty, at_least_zero


@dataclass(frozen=True)
class _SpectralNorm(Penalty):
    """A norm of the singular values of x, in the shape of a matrix."""

    mu: float
    shape: tuple[int, int]
    ridge: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", at_least_zero("mu", self.mu))
        object.__setattr__(self, "ridge", at_least_zero("ridge", self.ridge))
        shape = tuple(self.shape) if isinstance(self.shape, tuple | list) else ()
        if len(shape) != 2 or not all(isinstance(side, int | np.integer) and side > 0 for side in shape):
            msg = f"shape must be two numbers of rows and columns, each at least 1, got {self.shape!r}"
            raise ProblemError(msg)
        object.__setattr__(self, "shape", (int(shape[0]), int(shape[1])))

    @property
    def weight(self) -> float:
        return self.mu

    @property
    def rounding(self) -> float:
        return 4 * sum(self.shape) * min(self.shape) * EPS

    def check(self, d: int) -> None:
        rows, columns = self.shape
        if rows * columns != d:
            msg = f"shape {self.shape} holds {rows * columns} weights, and there are {d}"
            raise ProblemError(msg)

    def _values(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.svd(np.reshape(x, self.shape), compute_uv=False)

    def _with_values(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        U, s, Vh = np.linalg.svd(np.reshape(x, self.shape), full_matrices=False)
        return U, s, Vh

    @abstractmethod
    def _shrunk(self, s: np.ndarray, by: float) -> np.ndarray:
        """`shrink` of singular values."""

    def shrink(self, v: np.ndarray, by: float) -> np.ndarray:
        if by == 0:
            return v
        U, s, Vh = self._with_values(v)
        return np.reshape((U * self._shrunk(s, by)) @ Vh, np.shape(v))


@dataclass(frozen=True)
class Nuclear(_SpectralNorm):
    """psi(x) = ridge ||x||^2 / 2 + mu (sum of singular values),  psi*(v) = sum of (s_i(v) - mu)_+^2 / 2 ridge.

    Parameters
    ----------
    mu : float
        >= 0.
    shape : tuple of int
        (rows, columns) of the matrix whose entries, row by row, are x.
    ridge : float
        >= 0.
    """

    name = "nuclear"
    dual_factor = 1.0
    """Of the largest singular value beside ||v||."""

    def norm(self, x: np.ndarray) -> float:
        return float(np.sum(self._values(x)))

    def dual_norm(self, v: np.ndarray) -> float:
        return float(self._values(v)[0])

    def _shrunk(self, s: np.ndarray, by: float) -> np.ndarray:
        return np.maximum(s - by, 0.0)

    def subgradient(self, x: np.ndarray) -> np.ndarray:
        U, s, Vh = self._with_values(x)
        return np.reshape((U * (s > self.rounding * s[0])) @ Vh, np.shape(x))

    def norm_as_cvxpy(self, x: Any) -> Any:
        import cvxpy as cp

        return cp.normNuc(cp.reshape(x, self.shape, order="C"))


@dataclass(frozen=True)
class Spectral(_SpectralNorm):
    """psi(x) = ridge ||x||^2 / 2 + mu (largest singular value); the dual norm is the sum of singular values.

    Parameters
    ----------
    mu : float
        >= 0.
    shape : tuple of int
        (rows, columns) of the matrix whose entries, row by row, are x.
    ridge : float
        >= 0.
    """

    name = "spectral"

    @property
    def dual_factor(self) -> float:
        return float(np.sqrt(min(self.shape)))

    def norm(self, x: np.ndarray) -> float:
        return float(self._values(x)[0])

    def dual_norm(self, v: np.ndarray) -> float:
        return float(np.sum(self._values(v)))

    def _shrunk(self, s: np.ndarray, by: float) -> np.ndarray:
        return s - onto_nuclear_ball(s, by)

    def subgradient(self, x: np.ndarray) -> np.ndarray:
        U, s, Vh = self._with_values(x)
        return np.reshape(np.outer(U[:, 0], Vh[0]) * (s[0] > 0), np.shape(x))

    def norm_as_cvxpy(self, x: Any) -> Any:
        import cvxpy as cp

        return cp.sigma_max(cp.reshape(x, self.shape, order="C"))
