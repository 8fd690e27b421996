"""Table 1 of 004, columns SARCOS: mean squared error of seven torques, on the part of the data at hand.

    python benchmarks/fetr/sarcos.py [--splits 5] [--train 3000] [--data FOLDER]

Only the 4,449 rows of the official test file are to be had: they are split at random (seed 0, 1, ...), ``--train``
of them for training, so that the errors are comparable with one another and not with the paper's 44,484 training
rows. Features to mean 0 and variance 1 over the training rows, torques centred by an intercept of each. Two tables:
torques in their own units, as published, and each torque scaled to variance 1 (errors in units of its variance).
Parameters are chosen by 3 folds within the training rows. Random-feature and network variants: fetr_nn.py.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.fetr._methods import choice, methods, quietly


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--train", type=int, nargs="+", default=[150, 3000])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", help="methods, by their names in the table")
    given = parser.parse_args()
    with np.load(given.data / "sarcos/sarcos_inv_test.npz") as file:
        X, Y = file["X"], file["Y"]
    header(f"SARCOS, {given.splits} splits of the {len(X)} test rows")
    for rows in given.train:
        for scaled in (False, True):
            units = "variance" if scaled else "torque^2"
            print(f"\n{rows} training rows, errors in {units}")
            torques = " ".join(f"{k:>7}" for k in range(1, 8))
            print(f"{'method':22} {torques}     nMSE    CPU s  last choice")
            for name, model in methods(only=given.only).items():
                began, errors, nmse = time.process_time(), [], []
                for seed in range(given.splits):
                    order = np.random.RandomState(seed).permutation(len(X))
                    train, test = order[:rows], order[rows:]
                    A = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
                    size = Y[train].std(axis=0) if scaled else np.ones(7)
                    B = Y / size
                    quietly(model, A[train], B[train])
                    squared = np.mean((model.predict(A[test]) - B[test]) ** 2, axis=0)
                    errors.append(squared)
                    nmse.append(np.mean(squared / B[test].var(axis=0)))
                columns = " ".join(f"{e:7.3f}" for e in np.mean(errors, axis=0))
                seconds = time.process_time() - began
                print(f"{name:22} {columns}   {np.mean(nmse):.4f} {seconds:8.1f}  {choice(model)}", flush=True)


if __name__ == "__main__":
    main()
