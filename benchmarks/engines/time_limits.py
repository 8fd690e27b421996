"""How far a solve runs past its time limit where one iteration takes longer than that.

python benchmarks/engines/time_limits.py [--limit 1.0]
"""

import argparse
import time

import numpy as np
from matrixlearn_definiteboost import DefiniteBoost
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header

RNG = np.random.default_rng(0)


def discrepancy(points, features):
    target = 1.5 * RNG.standard_normal((points // 2, features))
    return Discrepancy(RNG.standard_normal((points, features)) + 0.5, target)


def projections(m, d):
    P = RNG.standard_normal((m, d))
    P /= np.linalg.norm(P, axis=1)[:, None]
    return DefiniteBoost(np.einsum("ij,ik->ijk", P, P), upper=np.full(m, 0.3 / d))


CASES = {
    "sa-da": lambda: discrepancy(4000, 100),
    "mirror": lambda: projections(400, 200),
    "interior-point": lambda: discrepancy(4000, 500),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=1.0)
    limit = parser.parse_args().limit
    header(f"time_limit = {limit:g} s")
    for method, made in CASES.items():
        problem = made()
        began = time.perf_counter()
        solution = ml.solve(problem, method, tol=1e-6, time_limit=limit)
        seconds = time.perf_counter() - began
        print(f"{method:15} {type(problem).__name__:15} {seconds:6.1f} s, {solution.certificate}", flush=True)


if __name__ == "__main__":
    main()
