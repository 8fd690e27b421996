"""The implicit LogDet update, exact for an instance of any rank, in closed form for ranks one and two.

    W_{t+1}^{-1} = W_t^{-1} + s X,    s = eta l'(p(s), y),    p(s) = tr(W_{t+1} X) = sum_i lambda_i / (1 + s lambda_i)

with lambda_i the eigenvalues of W^{1/2} X W^{1/2}, i.e. of diag(s_k) U^H W U for X = U diag(s) U^H. p falls in
s and l' rises in p, so that there is one root; it lies where every 1 + s lambda_i > 0: the step can never
leave the cone, whatever eta and y are. This is (3.3) with the gradient at W_{t+1}, not at W_t.

For the square loss p = q'(s) / q(s) with q(s) = prod_i (1 + s lambda_i), and s q = 2 eta (q' - y q) is a polynomial
equation of the degree of one more than the rank. For rank one, in q = 1 + s lambda > 0 itself,

    q^2 + (2 eta lambda y - 1) q - 2 eta lambda^2 = 0,

and for rank two, with t = lambda_1 + lambda_2 and D = lambda_1 lambda_2 (q = 1 + t s + D s^2), the cubic

    D s^3 + (t + 2 eta y D) s^2 + (1 + 2 eta y t - 4 eta D) s + 2 eta (y - t) = 0,

of whose roots exactly one lies where both 1 + s lambda_i > 0. Cardano's formula gives it, to some digits: differences
of cube roots cancel. Newton steps on s - eta l'(p(s), y), whose slope is at least 1, give the rest. From rank three on
(a quartic, and beyond four no formula at all), and for other losses, the root is bracketed and bisected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrixlearn_meg.instances import Instance
from matrixlearn_meg.losses import SQUARE

EPS = float(np.finfo(np.float64).eps)


def eigenvalues_between(instance: Instance, W: np.ndarray) -> np.ndarray:
    """The nonzero eigenvalues of W^{1/2} X W^{1/2}, through the factors of X."""
    U, s = instance.factors()
    M = U.conj().T @ (W @ U)
    w, V = np.linalg.eigh((M + M.conj().T) / 2)
    root = V * np.sqrt(np.maximum(w, 0.0))  # M = root root^H
    inside = (root.conj().T * s) @ root
    return np.linalg.eigvalsh((inside + inside.conj().T) / 2)


def implicit_step(instance: Instance, W: np.ndarray, y: float, eta: float, loss: Any) -> float:
    """The s of the implicit update."""
    lam = eigenvalues_between(instance, W)
    lam = lam[np.abs(lam) > 1e-300]
    if len(lam) == 0:
        return 0.0
    if len(lam) == 1 and loss == SQUARE:
        return _rank_one(float(lam[0]), y, eta)
    if len(lam) == 2 and loss == SQUARE:
        return _rank_two(float(lam[0]), float(lam[1]), y, eta)
    return _root(lam, y, eta, loss)


def _rank_one(lam: float, y: float, eta: float) -> float:
    """s = (q - 1) / lambda = 2 eta (lambda / q - y), the second without cancellation."""
    half = (1 - 2 * eta * lam * y) / 2
    c = 2 * eta * lam * lam
    root = math.sqrt(half * half + c)
    q = half + root if half > 0 else c / (root - half)  # the positive root, without cancellation
    return 2 * eta * (lam / q - y)


def _rank_two(low: float, high: float, y: float, eta: float) -> float:
    """The root of the cubic between the poles, low <= high being the two eigenvalues; by bisection where Cardano's
    digits do not do for a start.
    """
    t, product = low + high, low * high
    for s in _real_roots(product, t + 2 * eta * y * product, 1 + 2 * eta * (y * t - 2 * product), 2 * eta * (y - t)):
        for _ in range(6):
            a, b = 1 + s * low, 1 + s * high
            if not (a > 0 and b > 0):
                break
            excess = s - 2 * eta * (low / a + high / b - y)
            slope = 1 + 2 * eta * ((low / a) ** 2 + (high / b) ** 2)
            # what one unit in the last place of s, or of the terms, does to the excess
            if abs(excess) <= EPS * (slope * abs(s) + 2 * eta * (abs(low / a) + abs(high / b) + abs(y))):
                return s
            s -= excess / slope
    return _root(np.array([low, high]), y, eta, SQUARE)


def _real_roots(a: float, b: float, c: float, e: float) -> list[float]:
    """The real roots of a s^3 + b s^2 + c s + e by Cardano's and Viete's formulas; none where they overflow."""
    try:
        shift = b / (3 * a)
        p, q = c / (3 * a) - shift * shift, shift**3 - shift * c / (2 * a) + e / (2 * a)  # x^3 + 3 p x + 2 q
        discriminant = q * q + p * p * p
        if discriminant >= 0:
            u = math.cbrt(-q - math.copysign(math.sqrt(discriminant), q))
            return [(u - p / u if u else 0.0) - shift]
        radius, angle = 2 * math.sqrt(-p), math.acos(max(-1.0, min(1.0, -q / math.sqrt(-p * p * p)))) / 3
        return [radius * math.cos(angle + k * 2 * math.pi / 3) - shift for k in range(3)]
    except (OverflowError, ZeroDivisionError):
        return []


def _root(lam: np.ndarray, y: float, eta: float, loss: Any) -> float:
    """The root of s - eta l'(p(s), y), increasing in s, by bisection between the poles of p."""
    low = -1 / float(lam[-1]) if lam[-1] > 0 else -math.inf
    high = -1 / float(lam[0]) if lam[0] < 0 else math.inf

    def excess(s: float) -> float:
        return s - eta * float(loss.gradient(float(np.sum(lam / (1 + s * lam))), y))

    # brackets inside the open interval: towards a pole p is infinite, without one s is
    a = b = 0.0
    step = min(1.0, 0.5 * (high if high < math.inf else 1.0), -0.5 * (low if low > -math.inf else -1.0))
    if excess(0.0) > 0:
        a, reach = -step, step
        while excess(a) > 0:
            b, reach = a, 2 * reach
            a = -reach if low == -math.inf else low + (a - low) / 2
    else:
        b, reach = step, step
        while excess(b) < 0:
            a, reach = b, 2 * reach
            b = reach if high == math.inf else high - (high - b) / 2
    for _ in range(200):
        middle = (a + b) / 2
        if middle in (a, b):
            break
        if excess(middle) > 0:
            b = middle
        else:
            a = middle
    # of the two neighbours, the one nearer to 0 is further from the poles
    return a if abs(a) < abs(b) else b
