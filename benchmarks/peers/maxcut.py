"""MaxCut relaxations of Gset and SDPLIB: ours beside CSDP, SDPA and DSDP (Debian: coinor-csdp, sdpa, dsdp).

    python benchmarks/peers/maxcut.py [--repeat 3] [--limit 120] [names ...]

CPU seconds of one thread: ours of `solve` and of the construction from a sparse matrix, in one process (imports
apart); a peer's of its process, reading its file and writing its answer included. Peers stop at their own relative gap
of 1e-3 and at their defaults (1e-7 or so); the gap shown is ours to certify: the upper bound that their y proves,
against the best lower bound known here; SDPA prints its y with few digits. A ratio below 1: the peer is faster.
Debian's reference BLAS makes the peers several times slower: install libopenblas0-pthread too; the header says which
is in use.
"""

import argparse
import gzip
import os
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA

NAMES = ("mcp250-1", "mcp500-1", "maxG11", "G1", "G14", "G43", "G22")


def weights(name):
    """The sparse weights of an instance: Gset's "n m / i j w", or F_0 = L / 4 of an SDPA file."""
    if name.startswith("G"):
        with gzip.open(DATA / f"gset/{name}.txt.gz", "rt") as file:
            n = int(file.readline().split()[0])
            i, j, w = np.loadtxt(file, unpack=True)
    else:
        with gzip.open(DATA / f"sdplib/{name}.dat-s.gz", "rt") as file:
            lines = [line for line in file if line[0] not in '"*']
        n = int(lines[0].split()[0])
        entries = np.array([line.split() for line in lines[4:] if line.split()[0] == "0"], dtype=float)
        i, j, w = entries[:, 2], entries[:, 3], -4 * entries[:, 4]
        i, j, w = i[i != j], j[i != j], w[entries[:, 2] != entries[:, 3]]
    W = sp.coo_array((w, (i.astype(int) - 1, j.astype(int) - 1)), shape=(n, n)).tocsr()
    return sp.csr_array(W + W.T)


def write(problem, path):
    """The SDPA file: max tr(F_0 Y), tr(F_i Y) = 1."""
    C, n = sp.triu(sp.csr_array(problem.cost_operator)).tocoo(), problem.size
    with path.open("w") as file:
        file.write(f"{n}\n1\n{n}\n{' '.join(['1.0'] * n)}\n")
        file.writelines(f"0 1 {i + 1} {j + 1} {v:.17g}\n" for i, j, v in zip(C.row, C.col, C.data, strict=True))
        file.writelines(f"{i} 1 {i} {i} 1.0\n" for i in range(1, n + 1))


CSDP = "axtol=1e-8\natytol=1e-8\nobjtol={0}\npinftol=1e8\ndinftol=1e8\nmaxiter=100\nminstepfrac=0.9\nmaxstepfrac=0.97\n\
minstepp=1e-8\nminstepd=1e-8\nusexzgap=1\ntweakgap=0\naffine=0\nprintlevel=0\nperturbobj=1\nfastmode=0\n"
SDPA = "100 maxIteration\n{0} epsilonStar\n1e2 lambdaStar\n2.0 omegaStar\n-1e5 lowerBound\n1e5 upperBound\n\
0.1 betaStar\n0.2 betaBar\n0.9 gammaStar\n{0} epsilonDash\n"


def run(command, folder, limit):
    """(CPU seconds of a process, what it printed), or None where it needs more than ``limit`` seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False)
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def numbers(text):
    return np.array([float(x) for x in re.findall(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?", text)])


def peers(folder, gap):
    """(name, command, how to read y) at a relative gap, or at the peer's default for None."""
    (folder / "param.csdp").unlink(missing_ok=True)
    if gap:
        (folder / "param.csdp").write_text(CSDP.format(gap))
        (folder / "param.sdpa").write_text(SDPA.format(gap))

    def first_line(name):
        return lambda: numbers((folder / name).read_text().split("\n", 1)[0])

    def of_sdpa():
        text = (folder / "p.sdpa").read_text()
        return numbers(text[text.index("xVec") :].split("}", 1)[0].split("{", 1)[1])

    yield "CSDP", ["csdp", "p.dat-s", "p.csdp"], first_line("p.csdp")
    yield "SDPA", ["sdpa", "-ds", "p.dat-s", "-o", "p.sdpa", *(["-p", "param.sdpa"] if gap else [])], of_sdpa
    yield "DSDP", ["dsdp5", "p.dat-s", "-save", "p.dsdp", *(["-gaptol", str(gap)] if gap else [])], first_line("p.dsdp")


def proven_gap(problem, y, best):
    """The gap of the bound that y proves, whichever its sign convention."""
    if len(y) != problem.size:
        return float("nan")
    upper = min(ml.certify(problem, y=s * (y - y.mean())).upper for s in (1, -1))
    return (upper - best) / abs(upper)


def ours(W, tol, repeat):
    times = []
    for _ in range(repeat):
        start = time.process_time()
        solution = ml.solve(MaxCut(W), tol=tol)
        times.append(time.process_time() - start)
    return min(times), solution


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0)
    given = parser.parse_args()
    header("MaxCut: CPU seconds, one thread")
    print(f"# the peers' BLAS: {Path('/etc/alternatives/libblas.so.3-x86_64-linux-gnu').resolve()}")
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    ml.solve(MaxCut(weights("mcp250-1")), tol=1e-1)  # imports
    for name in given.names:
        W = weights(name)
        problem = MaxCut(W)
        runs = {tol: ours(W, tol, given.repeat) for tol in (1e-3, 1e-6)}
        best = max(solution.lower for _, solution in runs.values())
        print(f"\n{name}: n = {problem.size}, {W.nnz // 2} edges, optimum in [{best:.6f}, {runs[1e-6][1].upper:.6f}]")
        for tol, (seconds, solution) in runs.items():
            print(
                f"  ours {tol:g}: {solution.method}, {seconds:.3f} s, certified gap {solution.gap:.1e}, "
                f"{solution.iterations} iterations"
            )
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write(problem, folder / "p.dat-s")
            for gap in (1e-3, None):
                mine = runs[1e-3 if gap else 1e-6][0]
                for peer, command, read in peers(folder, gap):
                    told = [run(command, folder, given.limit) for _ in range(given.repeat)]
                    label = f"  {peer} {'1e-3' if gap else 'default'}:"
                    if None in told:
                        print(f"{label} more than {given.limit:g} s, or not installed")
                        continue
                    seconds = min(t for t, _ in told)
                    reached = proven_gap(problem, read(), best)
                    print(f"{label} {seconds:.3f} s, its y proves a gap of {reached:.1e}; ratio {seconds / mine:.1f}")


if __name__ == "__main__":
    main()
