"""exp(-t (G - low I)) V for a Hermitian operator G with eigenvalues in [low, high], by products with G alone.

Three ways, each with its error bound: ||answer - exp(-t (G - low I)) v||_2 <= accuracy ||v||_2 for every column v of V
in exact arithmetic. With w = t (high - low), the range of the exponent, and the accuracy e,

    `taylor_action`       some 4 w products, or more, with blocks             (thesis, Section 5.4.2)
    `chebyshev_action`    sqrt(w ln(1/e)) products, or so, with blocks        the fewest for a whole block
    `lanczos_action`      as many as Chebyshev or fewer, a vector at a time   the spectrum of G and v is seen

G is anything with ``@``: an array, a scipy sparse array or linear operator, `matrixlearn.linalg.rank_one.RankOneSum`.
NumPy and SciPy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from matrixlearn.linalg.krylov import SpectralInterval, krylov_spaces

Action = Callable[[Any, np.ndarray, SpectralInterval, float, float], np.ndarray]
"""(G, V, span, t, accuracy) -> exp(-t (G - span.low I)) V."""


def taylor_terms(x: float, steps: int, accuracy: float) -> int:
    """The least K >= 2 for which the truncated series p has |p(a)^s - exp(-s a)| <= accuracy for 0 <= a <= x <= 1.

    The series alternates: |p(a) - exp(-a)| <= r = a^{K+1} / (K+1)!, and p(a) <= exp(-a) + r <= exp(-a/2) for K >= 2.
    Hence the error is at most s r exp(-a (s-1) / 2), which is largest at a = 2 (K+1) / (s-1), or at x.
    """
    K = 2
    while True:
        a = min(x, 2 * (K + 1) / (steps - 1)) if steps > 1 else x
        if a == 0:
            return K
        logarithm = math.log(steps) + (K + 1) * math.log(a) - math.lgamma(K + 2) - a * (steps - 1) / 2
        if logarithm <= math.log(accuracy):
            return K
        K += 1


def taylor_action(G: Any, V: np.ndarray, span: SpectralInterval, t: float, accuracy: float) -> np.ndarray:
    """By powers: exp(-H) V = (sum_{k <= K} (-H / s)^k / k!)^s V, H = t (G - low I), s = ceil ||H||.

    No factor's exponent exceeds 1, so that no sum cancels; the bound is that of `taylor_terms`. s K products.
    """
    width = t * (span.high - span.low)
    steps = max(1, math.ceil(width))
    K = taylor_terms(width / steps, steps, accuracy)
    out = V
    for _ in range(steps):
        term = total = out
        for k in range(1, K + 1):
            term = (-t / (steps * k)) * (G @ term - span.low * term)
            total = total + term
        out = total
    return out


def chebyshev_coefficients(h: float, accuracy: float) -> np.ndarray:
    """c_0, ..., c_K with |exp(-h (1 + x)) - sum c_k T_k(x)| <= accuracy on [-1, 1], K the least such.

    c_k = (2 - [k = 0]) (-1)^k e^{-h} I_k(h), I_k the modified Bessel function, and |T_k| <= 1: the error is at most
    the sum of |c_k| that are left out.
    """
    from scipy.special import ive  # late: import time

    most = math.ceil(h + 40 + 12 * math.sqrt(h)) if h < 100 else math.ceil(100 + 12 * math.sqrt(h))
    c = 2 * ive(np.arange(most + 1), h)
    c[0] /= 2
    left_out = np.cumsum(c[::-1])[::-1]  # from k on
    K = int(np.argmax(np.append(left_out[1:], 0.0) <= accuracy))
    c[1::2] *= -1
    return np.asarray(c[: K + 1])


def chebyshev_action(G: Any, V: np.ndarray, span: SpectralInterval, t: float, accuracy: float) -> np.ndarray:
    """By the Chebyshev series of the exponential on [low, high]; K products, two temporaries of the size of V."""
    middle, half = (span.high + span.low) / 2, (span.high - span.low) / 2
    if half == 0:
        return V
    c = chebyshev_coefficients(t * half, accuracy)
    before, now = V, (G @ V - middle * V) / half
    out = c[0] * V
    for k in range(1, len(c)):
        out = out + c[k] * now
        if k + 1 < len(c):
            before, now = now, (2 / half) * (G @ now - middle * now) - before
    return out


def lanczos_action(G: Any, V: np.ndarray, span: SpectralInterval, t: float, accuracy: float) -> np.ndarray:
    """By Lanczos, column by column, until the error bound of the Krylov space is below ``accuracy``.

    With T_k - low I in the place of T, the error of ||v|| Q_k exp(-t T) e_1 is at most

        ||v|| beta_k integral_0^t |[exp(-s T)]_{k1}| ds  =  ||v|| beta_k t |[phi_1(-t T)]_{k1}|,

    phi_1(x) = (e^x - 1) / x, for G >= low I: the residual of the differential equation, carried by a contraction, and
    the entry has one sign for all s, since T is tridiagonal with positive entries beside its diagonal (Saad, 1992).
    """
    columns = V.reshape(len(V), -1)
    out = np.zeros(columns.shape, dtype=np.result_type(V, G.dtype, float))
    for j, v in enumerate(columns.T):
        size = float(np.linalg.norm(v))
        if size == 0:
            continue
        for space in krylov_spaces(G, v, len(v)):
            x = -t * (space.ritz - span.low)
            phi = np.divide(np.expm1(x), x, out=np.ones_like(x), where=x != 0)
            error = space.beta * t * abs(float((space.vectors[-1] * phi) @ space.vectors[0]))
            if error <= accuracy:
                break
        out[:, j] = size * (space.basis.T @ (space.vectors @ (np.exp(x) * space.vectors[0])))
    return out.reshape(V.shape)
