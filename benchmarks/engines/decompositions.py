"""Parts of a symmetric decomposition against the whole: CPU seconds of `linalg.tridiagonal`, in those of `eigh`.

    python benchmarks/engines/decompositions.py

Random symmetric matrices, seed 0, the least of 7; k vectors, half of them at each end, by representations ("few") and
by divide and conquer ("many"). Where the columns cross are `TRIDIAGONAL_FROM`, `FEW` and `FEW_VALUES`.
"""

import time

import numpy as np

from benchmarks._common import header
from matrixlearn.linalg import tridiagonal
from matrixlearn.linalg.tridiagonal import Tridiagonal

SIZES = (30, 50, 70, 100, 200, 300, 500)
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


def least(functions, repeats=7, budget=0.05):
    """CPU seconds of each, in turn."""
    best = np.full(len(functions), np.inf)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            calls, start = 0, time.process_time()
            while calls == 0 or time.process_time() - start < budget:
                function()
                calls += 1
            best[i] = min(best[i], (time.process_time() - start) / calls)
    return best


def parts(A, share, name, k):
    """A call for k values or pairs, with representations up to a share."""

    def call():
        tridiagonal.FEW = tridiagonal.FEW_VALUES = share
        getattr(Tridiagonal.of(A), name)(k // 2, k - k // 2)

    return call


def main():
    header("partial decompositions, in times of numpy.linalg.eigh")
    print("   n  eigh ms   eigvalsh  extremes   all |  k: values few, all; pairs few, many")
    for n in SIZES:
        A = np.random.default_rng(0).standard_normal((n, n))
        A = A + A.T
        ks = [max(1, round(share * n)) for share in SHARES]
        calls = [lambda A=A: np.linalg.eigh(A), lambda A=A: np.linalg.eigvalsh(A)]
        calls += [lambda A=A: Tridiagonal.of(A).extremes(), parts(A, -1, "ends", n)]
        calls += [parts(A, share, name, k) for k in ks for name in ("values", "ends") for share in (1, -1)]
        whole, *ratios = least(calls)
        ratios = np.array(ratios) / whole
        cells = "   ".join(
            f"{k}: {a:.2f} {b:.2f} {c:.2f} {d:.2f}"
            for k, (a, b, c, d) in zip(ks, ratios[3:].reshape(-1, 4), strict=True)
        )
        values, extremes, everything = ratios[:3]
        print(f"{n:4d} {1e3 * whole:8.2f} {values:9.2f} {extremes:9.2f} {everything:6.2f} | {cells}", flush=True)


if __name__ == "__main__":
    main()
