"""Files of every format, each changed in one place: the same answer, the one that the changed file says, or an error.

A mutant goes through the reader and through the command line, in this process. It passes where

    same        the problem is that of the file before the change;
    honest      it is the one that the changed file says by the rules of its format, as the judge of the format reads
                it: a parser of its own, a few lines that allow nothing but the plain form;
    refused     a MatrixLearnError names the file, and the line where there are lines; the command line ends with 1 or
                2, says the same, and shows no traceback.

Anything else is a failure: another exception, an error that does not say where, another problem, or a command line
that disagrees with the reader.
    python benchmarks/files/mutated_files.py [mutants of each format] [format ...]
"""

import gzip
import io
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

import matrixlearn as ml
from matrixlearn._commands import cli
from matrixlearn._saved import digest
from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.present import presenter_of

NASTY = [
    "nan", "inf", "-inf", "1e400", "1e25", "-1", "0", "2.5", "3.9", "abc", "1_0", "0x10", "1,5", "999999999999", "+",
    "é", "--1", "1e", "\u0661", "4294967297", "18446744073709551617", '"', "#", "%", "*", "2.0D+00", "\u200b", "007",
    "1.0", "1e-400",
]  # fmt: skip

# -- changes ----------------------------------------------------------------------------------------------


def _lines(rng: random.Random, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(9):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(at, b"")
        case 4:
            lines.insert(at, rng.choice(NASTY).encode())
        case 5:
            lines[at : at + 2] = [b" ".join(lines[at : at + 2])]
        case 6:
            lines[at] = b"  " + lines[at] + b"\t "
        case 7:
            lines = lines[: at + 1]
        case 8:
            lines.append(lines[other])
    return b"\n".join(lines)


def _words(rng: random.Random, raw: bytes) -> bytes:
    pieces = re.split(rb"([^\s,;]+)", raw)
    places = [k for k in range(len(pieces)) if k % 2]
    if not places:
        return raw + b"x"
    at, other = rng.choice(places), rng.choice(places)
    match rng.randrange(5):
        case 0:
            pieces[at] = b""
        case 1:
            pieces[at] += b" " + pieces[at]
        case 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        case 3:
            pieces[at] = rng.choice(NASTY).encode()
        case 4:
            digits = [k for k, byte in enumerate(pieces[at]) if 48 <= byte < 58]
            k = rng.choice(digits) if digits else 0
            pieces[at] = pieces[at][:k] + rng.choice(b"0123456789").to_bytes() + pieces[at][k + 1 :]
    return b"".join(pieces)


def _bytes(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw))
    match rng.randrange(5):
        case 0:
            return raw[:at] + bytes([raw[at] ^ rng.randrange(1, 256)]) + raw[at + 1 :]
        case 1:
            return raw[:at] + raw[at + 1 :]
        case 2:
            return raw[:at] + rng.randbytes(1) + raw[at:]
        case 3:
            return raw[:at]
        case _:
            return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def _whole(rng: random.Random, raw: bytes) -> bytes:
    return rng.choice([
        b"\xef\xbb\xbf" + raw, raw.replace(b"\n", b"\r\n"), raw.replace(b"\n", b"\r"), raw.replace(b" ", b"  "), b"",
        b"\n", raw + raw, raw + b"\x00", gzip.compress(raw), raw.replace(b" ", b"\t"), b"\xff\xfe" + raw, raw[::-1],
        raw.decode(errors="replace").encode("utf-16"), raw.replace(b".", b","), b"PK\x03\x04" + raw, raw.rstrip(),
    ])  # fmt: skip


def mutant(rng: random.Random, raw: bytes, text: bool) -> bytes:
    """The content changed in one place, never as it was."""
    while True:
        change = rng.choices([_lines, _words, _bytes, _whole], [4, 5, 3, 1] if text else [0, 0, 9, 1])[0]
        out = change(rng, raw)
        if out != raw:
            return out


# -- formats: a file, how it is read, and its judge -------------------------------------------------------


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


# -- the trial --------------------------------------------------------------------------------------------


def quietly(judge: Callable[[bytes], Any], content: bytes) -> Any:
    """What the judge reads, None where it refuses."""
    try:
        return judge(content)
    except Exception:
        return None


def trial(form: Format, path: Path, content: bytes, target: Path) -> str:
    """The verdict on one content: "same", "honest", "refused", or what is wrong."""
    path.write_bytes(content)
    given: dict[str, Any] = {form.argument: path}
    if form.problem == "discrepancy":
        given["target"] = target
    if form.options:
        given["trace_bound"] = 9.0
    try:
        problem = presenter_of(ml.registered_problems()[form.problem]).read(given, lambda line: None)
        said = form.said(problem)
        refusal = ""
    except MatrixLearnError as error:
        refusal = str(error)
    except Exception as error:
        return f"reader: {type(error).__name__}: {error}"
    if refusal:
        if path.name not in refusal:
            return f"reader: the file is not named: {refusal}"
        if (
            form.text
            and not re.search(r"\bline \d+", refusal)
            and not re.search("gzip|zip archive|NumPy array|must have the same", refusal)
        ):
            return f"reader: the line is not named: {refusal}"
    shown = command(form, path, target)
    if isinstance(shown, str):
        return shown
    status, output, data = shown
    if (status in (1, 2)) != bool(refusal):
        return f"command: status {status} where the reader {'refuses' if refusal else 'reads'}: {output[-200:]}"
    if refusal:
        return "refused" if path.name in output else f"command: the file is not named: {output[-200:]}"
    if data != digest(problem):
        return "command: another problem than the reader's"
    if said == quietly(form.judge, form.content):
        return "same"
    return "honest" if said == quietly(form.judge, content) else "reader: another problem"


def command(form: Format, path: Path, target: Path) -> str | tuple[int, str, Any]:
    """(status, output, digest of the problem solved) of the command line; what went wrong."""
    out = path.with_name("out.json")
    files = [str(path)] if form.problem != "discrepancy" else ["--source", str(path), "--target", str(target)]
    arguments = ["solve", form.problem, *files, *form.options, "--time-limit", "0", "--overwrite", "-o", str(out)]
    done = CliRunner().invoke(cli, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"command: {type(done.exception).__name__}: {done.exception}"
    data = json.loads(out.read_text())["data"] if done.exit_code in (0, 3) else None
    return done.exit_code, done.output, data


def trials(form: Format, count: int, seed: int = 0) -> tuple[Counter, list[tuple[bytes, str]]]:
    """Verdicts on ``count`` mutants, and the failures among them."""
    rng, verdicts, failures = random.Random(seed), Counter[str](), list[tuple[bytes, str]]()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "target.npy")
        np.save(target, np.random.default_rng(1).normal(size=(4, 3)))
        path = Path(folder, form.file)
        if trial(form, path, form.content, target) != "same":
            failures.append((form.content, f"before any change: {trial(form, path, form.content, target)}"))
        for _ in range(count):
            content = mutant(rng, form.content, form.text)
            verdict = trial(form, path, content, target)
            verdicts[verdict if verdict in ("same", "honest", "refused") else "failed"] += 1
            if verdict not in ("same", "honest", "refused"):
                failures.append((content, verdict))
    return verdicts, failures


# -- saved answers ----------------------------------------------------------------------------------------


def answers(count: int, seed: int = 0) -> tuple[Counter, list[tuple[bytes, str]]]:
    """Saved answers with one byte flipped, or cut: the same answer, or one MatrixLearnError; ``verify`` agrees."""
    rng, verdicts, failures = random.Random(seed), Counter[str](), list[tuple[bytes, str]]()
    W = np.triu(np.random.default_rng(0).integers(0, 3, (6, 6)), 1).astype(float)
    solution = ml.solve(ml.registered_problems()["maxcut"](W + W.T), tol=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer.npz")
        solution.save(path)
        whole = path.read_bytes()
        for _ in range(count):
            at = rng.randrange(len(whole))
            flipped = whole[:at] + bytes([whole[at] ^ rng.randrange(1, 256)]) + whole[at + 1 :]
            path.write_bytes(content := flipped if rng.random() < 0.9 else whole[:at])
            try:
                loaded = ml.Solution.load(path)
                verdict = "same" if loaded.summary() == solution.summary() else "another answer"
            except MatrixLearnError as error:
                verdict = "refused" if "answer.npz" in str(error) else f"the file is not named: {error}"
            except Exception as error:
                verdict = f"{type(error).__name__}: {error}"
            done = CliRunner().invoke(cli, ["verify", str(path)])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                verdict = f"verify: {type(done.exception).__name__}: {done.exception}"
            elif (done.exit_code == 0) != (verdict == "same"):
                verdict = f"verify ends with {done.exit_code}: {verdict}"
            verdicts[verdict if verdict in ("same", "refused") else "failed"] += 1
            if verdict not in ("same", "refused"):
                failures.append((content, verdict))
    return verdicts, failures


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wanted = sys.argv[2:]
    total = Counter[str]()
    print(f"{count} mutants of each format, load {os.getloadavg()[0]:.1f}")
    print(f"{'format':<24}{'same':>7}{'honest':>8}{'refused':>9}{'failed':>8}{'seconds':>9}")
    cases = {name: lambda form=form: trials(form, count) for name, form in formats().items()}
    cases["saved answers"] = lambda: answers(count)
    for name, of in cases.items():
        if wanted and name not in wanted:
            continue
        began = time.perf_counter()
        verdicts, failures = of()
        total.update(verdicts)
        counts = "".join(
            f"{verdicts[key]:>{width}}"
            for key, width in zip(("same", "honest", "refused", "failed"), (7, 8, 9, 8), strict=True)
        )
        print(f"{name:<24}{counts}{time.perf_counter() - began:>9.0f}", flush=True)
        for content, verdict in failures[:5]:
            print(f"    {verdict[:300]}\n    {content[:300]!r}")
    print(f"{sum(total.values())} in all: {dict(total)}")


if __name__ == "__main__":
    main()
