"""The memory of L-BFGS: an inverse Hessian known by the last steps and by how the gradient changed along them.

    H+ = (I - rho s c^H) H (I - rho c s^H) + rho s s^H,       rho = 1 / <s, c>,

s a step and c the change of the gradient. The inner product is Re tr(A^H B): steps are real or complex arrays of any
shape. NumPy only.

References
----------
Liu and Nocedal (1989), "On the limited memory BFGS method for large scale optimization".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.linalg._hermitian import frobenius, inner


@dataclass(frozen=True)
class Memory:
    """At most ``size`` pairs (s, c), oldest first.

    Parameters
    ----------
    size : int
    pairs : tuple of (ndarray, ndarray)
    """

    size: int
    pairs: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    def with_step(self, step: np.ndarray, change: np.ndarray) -> Memory:
        """After one more step; itself where the gradient did not grow along it, as no curvature can be told."""
        if not inner(step, change) > 1e-12 * frobenius(step) * frobenius(change):
            return self
        return replace(self, pairs=(*self.pairs, (step, change))[-self.size :])

    def times(self, gradient: np.ndarray, first: float) -> np.ndarray:
        """H g; H is ``first`` times the identity before there is a pair."""
        q = gradient.copy()
        if not self.pairs:
            q *= first
            return q
        kept = []
        for step, change in reversed(self.pairs):
            kept.append(inner(step, q) / inner(step, change))
            q -= kept[-1] * change
        step, change = self.pairs[-1]
        q *= inner(step, change) / inner(change, change)
        for (step, change), a in zip(self.pairs, reversed(kept), strict=True):
            q += (a - inner(change, q) / inner(step, change)) * step
        return q
