"""Functions of real symmetric and complex Hermitian matrices, on any array namespace.

NumPy arrays take LAPACK's in-place routines where these are measurably faster; other namespaces
take the functions of the array API standard. The answers are the same to rounding.
"""

from __future__ import annotations

import math

import numpy as np

from matrixlearn._array import identity, is_numpy, is_sparse, namespace
from matrixlearn.clock import ask_the_clock
from matrixlearn.linalg._lapack import lapack
from matrixlearn.typing import Array


def is_complex(A: Array) -> bool:
    """Whether the dtype is a complex one."""
    if isinstance(A, np.ndarray):
        return A.dtype.kind == "c"
    return bool(namespace(A).isdtype(A.dtype, "complex floating"))


def real(A: Array) -> Array:
    """The real part of a real or complex array."""
    return namespace(A).real(A) if is_complex(A) else A


def adjoint(A: Array) -> Array:
    """A^H, of a matrix or a stack of matrices."""
    return namespace(A).conj(A.mT) if is_complex(A) else A.mT


def conjugate(A: Array) -> Array:
    """The complex conjugate of a real or complex array."""
    return namespace(A).conj(A) if is_complex(A) else A


def sym(A: Array) -> Array:
    """(A + A^H) / 2."""
    return (A + adjoint(A)) / 2


def congruence(A: Array, V: Array) -> Array:
    """V^H A V, exactly Hermitian; A (n, n), V (n, r). A may be scipy sparse."""
    return sym(adjoint(V) @ (A @ V))


def real_product(A: Array, B: Array) -> Array:
    """Re(conj(A) * B), entry by entry."""
    if is_complex(A) and is_complex(B):
        xp = namespace(A, B)
        return xp.real(A) * xp.real(B) + xp.imag(A) * xp.imag(B)
    return real(A) * real(B)


def inner(A: Array, B: Array) -> float:
    """<A, B> = Re tr(A^H B), the real inner product of Hermitian matrices (or of vectors).

    A may be scipy sparse, or know its inner products itself (``A.inner(B)``).
    """
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        return float(np.vdot(A, B).real)  # one pass, no temporary
    if is_sparse(A):
        return float(np.real(A.conj().multiply(B).sum()))
    if hasattr(A, "inner"):
        return float(A.inner(B))
    return float(namespace(A, B).sum(real_product(A, B)))


def trace(A: Array) -> float:
    """Re tr(A)."""
    if isinstance(A, np.ndarray):
        return float(np.real(A.trace()))
    return float(real(namespace(A).linalg.trace(A)))


def plus_identity(A: Array, t: float) -> Array:
    """A + t I; A itself is overwritten where it is NumPy's."""
    if isinstance(A, np.ndarray):
        A.flat[:: len(A) + 1] += t
        return A
    return A + t * identity(A.shape[0], A)


def frobenius(A: Array) -> float:
    """The Frobenius norm of a matrix, or the Euclidean norm of a vector."""
    if isinstance(A, np.ndarray):
        return math.sqrt(np.vdot(A, A).real)
    return float(namespace(A).linalg.vector_norm(A))


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a Hermitian matrix: A = V diag(w) V^H."""
    ask_the_clock()
    result = namespace(A).linalg.eigh(A)
    return result[0], result[1]


def eigvalsh(A: Array) -> Array:
    """Eigenvalues (ascending) of a Hermitian matrix."""
    ask_the_clock()
    return namespace(A).linalg.eigvalsh(A)


def spectral_norm(A: Array) -> float:
    """max |lambda(A)| of a Hermitian matrix, or max |a_i| of the diagonal of one; 0 for an empty one."""
    if A.shape[0] == 0:
        return 0.0
    if A.ndim == 1:
        xp = namespace(A)
        return float(xp.max(xp.abs(A)))
    w = eigvalsh(A)
    return max(abs(float(w[0])), abs(float(w[-1])))


def cholesky(A: Array) -> Array | None:
    """The lower Cholesky factor, or None where A is not numerically positive definite."""
    ask_the_clock()
    if isinstance(A, np.ndarray):
        potrf = lapack().zpotrf if is_complex(A) else lapack().dpotrf
        # LAPACK reads columns: of A^T = U^H U, U^T is the lower factor of A
        upper, info = potrf(A.T, lower=0)
        return upper.T if info == 0 and np.isfinite(upper.diagonal()).all() else None
    xp = namespace(A)
    try:
        L = xp.linalg.cholesky(A)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    return L if bool(xp.all(xp.isfinite(xp.linalg.diagonal(L)))) else None


def inverse_factor(L: Array) -> Array:
    """L^{-1} of a lower triangular L."""
    if is_numpy(L):
        trtri = lapack().ztrtri if is_complex(L) else lapack().dtrtri
        # LAPACK reads columns: the transpose of a C-ordered L is an upper triangle in its order
        inverse, info = trtri(L.T, lower=0)
        if info == 0:
            return inverse.T
    # of the upper triangle: its LU factorization is itself, with no row exchanged
    return adjoint(namespace(L).linalg.solve(adjoint(L), identity(L.shape[0], L)))


def inverse_from(inverse_L: Array) -> Array:
    """(L L^H)^{-1} = L^{-H} L^{-1}, from L^{-1}."""
    if is_numpy(inverse_L):
        lauum = lapack().zlauum if is_complex(inverse_L) else lapack().dlauum
        # LAPACK reads columns: the transpose is an upper triangle V in its order, and lauum forms V V^H, half of it,
        # the conjugate's; below are the zeros of V
        half, info = lauum(inverse_L.T, lower=0)
        if info == 0:
            whole = half.T + conjugate(half)
            whole.flat[:: len(half) + 1] /= 2
            return np.asarray(whole)
    return sym(adjoint(inverse_L) @ inverse_L)


def quadratic_forms(P: Array, X: Array) -> Array:
    """x_i^H X x_i for the rows x_i^T of P, shape (m, n) and (n, n) -> (m,), in one matrix product."""
    xp = namespace(P, X)
    return real(xp.linalg.vecdot(P, P @ X.mT))
