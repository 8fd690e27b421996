"""The logistic loss, whose conjugate is an entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from matrixlearn.losses.base import Loss, require_signs

ROUNDS = 100
"""Of the safeguarded Newton method; fewer than 10 in practice."""


@dataclass(frozen=True)
class Logistic(Loss):
    """f(p, b) = log(1 + exp(-b p)),  f*(y, b) = t log t + (1 - t) log(1 - t) with t = -b y in [0, 1].

    Labels are b = -1 or 1.
    """

    name = "logistic"

    def value(self, p: Any, b: Any) -> Any:
        m = b * p
        return np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0.0)

    def gradient(self, p: Any, b: Any) -> Any:
        m = b * p
        small = np.exp(-np.abs(m))
        return -b * np.where(m > 0, small, 1.0) / (1 + small)

    def curvature(self, p: Any, b: Any) -> Any:
        small = np.exp(-np.abs(p))
        return small / (1 + small) ** 2

    def domain(self, b: Any) -> tuple[Any, Any]:
        return -(1 + b) / 2, (1 - b) / 2

    def conjugate(self, y: Any, b: Any) -> Any:
        t = -b * y
        inside = (t >= 0) & (t <= 1)
        t = np.where(inside, t, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 log 0
            first, second = t * np.log(t), (1 - t) * np.log1p(-t)
        return np.where(inside, np.where(t > 0, first, 0.0) + np.where(t < 1, second, 0.0), np.inf)

    def inverse(self, y: Any, above: Any, below: Any, b: Any) -> Any:
        return np.log(below / above)

    def inverse_slope(self, y: Any, above: Any, below: Any) -> Any:
        return 1 / above + 1 / below

    def prox(self, p: Any, step: Any, b: Any) -> Any:
        return b * _margin(b * p, step)

    def prox_conjugate(self, y: Any, step: Any, b: Any) -> Any:
        # z = f'(u) at u = prox of f / step: the difference y - step u would be lost in rounding
        return -b * expit(-_margin(b * y / step, 1 / step))

    @property
    def smoothness(self) -> float:
        return 0.25

    @property
    def strong_convexity(self) -> float:
        return 0.0

    def check_labels(self, b: Any, name: str = "y") -> None:
        require_signs(name, b, self.name)

    def as_cvxpy(self, p: Any, b: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(cp.multiply(-b, p))


def _margin(m: Any, step: Any) -> Any:
    """The root w of w = m + step / (1 + exp(w)), in [m, m + step]: Newton's method, by halves where it leaves."""
    m, step = np.broadcast_arrays(np.asarray(m, dtype=float), np.asarray(step, dtype=float))
    low, high = m, m + step
    w = np.clip(0.0, low, high)
    for _ in range(ROUNDS):
        t = expit(-w)
        excess = w - m - step * t
        low, high = np.where(excess < 0, w, low), np.where(excess > 0, w, high)
        new = w - excess / (1 + step * t * (1 - t))
        new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
        moved = np.abs(new - w) > 1e-15 * np.maximum(1.0, np.abs(new))
        w = new
        if not np.any(moved):
            break
    return w[()]
