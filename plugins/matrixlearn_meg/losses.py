"""Convex losses l(p, y) of a prediction p = tr(W X), each a small frozen object.

The square is the loss of the paper; its Section 6 asks for a robust one (Huber, 1981). All functions
take arrays or numbers. Online learning needs value and derivative. A batch solve works in the derivative v = l'(p, y):
with the convex conjugate in p,

    l*(v, y) = sup over p of v p - l(p, y),

which turns any multipliers into a lower bound (`MEGRegression.bound_from_vector`), and with (l*)', which inverts l'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_number


@runtime_checkable
class Loss(Protocol):
    """A convex function of the prediction, as `MEGLearner` takes it."""

    def value(self, p: Any, y: Any) -> Any:
        """l(p, y)."""

    def derivative(self, p: Any, y: Any) -> Any:
        """dl / dp, or a subgradient."""

    def check_labels(self, y: Any) -> None:
        """Refuse labels that the loss has no meaning for."""


class BatchLoss(Loss, Protocol):
    """A loss with its conjugate, as `MEGRegression` takes it."""

    def conjugate(self, v: Any, y: Any) -> Any:
        """sup over p of v p - l(p, y), for v among the derivatives."""

    def ends(self, y: Any) -> tuple[Any, Any]:
        """The ends of the range of l', infinite where it has none."""

    def inverse(self, v: Any, above: Any, below: Any, y: Any) -> Any:
        """(l*)'(v): p with l'(p, y) = v strictly between the ends, ``above`` and ``below`` its distances from them."""

    def inverse_slope(self, v: Any, above: Any, below: Any) -> Any:
        """(l*)''(v); 0 at a corner of l."""


class RealLabels:
    """Any finite label."""

    def check_labels(self, y: Any) -> None:
        """Every real label will do."""


@dataclass(frozen=True)
class Square(RealLabels, BatchLoss):
    """l(p, y) = (p - y)^2, of Section 3.3."""

    def value(self, p: Any, y: Any) -> Any:
        e = p - y
        return e * e  # inf where it overflows: a power of floats raises

    def derivative(self, p: Any, y: Any) -> Any:
        return 2 * (p - y)

    def conjugate(self, v: Any, y: Any) -> Any:
        return v * y + v * v / 4

    def ends(self, y: Any) -> tuple[Any, Any]:
        return -np.inf, np.inf

    def inverse(self, v: Any, above: Any, below: Any, y: Any) -> Any:
        return y + v / 2

    def inverse_slope(self, v: Any, above: Any, below: Any) -> Any:
        return np.full(v.shape, 0.5)


@dataclass(frozen=True)
class Huber(RealLabels, BatchLoss):
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

    def conjugate(self, v: Any, y: Any) -> Any:
        return v * y + v * v / 2

    def ends(self, y: Any) -> tuple[Any, Any]:
        return -self.delta, self.delta

    def inverse(self, v: Any, above: Any, below: Any, y: Any) -> Any:
        return y + v

    def inverse_slope(self, v: Any, above: Any, below: Any) -> Any:
        return np.ones(v.shape)


@dataclass(frozen=True)
class Absolute(RealLabels, BatchLoss):
    """l(p, y) = |p - y|."""

    def value(self, p: Any, y: Any) -> Any:
        return np.abs(p - y)

    def derivative(self, p: Any, y: Any) -> Any:
        return np.sign(p - y)

    def conjugate(self, v: Any, y: Any) -> Any:
        return v * y

    def ends(self, y: Any) -> tuple[Any, Any]:
        return -1.0, 1.0

    def inverse(self, v: Any, above: Any, below: Any, y: Any) -> Any:
        return y

    def inverse_slope(self, v: Any, above: Any, below: Any) -> Any:
        return np.zeros(v.shape)


@dataclass(frozen=True)
class Logistic(BatchLoss):
    """l(p, y) = log(1 + exp(-y p)) for labels y = -1 or 1."""

    def value(self, p: Any, y: Any) -> Any:
        return np.logaddexp(0.0, -y * p)

    def derivative(self, p: Any, y: Any) -> Any:
        return -y * np.exp(-np.logaddexp(0.0, y * p))

    def conjugate(self, v: Any, y: Any) -> Any:
        s = np.clip(-v * y, 0.0, 1.0)
        return _xlogx(s) + _xlogx(1 - s)

    def ends(self, y: Any) -> tuple[Any, Any]:
        return -(1 + y) / 2, (1 - y) / 2

    def inverse(self, v: Any, above: Any, below: Any, y: Any) -> Any:
        return np.log(below / above)

    def inverse_slope(self, v: Any, above: Any, below: Any) -> Any:
        return 1 / above + 1 / below

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
    if not isinstance(loss, str) or loss not in LOSSES:
        msg = f"loss must be one of {sorted(LOSSES)} or a Loss, got {loss!r}"
        raise ProblemError(msg)
    return Huber(delta) if loss == "huber" else LOSSES[loss]()
