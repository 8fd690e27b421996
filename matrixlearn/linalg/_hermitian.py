"""Functions of real symmetric and complex Hermitian matrices, on any array namespace.

NumPy arrays take LAPACK's in-place routines where these are measurably faster; other namespaces
take the functions of the array API standard. The answers are the same to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixlearn._array import from_numpy, identity, is_numpy, is_sparse, namespace
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


def real_product(A: Array, B: Array) -> Array:
    """Re(conj(A) * B), entry by entry."""
    if is_complex(A) and is_complex(B):
        xp = namespace(A, B)
        return xp.real(A) * xp.real(B) + xp.imag(A) * xp.imag(B)
    return real(A) * real(B)


def inner(A: Array, B: Array) -> float:
    """<A, B> = Re tr(A^H B), the real inner product of Hermitian matrices (or of vectors); A may be scipy sparse."""
    if is_sparse(A):
        return float(np.real(A.conj().multiply(B).sum()))
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        return float(np.real(np.vdot(A, B)))  # one pass, no temporary
    return float(namespace(A, B).sum(real_product(A, B)))


def trace(A: Array) -> float:
    """Re tr(A)."""
    return float(real(namespace(A).linalg.trace(A)))


def frobenius(A: Array) -> float:
    """The Frobenius norm of a matrix, or the Euclidean norm of a vector."""
    xp = namespace(A)
    return float(xp.linalg.vector_norm(A))


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a Hermitian matrix: A = V diag(w) V^H."""
    xp = namespace(A)
    result = xp.linalg.eigh(A)
    return result[0], result[1]


def eigvalsh(A: Array) -> Array:
    """Eigenvalues (ascending) of a Hermitian matrix."""
    return namespace(A).linalg.eigvalsh(A)


def spectral_norm(A: Array) -> float:
    """max |lambda(A)| of a Hermitian matrix; 0 for an empty one."""
    if A.shape[0] == 0:
        return 0.0
    w = eigvalsh(A)
    return max(abs(float(w[0])), abs(float(w[-1])))


def cholesky(A: Array) -> Array | None:
    """The lower Cholesky factor, or None where A is not numerically positive definite."""
    xp = namespace(A)
    try:
        L = xp.linalg.cholesky(A)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    return L if bool(xp.all(xp.isfinite(xp.linalg.diagonal(L)))) else None


def inverse_factor(L: Array) -> Array:
    """L^{-1} of a lower triangular L."""
    if is_numpy(L):
        from scipy.linalg import lapack  # late: a third of the package's import time

        trtri = lapack.ztrtri if np.iscomplexobj(L) else lapack.dtrtri
        # LAPACK reads columns: the transpose of a C-ordered L is an upper triangle in its order
        inverse, info = trtri(L.T, lower=0)
        if info == 0:
            return inverse.T
    # of the upper triangle: its LU factorization is itself, with no row exchanged
    return adjoint(namespace(L).linalg.solve(adjoint(L), identity(L.shape[0], L)))


def inverse_from(inverse_L: Array) -> Array:
    """(L L^H)^{-1} = L^{-H} L^{-1}, from L^{-1}."""
    if is_numpy(inverse_L):
        from scipy.linalg import lapack

        lauum = lapack.zlauum if np.iscomplexobj(inverse_L) else lapack.dlauum
        # LAPACK reads columns: the transpose is an upper triangle V in its order, and lauum forms V V^H, half of it
        half, info = lauum(inverse_L.T, lower=0)
        if info == 0:
            upper = np.triu(half).T  # C order again, the conjugate's lower triangle
            return np.asarray(upper + np.tril(upper, -1).conj().T)
    return sym(adjoint(inverse_L) @ inverse_L)


def max_step(inverse_L: Array, D: Array) -> float:
    """The largest a with L L^H + a D positive semidefinite: 1 / max(0, -lambda_min(L^{-1} D L^{-H})).

    From n = `LANCZOS_FROM` on by Lanczos, with its residual subtracted: a few hundredths short, as a rule.
    """
    n = D.shape[0]
    upper = adjoint(inverse_L)
    if n < LANCZOS_FROM:
        lowest = float(eigvalsh(sym(inverse_L @ D @ upper))[0])
    else:
        lowest = lanczos_lowest(lambda v: inverse_L @ (D @ (upper @ v)), D)
    return -1.0 / lowest if lowest < 0 else float("inf")


LANCZOS_FROM = 100
"""Size from which Lanczos finds the lowest eigenvalue sooner than a full decomposition (measured: half
the time at 100, a twelfth at 500)."""


def lanczos_lowest(apply: Callable[[Array], Array], like: Array, accuracy: float = 0.03, most: int = 60) -> float:
    """theta - r: the lowest Ritz value of a Hermitian operator less its residual.

    Within r of theta lies an eigenvalue; that none lies below theta - r is as a rule true and never
    proven. Fixed start, full reorthogonalization; ends when r <= accuracy |theta|.

    References
    ----------
    Toh (2002), "A note on the calculation of step-lengths in interior-point methods for SDP".
    """
    xp = namespace(like)
    n = like.shape[0]
    q = from_numpy(np.random.default_rng(0).standard_normal(n), like)
    q = xp.astype(q / xp.linalg.vector_norm(q), like.dtype)
    basis, diagonal, off = q[None, :], [], []
    for k in range(1, min(most, n) + 1):
        w = apply(q)
        diagonal.append(float(real(xp.linalg.vecdot(q, w))))
        for _ in range(2):  # twice is enough
            w = w - (basis.mT @ (conjugate(basis) @ w))
        beta = float(xp.linalg.vector_norm(w))
        off.append(beta)
        exhausted = beta <= 1e-14 * (abs(diagonal[0]) + max(off)) or k == min(most, n)
        if exhausted or k % 4 == 0:
            T = np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)
            theta, vectors = np.linalg.eigh(T)
            residual = abs(beta * vectors[-1, 0])
            if exhausted or residual <= accuracy * abs(theta[0]):
                break
        q = w / beta
        basis = xp.concat([basis, q[None, :]])
    return float(theta[0]) - residual


def quadratic_forms(P: Array, X: Array) -> Array:
    """x_i^H X x_i for the rows x_i^T of P, shape (m, n) and (n, n) -> (m,), in one matrix product."""
    xp = namespace(P, X)
    return real(xp.linalg.vecdot(P, P @ X.mT))
