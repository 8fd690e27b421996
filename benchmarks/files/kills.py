"""Solves that are killed (SIGKILL) at random moments and go on from their checkpoints: what is lost.

    python benchmarks/files/kills.py [--kills 50] [--seed 0]

One solve each of three engines is killed again and again; the last process runs to its end. Its iterations and bounds
are compared with those of a solve that nobody kills. A kill loses the iterations after the last checkpoint only.
"""

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.exceptions import MatrixLearnError


def problem(name):
    rng = np.random.default_rng(0)
    if name == "low-rank":
        W = np.triu(rng.random((1500, 1500)) < 0.02, 1).astype(float)
        return MaxCut(W + W.T)
    return Discrepancy(rng.standard_normal((900, 90)) + 0.5, 1.5 * rng.standard_normal((200, 90)))


TOL = {"pdhg": 1e-9, "mirror-prox": 1e-5, "low-rank": 1e-8}


def one(name, path):
    kept = path.exists()
    solution = ml.solve(problem(name), name, tol=TOL[name], checkpoint=path, resume=path if kept else None)
    solution.save(path.with_suffix(".npz"))


def killed_until_it_ends(name, path, kills, rng):
    """(kills, broken files seen) on the way to the end."""
    done = broken = 0
    while True:
        process = subprocess.Popen([sys.executable, __file__, "--one", name, path])
        if done < kills:
            time.sleep(1.5 + rng.random())
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            return done, broken
        if done >= kills:
            broken += 1
        done += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one[0], Path(given.one[1]))
        return
    header("Solves that are killed and go on from their checkpoints")
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        left = given.kills
        for run, name in enumerate(k for _ in range(given.kills) for k in TOL):
            if left <= 0:
                break
            path = Path(folder) / f"{run}.state"
            done, broken = killed_until_it_ends(name, path, left, rng)
            left -= done
            kept, whole = ml.Solution.load(path.with_suffix(".npz")), ml.solve(problem(name), name, tol=TOL[name])
            same = kept.iterations == whole.iterations and abs(kept.value - whole.value) <= 1e-9 * abs(whole.value)
            files = sorted(each.name for each in Path(folder).iterdir() if ".partial" in each.name)
            try:
                kept.verify()
                proved = True
            except MatrixLearnError:
                proved = False
            print(
                f"{name:12} {done:3d} kills, {broken} broken files, {len(files)} files left over, {kept.iterations} "
                f"iterations (without kills {whole.iterations}), same: {same}, verified: {proved}",
                flush=True,
            )


if __name__ == "__main__":
    main()
