"""When to accelerate: passes over the data and CPU seconds to a certified gap of 1e-6, as kappa grows past n.

    python benchmarks/erm/cases.py [--draws 3] [--spread 100] [--figure docs/figures/erm_cases.png]

n = 200 unit rows in 15 dimensions, whose columns shrink from 1 to 1 / SPREAD before (1: even, and the data themselves
are strongly convex, which primal methods gain from and dual ones do not), labels the sign of w.a + noise, the square
loss and a ridge; stochastic methods look at one row a step, as printed. A pass is n gradients of one sample, or one
product with A and one with A'.
"""

import argparse
import statistics
import time

import numpy as np
from matrixlearn_erm import APCG, ERM, PDHG, SDCA, SPDC, SVRG, Katyusha, Newton

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.penalties import ElasticNet

TOL, LIMIT = 1e-6, 600
RATIOS = (0.1, 1.0, 10.0, 100.0, 1000.0)
# engine, passes a step of the loop, colour, dashes
ENGINES = (
    (SVRG(batch=1), 3, "C0", "-"),
    (SDCA(batch=1), 1, "C1", "-"),
    (Katyusha(batch=1), 3, "C0", "--"),
    (APCG(batch=1), 1, "C1", "--"),
    (SPDC(batch=1), 1, "C2", "--"),
    (PDHG(), 10, "C4", ":"),
    (Newton(), 1, "k", "-"),
)


def drawn(ratio, seed, spread, n=200, d=15):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * np.geomspace(1, 1 / spread, d)
    A /= np.linalg.norm(A, axis=1)[:, None]
    b = np.sign(A @ (3 * rng.standard_normal(d)) + 0.3 * rng.standard_normal(n))
    return ERM(A, b, "square", ElasticNet(1 / (ratio * n)))


def measure(engine, passes, ratio, draws, spread):
    """Medians of passes and seconds, inf where the gap was not reached."""
    counts, times = [], []
    for seed in range(draws):
        problem = drawn(ratio, seed, spread)
        began = time.process_time()
        found = ml.solve(problem, method=engine, tol=TOL, max_iter=LIMIT // passes)
        reached = found.gap <= TOL
        inner = 5 if engine.name == "sdca" else 1  # its step of the loop is one pass over all rows and four over some
        counts.append(found.iterations * passes * inner if reached else np.inf)
        times.append(time.process_time() - began if reached else np.inf)
    return statistics.median(counts), statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--spread", type=float, default=100.0)
    parser.add_argument("--figure")
    given = parser.parse_args()
    header(f"when to accelerate: passes / CPU seconds to a certified gap of 1e-6, spread {given.spread:g}")
    for engine, *_ in ENGINES:  # numba compiles before clocks run
        ml.solve(drawn(1.0, 0, 1.0), method=engine, tol=0.1, max_iter=2)
    print(f"{'kappa / n':>10} " + " ".join(f"{engine.name:>16}" for engine, *_ in ENGINES))
    table = {}
    for ratio in RATIOS:
        row = [measure(engine, passes, ratio, given.draws, given.spread) for engine, passes, *_ in ENGINES]
        table[ratio] = row
        print(f"{ratio:10g} " + " ".join(f"{count:7g} {seconds:8.4f}" for count, seconds in row))
    if given.figure:
        draw(table, given.figure)


def draw(table, path):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for column, (axis, what) in enumerate(zip(axes, ("passes over the data", "CPU seconds"), strict=True)):
        for k, (engine, _, colour, dashes) in enumerate(ENGINES):
            values = [table[ratio][k][column] for ratio in RATIOS]
            shown = [(r, v) for r, v in zip(RATIOS, values, strict=True) if np.isfinite(v)]
            axis.plot(*zip(*shown, strict=True), color=colour, ls=dashes, marker="o", ms=4, label=engine.name)
        axis.axvline(1.0, color="C7", lw=0.8)
        axis.set(xscale="log", yscale="log", xlabel="$\\kappa / n$", ylabel=f"{what} to a certified gap of 1e-6")
    axes[0].set_title("plain methods solid, accelerated ones dashed")
    axes[1].set_title("what a pass costs decides")
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
