"""Bounds on eigenvalues and singular values that are proved in floating point.

Cholesky.  If the factorization of a Hermitian floating point matrix F of order n runs to its end, then

    lambda_min(F) >= -gamma Tr F,      gamma = (n + 2) u / (1 - (n + 2) u),   u = 2^-53

(Demmel 1989; Rump 2006): the backward error of an entry is at most gamma sqrt(F_ii F_jj), in whatever order its sum is
taken. F is scaled to a diagonal between 1/2 and 2 first, by powers of two, which is exact. Allowances are taken with
eps = 2 u, and twice for complex matrices, whose products round more.

All functions take NumPy arrays and read both triangles of an exactly Hermitian matrix.

References
----------
Demmel (1989), "On floating point errors in Cholesky"; Rump (2006), "Verification of positive definiteness"; Higham
(2002), "Accuracy and Stability of Numerical Algorithms", theorem 10.3.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg._hermitian import cholesky, is_complex
from matrixlearn.linalg._lapack import lapack

INF = float("inf")

SMALLEST = 1e-200
"""A diagonal entry below this proves nothing: products underflow, and the bounds on rounding do not hold."""

FEW = 32
"""Rows of blocks that are taken together: more of them cost less than more calls of LAPACK."""


def unit_diagonal(F: np.ndarray) -> np.ndarray:
    """Powers of two d with 1/2 <= d_i^2 F_ii <= 2; 1 where F_ii <= 0."""
    diagonal = np.real(np.diagonal(F))
    exponent = np.frexp(np.where(diagonal > 0, diagonal, 0.5))[1]
    return np.asarray(np.ldexp(1.0, -(exponent // 2)))


def starts_of_blocks(first: np.ndarray) -> np.ndarray:
    """The rows at which diagonal blocks begin; ``first`` is the first row in which each column has an entry."""
    least = np.minimum.accumulate(first[::-1])[::-1]
    return np.flatnonzero(least >= np.arange(len(first)))


def diagonal_blocks(*matrices: np.ndarray) -> list[slice]:
    """Parts of the rows that no nonzero entry of a matrix joins to others: neighbours of few rows are left together."""
    n = len(matrices[0])
    if n < 2 * FEW:
        return [slice(0, n)]
    first = np.arange(n)  # the first row of each column that is not 0
    for F in matrices:
        filled = F != 0
        first = np.where(filled.any(axis=0), np.minimum(first, np.argmax(filled, axis=0)), first)
    ends = [0]
    for row in starts_of_blocks(first).tolist():
        if row - ends[-1] >= FEW and n - row >= FEW:
            ends.append(row)
    return [slice(a, b) for a, b in pairwise([*ends, n])]


def is_definite(F: np.ndarray, margin: float | np.ndarray = 0.0) -> bool:
    """Whether F >= diag(margin) is proved; ``margin`` a number or one for each row, of either sign."""
    if not math.isfinite(float(np.sum(margin))):
        return False
    each = np.broadcast_to(margin, len(F))
    return all(_is_definite(F[block, block], each[block]) for block in diagonal_blocks(F))


def _is_definite(F: np.ndarray, margin: np.ndarray) -> bool:
    n = len(F)
    if n == 0:
        return True
    if not np.any(margin) and not np.any(F):
        return True  # 0 >= 0, which no factorization shows
    shifted = F.copy()
    shifted.flat[:: n + 1] -= margin
    diagonal = np.real(np.diagonal(shifted))
    if not (np.isfinite(diagonal).all() and float(diagonal.min()) > SMALLEST):
        return False
    d = unit_diagonal(shifted)
    shifted *= d
    shifted *= d[:, None]
    # the subtraction rounds by eps (|F_ii| + |margin_i|), the factorization by (n + 2) eps Tr
    size = d * d * (np.abs(np.real(np.diagonal(F))) + np.abs(margin))
    rounding = (2 if is_complex(F) else 1) * (n + 2) * EPS
    shifted.flat[:: n + 1] -= rounding * float(np.sum(np.real(np.diagonal(shifted)))) + EPS * size
    return cholesky(shifted) is not None


def least_eigenvalue(F: np.ndarray) -> float:
    """A proved lower bound of lambda_min(F), as a rule within a few n eps ||F||; -inf where F is not finite."""
    n = len(F)
    if n == 0:
        return INF
    if not np.isfinite(F).all():
        return -INF
    return min(_least_eigenvalue(F[block, block]) for block in diagonal_blocks(F))


def _least_eigenvalue(F: np.ndarray) -> float:
    n = len(F)
    w = np.linalg.eigvalsh(F)
    size = max(abs(float(w[0])), abs(float(w[-1])))
    step = 4 * n * EPS * size
    for _ in range(12):
        bound = float(w[0]) - step
        if is_definite(F, bound):
            return bound
        step *= 4
    return -(math.sqrt(n) * 2 * float(np.linalg.norm(F)))  # >= -||F||_F, rounding included


def approximate_least(F: np.ndarray) -> float:
    """lambda_min(F) as LAPACK computes it, block by block: nothing is proved. 0 of an empty matrix."""
    return min(float(np.linalg.eigvalsh(F[block, block])[0]) for block in diagonal_blocks(F)) if len(F) else 0.0


def least_singular_value(gram: np.ndarray, error: float) -> float:
    """sigma > 0 with lambda_min(G) >= sigma^2 proved of every G within ``error`` (in norm) of ``gram``, or 0.

    The estimate to begin with is LAPACK's, of the norm of the inverse; what is proved is half of it, as a rule.
    """
    m = len(gram)
    if m == 0:
        return INF
    factor = cholesky(gram)
    if factor is None:
        return 0.0
    size = float(np.max(np.sum(np.abs(gram), axis=0)))
    reciprocal, info = lapack().dpocon(factor.T, size)
    if info != 0:
        return 0.0
    guess = 0.9 * reciprocal * size
    for _ in range(8):
        if guess <= 0:
            break
        if is_definite(gram, guess + error):
            return math.sqrt(guess)
        guess /= 4
    return 0.0


def inner_bounded(A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
    """<A, B> = Re tr(A^H B), summed row by row, and a bound on what rounding did to it.

    Rows of n terms and a sum of n: 2 n + 2 roundings in a chain, (2 n + 2) eps sum_ik |A_ik B_ik|.
    """
    rows = np.einsum("ab,ab->a", A.conj(), B).real
    chain, terms = 2 * A.shape[1] + 4, float(np.vdot(np.abs(A), np.abs(B)))
    lost = A.size * SMALLEST if terms < SMALLEST and np.any((A != 0) & (B != 0)) else 0.0  # by underflow
    return float(np.sum(rows)), 2 * chain * EPS * terms + lost
