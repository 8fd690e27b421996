"""Checks of the data of DefiniteBoost: every message names the argument, says what was given and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_array, as_hermitian, as_real_vector
from matrixlearn_definiteboost.dual import EPS


def stacked(value: Any) -> np.ndarray:
    """sym(C_j), (m, d, d)."""
    if isinstance(value, list | tuple):
        shapes = {np.shape(C) for C in value}
        if len(shapes) > 1:
            msg = f"constraints must have one shape, got {sorted(map(str, shapes))}"
            raise ProblemError(msg)
    C = np.asarray(as_array("constraints", np.asarray(value) if isinstance(value, list | tuple) else value))
    if C.ndim != 3 or C.shape[1] != C.shape[2]:
        msg = f"constraints must have shape (m, d, d), got {C.shape}; pass [C] for one, vectors for rank-one ones"
        raise ProblemError(msg)
    return np.asarray((C + C.conj().swapaxes(1, 2)) / 2)


def rows(name: str, value: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Vectors, one a row."""
    array = np.asarray(as_array(name, value))
    if array.ndim != 2 or (shape is not None and array.shape != shape):
        msg = f"{name} must have shape {'(m, d)' if shape is None else shape}, got {array.shape}"
        raise ProblemError(msg)
    return array


def per_constraint(name: str, value: Any, m: int) -> np.ndarray:
    """One number for each constraint."""
    array = np.asarray(as_array(name, value if np.ndim(value) else np.full(m, value)))
    return as_real_vector(name, array, m)


def density(name: str, value: Any, d: int) -> np.ndarray:
    """A positive definite matrix of trace one."""
    W = np.asarray(as_hermitian(name, value, d))
    least, total = float(np.linalg.eigvalsh(W)[0]), float(np.trace(W).real)
    if least <= 4 * d * EPS * max(total, 0.0) or total <= 0:
        msg = (
            f"{name} must be positive definite, but its smallest eigenvalue is {least:.3g}; mix it with I/d, or work "
            f"in the coordinates of its range"
        )
        raise ProblemError(msg)
    if abs(total - 1) > 1e-9:
        msg = f"{name} must have trace one, got {total:.9g}; divide it by its trace"
        raise ProblemError(msg)
    return W if abs(total - 1) <= 8 * d * EPS else W / total  # twice is as once
