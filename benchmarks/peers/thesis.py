"""The thesis's artificial data (6.1), N = 200, beside CSDP, SDPA and DSDP, and ADAPT's LDM: CPU seconds, one thread.

    python benchmarks/peers/thesis.py [--sizes 20x30 80x120 150x250] [--limit 300] [--peers CSDP SDPA DSDP]

Ours: construction and `solve` to a certified gap of 1e-6. The peers get the linear matrix inequalities t I +- M(z) >= 0
in min(m + n, N) dimensions as a sparse SDPA file, z_m = 1 - the others put in (an equality as two inequalities would
leave them no interior), and their default accuracy; their time is that of the process, reading the file included, and
the value of their z is computed here.
"""

import argparse
import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header, thesis_samples
from benchmarks.peers.maxcut import peers, run


def write(problem, path):
    """min t: t I - M(z) >= 0, t I + M(z) >= 0, z >= 0 and z_m = 1 - sum of the others."""
    P, C, r = np.asarray(problem.game.A.P), np.asarray(problem.game.C), problem.rank
    m = len(P)
    upper = np.triu_indices(r)
    i, j = upper[0] + 1, upper[1] + 1
    last = np.outer(P[-1], P[-1])

    def block(file, k, values, sign, b):
        keep = values != 0
        columns = (np.full(keep.sum(), k), np.full(keep.sum(), b), i[keep], j[keep], sign * values[keep])
        np.savetxt(file, np.column_stack(columns), fmt="%d %d %d %d %.15g")

    with path.open("w") as file:
        file.write(f"{m}\n3\n{r} {r} {-m}\n{' '.join(['0'] * (m - 1) + ['1'])}\n")
        for b, sign in ((1, 1), (2, -1)):  # sum_k F_k x_k - F_0 = t I -+ (C - last - sum_k z_k (A_k - last))
            block(file, 0, (C - last)[upper], sign, b)
            for k in range(m - 1):
                block(file, k + 1, (np.outer(P[k], P[k]) - last)[upper], sign, b)
            file.writelines(f"{m} {b} {a} {a} 1\n" for a in range(1, r + 1))
        file.write(f"0 3 {m} {m} -1\n")
        file.writelines(f"{k} 3 {k} {k} 1\n{k} 3 {m} {m} -1\n" for k in range(1, m))


def value_of(problem, x):
    """||M(z)|| of a peer's z, on the simplex."""
    m = problem.game.Y.size
    if len(x) != m:
        return float("nan")
    z = np.append(x[:-1], 1 - x[:-1].sum())
    return ml.certify(problem, y=np.clip(z, 0, None) / np.clip(z, 0, None).sum()).upper


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["20x30", "80x120", "150x250"])
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--peers", nargs="+", default=["CSDP", "SDPA", "DSDP"])
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    header("thesis 6.1, N = 200: certified gap 1e-6, CPU seconds")
    print(f"# the peers' BLAS: {Path('/etc/alternatives/libblas.so.3-x86_64-linux-gnu').resolve()}")
    for size in given.sizes:
        m, n = (int(part) for part in re.split("x", size))
        samples = thesis_samples(m, n, 200)
        ml.solve(Discrepancy(*samples), tol=1e-1)
        times = []
        for _ in range(3):
            start = time.process_time()
            problem = Discrepancy(*samples)
            solution = ml.solve(problem, tol=1e-6)
            times.append(time.process_time() - start)
        print(
            f"\n(m, n) = ({m}, {n}): ours {min(times):.3f} s, {solution.method}, gap {solution.gap:.1e}, optimum in "
            f"[{solution.lower:.8g}, {solution.upper:.8g}]",
            flush=True,
        )
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write(problem, folder / "p.dat-s")
            for name, command, read in peers(folder, None):
                if name not in given.peers:
                    continue
                told = run(command, folder, given.limit)
                if told is None:
                    print(f"  {name}: more than {given.limit:g} s, or not installed", flush=True)
                    continue
                value = min(value_of(problem, s * read()) for s in (1, -1))
                print(
                    f"  {name}: {told[0]:.2f} s, ||M(z)|| of its z is {value / solution.lower - 1:.1e} above the lower "
                    f"bound; ratio {told[0] / min(times):.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
