"""Graphs from files, each read as the format that it is, or refused with its line.

| format | recognised by |
|---|---|
| MatrixMarket | the first line, ``%%MatrixMarket matrix ...`` |
| DIMACS (.col) | a line ``p edge n m`` |
| CSV | commas or semicolons on the first line, or a name that ends with .csv or .tsv |
| Gset (rudy) | a first line ``n m``, and m lines ``i j w`` or ``i j`` after it |
| METIS | a first line ``n m [format]``, and n lines of neighbours after it, each edge on both |
| edge list | none of these: lines ``u v`` or ``u v w`` |

A file that could be two of them is refused; the end of its name then decides (`NAMED`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrixlearn.files import read_lines, refuse
from matrixlearn_maxcut.edges import Line, read_csv, read_dimacs, read_gset, read_list, whole
from matrixlearn_maxcut.matrices import looks_like_metis, metis_rows, read_matrix_market, read_metis

NAMED = {
    ".mtx": "MatrixMarket", ".col": "DIMACS", ".clq": "DIMACS", ".csv": "CSV", ".tsv": "CSV", ".rud": "Gset",
    ".rudy": "Gset", ".gset": "Gset", ".mc": "Gset", ".graph": "METIS", ".metis": "METIS", ".edges": "edge list",
    ".edgelist": "edge list",
}  # fmt: skip
"""What the end of a name says, ``.gz`` taken off."""


@dataclass(frozen=True)
class GraphFile:
    """A graph, and the format in which it was read from a file."""

    format: str
    """The name of the format."""
    graph: Any
    """A networkx graph, or a sparse matrix of weights."""


def read_graph(path: str | Path) -> Any:
    """A graph with weights, as `MaxCut` takes it; see `read_graph_file`."""
    return read_graph_file(path).graph


def read_graph_file(path: str | Path) -> GraphFile:
    """The graph of a file, and its format.

    Parameters
    ----------
    path : str or Path
        Text, gzipped or not, "-" for standard input. ``#`` or ``%`` opens a comment.

    Raises
    ------
    ProblemError
        Where the file is of no format, of two, or breaks the rules of its own: other counts than it declares, vertices
        that it does not, an edge that comes twice; the message names file and line.
    """
    lines = list(enumerate(read_lines(path), 1))
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    kind = NAMED.get(suffixes[-1] if suffixes else "") or _recognised(path, lines)
    return GraphFile(kind, READERS[kind](path, lines))


def _rows(lines: list[tuple[int, str]]) -> list[Line]:
    """The lines that say something, comments taken off, in cells."""
    rows = []
    for line, text in lines:
        cells = text.split()
        end = next((k for k, cell in enumerate(cells) if cell[0] in "#%"), len(cells))
        if end:
            rows.append((line, cells[:end]))
    return rows


def _said(path: Any, lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines of CSV that say something, whole."""
    said = [(line, text) for line, text in lines if text.strip() and text.lstrip()[0] not in "#%"]
    return said or refuse(path, 1, "the graph has no edges")


def _dimacs(path: Any, lines: list[tuple[int, str]]) -> Any:
    rows = [(line, text.split()) for line, text in lines if text.strip()]
    return read_dimacs(path, rows) if rows else refuse(path, 1, "the graph has no edges")


def _gset(path: Any, lines: list[tuple[int, str]]) -> Any:
    return read_gset(path, _rows(lines) or refuse(path, 1, "the graph has no edges"))


def _metis(path: Any, lines: list[tuple[int, str]]) -> Any:
    return read_metis(path, metis_rows(lines) or refuse(path, 1, "the graph has no edges"))


READERS: dict[str, Callable[[Any, list[tuple[int, str]]], Any]] = {
    "MatrixMarket": read_matrix_market,
    "DIMACS": _dimacs,
    "CSV": lambda path, lines: read_csv(path, _said(path, lines)),
    "Gset": _gset,
    "METIS": _metis,
    "edge list": lambda path, lines: read_list(path, _rows(lines)),
}


def _recognised(path: Any, lines: list[tuple[int, str]]) -> str:
    """The format of a file whose name does not tell."""
    if lines[0][1].lower().startswith("%%matrixmarket"):
        return "MatrixMarket"
    rows = _rows(lines)
    if not rows:
        refuse(path, 1, "the graph has no edges")
    said = [
        cells for _, cells in rows if cells[0] != "c"
    ]  # of DIMACS, "c" opens a comment, "p" the header, "e" an edge
    headers = [cells for cells in said if cells[0] == "p" and cells[1:2] in (["edge"], ["edges"], ["col"])]
    edges = [cells for cells in said if len(cells) == 3 and cells[0] == "e" and all(map(whole, cells[1:]))]
    if headers or 2 * len(edges) > len(said) or not said:
        return "DIMACS"
    if "," in (first := " ".join(rows[0][1])) or ";" in first:
        return "CSV"
    return _by_counts(path, lines, rows)


def _by_counts(path: Any, lines: list[tuple[int, str]], rows: list[Line]) -> str:
    """Gset, METIS or an edge list: what the first line would declare as a header is compared with what follows."""
    (line, first), body = rows[0], rows[1:]
    widths = {len(cells) for _, cells in body}
    if not (2 <= len(first) <= 4 and all(map(whole, first))):
        return "edge list"
    n, m = int(first[0]), int(first[1])
    metis = looks_like_metis(metis_rows(lines))
    if metis and len(first) == 2 and len(body) == m and widths == {2}:
        refuse(path, line, f"'{n} {m}' begins a Gset file or a METIS file, as both: name it .rud or .graph to tell")
    if metis or len(first) == 4:
        return "METIS"
    threes = 2 * sum(len(cells) == 3 for _, cells in body) > len(body)  # most lines: what is not, is refused
    if len(first) == 2 and widths - {2}:
        return "Gset" if threes or len(body) == m else "METIS"
    if widths - {2, 3}:
        return "edge list" if threes else "METIS"
    names = [(at, cell) for at, cells in body for cell in cells[:2]]
    stranger = next(((at, name) for at, name in names if not (whole(name) and int(name) <= n)), None)
    if stranger is None and len(first) == 2 and len(body) == m > 0:
        return "Gset"
    plain = len(first) == 2 and all(whole(name) for _, name in names)
    sorted_list = plain and n <= min((int(name) for _, name in names), default=0)  # as lists begin, and headers do not
    if (stranger is None and m <= n * (n - 1) // 2) or (plain and (len(body) == m > 2 or not sorted_list)):
        but = "" if stranger is None else f", and the vertex {stranger[1]} on line {stranger[0]} is not one of {n}"
        refuse(
            path,
            line,
            f"{' '.join(first)!r} is an edge, or a header 'n m', but {len(body)} lines follow{but}; name the file "
            f".edges or .rud to tell which, or let a list begin with its smallest vertex",
        )
    return "edge list"
