"""Answers in files: an archive that holds the problem too (.npz), and what other programs read (.json, .csv)."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn._packing import packed, unpacked
from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.files import archive, read_archive, read_bytes, replacing
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.present import presenter_of
from matrixlearn.problems.base import Problem, Rigour

if TYPE_CHECKING:
    from matrixlearn.solution import Solution

FORMAT = 1
NUMBERS = ("value", "lower", "upper", "size", "rounding", "tol", "atol", "seconds")
"""What an answer says of itself in numbers; all but the first are no NaN."""

COLUMNS = ("iteration", "seconds", "lower", "upper", "gap")
"""Of the history, in a file."""


def write(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write an answer as the end of the path says, whole or not at all.

    Raises
    ------
    MatrixLearnError
        For another end than those of `WRITERS`.
    """
    content = writer_of(path)(solution)
    with replacing(path) as file:
        file.write(content)


def writer_of(path: str | os.PathLike[str]) -> Any:
    """The function that makes the content of a file of this name."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        msg = (
            f"an answer is written as .npz (which Solution.load reads), .json or .csv; {os.fspath(path)!r} ends with "
            f"{suffix or 'none of them'}"
        )
        raise MatrixLearnError(msg)
    return WRITERS[suffix]


def _archive(solution: Solution) -> bytes:
    """The answer, its history and the data of its problem, without pickles."""
    plain, arrays = _data(solution.problem)
    for key, value in (("X", solution.matrix), ("y", solution.y), ("ray", solution.certificate.ray)):
        if value is not None:
            arrays |= packed(f"answer.{key}", value)
    arrays["history"] = np.array([solution.history.column(name) for name in COLUMNS])
    return archive(_claims(solution) | {"format": FORMAT, "parameters": plain}, arrays)


def _packed_or_named(name: str, value: Any) -> dict[str, np.ndarray]:
    try:
        return packed(name, value)
    except MatrixLearnError:
        return {name: np.array(str(value))}


def _data(
    problem: Problem, pack: Callable[[str, Any], dict[str, np.ndarray]] = packed
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The parameters that construct a problem: plain values and arrays, by name."""
    plain: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for key, value in problem.parameters().items():
        if value is None or isinstance(value, bool | int | float | str):
            plain[key] = value
        else:
            arrays |= pack(f"problem.{key}", value)
    return plain, arrays


def require_held(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Refuse a path to an archive, where a file cannot hold the data of the problem.

    Raises
    ------
    MatrixLearnError
    """
    if writer_of(path) is _archive:
        _data(problem)


def digest(problem: Problem) -> str:
    """A hash of the problem's name and data; of data that a file cannot hold, of what they are called."""
    plain, arrays = _data(problem, _packed_or_named)
    found = hashlib.sha256(json.dumps([problem.name, plain], sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _claims(solution: Solution) -> dict[str, Any]:
    """Status, value, bounds and the like, as the answer states them."""
    return {
        "problem": solution.problem.name,
        "data": digest(solution.problem),
        "status": solution.status.value,
        "value": solution.value,
        "lower": solution.lower,
        "upper": solution.upper,
        "gap": solution.gap,
        "rigour": solution.certificate.rigour,
        "size": solution.certificate.size,
        "rounding": solution.certificate.rounding,
        "trace_bound": solution.certificate.trace_bound,
        "method": solution.method,
        "tol": solution.tol,
        "atol": solution.atol,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "notes": list(solution.notes),
    }


def _json(solution: Solution) -> bytes:
    """Everything but the problem's data; null where a bound is infinite, which JSON cannot say."""
    found = _claims(solution) | {"ended": solution.ended}
    found |= {"answer": presenter_of(solution.problem).columns(solution), "X": solution.matrix, "y": solution.y}
    return (json.dumps(_plain(found), allow_nan=False, indent=1) + "\n").encode()


def _plain(value: Any) -> Any:
    """The value in what JSON knows: factors and the halves of complex arrays by name."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, FactoredMatrix):
        return {"factor": _plain(value.factor)}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        array = np.asarray(as_numpy(value))
        if np.iscomplexobj(array):
            return {"real": _plain(array.real), "imag": _plain(array.imag)}
        return _plain(array.tolist())
    return str(value)


def _csv(solution: Solution) -> bytes:
    """The columns of the answer under their names."""
    columns = presenter_of(solution.problem).columns(solution)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(_plain(column) for column in columns.values()), strict=True))
    return text.getvalue().encode()


WRITERS = {".npz": _archive, ".json": _json, ".csv": _csv}


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what the answer says of itself, its values and those of its problem, by name) of an archive that `write` wrote.

    Raises
    ------
    Exception
        Of any kind for a file that is damaged, of another format, or says what no answer can say.
    """
    arrays = unpacked(read_archive(path))
    meta = json.loads(str(arrays.pop("meta")))
    if meta["format"] != FORMAT:
        msg = f"it has the format {meta['format']!r}, and this version reads {FORMAT}"
        raise ValueError(msg)
    numbers = {name: float(meta[name]) for name in NUMBERS}
    for name in NUMBERS[1:]:
        if math.isnan(numbers[name]):
            msg = f"its {name} is no number"
            raise ValueError(msg)
    trace_bound = None if meta["trace_bound"] is None else float(meta["trace_bound"])
    texts = {name: str(meta[name]) for name in ("problem", "status", "rigour", "method")}
    if texts["rigour"] not in get_args(Rigour):
        msg = f"its rigour is {texts['rigour']!r}, none of {', '.join(get_args(Rigour))}"
        raise ValueError(msg)
    notes = tuple(str(note) for note in meta["notes"])
    parameters = dict(meta["parameters"])
    found = (
        numbers
        | texts
        | {"trace_bound": trace_bound, "iterations": int(meta["iterations"]), "notes": notes, "parameters": parameters}
    )
    return found, arrays


def claims(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the answer in a file says of itself, empty where the file holds none: to be compared, and not believed."""
    try:
        raw = read_bytes(path)
        if raw.startswith(b"{"):
            return dict(json.loads(raw))
        return dict(json.loads(str(read_archive(path)["meta"])))
    except (MatrixLearnError, OSError, ValueError, KeyError, TypeError):
        return {}
