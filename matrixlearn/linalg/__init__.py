"""Linear algebra of Hermitian matrices: a leaf that knows nothing of problems or engines."""

from matrixlearn.linalg._hermitian import (
    cholesky,
    eigh,
    eigvalsh,
    frobenius,
    inner,
    inverse_factor,
    max_step,
    quadratic_forms,
    spectral_norm,
    sym,
    trace,
)

__all__ = [
    "cholesky",
    "eigh",
    "eigvalsh",
    "frobenius",
    "inner",
    "inverse_factor",
    "max_step",
    "quadratic_forms",
    "spectral_norm",
    "sym",
    "trace",
]
