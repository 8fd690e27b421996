"""Graphs as files of rows: METIS, which lists the neighbours of each vertex, and MatrixMarket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from matrixlearn.files import number, refuse
from matrixlearn_maxcut.edges import Edges, Line, require_size, whole


def metis_rows(lines: list[tuple[int, str]]) -> list[Line]:
    """The lines of a METIS file: blank ones count, comments do not, and what is blank at the end need not be there."""
    rows = [(line, text.split()) for line, text in lines if not text.lstrip().startswith("%")]
    while rows and not rows[0][1]:
        rows = rows[1:]
    n = int(rows[0][1][0]) if rows and whole(rows[0][1][0]) else 0
    while len(rows) > n + 1 and not rows[-1][1]:
        rows = rows[:-1]
    return rows


@dataclass(frozen=True)
class Header:
    """``n m [format [constraints]]``: what each line holds before its neighbours, and between them."""

    vertices: int
    edges: int
    skipped: int
    """Sizes and weights of a vertex, of no use here."""
    priced: bool
    """Whether each neighbour is followed by the weight of its edge."""

    @classmethod
    def of(cls, cells: list[str]) -> Header | None:
        """The header that a line is, or None."""
        kind = cells[2] if cells[2:] else "0"
        if not 2 <= len(cells) <= 4 or not all(map(whole, cells)) or set(kind) - {"0", "1"} or len(kind) > 3:
            return None
        sized, weighted, priced = (flag == "1" for flag in kind.rjust(3, "0"))
        return cls(int(cells[0]), int(cells[1]), sized + (int(cells[3]) if cells[3:] else 1) * weighted, priced)

    def neighbours(self, cells: list[str]) -> list[tuple[str, str]]:
        """(name, weight) of a line's neighbours."""
        listed = cells[self.skipped :]
        return list(zip(listed[::2], listed[1::2], strict=False)) if self.priced else [(name, "1") for name in listed]


def looks_like_metis(rows: list[Line]) -> bool:
    """Whether as many lines and neighbours are there as the first declares, and most are neighbours of each other."""
    header = Header.of(rows[0][1]) if rows else None
    if header is None or len(rows) - 1 != header.vertices:
        return False
    names = [(k, name) for k, (_, cells) in enumerate(rows[1:], 1) for name, _ in header.neighbours(cells)]
    listed = [(k, int(name)) for k, name in names if whole(name)]
    both = set(listed)
    mutual = sum((v, u) in both and u != v for u, v in listed)
    return abs(len(names) - 2 * header.edges) <= 2 and mutual > len(names) / 2


def read_metis(path: Any, rows: list[Line]) -> nx.Graph:
    """A line ``n m [format [constraints]]``, then a line of neighbours for each vertex, each edge on two."""
    (line, first), body = rows[0], rows[1:]
    header = Header.of(first)
    if header is None:
        refuse(path, line, f"{' '.join(first)[:60]!r} is no header 'n m [format [constraints]]' of a METIS file")
    n, found = header.vertices, dict[tuple[int, int], tuple[int, str]]()
    if len(body) != n:
        refuse(path, line, f"{n} vertices are declared, and {len(body)} lines of neighbours follow")
    for vertex, (at, cells) in enumerate(body, 1):
        if len(cells) < header.skipped or (header.priced and (len(cells) - header.skipped) % 2):
            refuse(path, at, "cells are missing: sizes and weights of the vertex, or the weight of an edge")
        for name, weight in header.neighbours(cells):
            if not whole(name) or not 1 <= int(name) <= n or int(name) == vertex:
                refuse(path, at, f"{name!r} is no neighbour of the vertex {vertex} of {n}")
            if (vertex, int(name)) in found:
                refuse(path, at, f"the neighbour {name} comes twice")
            found[vertex, int(name)] = at, weight
    edges = Edges(path, n)
    for (u, v), (at, weight) in found.items():
        if (v, u) not in found or number(found[v, u][1]) != number(weight):
            refuse(
                path, at, f"{v} is a neighbour of {u}, and line {body[v - 1][0]} does not say the same of {u} and {v}"
            )
        if u < v:
            edges.add(at, str(u), str(v), weight)
    if len(found) != 2 * header.edges:
        refuse(path, line, f"{header.edges} edges are declared, and {len(found)} neighbours listed: not twice as many")
    return edges.graph(line)


def read_matrix_market(path: Any, lines: list[tuple[int, str]]) -> Any:
    """The symmetric matrix of weights of a MatrixMarket file, sparse, (n, n)."""
    import scipy.sparse as sp

    line, banner = lines[0]
    words = banner.lower().split()
    kinds = ("coordinate", "array"), ("real", "integer", "pattern"), ("general", "symmetric")
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5 or any(
        word not in known for word, known in zip(words[2:], kinds, strict=True)
    ):  # fmt: skip
        refuse(
            path,
            line,
            f"want '%%MatrixMarket matrix' with {' '.join('|'.join(kind) for kind in kinds)}, got {banner[:60]!r}",
        )
    dense, pattern, symmetric = words[2] == "array", words[3] == "pattern", words[4] == "symmetric"
    rows = [(at, text.split()) for at, text in lines[1:] if text.strip() and not text.lstrip().startswith("%")]
    at, sizes = rows[0] if rows else (line, [])
    if len(sizes) != 3 - dense or not all(map(whole, sizes)):
        refuse(path, at, f"{' '.join(sizes)[:60]!r} is no line of sizes, {'n n' if dense else 'n n entries'}")
    n, columns = int(sizes[0]), int(sizes[1])
    if n != columns or n == 0 or (dense and pattern):
        refuse(path, at, f"the weights of a graph are a square matrix of numbers, not {n} x {columns} ({words[3]})")
    declared = (n * (n + 1) // 2 if symmetric else n * n) if dense else int(sizes[2])
    if len(rows) - 1 != declared:
        refuse(
            path,
            at,
            f"{declared} entries are declared, and {len(rows) - 1} follow: the file is cut, or this line wrong",
        )
    require_size(path, at, n, declared)
    if dense:
        places = ((i, j) for j in range(n) for i in range(j if symmetric else 0, n))
        entries = [(at, i, j, cells) for (i, j), (at, cells) in zip(places, rows[1:], strict=True)]
    else:
        entries = [
            (at, *_place(path, at, cells, n), ["1"] * (len(cells) == 2) if pattern else cells[2:])
            for at, cells in rows[1:]
        ]
    return sp.csr_array(_symmetric(path, entries, n, symmetric))


def _place(path: Any, line: int, cells: list[str], n: int) -> tuple[int, int]:
    if len(cells) < 2 or not all(whole(cell) and 1 <= int(cell) <= n for cell in cells[:2]):
        refuse(path, line, f"{' '.join(cells)[:60]!r} is no entry of an {n} x {n} matrix")
    return int(cells[0]) - 1, int(cells[1]) - 1


def _symmetric(path: Any, entries: list[tuple[int, int, int, list[str]]], n: int, symmetric: bool) -> Any:
    """The matrix of (line, row, column, cells), each given once, both triangles equal."""
    import scipy.sparse as sp

    found: dict[tuple[int, int], tuple[int, float]] = {}
    for line, i, j, cells in entries:
        value = number(cells[0]) if len(cells) == 1 else None
        if value is None:
            refuse(path, line, f"{' '.join(cells)[:60]!r} is not the one finite number that belongs there")
        if (i, j) in found or (symmetric and (j, i) in found):
            refuse(path, line, f"the entry {i + 1} {j + 1} comes twice")
        found[i, j] = (line, value)
    for (i, j), (line, value) in [] if symmetric else list(found.items()):
        if found.get((j, i), (0, 0.0))[1] != value:
            refuse(path, line, f"the entries {i + 1} {j + 1} and {j + 1} {i + 1} differ: the graph must be undirected")
    at = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    matrix = sp.coo_array((np.array([value for _, value in found.values()]), (at[:, 0], at[:, 1])), shape=(n, n))
    return matrix + sp.tril(matrix, -1).T + sp.triu(matrix, 1).T if symmetric else matrix
