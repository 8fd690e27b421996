"""Checks of user data: every message names the argument, says what was given and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, is_sparse, namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.files import LARGEST, SMALLEST
from matrixlearn.linalg import sym
from matrixlearn.typing import Array

ROUNDED = 1e-10
"""Part of the largest entry up to which an asymmetry is one of rounding."""


def as_array(name: str, value: Any) -> Array:
    """A float64 or complex128 array of its own, of the namespace of ``value`` or of NumPy: what the user writes to hers
    later changes nothing.

    Raises
    ------
    ProblemError
        For ragged, non-numeric, NaN or infinite values.
    """
    if value is None:
        msg = f"{name} must hold numbers, got None"
        raise ProblemError(msg)
    if is_sparse(value):
        value = value.toarray()
    try:
        xp = namespace(value)
        array = np.array(_without_mask(name, value)) if isinstance(value, np.ndarray) else xp.asarray(value, copy=True)
    except TypeError:
        try:
            array = np.array(value)
        except ValueError as error:
            msg = f"{name} is ragged: its rows have different lengths; pad or drop rows"
            raise ProblemError(msg) from error
        xp = namespace(array)
    if isinstance(array, np.ndarray) and array.dtype == object:
        if any(isinstance(v, str | bytes) for v in array.flat):  # astype would parse it
            msg = f"{name} must hold numbers, got text"
            raise ProblemError(msg)
        try:
            array = array.astype(complex if any(isinstance(v, complex) for v in array.flat) else float)
        except (TypeError, ValueError, OverflowError) as error:
            msg = f"{name} must hold numbers, got an array of Python objects"
            raise ProblemError(msg) from error
    if isinstance(array, np.ndarray) and array.dtype.kind not in "biufc":
        msg = f"{name} must hold numbers, got dtype {array.dtype}"
        raise ProblemError(msg)
    target = xp.complex128 if xp.isdtype(array.dtype, "complex floating") else xp.float64
    if array.dtype != target:
        array = xp.astype(array, target, copy=False)
    if 0 in array.shape:
        msg = f"{name} is empty: shape {tuple(array.shape)}"
        raise ProblemError(msg)
    if not bool(xp.all(xp.isfinite(array))):
        bad = int(np.sum(~np.isfinite(as_numpy(array))))
        msg = f"{name} holds {bad} NaN or infinite value(s); remove or impute them first"
        raise ProblemError(msg)
    largest = float(xp.max(xp.abs(array))) if array.ndim else 0.0
    if largest > LARGEST or 0 < largest < SMALLEST:
        flow, units = ("overflow", "larger") if largest > LARGEST else ("underflow", "smaller")
        msg = (
            f"{name} holds values of size {largest:.3g}, whose products {flow}; choose {units} units, so that the "
            f"largest lies between {SMALLEST:g} and {LARGEST:g}"
        )
        raise ProblemError(msg)
    return array


def _without_mask(name: str, value: np.ndarray) -> np.ndarray:
    """The values of a masked array in which nothing is masked."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        msg = f"{name} has {int(np.sum(np.ma.getmaskarray(value)))} masked value(s); remove or impute them first"
        raise ProblemError(msg)
    return value


def require_real(name: str, array: Array) -> Array:
    """The array, where it is not complex: to drop an imaginary part silently would be another problem.

    Raises
    ------
    ProblemError
        For a complex array, whatever its imaginary part.
    """
    if np.iscomplexobj(array) or "complex" in str(getattr(array, "dtype", "")):
        msg = f"{name} must hold real numbers, got {array.dtype}"
        raise ProblemError(msg)
    return array


def as_real_vector(name: str, value: Any, size: int | None = None) -> np.ndarray:
    """A finite float64 NumPy vector."""
    array = np.asarray(as_numpy(as_array(name, value)))
    if array.ndim != 1 or np.iscomplexobj(array) or (size is not None and len(array) != size):
        want = "(m,)" if size is None else f"({size},)"
        kind = " of complex numbers" if np.iscomplexobj(array) else ""
        msg = f"{name} must be a real vector of shape {want}, got shape {array.shape}{kind}"
        raise ProblemError(msg)
    return array


def as_weights(name: str, value: Any, rows: int) -> np.ndarray:
    """A weight >= 0 for each row, (n,), not all of them 0."""
    weights = as_real_vector(name, value, rows)
    if np.any(weights < 0):
        msg = f"{name} must hold numbers >= 0, got {weights.min():g} at row {int(np.argmin(weights))}"
        raise ProblemError(msg)
    if not np.any(weights > 0):
        msg = f"{name} is zero for every row; at least one row must count"
        raise ProblemError(msg)
    tiny = (weights > 0) & (weights < SMALLEST * weights.max())
    if np.any(tiny):
        j = int(np.argmax(tiny))
        msg = f"{name} holds {weights[j]:g} at row {j}, nothing beside {weights.max():g}; set it to 0"
        raise ProblemError(msg)
    return weights


def as_samples(name: str, value: Any) -> Array:
    """A real two-dimensional array of samples, one a row."""
    array = as_array(name, value)
    if array.ndim != 2:
        msg = f"{name} must be two-dimensional (samples, features), got shape {tuple(array.shape)}"
        raise ProblemError(msg)
    if namespace(array).isdtype(array.dtype, "complex floating"):
        msg = f"{name} must be real, got {array.dtype}"
        raise ProblemError(msg)
    return array


def as_hermitian(name: str, value: Any, n: int | None = None) -> Array:
    """A finite Hermitian matrix; an asymmetry of rounding (`ROUNDED`) is averaged away.

    Raises
    ------
    ProblemError
        Where max |A - A^H| is more than rounding: the message gives it.
    """
    array = as_array(name, value)
    require_square(name, array, n)
    xp = namespace(array)
    symmetric = sym(array)
    largest = float(xp.max(xp.abs(array)))
    asymmetry = 2 * float(xp.max(xp.abs(array - symmetric)))
    if asymmetry > ROUNDED * largest:
        kind = "Hermitian" if xp.isdtype(array.dtype, "complex floating") else "symmetric"
        i, j = divmod(int(xp.argmax(xp.abs(array - symmetric))), array.shape[0])
        msg = (
            f"{name} must be {kind}, but max |A - A^H| = {asymmetry:.3g} at the entry ({i}, {j}) (largest entry "
            f"{largest:.3g}); pass (A + A^H) / 2 if that is what you mean"
        )
        raise ProblemError(msg)
    return array if asymmetry == 0 else symmetric


def require_square(name: str, array: Any, n: int | None = None) -> None:
    """A matrix of shape (n, n), dense or sparse."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or (n is not None and array.shape[0] != n):
        want = "(n, n)" if n is None else f"({n}, {n})"
        msg = f"{name} must be a square matrix of shape {want}, got shape {tuple(array.shape)}"
        raise ProblemError(msg)


def as_number(name: str, value: Any) -> float:
    """A finite or infinite Python float; text and NaN are refused."""
    try:
        number = float("nan") if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if number != number:
        msg = f"{name} must be a number, got {value!r}"
        raise ProblemError(msg)
    return number


def require_numpy(name: str, array: Array) -> None:
    """A NumPy array, where scipy's sparse matrices are mixed in."""
    if not isinstance(array, np.ndarray):
        msg = f"{name} must be a NumPy array where others are scipy sparse, got {type(array).__name__}"
        raise ProblemError(msg)


def require_same_namespace(**arrays: Array) -> None:
    """All arrays of one namespace."""
    try:
        namespace(*arrays.values())
    except TypeError as error:
        msg = f"{', '.join(arrays)} must come from one array library: {error}"
        raise ProblemError(msg) from error
