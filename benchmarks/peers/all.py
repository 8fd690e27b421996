"""Every kind of problem beside the solvers that people have: the ratio to the best of them, the losses too.

    python benchmarks/peers/all.py [--limit 60] [--problems gauss lovasz ...] [--write docs/peers.md]

Peers: CSDP, SDPA, DSDP (Debian's programs, from an SDPA file: CPU seconds of the process) and CLARABEL, SCS through
cvxpy, whose time is that of the solver alone, without cvxpy's compilation. Ours: CPU seconds of construction and
`solve` with ``method="auto"``, the least of three. Peers get the tolerance 1e-3, and their defaults at 1e-6 (SCS 1e-6).
What a peer's y proves is computed by our certificate, against our lower bound; a peer counts where that gap is at most
ten times the tolerance. One thread each.
"""

import argparse
import contextlib
import gzip
import multiprocessing
import os
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header, thesis_samples
from benchmarks._data import DATA
from benchmarks.engines.all import of_reviews
from benchmarks.peers import thesis as thesis_peers
from benchmarks.peers.maxcut import peers, run, weights
from benchmarks.peers.maxcut import write as write_maxcut

MEMORY = 8 * 2**30
CVXPY = {
    "CLARABEL": lambda tol: {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol} if tol > 1e-6 else {},
    "SCS": lambda tol: {"eps_abs": tol, "eps_rel": tol, "max_iters": 100_000},
}


class Case(NamedTuple):
    """A problem, in words and as its peers get it."""

    what: str
    make: object
    write: object = None
    """The SDPA file; None where it would not fit."""
    read: object = lambda problem, y: y
    """The y of the problem from that of the file."""
    cvxpy: bool = True


def maxcut(name, what):
    W = weights(name)
    return Case(
        f"MaxCut, {what}, {W.shape[0]} vertices",
        lambda: MaxCut(W),
        write_maxcut,
        lambda problem, y: y - y.mean() if len(y) == problem.size else None,
        cvxpy=W.shape[0] <= 250,
    )


def discrepancy(samples, what, files=True):
    def read(problem, x):
        if len(x) != problem.game.Y.size:
            return None
        z = np.clip(np.append(x[:-1], 1 - x[:-1].sum()), 0, None)
        return z / z.sum()

    return Case(f"Discrepancy, {what}", lambda: Discrepancy(*samples), thesis_peers.write if files else None, read)


def write_linear(problem, path):
    """max tr(C X): tr(A_j X) + s_j = b_j, tr X + s = R, the slacks a diagonal block."""
    n, m = problem.C.shape[0], len(problem.b)
    with path.open("w") as file:
        right = " ".join(f"{value:.17g}" for value in (*problem.b, problem.trace_bound))
        file.write(f"{m + 1}\n2\n{n} {-(m + 1)}\n{right}\n")
        for k, A in enumerate([problem.C, *(problem.game.A.matrix(j) for j in range(m)), np.eye(n)]):
            A = np.asarray(A)
            i, j = np.nonzero(np.triu(A))
            np.savetxt(
                file, np.column_stack([np.full(len(i), k), np.ones(len(i)), i + 1, j + 1, A[i, j]]), "%d %d %d %d %.15g"
            )
            if k:
                file.write(f"{k} 2 {k} {k} 1\n")


def first(problem, y):
    return np.clip(y[:-1], 0, None) if len(y) == len(problem.b) + 1 else None


def drake():
    """Pain 2: one 200 x 200 block, 64 constraints."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((64, 200, 200))
    A = (A + A.transpose(0, 2, 1)) / 2
    C = rng.standard_normal((200, 200))
    return lambda: ml.LinearSDP((C + C.T) / 2, A, np.ones(64), 200.0)


def sdplib(name, what, R=None):
    """A file of SDPLIB; R where it does not give the trace."""
    path = DATA / f"sdplib/{name}.dat-s.gz"

    def read(problem, x):
        return x if len(x) == len(problem.b) else None

    return Case(
        f"LinearSDP, SDPLIB's {name}, {what}",
        lambda: ml.LinearSDP.from_sdpa(path, trace_bound=R),
        lambda problem, place: place.write_bytes(gzip.decompress(path.read_bytes())),
        read,
        cvxpy=False,
    )


def cases():
    return {
        "gauss": discrepancy(gaussian_shift(200, 200, 20), "200 + 200 points in 20 dimensions"),
        "gauss1000": discrepancy(gaussian_shift(1000, 1000, 100), "1000 + 1000 points in 100 dimensions", files=False),
        "thesis20": discrepancy(thesis_samples(20, 30, 200), "the thesis's 20 + 30 points in 200 dimensions"),
        "thesis80": discrepancy(thesis_samples(80, 120, 200), "the thesis's 80 + 120 points in 200 dimensions"),
        "reviews": Case("Discrepancy, 150 + 150 reviews, 300 words", of_reviews, None),
        "mcp250-1": maxcut("mcp250-1", "SDPLIB's mcp250-1"),
        "mcp500-1": maxcut("mcp500-1", "SDPLIB's mcp500-1"),
        "maxG11": maxcut("maxG11", "SDPLIB's maxG11, a toroidal grid"),
        "G1": maxcut("G1", "Gset's G1"),
        "G14": maxcut("G14", "Gset's G14, nearly planar"),
        "G43": maxcut("G43", "Gset's G43"),
        "drake": Case("LinearSDP, 64 dense constraints on 200 x 200", drake(), write_linear, first),
        "theta2": sdplib("theta2", "Lovász's theta of 100 vertices, 498 equalities"),
        "theta4": sdplib("theta4", "Lovász's theta of 200 vertices, 1949 equalities"),
        "gpp100": sdplib("gpp100", "graph partition, no interior"),
        "gpp250-1": sdplib("gpp250-1", "graph partition, no interior"),
        "truss8": sdplib("truss8", "truss topology, 34 blocks, R = 3000", 3000.0),
        "arch0": sdplib("arch0", "topology of an arch, a block and 174 scalars, R = 200", 200.0),
        "control3": sdplib("control3", "control theory, two blocks, R = 4000", 4000.0),
    }


def by_cvxpy(make, solver, options, answer):
    """In a process of its own: what the solver took, and its y."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    problem = make()
    program = problem.reference()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.solve(solver=solver, **options)
    y = problem.read_reference(program)[1]
    answer.send((program.solver_stats.solve_time, y))


def of_cvxpy(make, solver, options, limit):
    """(seconds, y), or None for no answer within the limits of time and memory."""
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=by_cvxpy, args=(make, solver, options, send))
    with contextlib.redirect_stderr(None):
        process.start()
        found = receive.recv() if receive.poll(limit) and process.exitcode is None else None
    process.kill()
    process.join()
    return found


def of_peers(case, problem, tol, limit):
    """(name, seconds, y) of all that answer."""
    if case.write is not None:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            case.write(problem, folder / "p.dat-s")
            for name, command, read in peers(folder, tol if tol > 1e-6 else None):
                told = run(command, folder, limit)
                if told is not None:
                    x = read()
                    for sign in (1, -1):
                        yield name, told[0], case.read(problem, sign * x)
    if case.cvxpy:
        for solver, options in CVXPY.items():
            found = of_cvxpy(case.make, solver, options(tol), limit)
            if found is not None and found[0] is not None:
                yield solver, *found


def measured(case, tol, limit):
    """(our seconds, our solution, {peer: (seconds, the gap that its y proves)})."""
    times = []
    for _ in range(3):
        start = time.process_time()
        problem = case.make()
        solution = ml.solve(problem, tol=tol, time_limit=limit)
        times.append(time.process_time() - start)
    found = {}
    for name, seconds, y in of_peers(case, problem, tol, limit):
        proved = y is not None and np.all(np.isfinite(y))
        gap = ml.certify(problem, X=solution.certificate.X, y=y).gap if proved else np.inf
        if name not in found or gap < found[name][1]:
            found[name] = (seconds, gap)
    return min(times), solution, found


HEAD = """# Beside other solvers

Written by `python benchmarks/peers/all.py --write docs/peers.md`: ours with `method="auto"` against the best of CSDP,
SDPA, DSDP (from a file) and CLARABEL, SCS (through cvxpy, its compilation not counted), one thread each. A peer takes
part where the gap that its answer proves is at most ten times the tolerance; the others are named. Below 1 they win.

| problem | tol | ours, s | gap, certified | engine | best peer, s | gap that its y proves | ratio | others, s |
|---|---|---|---|---|---|---|---|---|
"""


def row(case, tol, ours, solution, found):
    good = {name: given for name, given in found.items() if given[1] <= 10 * tol}
    best = min(good, key=lambda name: good[name][0], default=None)
    others = "; ".join(
        f"{name} {seconds:.2f}" + ("" if name in good else f" (gap {gap:.0e})")
        for name, (seconds, gap) in found.items()
        if name != best
    )
    peer = ("none", "", "") if best is None else (
        f"{best} {good[best][0]:.2f}", f"{good[best][1]:.0e}", f"**{good[best][0] / ours:.1f}**"
    )  # fmt: skip
    mine = f"{ours:.3f} | {solution.gap:.1e} | `{solution.method}`"
    return f"| {case.what} | {tol:.0e} | {mine} | {' | '.join(peer)} | {others} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--problems", nargs="+")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    header(f"ours beside the best peer, at most {given.limit:g} s each")
    known, lines = cases(), []
    for name in given.problems or known:
        ml.solve(known[name].make(), tol=1e-1)  # imports
        for tol in (1e-3, 1e-6):
            lines.append(row(known[name], tol, *measured(known[name], tol, given.limit)))
            print(lines[-1], flush=True)
            if given.write:
                given.write.write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
