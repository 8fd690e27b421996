"""The matrices of a linear map without rounding: what proofs in whole numbers are about.

A_j = a a^T is kept by a, and its entries may have more digits than floating point has; then it has no matrix here.
"""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import frobenius, is_complex
from matrixlearn.linalg.verified import SMALLEST
from matrixlearn.maps import DenseMap, LinearMap, RankOneMap, ScaledMap, SparseMap, StackedMap
from matrixlearn.maps.bounded import apply_error

FEW = 400_000
"""The most entries of matrices that are kept as one array."""

CANCELLED = 1e6
"""Times the norm of a sum, beyond which the sizes of its terms say that they cancel."""


def two_product(a: np.ndarray, b: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """(p, e) with a b = p + e exactly, p the rounded product (Dekker 1971); where nothing over- or underflows."""

    def split(x: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        c = 134217729.0 * np.asarray(x)
        high = c - (c - x)
        return high, x - high

    p = np.asarray(a * b)
    (ah, al), (bh, bl) = split(a), split(b)
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def lost_by_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """e with a + b = s + e exactly, s the rounded sum (Knuth)."""
    total = a + b
    part = total - a
    return np.asarray((a - (total - part)) + (b - part))


def summed_products(a: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """(sum_j y_j a_j, a bound on the norm of its error), a of shape (m, ...): as if in twice the digits.

    The error is eps of the sum and (m eps)^2 of sum_j |y_j| |a_j|, however many digits of the terms cancel (Ogita, Rump
    and Oishi 2005, "Accurate sum and dot product").
    """
    parts = np.ascontiguousarray(a).view(float) if is_complex(a) else a
    m, total = len(y), np.zeros(parts.shape[1:])
    lost = np.zeros_like(total)
    with np.errstate(all="ignore"):
        for j in np.flatnonzero(y):
            term, less = two_product(parts[j], float(y[j]))
            lost = lost + (lost_by_sum(total, term) + less)
            total = total + term
        total = total + lost
        size = float(np.abs(y) @ np.linalg.norm(parts.reshape(m, -1), axis=1))
        error = EPS * float(np.linalg.norm(total)) + ((m + 4) * EPS) ** 2 * size + m * total.size * SMALLEST
    return total.view(a.dtype) if is_complex(a) else total, error if error < np.inf else np.inf


def applied(family: LinearMap, y: np.ndarray) -> tuple[np.ndarray, float]:
    """(sum_j y_j A_j, a bound on the norm of its error), in twice the digits where the terms cancel."""
    F = family.apply(y)
    if isinstance(family, DenseMap) and float(np.abs(y) @ family.sizes) > CANCELLED * frobenius(F):
        return summed_products(family.A, y)
    return F, apply_error(family, y)


def rounded_inner(b: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """(b.y, a bound on its error, sum_j |b_j y_j|): nothing is rounded but the result."""
    terms, lost = two_product(b, y)
    size = float(np.sum(np.abs(terms)))
    if not np.isfinite(lost).all():  # beyond 2^996
        return float(np.sum(terms)), (len(y) + 2) * EPS * size, size
    total = math.fsum([*terms.tolist(), *lost.tolist()])
    underflows = int(np.count_nonzero((b != 0) & (y != 0) & (np.abs(terms) < SMALLEST)))
    return total, (float(np.spacing(abs(total))) if total else 0.0) + underflows * SMALLEST, size


@singledispatch
def exact_matrix(family: LinearMap, j: int) -> np.ndarray | None:
    """A_j without rounding; None where it is not a floating point matrix."""
    return None


@exact_matrix.register(DenseMap)
@exact_matrix.register(SparseMap)
def _(family: LinearMap, j: int) -> np.ndarray | None:
    return np.asarray(family.matrix(j))


@exact_matrix.register
def _(family: RankOneMap, j: int) -> np.ndarray | None:
    parts = [np.real(family.P[j]), np.imag(family.P[j])] if is_complex(family.P) else [family.P[j]]
    products = [two_product(u[:, None], v[None, :]) for u in parts for v in parts]
    if any(np.any(lost) for _, lost in products) or (len(parts) > 1 and not _adds_exactly(products)):
        return None
    return np.asarray(family.matrix(j))


def _adds_exactly(products: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether the parts of (u + iv)(u - iv)^T, products of u and v, add up without rounding."""
    (uu, _), (uv, _), (vu, _), (vv, _) = products
    return not np.any(lost_by_sum(uu, vv)) and not np.any(lost_by_sum(vu, -uv))


@exact_matrix.register
def _(family: ScaledMap, j: int) -> np.ndarray | None:
    A = exact_matrix(family.base, j)
    if A is None or abs(np.frexp(family.factors[j])[0]) != 0.5:  # its products round
        return None
    return np.asarray(float(family.factors[j]) * A)


@exact_matrix.register
def _(family: StackedMap, j: int) -> np.ndarray | None:
    m = family.first.shape[0]
    return exact_matrix(family.first, j) if j < m else exact_matrix(family.second, j - m)


def as_dense(family: LinearMap) -> LinearMap:
    """The same matrices as one array, where they are few and floating point numbers: quicker, one by one."""
    m, n = family.shape
    if isinstance(family, DenseMap) or not 0 < m * n * n <= FEW:
        return family
    parts = [exact_matrix(family, j) for j in range(m)]
    known = [A for A in parts if A is not None]
    return DenseMap(np.stack(known)) if len(known) == m else family
