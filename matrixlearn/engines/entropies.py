"""Entropies of the two sides of a game: their conjugates, and the gradients of these.

On S, phi(L) = mu R log sum exp(lambda(L) / mu) over all experts of S, and X(L) = V diag(p) V^H its gradient. On Y the
entropy sum_j a_j u_j log u_j, u = w o y, where it is a simplex without caps; elsewhere half the square of the Euclidean
norm of z = d o y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from matrixlearn.engines.saddle import ScaledSet, diameter, metric
from matrixlearn.engines.spectrum import Spectrum
from matrixlearn.problems.game import Game
from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array

DEPTH = 40.0
"""exp(-DEPTH) is hidden by the rounding of 1, all experts together."""


def soft_support(S: SpectralSet, w: np.ndarray, mu: float) -> tuple[float, np.ndarray]:
    """(mu R log sum exp(lambda / mu), its gradient in w) over the experts s w of the signs s of S, and 0 if slack."""
    experts = np.concatenate([sign * w for sign in S.signs] + [np.zeros(S.slack)])
    top = float(np.max(experts))
    weights = np.exp((experts - top) / mu)
    total = float(weights.sum())
    p = S.trace / total * weights
    n = len(w)
    gradient = sum(sign * p[k * n : (k + 1) * n] for k, sign in enumerate(S.signs))
    return S.trace * (top + mu * math.log(total)), np.asarray(gradient)


def soft_response(S: SpectralSet, F: Array, mu: float) -> tuple[float, Array]:
    """(the smoothed support function at F, its gradient X_mu): of experts whose weights rounding does not hide."""
    spectrum = Spectrum.of(S, F).within(DEPTH * mu)
    value, p = soft_support(S, spectrum.w, mu)
    return value, spectrum.with_values(p)


def trimmed(S: SpectralSet, L: Array, depth: float) -> Array:
    """L with the same X(L) but for exp(-depth), and no expert further below the best."""

    def of(w: np.ndarray) -> np.ndarray:
        if len(S.signs) == 2:  # experts w and -w: shrink both towards 0
            return np.sign(w) * np.maximum(np.abs(w) - max(float(np.max(np.abs(w))) - depth, 0.0), 0.0)
        top = float(np.max(w))
        shift = max(top - depth, 0.0) if S.slack else top  # the expert of a slack trace stays at 0
        return np.maximum(w - shift, (max(top - shift, 0.0) if S.slack else 0.0) - depth)

    spectrum = Spectrum.of(S, L)
    return spectrum.with_values(of(spectrum.w))


class VectorSide(Protocol):
    """How Y is measured, in coordinates u conjugate to phi_Y."""

    @property
    def scale(self) -> np.ndarray:
        """u = scale o y."""

    def response(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        """(phi_Y(l), u(l) its gradient)."""

    def log_of(self, u: np.ndarray) -> np.ndarray:
        """An l with u(l) = u, or nearly where u is on the boundary."""

    def trimmed(self, log: np.ndarray, depth: float) -> np.ndarray:
        """An l with the same u(l) but for exp(-depth), and no coordinate further below."""

    @property
    def range(self) -> float:
        """About how far a point can be from the centre."""


@dataclass(frozen=True, eq=False)
class EuclideanSide:
    """h(z) = ||z||^2 / 2, z = d o y."""

    scaled: ScaledSet
    range: float

    @property
    def scale(self) -> np.ndarray:
        return self.scaled.d

    def response(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        z = self.scaled.nearest(log)
        return float(log @ z) - float(z @ z) / 2, z

    def log_of(self, u: np.ndarray) -> np.ndarray:
        return u

    def trimmed(self, log: np.ndarray, depth: float) -> np.ndarray:
        return self.scaled.nearest(log)


@dataclass(frozen=True, eq=False)
class EntropicSide:
    """h(u) = sum_j a_j u_j (log u_j - 1) on {u >= 0, sum u = T}, or <= T where ``slack``; u = w o y.

    phi(l) = min over k (>= 0 where slack) of k T + sum_j a_j exp((l_j - k) / a_j),   u_j = exp((l_j - k) / a_j).
    """

    scale: np.ndarray
    a: np.ndarray
    total: float
    slack: bool

    @property
    def range(self) -> float:
        return self.total * math.log(len(self.a) + 1)

    def response(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        k = self._multiplier(log)
        u = np.exp((log - k) / self.a)
        return k * self.total + float(self.a @ u), u

    def trimmed(self, log: np.ndarray, depth: float) -> np.ndarray:
        k = self._multiplier(log)
        least = self.a * (math.log(self.total) - depth)
        return np.maximum(log - k, least) + (k if self.slack else 0.0)

    def _multiplier(self, log: np.ndarray) -> float:
        """k, by Newton's method on log sum exp((l - k) / a) = log T: convex and falling, from the left monotone."""
        a, T = self.a, self.total
        k = float(np.max(log - a * math.log(T)))
        for _ in range(100):
            e = (log - k) / a
            top = float(np.max(e))
            w = np.exp(e - top)
            total = float(w.sum())
            step = (top + math.log(total) - math.log(T)) * total / float((w / a).sum())
            k += step
            if step <= 1e-15 * (abs(k) + float(np.max(np.abs(log)))):
                break
        return max(k, 0.0) if self.slack else k

    def log_of(self, u: np.ndarray) -> np.ndarray:
        least = 1e-3 * self.total / len(u)
        return self.a * np.log((1 - 1e-3) * u + least)


def vector_side(game: Game) -> VectorSide:
    """The measure that suits Y."""
    Y, d = game.Y, metric(game)
    simplex = Y.weights is not None and np.all(np.isinf(Y.upper)) and np.all(Y.lower == 0)
    if simplex and (Y.row_lower == Y.row_upper or Y.row_lower <= 0) and Y.row_upper > 0:
        assert Y.weights is not None
        a = d / Y.weights
        return EntropicSide(Y.weights, a / np.mean(a), Y.row_upper, Y.row_lower < Y.row_upper)
    return EuclideanSide(ScaledSet.of(Y, d), diameter(Y, d) ** 2 / 2)
