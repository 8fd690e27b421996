"""Table 1 of 004, column School: normalized mean squared error over 139 tasks, 10-fold cross-validation.

    python benchmarks/fetr/school.py [--folds 10] [--intercept column|free] [--data PATH]

PATH is MALSAR's school.mat (github.com/jiayuzhou/MALSAR, data/school.mat), or a folder that has it.

Preprocessing: the 27 features without the bias, to mean 0 and variance 1 over the training rows; then a column of
ones under the prior (``column``, our reading of the paper), or an intercept of each school free of it (``free``).
Scores as they are. Folds are dealt at random within each school, seed 0. All parameters are chosen by 3 folds
within the training rows. NMSE of a school: the mean squared error on its held-out pupils over the variance of all its
scores; the table gives the mean and the standard deviation over folds of the mean over schools.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.fetr._methods import choice, methods, quietly
from benchmarks.fetr._tables import school
from matrixlearn.multitask import Rows, dealt, normalized_error

PAPER = {"STL": 0.9882, "MTFL": 0.8891, "MTRL": 0.9007, "MTFRL": 0.8451, "FETR": 0.8134}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--intercept", choices=("column", "free"), default="column")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", help="methods, by their names in the table")
    given = parser.parse_args()
    X, y, task = school(given.data)
    header(f"School, {given.folds} folds, intercept: {given.intercept}")
    rows = Rows(X, y, task, int(task.max()) + 1)
    fold = dealt(rows, given.folds, np.random.RandomState(0))
    free = given.intercept == "free"
    print(f"{'method':22} {'NMSE':>7} {'+-':>7} {'paper':>7} {'CPU s':>7}  last choice")
    for name, model in methods(fit_intercept=free, only=given.only).items():
        began, errors = time.process_time(), []
        for k in range(given.folds):
            train, test = fold != k, np.flatnonzero(fold == k)
            mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
            Z = (X - mean) / np.where(deviation > 0, deviation, 1.0)
            if not free:
                Z = np.column_stack([Z, np.ones(len(Z))])
            quietly(model, Z[train], y[train], task[train])
            held = rows.take(test)
            errors.append(normalized_error(held, model.predict(Z[test], task[test]), of=rows))
        seconds = time.process_time() - began
        paper = f"{PAPER[name]:.4f}" if name in PAPER else ""
        print(
            f"{name:22} {np.mean(errors):7.4f} {np.std(errors):7.4f} {paper:>7} {seconds:7.1f}  {choice(model)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
