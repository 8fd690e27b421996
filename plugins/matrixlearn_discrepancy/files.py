"""Samples from files: .npy, .npz, .csv and .txt, the last two also with .gz or from standard input, "-".

Text is read as a table of numbers and nothing else: what is missing or a word is an error that names its place, never a
shift of columns or a row less.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.files import name_of, number, read_archive, read_array, read_lines, refuse
from matrixlearn.validation import as_samples

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
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return Table(as_samples(name_of(path), read_array(path)))
    if suffix == ".npz":
        arrays = read_archive(path)
        if "X" not in arrays and len(arrays) != 1:
            msg = f'{name_of(path)} holds the arrays {", ".join(arrays) or "none"}; call one of them "X"'
            raise ProblemError(msg)
        return Table(as_samples(name_of(path), arrays["X"] if "X" in arrays else next(iter(arrays.values()))))
    return _read_text(path)


def _read_text(path: str | Path) -> Table:
    """A table of numbers, perhaps under a line of names; anything else is refused with its line."""
    said = [(k, line) for k, line in enumerate(read_lines(path), 1) if line.strip() and not line.startswith("#")]
    rows = _cells(path, said)
    names = _names(path, *rows[0]) if rows else None
    body = rows[names is not None :]
    if not body:
        refuse(path, said[-1][0] if said else 1, "it has no row of numbers")
    width, values = len(rows[0][1]), []
    for line, cells in body:
        if len(cells) != width:
            refuse(path, line, f"it has {len(cells)} cells, the first line has {width}")
        found = [number(cell) for cell in cells]
        if None in found:
            at = found.index(None)
            column = f"column {at + 1 if names is None else repr(names[at])}"
            missing = cells[at].lower() in MISSING
            why = "is missing: impute it or leave it out" if missing else f"holds {cells[at][:60]!r}, no finite number"
            refuse(path, line, f"{column} {why}")
        values.append(found)
    table = np.array(values, dtype=float)
    if names is None and width > 1 and values[0] == list(range(width)) and np.any(table != np.round(table)):
        refuse(
            path,
            body[0][0],
            f"0, 1, ..., {width - 1}: names of columns, as pandas writes, or a sample? Name the columns",
        )
    return Table(table, names)


def _names(path: str | Path, line: int, cells: list[str]) -> tuple[str, ...] | None:
    """The names of the columns, where the first line has names; None where it has numbers."""
    words = [cell for cell in cells if number(cell) is None and cell.lower() not in MISSING]
    if not words:
        return None
    if cells[0] == "":
        refuse(path, line, "its first column has no name, as an index that pandas wrote: write it with index=False")
    if len(words) < len(cells) or all(cell.lstrip("+-.")[:1].isdecimal() for cell in cells):
        refuse(
            path, line, f"{words[0][:60]!r} is no number: a slip, or a name beside numbers? Name all columns, or none"
        )
    if len(set(cells)) < len(cells):
        refuse(path, line, f"two columns are called {next(cell for cell in cells if cells.count(cell) > 1)!r}")
    return tuple(cells)


def _cells(path: str | Path, lines: list[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """The cells of each line, between the separators that the first one has."""
    separator = next((mark for mark in ";\t," if lines and mark in lines[0][1]), None)
    if separator is None:
        return [(line, text.split()) for line, text in lines]
    rows = []
    for line, text in lines:
        try:
            (cells,) = csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True)
        except (csv.Error, ValueError) as error:
            refuse(path, line, f"no line of CSV: {error}")
        rows.append((line, [cell.strip() for cell in cells]))
    return rows
