"""Checks of rows, targets and labels of tasks: a ProblemError that says what was given and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn._array import is_sparse
from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_array, as_samples

SMALL = 10_000
"""Entries up to which products with a dense matrix take less time than the calls for a sparse one."""


def dense_where_small(X: Any) -> Any:
    """Rows as they are, but dense where they are sparse and few."""
    return X.toarray() if is_sparse(X) and X.shape[0] * X.shape[1] <= SMALL else X


def as_rows(name: str, value: Any) -> Any:
    """Real finite rows (n, d): a float64 array, or a CSR array where the value is sparse."""
    if not is_sparse(value):
        return np.asarray(as_samples(name, value))
    import scipy.sparse as sp

    if np.iscomplexobj(value):
        msg = f"{name} must be real, got {value.dtype}"
        raise ProblemError(msg)
    rows = sp.csr_array(value).astype(float)
    if 0 in rows.shape:
        msg = f"{name} is empty: shape {rows.shape}"
        raise ProblemError(msg)
    if rows.nnz:
        as_array(name, rows.data)
    return rows


def as_targets(name: str, value: Any) -> np.ndarray:
    """Real finite targets (n, m); a vector is one task."""
    try:
        array = np.asarray(as_array(name, value))
    except ProblemError as error:
        if "NaN" not in str(error):
            raise
        msg = (
            f"{error}. Where targets of shared instances are missing, with_missing(X, Y) takes NaN for them; else "
            f"give each task the rows that it has, as lists of X_i and y_i or with the argument task"
        )
        raise ProblemError(msg) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or np.iscomplexobj(array):
        msg = f"{name} must be real of shape (n, m) or (n,), got {array.dtype} of shape {array.shape}"
        raise ProblemError(msg)
    return array


def as_labels(task: Any) -> np.ndarray:
    """Labels as an array of whatever kind, none of them missing."""
    labels = np.asarray(task)
    each = labels.reshape(-1)
    if labels.dtype == object:
        missing = np.array([_is_missing(label) for label in each.tolist()])
    else:
        missing = ~np.isfinite(each) if labels.dtype.kind in "fcmM" else np.zeros(len(each), bool)
    if np.any(missing):
        at = int(np.argmax(missing))
        msg = f"task holds NaN, infinity or nothing, {each[at]!r} at row {at}; every row is of one task"
        raise ProblemError(msg)
    return labels


def _is_missing(label: Any) -> bool:
    itself = label == label  # NaN is not; pandas' NA does not know
    return label is None or not (isinstance(itself, bool | np.bool_) and bool(itself))


def known_targets(Y: Any) -> np.ndarray | None:
    """Where the targets (n, m) of shared instances are not NaN; None where all are, or for any other Y."""
    try:
        values = np.asarray(Y)
        if values.ndim != 2 or values.dtype.kind not in "fO":
            return None
        values = values.astype(float)
    except (TypeError, ValueError):  # words, or ragged
        return None
    if not np.isnan(values).any():
        return None
    return np.asarray(~np.isnan(values))


def require_rows(X: Any, Y: Any) -> None:
    """One row of targets for each of the instances."""
    if X.shape[0] != Y.shape[0]:
        msg = f"X and Y must have one row each, got {X.shape[0]} and {Y.shape[0]}"
        raise ProblemError(msg)


def as_signs(name: str, labels: np.ndarray) -> np.ndarray:
    """Labels -1 and 1, or 0 and 1, as -1.0 and 1.0.

    Raises
    ------
    ProblemError
        Where there are others.
    """
    found = np.unique(labels)
    if not (np.isin(found, (-1, 1)).all() or np.isin(found, (0, 1)).all()):
        msg = (
            f"{name} must hold labels -1 and 1, or 0 and 1, for the logistic loss, got {found[:4].tolist()}"
            f"{' and others' if len(found) > 4 else ''}; make one task of each class, or encode the labels"
        )
        raise ProblemError(msg)
    return np.where(labels > 0, 1.0, -1.0)


def number_at_least(name: str, value: Any, least: float, *, strictly: bool = False) -> None:
    """Raise ValueError unless ``least`` <= value < inf (or <)."""
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not real or not (least < value < np.inf if strictly else least <= value < np.inf):
        msg = f"{name} must be a number {'>' if strictly else '>='} {least:g}, got {value!r}"
        raise ValueError(msg)
