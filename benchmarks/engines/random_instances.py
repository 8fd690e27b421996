"""Random instances of every family, as the conformance kit draws them, against cvxpy: failures per family.

For each registered problem, instance `seed` is `random(default_rng(seed))`; the judge is `matrixlearn.testing`'s
reference (cvxpy by two unlike solvers, with an error bar; of each block for a multiconvex problem). A failure is an
exception, a warning, a status other than "optimal" ("stationary"), bounds that do not hold the judge's value
(beyond its own error) or the solution's, a gap above tol, or a certificate that does not verify.
    python benchmarks/engines/random_instances.py [count=200] [--first 0] [--method auto] [--tol 1e-6] [--problems ...]
"""

import argparse
import time
import warnings

import numpy as np

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.problems import MulticonvexProblem
from matrixlearn.testing.reference import optimum, optimum_of


def judges(problem, solution):
    """The optima that the bounds must hold between them."""
    if isinstance(problem, MulticonvexProblem):
        blocks = range(len(problem.block_references(solution.matrix)))
        return [optimum_of(lambda j=j: problem.block_references(solution.matrix)[j], problem.gap_floor) for j in blocks]
    return [optimum(problem)]


def failures(problem, solution, judged, tol):
    """What is wrong with a solution, in words."""
    wanted = "stationary" if isinstance(problem, MulticonvexProblem) else "optimal"
    if solution.status != wanted or (wanted == "optimal" and solution.gap > tol):
        yield f"{solution.status} with a gap of {solution.gap:.1e}"
    slack = 1e-12 * max(problem.scale, solution.certificate.size)
    if not solution.lower - slack <= solution.value <= solution.upper + slack:
        yield f"the value {solution.value!r} is outside [{solution.lower!r}, {solution.upper!r}]"
    for judge in judged:
        if solution.lower > judge.value + judge.error or solution.upper < judge.value - judge.error:
            yield f"[{solution.lower!r}, {solution.upper!r}] does not hold {judge.value!r} +- {judge.error:.1e}"


def tried(problem, method, tol):
    """(the solution, what is wrong, how many judges were sharp)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solution = ml.solve(problem, method, tol=tol)
            solution.certificate.verify()
        judged = judges(problem, solution)
    except Exception as error:  # whatever it is, it is the failure that is looked for
        return None, [f"{type(error).__name__}: {error}"], 0
    return solution, list(failures(problem, solution, judged, tol)), sum(judge.is_sharp for judge in judged) > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--problems", nargs="+")
    given = parser.parse_args()
    header(f"{given.count} random instances of each family from seed {given.first}, {given.method} to {given.tol:g}")
    print(f"{'family':<24}{'tried':>7}{'judged':>8}{'failed':>8}{'iterations: median, 99 %, most':>34}{'seconds':>9}")
    for name, cls in ml.registered_problems().items():
        if given.problems and name not in given.problems:
            continue
        bad, iterations, sharp, start = [], [], 0, time.process_time()
        for seed in range(given.first, given.first + given.count):
            problem = cls.random(np.random.default_rng(seed))
            solution, words, is_sharp = tried(problem, given.method, given.tol)
            sharp += is_sharp
            bad += [(seed, words)] if words else []
            iterations += [] if solution is None else [solution.iterations]
        numbers = ", ".join(f"{k:.0f}" for k in np.percentile(iterations or [np.nan], [50, 99, 100]))
        spent = time.process_time() - start
        print(f"{name:<24}{given.count:>7}{sharp:>8}{len(bad):>8}{numbers:>34}{spent:>9.0f}", flush=True)
        for seed, words in bad[:5]:
            print(f"    seed {seed}: {'; '.join(words)[:300]}", flush=True)


if __name__ == "__main__":
    main()
