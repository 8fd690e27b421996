"""Table 1 of 004, columns SARCOS: mean squared error of seven torques, on the part of the data at hand.

    python benchmarks/fetr/sarcos.py [--splits 5] [--train 3000] [--data PATH]

PATH is a folder with sarcos_inv_test.mat of gaussianprocess.org/gpml/data, or that file. Where sarcos_inv.mat is beside
it, the 44,484 training rows and the official test rows give a table of their own, comparable with the paper. The test
rows alone are split at random (seed 0, 1, ...), ``--train`` of them for training: errors that compare with one another
only. Features to mean 0 and variance 1 over the training rows, torques centred by an intercept of each. Two tables:
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
from benchmarks.fetr._tables import sarcos, sarcos_training


def split(n: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from, and the others."""
    order = np.random.RandomState(seed).permutation(n)
    return order[:rows], order[rows:]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--train", type=int, nargs="+", default=[150, 3000])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", help="methods, by their names in the table")
    given = parser.parse_args()
    X, Y = sarcos(given.data)
    training = sarcos_training(given.data)
    header(f"SARCOS, {given.splits} splits of the {len(X)} test rows")
    splits = [(rows, [split(len(X), rows, seed) for seed in range(given.splits)], X, Y) for rows in given.train]
    if training is not None:
        every = len(training[0])
        X, Y = (np.concatenate(pair) for pair in zip(training, (X, Y), strict=True))
        splits.append((every, [(np.arange(every), np.arange(every, len(X)))], X, Y))
    for rows, parts, X, Y in splits:
        for scaled in (False, True):
            units = "variance" if scaled else "torque^2"
            print(f"\n{rows} training rows, errors in {units}")
            torques = " ".join(f"{k:>7}" for k in range(1, 8))
            print(f"{'method':22} {torques}     nMSE    CPU s  last choice")
            for name, model in methods(only=given.only).items():
                began, errors, nmse = time.process_time(), [], []
                for train, test in parts:
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
