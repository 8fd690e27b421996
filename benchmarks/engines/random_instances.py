"""Random instances against cvxpy: do the bounds bracket the optimum, and is the gap met?

For each class, instance `seed` is `random(default_rng(seed))`; the judge is `matrixlearn.testing`'s
reference (cvxpy, with an error bar). A failure is: an exception, a status other than "optimal", bounds that do
not bracket the judge's value (beyond its own error), or a gap above tol.
    python benchmarks/engines/random_instances.py [count]
"""

import sys
import time

import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.testing.reference import optimum


def failures(solution, judge, tol):
    """What is wrong with a solution, in words."""
    slack = judge.error
    if solution.status != "optimal":
        yield f"status {solution.status}, gap {solution.gap:.1e}"
    if solution.gap > tol:
        yield f"gap {solution.gap:.1e}"
    if solution.lower > judge.value + slack or solution.upper < judge.value - slack:
        yield f"[{solution.lower}, {solution.upper}] does not hold {judge.value} +- {slack:.1e}"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    header(f"{count} random instances of each class")
    for cls in (ml.LinearSDP, Discrepancy, MaxCut):
        judges = []
        for seed in range(count):
            problem = cls.random(np.random.default_rng(seed))
            judges.append((problem, optimum(problem)))
        for method, tol in (("auto", 1e-4), ("mmw", 5e-2)):
            bad, iterations, start = [], [], time.perf_counter()
            sharp = sum(judge.is_sharp for _, judge in judges)
            for seed, (problem, judge) in enumerate(judges):
                solution = ml.solve(problem, method, tol=tol)
                iterations.append(solution.iterations)
                bad += [(seed, words) for words in failures(solution, judge, tol)]
            median, ninety, most = np.percentile(iterations, [50, 90, 100])
            print(
                f"{cls.__name__:12s} {method:5s} tol {tol:g}: {len(bad)} failures of {count} "
                f"({sharp} sharp judges); iterations median "
                f"{median:.0f}, 90 % {ninety:.0f}, most {most:.0f}; {time.perf_counter() - start:.1f} s  {bad[:5]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
