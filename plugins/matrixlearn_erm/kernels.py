"""Coordinate ascent on the dual, compiled by numba; imported only where numba is installed (extra ``fast``).

One pass over given rows:    y_i <- prox_{h f*}(y_i + h a_i.x),    v <- v - K c_i dy_i a_i,    x_j = S_l1(v_j) / ridge

with h_i = ridge / (K c_i ||a_i||^2). f* is quadratic on an interval, or the logistic loss's.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

ROUNDS = 60
"""Of Newton's method for the logistic loss."""


@njit(cache=True, inline="always")
def _logistic(q, step, b, y):
    """prox_{step f*}(q) = -b / (1 + exp(w)), w = b q / step + 1 / (step (1 + exp(w))); from the w of y on."""
    m, width = b * q / step, 1.0 / step
    low, high = m, m + width
    t = -b * y
    w = math.log(1.0 / t - 1.0) if 0.0 < t < 1.0 else 0.0
    w = min(max(w, low), high)
    for _ in range(ROUNDS):
        t = 1.0 / (1.0 + math.exp(w)) if w > -700.0 else 1.0
        if w > 700.0:
            t = math.exp(-w) if w < 745.0 else 0.0
        excess = w - m - width * t
        if excess < 0.0:
            low = w
        else:
            high = w
        new = w - excess / (1.0 + width * t * (1.0 - t))
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - w) <= 1e-13 * max(1.0, abs(new)):
            break
        w = new
    return -b * t


@njit(cache=True, inline="always")
def _moved(q, step, b, y, logistic, kappa, lower, upper):
    """prox_{step f*}(q), y the value before."""
    if logistic:
        return _logistic(q, step, b, y)
    return min(max((q - step * b) / (1.0 + step * kappa), lower), upper)


@njit(cache=True)
def sparse_pass(order, indptr, indices, data, steps, share, b, logistic, kappa, lower, upper, y, v, ridge, l1, copies):
    """The pass over CSR rows; y and v are written to."""
    for i in order:
        start, stop = indptr[i], indptr[i + 1]
        p = 0.0
        if l1 == 0.0:  # without branches: signs of v_j cannot be guessed
            for k in range(start, stop):
                p += data[k] * v[indices[k]]
        else:
            for k in range(start, stop):
                vj = v[indices[k]]
                p += data[k] * (max(vj - l1, 0.0) + min(vj + l1, 0.0))
        h = steps[i]
        if h == np.inf:
            continue
        new = _moved(y[i] + h * p / ridge, h, b[i], y[i], logistic, kappa, lower[i], upper[i])
        change = copies * share[i] * (new - y[i])
        y[i] = new
        if change != 0.0:
            for k in range(start, stop):
                v[indices[k]] -= change * data[k]


@njit(cache=True)
def dense_pass(order, A, steps, share, b, logistic, kappa, lower, upper, y, v, ridge, l1, copies):
    """The pass over dense rows; y and v are written to."""
    d = A.shape[1]
    for i in order:
        p = 0.0
        for j in range(d):
            p += A[i, j] * (max(v[j] - l1, 0.0) + min(v[j] + l1, 0.0))
        h = steps[i]
        if h == np.inf:
            continue
        new = _moved(y[i] + h * p / ridge, h, b[i], y[i], logistic, kappa, lower[i], upper[i])
        change = copies * share[i] * (new - y[i])
        y[i] = new
        if change != 0.0:
            for j in range(d):
                v[j] -= change * A[i, j]
