"""Semidefinite programs from files in the sparse SDPA format, as SDPLIB, CSDP, SDPA and DSDP have them.

A file holds c and symmetric F_0, ..., F_m in blocks, of the pair

    (P)  min c.x  subject to  sum_i x_i F_i - F_0 >= 0          (D)  max tr(F_0 X)  subject to  tr(F_i X) = c_i, X >= 0

of which `LinearSDP` is (D): C = F_0, A_i = F_i, b = c, with the multipliers x.

References
----------
Borchers (1999), "SDPLIB 1.2"; the manual of SDPA.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError

EXACT = 1e-10
"""Largest entry of sum_i y_i F_i - I at which the trace counts as given."""


@dataclass(frozen=True)
class Program:
    """What a file says: one block-diagonal n x n matrix a row.

    Attributes
    ----------
    objective : sparse array, shape (n, n)
        F_0.
    rows : sparse array, shape (m, n^2)
        F_1, ..., F_m.
    right : ndarray, shape (m,)
        c.
    """

    objective: Any
    rows: Any
    right: np.ndarray

    def trace(self) -> float | None:
        """tr X where the constraints give it: c.y with sum_i y_i F_i = I; None where there is no such y."""
        from scipy.sparse.linalg import lsqr

        n = self.objective.shape[0]
        eye = np.eye(n).reshape(-1)
        y = lsqr(self.rows.T, eye, atol=1e-14, btol=1e-14, iter_lim=20 * len(self.right))[0]
        return float(self.right @ y) if np.max(np.abs(self.rows.T @ y - eye)) <= EXACT else None


def read_sdpa(path: str | Path) -> Program:
    """The program of a file, ``.gz`` or not.

    Parameters
    ----------
    path : str or Path
        Comments (lines that begin with ``"`` or ``*``); m; the number of blocks; their sizes, negative for diagonal
        ones; c; then a line ``i block row column value`` for each entry of the upper triangles, indices from 1, i = 0
        for F_0.

    Raises
    ------
    ProblemError
        For anything else; the message names file and line.
    """
    import scipy.sparse as sp

    path = Path(path)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = [(number, line) for number, line in enumerate(file, 1) if line.strip() and line.lstrip()[0] not in '"*']
    if len(lines) < 4:
        msg = f"{path} is no SDPA file: it ends before its entries begin"
        raise ProblemError(msg)
    m = _whole(path, lines[0], "the number of constraints")
    count = _whole(path, lines[1], "the number of blocks")
    sizes = _numbers(path, lines[2], count, "the block sizes").astype(int)
    right = _numbers(path, lines[3], m, "c")
    k, block, i, j, value = _entries(path, lines[4:])
    wrong = (k < 0) | (k > m) | (block < 1) | (block > count)
    if not np.any(wrong):
        size = np.abs(sizes)[block - 1]
        wrong = (i < 1) | (j < 1) | (i > size) | (j > size) | ((sizes[block - 1] < 0) & (i != j))
    if np.any(wrong):
        why = "an entry outside of its block, or off the diagonal of a diagonal one"
        _refuse(path, lines[4 + int(np.argmax(wrong))], why)
    first = np.concatenate([[0], np.cumsum(np.abs(sizes))])
    n = int(first[-1])
    low, high = np.minimum(i, j) - 1 + first[block - 1], np.maximum(i, j) - 1 + first[block - 1]
    place = (k * n + low) * n + high
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if len(twice):
        _refuse(path, lines[4 + int(order[twice[0] + 1])], "an entry that was given before")
    off = low != high
    rows = sp.coo_array(
        (
            np.concatenate([value, value[off]]),
            (np.concatenate([k, k[off]]), np.concatenate([low * n + high, (high * n + low)[off]])),
        ),
        shape=(m + 1, n * n),
    ).tocsr()
    return Program(rows[[0], :].reshape(n, n), rows[1:, :], right)


def _entries(path: Path, lines: list[tuple[int, str]]) -> tuple[np.ndarray, ...]:
    """The columns i, block, row, column, value."""
    try:
        table = np.array([line.split() for _, line in lines], dtype=float).reshape(-1, 5)
        whole = table[:, :4].astype(int)
        if not (np.all(np.isfinite(table)) and np.all(whole == table[:, :4])):
            raise ValueError
    except ValueError:
        for line in lines:
            if not re.fullmatch(r"\s*(\d+\s+){4}[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?\s*", line[1]):
                _refuse(path, line, "no entry 'i block row column value'")
        raise
    return *whole.T, table[:, 4]


def _whole(path: Path, line: tuple[int, str], what: str) -> int:
    found = re.match(r"\s*\+?(\d+)", line[1])
    if found is None or int(found[1]) < 1:
        _refuse(path, line, f"not {what}, a whole number > 0")
    return int(found[1])  # type: ignore[index]


def _numbers(path: Path, line: tuple[int, str], count: int, what: str) -> np.ndarray:
    """The first numbers of a line, in which punctuation counts as space."""
    words = re.sub(r"[,(){}]", " ", line[1]).split()[:count]
    try:
        out = np.array(words, dtype=float)
    except ValueError:
        out = np.zeros(0)
    if len(out) != count or not np.all(np.isfinite(out)):
        _refuse(path, line, f"not {what}, {count} numbers")
    return out


def _refuse(path: Path, line: tuple[int, str], why: str) -> None:
    msg = f"{path}, line {line[0]}: {line[1].strip()[:60]!r} is {why}"
    raise ProblemError(msg)
