"""Work in min(m + n, N) dimensions, from samples or from a kernel matrix.

For samples x_1, ..., x_q (rows of P, N columns) every matrix M = sum_i d_i x_i x_i^T lives on
their span. With K = P P^T and any factor K = L L^T, L of shape (q, r), r = rank K, there is an
isometry Q (N x r) with P = L Q^T; hence

    M = Q (L^T diag(d) L) Q^T,      x_i^T f(M) x_i = l_i^T f(L^T diag(d) L) l_i   for f(0) = 0,

and L^T diag(d) L has the eigenvalues of K^{1/2} diag(d) K^{1/2} (thesis, eqs. (2.16)-(2.18) and
Lemma 2.4.1; the source part of d is -z). A problem written in the rows of L is therefore the
problem itself in r <= min(q, N) dimensions. The trace of an exponential counts r dimensions, not
N: a consistent choice, since an optimum lies in the span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import EPS, as_numpy, from_numpy, namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents.base import Exponent
from matrixlearn.linalg import adjoint, conjugate, eigh
from matrixlearn.typing import Array


def _rank(w: np.ndarray, size: int) -> int:
    """How many singular values are above the rounding of the largest; at least one."""
    return max(1, int(np.sum(w > size * EPS * np.max(w))))


def span_coordinates(P: Array) -> Array:
    """Rows l_i with the Gram matrix P P^H of the rows of P, real or complex, in r = rank(P) columns; (q, N) -> (q, r).

    P itself where it has full column rank: nothing is gained there. One column where P = 0.

    From the triangular factor of P or of P^T and its singular values, not from a Gram matrix: that would
    drop directions of a relative size of 1e-7, which a certificate sees.
    """
    xp = namespace(P)
    q, N = P.shape
    R = xp.linalg.qr(P if q >= N else P.mT)[1]
    r = _rank(as_numpy(xp.linalg.svdvals(R)), max(q, N))
    if r == min(q, N):
        return P if q >= N else R.mT  # P = R^T Q^T
    U, _, adjoint_V = xp.linalg.svd(R)
    return P @ adjoint(adjoint_V)[:, :r] if q >= N else R.mT @ conjugate(U)[:, :r]


def kernel_coordinates(K: Array) -> Array:
    """Rows l_i with l_i . l_j = K_ij, in rank(K) columns; (q, q) -> (q, r).  One column where K = 0.

    Raises
    ------
    ProblemError
        Where K is indefinite beyond rounding: the message names the smallest eigenvalue.
    """
    xp = namespace(K)
    q = K.shape[0]
    w, V = eigh(K)
    eigenvalues = as_numpy(w)
    largest = float(np.max(np.abs(eigenvalues)))
    if float(eigenvalues[0]) < -1e-10 * q * largest:
        msg = (
            f"kernel must be positive semidefinite, but its smallest eigenvalue is "
            f"{float(eigenvalues[0]):.3g} (largest {largest:.3g}); clip or shift its spectrum first"
        )
        raise ProblemError(msg)
    r = _rank(eigenvalues, 8 * q)  # K's own entries are rounded
    return V[:, q - r :] * xp.sqrt(xp.clip(w[q - r :], 0.0))


@dataclass(frozen=True)
class KernelizedExponent(Exponent):
    """An exponent routine on losses G = sum_i d_i x_i x_i^T that are given by their coefficients d.

    Parameters
    ----------
    inner : Exponent
        The routine in r dimensions.
    coordinates : array, shape (q, r)
        From `span_coordinates` or `kernel_coordinates`.
    """

    inner: Exponent
    coordinates: Array

    def __call__(self, d: Array) -> Array:
        """X(L^T diag(d) L), shape (q,) -> (r, r)."""
        L = self.coordinates
        return self.inner((L * d[:, None]).mT @ L)

    def zero(self, like: Array) -> Array:
        return from_numpy(np.zeros(self.coordinates.shape[0]), like)

    def accumulate(self, G: Array, loss: Array, step: float) -> Array:
        return G + step * loss
