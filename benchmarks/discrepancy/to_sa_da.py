"""To SA-DA's own final objective, then on: CPU seconds of `sa-da` and of `auto` on the same data, one thread.

    python benchmarks/discrepancy/to_sa_da.py [--sizes 40x60 80x120 160x240]

The thesis's artificial data, N = 200. `sa-da` makes Cortes and Mohri's ten iterations; `auto` is timed to the first
check whose upper bound is no larger than the value of SA-DA's weights, then to a certified gap of 1e-6.
"""

import argparse
import time

from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header, thesis_samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["20x30", "40x60", "80x120", "160x240"])
    given = parser.parse_args()
    header("to SA-DA's final objective, CPU seconds")
    for size in given.sizes:
        samples = thesis_samples(*(int(part) for part in size.split("x")), 200)
        ml.solve(Discrepancy(*samples), tol=0.5)
        problem = Discrepancy(*samples)
        start = time.process_time()
        theirs = ml.solve(problem, "sa-da", tol=1e-12, max_iter=10)
        spent = time.process_time() - start
        problem, reached = Discrepancy(*samples), []
        start = time.process_time()

        def watch(event, start=start, reached=reached, goal=theirs.upper):
            if event.upper <= goal and not reached:
                reached.append(time.process_time() - start)

        ours = ml.solve(problem, tol=1e-6, callback=watch)
        total = time.process_time() - start
        print(
            f"{size}: sa-da {theirs.iterations} iterations, {spent:.3f} s, value {theirs.upper:.6g} "
            f"({theirs.upper / ours.lower - 1:.1e} above the optimum); {ours.method} there after {reached[0]:.3f} s, "
            f"at gap {ours.gap:.1e} after {total:.3f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
