"""Array namespaces: the only importer of array_api_compat."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_namespace

from matrixlearn.typing import Array, ArrayNamespace

EPS = float(np.finfo(np.float64).eps)


def namespace(*arrays: Array) -> ArrayNamespace:
    """The array namespace that all ``arrays`` share."""
    for x in arrays:
        if type(x) is not np.ndarray:
            return array_namespace(*arrays)
    return _of_numpy()  # the general look-up was a tenth of a small solve


@cache
def _of_numpy() -> ArrayNamespace:
    return array_namespace(np.zeros(0))


def is_numpy(*arrays: Array) -> bool:
    """Whether LAPACK may be called on these arrays directly."""
    return is_numpy_namespace(namespace(*arrays))


def is_sparse(x: object) -> bool:
    """Whether ``x`` is a scipy sparse array or matrix; where it is, scipy.sparse has been imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


def as_numpy(x: Array) -> np.ndarray:
    """A NumPy view or copy of ``x``."""
    if isinstance(x, np.ndarray):
        return x
    try:
        return np.from_dlpack(x)
    except (AttributeError, BufferError, RuntimeError, TypeError):
        return np.asarray(x)


def from_numpy(x: np.ndarray, like: Array) -> Array:
    """``x`` in the namespace and on the device of ``like``."""
    if isinstance(like, np.ndarray):
        return x
    xp = array_namespace(like)
    return xp.asarray(np.array(x), device=device(like))


def brought_to(x: Array, like: Array) -> Array:
    """``x`` itself where it is of the namespace of ``like``, else a copy there."""
    return x if namespace(x) is namespace(like) else from_numpy(as_numpy(x), like)


def columns(x: Array, index: np.ndarray) -> Array:
    """The columns of ``x`` at a NumPy index, in its namespace."""
    return namespace(x).take(x, from_numpy(index, x), axis=1)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros of the dtype, namespace and device of ``like``."""
    return namespace(like).zeros(shape, dtype=like.dtype, device=device(like))


def identity(n: int, like: Array) -> Array:
    """The n x n identity of the dtype, namespace and device of ``like``."""
    if isinstance(like, np.ndarray):
        return np.eye(n, dtype=like.dtype)
    return namespace(like).eye(n, dtype=like.dtype, device=device(like))
