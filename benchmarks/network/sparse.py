"""Sparse tasks on a graph: what the graph adds to GSpartan, and what each part of dJSMT adds to a filter by itself.

    python benchmarks/network/sparse.py [colorado|streams|solvers] [--draws 2] [--data FOLDER]

colorado   NMSE of GSpartan on the test months, with and without the Laplacian
streams    mean-square deviation of 20 nodes, simulated
solvers    rounds of GSpartan's steps with and without what quickens them; JointlySparse beside Clarabel

Colorado: rank 10. Only the product of `mix` and `base` matters, as a column of U may grow while that of V shrinks: one
grid for both. The grid of `tie` holds 0, no Laplacian; all choices by the validation months of `learning.py`, errors of
the test months. Graphs: four neighbours by place and height, and the paper's inverse variogram of the first 240 months.

Streams: d = 30, four features used by all, noise 0.1, u ~ N(0, I), mu = 0.02, iota = 50, epsilon = 10, a random graph
of degree 4. The weights of node k are c + s N(0, 1) on the support, c ~ N(0, 1): the same s = 0, similar 0.1, different
1; two groups have a c each, at random. tau and gamma, 0 among them, have the least deviation on 4 draws and are
reported on 8 fresh ones, in dB, with standard errors. A draw is its own part of one large graph: a step serves all.
"""

import time
import warnings

import networkx as nx
import numpy as np
from matrixlearn_network import (
    BlockCoordinateDescent,
    GraphWarning,
    GSpartan,
    JointlySparse,
    JointlySparseLearner,
    complete,
    neighbours,
    variogram,
)
from matrixlearn_network.factors import Factors
from scipy.linalg import block_diag

import matrixlearn as ml
from benchmarks.network._tables import report, run_named
from benchmarks.network.learning import colorado

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


# -- solvers ----------------------------------------------------------------------------------------


class Plain(BlockCoordinateDescent):
    """Without extrapolation."""

    def _moved(self, problem, state, ahead):
        return super()._moved(problem, state, 0.0)


def simulated(seed, m, n, d, support):
    """Tasks on a random graph of degree 4 that use the same features."""
    rng = np.random.default_rng(seed)
    W = np.zeros((d, m))
    W[:support] = rng.standard_normal((support, 1)) + 0.3 * rng.standard_normal((support, m))
    X = rng.standard_normal((m, n, d))
    y = np.einsum("mnd,dm->mn", X, W) + 0.3 * rng.standard_normal((m, n))
    return list(X), list(y), nx.to_numpy_array(nx.random_regular_graph(4, m, seed=seed))


def run_solvers(_, draws):
    balance = Factors.balance
    for name, engine, shared in (
        ("steps alone", Plain(rounds=1), False),
        ("extrapolated", BlockCoordinateDescent(rounds=1), False),
        ("balanced", Plain(rounds=1), True),
        ("both", BlockCoordinateDescent(rounds=1), True),
    ):
        Factors.balance = balance if shared else lambda self, terms: np.ones(self.U.shape[1])
        rounds = []
        for seed in range(5):
            solution = ml.solve(
                GSpartan(*simulated(seed, 30, 20, 12, 4), 4, 1.0, 1.0, 1.0), engine, 1e-6, max_iter=4000
            )
            rounds.append(solution.iterations if solution.status == "stationary" else np.inf)
        print(f"GSpartan, 30 x 20 x 12, rank 4, rounds to 1e-6, {name}: {sorted(rounds)}", flush=True)
    Factors.balance = balance
    for m, n, d, eta in ((20, 40, 30, 0.02), (20, 40, 30, 0.2), (60, 20, 30, 0.02), (200, 20, 20, 0.05)):
        problem = JointlySparse(*simulated(0, m, n, d, 4), 0.1, eta)
        began = time.process_time()
        solution = ml.solve(problem, tol=1e-6)
        ours, began = time.process_time() - began, time.process_time()
        line = f"JointlySparse {m} x {n} x {d}, eta {eta}: {ours:.2f} s, {20 * solution.iterations} iterations"
        if m <= 60:
            problem.reference().solve(solver="CLARABEL")
            peer = time.process_time() - began
            line += f"; Clarabel by cvxpy {peer:.2f} s, {peer / ours:.0f} x"
        print(f"{line}; gap {solution.gap:.0e}", flush=True)


def main() -> None:
    runs = {"colorado": run_colorado, "streams": run_streams, "solvers": run_solvers}
    run_named(runs, "sparse tasks on a graph, mean of draws (standard deviation)", 2)


if __name__ == "__main__":
    main()
