"""MaxCut at tens of thousands of vertices: low-rank factors, and the proof of the dual bound by a sparse factorization.

    python benchmarks/maxcut/low_rank_scale.py [--tol 1e-3] [names ...]  one process an instance, for its peak memory

Seconds are CPU seconds of one thread, construction from a sparse matrix included; MB is the peak of the process, of
which some 100 MB are the imports. X alone, dense, would be 8 n^2 bytes: 3,200 MB for G81. The last columns are the
proof by itself at the answer: seconds, and the entries of the factor L a row.
"""

import argparse
import resource
import subprocess
import sys
import time

import scipy.sparse as sp
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import header
from benchmarks.peers.maxcut import weights
from matrixlearn.linalg.largest import checked_largest

NAMES = ("G11", "G32", "G48", "G57", "G62", "G67", "G72", "G77", "G81", "G22", "G55", "G60", "G70")


def one(name, tol):
    W = weights(name)
    start = time.process_time()
    solution = ml.solve(MaxCut(W), "low-rank", tol=tol, time_limit=600)
    seconds = time.process_time() - start
    A = solution.problem.shifted_operator(solution.y)
    start = time.process_time()
    largest = checked_largest(A)
    proof = time.process_time() - start
    S = sp.csc_array(largest * sp.eye_array(len(solution.y)) - A)
    options = {"SymmetricMode": True, "Equil": False}
    L = sp.linalg.splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).L
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{name:5} {W.shape[0]:6d} {W.nnz // 2:6d} {solution.status:8} {solution.gap:9.1e} {solution.lower:12.3f} "
        f"{solution.upper:12.3f} {solution.iterations:5d} {seconds:8.2f} {peak:6d} {proof:8.2f} "
        f"{L.nnz / W.shape[0]:7.0f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.names[0], given.tol)
        return
    header(f"MaxCut at size, certified gap {given.tol:g}, seed 0 of the engine")
    print(f"{'name':5} {'n':>6} {'edges':>6} {'status':8} {'gap':>9} {'lower':>12} {'upper':>12} {'iters':>5} ", end="")
    print(f"{'seconds':>8} {'MB':>6} {'proof s':>8} {'fill':>7}", flush=True)
    for name in given.names:
        subprocess.run([sys.executable, __file__, "--one", "--tol", str(given.tol), name], check=False)


if __name__ == "__main__":
    main()
