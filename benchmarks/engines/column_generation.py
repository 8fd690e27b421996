"""Column generation beside the interior point on all columns: discrepancies of Gaussians half a deviation apart.

    python benchmarks/engines/column_generation.py  CPU seconds, columns and peak memory to a certified gap of 1e-6
    python benchmarks/engines/column_generation.py --crossover  the ratio by m / n (`AHEAD_FROM`)
    python benchmarks/engines/column_generation.py --spanned    programs of many rows: the m x m system, the
                                                        one in coordinates of the symmetric matrices, and ours

m source points, min(m, 1000) target points, seed 0. Each size in a process of its own, so that the peak memory is its
own; the interior point is left out where its m x m system would not fit.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header
from matrixlearn.linalg import moments

SIZES = ((200, 20), (1000, 100), (5000, 100), (20_000, 50), (100_000, 50))


def measured(problem, method, tol):
    start = time.process_time()
    solution = ml.solve(problem, method, tol=tol)
    return time.process_time() - start, solution


def one(m, d):
    start = time.process_time()
    problem = Discrepancy(*gaussian_shift(m, min(m, 1000), d))
    built = time.process_time() - start
    spent, solution = measured(problem, "column-generation", 1e-6)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    active = int(np.sum(solution.y > 1e-6))
    plain = ""
    if m <= 5000:
        seconds, other = measured(problem, "interior-point", 1e-6)
        plain = f"interior-point {seconds:8.2f} s ({seconds / spent:.1f} times), gap {other.gap:.1e}"
    print(
        f"{m:7d} x {d:4d}  built {built:6.2f} s, solved {spent:7.2f} s, {solution.status}, gap {solution.gap:.1e}, "
        f"{solution.iterations} iterations, {active} active, peak {memory:.0f} MB   {plain}",
        flush=True,
    )


def crossover():
    print("m, n: interior-point / column-generation at 1e-3, 1e-6, 1e-8 (CPU seconds, the least of 3)")
    for d in (5, 20, 60, 150):
        for ratio in (1, 2, 3, 5, 10):
            problem = Discrepancy(*gaussian_shift(ratio * d, 2 * d, d))
            capped = Discrepancy(*gaussian_shift(ratio * d, 2 * d, d), max_weight=3.0)
            cells = []
            for game in (problem, capped):
                for tol in (1e-3, 1e-6, 1e-8):
                    pair = [min(measured(game, e, tol)[0] for _ in range(3)) for e in ENGINES]
                    cells.append(f"{pair[0] / pair[1]:5.2f}")
            print(f"{ratio * d:5d} {d:4d}   {' '.join(cells[:3])}   capped {' '.join(cells[3:])}", flush=True)


ENGINES = ("interior-point", "column-generation")


def spanned():
    print("n, m, m / (n (n + 1) / 2): CPU seconds to 1e-6 (the least of 3), m x m / in coordinates / column generation")
    chosen = moments.SPANNED_FROM, moments.SPANNED_PER_DIMENSION
    for n, ratios in ((5, (7, 14, 30)), (10, (2, 4, 6)), (20, (2, 2.5, 4, 6)), (30, (2.5,))):
        for ratio in ratios:
            rng, m = np.random.default_rng(0), int(ratio * n * (n + 1) / 2)
            G, P, b = rng.standard_normal((m, n, n)), rng.standard_normal((m, n)), rng.uniform(0.5, 1, m)
            C = rng.standard_normal((n, n))
            cells = []
            for name, A in (("dense", G + G.transpose(0, 2, 1)), ("rank one", P)):
                for limits in ((np.inf, 1), (1, 1), None):
                    moments.SPANNED_FROM, moments.SPANNED_PER_DIMENSION = limits or chosen
                    method = "interior-point" if limits else "column-generation"
                    programs = [ml.LinearSDP(C + C.T, A, b, 10.0) for _ in range(3)]
                    cells.append(f"{min(measured(program, method, 1e-6)[0] for program in programs):.4f}")
                cells[-3] = f"{name} {cells[-3]}"
            print(f"{n:3d} {m:5d} {ratio:5.1f}   {' / '.join(cells[:3])}   {' / '.join(cells[3:])}", flush=True)
    moments.SPANNED_FROM, moments.SPANNED_PER_DIMENSION = chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crossover", action="store_true")
    parser.add_argument("--spanned", action="store_true")
    parser.add_argument("--one", type=int, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    header("column generation")
    if given.crossover or given.spanned:
        (crossover if given.crossover else spanned)()
        return
    for m, d in SIZES:
        subprocess.run([sys.executable, __file__, "--one", str(m), str(d)], check=True)


if __name__ == "__main__":
    main()
