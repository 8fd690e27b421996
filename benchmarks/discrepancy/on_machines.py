"""A discrepancy of points in files that no one process holds: time and peak memory of this process, 1 and 2 workers.

    python benchmarks/discrepancy/on_machines.py FOLDER [POINTS] [WORKERS ...]

Files of POINTS (2,000,000) source and a tenth as many target points in 50 dimensions are made in FOLDER.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import SpreadDiscrepancy

import matrixlearn as ml
from matrixlearn.machines import Dask, Shards

N, FILES = 50, 8


def make(path, points, scale, shift, seed):
    rng = np.random.default_rng(seed)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=(points, N))
    spread = scale * np.linspace(0.5, 1.5, N)
    for start in range(0, points, 10_000):
        rows = out[start : start + 10_000]
        rows[:] = rng.standard_normal(rows.shape) * spread + shift
    out.flush()


def files(folder, points):
    paths = {}
    for name, count, scale, shift in (("source", points, 1.0, 0.0), ("target", points // 10, 1.2, 0.5)):
        paths[name] = [folder / f"{name}-{points}-{i}.npy" for i in range(FILES)]
        for i, path in enumerate(paths[name]):
            if not path.exists():
                make(path, count // FILES, scale, shift, i)
    return paths


def solve(folder, points, workers):
    paths = {name: [str(path) for path in each] for name, each in files(folder, points).items()}
    began = time.perf_counter()
    sides = (Shards.from_files(paths[name], np.load) for name in ("source", "target"))
    problem = SpreadDiscrepancy(*sides, max_weight=2.0, machines=Dask(workers=workers))
    loaded = time.perf_counter()
    solution = ml.solve(problem, tol=1e-3)
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(solution.summary())
    print(f"  sent       {problem.family.held.ledger}")
    print(
        f"{workers} workers: {loaded - began:.1f} s to start and load, {ended - loaded:.1f} s to solve; "
        f"peak memory of this process {peak:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    folder, points = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    counts = [int(each) for each in sys.argv[3:]] or [1, 2]
    if len(counts) == 1:
        solve(folder, points, counts[0])
    else:
        files(folder, points)
        for workers in counts:  # each in a process of its own: memory has a peak
            subprocess.run([sys.executable, __file__, str(folder), str(points), str(workers)], check=True)
