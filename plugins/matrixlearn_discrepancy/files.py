"""Samples from files: .npy, .npz, .csv and .txt, the last two also with .gz."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from matrixlearn.exceptions import ProblemError


def read_samples(path: str | Path) -> np.ndarray:
    """The matrix of samples in a file, one sample a row.

    Parameters
    ----------
    path : str or Path
        ``.npy``; ``.npz`` with one array, or one called "X"; else text, with commas or spaces between
        the numbers and perhaps one line of names above them.

    Raises
    ------
    ProblemError
        Where the file holds no such matrix; the message names it.
    """
    path = Path(path)
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as data:
                names = list(data.files)
                if "X" not in names and len(names) != 1:
                    msg = f'{path} holds the arrays {", ".join(names) or "none"}; call one of them "X"'
                    raise ProblemError(msg)
                return data["X" if "X" in names else names[0]]
        return _read_text(path)
    except (ValueError, OSError) as error:
        if isinstance(error, ProblemError | FileNotFoundError):
            raise
        msg = f"{path} is not a table of numbers: {error}"
        raise ProblemError(msg) from error


def _read_text(path: Path) -> np.ndarray:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = [line.replace(",", " ").split() for line in file if line.strip() and not line.startswith("#")]
    if lines and not _numeric(lines[0]):
        lines = lines[1:]
    if not lines:
        msg = "it has no row of numbers"
        raise ValueError(msg)
    return np.array([[float(cell) for cell in line] for line in lines], ndmin=2)


def _numeric(cells: list[str]) -> bool:
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return False
    return True
