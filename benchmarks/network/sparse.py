"""Sparse tasks on a graph: what the graph adds to GSpartan, and what each part of dJSMT adds to a filter by itself.

    python benchmarks/network/sparse.py [colorado|streams] [--draws 2] [--data FOLDER]

colorado   NMSE of GSpartan on the test months, with and without the Laplacian
streams    mean-square deviation of 20 nodes, simulated

Colorado: rank 10. Only the product of `mix` and `base` matters, as a column of U may grow while that of V shrinks: one
grid for both. The grid of `tie` holds 0, no Laplacian; all choices by the validation months of `learning.py`, errors of
the test months. Graphs: four neighbours by place and height, and the paper's inverse variogram of the first 240 months.

Streams: d = 30, four features used by all, noise 0.1, u ~ N(0, I), mu = 0.02, iota = 50, epsilon = 10, a random graph
of degree 4. The weights of node k are c + s N(0, 1) on the support, c ~ N(0, 1): the same s = 0, similar 0.1, different
1; two groups have a c each, at random. tau and gamma, 0 among them, have the least deviation on 4 draws and are
reported on 8 fresh ones, in dB, with standard errors. A draw is its own part of one large graph: a step serves all.
"""

import argparse
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
from matrixlearn_network import GraphWarning, GSpartan, JointlySparseLearner, complete, neighbours, variogram
from scipy.linalg import block_diag

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


# -- streams ----------------------------------------------------------------------------------------

NODES, FEATURES, SUPPORT, STEPS, STEADY = 20, 30, 4, 1500, 500
TAUS = (0.0, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
GAMMAS = (0.0, 3e-5, 1e-4, 3e-4, 1e-3)
KINDS = ("the same", "similar", "two groups", "different")


def drawn(kind, seed):
    """A graph and the weights of its nodes, by node."""
    rng = np.random.default_rng(seed)
    graph = nx.to_numpy_array(nx.random_regular_graph(4, NODES, seed=seed))
    spread = {"similar": 0.1, "different": 1.0}.get(kind, 0.0)
    centres = rng.standard_normal((2 if kind == "two groups" else 1, SUPPORT))
    own = centres[rng.integers(0, len(centres), NODES)] + spread * rng.standard_normal((NODES, SUPPORT))
    W = np.zeros((NODES, FEATURES))
    W[:, rng.choice(FEATURES, SUPPORT, replace=False)] = own
    return graph, W


def deviations(kind, seeds, tau, gamma, penalty, combiners):
    """Steady-state mean-square deviation of each draw."""
    graphs, truths = zip(*(drawn(kind, seed) for seed in seeds), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)  # the draws are apart
        learner = JointlySparseLearner(block_diag(*graphs), 0.02, tau, gamma, penalty, combiners)
    truth, rng = np.vstack(truths), np.random.default_rng(seeds)
    total = np.zeros(len(seeds))
    for step in range(STEPS):
        u = rng.standard_normal(truth.shape)
        learner.step(u, np.sum(u * truth, axis=1) + 0.1 * rng.standard_normal(len(truth)))
        if step >= STEPS - STEADY and step % 10 == 0:
            off = np.sum((learner.weights.T - truth) ** 2, axis=1)
            total += off.reshape(len(seeds), NODES).mean(axis=1) / (STEADY / 10)
    return total


def run_streams(_, draws):
    choosing, fresh = list(range(4)), list(range(100, 108))
    for kind in KINDS:
        cells = []
        for combiners in ("fixed", "adaptive"):
            for penalty in (None, "l21", "rw", "l20"):
                grid = [(tau, gamma) for tau in TAUS for gamma in (GAMMAS if penalty else (0.0,))]
                found = [(np.mean(deviations(kind, choosing, *at, penalty or "l21", combiners)), at) for at in grid]
                _, (tau, gamma) = min(found)
                each = 10 * np.log10(deviations(kind, fresh, tau, gamma, penalty or "l21", combiners))
                name = {"fixed": "FC", "adaptive": "AC"}[combiners] + (f" + {penalty}" if penalty else "")
                cells.append(f"{name} {each.mean():.1f} +- {each.std(ddof=1) / np.sqrt(8):.1f} ({tau:g}, {gamma:g})")
                print(f"  {kind}: {cells[-1]}", flush=True)
        alone = 10 * np.log10(deviations(kind, fresh, 0.0, 0.0, "l21", "fixed"))
        print(f"{kind:12} LMS {alone.mean():.1f}   " + "   ".join(cells), flush=True)


def main() -> None:
    runs = {"colorado": run_colorado, "streams": run_streams}
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
