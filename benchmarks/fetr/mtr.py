"""Average RRMSE on the Mulan multi-target sets: FETR and its rivals, scikit-learn's, trees and a Gaussian process.

    python benchmarks/fetr/mtr.py [--folds 5] [--sets andro edm ...] [--data FOLDER]

RRMSE of a target: root of (sum of squared errors / sum of squares about the training mean), over the held-out rows
of all folds; the average over targets. Features and targets to mean 0 and variance 1 over the training rows;
constant features are left out. Linear methods choose their parameters by 3 folds within the training rows
(scikit-learn's by its own CV classes, 3 folds); the forest has 300 trees; the Gaussian process (RBF and white noise,
one for all targets) is fitted where there are at most 500 rows.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import MultiTaskElasticNetCV, MultiTaskLassoCV, RidgeCV

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.fetr._methods import methods, quietly
from benchmarks.fetr._tables import table

TARGETS = {"andro": 6, "atp1d": 6, "atp7d": 6, "edm": 2, "enb": 2, "jura": 3, "oes10": 16, "oes97": 16}
TARGETS |= {"sf1": 3, "sf2": 3, "slump": 3, "wq": 14}


def rivals():
    kernel = ConstantKernel(1.0) * RBF(3.0) + WhiteKernel(0.1)
    return {
        "RidgeCV": RidgeCV(alphas=10.0 ** np.arange(-2, 4.5, 0.5)),
        "MultiTaskLassoCV": MultiTaskLassoCV(cv=3, alphas=30),
        "MultiTaskElasticNetCV": MultiTaskElasticNetCV(cv=3, alphas=30, l1_ratio=[0.1, 0.5, 0.9]),
        "ExtraTrees": ExtraTreesRegressor(300, random_state=0),
        "Gaussian process": GaussianProcessRegressor(kernel, random_state=0),
    }


def nominal_to_columns(X):
    """sf1 and sf2 have nominal inputs: one column for each value but the first."""
    return np.column_stack([X[:, [k]] == np.unique(X[:, k])[1:] for k in range(X.shape[1])]).astype(float)


def rrmse(model, X, Y, folds):
    order = np.random.RandomState(0).permutation(len(X)) % folds
    errors = np.zeros(Y.shape[1])
    base = np.zeros(Y.shape[1])
    for k in range(folds):
        train, test = order != k, order == k
        spread = X[train].std(axis=0)
        Z = ((X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]
        mean, size = Y[train].mean(axis=0), Y[train].std(axis=0)
        B = (Y - mean) / np.where(size > 0, size, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            quietly(model, Z[train], B[train])
        errors += np.sum((model.predict(Z[test]) - B[test]) ** 2, axis=0)
        base += np.sum(B[test] ** 2, axis=0)
    return float(np.mean(np.sqrt(errors / base)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=list(TARGETS))
    parser.add_argument("--skip", nargs="+", default=["pooled ridge"], help="pooling makes no sense between targets")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", help="methods, by their names in the table")
    given = parser.parse_args()
    header(f"Mulan multi-target sets, {given.folds} folds: average RRMSE")
    every = methods() | rivals()
    models = {name: every[name] for name in given.only or every if name not in given.skip}
    print(f"{'set':8} {'n':>5} {'d':>4} {'m':>3}  " + " ".join(f"{name[:11]:>11}" for name in models))
    results = []
    for name in given.sets:
        _, values = table(given.data / f"mtr/{name}.csv.gz")
        X, Y = values[:, : -TARGETS[name]], values[:, -TARGETS[name] :]
        if name in {"sf1", "sf2"}:
            X = nominal_to_columns(X)
        row = []
        print(f"{name:8} {len(X):5} {X.shape[1]:4} {Y.shape[1]:3}  ", end="", flush=True)
        for label, model in models.items():
            row.append(np.nan if label == "Gaussian process" and len(X) > 500 else rrmse(model, X, Y, given.folds))
            print(f"{row[-1]:11.4f} ", end="", flush=True)
        print()
        results.append(row)
    ranks = np.array([np.argsort(np.argsort(np.nan_to_num(row, nan=np.inf))) + 1.0 for row in results])
    print(f"{'mean rank':24}" + " ".join(f"{rank:11.2f}" for rank in ranks.mean(axis=0)))


if __name__ == "__main__":
    main()
