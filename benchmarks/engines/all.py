"""Every engine on four problems: CPU seconds to a certified gap, the losses shown too.

    python benchmarks/engines/all.py [--limit 20] [--problems gauss reviews mcp250-1 maxG11] [--engines pdhg ...]
    python benchmarks/engines/all.py --write docs/engines.md      the same, and the ratios and overheads, as a page
    python benchmarks/engines/all.py --overheads                  only what Python costs

gauss      discrepancy, 200 + 200 points in 20 dimensions, half a standard deviation apart
gauss1000  the same, 1000 + 1000 points in 100 dimensions
reviews    discrepancy, books -> kitchen: m = n = 150 reviews, 300 words standardised (as in discrepancy/real_data.py)
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
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header
from benchmarks._data import DATA
from benchmarks.discrepancy.real_data import reviews
from benchmarks.engines.shares import KINDS, shares
from benchmarks.peers.maxcut import weights

TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


def of_reviews(m=150, n=150, features=300, seed=0, folder=DATA / "sentiment"):
    books, kitchen = (reviews(Path(folder) / f"{name}.npz")[0][:, :features] for name in ("books", "kitchen"))
    rng = np.random.default_rng(seed)
    X, T = books[rng.permutation(len(books))[:m]], kitchen[rng.permutation(len(kitchen))[:n]]
    seen = np.concatenate([X, T])
    mean, std = seen.mean(axis=0), seen.std(axis=0)
    std[std == 0] = 1.0
    return Discrepancy((X - mean) / std, (T - mean) / std)


PROBLEMS = {
    "gauss": lambda: Discrepancy(*gaussian_shift(200, 200, 20)),
    "gauss1000": lambda: Discrepancy(*gaussian_shift(1000, 1000, 100)),
    "reviews": of_reviews,
    "mcp250-1": lambda: MaxCut(weights("mcp250-1")),
    "maxG11": lambda: MaxCut(weights("maxG11")),
}


def able(problem):
    """The engines that can play a problem, the judge aside."""
    return [method for method in ml.methods(problem) if method != "reference"]


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


OVERHEADS = ((8, 4, 200), (200, 200, 30))
"""m = n points, dimensions, iterations."""


def overheads(names):
    """{engine: CPU seconds an iteration on each of `OVERHEADS`, and the shares of `shares` on the second}."""
    problems = [(Discrepancy(*gaussian_shift(m, m, n)), rounds) for m, n, rounds in OVERHEADS]
    out = {}
    for name in names:
        cells = []
        for problem, rounds in problems:
            best = np.inf
            for _ in range(2):
                start = time.process_time()
                solution = ml.solve(problem, name, tol=1e-14, max_iter=rounds)
                best = min(best, (time.process_time() - start) / max(solution.iterations, 1))
            cells.append(best)
        out[name] = (*cells, shares(name, OVERHEADS[1][1]))
    return out


def page(results, costs, limit):
    """The table as Markdown: ratios to the quickest of each column, and the gap reached."""
    lines = [
        "# Engines, measured",
        "",
        f"Written by `python benchmarks/engines/all.py --write docs/engines.md --limit {limit:g}`: CPU seconds of one",
        "run for each engine and problem, one BLAS thread, to a certified gap; in brackets how many times the",
        f"quickest engine's time. A dash is a gap not reached within {limit:g} CPU seconds, or at all; the gap that",
        "was reached is beside.",
        "The engines that lose are there to be compared with, and to teach.",
        "",
    ]
    for name, rows in results.items():
        columns = list(zip(*(times for times, _ in rows.values()), strict=True))
        least = [min((t for t in column if t is not None), default=None) for column in columns]
        heads = " | ".join(f"{tol:.0e}" for tol in TOLS)
        lines += [f"## {name}", "", WHAT[name], "", f"| engine | {heads} | gap reached | rounds |"]
        lines += ["|---" * (len(TOLS) + 3) + "|"]
        for method, (times, solution) in rows.items():
            cells = ["-" if t is None else f"{t:.3f} ({t / best:.1f})" for t, best in zip(times, least, strict=True)]
            lines += [f"| `{method}` | {' | '.join(cells)} | {solution.gap:.1e} | {solution.iterations} |"]
        lines += [""]
    lines += [
        "## Where the time goes",
        "",
        "CPU milliseconds an iteration, checks included, on a discrepancy of 8 points in 4 dimensions, where linear",
        "algebra costs next to nothing, and of 200 points in 200; then the shares of the latter as py-spy samples them",
        "with native frames (`benchmarks/engines/shares.py`): LAPACK and BLAS, C code of NumPy and SciPy, Python. The",
        "matrices of `subspace` have a fraction of these dimensions. `low-rank` is a MaxCut of 800 vertices there.",
        "",
        "| engine | 8 x 4 | 200 x 200 | LAPACK, BLAS | NumPy, SciPy | Python |",
        "|---|---|---|---|---|---|",
    ]
    for name, (small, large, found) in costs.items():
        lines += [f"| `{name}` | {1e3 * small:.2f} | {1e3 * large:.1f} | {cells_of(found)} |"]
    lines += [f"| `low-rank` | | | {cells_of(shares('low-rank', 800))} |"]
    return "\n".join(lines) + "\n"


def cells_of(found):
    return " | ".join(["py-spy missing"] * len(KINDS) if found is None else [f"{found[k]:.1%}" for k in KINDS])


WHAT = {
    "gauss": "Discrepancy, 200 + 200 points in 20 dimensions, half a standard deviation apart.",
    "gauss1000": "Discrepancy, 1000 + 1000 points in 100 dimensions, half a standard deviation apart.",
    "reviews": "Discrepancy, books to kitchen goods: 150 + 150 reviews, 300 words standardised.",
    "mcp250-1": "MaxCut, SDPLIB's mcp250-1, 250 vertices.",
    "maxG11": "MaxCut, Gset's G11, 800 vertices.",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--problems", nargs="+", default=["gauss", "gauss1000", "reviews", "mcp250-1"])
    parser.add_argument("--engines", nargs="+")
    parser.add_argument("--crossover", action="store_true", help="only where low-rank overtakes interior-point")
    parser.add_argument("--overheads", action="store_true", help="only the overhead of Python")
    parser.add_argument("--write", type=Path, help="the page to write")
    given = parser.parse_args()
    header(f"engines: CPU seconds to a certified gap, at most {given.limit:g} s")
    ml.solve(PROBLEMS["gauss"](), tol=1e-2)  # imports
    if given.crossover:
        crossover()
        return
    if given.overheads:
        for name, (small, large, found) in overheads(given.engines or able(PROBLEMS["gauss"]())).items():
            print(f"{name:18} {1e3 * small:6.2f} ms {1e3 * large:7.1f} ms  {cells_of(found)}", flush=True)
        return
    results = {}
    for name in given.problems:
        heads = "".join(f"{tol:>9.0e}" for tol in TOLS)
        print(f"\n{name:17}{heads}{'gap':>10}{'rounds':>8}  ended", flush=True)
        results[name] = {}
        for method in [m for m in able(PROBLEMS[name]()) if not given.engines or m in given.engines]:
            times, solution = results[name][method] = profile(PROBLEMS[name], method, given.limit)
            row = "".join("        -" if t is None else f"{t:9.3f}" for t in times)
            ended = next(note for note in solution.notes if note.startswith("ended"))[7:50]
            print(f"{method:17}{row}{solution.gap:10.1e}{solution.iterations:8d}  {ended}", flush=True)
    if given.write:
        costs = overheads([m for m in able(PROBLEMS["gauss"]()) if not given.engines or m in given.engines])
        given.write.write_text(page(results, costs, given.limit))


if __name__ == "__main__":
    main()
