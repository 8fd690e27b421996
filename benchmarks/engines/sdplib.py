"""SDPLIB's files without a trace bound: status, bounds, proved gap, error against CSDP, CPU seconds.

    python -m benchmarks.engines.sdplib [NAME ...] [--tol 1e-6] [--time-limit 120] [--largest 340]

Without names, every file at hand whose matrices have an order of at most ``--largest``. The judge is CSDP's primal
value in `optima.csv` of the data, or the published optimum where CSDP has none. CSDP's X meets the rows to about 1e-8.
"""

import argparse
import csv
import math
import time

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA


def judges(largest):
    """{name: optimum}, of the files at hand."""
    with (DATA / "sdplib" / "optima.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["n"]) <= largest]
    return {
        row["problem"]: row["check_primal"] or row["published_optimum"]
        for row in rows
        if (DATA / "sdplib" / f"{row['problem']}.dat-s.gz").exists()
    }


def error_of(value, judge):
    """|value - judge| / max(1, |judge|), in words where the judge is a word."""
    try:
        optimum = float(judge)
    except ValueError:
        return judge
    return f"{abs(value - optimum) / max(1.0, abs(optimum)):.0e}" if math.isfinite(value) else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--largest", type=int, default=340)
    given = parser.parse_args()
    known = judges(given.largest if not given.names else math.inf)
    header(f"SDPLIB without a trace bound, tol = {given.tol:g}")
    print("| problem | status | bounds | gap | error | iterations | CPU s |\n|---|---|---|---|---|---|---|", flush=True)
    for name in given.names or known:
        problem, began = ml.LinearSDP.from_sdpa(DATA / f"sdplib/{name}.dat-s.gz"), time.process_time()
        solution = ml.solve(problem, tol=given.tol, time_limit=given.time_limit)
        seconds = time.process_time() - began
        bounds = f"{solution.lower:.9g}, {solution.upper:.9g}"
        print(
            f"| {name} | {solution.status} | {bounds} | {solution.gap:.1e} | {error_of(solution.value, known[name])} "
            f"| {solution.iterations} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
