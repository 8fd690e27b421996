"""The memory of L-BFGS: an inverse Hessian known by the last steps and by how the gradient changed along them.

    H+ = (I - rho s c^H) H (I - rho c s^H) + rho s s^H,       rho = 1 / <s, c>,

s a step and c the change of the gradient. The inner product is Re tr(A^H B): steps are real or complex arrays of any
shape. NumPy and BLAS.

References
----------
Liu and Nocedal (1989), "On the limited memory BFGS method for large scale optimization".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from matrixlearn.linalg._hermitian import frobenius, inner
from matrixlearn.linalg._lapack import blas


class Pair(NamedTuple):
    """A step and the change of the gradient, as contiguous vectors, and <s, c>."""

    step: np.ndarray
    change: np.ndarray
    curvature: float


@dataclass(frozen=True)
class Memory:
    """At most ``size`` pairs (s, c), oldest first.

    Parameters
    ----------
    size : int
    pairs : tuple of Pair
    """

    size: int
    pairs: tuple[Pair, ...] = ()

    def with_step(self, step: np.ndarray, change: np.ndarray) -> Memory:
        """After one more step; itself where the gradient did not grow along it, as no curvature can be told."""
        curvature = inner(step, change)
        if not curvature > 1e-12 * frobenius(step) * frobenius(change):
            return self
        return replace(self, pairs=(*self.pairs, Pair(step.ravel(), change.ravel(), curvature))[-self.size :])

    def times(self, gradient: np.ndarray, first: float) -> np.ndarray:
        """H g; H is ``first`` times the identity before there is a pair."""
        q = gradient.flatten()
        add = blas().zaxpy if np.iscomplexobj(q) else blas().daxpy  # in place
        if not self.pairs:
            q *= first
            return q.reshape(gradient.shape)
        kept = []
        for step, change, curvature in reversed(self.pairs):
            kept.append(inner(step, q) / curvature)
            add(change, q, a=-kept[-1])
        _, change, curvature = self.pairs[-1]
        q *= curvature / inner(change, change)
        for (step, change, curvature), a in zip(self.pairs, reversed(kept), strict=True):
            add(step, q, a=a - inner(change, q) / curvature)
        return q.reshape(gradient.shape)
