"""Losses that are the conjugate of a quadratic on an interval: all of the usual ones but the logistic.

    f*(y, b) = b y + kappa y^2 / 2     on  lower(b) <= y <= upper(b)
    f(p, b)  = y e - kappa y^2 / 2,    e = p - b,   y = e / kappa moved into the interval

kappa > 0 rounds the corners of f: f is 1/kappa-smooth. With kappa = 0, f has a corner at p = b.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses.base import Loss, require_signs
from matrixlearn.validation import as_number


class PiecewiseQuadratic(Loss):
    """f(p, b) = max over y in [lower(b), upper(b)] of y (p - b) - kappa y^2 / 2.

    A subclass gives `kappa` and `domain`.
    """

    @property
    @abstractmethod
    def kappa(self) -> float:
        """The curvature of f* inside its domain, >= 0."""

    def gradient(self, p: Any, b: Any) -> Any:
        e = p - b
        lower, upper = self.domain(b)
        if self.kappa == 0:
            return np.where(e < 0, lower, np.where(e > 0, upper, 0.0))
        return np.clip(e / self.kappa, lower, upper)

    def value(self, p: Any, b: Any) -> Any:
        # |e| >= kappa |y|, so that the difference keeps at least half of its first term
        e, y = p - b, self.gradient(p, b)
        return y * (e - self.kappa * y / 2)

    def curvature(self, p: Any, b: Any) -> Any:
        if self.kappa == 0:
            return np.zeros(np.broadcast(p, b).shape)
        y = (p - b) / self.kappa
        lower, upper = self.domain(b)
        return np.where((lower < y) & (y < upper), 1 / self.kappa, 0.0)

    def conjugate(self, y: Any, b: Any) -> Any:
        lower, upper = self.domain(b)
        return np.where((lower <= y) & (y <= upper), y * (b + self.kappa * y / 2), np.inf)

    def inverse(self, y: Any, above: Any, below: Any, b: Any) -> Any:
        return b + self.kappa * y

    def inverse_slope(self, y: Any, above: Any, below: Any) -> Any:
        return np.full(np.shape(y), self.kappa)

    def prox_conjugate(self, y: Any, step: Any, b: Any) -> Any:
        return np.clip((y - step * b) / (1 + step * self.kappa), *self.domain(b))

    def prox(self, p: Any, step: Any, b: Any) -> Any:
        return p - step * np.clip((p - b) / (step + self.kappa), *self.domain(b))

    @property
    def smoothness(self) -> float:
        return 1 / self.kappa if self.kappa > 0 else np.inf

    @property
    def strong_convexity(self) -> float:
        return 0.0


def _positive(name: str, value: Any) -> float:
    number = as_number(name, value)
    if not 0 < number < np.inf:
        msg = f"{name} must be positive and finite, got {value!r}"
        raise ProblemError(msg)
    return number


@dataclass(frozen=True)
class Square(PiecewiseQuadratic):
    """f(p, b) = weight (p - b)^2 / 2,  f*(y, b) = b y + y^2 / (2 weight).

    Parameters
    ----------
    weight : float
        > 0; 2 for a square without the half.
    """

    weight: float = 1.0

    name = "square"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", _positive("weight", self.weight))

    @property
    def kappa(self) -> float:
        return 1 / self.weight

    @property
    def strong_convexity(self) -> float:
        return self.weight

    def domain(self, b: Any) -> tuple[Any, Any]:
        return -np.inf, np.inf

    def value(self, p: Any, b: Any) -> Any:
        e = p - b
        return self.weight * e * e / 2

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return self.weight / 2 * cp.square(p - b)


@dataclass(frozen=True)
class Huber(PiecewiseQuadratic):
    """f(p, b) = e^2 / 2 for |e| <= delta, else delta |e| - delta^2 / 2, with e = p - b.

    f*(y, b) = b y + y^2 / 2 on |y| <= delta.

    Parameters
    ----------
    delta : float
        Where the square turns into the absolute value, > 0.
    """

    delta: float = 1.0

    name = "huber"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _positive("delta", self.delta))

    @property
    def kappa(self) -> float:
        return 1.0

    def domain(self, b: Any) -> tuple[Any, Any]:
        return -self.delta, self.delta

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return cp.huber(p - b, self.delta) / 2


@dataclass(frozen=True)
class Absolute(PiecewiseQuadratic):
    """f(p, b) = |p - b|,  f*(y, b) = b y on |y| <= 1."""

    name = "absolute"

    @property
    def kappa(self) -> float:
        return 0.0

    def domain(self, b: Any) -> tuple[Any, Any]:
        return -1.0, 1.0

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return cp.abs(p - b)


class _Margin(PiecewiseQuadratic):
    """A loss of the margin b p, for labels b = -1 or 1: y has the sign of -b."""

    least = -1.0
    """The least b y in the domain."""

    def domain(self, b: Any) -> tuple[Any, Any]:
        return np.where(np.asarray(b) > 0, self.least, 0.0), np.where(np.asarray(b) > 0, 0.0, -self.least)

    def check_labels(self, b: Any, name: str = "y") -> None:
        require_signs(name, b, self.name)


@dataclass(frozen=True)
class Hinge(_Margin):
    """f(p, b) = max(0, 1 - b p),  f*(y, b) = b y on -1 <= b y <= 0, labels b = -1 or 1."""

    name = "hinge"

    @property
    def kappa(self) -> float:
        return 0.0

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return cp.pos(1 - cp.multiply(b, p))


@dataclass(frozen=True)
class SmoothedHinge(_Margin):
    """f(p, b) = 0, t^2 / (2 gamma) for 0 < t < gamma, else t - gamma / 2, with t = 1 - b p, labels b = -1 or 1.

    f*(y, b) = b y + gamma y^2 / 2 on -1 <= b y <= 0.

    Parameters
    ----------
    gamma : float
        The width of the rounded corner, > 0.
    """

    gamma: float = 1.0

    name = "smoothed-hinge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _positive("gamma", self.gamma))

    @property
    def kappa(self) -> float:
        return self.gamma

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return cp.huber(cp.pos(1 - cp.multiply(b, p)), self.gamma) / (2 * self.gamma)


@dataclass(frozen=True)
class SquaredHinge(_Margin):
    """f(p, b) = max(0, 1 - b p)^2 / 2,  f*(y, b) = b y + y^2 / 2 on b y <= 0, labels b = -1 or 1."""

    name = "squared-hinge"
    least = -np.inf

    @property
    def kappa(self) -> float:
        return 1.0

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return cp.square(cp.pos(1 - cp.multiply(b, p))) / 2
