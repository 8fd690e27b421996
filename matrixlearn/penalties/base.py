"""The contract of a penalty: a ridge plus a norm.

    psi(x)  = ridge ||x||^2 / 2 + mu N(x),                      N a norm, N° its dual norm
    psi*(v) = ||v - the nearest point of {N° <= mu}||^2 / 2 ridge = ||prox of mu N at v||^2 / 2 ridge
    psi*(v) = 0 where N°(v) <= mu, else inf                     with ridge = 0

The second line is Moreau's: v less its projection on the dual ball is the proximal map of the norm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from matrixlearn._array import EPS
from matrixlearn._spelled import spelled
from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_number


class Penalty(ABC):
    """psi(x) = ridge ||x||^2 / 2 + mu N(x), a convex function of the weights with psi(0) = 0.

    A subclass gives the norm by `norm`, `dual_norm`, `shrink`, `subgradient`, `norm_as_cvxpy` and its `weight`.
    """

    name: ClassVar[str] = ""
    """The name in `PENALTIES`."""

    ridge: float
    """>= 0."""

    def __str__(self) -> str:
        """The name and the parameters, as `penalty_named` reads them."""
        return spelled(self)

    # -- the norm -----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def weight(self) -> float:
        """mu >= 0."""

    @abstractmethod
    def norm(self, x: np.ndarray) -> float:
        """N(x)."""

    @abstractmethod
    def dual_norm(self, v: np.ndarray) -> float:
        """N°(v) = max of v.x over N(x) <= 1."""

    @abstractmethod
    def shrink(self, v: np.ndarray, by: float) -> np.ndarray:
        """argmin over u of by N(u) + ||u - v||^2 / 2."""

    @abstractmethod
    def subgradient(self, x: np.ndarray) -> np.ndarray:
        """A subgradient of N at x; 0 at 0."""

    @abstractmethod
    def norm_as_cvxpy(self, x: Any) -> Any:
        """N(x) as an expression of cvxpy, x a vector variable (cvxpy is imported here, late)."""

    @property
    @abstractmethod
    def dual_factor(self) -> float:
        """The least c with N°(v) <= c ||v||."""

    @property
    @abstractmethod
    def rounding(self) -> float:
        """The part of itself, beside that of a sum of d terms, by which psi(x) may be off; `dual_norm` and `shrink` may
        be off by that part of ||v||.
        """

    def check(self, d: int) -> None:  # noqa: B027  # right as it is
        """Refuse weights of another size than d; by default every size will do.

        Raises
        ------
        ProblemError
            The message names what has another size.
        """

    # -- what follows -------------------------------------------------------------------------------

    def value(self, x: np.ndarray) -> float:
        """psi(x)."""
        return self.ridge / 2 * float(x @ x) + (self.weight * self.norm(x) if self.weight > 0 else 0.0)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """A subgradient of psi at x; 0 at 0."""
        return self.ridge * x + self.weight * self.subgradient(x)

    def conjugate(self, v: np.ndarray) -> float:
        """psi*(v) = sup over x of v.x - psi(x)."""
        if self.ridge == 0:
            return 0.0 if self.dual_norm(v) <= self.weight else np.inf
        inside = self.shrink(v, self.weight)
        return float(inside @ inside) / (2 * self.ridge)

    def conjugate_within(self, v: np.ndarray, error: float) -> float:
        """A number that psi* exceeds at no vector within ``error`` (>= 0) of v, rounding counted: for proofs."""
        # prox moves no two points apart: ||prox(w)|| <= ||prox(v)|| + ||w - v||
        error = error + self.rounding * float(np.linalg.norm(v))
        if self.ridge == 0:
            return 0.0 if self.dual_norm(v) + self.dual_factor * error <= self.weight else np.inf
        reach = float(np.linalg.norm(self.shrink(v, self.weight))) * (1 + v.size * EPS) + error
        return reach**2 / (2 * self.ridge) * (1 + 4 * EPS)

    def domain_scale(self, v: np.ndarray, error: float) -> float:
        """The largest t <= 1, to rounding, for which psi*(t w) is finite at all w within ``error`` of v."""
        if self.ridge > 0:
            return 1.0
        reach = self.dual_norm(v) + self.dual_factor * (error + self.rounding * float(np.linalg.norm(v)))
        return 1.0 if reach <= self.weight else self.weight / reach * (1 - 8 * EPS)

    def conjugate_gradient(self, v: np.ndarray) -> np.ndarray:
        """The maximizer x of v.x - psi(x), for psi strongly convex."""
        return self.shrink(v, self.weight) / self.ridge

    def prox(self, x: np.ndarray, step: float) -> np.ndarray:
        """argmin over u of step psi(u) + ||u - x||^2 / 2, for step > 0."""
        scale = 1 + step * self.ridge
        return self.shrink(x / scale, step * self.weight / scale)

    def prox_conjugate(self, v: np.ndarray, step: float) -> np.ndarray:
        """argmin over z of step psi*(z) + ||z - v||^2 / 2 = v - step prox of psi / step at v / step."""
        return v - step * self.prox(v / step, 1 / step)

    @property
    def smoothness(self) -> float:
        """The largest curvature of psi; inf where psi has a corner."""
        return np.inf if self.weight > 0 else self.ridge

    @property
    def strong_convexity(self) -> float:
        """The least curvature of psi."""
        return self.ridge

    @property
    def is_coercive(self) -> bool:
        """Whether psi grows in every direction, so that psi* is finite around 0."""
        return self.ridge > 0 or self.weight > 0

    def as_cvxpy(self, x: Any) -> Any:
        """psi(x) as an expression of cvxpy, x a vector variable (cvxpy is imported here, late)."""
        import cvxpy as cp

        square = self.ridge / 2 * cp.sum_squares(x)
        return square + self.weight * self.norm_as_cvxpy(x) if self.weight > 0 else square


def at_least_zero(name: str, value: Any) -> float:
    """A finite number >= 0.

    Raises
    ------
    ProblemError
        For others.
    """
    number = as_number(name, value)
    if not 0 <= number < np.inf:
        msg = f"{name} must be a finite number >= 0, got {value!r}"
        raise ProblemError(msg)
    return number
