"""The largest eigenvalue of a real symmetric matrix: guessed by ARPACK, proven by a Cholesky factorization.

    t I - A = L L^T  succeeds in floating point   implies   lambda_max(A) <= t + (n + 1) eps trace(t I - A),

nearly (Demmel 1989; Rump 2006): the allowance for rounding of a certificate holds that. One factorization costs
n^3 / 3 and BLAS-3. NumPy and SciPy only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ALL_BELOW = 200
"""Size below which a full decomposition guesses as quickly as ARPACK."""

PROVE_FROM = 1200
"""Size from which guess and factorization are quicker than all eigenvalues (measured on Gset near the optimum,
where the largest ones cluster: 0.12 s and 0.045 s at 800; 0.34 s and 0.61 s at 2000)."""


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


def checked_largest(A: np.ndarray, operator: Any = None) -> float:
    """A number t with lambda_max(A) <= t, but for rounding, and close to it.

    Parameters
    ----------
    A : ndarray, shape (n, n)
    operator : sparse matrix, optional
        A again, for quick products.
    """
    if A.shape[0] >= PROVE_FROM:
        products = A if operator is None else operator
        theta, u = guess_largest(products)
        residual = float(np.linalg.norm(products @ u - theta * u))
        margin = max(1e-9 * row_sum_norm(products), 1e-3 * residual)  # theta is off by less than its residual
        for _ in range(8):
            if positive_definite(theta + margin, A):
                return theta + margin
            margin *= 8
    return float(np.linalg.eigvalsh(A)[-1])


def positive_definite(t: float, A: np.ndarray) -> bool:
    """Whether the Cholesky factorization of t I - A succeeds."""
    S = -A
    S[np.diag_indices_from(S)] += t
    try:
        np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return False
    return True
