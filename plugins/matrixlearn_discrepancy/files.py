"""Samples from files: .npy, .npz, .csv and .txt, the last two also with .gz.

Text is read as a table of numbers and nothing else: what is missing or a word is an error that names its place, never a
shift of columns or a row less.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from matrixlearn.exceptions import ProblemError

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})


@dataclass(frozen=True, eq=False)
class Table:
    """Samples, one a row, and the names of their columns where the file tells them."""

    values: np.ndarray
    names: tuple[str, ...] | None = None


def read_samples(path: str | Path) -> np.ndarray:
    """The matrix of samples in a file, one sample a row.

    Parameters
    ----------
    path : str or Path
        ``.npy``; ``.npz`` with one array, or one called "X"; else text, with commas, semicolons, tabs or spaces
        between the numbers and perhaps one line of names above them.

    Raises
    ------
    ProblemError
        Where the file holds no such matrix; the message names it, and the line and column of text.
    """
    return read_table(path).values


def read_domains(source: str | Path, target: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """The samples of two files, with columns in one order: that of the source, where both files name theirs.

    Raises
    ------
    ProblemError
        Where one file has a column that the other lacks.
    """
    S, T = read_table(source), read_table(target)
    if S.names is None or T.names is None or S.names == T.names:
        return S.values, T.values
    if sorted(S.names) != sorted(T.names) or len(set(S.names)) < len(S.names):
        only = [", ".join(sorted(set(a) - set(b))) or "nothing" for a, b in ((S.names, T.names), (T.names, S.names))]
        msg = f"{source} and {target} must have the same columns: only the first has {only[0]}, the second {only[1]}"
        raise ProblemError(msg)
    return S.values, T.values[:, [T.names.index(name) for name in S.names]]


def read_table(path: str | Path) -> Table:
    """The samples of a file, see `read_samples`, with the names of the columns."""
    path = Path(path)
    try:
        if path.suffix == ".npy":
            return Table(np.load(path, allow_pickle=False))
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as data:
                names = list(data.files)
                if "X" not in names and len(names) != 1:
                    msg = f'{path} holds the arrays {", ".join(names) or "none"}; call one of them "X"'
                    raise ProblemError(msg)
                return Table(data["X" if "X" in names else names[0]])
        return _read_text(path)
    except (ValueError, OSError) as error:
        if isinstance(error, ProblemError | FileNotFoundError):
            raise
        msg = f"{path} is not a table of numbers: {error}"
        raise ProblemError(msg) from error


def _read_text(path: Path) -> Table:
    with (
        gzip.open(path, "rt", encoding="utf-8-sig") if path.suffix == ".gz" else path.open(encoding="utf-8-sig") as file
    ):
        lines = [(k, line.strip("\r\n")) for k, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]
    rows = _cells([line for _, line in lines])
    names = None
    if rows and any(not _numeric(cell) and cell.lower() not in MISSING for cell in rows[0]):
        names, rows, lines = tuple(rows[0]), rows[1:], lines[1:]
        if names[0] == "":
            msg = "its first column has no name, as an index that pandas wrote: write it with index=False"
            raise ValueError(msg)
    if not rows:
        msg = "it has no row of numbers"
        raise ValueError(msg)
    width = len(rows[0]) if names is None else len(names)
    for (number, _), row in zip(lines, rows, strict=True):
        if len(row) != width:
            msg = f"line {number} has {len(row)} cells, the first has {width}"
            raise ValueError(msg)
        for column, cell in enumerate(row):
            if not _numeric(cell):
                where = f"line {number}, column {column + 1 if names is None else repr(names[column])}"
                missing = cell.lower() in MISSING
                msg = f"{where} {'is missing: impute it or leave it out' if missing else f'holds {cell!r}'}"
                raise ValueError(msg)
    return Table(np.array([[float(cell) for cell in row] for row in rows]), names)


def _cells(lines: list[str]) -> list[list[str]]:
    """The cells of each line, between the separators that the first one has."""
    separator = next((mark for mark in ";\t," if lines and mark in lines[0]), None)
    if separator is None:
        return [line.split() for line in lines]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator, skipinitialspace=True)]


def _numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
