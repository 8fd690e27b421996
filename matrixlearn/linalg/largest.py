"""The largest eigenvalue of a real symmetric matrix: guessed by ARPACK, proven by a factorization.

Dense, by Cholesky, n^3 / 3 and BLAS-3:

    t I - A = L L^T  succeeds in floating point   implies   lambda_max(A) <= t + (n + 2) eps trace(t I - A)

(Demmel 1989; Rump 2006, with twice the unit roundoff).

Sparse, by an LU factorization with the pivots on the diagonal (`matrixlearn.linalg.inertia`), whose error is bounded
from the computed factors: two hundredths of a second on a torus of 20,000 vertices. NumPy and SciPy only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matrixlearn._array import EPS, as_numpy, columns
from matrixlearn.linalg._hermitian import eigh
from matrixlearn.linalg.inertia import semidefinite_error

ALL_BELOW = 200
"""Size below which a full decomposition guesses as quickly as ARPACK."""

PROVE_FROM = 1200
"""Size from which guess and factorization are quicker than all eigenvalues (measured on Gset near the optimum,
where the largest ones cluster: 0.12 s and 0.045 s at 800; 0.34 s and 0.61 s at 2000)."""

SPARSE = 8
"""Entries a row up to which a sparse matrix is factorized sparse from `ALL_BELOW` on. The fill of others is as a rule
nearly full, where LAPACK is quicker (benchmarks/low_rank_scale.py): dense, up to `DENSE_BELOW`."""

DENSE_BELOW = 4000
"""Size from which no dense n x n array is formed of a sparse matrix: 128 MB."""


def row_sum_norm(A: Any) -> float:
    """max_i sum_j |A_ij| >= ||A||_2, of a dense or sparse A."""
    return float(np.max(abs(A).sum(axis=1), initial=0.0))


def guess_largest(A: Any, tol: float = 1e-6, maxiter: int | None = None) -> tuple[float, np.ndarray]:
    """(theta, u), nearly the largest eigenpair; u has norm one and theta = u.A u <= lambda_max.

    ARPACK works on A + ||A|| I, so that ``tol`` is relative to the size of A and not to an eigenvalue near 0. Where
    it does not converge, the best of its vectors is taken, or else that of a full decomposition.
    """
    n = A.shape[0]
    if n < ALL_BELOW:
        return _by_decomposition(A)
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh  # late: import time

    size = row_sum_norm(A)
    if size == 0:
        return 0.0, np.full(n, n**-0.5)
    shifted = LinearOperator((n, n), matvec=lambda v: A @ v.ravel() / size + v.ravel(), dtype=float)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        u = eigsh(shifted, k=1, which="LA", tol=tol, v0=start, ncv=min(n, 40), maxiter=maxiter)[1][:, 0]
    except ArpackNoConvergence as failure:
        if failure.eigenvectors.shape[1] == 0:
            return _by_decomposition(A)
        u = failure.eigenvectors[:, -1]
    u = u / np.linalg.norm(u)
    return float(u @ (A @ u)), u


def _by_decomposition(A: Any) -> tuple[float, np.ndarray]:
    w, V = np.linalg.eigh(A.toarray() if hasattr(A, "toarray") else A)
    return float(w[-1]), V[:, -1]


def checked_largest(A: Any) -> float:
    """A number t with lambda_max(A) <= t, and close to it; A dense or sparse, (n, n).

    From a factorization t holds its rounding; all eigenvalues, where they are quicker, have theirs: some n eps ||A||_F.
    """
    n = A.shape[0]
    sparse = hasattr(A, "tocsc")
    if sparse and (n >= DENSE_BELOW or (n >= ALL_BELOW and A.nnz <= SPARSE * n)):
        bound = _proven(A, lambda t: sparse_bound(t, A))
        if bound is not None:
            return bound
        if n >= DENSE_BELOW:
            return float(np.max(A.diagonal() + (abs(A).sum(axis=1) - np.abs(A.diagonal()))))  # Gershgorin's circles
    dense = A.toarray() if sparse else A
    if n >= PROVE_FROM:
        bound = _proven(A, lambda t: dense_bound(t, dense))
        if bound is not None:
            return bound
    return float(np.linalg.eigvalsh(dense)[-1])


def _proven(A: Any, proof: Callable[[float], float | None]) -> float | None:
    """The first bound that a factorization gives at or above ARPACK's guess, or None."""
    theta, u = guess_largest(A)
    residual = float(np.linalg.norm(A @ u - theta * u))
    margin = max(1e-9 * row_sum_norm(A), 1e-3 * residual)  # theta is off by less than its residual
    for _ in range(12):
        bound = proof(theta + margin)
        if bound is not None:
            return bound
        margin *= 8
    return None


def sparse_bound(t: float, A: Any) -> float | None:
    """t plus the error with which a sparse factorization proves t I - A >= 0, or None where it does not."""
    import scipy.sparse as sp  # late: import time

    error = semidefinite_error(sp.csc_array(t * sp.eye_array(A.shape[0]) - A))
    # rounding of t - A_ii itself: half a unit in the last place of either
    return None if error is None else t + error + EPS * (abs(t) + float(np.max(np.abs(A.diagonal()))))


def dense_bound(t: float, A: np.ndarray) -> float | None:
    """t plus the error with which a Cholesky factorization proves t I - A >= 0, or None where it does not."""
    S = -A
    S[np.diag_indices_from(S)] += t
    total = float(np.trace(S))
    try:
        np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return None
    return t + (len(A) + 2) * EPS * total


LANCZOS_FROM = 600
"""Size from which Lanczos finds a few rough vectors at both ends sooner than a full decomposition."""


def extreme_pairs(F: Any, k: int, both: bool = True) -> tuple[np.ndarray, Any]:
    """Up to k eigenpairs at the upper end of a Hermitian F, and as many at the lower end; (values, vectors as columns).

    From `LANCZOS_FROM` on they are rough, to a hundredth: for cuts, not for certificates.
    """
    n = F.shape[0]
    if isinstance(F, np.ndarray) and n >= max(LANCZOS_FROM, 8 * k):
        from scipy.sparse.linalg import ArpackError, eigsh  # late: import time

        start = np.random.default_rng(0).standard_normal(n).astype(F.dtype)
        try:
            return eigsh(F, k=2 * k if both else k, which="BE" if both else "LA", tol=1e-2, v0=start)
        except ArpackError:
            pass  # not converged: a full decomposition is next
    w, V = eigh(F)
    low = min(k, n // 2) if both else 0
    index = np.concatenate([np.arange(low), np.arange(max(low, n - k), n)])
    return as_numpy(w)[index], columns(V, index)
