"""Small solves of every problem by every engine: are statuses, bounds of every check and points those of before?

python benchmarks/contract/same_iterates.py before.pkl                 (at one commit: writes)
python benchmarks/contract/same_iterates.py before.pkl after.pkl       (at another: writes after.pkl, compares)
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

import matrixlearn as ml
from benchmarks._common import header

SEEDS = 3
TOLERANCE = 1e-12


def solves() -> dict[tuple[str, int, str], list[Any]]:
    """Status, value, bounds, points and checks of 25 iterations at most, by problem, seed and engine."""
    found = {}
    for name, cls in ml.registered_problems().items():
        for seed in range(SEEDS):
            problem = cls.random(np.random.default_rng(seed))
            for method in ("auto", *ml.methods(problem)):
                if method == "reference":
                    continue
                answer = ml.solve(problem, method, tol=1e-5, max_iter=25)
                checks = np.column_stack([answer.history.column("lower"), answer.history.column("upper")])
                points = [np.zeros(0) if each is None else np.asarray(each) for each in (answer.matrix, answer.y)]
                numbers = [answer.value, answer.lower, answer.upper]
                found[name, seed, method] = [str(answer.status), numbers, checks, *points]
    return found


def agree(a: Any, b: Any) -> bool:
    """Equal statuses, and numbers that differ by at most `TOLERANCE` of the largest."""
    if isinstance(a, str):
        return bool(a == b)
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    finite = np.isfinite(a)
    size = max(1.0, float(np.max(np.abs(a[finite]), initial=0.0)))
    with np.errstate(invalid="ignore"):
        near = np.where(finite, np.abs(a - b) <= TOLERANCE * size, (a == b) | (np.isnan(a) & np.isnan(b)))
    return bool(np.all(near))


def main() -> None:
    header("the same iterates")
    *before, target = sys.argv[1:]
    found = solves()
    Path(target).write_bytes(pickle.dumps(found))
    print(f"{len(found)} solves, {sum(len(each[2]) for each in found.values())} checks -> {target}")
    for path in before:
        known = pickle.loads(Path(path).read_bytes())  # our own file
        both = known.keys() & found.keys()
        differ = sorted(key for key in both if not all(map(agree, known[key], found[key])))
        print(f"{len(both)} in {path} too; {len(differ)} differ: {differ}")


if __name__ == "__main__":
    main()
