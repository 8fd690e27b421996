"""Where an engine's time goes: the shares of LAPACK and BLAS, of NumPy's and SciPy's C code, and of Python.

    python benchmarks/engines/shares.py [--size 200] [--seconds 8] [engines ...]

Sampled by py-spy with native frames (pip install py-spy; it needs the right to trace a process), 100 times a second,
one BLAS thread. A sample counts for the innermost frame that belongs to one of the three. `low-rank` runs on a MaxCut
of as many vertices, the others on a discrepancy of as many points of either sample in as many dimensions.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header

KINDS = ("LAPACK, BLAS", "NumPy, SciPy", "Python")


def problem_for(engine, size):
    if engine != "low-rank":
        return Discrepancy(*gaussian_shift(size, size, size))
    W = np.triu(np.random.default_rng(size).random((size, size)) < 0.06, 1).astype(float)
    return MaxCut(W + W.T)


def work(engine, size, seconds):
    """What is profiled: 30 iterations of the engine, again and again."""
    problem = problem_for(engine, size)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        ml.solve(problem, engine, tol=1e-14, max_iter=30)


def kind(stack):
    """Index into KINDS of a stack of frames, outermost first; None where nothing is known."""
    for frame in reversed(stack):
        if "openblas" in frame:
            return 0
        if any(part in frame for part in ("_multiarray_umath", "_umath_linalg", "_flapack", "_sparsetools")):
            return 1
        if any(part in frame for part in ("libpython", "python3", ".py:", "<frozen")):
            return 2
    return None


def shares(engine, size, seconds=8):
    """{kind: fraction} of the samples within `work`; None where py-spy is not there, or may not trace."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stacks"
        spy = ["py-spy", "record", "--native", "--rate", "100", "--format", "raw", "--output", str(out), "--"]
        command = [*spy, sys.executable, __file__, "--work", "--size", str(size), "--seconds", str(seconds), engine]
        where = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        try:
            subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PATH": where})
        except (FileNotFoundError, subprocess.CalledProcessError):
            return None
        counts = collections.Counter()
        for line in out.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            frames = stack.split(";")
            if any(frame.startswith("work (") for frame in frames):
                counts[kind(frames)] += int(count)
    total = sum(counts.values())
    return {name: counts[k] / total for k, name in enumerate(KINDS)} if total else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", default=["interior-point", "subspace", "pdhg", "low-rank"])
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.engines[0], given.size, given.seconds)
        return
    header(f"shares of time at size {given.size}")
    for engine in given.engines:
        found = shares(engine, given.size, given.seconds)
        print(f"{engine:18}", "py-spy not available" if found is None else found, flush=True)


if __name__ == "__main__":
    main()
