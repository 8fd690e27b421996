"""Euclidean projections of vectors of eigenvalues; they are those of matrices, by von Neumann's inequality.

For a spectral set S and F = V diag(w) V^H, the nearest point of S in the Frobenius norm is
V diag(p) V^H, p the nearest point to w of the eigenvalues that S allows.
"""

from __future__ import annotations

import numpy as np


def onto_simplex(w: np.ndarray, total: float) -> np.ndarray:
    """The nearest point of {p >= 0, sum p = total}: max(w - theta, 0), theta by one sort."""
    descending = np.sort(w)[::-1]
    excess = np.cumsum(descending) - total
    counts = np.arange(1, len(w) + 1)
    active = int(np.max(np.flatnonzero(descending * counts > excess), initial=0))
    p = np.maximum(w - excess[active] / counts[active], 0.0)
    reached = p.sum()
    if reached > 0:
        return p * (total / reached)  # a small total is lost in the rounding of large w
    p[np.argmax(w)] = total
    return p


def onto_trace_ball(w: np.ndarray, total: float) -> np.ndarray:
    """The nearest point of {p >= 0, sum p <= total}."""
    inside = np.maximum(w, 0.0)
    return inside if inside.sum() <= total else onto_simplex(w, total)


def onto_nuclear_ball(w: np.ndarray, total: float) -> np.ndarray:
    """The nearest point of {sum |p| <= total}."""
    return np.copysign(onto_trace_ball(np.abs(w), total), w)
