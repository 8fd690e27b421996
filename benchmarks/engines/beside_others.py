"""Solves that run beside others: the answers of solves that run alone, and BLAS with as many threads as before?

    python benchmarks/engines/beside_others.py [count=300] [--workers 8]

Instance k is `random(default_rng(k))` of the registered problems in turn. All are solved one after the other, then all
again in a pool of threads. Bounds differ where they are further apart than 1e-9 of their size or of the problem's
scale; a certificate that does not verify, another status and another number of iterations are counted too.
"""

import argparse
import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.exceptions import MatrixLearnError


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def differences(alone, beside):
    """Words for what is not the same."""
    if alone.status != beside.status:
        yield "status"
    if alone.iterations != beside.iterations:
        yield "iterations"
    for name in ("lower", "upper"):
        one, other = getattr(alone, name), getattr(beside, name)
        if one != other and abs(one - other) > 1e-9 * max(abs(one), abs(other), alone.problem.scale):
            yield name
    if alone.lower > beside.upper or beside.lower > alone.upper:
        yield "contradiction"
    try:
        beside.certificate.verify()
    except MatrixLearnError:
        yield "not verified"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--workers", type=int, default=8)
    given = parser.parse_args()
    header(f"{given.count} solves alone, and in {given.workers} threads")
    classes = itertools.cycle(ml.registered_problems().values())
    problems = [cls.random(np.random.default_rng(k)) for k, cls in zip(range(given.count), classes, strict=False)]

    def solved(problem):
        return ml.solve(problem, tol=1e-6, max_iter=200)

    alone = [solved(problem) for problem in problems]
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with ThreadPoolExecutor(given.workers) as pool:
            beside = list(pool.map(solved, problems))
        after = threads()
    found = Counter(word for one, other in zip(alone, beside, strict=True) for word in differences(one, other))
    print(f"differences of {given.count}: {dict(found) or 'none'}; threads of BLAS before {before}, after {after}")


if __name__ == "__main__":
    main()
