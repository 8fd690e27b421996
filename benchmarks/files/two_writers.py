"""Two processes save answers to one path while a third reads it; then writers are killed: what is broken, what is left?

python benchmarks/files/two_writers.py [saves of each writer] [kills]
"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import matrixlearn as ml


def save_often(path: Path, times: int, failed: "multiprocessing.Queue[int]") -> None:
    W = np.triu(np.random.default_rng(0).integers(0, 3, (30, 30)), 1).astype(float)
    solution, failures = ml.solve(ml.registered_problems()["maxcut"](W + W.T), tol=1e-2), 0
    for _ in range(times):
        try:
            solution.save(path)
        except Exception:
            failures += 1
    failed.put(failures)


def main() -> None:
    saves = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer.npz")
        failed = context.Queue()
        writers = [context.Process(target=save_often, args=(path, saves, failed)) for _ in range(2)]
        for writer in writers:
            writer.start()
        reads = broken = 0
        while any(writer.is_alive() for writer in writers):
            if path.exists():
                reads += 1
                try:
                    ml.Solution.load(path)
                except Exception:
                    broken += 1
        failures = failed.get() + failed.get()
        left = [entry.name for entry in Path(folder).iterdir() if entry != path]
        print(
            f"{2 * saves} saves by two writers: {failures} failed; {reads} reads: {broken} broken; left behind: {left}"
        )
        rng, unread = random.Random(0), 0
        for _ in range(kills):
            writer = context.Process(target=save_often, args=(path, 10**6, failed))
            before = path.stat().st_mtime_ns
            writer.start()
            while path.stat().st_mtime_ns == before:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.05))
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
            try:
                ml.Solution.load(path).verify()
            except Exception:
                unread += 1
        left = [entry.name for entry in Path(folder).iterdir() if entry != path]
        print(f"{kills} writers killed while they save: {unread} files broken; left behind: {left}")


if __name__ == "__main__":
    main()
