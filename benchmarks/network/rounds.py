"""Rounds of messages until the objective is near its least, beside the figures of the design.

    python benchmarks/network/rounds.py [table|dmtl|faults] [--draws 5]

table   20 machines, 40 rows, 10 features, square loss: P - P* <= 1e-3 / 1e-6 of P(0) - P*, median of draws
dmtl    20 sensors, 30 rows, 6 features: ||W - W*|| <= 1e-3 / 1e-6 of ||W*||
faults  ring of 12, BOL and GD with late and lost messages: the same in P, to 1e-3
"""

import argparse

import numpy as np
from matrixlearn_network import BOL, BSR, DMTL, GradientDescent, GraphMultitask, Krylov

from benchmarks.network._simulated import graph_named, rounds_to, simulated
from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.machines import Local

ENGINES = {
    "GD": GradientDescent(), "BSR": BSR(), "BOL": BOL(), "own CG": Krylov("own"), "mean-Gram CG": Krylov("mean"),
    "krylov": Krylov(),
}  # fmt: skip
TABLE = [  # eta, tau, graph, uneven, the design's GD, BSR, BOL, own CG, mean-Gram CG
    (0.1, 1, "ring", False, "16/36 11/23 13/30 8/15 3/5"),
    (0.1, 1, "erdos", False, "29/61 13/24 27/56 11/20 2/4"),
    (0.1, 1, "star", False, "34/78 12/24 33/75 6/11 2/4"),
    (0.1, 1, "complete", False, "41/85 11/24 39/82 7/12 2/3"),
    (0.1, 10, "ring", False, "53/114 13/26 52/112 21/41 2/3"),
    (0.1, 10, "complete", False, "135/273 9/21 135/273 7/12 1/2"),
    (0.1, 0.1, "ring", False, "8/20 9/20 4/8 3/6 3/6"),
    (1e-3, 0.1, "ring", True, "105/439 294/664 8/52 5/17 4/7"),
    (1e-3, 0.1, "complete", True, "125/487 360/765 35/163 12/16 3/6"),
    (1e-3, 1e-3, "ring", True, "169/531 191/562 1/5 1/3 5/10"),
]


def table(draws):
    print(f"{'':34}" + "".join(f"{name:>22}" for name in ENGINES))
    for eta, tau, name, uneven, figures in TABLE:
        row = f"eta {eta:g} tau {tau:g} {name}{' uneven' if uneven else ''}"
        design = [*figures.split(), "5/8"]
        cells = []
        for (label, engine), figure in zip(ENGINES.items(), design, strict=True):
            found = []
            for seed in range(draws):
                problem = simulated(graph_named(name, 20, seed), eta, tau, uneven=uneven, seed=seed)
                found.append(rounds_to(problem, engine, (1e-3, 1e-6)))
            here = np.median(found, axis=0)
            wanted = np.array([float(part) for part in figure.split("/")])
            room = 1.0 if "CG" in label else 0.0 if label == "krylov" else 0.15 * wanted
            mark = "" if np.all(here <= np.maximum(wanted + room, wanted)) else "!"
            cells.append(f"{here[0]:.0f}/{here[1]:.0f} ({figure}){mark}")
        print(f"{row:34}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    print("in brackets the design's; ! is more than 15 % above it (CG: more than one round; krylov: above 5/8)")


def sensors(m, lam, graph, n, d, seed):
    """Sensors of the fourth paper: w = common + 0.3 Gaussian, noise 0.3; its lambda is n tau."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((d, 1)) + 0.3 * rng.standard_normal((d, m))
    X = rng.standard_normal((m, n, d))
    y = np.einsum("mnd,dm->mn", X, W) + 0.3 * rng.standard_normal((m, n))
    return GraphMultitask(list(X), list(y), graph, 0.0, lam / n)


def dmtl(draws):
    design = {"ring": "2/5 7/17 36/93 316/836", "complete": "4/12 24/77 227/723 2253/inf"}
    for name, figures in design.items():
        cells = []
        for lam, figure in zip((1, 10, 100, 1000), figures.split(), strict=True):
            found = []
            for seed in range(draws):
                problem = sensors(20, lam, graph_named(name, 20), 30, 6, seed)
                found.append(from_least_squares(problem, (1e-3, 1e-6), most=2500 if lam == 1000 else 1500))
            here = np.median(found, axis=0)
            cells.append(f"{here[0]:.0f}/{here[1]:.0f} ({figure})")
        print(f"{name:10}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


def from_least_squares(problem, parts, most):
    """Rounds of DMTL from least squares on each machine, until ||W - W*|| is at most each part of ||W*||."""
    grams, cross = problem.held.map(lambda block: block.moments)
    m, d, _ = grams.shape
    H = np.kron(problem.tau * problem.graph.laplacian.toarray(), np.eye(d))
    for i in range(m):
        H[i * d : (i + 1) * d, i * d : (i + 1) * d] += grams[i]
    best = np.linalg.solve(H, cross.reshape(-1)).reshape(m, d)
    W = np.linalg.solve(grams, cross[:, :, None])[:, :, 0]
    found, goals = [], sorted(parts, reverse=True)
    engine = DMTL()
    state = engine.init(problem, Incumbent(problem).offered(Proposal(X=W.T)))
    for t in range(1, most + 1):
        state = engine.step(problem, state, None)
        off = np.linalg.norm(state.W - best) / np.linalg.norm(best)
        while len(found) < len(goals) and off <= goals[len(found)]:
            found.append(t)
        if len(found) == len(goals):
            break
    return found + [np.inf] * (len(goals) - len(found))


def faults(draws):
    design = {(0, 0.0): "18 22", (3, 0.0): "43 48", (10, 0.0): "99 104", (0, 0.5): "35 39", (3, 0.5): "60 65"}
    for (delay, loss), figures in design.items():
        cells = []
        for engine, figure in zip((BOL(False), GradientDescent(False)), figures.split(), strict=True):
            found = []
            for seed in range(draws):
                local = Local(delay, loss, seed)
                problem = simulated(graph_named("ring", 12), 0.1, 1.0, seed=seed, machines=local)
                found.append(rounds_to(problem, engine, (1e-3,))[0])
            cells.append(f"{np.median(found):.0f} ({figure})")
        print(f"late by <= {delay:2}, lost {loss:3.0%}   BOL {cells[0]:>10}   GD {cells[1]:>10}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="table", choices=("table", "dmtl", "faults"))
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    {"table": table, "dmtl": dmtl, "faults": faults}[given.what](given.draws)
