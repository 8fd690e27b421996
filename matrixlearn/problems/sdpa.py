"""Semidefinite programs in files of the sparse SDPA format, as SDPLIB, CSDP, SDPA and DSDP have them.

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
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn.exceptions import ProblemError
from matrixlearn.files import LARGEST, name_of, number, read_lines, refuse, replacing
from matrixlearn.maps import SparseMap
from matrixlearn.memory import require_memory
from matrixlearn.problems.blocks import diagonal_blocks

if TYPE_CHECKING:
    from matrixlearn.problems.linear import LinearSDP

EXACT = 1e-10
"""Largest entry of sum_i y_i F_i - I at which the trace counts as given."""

UNNAMED = 1000
"""Rows of X that no entry of a file need name: more are a slip in the block sizes, and would be asked of memory."""

COMMENT = '"*'
"""Opens a line that says nothing."""

AFTER_ENTRY = '"*#%!/;='
"""Opens what says nothing after an entry."""

PLAIN = re.compile(r"\s*(?:[0-9]+\s+){4}[-+.0-9eE]+\s*")
"""An entry alone on a line, its indices whole."""

PUNCTUATION = re.compile(r"[,(){}]")

Line = tuple[int, str]


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
    """The program of a file, gzipped or not; "-" is standard input.

    Parameters
    ----------
    path : str or Path
        Comments (lines that begin with ``"`` or ``*``); m; the number of blocks, text behind either; their sizes,
        negative for diagonal ones; c, on one line or several; then ``i block row column value`` for each entry, indices
        from 1, i = 0 for F_0: an entry a line as a rule, though several may share one. Commas, parentheses and braces
        count as space, 2.0D+00 is 2. Either triangle, or both where they agree.

    Raises
    ------
    ProblemError
        For anything else; the message names file and line. More memory than there is is not asked for.
    """
    lines = [
        (k, text) for k, text in enumerate(read_lines(path), 1) if text.strip() and text.lstrip()[0] not in COMMENT
    ]
    if len(lines) < 4:
        msg = (
            f"{name_of(path)} is no SDPA file: it ends on line {lines[-1][0] if lines else 1}, before its entries begin"
        )
        raise ProblemError(msg)
    m = _count(path, lines[0], "the number of constraints")
    blocks = _count(path, lines[1], "the number of blocks")
    sized = lines[2][0]
    words, lines = _numbers(path, lines[2:], blocks, "the block sizes")
    sizes = [_size(path, *word) for word in words]
    words, lines = _numbers(path, lines, m, "c")
    right = np.array([_value(path, line, word, "c") for line, word in words])
    n = sum(map(abs, sizes))
    try:
        require_memory(8.0 * n * n, f"a matrix of {n} rows, the sum of the block sizes,")
    except ProblemError as error:
        refuse(path, sized, str(error))
    at, k, block, i, j, value = _entries(path, lines, m, sizes)
    if n > 2 * len(at) + UNNAMED:
        refuse(
            path,
            sized,
            f"the block sizes add up to {n}, and {len(at)} entries follow, which name {2 * len(at)} rows at most",
        )
    first = np.cumsum([0, *map(abs, sizes)])[block - 1]
    return _program(path, (at, k, first + i - 1, first + j - 1, value), m, n, right)


def _program(path: Any, entries: tuple[np.ndarray, ...], m: int, n: int, right: np.ndarray) -> Program:
    """The matrices of entries (line, k, row, column, value) of one triangle or of both."""
    import scipy.sparse as sp

    at, k, i, j, value = entries
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((i > j, high, low, k))  # the two triangles' entries come one after the other
    at, k, i, low, high, value = (column[order] for column in (at, k, i, low, high, value))
    same = (np.diff(k) == 0) & (np.diff(low) == 0) & (np.diff(high) == 0)
    again = same & (np.diff(i) == 0)
    if np.any(again):
        t = int(np.argmax(again))
        refuse(path, int(max(at[t], at[t + 1])), f"an entry that was given before, on line {min(at[t], at[t + 1])}")
    differ = same & (np.diff(value) != 0)
    if np.any(differ):
        t = int(np.argmax(differ))
        refuse(path, int(at[t + 1]), f"an entry whose mirror, on line {at[t]}, has another value")
    kept = np.concatenate([[True], ~same]) if len(at) else np.zeros(0, dtype=bool)
    k, low, high, value = k[kept], low[kept], high[kept], value[kept]
    off = low != high
    places = np.concatenate([low * n + high, (high * n + low)[off]])
    rows = sp.coo_array(
        (np.concatenate([value, value[off]]), (np.concatenate([k, k[off]]), places)), shape=(m + 1, n * n)
    ).tocsr()
    return Program(rows[[0], :].reshape(n, n), rows[1:, :], right)


# -- the header -------------------------------------------------------------------------------------------


def _count(path: Any, line: Line, what: str) -> int:
    """The whole number > 0 that a line begins with; text may follow, another number may not."""
    found = re.match(r"\s*\+?(\d{1,18})(?![\w.+-])(?!\s*[\d.+-])", line[1], re.ASCII)
    if found is None or int(found[1]) < 1:
        refuse(path, line[0], f"{line[1].strip()[:60]!r} is not {what}, a whole number > 0")
    return int(found[1])


def _numbers(path: Any, lines: list[Line], count: int, what: str) -> tuple[list[Line], list[Line]]:
    """As many numbers as are wanted, as (line, word), and the lines after theirs; text may follow the last one."""
    found: list[Line] = []
    for taken, (line, text) in enumerate(lines, 1):
        for word in PUNCTUATION.sub(" ", text).split():
            digits = re.match(r"[+-]?(\d[\w.]*([+-]\d+)?|\.\d[\w.]*([+-]\d+)?)", word, re.ASCII)
            begins = digits is not None and word[digits.end() :][:1] in ("", "=")
            if len(found) == count and not re.match(r"\W*\d", word):
                break  # text
            if len(found) == count or digits is None or not begins:
                refuse(path, line, f"{text.strip()[:60]!r} is not {what}, {count} numbers")
            found.append((line, digits[0]))
            if word[digits.end() :]:
                if len(found) < count:
                    refuse(path, line, f"{text.strip()[:60]!r} is not {what}, {count} numbers")
                break
        if len(found) == count:
            return found, lines[taken:]
    last = lines[-1][0] if lines else (found[-1][0] if found else 1)
    msg = f"{name_of(path)}, line {last}: the file ends after {len(found)} of {what}, {count} numbers"
    raise ProblemError(msg)


def _size(path: Any, line: int, word: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,18}", word, re.ASCII) or int(word) == 0:
        refuse(path, line, f"{word!r} is not among the block sizes, whole numbers other than 0")
    return int(word)


def _value(path: Any, line: int, word: str, what: str) -> float:
    """A finite number; the exponent of Fortran, 2.0D+00, is one."""
    value = number(word.replace("D", "e").replace("d", "e"))
    if value is None:
        refuse(path, line, f"{word[:60]!r} is not {what}, a finite number")
    return value


# -- the entries ------------------------------------------------------------------------------------------


def _entries(path: Any, lines: list[Line], m: int, sizes: list[int]) -> tuple[np.ndarray, ...]:
    """The columns line, i, block, row, column, value; each within its bounds."""
    at, (k, block, i, j), value = _plain_entries(lines) or _free_entries(path, lines)
    most = np.array(sizes)
    wrong = (k < 0) | (k > m) | (block < 1) | (block > len(sizes))
    size = most[np.where(wrong, 1, block) - 1]
    wrong |= (i < 1) | (j < 1) | (i > np.abs(size)) | (j > np.abs(size)) | ((size < 0) & (i != j))
    if np.any(wrong):
        bad = int(np.argmax(wrong))
        entry = f"{k[bad]} {block[bad]} {i[bad]} {j[bad]} {value[bad]:g}"
        refuse(path, int(at[bad]), f"{entry!r} is an entry outside of its block, or off the diagonal of a diagonal one")
    return at, k, block, i, j, value


Columns = tuple[np.ndarray, Iterable[np.ndarray], np.ndarray]
"""The lines, the indices and the values of entries."""


def _plain_entries(lines: list[Line]) -> Columns | None:
    """Entries of a file that has five plain numbers on every line; None for another: the quick way."""
    if not lines or not all(PLAIN.fullmatch(text) for _, text in lines):
        return None
    words = [text.split() for _, text in lines]
    try:
        table = np.array(words, dtype=float)
    except ValueError:
        return None
    if not (np.all(np.abs(table[:, 4]) <= LARGEST) and np.all(table[:, :4] < 2**53)):
        return None
    return np.array([line for line, _ in lines]), table[:, :4].astype(np.int64).T, table[:, 4]


def _free_entries(path: Any, lines: list[Line]) -> Columns:
    """Entries wherever lines end, with commas, Fortran's exponents and comments behind them."""
    table: list[tuple[int, list[int], float]] = []
    held: list[str] = []
    unfinished = 0  # the line from which on no line ends with an entry: where a word is missing, or one too many
    for line, text in lines:
        for count, word in enumerate(PUNCTUATION.sub(" ", text).split()):
            if not held and count and word[0] in AFTER_ENTRY:
                break
            held.append(word)
            if len(held) < 5 and not (word.isascii() and word.isdecimal() and len(word) < 19):
                refuse(path, unfinished or line, f"{' '.join(held)[:60]!r} is no entry 'i block row column value'")
            if len(held) == 5:
                value = _value(path, unfinished or line, word, "the value of an entry, no entry without one")
                table.append((unfinished or line, [int(index) for index in held[:4]], value))
                held = []
        unfinished = (unfinished or line) if held else 0
    if held:
        refuse(path, unfinished, f"{' '.join(held)[:60]!r} is no entry 'i block row column value': the file ends in it")
    indices = np.array([entry[1] for entry in table], dtype=np.int64).reshape(-1, 4)
    return np.array([entry[0] for entry in table], dtype=np.int64), indices.T, np.array([entry[2] for entry in table])


# -- writing ----------------------------------------------------------------------------------------------


def write_sdpa(path: str | Path, problem: LinearSDP) -> None:
    """Write a real program as (D): its blocks, then a diagonal one with a slack for each inequality.

    tr X <= R becomes tr X + s = R, unless the equations give the trace. Numbers are written so that they are read as
    the same.

    Parameters
    ----------
    path : str or Path
        Such as ``program.dat-s``, or with ``.gz`` at its end.
    problem : LinearSDP

    Raises
    ------
    ProblemError
        For complex matrices, which the format does not know.
    """
    import scipy.sparse as sp

    family, C = problem.family, sp.coo_array(as_numpy(problem.C))
    m, n = family.shape
    rows = family.rows if isinstance(family, SparseMap) else sp.csr_array(
        np.stack([as_numpy(family.matrix(j)).reshape(-1) for j in range(m)])
    )  # fmt: skip
    if np.iscomplexobj(rows.data) or np.iscomplexobj(C.data):
        msg = "the SDPA format knows real matrices only, and problem is complex"
        raise ProblemError(msg)
    equal, right = np.asarray(problem.equalities), np.asarray(problem.b, dtype=float)
    bound: float | None = problem.trace_bound
    if bound is not None and (not np.any(equal) or Program(C, rows[equal], right[equal]).trace() is None):
        rows = sp.vstack([rows, sp.csr_array(np.eye(n).reshape(1, -1))], format="csr")
        equal, right = np.append(equal, False), np.append(right, bound)
    entries = [(0, int(i), int(j), v) for i, j, v in zip(C.row, C.col, C.data, strict=True)]
    found = sp.coo_array(rows)
    places = zip(found.row, found.col, found.data, strict=True)
    entries += [(int(k) + 1, int(place) // n, int(place) % n, v) for k, place, v in places]
    sizes = _blocks(n, entries)
    slacks = np.flatnonzero(~equal)
    entries += [(int(k) + 1, n + s, n + s, 1.0) for s, k in enumerate(slacks)]
    sizes += [-len(slacks)] * bool(len(slacks))
    first = np.cumsum([0, *map(abs, sizes)])
    block = np.repeat(np.arange(len(sizes)), np.abs(sizes))
    said = ['"max tr(F0 X) subject to tr(Fi X) = ci, X >= 0; written by matrixlearn', f"{len(right)} = m"]
    said += [f"{len(sizes)} = number of blocks", " ".join(map(str, sizes)), " ".join(repr(float(c)) for c in right)]
    said += [
        f"{k} {block[i] + 1} {i - first[block[i]] + 1} {j - first[block[i]] + 1} {float(v)!r}"
        for k, i, j, v in sorted(entries)
        if i <= j and v != 0
    ]
    text = ("\n".join(said) + "\n").encode()
    with replacing(path) as file:
        file.write(gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text)


def _blocks(n: int, entries: list[tuple[int, int, int, float]]) -> list[int]:
    """Sizes of the blocks that no entry leaves, neighbouring ones of size 1 as a diagonal one."""
    places = np.array([entry[1:3] for entry in entries], dtype=np.int64).reshape(-1, 2).T
    sizes: list[int] = []
    for size in diagonal_blocks(n, *places) or (n,):
        if size == 1 and sizes and (sizes[-1] < 0 or sizes[-1] == 1):
            sizes[-1] = min(sizes[-1], -1) - 1
        else:
            sizes.append(size)
    return sizes
