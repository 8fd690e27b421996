"""Figures 6.1 to 6.4 of the thesis, redrawn with every engine, certified gaps, and the baselines beside.

    python benchmarks/thesis_figures.py [--figures 6.1 6.2 6.3 6.4] [--draws 20] [--out docs/figures]

6.1  CPU seconds to a certified gap of 10 % (the thesis's delta) against m + n, every engine that gets there; the
     interior point also to 1e-6. Artificial data, N = 200, m : n = 2 : 3.
6.2  ||M(z)|| at m = 50, n = 150: uniform, mmw at 10 %, the certified optimum.
6.3  RMSE of weighted kernel ridge regression (linear kernel: the one in which the discrepancy is measured; a constant
     feature added) against n at m = 100: uniform, discrepancy (capped at 2 and exact), trained on the target.
6.4  The same on reviews, books -> kitchen: 500 + 200 labelled, 3,000 features, n = 300 ... 1300; the thesis stopped at
     800 and could not pass 1000. Points: mean and standard error over the draws.

One BLAS thread; the ridge is chosen, as in the thesis, for the model that is trained on the target.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _common import header, thesis_samples
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml

RIDGES = 10.0 ** np.arange(-3, 3)
"""lambda of sum_i z_i (h(x_i) - y_i)^2 + lambda ||h||^2 on features of unit mean square norm."""

LIMIT = 20.0
"""CPU seconds after which an engine counts as not having got there."""


def cpu(problem, method, tol, limit=LIMIT):
    """(CPU seconds or nan, solution)."""
    start = time.process_time()
    solution = ml.solve(
        problem, method, tol=tol, callback=lambda event: time.process_time() - start > limit, time_limit=8 * limit
    )
    return (time.process_time() - start if solution.gap <= tol else np.nan), solution


def ridge(X, y, z, T, ridges=RIDGES):
    """Predictions on T for each ridge, (ridges, len(T)): weighted, by the Gram matrix."""
    root = np.sqrt(z)[:, None]
    w, V = np.linalg.eigh(root * (X @ X.T) * root.T)
    inside = V.T @ (root[:, 0] * y)
    across = (T @ X.T) * root[:, 0] @ V
    return np.stack([across @ (inside / (np.maximum(w, 0) + r)) for r in ridges])


def figure_6_1(draws, sizes=(50, 100, 200, 400)):
    runs = [("interior-point", 1e-6)]
    runs += [
        (name, 0.1)
        for name in ml.methods(Discrepancy(*thesis_samples(4, 6, 8)))
        if name not in {"reference", "multiplicative-weights"}
    ]
    seconds = np.full((len(runs), len(sizes), draws), np.nan)
    for k, (method, tol) in enumerate(runs):
        for s, size in enumerate(sizes):
            for draw in range(draws):
                problem = Discrepancy(*thesis_samples(2 * size // 5, 3 * size // 5, 200, seed=draw))
                seconds[k, s, draw], _ = cpu(problem, method, tol)
                if np.isnan(seconds[k, s, draw]):
                    break  # the others would take as long
            done = seconds[k, s][np.isfinite(seconds[k, s])]
            if len(done) < draws:
                seconds[k, s:] = np.nan
                print(f"6.1 {method} {tol:g}: not within {LIMIT:g} CPU s at m + n = {size}", flush=True)
                break
            print(f"6.1 {method} {tol:g}: m + n = {size}: {done.mean():.3f} s (sd {done.std():.3f})", flush=True)
    return runs, sizes, seconds


def draw_6_1(axes, result):
    runs, sizes, seconds = result
    for k, (method, tol) in enumerate(runs):
        mean = seconds[k].mean(axis=1)
        if np.any(np.isfinite(mean)):
            axes.errorbar(sizes, mean, seconds[k].std(axis=1), marker="o", ms=4, capsize=2, label=f"{method}, {tol:g}")
    axes.set(xscale="log", yscale="log", xlabel="m + n", ylabel="CPU seconds to the certified gap", title="6.1  time")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.legend(fontsize=7, frameon=False, ncols=2)


def figure_6_2(draws):
    values = np.empty((3, draws))
    for draw in range(draws):
        problem = Discrepancy(*thesis_samples(50, 150, 200, seed=100 + draw))
        values[0, draw] = problem.uniform_value()
        values[1, draw] = ml.solve(problem, "mmw", tol=0.1, time_limit=60).upper
        values[2, draw] = ml.solve(problem, tol=1e-6).upper
    means = values.mean(axis=1)
    print(f"6.2 uniform {means[0]:.3f}, mmw at 10 % {means[1]:.3f}, optimum {means[2]:.3f}", flush=True)
    return values


def draw_6_2(axes, values):
    for value, label, style in zip(
        values, ("uniform", "mmw at 10 %", "certified optimum"), ("r-", "g:", "k-"), strict=True
    ):
        axes.plot(np.arange(1, len(value) + 1), value, style, label=label)
    axes.set(xlabel="realization", ylabel=r"$\|M(z)\|_2$", title="6.2  value, m = 50, n = 150")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


MODELS = ("uniform", "discrepancy, exact", "discrepancy, cap 2", "trained on the target")


def errors_of(X, y, T, y_T, E, y_E):
    """(RMSE of the four models, worst certified gap); E the test points."""
    weights, gaps = [np.full(len(X), 1 / len(X))], []
    for cap in (None, 2.0):
        solution = ml.solve(Discrepancy(X, T, max_weight=cap), tol=1e-3)
        weights.append(solution.y)
        gaps.append(solution.gap)
    scale = np.mean(np.sum(T * T, axis=1))
    of_target = ridge(T, y_T, np.full(len(T), 1 / len(T)), E, scale * RIDGES)
    rmse = np.sqrt(np.mean((of_target - y_E) ** 2, axis=1))
    best = int(np.argmin(rmse))
    out = [np.sqrt(np.mean((ridge(X, y, z, E, scale * RIDGES[[best]])[0] - y_E) ** 2)) for z in weights]
    return [*out, rmse[best]], max(gaps)


def study(title, draws, sizes, sample):
    """RMSE (sizes, draws, models): ``sample(draw, n)`` gives X, y, T, y_T, E, y_E."""
    errors = np.empty((len(sizes), draws, len(MODELS)))
    for s, n in enumerate(sizes):
        start, worst = time.process_time(), 0.0
        for draw in range(draws):
            errors[s, draw], gap = errors_of(*sample(draw, n))
            worst = max(worst, gap)
        words = ", ".join(f"{name} {value:.4f}" for name, value in zip(MODELS, errors[s].mean(axis=0), strict=True))
        print(
            f"{title} n = {n}: {words}; largest certified gap {worst:.1e}, "
            f"{(time.process_time() - start) / draws:.1f} CPU s a draw",
            flush=True,
        )
    return sizes, errors


def draw_study(axes, result, title):
    sizes, errors = result
    for k, (name, style) in enumerate(zip(MODELS, ("C7o-", "C3s:", "C0o-", "k--"), strict=True)):
        mean = errors[:, :, k].mean(axis=1)
        spread = errors[:, :, k].std(axis=1) / np.sqrt(errors.shape[1])
        axes.errorbar(sizes, mean, spread, fmt=style, ms=4, capsize=2, label=name)
    axes.set(xlabel="unlabelled target points n", ylabel="RMSE on the target", title=title)
    axes.legend(frameon=False, fontsize=8)


def artificial(draw, n, m=100, N=200, test=500):
    """f(x) = sum |x_i|; a constant feature stands for the intercept."""
    S, T = thesis_samples(m, n + test, N, seed=200 + draw)
    with_constant = [np.column_stack([P, np.full(len(P), np.sqrt(N))]) for P in (S, T)]
    y, y_T = (np.abs(P).sum(axis=1) for P in (S, T))
    S, T = with_constant
    return S, y, T[:n], y_T[:n], T[n:], y_T[n:]


def of_reviews(draw, n, features=3000):
    """500 books and 200 kitchen reviews; n others of kitchen without labels, the rest as test."""
    from large import reviews, spread

    rng = np.random.default_rng(draw)
    (B, stars_b), (K, stars_k) = ((X[:, :features], rating) for X, rating in (reviews("books"), reviews("kitchen")))
    pick, order = rng.permutation(B.shape[0])[:500], rng.permutation(K.shape[0])
    labelled, target, test = order[:200], order[200 : 200 + n], order[1500:]
    S = sp.vstack([B[pick], K[labelled]]).toarray()
    T, E = K[target].toarray(), K[test].toarray()
    mean, std = spread(sp.csr_array(np.concatenate([S, T])))
    y = np.concatenate([stars_b[pick], stars_k[labelled]])
    centre = y.mean()
    return (
        (S - mean) / std,
        y - centre,
        (T - mean) / std,
        stars_k[target] - centre,
        (E - mean) / std,
        stars_k[test] - centre,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", nargs="+", default=["6.1", "6.2", "6.3", "6.4"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    given = parser.parse_args()
    header(f"figures of the thesis, {given.draws} realizations")
    from matplotlib.figure import Figure

    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.figures:
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        if name == "6.1":
            draw_6_1(axes, figure_6_1(given.draws))
        elif name == "6.2":
            draw_6_2(axes, figure_6_2(given.draws))
        elif name == "6.3":
            draw_study(
                axes, study(name, given.draws, (50, 100, 200, 400, 800), artificial), "6.3  artificial data, m = 100"
            )
        else:
            draw_study(
                axes, study(name, given.draws, (300, 500, 700, 900, 1100, 1300), of_reviews), "6.4  reviews, m = 700"
            )
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(given.out / f"thesis_{name.replace('.', '_')}.png", dpi=90)


if __name__ == "__main__":
    main()
