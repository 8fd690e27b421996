"""Edges as files list them: Gset, DIMACS, lists with any names, CSV; each a function of numbered lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

import networkx as nx

from matrixlearn.files import number, refuse

Line = tuple[int, list[str]]
"""The number of a line and its cells."""

LONELY = 100_000
"""Vertices without an edge that a header may declare: more are a slip, and would be asked of memory all the same."""

HEADERS = {("source", "target"), ("from", "to"), ("source", "target", "weight"), ("from", "to", "weight")}
"""First lines of CSV that are no edges."""


class Edges:
    """The edges of a file, each once; with a number of ``vertices``, these are 1 to n."""

    def __init__(self, path: Any, vertices: int | None = None) -> None:
        self.path = path
        self.vertices = vertices
        self.weights: dict[tuple[str, str], float] = {}

    def add(self, line: int, u: str, v: str, weight: str = "1") -> None:
        """An edge; refused where it is none, comes twice, or leads out of the declared vertices."""
        value = number(weight)
        if value is None:
            refuse(self.path, line, f"the weight {weight!r} is no edge's: it must be a finite number")
        if self.vertices is not None:
            u, v = (self._declared(line, name) for name in (u, v))
            if u == v:
                refuse(self.path, line, f"the edge {u} - {v} leads from a vertex to itself")
        if (u, v) in self.weights or (v, u) in self.weights:
            refuse(self.path, line, f"the edge {u} - {v} comes twice; add up its weights, or list it once")
        self.weights[u, v] = value

    def _declared(self, line: int, name: str) -> str:
        if not whole(name) or not 1 <= int(name) <= (self.vertices or 0):
            refuse(self.path, line, f"the vertex {name} is not among those declared, 1 to {self.vertices}")
        return str(int(name))

    def graph(self, line: int = 1) -> nx.Graph:
        """The graph; ``line`` declared the vertices."""
        graph = nx.Graph()
        if self.vertices is not None:
            require_size(self.path, line, self.vertices, len(self.weights))
            graph.add_nodes_from(map(str, range(1, self.vertices + 1)))
        graph.add_weighted_edges_from((u, v, weight) for (u, v), weight in self.weights.items())
        if not graph:
            refuse(self.path, line, "the graph has no vertices")
        return graph


def whole(text: str) -> bool:
    """Whether a text is a whole number >= 0, in digits and not endlessly many."""
    return text.isascii() and text.isdecimal() and len(text) < 19


def require_size(path: Any, line: int, vertices: int, edges: int) -> None:
    """Refuse more vertices than a file of so many edges can mean, before memory is asked for."""
    if vertices > 2 * edges + LONELY:
        refuse(path, line, f"{vertices} vertices are declared for {edges} edges, which touch {2 * edges} at most")


def one_width(path: Any, rows: Iterable[Line], words: str) -> None:
    """All lines have two cells, or all have three."""
    width = 0
    for line, cells in rows:
        width = width or len(cells)
        if len(cells) not in (2, 3):
            refuse(path, line, f"{' '.join(cells)[:60]!r} is no edge; want {words}")
        if len(cells) != width:
            refuse(path, line, f"{' '.join(cells)[:60]!r} has {len(cells)} cells, where the first edge has {width}")


def read_gset(path: Any, rows: list[Line]) -> nx.Graph:
    """A line ``n m``, then m lines ``i j w``, or all of them ``i j``; vertices 1 to n."""
    (line, header), body = rows[0], rows[1:]
    if len(header) != 2 or not all(map(whole, header)):
        refuse(path, line, f"{' '.join(header)[:60]!r} is no header 'n m' of a Gset file")
    n, m = map(int, header)
    if len(body) != m:
        refuse(path, line, f"{m} edges are declared, and {len(body)} follow: the file is cut, or the header wrong")
    one_width(path, body, "'i j w' or 'i j'")
    edges = Edges(path, n)
    for at, cells in body:
        edges.add(at, *cells)
    return edges.graph(line)


def read_dimacs(path: Any, rows: list[Line]) -> nx.Graph:
    """``c`` comments, ``p edge n m``, then ``e i j``: each edge once, or each both ways."""
    edges, mirrored, declared, m, listed = Edges(path, 0), Edges(path, 0), 0, 0, 0
    for line, cells in rows:
        kind = cells[0]
        if kind == "p":
            if (
                declared
                or len(cells) != 4
                or cells[1] not in ("edge", "edges", "col")
                or not all(map(whole, cells[2:]))
            ):
                refuse(path, line, f"{' '.join(cells)[:60]!r} is no 'p edge n m', or the second one")
            declared, n, m = line, int(cells[2]), int(cells[3])
            edges, mirrored = Edges(path, n), Edges(path, n)
        elif kind == "e":
            if not declared:
                refuse(path, line, "an edge comes before the line 'p edge n m'")
            if len(cells) != 3:
                refuse(path, line, f"{' '.join(cells)[:60]!r} is no 'e i j'; weights have no place in this format")
            listed += 1
            known = (cells[1], cells[2]) not in edges.weights and (cells[2], cells[1]) in edges.weights
            (mirrored if known else edges).add(line, *cells[1:])
        elif kind not in ("c", "n", "d", "v", "x"):
            refuse(path, line, f"{' '.join(cells)[:60]!r} begins with none of the letters c, p, e, n, d, v, x")
    if not declared:
        refuse(path, rows[0][0], "the line 'p edge n m' is missing")
    once, twice = len(edges.weights), len(mirrored.weights)
    if twice not in (0, once):
        refuse(path, declared, f"{twice} of {once} edges are listed both ways: list all of them, or none")
    if m not in (listed, once):
        refuse(path, declared, f"{m} edges are declared, and {listed} listed: the file is cut, or this line wrong")
    return edges.graph(declared)


def read_list(path: Any, rows: list[Line]) -> nx.Graph:
    """Lines ``u v``, or all of them ``u v w``, with any names."""
    one_width(path, rows, "'u v' or 'u v weight'")
    named = [line for line, cells in rows if not all(map(whole, cells[:2]))]
    if len(named) == 1 and len(rows) > 3:
        refuse(path, named[0], "a vertex is no number here, as on all other lines: a slip, or a header not read?")
    edges, spelled = Edges(path), dict[int, str]()
    for line, cells in rows:
        for name in cells[:2] if not named else ():
            if spelled.setdefault(int(name), name) != name:
                refuse(path, line, f"the vertices {spelled[int(name)]} and {name} are one number in two spellings")
        edges.add(line, *cells)
    return edges.graph(rows[0][0] if rows else 1)


def read_csv(path: Any, lines: list[tuple[int, str]]) -> nx.Graph:
    """Lines ``u,v`` or ``u,v,w`` between commas, semicolons or tabs, perhaps under ``source,target,weight``."""
    first = lines[0][1]
    mark = next((mark for mark in ";\t," if mark in first), ",")
    rows: list[Line] = []
    for line, text in lines:
        try:
            (cells,) = csv.reader([text], delimiter=mark, skipinitialspace=True, strict=True)
        except (csv.Error, ValueError) as error:
            refuse(path, line, f"no line of CSV: {error}")
        rows.append((line, [cell.strip() for cell in cells]))
    if tuple(cell.lower() for cell in rows[0][1]) in HEADERS:
        rows = rows[1:]
    for line, cells in rows:
        if not all(cells):
            refuse(path, line, "a cell is empty")
    return read_list(path, rows)
