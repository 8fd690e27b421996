"""Samples that should not become a dense array: sparse text, and targets that come in batches.

K = P P^T                  is (m + n, m + n) however many features P has: sparse products, one dense result
sum_j p_j x_j x_j^T = T^T T / k      with k <= N rows in T: all that a discrepancy sees of a target
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import kernel_coordinates, span_coordinates
from matrixlearn.linalg import cholesky, is_complex
from matrixlearn.validation import as_array, as_samples


def is_sparse(samples: Any) -> bool:
    """Whether the samples are a scipy sparse matrix or array."""
    return hasattr(samples, "tocsr")


def as_points(name: str, samples: Any) -> Any:
    """A two-dimensional array of real or complex samples, one a row.

    Raises
    ------
    ProblemError
        Otherwise; the message names the argument.
    """
    array = as_array(name, samples)
    return array if array.ndim == 2 and is_complex(array) else as_samples(name, array)


def as_sparse_samples(name: str, samples: Any) -> Any:
    """A real float64 CSR array of finite values, one sample a row; from a sparse or a dense array.

    Raises
    ------
    ProblemError
        As for dense samples; the message names the argument.
    """
    import scipy.sparse as sp  # late: import time

    if not is_sparse(samples):
        return sp.csr_array(as_samples(name, samples))
    if samples.ndim != 2 or 0 in samples.shape:
        msg = f"{name} must be two-dimensional (samples, features) and not empty, got shape {tuple(samples.shape)}"
        raise ProblemError(msg)
    rows = sp.csr_array(samples, copy=True)
    if rows.nnz:
        values = as_array(name, rows.data)
        if np.iscomplexobj(values):
            msg = f"{name} must be real, got {values.dtype}"
            raise ProblemError(msg)
        rows.data = values
    else:
        rows = rows.astype(float)
    return rows


def in_order_of(X_source: Any, X_target: Any) -> Any:
    """The target with its columns in the source's order, where both are data frames.

    Raises
    ------
    ProblemError
        Where they have other names, or the order cannot be told from the names.
    """
    names, others = (list(X.columns) if hasattr(X, "columns") else None for X in (X_source, X_target))
    if names is None or others is None or names == others:
        return X_target
    if len(set(names)) < len(names) or set(names) != set(others) or len(names) != len(others):
        lacking = sorted(map(str, set(names) ^ set(others)))
        why = f"{', '.join(lacking[:5])} in one only" if lacking else "a name stands for several columns"
        msg = f"X_source and X_target must have columns of the same names, got {why}"
        raise ProblemError(msg)
    return X_target[names]


def gram_coordinates(P: Any) -> np.ndarray:
    """Rows with the inner products of the rows of a sparse P, (q, N) -> (q, min(q, N)) or fewer columns.

    P itself, dense, where it has no more columns than rows; else a factor of P P^T, which is the only dense matrix:
    Cholesky's, or, for points that depend on each other, that of `kernel_coordinates`.
    """
    q, N = P.shape
    if q >= N:
        return span_coordinates(P.toarray())
    K = (P @ P.T).toarray()
    L = cholesky(K)
    if L is None:
        return kernel_coordinates(K)
    # a pivot of rounding is a direction of rounding
    return L if np.min(np.diag(L)) ** 2 > 8 * q * np.finfo(float).eps * np.max(np.diag(K)) else kernel_coordinates(K)


def summarize_target(batches: Iterable[Any], weights: Iterable[Any] | None = None) -> np.ndarray:
    """T with T^T T / len(T) = sum_j p_j x_j x_j^T over all points of all batches; (k, N), k <= N.

    A discrepancy depends on its target only through this matrix: T may stand for a target that does not fit into
    memory. Kept between batches is the triangular factor of what has been seen, from orthogonal transformations (no
    digits are lost by squares).

    Parameters
    ----------
    batches : iterable of arrays, shape (n_i, N)
        Dense or sparse; each is made dense by itself.
    weights : iterable of arrays, shape (n_i,), optional
        >= 0, of any positive sum; equal weights by default.

    Raises
    ------
    ProblemError
        For batches of different widths, no batch, or weights that do not fit.
    """
    factor: np.ndarray | None = None
    total = 0.0
    given = iter(()) if weights is None else iter(weights)
    for k, batch in enumerate(batches):
        X = np.asarray(as_samples(f"batch {k}", batch))
        if factor is not None and X.shape[1] != factor.shape[1]:
            msg = f"batch {k} must have {factor.shape[1]} columns like the first, got {X.shape[1]}"
            raise ProblemError(msg)
        p = np.ones(len(X)) if weights is None else np.asarray(as_array(f"weights {k}", next(given, None)))
        if p.shape != (len(X),) or np.any(p < 0):
            msg = f"weights {k} must be >= 0 and of shape ({len(X)},), got shape {p.shape}"
            raise ProblemError(msg)
        total += float(p.sum())
        rows = X * np.sqrt(p)[:, None]
        factor = np.asarray(np.linalg.qr(rows if factor is None else np.concatenate([factor, rows]), mode="r"))
    if factor is None or total <= 0:
        msg = "batches must hold at least one point of positive weight"
        raise ProblemError(msg)
    return factor * np.sqrt(len(factor) / total)
