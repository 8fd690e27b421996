"""Units for the rows and for the basis, powers of two: an exactly equivalent program whose entries are of one size.

    C' = T C T,   A'_j = r_j T A_j T,   b'_j = r_j b_j,   X = T X' T,   y_j = r_j y'_j

T comes from geometric means of the entries, r from the largest of a row, in turn. A program in other units, X -> D X D
or rows times numbers, becomes the same one but for the rounding to powers of two. Powers of four for r keep the roots
of rank-one rows exact.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from matrixlearn.maps import DenseMap, LinearMap, RankOneMap, ScaledMap, SparseMap
from matrixlearn.maps.base import CHUNK

SWEEPS = 6
"""Alternations: each halves what is left, in logarithms."""

EVEN = 8.0
"""The ratio of sizes up to which a program is left as it stands."""


@singledispatch
def largest_entries(family: LinearMap, weights: np.ndarray) -> np.ndarray:
    """max_j weights_j |A_j|, entry by entry, (n, n)."""
    m, n = family.shape
    out = np.zeros((n, n))
    for j in range(m):
        np.maximum(out, weights[j] * np.abs(family.matrix(j)), out=out)
    return out


@largest_entries.register
def _(family: DenseMap, weights: np.ndarray) -> np.ndarray:
    m, n = family.shape
    out, chunk = np.zeros((n, n)), max(1, CHUNK // (n * n))
    for start in range(0, m, chunk):
        part = np.abs(family.A[start : start + chunk]) * weights[start : start + chunk, None, None]
        np.maximum(out, part.max(axis=0), out=out)
    return out


@largest_entries.register
def _(family: RankOneMap, weights: np.ndarray) -> np.ndarray:
    # |a_i a_k| <= max(|a_i|^2, |a_k|^2): the diagonal says how large the entries are
    diagonal = (weights[:, None] * np.abs(family.P) ** 2).max(axis=0)
    return np.asarray(np.sqrt(np.outer(diagonal, diagonal)) * np.eye(len(diagonal)))


@largest_entries.register
def _(family: SparseMap, weights: np.ndarray) -> np.ndarray:
    rows = abs(family.rows).multiply(weights[:, None]).tocsc()
    return np.asarray(rows.max(axis=0).toarray()).reshape(family.n, family.n)


@largest_entries.register
def _(family: ScaledMap, weights: np.ndarray) -> np.ndarray:
    return largest_entries(family.base, np.abs(family.factors) * weights)


@singledispatch
def largest_by_row(family: LinearMap, t: np.ndarray) -> np.ndarray:
    """max over the entries of T |A_j| T, (m,)."""
    weight = np.outer(t, t)
    return np.array([float(np.max(np.abs(family.matrix(j)) * weight)) for j in range(family.shape[0])])


@largest_by_row.register
def _(family: DenseMap, t: np.ndarray) -> np.ndarray:
    m, n = family.shape
    out, chunk, weight = np.empty(m), max(1, CHUNK // (n * n)), np.outer(t, t)
    for start in range(0, m, chunk):
        out[start : start + chunk] = (np.abs(family.A[start : start + chunk]) * weight).max(axis=(1, 2))
    return out


@largest_by_row.register
def _(family: RankOneMap, t: np.ndarray) -> np.ndarray:
    return np.asarray((np.abs(family.P) * t).max(axis=1) ** 2)


@largest_by_row.register
def _(family: SparseMap, t: np.ndarray) -> np.ndarray:
    rows = abs(family.rows).multiply(np.outer(t, t).reshape(1, -1)).tocsr()
    return np.asarray(rows.max(axis=1).toarray()).ravel()


@largest_by_row.register
def _(family: ScaledMap, t: np.ndarray) -> np.ndarray:
    return np.abs(family.factors) * largest_by_row(family.base, t)


@singledispatch
def in_units(family: LinearMap, t: np.ndarray, r: np.ndarray) -> LinearMap:
    """The r_j T A_j T, exactly."""
    weight = np.outer(t, t)
    return DenseMap(np.stack([r[j] * (weight * family.matrix(j)) for j in range(family.shape[0])]))


@in_units.register
def _(family: DenseMap, t: np.ndarray, r: np.ndarray) -> LinearMap:
    return DenseMap(family.A * np.outer(t, t) * r[:, None, None])


@in_units.register
def _(family: RankOneMap, t: np.ndarray, r: np.ndarray) -> LinearMap:
    return RankOneMap(family.P * t * np.sqrt(r)[:, None])


@in_units.register
def _(family: SparseMap, t: np.ndarray, r: np.ndarray) -> LinearMap:
    rows = family.rows.copy()
    i, k = rows.indices // family.n, rows.indices % family.n
    rows.data = rows.data * (t[i] * t[k] * np.repeat(r, np.diff(rows.indptr)))
    return SparseMap(rows, family.n)


@in_units.register
def _(family: ScaledMap, t: np.ndarray, r: np.ndarray) -> LinearMap:
    return ScaledMap(in_units(family.base, t, r), family.factors)


def powers(values: np.ndarray, base: int = 2) -> np.ndarray:
    """The nearest powers of two, or of four."""
    step = base // 2
    return np.asarray(np.ldexp(1.0, (step * np.rint(np.log2(values) / step)).astype(int)))


def root_powers(values: np.ndarray) -> np.ndarray:
    """The powers of two next to the roots; at a tie that whose exponent is even."""
    return np.asarray(np.ldexp(1.0, np.rint(np.log2(values) / 2).astype(int)))


def even_units(
    C: np.ndarray, family: LinearMap, b: np.ndarray, given: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(t, r): ones where the entries are of one size already; t = 1 where they are, and what rows ask for, in the r.

    Where t is ``given``, r alone.
    """
    if given is not None:
        return given, _units_of_rows(family, given)
    (m, n), size = family.shape, np.abs(C)
    t, r = np.ones(n), np.ones(m)
    for sweep in range(SWEEPS):
        rows = largest_by_row(family, t)
        r = 1.0 / np.where(rows > 0, rows, 1.0)
        weight = np.outer(t, t)
        parts = [part for part in (largest_entries(family, r) * weight, size * weight) if part.any()]
        if not parts:
            break
        if sweep == 0 and all(_is_even(part) for part in parts):
            if _ratio(rows) <= EVEN:
                return t, np.ones(m)
            if _ratio(np.abs(b) * r) <= EVEN**2:
                return t, powers(r, base=4)
        logs, counts = np.zeros(n), np.zeros(n)
        for part in parts:
            used = part > 0
            log = np.log2(part, where=used, out=np.zeros_like(part))
            log[used] -= log[used].mean()
            logs += log.sum(axis=1)
            counts += used.sum(axis=1)
        t = t * np.exp2(-0.5 * logs / np.maximum(counts, 1))
    t = powers(t / np.exp2(np.mean(np.log2(t))))
    return t, _units_of_rows(family, t)


def _units_of_rows(family: LinearMap, t: np.ndarray) -> np.ndarray:
    """r, so that the largest entry of each row is about 1."""
    rows = largest_by_row(family, t)
    return powers(1.0 / np.where(rows > 0, rows, 1.0), base=4)


def units_of(X: np.ndarray) -> np.ndarray | None:
    """t, powers of two, with X_ii about t_i^2 times a mean; None where X_ii is not positive, or all are of one size.

    D X D has the units D t, so that a program is solved in the same units whatever those of its user are.
    """
    diagonal = np.real(np.diagonal(X))
    if not (np.isfinite(diagonal).all() and np.all(diagonal > 0)) or _ratio(diagonal) <= EVEN**2:
        return None
    logs = np.log2(diagonal) / 2
    return powers(np.exp2(logs - np.mean(logs)))


def _ratio(values: np.ndarray) -> float:
    """The largest over the least positive one."""
    positive = values[values > 0]
    with np.errstate(over="ignore"):
        return float(positive.max() / positive.min()) if len(positive) else 1.0


def _is_even(part: np.ndarray) -> bool:
    """Whether the largest entries of the rows are of one size."""
    return _ratio(part.max(axis=1)) <= EVEN
