"""The batch engine of MEG: certified gaps on small random instances, and CPU seconds on large ones.

    python benchmarks/meg/batch.py [--instances 200] [--limit 60]

Small ones: d in 2-5, T in 2-14, dense or dyads, real or complex, labels with noise or without, seeds 0, 1, ... Large
ones: seed 0, labels of a density matrix of rank 3 with noise 0.1; seconds are CPU seconds of one thread.
"""

import argparse
import time

import numpy as np
from matrixlearn_meg import MEGRegression

import matrixlearn as ml
from benchmarks._common import header

LARGE = (
    (20, 3000, "dyads", "square"),
    (50, 3000, "dyads", "square"),
    (50, 3000, "dyads", "absolute"),
    (30, 3000, "dense", "huber"),
    (100, 500, "dyads", "absolute"),
    (200, 1000, "dyads", "square"),
    (100, 5000, "dyads", "square"),
)


def small(seed, loss):
    rng = np.random.default_rng(seed)
    d, T = int(rng.integers(2, 6)), int(rng.integers(2, 15))
    X = rng.standard_normal((T, d) if rng.random() < 0.5 else (T, d, d))
    X = X + 1j * rng.standard_normal(X.shape) if rng.random() < 0.5 else X
    A = rng.standard_normal((d, d))
    y = MEGRegression(X, np.zeros(T)).predict(A @ A.T / np.sum(A * A))
    y = y + (0.3 if rng.random() < 0.7 else 0) * rng.standard_normal(T)
    return MEGRegression(X, np.where(y > 0, 1.0, -1.0) if loss == "logistic" else y, loss, 0.4)


def exact(seed, d, T):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d) if rng.random() < 0.5 else (T, d, d))
    A = rng.standard_normal((d, int(rng.integers(1, d + 1))))
    y = MEGRegression(X, np.zeros(T)).predict(A @ A.T / np.sum(A * A))
    return MEGRegression(X, y, "absolute")


def large(d, T, kind, loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((T, d) if kind == "dyads" else (T, d, d))
    A = rng.standard_normal((d, 3))
    y = MEGRegression(X, np.zeros(T)).predict(A @ A.T / np.sum(A * A)) + 0.1 * rng.standard_normal(T)
    return MEGRegression(X, y, loss, 0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a solve may take")
    given = parser.parse_args()
    header("MEG at once")
    print(f"{given.instances} small instances, tol 1e-8: not reached, worst gap, iterations (median, most)")
    for loss in ("square", "absolute", "huber", "logistic"):
        found = [ml.solve(small(seed, loss), tol=1e-8) for seed in range(given.instances)]
        missed, worst = sum(s.status != "optimal" for s in found), max(s.gap for s in found)
        its = [s.iterations for s in found]
        print(f"  {loss:10s} {missed:4d}  {worst:.2e}  {np.median(its):.0f}, {max(its)}")
    print("labels without noise, absolute loss, tol 1e-8, seeds 0-19: not reached, worst gap, most iterations")
    for d, T in ((8, 60), (8, 600), (20, 1000)):
        found = [ml.solve(exact(seed, d, T), tol=1e-8) for seed in range(20)]
        missed, worst = sum(s.status != "optimal" for s in found), max(s.gap for s in found)
        print(f"  d = {d:2d}, T = {T:4d} {missed:4d}  {worst:.2e}  {max(s.iterations for s in found)}", flush=True)
    print("large instances: CPU seconds, iterations, certified gap for tol 1e-3 and 1e-6")
    for d, T, kind, loss in LARGE:
        problem, told = large(d, T, kind, loss), []
        for tol in (1e-3, 1e-6):
            start = time.process_time()
            s = ml.solve(problem, tol=tol, time_limit=given.limit)
            told.append(f"{time.process_time() - start:6.2f} s, {s.iterations:2d}, {s.gap:.1e}")
        print(f"  d = {d:3d}, T = {T:4d}, {kind}, {loss:10s} {'    '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
