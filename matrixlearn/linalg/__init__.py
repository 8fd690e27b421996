"""Linear algebra of Hermitian matrices: a leaf that knows nothing of problems or engines."""

from matrixlearn.linalg._hermitian import (
    adjoint,
    cholesky,
    eigh,
    eigvalsh,
    frobenius,
    inner,
    inverse_factor,
    inverse_from,
    is_complex,
    max_step,
    quadratic_forms,
    real,
    real_product,
    spectral_norm,
    sym,
    trace,
)

__all__ = [
    "adjoint",
    "cholesky",
    "eigh",
    "eigvalsh",
    "frobenius",
    "inner",
    "inverse_factor",
    "inverse_from",
    "is_complex",
    "max_step",
    "quadratic_forms",
    "real",
    "real_product",
    "spectral_norm",
    "sym",
    "trace",
]
