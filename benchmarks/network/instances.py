"""Random instances of GraphMultitask, all losses, against cvxpy: are lower <= optimum <= upper, with and without a hub?

    python benchmarks/network/instances.py [--number 10000] [--seed 0]

Each is certified at random weights, at the answer of an engine stopped after a few rounds, and at that of ``auto``.
"""

import argparse
import time
import warnings

import numpy as np
from matrixlearn_network import GraphMultitask, GraphWarning

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.machines import Local


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    header(f"{given.number} random instances of GraphMultitask against cvxpy")
    warnings.simplefilter("ignore", GraphWarning)
    wrong, unsolved, skipped, bounds, began = [], 0, 0, 0, time.process_time()
    for k in range(given.seed, given.seed + given.number):
        rng = np.random.default_rng(k)
        problem = GraphMultitask.random(rng)
        program = problem.reference()
        try:
            value = program.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        except Exception:
            value = None
        if value is None or program.status != "optimal":
            skipped += 1
            continue
        judge = 1e-7 * max(abs(value), 1e-3 * problem.scale)
        method = str(rng.choice([name for name in ml.methods(problem) if name != "reference"]))
        best = ml.solve(problem, tol=1e-6, max_iter=2000)
        unsolved += best.status != "optimal"
        some = ml.solve(problem, method=method, tol=1e-9, max_iter=int(rng.integers(0, 8)))
        W = rng.standard_normal(problem.shape) * 10.0 ** rng.uniform(-3, 2)
        apart = GraphMultitask(**{**problem.parameters(), "machines": Local(hub=False)})
        shown = [best, some, ml.certify(problem, X=W, y=rng.standard_normal(problem.rows))]
        shown += [ml.certify(apart, X=each) for each in (W, best.matrix, some.matrix)]
        bounds += len(shown)
        if any(each.lower > value + judge or each.upper < value - judge for each in shown):
            wrong.append(k)
    print(f"{bounds} pairs of bounds, {len(wrong)} wrong{': seeds ' + str(wrong[:20]) if wrong else ''}")
    print(f"{unsolved} of {given.number - skipped} not solved to 1e-6; {skipped} that Clarabel does not solve")
    print(f"{time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    main()
