"""The published schedule of mmw on the data of figure 6.1, within a limit: the certified gap against CPU seconds.

    python benchmarks/discrepancy/published.py [--limit 120]

The sorted list of Algorithm 3 with Theorem 4.3.2's T for each guess, delta = 0.1: as published (``Theory()``), and with
the thesis's heuristics, a falling delta and the width of the head of the list (``Theory.as_run()``). A run ends at a
certified gap of 10 %, where its guesses agree, or at the limit. Results are kept in benchmarks/results.
"""

import argparse
import time

from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header, thesis_samples
from benchmarks._kept import RESULTS, Kept
from matrixlearn.engines import MatrixMultiplicativeWeights, Theory
from matrixlearn.oracles import SortedListOracle

LIMIT, DELTA = 120.0, 0.1
"""Seconds, of which a busy machine gives a part, and delta."""

SCHEDULES = {"mmw, as published": Theory(DELTA), "mmw, thesis's heuristics": Theory.as_run(DELTA)}

DRAWS = {
    "mmw, thesis's heuristics": {50: 4, 100: 3, 200: 2, 400: 1},
    "mmw, as published": {50: 1, 100: 1, 200: 1, 400: 1},
}
"""By schedule and m + n."""

kept = Kept(RESULTS / "published.jsonl")


def trace(name, size, draw, limit):
    """How a run ended, its CPU seconds and rounds, and [seconds, certified gap] whenever that was less than before."""
    problem = Discrepancy(*thesis_samples(2 * size // 5, 3 * size // 5, 200, seed=draw))
    engine = MatrixMultiplicativeWeights(SCHEDULES[name], oracle=SortedListOracle)
    start, gaps = time.process_time(), []

    def watch(event):
        spent = time.process_time() - start
        if not gaps or event.gap < gaps[-1][1]:
            gaps.append([spent, event.gap])
        return spent > limit

    solution = ml.solve(problem, engine, tol=DELTA, callback=watch, time_limit=limit)
    spent = time.process_time() - start  # what a busy machine leaves of the limit
    ended = "gap" if solution.gap <= DELTA else "guesses agree" if "guesses agree" in solution.ended else "limit"
    return {"ended": ended, "seconds": spent, "rounds": solution.iterations, "gaps": gaps, "gap": solution.gap}


def traces(limit=LIMIT):
    """{schedule: {size: the runs}}."""
    return {
        name: {
            size: [
                kept([name, size, draw, limit], lambda key=(name, size, draw, limit): trace(*key))
                for draw in range(draws)
            ]
            for size, draws in sizes.items()
        }
        for name, sizes in DRAWS.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a run")
    given = parser.parse_args()
    header(f"the published schedule, at most {given.limit:g} s a run")
    for name, sizes in traces(given.limit).items():
        for size, runs in sizes.items():
            for draw, run in enumerate(runs):
                at = " ".join(f"{100 * gap:.0f}% {seconds:.1f}s" for seconds, gap in run["gaps"][-6:])
                print(
                    f"{name:26} m + n = {size}, draw {draw}: {run['ended']} after {run['seconds']:.1f} s, "
                    f"{run['rounds']} rounds, gap {100 * run['gap']:.0f} %; {at}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
