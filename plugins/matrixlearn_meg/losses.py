"""Convex losses l(p, y) of a prediction p = tr(W X), each a small frozen object.

The square is the loss of the paper; its Section 6 asks for a robust one (Huber, 1981). All functions
take arrays or numbers. What a batch solve needs beside value and derivative: the second derivative
and the convex conjugate in p,

    l*(u, y) = sup over p of u p - l(p, y),

which turns any multipliers into a lower bound (`MEGRegression.bound_from_vector`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.problem import as_number


@runtime_checkable
class Loss(Protocol):
    """A convex function of the prediction."""

    def value(self, p: Any, y: Any) -> Any:
        """l(p, y)."""

    def derivative(self, p: Any, y: Any) -> Any:
        """dl / dp, or a subgradient."""

    def curvature(self, p: Any, y: Any) -> Any:
        """The second derivative, where there is one."""

    def conjugate(self, u: Any, y: Any) -> Any:
        """sup over p of u p - l(p, y), for u among the derivatives."""

    def smoothed(self, width: float) -> Loss:
        """A differentiable loss within ``width`` of this one, with derivatives among its own."""

    def drift(self, p: Any, y: Any) -> Any:
        """w d/dw of the derivative, w the width of a smoothed loss; 0 for one without a width."""

    def check_labels(self, y: Any) -> None:
        """Refuse labels that the loss has no meaning for."""


class RealLabels:
    """Any finite label; differentiable as it is."""

    def smoothed(self, width: float) -> Any:
        return self

    def drift(self, p: Any, y: Any) -> Any:
        return 0.0

    def check_labels(self, y: Any) -> None:
        """Every real label will do."""


@dataclass(frozen=True)
class Square(RealLabels):
    """l(p, y) = (p - y)^2, of Section 3.3."""

    def value(self, p: Any, y: Any) -> Any:
        return (p - y) ** 2

    def derivative(self, p: Any, y: Any) -> Any:
        return 2 * (p - y)

    def curvature(self, p: Any, y: Any) -> Any:
        return 2.0 + 0 * p

    def conjugate(self, u: Any, y: Any) -> Any:
        return u * y + u * u / 4


@dataclass(frozen=True)
class Huber(RealLabels):
    """l(p, y) = e^2 / 2 for |e| <= delta, else delta |e| - delta^2 / 2, with e = p - y.

    Parameters
    ----------
    delta : float
        Where the square turns into the absolute value, > 0.
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < as_number("delta", self.delta) < np.inf:
            msg = f"delta must be positive and finite, got {self.delta!r}"
            raise ProblemError(msg)

    def value(self, p: Any, y: Any) -> Any:
        size = np.abs(p - y)
        return np.where(size <= self.delta, size * size / 2, self.delta * (size - self.delta / 2))

    def derivative(self, p: Any, y: Any) -> Any:
        return np.clip(p - y, -self.delta, self.delta)

    def curvature(self, p: Any, y: Any) -> Any:
        return np.where(np.abs(p - y) <= self.delta, 1.0, 0.0)

    def conjugate(self, u: Any, y: Any) -> Any:
        return u * y + u * u / 2


@dataclass(frozen=True)
class Absolute(RealLabels):
    """l(p, y) = |p - y|."""

    def value(self, p: Any, y: Any) -> Any:
        return np.abs(p - y)

    def derivative(self, p: Any, y: Any) -> Any:
        return np.sign(p - y)

    def curvature(self, p: Any, y: Any) -> Any:
        return 0.0 * p

    def conjugate(self, u: Any, y: Any) -> Any:
        return u * y

    def smoothed(self, width: float) -> Any:
        return RoundedAbsolute(width)


@dataclass(frozen=True)
class RoundedAbsolute(RealLabels):
    """l(p, y) = sqrt(e^2 + w^2) with e = p - y: at most w above |e|, curved everywhere, as Newton's method wants it."""

    width: float

    def value(self, p: Any, y: Any) -> Any:
        return np.hypot(p - y, self.width)

    def derivative(self, p: Any, y: Any) -> Any:
        return (p - y) / np.hypot(p - y, self.width)

    def curvature(self, p: Any, y: Any) -> Any:
        return self.width**2 / np.hypot(p - y, self.width) ** 3

    def conjugate(self, u: Any, y: Any) -> Any:
        return u * y - self.width * np.sqrt(np.maximum(1 - u * u, 0.0))

    def drift(self, p: Any, y: Any) -> Any:
        return -(p - y) * self.curvature(p, y)


@dataclass(frozen=True)
class Logistic:
    """l(p, y) = log(1 + exp(-y p)) for labels y = -1 or 1."""

    def value(self, p: Any, y: Any) -> Any:
        return np.logaddexp(0.0, -y * p)

    def derivative(self, p: Any, y: Any) -> Any:
        return -y * np.exp(-np.logaddexp(0.0, y * p))

    def curvature(self, p: Any, y: Any) -> Any:
        return np.exp(-np.logaddexp(0.0, y * p) - np.logaddexp(0.0, -y * p))

    def conjugate(self, u: Any, y: Any) -> Any:
        s = np.clip(-u * y, 0.0, 1.0)
        return _xlogx(s) + _xlogx(1 - s)

    def smoothed(self, width: float) -> Any:
        return self

    def drift(self, p: Any, y: Any) -> Any:
        return 0.0

    def check_labels(self, y: Any) -> None:
        if not np.all(np.abs(y) == 1):
            msg = f"y must hold labels -1 and 1 for the logistic loss, got {np.unique(y)[:4].tolist()}"
            raise ProblemError(msg)


def _xlogx(s: Any) -> Any:
    return s * np.log(np.where(s > 0, s, 1.0))


LOSSES = {"square": Square, "absolute": Absolute, "huber": Huber, "logistic": Logistic}


def loss_named(loss: Any, delta: float = 1.0) -> Any:
    """The loss of a name, ``delta`` being Huber's; a `Loss` itself passes."""
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        msg = f"loss must be one of {sorted(LOSSES)} or a Loss, got {loss!r}"
        raise ProblemError(msg)
    return Huber(delta) if loss == "huber" else LOSSES[loss]()
