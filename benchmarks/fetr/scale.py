"""FETR at scale: d = 1000, m = 500, n = 10^5 shared instances, streamed; 10,000 tasks of 27 features, 30 rows each.

    python benchmarks/fetr/scale.py

CPU seconds for the moments and for the descent to a block gap of 1e-6, iterations, peak memory of the process so far.
Planted weights of rank 5 and a common part, noise of deviation 1, seeds 0; l = 1e-3, u = 1e3.
"""

import resource
import time

import numpy as np
from matrixlearn_fetr import FETR

import matrixlearn as ml
from benchmarks._common import header


def planted(rng, d, m):
    return 0.3 * rng.standard_normal((d, 5)) @ rng.standard_normal((5, m)) + rng.standard_normal((d, 1))


def blocks(n, d, m, size=10_000):
    """Rows that are never in memory together."""
    W = planted(np.random.default_rng(0), d, m)
    for start in range(0, n, size):
        rng = np.random.default_rng([0, start])
        X = rng.standard_normal((min(size, n - start), d))
        yield X, X @ W + rng.standard_normal((len(X), m))


def report(title, build):
    began = time.process_time()
    problem = build()
    problem.moments.spectrum  # noqa: B018 - computed here, once
    ready = time.process_time()
    solution = ml.solve(problem, tol=1e-6, max_iter=100)
    done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{title:44} moments {ready - began:5.1f} s   descent {done - ready:5.1f} s   "
        f"{solution.iterations:2} iterations   {solution.status}, gap {solution.gap:.1e}   peak {peak:.0f} MiB",
        flush=True,
    )


def main() -> None:
    header("FETR at scale")
    rng = np.random.default_rng(0)
    m, d, rows = 10_000, 27, 30
    task = np.repeat(np.arange(m), rows)
    X = rng.standard_normal((m * rows, d))
    y = np.sum(X * planted(rng, d, m).T[task], axis=1) + rng.standard_normal(m * rows)
    for mean in ("zero", "shared"):
        for eta in (1.0, 10.0):
            title = f"10,000 tasks, 27 features, {mean} mean, eta {eta:g}"
            report(title, lambda mean=mean, eta=eta: FETR(X, y, eta, task=task, mean=mean))
    for eta in (1.0, 100.0):
        title = f"n = 1e5, d = 1000, m = 500 shared, eta {eta:g}"
        report(title, lambda eta=eta: FETR.from_batches(blocks(100_000, 1000, 500), eta=eta))


if __name__ == "__main__":
    main()
