"""Linear algebra on floating point matrices without rounding: in whole numbers times a power of two.

Products V^T A V, Gauss-Jordan elimination, and null spaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from matrixlearn.linalg import is_complex

WORK = 4_000_000
"""The most operations on whole numbers that an elimination may take: about a second."""

EXACT = 2**53
"""Whole numbers up to here are floating point numbers."""


def integers(A: np.ndarray) -> np.ndarray:
    """A times the power of two that makes its entries whole and not all even; exactly, as Python's whole numbers."""
    return whole_numbers(A)[0]


def whole_numbers(A: np.ndarray) -> tuple[np.ndarray, int]:
    """(W, e) with A = W 2^e, W whole and not all even."""
    mantissa, exponent = np.frexp(A)
    whole = (mantissa * float(EXACT)).astype(np.int64).astype(object)
    least = int(exponent[A != 0].min()) if np.any(A != 0) else 0
    shifts = np.where(A != 0, exponent - least, 0).astype(object)
    whole = np.asarray(whole * (2**shifts))
    used = [int(value) for value in whole.reshape(-1) if value]
    common = min(((value & -value).bit_length() - 1 for value in used), default=0)
    return np.asarray(whole // 2**common), least - 53 + common


def last_bit(A: np.ndarray) -> int:
    """The largest e for which A is whole in units of 2^e; 0 where A is."""
    mantissa, exponent = np.frexp(A[A != 0])
    whole = (mantissa * float(EXACT)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(float))[1]
    return int(np.min(exponent + lowest, initial=2**20)) - 54 if len(whole) else 0


def odd_part(value: int) -> int:
    """|value| without its powers of two; 0 of 0."""
    return abs(value) // (value & -value) if value else 0


def exact_congruence(A: np.ndarray, V: np.ndarray) -> np.ndarray | None:
    """V^T A V where it is a floating point matrix, computed without rounding; else None. V is real."""
    if is_complex(A):
        real, imaginary = exact_congruence(np.real(A), V), exact_congruence(np.imag(A), V)
        return None if real is None or imaginary is None else real + 1j * imaginary
    if np.all(np.sum(V != 0, axis=0) == 1) and np.all(V[V != 0] == 1):  # rows and columns of A
        rows = np.argmax(V != 0, axis=0)
        return np.array(A[np.ix_(rows, rows)], dtype=float)
    out = np.zeros((V.shape[1],) * 2)
    used = np.flatnonzero(np.any(A != 0, axis=0))
    columns = np.flatnonzero(np.any(V[used] != 0, axis=0))  # the others of V^T A V are 0
    if len(columns) == 0:
        return out
    span = np.frexp(np.abs(A[A != 0]))[1]
    too_much = len(used) * len(columns) * (len(used) + len(columns)) > WORK
    if too_much or int(span.max()) - int(span.min()) > 400:
        return None
    product, e = whole_congruence(A[np.ix_(used, used)], V[np.ix_(used, columns)])
    if product.dtype == object and any(odd_part(k) > EXACT for k in map(int, product.reshape(-1))):
        return None
    out[np.ix_(columns, columns)] = np.ldexp(product.astype(float), e)
    return out


def whole_congruence(A: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, int]:
    """(W, e) with V^T A V = W 2^e, W whole: as floating point where no sum can be rounded, else Python's numbers."""
    e, f = last_bit(V), last_bit(A)
    with np.errstate(over="ignore", invalid="ignore"):
        inside, middle = np.ldexp(V, -e), np.ldexp(A, -f)
        if np.all(np.abs(inside).T @ np.abs(middle) @ np.abs(inside) <= EXACT):
            return inside.T @ middle @ inside, 2 * e + f
    (inside, e), (middle, f) = whole_numbers(V), whole_numbers(A)
    return inside.T.dot(middle).dot(inside), 2 * e + f


def reduced_echelon(rows: Iterable[np.ndarray]) -> tuple[list[int], list[np.ndarray], list[int]]:
    """(pivots, lines, which rows they came from) of Gauss-Jordan elimination in whole numbers.

    Line k is 0 at all pivots but its own; the rows that are not named follow from those before.
    """
    pivots: list[int] = []
    lines: list[np.ndarray] = []
    named: list[int] = []
    for j, row in enumerate(rows):
        line = row
        for pivot, other in zip(pivots, lines, strict=True):
            line = without(line, other, pivot)
        at = next((k for k, value in enumerate(line) if value), None)
        if at is None:
            continue
        lines = [without(other, line, at) for other in lines]
        pivots.append(at)
        lines.append(line)
        named.append(j)
    return pivots, lines, named


def without(line: np.ndarray, other: np.ndarray, at: int) -> np.ndarray:
    """A multiple of the line, less one of the other, so that it is 0 at one place; whole numbers without a divisor."""
    if not line[at]:
        return line
    return without_divisor(line * other[at] - other * line[at])


def without_divisor(line: np.ndarray) -> np.ndarray:
    """Whole numbers over their greatest common divisor."""
    common = gcd(*line.tolist())
    return line if common in (0, 1) else np.asarray(line // common)


def null_space(N: np.ndarray) -> np.ndarray | None:
    """A basis of {x : N x = 0} in whole numbers, (n, r); None where it takes too much or its numbers are large."""
    n = len(N)
    distinct = np.unique(N, axis=0)
    if len(distinct) ** 2 * n > WORK or float(np.abs(N).max()) > 2.0**900:
        return None
    span = np.frexp(np.abs(N[N != 0]))[1]
    if len(span) and int(span.max()) - int(span.min()) > 400:
        return None
    pivots, lines, _ = reduced_echelon(integers(distinct))
    free = [k for k in range(n) if k not in set(pivots)]
    V = np.zeros((n, len(free)))
    for column, k in enumerate(free):
        below = {p: Fraction(-line[k], line[p]) for p, line in zip(pivots, lines, strict=True) if line[k]}
        vector = {k: Fraction(1)} | below
        common = lcm(*(value.denominator for value in vector.values()))
        for place, value in vector.items():
            whole = int(value * common)
            if abs(whole) > EXACT:
                return None
            V[place, column] = whole
    return V
