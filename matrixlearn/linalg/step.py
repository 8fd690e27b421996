"""The longest step from a positive definite matrix that stays in the cone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from matrixlearn._array import from_numpy, namespace
from matrixlearn.linalg._hermitian import adjoint, eigvalsh, is_complex
from matrixlearn.linalg._lapack import lapack
from matrixlearn.linalg.krylov import krylov_spaces
from matrixlearn.typing import Array

LANCZOS_FROM = 70
"""Size from which Lanczos finds the lowest eigenvalue sooner than a full decomposition (measured: half
the time at 100, a twelfth at 500)."""

ACCURACY, MOST = 0.03, 60
"""Of the lowest Ritz value, and the most steps to it."""

ENOUGH = -0.9
"""An eigenvalue above this lets the whole step, and more."""


def max_step(inverse_L: Array, D: Array) -> float:
    """The largest a with L L^H + a D positive semidefinite: 1 / max(0, -lambda_min(L^{-1} D L^{-H})).

    From n = `LANCZOS_FROM` on by Lanczos, with its residual subtracted: a few hundredths short, as a rule; what is
    beyond 1 is only known to be.
    """
    upper = adjoint(inverse_L)
    if D.shape[0] < LANCZOS_FROM:
        with np.errstate(all="ignore"):  # what overflows is no step
            lowest = _lowest(inverse_L @ D @ upper)  # which reads one triangle
    else:
        like = inverse_L if is_complex(inverse_L) else D
        lowest = _lanczos_lowest(lambda v: inverse_L @ (D @ (upper @ v)), like)
    return -1.0 / lowest if lowest < 0 else float("inf")


def _lowest(A: Array) -> float:
    """lambda_min(A); by LAPACK without the others, where A is NumPy's: half the time."""
    if isinstance(A, np.ndarray) and not np.isfinite(A).all():  # overflow: no step is known to be one
        return -np.inf
    if isinstance(A, np.ndarray) and A.dtype == np.float64:
        w, _, _, _, info = lapack().dsyevr(A.T, compute_v=0, range="I", il=1, iu=1, lower=1)
        if info == 0:
            return float(w[0])
    return float(eigvalsh(A)[0])


@cache
def _start(n: int) -> np.ndarray:
    """A start vector for Lanczos, drawn from a fixed seed and so independent of the data."""
    return np.random.default_rng(0).standard_normal(n)


@dataclass(frozen=True)
class _Product:
    """A product with vectors, as an operator."""

    apply: Callable[[Array], Array]
    dtype: Any

    def __matmul__(self, v: Array) -> Array:
        return self.apply(v)


def _lanczos_lowest(apply: Callable[[Array], Array], like: Array) -> float:
    """theta - r: the lowest Ritz value of a Hermitian operator less its residual.

    Within r of theta lies an eigenvalue; that none lies below theta - r is as a rule true and never
    proven. Fixed start; ends when r <= `ACCURACY` |theta|, or theta - r >= `ENOUGH`.

    References
    ----------
    Toh (2002), "A note on the calculation of step-lengths in interior-point methods for SDP".
    """
    start = namespace(like).astype(from_numpy(_start(like.shape[0]), like), like.dtype)
    for space in krylov_spaces(_Product(apply, like.dtype), start, MOST):
        theta, residual = float(space.ritz[0]), float(space.residuals[0])
        if residual <= ACCURACY * abs(theta) or theta - residual >= ENOUGH:
            break
    return theta - residual
