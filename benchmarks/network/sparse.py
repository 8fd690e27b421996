"""Sparse tasks on a graph: what the graph adds to GSpartan, on Colorado's stations.

    python benchmarks/network/sparse.py [colorado] [--draws 2] [--data FOLDER]

Rank 10. Only the product of `mix` and `base` matters, as a column of U may grow while that of V shrinks: one grid for
both. The grid of `tie` holds 0, no Laplacian; all choices by the validation months of `learning.py`, errors of the test
months. Graphs: four neighbours by place and height, and the paper's inverse variogram of the first 240 months.
"""

import argparse
from pathlib import Path

import numpy as np
from matrixlearn_network import GSpartan, complete, neighbours, variogram

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.network.learning import colorado, report

RANK, ITERATIONS = 10, 30
PENALTIES, TIES = (0.3, 0.7, 1.0, 1.5, 2.0, 3.0), (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def choose(data, graphs, error, months):
    """Name -> (validation, test, penalty, tie, gap) of the least validation error."""
    X, y, task = data
    best = {}
    for name, graph in {"no Laplacian": complete(len(np.unique(task))), **graphs}.items():
        found = []
        for tie in (0.0,) if name == "no Laplacian" else TIES:
            for penalty in PENALTIES:
                problem = GSpartan(X, y, graph, RANK, penalty, penalty, months * tie, task=task)
                solution = ml.solve(problem, tol=1e-4, max_iter=ITERATIONS)
                found.append((*error(problem.weights(solution)), penalty, tie, solution.gap))
        best[name] = min(found)
    return best


def run_colorado(folder, draws):
    Y, F, where, m = colorado(folder)
    graphs = {"neighbours": neighbours(where, 4), "variogram": variogram(Y[:240])}
    later = np.arange(240, len(Y))
    variance = np.nanvar(Y[later])
    for months in (12, 36):
        rows = []
        for seed in range(draws):
            rng, train, held = np.random.default_rng(seed), np.zeros(Y.shape, bool), np.zeros(Y.shape, bool)
            for k in range(m):
                order = rng.permutation(np.flatnonzero(~np.isnan(Y[:240, k])))
                train[order[:months], k], held[order[months : months + 24], k] = True, True
            t, s = np.nonzero(train)

            def error(W, held=held):
                off = (np.einsum("tmd,dm->tm", F, W) - Y) ** 2
                return np.mean(off[held]), np.nanmean(off[later]) / variance

            rows.append(choose((F[t, s], Y[t, s], s), graphs, error, months))
            for name, found in rows[-1].items():
                print(
                    f"  {months} months, draw {seed}, {name}: test {found[1]:.3f}, penalty {found[2]:g}, tie "
                    f"{found[3]:g}, blockwise gap {found[4]:.0e}",
                    flush=True,
                )
        report(f"{months} months", rows)


def main() -> None:
    runs = {"colorado": run_colorado}
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=list(runs))
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    header("sparse tasks on a graph, mean of draws (standard deviation)")
    for what in given.what:
        runs[what](given.data, given.draws)


if __name__ == "__main__":
    main()
