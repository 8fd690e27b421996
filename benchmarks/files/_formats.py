"""The formats of files: an example of each, how it is read, and a plain parser that says what a changed file holds."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Format:
    """A file of a format, the problem that it is read for, and what a plain reading of any content says."""

    file: str
    content: bytes
    problem: str
    argument: str
    judge: Callable[[bytes], Any]
    said: Callable[[Any], Any]
    text: bool = True
    options: tuple[str, ...] = ()


FLOAT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def plain_lines(raw: bytes) -> list[str]:
    """Lines of plain text, without empty ones."""
    text = raw.decode().replace("\r\n", "\n").replace("\r", "\n")
    if not text.replace("\t", "").replace("\n", "").isprintable():
        raise ValueError
    return [line for line in text.split("\n") if line.strip()]


def fields(line: str, *patterns: str) -> list[str]:
    """The words of a line, each of a pattern."""
    words = line.split()
    if len(words) != len(patterns) or not all(re.fullmatch(p, w) for p, w in zip(patterns, words, strict=True)):
        raise ValueError
    return words


def graph(triples: Any) -> frozenset:
    """Edges {u, v} with weights other than 0; one that comes twice is a contradiction."""
    found: dict[frozenset, float] = {}
    for u, v, w in triples:
        edge = frozenset((str(u), str(v)))
        if edge in found:
            raise ValueError
        found[edge] = float(w)
    return frozenset((edge, w) for edge, w in found.items() if w and len(edge) == 2)


def said_of_graph(problem: Any) -> frozenset:
    W = problem.adjacency.tocoo()
    nodes = [str(v + 1) if isinstance(v, int) else str(v) for v in problem.nodes]
    return graph((nodes[i], nodes[j], w) for i, j, w in zip(W.row, W.col, W.data, strict=True) if i < j)


def within(n: int, *names: str) -> None:
    if not all(1 <= int(name) <= n for name in names):
        raise ValueError


def judge_gset(raw: bytes) -> frozenset:
    head, *body = [line for line in plain_lines(raw) if line.split()[0][0] not in "#%"]
    n, m = map(int, fields(head, r"\d+", r"\d+"))
    width = {len(line.split()) for line in body}
    if len(body) != m or width not in ({2}, {3}):
        raise ValueError
    rows = [fields(line, r"\d+", r"\d+", *[FLOAT] * (len(line.split()) - 2)) for line in body]
    for row in rows:
        within(n, *row[:2])
    return graph((int(r[0]), int(r[1]), r[2] if r[2:] else 1) for r in rows)


def judge_list(raw: bytes) -> frozenset:
    rows = [line.split() for line in plain_lines(raw) if line.split()[0][0] not in "#%"]
    rows = [row[: next((k for k, cell in enumerate(row) if cell[0] in "#%"), len(row))] for row in rows]
    if {len(row) for row in rows} not in ({2}, {3}):
        raise ValueError
    return graph((r[0], r[1], fields(r[2], FLOAT)[0] if r[2:] else 1) for r in rows)


def judge_csv(raw: bytes) -> frozenset:
    rows = [[cell.strip() for cell in line.split(",")] for line in plain_lines(raw) if line.strip()[0] not in "#%"]
    if [cell.lower() for cell in rows[0]] == ["source", "target", "weight"]:
        rows = rows[1:]
    if {len(row) for row in rows} not in ({2}, {3}) or not all(cell for row in rows for cell in row):
        raise ValueError
    return graph((r[0].strip('"'), r[1].strip('"'), fields(r[2], FLOAT)[0] if r[2:] else 1) for r in rows)


def judge_metis(raw: bytes) -> frozenset:
    text = raw.decode("ascii").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("%")]
    head = fields(lines[0], r"\d+", r"\d+", *[r"0?0?[01]"] * (len(lines[0].split()) - 2))
    n, m, priced = int(head[0]), int(head[1]), head[2:] and int(head[2]) == 1
    body = lines[1 : n + 1]
    if any(line.strip() for line in lines[n + 1 :]) or len(body) != n:
        raise ValueError
    found = {}
    for u, line in enumerate(body, 1):
        words = line.split()
        pairs = list(zip(words[::2], words[1::2], strict=True)) if priced else [(word, "1") for word in words]
        for v, w in pairs:
            within(n, v)
            if (u, int(v)) in found or int(v) == u or not re.fullmatch(FLOAT, w):
                raise ValueError
            found[u, int(v)] = float(w)
    if len(found) != 2 * m or any(found.get((v, u)) != w for (u, v), w in found.items()):
        raise ValueError
    return graph((u, v, w) for (u, v), w in found.items() if u < v)


def judge_dimacs(raw: bytes) -> frozenset:
    lines = [line for line in plain_lines(raw) if line.split()[0] not in "cndvx"]
    _, _, n, m = fields(lines[0], "p", "edges?|col", r"\d+", r"\d+")
    rows = [fields(line, "e", r"\d+", r"\d+") for line in lines[1:]]
    for row in rows:
        within(int(n), *row[1:])
    if len(rows) != int(m):
        raise ValueError
    return graph((int(u), int(v), 1) for _, u, v in rows)


def judge_matrix_market(raw: bytes) -> frozenset:
    banner, *lines = plain_lines(raw)
    fields(banner.lower(), "%%matrixmarket", "matrix", "coordinate", "real|integer", "symmetric")
    head, *body = [line for line in lines if line.strip()[0] != "%"]
    n, columns, m = map(int, fields(head, r"\d+", r"\d+", r"\d+"))
    rows = [fields(line, r"\d+", r"\d+", FLOAT) for line in body]
    for row in rows:
        within(n, *row[:2])
    if n != columns or len(rows) != m:
        raise ValueError
    return graph((int(i), int(j), w) for i, j, w in rows)


def judge_sdpa(raw: bytes) -> tuple:
    """As SDPA scans: m and the number of blocks open their lines, the rest is a stream of numbers."""
    lines = [line for line in plain_lines(raw) if line.strip()[0] not in '"*']
    m, count = (int(re.match(r"\s*\+?(\d+)(?![\w.])", line)[1]) for line in lines[:2])
    words = re.sub(r"[,(){}]", " ", re.sub(r"=.*", "", "\n".join(lines[2:]))).split()
    words = [word.upper().replace("D", "E") for word in words]
    if not all(re.fullmatch(FLOAT, word) for word in words):
        raise ValueError
    sizes, c, entries = words[:count], words[count : count + m], words[count + m :]
    if len(c) < m or len(entries) % 5:
        raise ValueError
    first, found = np.cumsum([0, *(abs(int(size)) for size in sizes)]), {}
    for k, block, i, j, value in zip(*(entries[t::5] for t in range(5)), strict=True):
        size = int(sizes[int(block) - 1])
        within(abs(size), i, j), within(count, block)
        if int(k) > m or (size < 0 and i != j):
            raise ValueError
        a, b = sorted((int(i), int(j)))
        at = (int(k), int(first[int(block) - 1]) + a - 1, int(first[int(block) - 1]) + b - 1)
        if found.setdefault(at, float(value)) != float(value):
            raise ValueError
    return int(first[-1]), tuple(map(float, c)), frozenset(item for item in found.items() if item[1])


def said_of_program(problem: Any) -> tuple:
    n, m = problem.C.shape[0], len(problem.b)
    matrices = [np.asarray(problem.C), *(np.asarray(problem.constraint(j)) for j in range(m))]
    found = {(k, i, j): M[i, j] for k, M in enumerate(matrices) for i in range(n) for j in range(i, n) if M[i, j]}
    return n, tuple(problem.b.tolist()), frozenset(found.items())


def judge_table(raw: bytes) -> bytes:
    """A line of names or none, numbers between one kind of separators."""
    lines = [line for line in plain_lines(raw) if line[0] != "#"]
    mark = next((mark for mark in ";\t," if mark in lines[0]), None)
    rows = [[cell.strip().strip('"') for cell in line.split(mark)] for line in lines]
    if not any(re.fullmatch(FLOAT, cell) for cell in rows[0]):
        rows = rows[1:]
    if not all(re.fullmatch(FLOAT, cell) for row in rows for cell in row):
        raise ValueError
    return array_said(np.array([[float(cell) for cell in row] for row in rows]))


def array_said(array: Any) -> bytes:
    array = np.asarray(array, dtype=float)
    if not np.all(np.isfinite(array)) or array.ndim != 2:
        raise ValueError
    return repr(array.shape).encode() + (array + 0.0).tobytes()


def judge_npy(raw: bytes) -> bytes:
    return array_said(np.load(io.BytesIO(raw), allow_pickle=False))


def judge_npz(*names: str) -> Callable[[bytes], Any]:
    def judge(raw: bytes) -> Any:
        with np.load(io.BytesIO(raw), allow_pickle=False) as data:
            return tuple((data[name].shape, np.asarray(data[name], dtype=float).tobytes()) for name in names)

    return judge


def said_of_arrays(*names: str) -> Callable[[Any], Any]:
    return lambda p: tuple((np.shape(getattr(p, n)), np.asarray(getattr(p, n), dtype=float).tobytes()) for n in names)


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def formats() -> dict[str, Format]:
    """One file of each format: small, and not symmetric in anything, so that an exchange would show."""
    rng = np.random.default_rng(0)
    pairs = [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5), (2, 5), (6, 2), (7, 6), (3, 7)]
    weights = [1, -2, 3, 0.5, 1, 2.25, 1, 4, 7]
    edges = [(i, j, w) for (i, j), w in zip(pairs, weights, strict=True)]
    near = {v: [(j if i == v else i, w) for i, j, w in edges if v in (i, j)] for v in range(1, 8)}
    gset = "7 9\n" + "".join(f"{i} {j} {w}\n" for i, j, w in edges)
    head = '"a program\n3 = m\n2 = nBLOCK\n(3, -2)\n{4.0, 1.0, 0.5}\n'
    body = (
        "0 1 1 1 1.0/0 1 1 2 2.5/0 1 2 2 -3.0/0 1 3 3 0.75/0 2 1 1 0.25/0 2 2 2 -1.0/1 1 1 1 1.0/1 1 2 2 1.0/1 1 3 3 1/"
        "1 2 1 1 1.0/1 2 2 2 1.0/2 1 1 2 0.5/2 2 1 1 1.0/3 1 2 2 1.0/3 2 2 2 2.0/"
    )
    sdpa = head + body.replace("/", "\n")
    free = (
        "3/2/3, -2/4 1/0.5/0 1 1 1 1.0, 0 1 1 2 2.5D+00/0 1 2/2 -3.0/0 1 3 3 .75/0 2 1 1 2.5e-1 0 2 2 2 -1/1 1 1 1 1/"
    )
    free += "1 1 2 2 1/1 1 3 3 1/1 2 1 1 1 1 2 2 2 1/2 1 1 2 0.5 2 1 2 1 0.5/2 2 1 1 1/3 1 2 2 1/3 2 2 2 2/"
    free = free.replace("/", "\n")
    X = rng.normal(size=(6, 3))
    table = "height,width,age\n" + "".join(",".join(f"{v:.6g}" for v in row) + "\n" for row in X)
    bare = "".join(" ".join(f"{v:.6g}" for v in row) + "\n" for row in X)
    maxcut = {"problem": "maxcut", "argument": "graph", "said": said_of_graph}
    sdp = {"problem": "sdp", "argument": "program", "said": said_of_program, "options": ("--trace-bound", "9.0")}
    samples = {"problem": "discrepancy", "argument": "source", "said": lambda p: array_said(p.X_source)}
    meg = {"problem": "meg", "argument": "data", "judge": judge_npz("X", "y"), "said": said_of_arrays("X", "y")}
    boost = {"problem": "definiteboost", "argument": "constraints"}
    boost |= {"judge": judge_npz("vectors", "upper"), "said": said_of_arrays("vectors", "upper")}
    metis = "% a graph\n7 9 001\n" + "".join(" ".join(f"{u} {w}" for u, w in near[v]) + "\n" for v in near)
    named = "# edges\n" + "".join(f"v{i} v{j} {w}\n" for i, j, w in edges)
    commas = "source,target,weight\n" + "".join(f"a{i},b{j},{w}\n" for i, j, w in edges)
    market = "%%MatrixMarket matrix coordinate real symmetric\n% a graph\n7 7 9\n"
    market += "".join(f"{max(i, j)} {min(i, j)} {w}\n" for i, j, w in edges)
    dimacs = "c a graph\np edge 7 9\n" + "".join(f"e {i} {j}\n" for i, j in pairs)
    whole = "7 9\n" + "".join(f"{i} {j}\n" for i, j in pairs)
    return {
        "Gset": Format("g.txt", gset.encode(), judge=judge_gset, **maxcut),
        "Gset without weights": Format("g.txt", whole.encode(), judge=judge_gset, **maxcut),
        "Gset, .gz": Format("g.gz", gzip.compress(gset.encode(), mtime=0), text=False, **maxcut,
                            judge=lambda raw: judge_gset(gzip.decompress(raw))),
        "METIS": Format("g.graph", metis.encode(), judge=judge_metis, **maxcut),
        "METIS, by content": Format("g.txt", metis.encode(), judge=judge_metis, **maxcut),
        "DIMACS": Format("g.txt", dimacs.encode(), judge=judge_dimacs, **maxcut),
        "MatrixMarket": Format("g.mtx", market.encode(), judge=judge_matrix_market, **maxcut),
        "edge list": Format("g.txt", named.encode(), judge=judge_list, **maxcut),
        "CSV of edges": Format("g.csv", commas.encode(), judge=judge_csv, **maxcut),
        "SDPA": Format("p.dat-s", sdpa.encode(), judge=judge_sdpa, **sdp),
        "SDPA, free": Format("p.dat-s", free.encode(), judge=judge_sdpa, **sdp),
        "table with names": Format("t.csv", table.encode(), judge=judge_table, **samples),
        "table without": Format("t.txt", bare.encode(), judge=judge_table, **samples),
        ".npy": Format("t.npy", npy(X), judge=judge_npy, text=False, **samples),
        ".npz of samples": Format("t.npz", npz(X=X), text=False, **samples,
                                  judge=lambda raw: judge_npz("X")(raw)[0][1] and judge_npy_of(raw)),
        ".npz of meg": Format("m.npz", npz(X=X, y=rng.random(6)), text=False, **meg),
        ".npz of definiteboost": Format("d.npz", npz(vectors=X, upper=np.full(6, 2.0)), text=False, **boost),
    }  # fmt: skip


def judge_npy_of(raw: bytes) -> bytes:
    with np.load(io.BytesIO(raw), allow_pickle=False) as data:
        return array_said(data["X"])
