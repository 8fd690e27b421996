"""What `FETRRegressorCV` costs on School (139 tasks, 15,362 rows, 27 features), with its default grid, 5 folds, seed 0.

    python benchmarks/fetr/cv.py [--path-tol 1e-4] [--data FOLDER]

CPU seconds of one thread; solves and iterations; the floor is one fit of each eta and pair of bounds, from its own
first point to the path's gap, times the folds.
"""

import argparse
import time
from pathlib import Path

import matrixlearn_fetr.estimator as estimator
from matrixlearn_fetr import FETRRegressor, FETRRegressorCV

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.fetr._tables import table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--path-tol", type=float, default=1e-4)
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    header(f"School, FETRRegressorCV(path_tol={given.path_tol:g})")
    names, values = table(given.data / "school/school.csv.gz")
    task, y = values[:, 0].astype(int), values[:, -1]
    X = values[:, [names.index(f"x{k}") for k in range(1, 28)]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    iterations, solve = [], estimator.solve

    def counted(*args, **options):
        solution = solve(*args, **options)
        iterations.append(solution.iterations)
        return solution

    estimator.solve = counted
    print(f"{'mean':8} {'CPU s':>7} {'solves':>7} {'iter.':>7} {'floor s':>8} {'floor iter.':>12}  choice, error")
    for mean in ("shared", "zero"):
        iterations.clear()
        began = time.process_time()
        model = FETRRegressorCV(mean=mean, path_tol=given.path_tol).fit(X, y, task)
        spent, solves, steps = time.process_time() - began, len(iterations), sum(iterations)
        iterations.clear()
        began = time.process_time()
        for lower, upper in model.bounds:
            for eta in model.etas:
                FETRRegressor(eta, lower=lower, upper=upper, mean=mean, tol=given.path_tol).fit(X, y, task)
        floor, floor_steps = 5 * (time.process_time() - began), 5 * sum(iterations)
        chosen = f"eta={model.eta_:g} u={model.upper_:g} {model.error_path_.mean(axis=2).min():.5f}"
        print(f"{mean:8} {spent:7.1f} {solves:7d} {steps:7d} {floor:8.1f} {floor_steps:12d}  {chosen}", flush=True)


if __name__ == "__main__":
    main()
