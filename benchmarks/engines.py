"""Every engine on four problems: CPU seconds to a certified gap, the losses shown too.

    python benchmarks/engines.py [--limit 20] [--problems gauss reviews mcp250-1 maxG11] [--engines pdhg ...]

gauss      discrepancy, 200 + 200 points in 20 dimensions, half a standard deviation apart
reviews    discrepancy, books -> kitchen: m = n = 150 reviews, 300 words standardised (data of benchmarks/real_data.py)
mcp250-1   MaxCut, SDPLIB, n = 250           maxG11     MaxCut, Gset G11, n = 800

CPU time of the process (the machine is shared), one BLAS thread. One run for each engine and problem, asked for 1e-8:
the seconds of a column are those of the first check whose gap was that small, so that the time of the construction and
of checks in between is in them. "-" is not reached within --limit CPU seconds, or at all; then the gap reached.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _common import gaussian_shift, header
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut
from maxcut_peers import weights
from real_data import reviews

import matrixlearn as ml

TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


def of_reviews(m=150, n=150, features=300, seed=0, folder="/work/shared/data/sentiment"):
    books, kitchen = (reviews(Path(folder) / f"{name}.npz")[0][:, :features] for name in ("books", "kitchen"))
    rng = np.random.default_rng(seed)
    X, T = books[rng.permutation(len(books))[:m]], kitchen[rng.permutation(len(kitchen))[:n]]
    seen = np.concatenate([X, T])
    mean, std = seen.mean(axis=0), seen.std(axis=0)
    std[std == 0] = 1.0
    return Discrepancy((X - mean) / std, (T - mean) / std)


PROBLEMS = {
    "gauss": lambda: Discrepancy(*gaussian_shift(200, 200, 20)),
    "reviews": of_reviews,
    "mcp250-1": lambda: MaxCut(weights("mcp250-1")),
    "maxG11": lambda: MaxCut(weights("maxG11")),
}


def profile(make, method, limit):
    """([CPU seconds to each tol or None], the gap reached, iterations, why it ended)."""
    start = time.process_time()
    reached = {}

    def watch(event):
        spent = time.process_time() - start
        for tol in TOLS:
            if event.gap <= tol:
                reached.setdefault(tol, spent)
        return spent > limit

    problem = make()
    solution = ml.solve(problem, method, tol=1e-8, callback=watch, time_limit=4 * limit)
    return [reached.get(tol) for tol in TOLS], solution


def crossover():
    """Random MaxCut: from what size on low-rank is ahead of interior-point (`AHEAD_FROM` of engines.low_rank)."""
    print("\nn, density: interior-point / low-rank at 1e-3, 1e-6, 1e-8 (CPU seconds, the least of 3)")
    for n, density in (
        (20, 1),
        (50, 0.1),
        (50, 1),
        (100, 0.05),
        (100, 1),
        (200, 0.03),
        (200, 1),
        (400, 0.02),
        (400, 1),
    ):
        rng = np.random.default_rng(n)
        W = np.triu(rng.uniform(0, 1, (n, n)) * (rng.random((n, n)) < density), 1)
        W = W + W.T if density == 1 else sp.csr_array(W + W.T)
        cells = []
        for tol in (1e-3, 1e-6, 1e-8):
            least = {"interior-point": np.inf, "low-rank": np.inf}
            for _ in range(3):
                for method in least:
                    start = time.process_time()
                    ml.solve(MaxCut(W), method, tol=tol)
                    least[method] = min(least[method], time.process_time() - start)
            cells.append(f"{least['interior-point']:.3f} / {least['low-rank']:.3f}")
        print(f"{n:4d} {density:5.2f}   {'   '.join(cells)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--engines", nargs="+")
    parser.add_argument("--crossover", action="store_true", help="only where low-rank overtakes interior-point")
    given = parser.parse_args()
    header(f"engines: CPU seconds to a certified gap, at most {given.limit:g} s")
    ml.solve(PROBLEMS["gauss"](), tol=1e-2)  # imports
    if given.crossover:
        crossover()
        return
    for name in given.problems:
        print(f"\n{name:14}" + "".join(f"{tol:>9.0e}" for tol in TOLS) + f"{'gap':>10}{'rounds':>8}  ended", flush=True)
        able = [method for method in ml.methods(PROBLEMS[name]()) if method != "reference"]
        for method in [m for m in able if not given.engines or m in given.engines]:
            times, solution = profile(PROBLEMS[name], method, given.limit)
            row = "".join("        -" if t is None else f"{t:9.3f}" for t in times)
            ended = next(note for note in solution.notes if note.startswith("ended"))[7:50]
            print(f"{method:14}{row}{solution.gap:10.1e}{solution.iterations:8d}  {ended}", flush=True)


if __name__ == "__main__":
    main()
