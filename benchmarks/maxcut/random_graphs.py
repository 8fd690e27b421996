"""MaxCut of random graphs, whose factorizations fill in: bounds of rigour "probabilistic", time and memory.

python benchmarks/maxcut/random_graphs.py [--vertices 100000] [--edges 400000] [--tol 1e-2] [--time-limit 300]
"""

import argparse
import resource
import time

import numpy as np
import scipy.sparse as sp
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import header


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=400_000)
    parser.add_argument("--tol", type=float, default=1e-2)
    parser.add_argument("--time-limit", type=float, default=300.0)
    given = parser.parse_args()
    header(f"MaxCut of a random graph, {given.vertices} vertices, {given.edges} edges")
    i, j = np.random.default_rng(0).integers(0, given.vertices, (2, given.edges))
    W = sp.coo_array((np.ones(given.edges), (i, j)), shape=(given.vertices, given.vertices))
    began = time.perf_counter()
    solution = ml.solve(
        MaxCut(sp.csr_array(W + W.T)),
        tol=given.tol,
        time_limit=given.time_limit,
        callback=lambda e: print(f"{e.iteration:6d} {e.seconds:8.1f} s  [{e.lower:.7g}, {e.upper:.7g}]", flush=True),
    )
    print(solution.summary())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{time.perf_counter() - began:.1f} s, peak {peak} MB")


if __name__ == "__main__":
    main()
