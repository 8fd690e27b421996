"""An upper bound of the largest eigenvalue from products alone, false with a small probability over a random start.

For x > 1 the Chebyshev polynomial T_k(x) = cosh(k arccosh x) grows quickly. Let B = (2 A - (t + s) I) / (t - s), G a
Gaussian (n, 4) matrix, and W = T_k(B) G. If A has the eigenvalue lambda with B's x > 1 and the unit vector u, then

    ||W||_F  >=  ||u^T W||  =  T_k(x) ||u^T G||,      P(||u^T G|| < eta)  <=  eta^4 / 8,

for u^T G is a Gaussian vector of four entries, whatever u is (chi^2 of 4 degrees). But for that probability

    lambda_max(A)  <=  ((t + s) + (t - s) cosh(arccosh(||W||_F / eta) / k)) / 2.

This is true for any s < t, and close where the spectrum lies between them, since ||W||_F is then at most ||G||_F: the
bound of Kuczynski and Wozniakowski (1992) for Lanczos, whose proof takes this polynomial. With four starts in the place
of one half as many products do, and the rounding of this recurrence can be bounded, which that of Lanczos cannot: step
j rounds by e_j <= gamma (2 rho ||W_{j-1}|| + ||W_{j-2}||), rho >= || |B| ||, and the steps after it multiply that by
U_{k-j}(x) <= (k - j + 1) T_{k-j}(x) <= (k - j + 1) T_k(x) / T_j(x). Hence x is an upper bound as soon as

    ||W||_F  <=  T_k(x) (eta - sum_j (k - j + 1) e_j / T_j(x)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg.krylov import krylov_spaces
from matrixlearn.linalg.largest import gershgorin

MISSED = 1e-10
"""The probability with which a bound may be false: over the random start, which does not depend on the matrix."""

STARTS = 4
ETA = math.sqrt(2 * math.sqrt(2 * MISSED))
"""P(||u^T G|| < eta) <= `MISSED`."""

RELATIVE = 2.5e-4
"""How far above lambda_max the bound may be, relative to the spread of the spectrum."""

SEED = 0x6B757A79
"""Of the start, and of nothing else: an engine whose draws were the same would make y depend on it."""


def probable_largest(A: Any) -> float:
    """t with lambda_max(A) <= t but for the probability `MISSED`, some `RELATIVE` of the spread above it.

    Parameters
    ----------
    A : sparse array, shape (n, n)
        Real symmetric.
    """
    n, draw = A.shape[0], np.random.default_rng(SEED)
    circles = gershgorin(A)
    low, high = _rough_ends(A, draw)
    if not high > low:
        return circles
    steps = math.ceil(math.acosh(2 * math.sqrt(n * STARTS) / ETA) / math.sqrt(4 * RELATIVE)) + 1
    B = _Shifted(A, (low + high) / 2, (high - low) / 2)
    filtered, norms = B.chebyshev(draw.standard_normal((n, STARTS)), steps // 2)
    if not np.isfinite(norms).all():
        return circles
    Q = np.linalg.qr(filtered)[0]
    high = max(high, float(np.linalg.eigvalsh(Q.T @ (A @ Q))[-1]))
    B = _Shifted(A, (low + high) / 2, (high - low) / 2)
    norms = B.chebyshev(draw.standard_normal((n, STARTS)), steps)[1]
    if not np.isfinite(norms).all():
        return circles
    angle = math.acosh(max(1.0, 2 * norms[-1] / ETA)) / steps
    j = np.arange(1, steps + 1)
    rounding = float(np.sum(j[::-1] * B.rounding(norms) / np.cosh(j * angle)))
    if not rounding <= ETA / 2:
        return circles
    top = B.centre + B.half * math.cosh(angle)
    return min(circles, top + 8 * EPS * (abs(B.centre) + abs(top)))


def _rough_ends(A: Any, draw: np.random.Generator) -> tuple[float, float]:
    """A number about or below lambda_min, and one about or below lambda_max: no proof needs more."""
    *_, space = krylov_spaces(A, draw.standard_normal(A.shape[0]), 40)
    return float(space.ritz[0]) - float(space.residuals[0]), float(space.ritz[-1])


@dataclass(frozen=True)
class _Shifted:
    """B = (A - centre I) / half."""

    A: Any
    centre: float
    half: float

    def chebyshev(self, G: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """T_k(B) G, and a bound of the norm of each T_j(B) G, j = 0, ..., k, as computed."""
        before, W = G, (self.A @ G - self.centre * G) / self.half
        norms = [float(np.linalg.norm(G)), float(np.linalg.norm(W))]
        with np.errstate(over="ignore", invalid="ignore"):  # ends that were guessed badly: nothing is proved then
            for _ in range(steps - 1):
                after = self.A @ W
                after -= self.centre * W
                after *= 2 / self.half
                after -= before
                before, W = W, after
                norms.append(float(np.linalg.norm(W)))
        return W, np.array(norms) * (1 + 1e-12)

    def rounding(self, norms: np.ndarray) -> np.ndarray:
        """A bound of what step j = 1, ..., k of `chebyshev` adds to T_j(B) G."""
        longest = int(np.max(np.diff(self.A.tocsr().indptr)))
        rho = (float(np.max(abs(self.A).sum(axis=1))) + abs(self.centre)) / self.half
        return (longest + 8) * EPS * (2 * rho * norms[:-1] + np.concatenate(([0.0], norms[:-2])))
