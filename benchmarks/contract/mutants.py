"""Mutants: one wrong line at a time, and the tests that must notice it; which survive?

    python benchmarks/contract/mutants.py [--only WORD] [--seconds 300]

They are listed in mutants.txt. Each is made in a copy of the checkout, in a temporary folder; the tests named with it
run on one process, with the examples of the profile ``ci``. A test run that takes longer than --seconds counts as
noticed by nobody: a limit is no proof.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks._common import header

ROOT = Path(__file__).parents[2]
PARTS = ("matrixlearn", "plugins", "tests", "pyproject.toml", "README.md", "examples")


class Mutant(NamedTuple):
    """One wrong line."""

    wrong: str
    file: str
    old: str
    new: str
    tests: str


def listed() -> list[Mutant]:
    """Those of mutants.txt."""
    lines = Path(__file__).with_suffix(".txt").read_text().splitlines()
    parts = [[part.replace("\\n", "\n") for part in line.split(" | ")] for line in lines if not line.startswith("#")]
    return [Mutant(*part) for part in parts]


def run(copy: Path, tests: str, seconds: float) -> str:
    """killed, survives, or what went wrong."""
    path = os.pathsep.join(str(copy / part) for part in (".", "plugins"))
    own = {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg", "HYPOTHESIS_PROFILE": "ci"}
    environment = {**os.environ, **own}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests.split()]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=seconds, text=True)
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds:g} s"
    return {0: "SURVIVES", 1: "killed"}.get(done.returncode, f"rc {done.returncode}: {done.stdout[-200:]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutants whose description or file holds this")
    parser.add_argument("--seconds", type=float, default=300.0)
    given = parser.parse_args()
    mutants = [mutant for mutant in listed() if given.only in mutant.wrong + mutant.file]
    header(f"{len(mutants)} mutants")
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy.mkdir()
        for part in PARTS:
            copied = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copied(ROOT / part, copy / part)
        for mutant in mutants:
            file = copy / mutant.file
            right = file.read_text()
            if mutant.old not in right:
                outcome = "STALE: the right line is not there"
                took = 0.0
            else:
                file.write_text(right.replace(mutant.old, mutant.new, 1))
                began = time.perf_counter()
                outcome = run(copy, mutant.tests, given.seconds)
                took = time.perf_counter() - began
                file.write_text(right)
            counts[outcome.split(":")[0]] = counts.get(outcome.split(":")[0], 0) + 1
            print(f"{mutant.wrong:42} {mutant.file:52} {outcome} ({took:.0f} s, {mutant.tests})", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
