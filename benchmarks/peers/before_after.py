"""The problems of `benchmarks.peers.all` in two checkouts, turn by turn: CPU seconds, and the ratio.

    python benchmarks/peers/before_after.py /path/to/before/python /path/to/after/python [--turns 3]

Each python has its checkout installed (``pip install -e``) and is asked in a process of its own for construction and
`solve`; the least of the turns counts. Set MATRIXLEARN_DATA to the folder of the data sets.
"""

import argparse
import json
import os
import subprocess

from benchmarks._common import header

PROGRAM = """
import json, os, sys, time
from pathlib import Path
import matrixlearn as ml
root = Path(ml.__file__).parents[1]
sys.path[:0] = [str(root), str(root / "benchmarks")]
try:
    from benchmarks.peers.all import cases
except ModuleNotFoundError:
    from peers import cases
known = cases()
for name in sys.argv[1].split():
    ml.solve(known[name].make(), tol=1e-1, time_limit=60)
    for tol in (1e-3, 1e-6):
        start = time.process_time()
        solution = ml.solve(known[name].make(), tol=tol, time_limit=60)
        found = time.process_time() - start, solution.status, float(solution.gap), solution.method
        print(json.dumps([name, tol, *found]), flush=True)
"""
NAMES = (
    *("gauss", "thesis20", "thesis80", "mcp250-1", "mcp500-1", "maxG11", "G1", "G14", "G43"),
    *("drake", "theta2", "gpp100", "truss8", "arch0", "control3"),
)


def answers(python, names):
    """{(problem, tol): (seconds, status, gap, method)}."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-P", "-c", PROGRAM, " ".join(names)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)
    found = (json.loads(line) for line in done.stdout.splitlines())
    return {(name, tol): tuple(rest) for name, tol, *rest in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--problems", nargs="+", default=NAMES)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    header("CPU seconds of two checkouts, turn by turn; the least counts")
    print(
        "| problem | tol | before, s | after, s | ratio | before | after |\n|---|---|---|---|---|---|---|", flush=True
    )
    for name in given.problems:
        turns = [(answers(given.before, [name]), answers(given.after, [name])) for _ in range(given.turns)]
        for key in turns[0][0]:
            sides = [min(turn[side][key] for turn in turns) for side in (0, 1)]
            (old, *old_answer), (new, *new_answer) = sides
            said = (f"{status}, {gap:.1e}, `{method}`" for status, gap, method in (old_answer, new_answer))
            print(
                f"| {name} | {key[1]:.0e} | {old:.3f} | {new:.3f} | {new / old:.2f} | {' | '.join(said)} |", flush=True
            )


if __name__ == "__main__":
    main()
