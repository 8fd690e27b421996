"""Values of problems and answers as plain arrays by name, and back: matrices, factors, sparse entries, linear maps."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, is_sparse
from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.maps import DenseMap, LinearMap, RankOneMap, ScaledMap, SparseMap
from matrixlearn.memory import require_memory

FACTOR, ENTRIES, MAP = "@factor", "@entries", "@map"
"""Ends of the names under which a file holds the factor of a matrix, the entries of a sparse one, and the name of a
linear map's class, whose fields follow under names of their own.
"""

MAPS: dict[str, type[Any]] = {cls.__name__: cls for cls in (RankOneMap, DenseMap, SparseMap, ScaledMap)}


def packed(name: str, value: Any) -> dict[str, np.ndarray]:
    """The arrays that hold a value in a file, by name: as many entries as the value has itself."""
    if isinstance(value, LinearMap):
        if type(value) not in MAPS.values():
            msg = f"a file cannot hold a {type(value).__name__}: let parameters() of its problem return arrays"
            raise MatrixLearnError(msg)
        parts = {name + MAP: np.array(type(value).__name__)}
        for part in dataclasses.fields(MAPS[type(value).__name__]):
            parts |= packed(f"{name}.{part.name}", getattr(value, part.name))
        return parts
    if isinstance(value, FactoredMatrix):
        return {name + FACTOR: value.factor}
    if is_sparse(value):
        entries = value.tocoo()
        held = {"rows": entries.row, "columns": entries.col, "values": entries.data, "shape": np.array(entries.shape)}
        return {f"{name}{ENTRIES}.{part}": array for part, array in held.items()}
    array = as_numpy(value)
    if array.dtype == object:
        what = name.removeprefix("problem.")
        kind = type(value).__name__
        msg = f"a file cannot hold {what}, which is of the class {kind}: write the answer alone, as .json or .csv"
        raise MatrixLearnError(msg)
    return {name: array}


def unpacked(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The values of `packed`, by name."""
    out: dict[str, Any] = {}
    for key, array in arrays.items():
        name, sparse, part = key.partition(ENTRIES + ".")
        if key.endswith(FACTOR):
            out[key.removesuffix(FACTOR)] = FactoredMatrix(array)
        elif not sparse:
            out[key] = array
        elif part == "values":
            import scipy.sparse as sp  # late: import time

            at = tuple(arrays[f"{name}{ENTRIES}.{axis}"] for axis in ("rows", "columns"))
            rows, columns = (int(size) for size in arrays[f"{name}{ENTRIES}.shape"])
            require_memory(8.0 * rows, f"{name}, a sparse matrix of {rows} rows,")
            out[name] = sp.csr_array(sp.coo_array((array, at), shape=(rows, columns)))
    for key in sorted((key for key in out if key.endswith(MAP)), key=len, reverse=True):  # the innermost first
        name, cls = key.removesuffix(MAP), MAPS[str(out.pop(key))]
        fields = [out.pop(f"{name}.{part.name}") for part in dataclasses.fields(cls)]
        out[name] = cls(*(field.item() if getattr(field, "ndim", 1) == 0 else field for field in fields))
    return out
