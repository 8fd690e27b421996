"""The implicit LogDet update, exact for an instance of any rank, in closed form for rank one.

    W_{t+1}^{-1} = W_t^{-1} + s X,    s = eta l'(p(s), y),    p(s) = tr(W_{t+1} X) = sum_i lambda_i / (1 + s lambda_i)

with lambda_i the eigenvalues of W^{1/2} X W^{1/2}, i.e. of diag(s_k) U^H W U for X = U diag(s) U^H. p falls in
s and l' rises in p, so that there is one root; it lies where every 1 + s lambda_i > 0: the step can never
leave the cone, whatever eta and y are. This is (3.3) with the gradient at W_{t+1}, not at W_t.

For rank one and the square loss, with q = 1 + s lambda > 0:    q^2 + (2 eta lambda y - 1) q - 2 eta lambda^2 = 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrixlearn_meg.instances import Instance
from matrixlearn_meg.losses import Square


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
    if len(lam) == 1 and isinstance(loss, Square):
        return _rank_one(float(lam[0]), y, eta)
    return _root(lam, y, eta, loss)


def _rank_one(lam: float, y: float, eta: float) -> float:
    """s = (q - 1) / lambda = 2 eta (lambda / q - y), the second without cancellation."""
    half = (1 - 2 * eta * lam * y) / 2
    c = 2 * eta * lam * lam
    root = math.sqrt(half * half + c)
    q = half + root if half > 0 else c / (root - half)  # the positive root, without cancellation
    return 2 * eta * (lam / q - y)


def _root(lam: np.ndarray, y: float, eta: float, loss: Any) -> float:
    """The root of s - eta l'(p(s), y), increasing in s, by bisection between the poles of p."""
    low = -1 / float(lam[-1]) if lam[-1] > 0 else -math.inf
    high = -1 / float(lam[0]) if lam[0] < 0 else math.inf

    def excess(s: float) -> float:
        return s - eta * float(loss.derivative(float(np.sum(lam / (1 + s * lam))), y))

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
