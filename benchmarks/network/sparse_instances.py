"""Random instances of the sparse problems on a graph against cvxpy: is any bound false?

    python benchmarks/network/sparse_instances.py [jointly-sparse|concave-jointly-sparse|gspartan] [--number 1000]

Each is certified at a random point, at the answer of its engine stopped after a step or two, and at that of ``auto``.
The convex problem is judged by its optimum, the others block by block, the other blocks fixed at the point.
"""

import argparse
import time
import warnings

import numpy as np
from matrixlearn_network import GraphWarning

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.problems import MulticonvexProblem

EXACT = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def least_of(program):
    """The optimum that Clarabel finds; None where it does not."""
    try:
        value = program.solve(**EXACT)
    except Exception:
        return None
    return value if program.status == "optimal" else None


def points(problem, rng):
    """Certificates at several points."""
    X = rng.standard_normal(problem.shape) * (rng.random(problem.shape) < 0.7) * 10.0 ** rng.uniform(-2, 1)
    multipliers = problem.multipliers
    y = None if multipliers is None else rng.standard_normal(multipliers) * 10.0 ** rng.uniform(-3, 1)
    yield ml.certify(problem, X=X, y=y)
    yield ml.solve(problem, tol=1e-9, max_iter=int(rng.integers(0, 3))).certificate
    yield ml.solve(problem, tol=1e-5, max_iter=300).certificate


def main() -> None:
    parser = argparse.ArgumentParser()
    names = ["jointly-sparse", "concave-jointly-sparse", "gspartan"]
    parser.add_argument("what", nargs="*", default=names)
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    header(f"{given.number} random instances of each against cvxpy")
    warnings.simplefilter("ignore")
    warnings.simplefilter("ignore", GraphWarning)
    for name in given.what:
        wrong, bounds, skipped, far, began = [], 0, 0, 0, time.process_time()
        for k in range(given.seed, given.seed + given.number):
            rng = np.random.default_rng(k)
            problem = ml.registered_problems()[name].random(rng)
            certificates = list(points(problem, rng))
            far += certificates[-1].gap > 1e-5
            for certificate in certificates:
                by_blocks = isinstance(problem, MulticonvexProblem)
                programs = problem.block_references(certificate.X) if by_blocks else [problem.reference()]
                for value in map(least_of, programs):
                    if value is None:
                        skipped += 1
                        continue
                    judge = 1e-7 * max(abs(value), 1e-3 * problem.scale) + 1e-9  # Clarabel's tolerance is absolute too
                    bounds += 1
                    if certificate.lower > value + judge or certificate.upper < value - judge:
                        wrong.append(k)
        print(
            f"{name}: {bounds} pairs of bounds, {len(wrong)} wrong{': seeds ' + str(wrong[:20]) if wrong else ''}; "
            f"{far} of {given.number} not within 1e-5 after 300 iterations; {skipped} programs that Clarabel does not "
            f"solve; {time.process_time() - began:.0f} CPU seconds",
            flush=True,
        )


if __name__ == "__main__":
    main()
