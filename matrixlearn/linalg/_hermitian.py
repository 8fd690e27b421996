"""Functions of real symmetric and complex Hermitian matrices, on any array namespace.

NumPy arrays take LAPACK's in-place routines where these are measurably faster; other namespaces
take the functions of the array API standard. The answers are the same to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from matrixlearn._array import from_numpy, identity, is_numpy, is_sparse, namespace, zeros
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
    """<A, B> = Re tr(A^H B), the real inner product of Hermitian matrices (or of vectors); A may be scipy sparse."""
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        return float(np.vdot(A, B).real)  # one pass, no temporary
    if is_sparse(A):
        return float(np.real(A.conj().multiply(B).sum()))
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


def max_step(inverse_L: Array, D: Array) -> float:
    """The largest a with L L^H + a D positive semidefinite: 1 / max(0, -lambda_min(L^{-1} D L^{-H})).

    From n = `LANCZOS_FROM` on by Lanczos, with its residual subtracted: a few hundredths short, as a rule; what is
    beyond 1 is only known to be.
    """
    upper = adjoint(inverse_L)
    if D.shape[0] < LANCZOS_FROM:
        lowest = _lowest(inverse_L @ D @ upper)  # which reads one triangle
    else:
        like = inverse_L if is_complex(inverse_L) else D
        lowest = lanczos_lowest(lambda v: inverse_L @ (D @ (upper @ v)), like, enough=-0.9)
    return -1.0 / lowest if lowest < 0 else float("inf")


LANCZOS_FROM = 70
"""Size from which Lanczos finds the lowest eigenvalue sooner than a full decomposition (measured: half
the time at 100, a twelfth at 500)."""


def _lowest(A: Array) -> float:
    """lambda_min(A); by LAPACK without the others, where A is NumPy's: half the time."""
    if isinstance(A, np.ndarray) and A.dtype == np.float64:
        w, _, _, _, info = lapack().dsyevr(A.T, compute_v=0, range="I", il=1, iu=1, lower=1)
        if info == 0:
            return float(w[0])
    return float(eigvalsh(A)[0])


@cache
def _start(n: int) -> np.ndarray:
    """A vector of norm one that no data know."""
    q = np.random.default_rng(0).standard_normal(n)
    return np.asarray(q / np.linalg.norm(q))


def lanczos_lowest(
    apply: Callable[[Array], Array],
    like: Array,
    accuracy: float = 0.03,
    most: int = 60,
    enough: float = -float("inf"),
) -> float:
    """theta - r: the lowest Ritz value of a Hermitian operator less its residual.

    Within r of theta lies an eigenvalue; that none lies below theta - r is as a rule true and never
    proven. Fixed start, full reorthogonalization; ends when r <= accuracy |theta|, or theta - r >= ``enough``.

    References
    ----------
    Toh (2002), "A note on the calculation of step-lengths in interior-point methods for SDP".
    """
    xp, n = namespace(like), like.shape[0]
    most = min(most, n)
    q = xp.astype(from_numpy(_start(n), like), like.dtype)
    basis, T, size = zeros((most, n), like), np.zeros((most, most)), 0.0
    plain = not is_complex(like)
    for k in range(1, most + 1):
        basis[k - 1, :] = q
        w = apply(q)
        against = basis[:k, :]
        dual = against if plain else conjugate(against)
        inside = dual @ w
        w = w - against.mT @ inside
        w = w - against.mT @ (dual @ w)  # twice is enough
        T[k - 1, k - 1] = alpha = float(inside[k - 1] if plain else real(inside)[k - 1])
        beta, size = frobenius(w), max(size, abs(alpha))
        exhausted = k == most or beta <= 1e-14 * size
        if exhausted or k % 4 == 0:
            theta, vectors = np.linalg.eigh(T[:k, :k])
            residual = abs(beta * vectors[-1, 0])
            if exhausted or residual <= accuracy * abs(theta[0]) or theta[0] - residual >= enough:
                break
        T[k - 1, k] = T[k, k - 1] = beta
        q, size = w / beta, max(size, beta)
    return float(theta[0]) - residual


def quadratic_forms(P: Array, X: Array) -> Array:
    """x_i^H X x_i for the rows x_i^T of P, shape (m, n) and (n, n) -> (m,), in one matrix product."""
    xp = namespace(P, X)
    return real(xp.linalg.vecdot(P, P @ X.mT))
