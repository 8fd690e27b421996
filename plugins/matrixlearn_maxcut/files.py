"""Graphs from files: MatrixMarket, the Gset format of rudy, and edge lists."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import networkx as nx

from matrixlearn.exceptions import ProblemError


def read_graph(path: str | Path) -> Any:
    """A graph with weights, as `MaxCut` takes it.

    Parameters
    ----------
    path : str or Path
        ``.mtx`` (also .gz): the matrix of weights, MatrixMarket. Otherwise text, ``#`` or ``%`` opening a
        comment: the Gset format, a line ``n m`` and then m lines ``i j w`` (or ``i j``) with vertices 1 to
        n; or an edge list without a header, ``u v`` or ``u v w`` with any names.

    Returns
    -------
    sparse matrix, or networkx.Graph

    Raises
    ------
    ProblemError
        Where a line is no edge, or an edge comes twice; the message names file and line.
    """
    path = Path(path)
    if ".mtx" in path.suffixes:
        from scipy.io import mmread

        try:
            return mmread(path)
        except ValueError as error:
            msg = f"{path} is not a MatrixMarket file: {error}"
            raise ProblemError(msg) from error
    rows = _rows(path)
    graph = nx.Graph()
    if _has_header(rows):
        graph.add_nodes_from(str(i) for i in range(1, int(rows[0][1][0]) + 1))
        rows = rows[1:]
    for number, cells in rows:
        try:
            u, v, weight = cells[0], cells[1], float(cells[2]) if len(cells) == 3 else 1.0
            if len(cells) > 3:
                raise ValueError
        except (IndexError, ValueError) as error:
            msg = f"{path}, line {number}: {' '.join(cells)!r} is no edge; want 'u v' or 'u v weight'"
            raise ProblemError(msg) from error
        if graph.has_edge(u, v):
            msg = f"{path}, line {number}: the edge {u} - {v} comes twice; add up its weights, or list it once"
            raise ProblemError(msg)
        graph.add_edge(u, v, weight=weight)
    return graph


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The numbered lines that are no comments, split."""
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            lines = file.read().splitlines()
    except UnicodeDecodeError as error:
        msg = f"{path} is not text: {error}"
        raise ProblemError(msg) from error
    split = [(number, line.split()) for number, line in enumerate(lines, 1)]
    return [(number, cells) for number, cells in split if cells and cells[0][0] not in "#%"]


def _has_header(rows: list[tuple[int, list[str]]]) -> bool:
    """Is the first line ``n m``, with m edges between 1 and n after it?

    A list of edges ``u v`` could only be mistaken for one where its first edge counts all the others
    and no name is beyond its first.
    """
    if not rows or len(rows[0][1]) != 2 or not all(cell.isdecimal() for cell in rows[0][1]):
        return False
    n, m = (int(cell) for cell in rows[0][1])
    edges = [cells for _, cells in rows[1:]]
    return len(edges) == m and all(
        len(cells) in (2, 3) and all(cell.isdecimal() and 1 <= int(cell) <= n for cell in cells[:2]) for cells in edges
    )
