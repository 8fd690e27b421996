"""Linear algebra of Hermitian matrices: a leaf that knows nothing of problems or engines."""

from matrixlearn.linalg._hermitian import (
    adjoint,
    cholesky,
    congruence,
    conjugate,
    eigh,
    eigvalsh,
    frobenius,
    inner,
    inverse_factor,
    inverse_from,
    is_complex,
    plus_identity,
    quadratic_forms,
    real,
    real_product,
    spectral_norm,
    sym,
    trace,
)
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.linalg.step import max_step

__all__ = [
    "FactoredMatrix",
    "adjoint",
    "cholesky",
    "congruence",
    "conjugate",
    "eigh",
    "eigvalsh",
    "frobenius",
    "inner",
    "inverse_factor",
    "inverse_from",
    "is_complex",
    "max_step",
    "plus_identity",
    "quadratic_forms",
    "real",
    "real_product",
    "spectral_norm",
    "sym",
    "trace",
]
