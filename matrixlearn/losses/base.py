"""The contract of a loss: a convex function of one prediction, and its conjugate.

    f(p, b),     f*(y, b) = sup over p of y p - f(p, b),     y = f'(p) iff p = (f*)'(y)

All functions take arrays, or numbers, one entry a sample, and broadcast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from matrixlearn._spelled import spelled
from matrixlearn.exceptions import ProblemError


class Loss(ABC):
    """A convex function f(p, b) >= 0 of the prediction p, the label b given; b is a number, or -1 or 1."""

    name: ClassVar[str] = ""
    """The name in `LOSSES`."""

    def __str__(self) -> str:
        """The name and the parameters, as `loss_named` reads them."""
        return spelled(self)

    @abstractmethod
    def value(self, p: Any, b: Any) -> Any:
        """f(p, b), to a few units in the last place of itself where p is exact."""

    @abstractmethod
    def gradient(self, p: Any, b: Any) -> Any:
        """f'(p, b); at a corner the subgradient nearest to 0."""

    @abstractmethod
    def curvature(self, p: Any, b: Any) -> Any:
        """f''(p, b); 0 at a corner."""

    @abstractmethod
    def domain(self, b: Any) -> tuple[Any, Any]:
        """The ends (lower, upper) of {y: f*(y, b) < inf}, the closed range of f': lower <= 0 <= upper."""

    @abstractmethod
    def conjugate(self, y: Any, b: Any) -> Any:
        """f*(y, b) = sup over p of y p - f(p, b); inf outside of `domain`."""

    @abstractmethod
    def prox_conjugate(self, y: Any, step: Any, b: Any) -> Any:
        """argmin over z of step f*(z, b) + (z - y)^2 / 2, for step > 0; a point of `domain`."""

    def prox(self, p: Any, step: Any, b: Any) -> Any:
        """argmin over u of step f(u, b) + (u - p)^2 / 2, for step > 0.

        By Moreau's identity u = p - step z, with z = prox of f* / step at p / step.
        """
        return p - step * self.prox_conjugate(p / step, 1 / step, b)

    @abstractmethod
    def inverse(self, y: Any, above: Any, below: Any, b: Any) -> Any:
        """(f*)'(y, b): the p with f'(p, b) = y, for y inside of `domain`.

        ``above`` and ``below`` are the distances of y from the two ends: near an end, y alone has too few digits.
        """

    @abstractmethod
    def inverse_slope(self, y: Any, above: Any, below: Any) -> Any:
        """(f*)''(y, b) there; 0 where f has a corner."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """L, the least with f'' <= L; inf where f has a corner. f* is 1/L-strongly convex."""

    @property
    @abstractmethod
    def strong_convexity(self) -> float:
        """The largest m with f'' >= m everywhere; 0 for all but the square."""

    def check_labels(self, b: Any, name: str = "y") -> None:  # noqa: B027  # right as it is
        """Refuse labels, the argument ``name``, that mean nothing to the loss; by default every number will do.

        Raises
        ------
        ProblemError
            For those; the message shows some.
        """

    @abstractmethod
    def as_cvxpy(self, p: Any, b: Any) -> Any:
        """The vector of f(p_i, b_i) as an expression of cvxpy (imported here, late)."""


def require_signs(name: str, b: Any, loss: str) -> None:
    """Labels -1 and 1, for the loss of this name.

    Raises
    ------
    ProblemError
        For others; the message shows some.
    """
    if not np.all(np.abs(b) == 1):
        msg = f"{name} must hold labels -1 and 1 for the {loss} loss, got {np.unique(b)[:4].tolist()}"
        raise ProblemError(msg)
