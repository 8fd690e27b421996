"""Zero or shared mean: FETR and its rivals on three more sets whose tasks are populations with one target.

    python benchmarks/fetr/tasks.py [--splits 3] [--data FOLDER]

conjoint     190 buyers rate 20 computers of 13 properties (shared rows): 16 profiles to learn from, 4 to predict
parkinsons   motor UPDRS of 42 patients from 16 voice measures and the time: 20 rows of each to learn from
beijing      logarithm of PM2.5 at 12 stations in 2 seasons, 9 features: 20 days of each to learn from

Features to mean 0 and variance 1 over the training rows, targets to variance 1; an intercept of each task, free of
the prior. Parameters by 3 folds within the training rows. NMSE averaged over tasks; for conjoint the root mean
squared error of ratings.
"""

import argparse
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import load_beijing_air

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.fetr._methods import choice, methods, quietly
from benchmarks.fetr._tables import table
from matrixlearn.multitask import Rows, normalized_error


def some_of_each(task, size, seed):
    rng = np.random.RandomState(seed)
    return np.concatenate([rng.permutation(np.flatnonzero(task == name))[:size] for name in np.unique(task)])


def tasks_of(name, data):
    if name == "beijing":
        air = load_beijing_air()
        return air.X, air.y, np.char.add(air.station, air.is_winter.astype(str))
    names, values = table(data / "parkinsons/parkinsons_updrs.csv.gz")
    features = [k for k, name in enumerate(names) if k not in (0, 1, 2, 4, 5)]
    return values[:, features], values[:, names.index("motor_UPDRS")], values[:, 0].astype(int)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", help="methods, by their names in the table")
    given = parser.parse_args()
    header(f"Populations as tasks, {given.splits} splits")
    design = table(given.data / "conjoint/design.csv.gz")[1][:, 2:]
    ratings = table(given.data / "conjoint/ratings.csv.gz")[1][:, 1:].T
    print("\nconjoint, RMSE of the ratings of profiles 17 to 20")
    for name, model in methods(only=given.only).items():
        quietly(model, design[:16], ratings[:16])
        error = np.sqrt(np.mean((model.predict(design[16:]) - ratings[16:]) ** 2))
        print(f"{name:22} {error:.4f}  {choice(model)}", flush=True)
    for data in ("beijing", "parkinsons"):
        X, y, task = tasks_of(data, given.data)
        print(f"\n{data}, NMSE")
        rows = Rows(X, y, np.unique(task, return_inverse=True)[1], len(np.unique(task)))
        for name, model in methods(only=given.only).items():
            errors = []
            for seed in range(given.splits):
                train = some_of_each(task, 20, seed)
                test = np.setdiff1d(np.arange(len(X)), train)
                Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
                size = y[train].std()
                quietly(model, Z[train], y[train] / size, task[train])
                predicted = size * model.predict(Z[test], task[test])
                errors.append(normalized_error(rows.take(test), predicted, of=rows))
            print(f"{name:22} {np.mean(errors):.4f} +- {np.std(errors):.4f}  {choice(model)}", flush=True)


if __name__ == "__main__":
    main()
