"""The largest eigenvalue of a real symmetric matrix: guessed by Lanczos, proven by a factorization.

Dense, by Cholesky, n^3 / 3 and BLAS-3:

    t I - A = L L^T  succeeds in floating point   implies   lambda_max(A) <= t + (n + 2) eps trace(t I - A)

(Demmel 1989; Rump 2006, with twice the unit roundoff).

Sparse, by an LU factorization with the pivots on the diagonal (`matrixlearn.linalg.inertia`), whose error is bounded
from the computed factors: two hundredths of a second on a torus of 20,000 vertices. Such factors also guess: Lanczos
on (t I - A)^{-1}, t a little above lambda_max, tells eigenvalues apart that cluster, as they do at the optimum of a
dual; on A itself ARPACK needs 1,500 products there. NumPy and SciPy only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg._hermitian import cholesky
from matrixlearn.linalg.inertia import definite_factors, semidefinite_error
from matrixlearn.linalg.krylov import krylov_spaces
from matrixlearn.linalg.tridiagonal import pairs_of, values_of

ALL_BELOW = 200
"""Size below which a full decomposition guesses as quickly as ARPACK."""

PROVE_FROM = 1200
"""Size from which guess and factorization are quicker than all eigenvalues (measured on Gset near the optimum,
where the largest ones cluster: 0.12 s and 0.045 s at 800; 0.34 s and 0.61 s at 2000)."""

SPARSE = 8
"""Entries a row up to which a sparse matrix is factorized sparse from `ALL_BELOW` on. The fill of others is as a rule
nearly full, where LAPACK is quicker (benchmarks/maxcut/low_rank_scale.py): dense, up to `DENSE_BELOW`."""

DENSE_BELOW = 4000
"""Size from which no dense n x n array is formed of a sparse matrix: 128 MB."""


def row_sum_norm(A: Any) -> float:
    """max_i sum_j |A_ij| >= ||A||_2, of a dense or sparse A."""
    return float(np.max(abs(A).sum(axis=1), initial=0.0))


def gershgorin(A: Any) -> float:
    """max_i A_ii + sum_{j != i} |A_ij| >= lambda_max(A), but for rounding of the sums."""
    diagonal = A.diagonal()
    return float(np.max(diagonal + (abs(A).sum(axis=1) - np.abs(diagonal))))


def guess_largest(A: Any, tol: float = 1e-6, maxiter: int | None = None) -> tuple[float, np.ndarray]:
    """(theta, u), nearly the largest eigenpair; u has norm one and theta = u.A u <= lambda_max.

    Sparse with little fill, by inverses (`_by_inverses`). Else ARPACK works on A + ||A|| I, so that ``tol`` is relative
    to the size of A and not to an eigenvalue near 0. Where it does not converge, the best of its vectors is taken, or
    else that of a full decomposition.
    """
    n = A.shape[0]
    if n < ALL_BELOW:
        return _by_decomposition(A)
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh  # late: import time

    size = row_sum_norm(A)
    if size == 0:
        return 0.0, np.full(n, n**-0.5)
    if _fills_little(A) and (pair := _by_inverses(A, tol * size)) is not None:
        return pair
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


def _fills_little(A: Any) -> bool:
    return hasattr(A, "tocsc") and A.nnz <= SPARSE * A.shape[0]


@dataclass(frozen=True)
class _Inverse:
    """S^{-1} of its factors, as an operator."""

    factors: Any
    dtype = np.dtype(float)

    @property
    def shape(self) -> tuple[int, int]:
        return tuple(self.factors.shape)

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.factors.solve(v))


def _by_inverses(A: Any, accuracy: float) -> tuple[float, np.ndarray] | None:
    """The pair by Lanczos on (t I - A)^{-1}, until its residual is at most ``accuracy``; None where it stays larger.

    t comes down from a norm to theta plus its residual, which no eigenvalue near theta exceeds; where one does, the
    factors are not definite and t goes up again.
    """
    import scipy.sparse as sp  # late: import time

    noise = np.random.default_rng(0).standard_normal(A.shape[0])
    identity, u = sp.eye_array(A.shape[0]), np.zeros_like(noise)
    theta, margin = 0.0, (1 + 1e-3) * row_sum_norm(A)
    for _ in range(8):
        factors = definite_factors(sp.csc_array((theta + margin) * identity - A))
        if factors is None:
            margin *= 8
            continue
        for space in krylov_spaces(_Inverse(factors), u + 0.1 * noise / np.linalg.norm(noise), 30):
            u = space.basis.T @ space.vectors[:, -1]
            u /= np.linalg.norm(u)
            Au = A @ u
            theta = float(u @ Au)
            residual = float(np.linalg.norm(Au - theta * u))
            if residual <= accuracy:
                return theta, u
        margin = residual
    return None


def _by_decomposition(A: Any) -> tuple[float, np.ndarray]:
    top = pairs_of(A.toarray() if hasattr(A, "toarray") else A).ends(0, 1)
    return float(top.w[0]), np.asarray(top.V[:, 0])


def checked_largest(A: Any) -> float:
    """A number t with lambda_max(A) <= t, and close to it; A dense or sparse, (n, n).

    From a factorization t holds its rounding; all eigenvalues, where they are quicker, have theirs: some n eps ||A||_F.
    """
    n = A.shape[0]
    sparse = hasattr(A, "tocsc")
    if sparse and (n >= DENSE_BELOW or (n >= ALL_BELOW and _fills_little(A))):
        bound = _proven(A, lambda t: sparse_bound(t, A))
        if bound is not None:
            return bound
        if n >= DENSE_BELOW:
            return gershgorin(A)
    dense = A.toarray() if sparse else A
    if n >= PROVE_FROM:
        bound = _proven(A, lambda t: dense_bound(t, dense))
        if bound is not None:
            return bound
    return float(values_of(dense).extremes()[1])


def _proven(A: Any, proof: Callable[[float], float | None]) -> float | None:
    """The first bound that a factorization gives at or above the guess, or None."""
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
    if cholesky(S) is None:
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
            pass  # not converged
    low = min(k, n // 2) if both else 0
    pairs = pairs_of(F).ends(low, min(k, n - low))
    return pairs.w, pairs.V
