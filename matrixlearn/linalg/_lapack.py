"""SciPy's LAPACK and BLAS, imported when they are first asked for."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def lapack() -> Any:
    """scipy.linalg.lapack: late, as it is a third of the package's import time; once, as a look-up costs as much as the
    factorization of a small matrix.
    """
    from scipy.linalg import lapack

    return lapack


@cache
def blas() -> Any:
    """scipy.linalg.blas, for the same reasons."""
    from scipy.linalg import blas

    return blas
