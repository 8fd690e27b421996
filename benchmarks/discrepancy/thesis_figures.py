"""Figures 6.1 to 6.4 of the thesis, redrawn with every engine, certified gaps, and the baselines beside.

    python benchmarks/discrepancy/thesis_figures.py [--figures 6.1 6.2 6.3 6.4 6.4a] [--draws 20] [--out docs/figures]

6.1  CPU seconds to a certified gap of 10 % (the thesis's delta) against m + n, every engine that gets there; the
     interior point also to 1e-6, and SA-DA's ten iterations. Beside them the published schedule of mmw, as it is and
     with the thesis's heuristics, within a limit (published.py). Artificial data, N = 200, m : n = 2 : 3.
6.2  ||M(z)|| at m = 50, n = 150: uniform, SA-DA's ten iterations, mmw at 10 %, the certified optimum.
6.3  RMSE of weighted ridge regression against n at m = 100: uniform, discrepancy (exact, capped at 2), trained on the
     target.
6.4  The same on reviews, books -> kitchen: 500 + 200 labelled, 3,000 features, n = 300 ... 1300 (the thesis stopped at
     800 and could not pass 1000): its features and stars; its features and smoothed labels, as in the thesis; and
     log counts of unit length. Beside them the 200 labelled kitchen reviews alone, and weights shrunk towards uniform.
6.4a The curves that the thesis draws, n = 300, 500: SA-DA's ten iterations, mmw to 10 % or for 300 s.

Means and standard deviations over the draws, which are the same for all models: `wins` counts the draws in which a
model beats uniform weights, p is of the two-sided sign test. One ridge for all models and n of a panel: the best for
training on the target, as in the thesis. One BLAS thread. Every result is kept in benchmarks/results, and a second run
goes on from there: 6.4 takes about half an hour of CPU time.
"""

import argparse
import time
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import Discrepancy, effective_sample_size

import matrixlearn as ml
from benchmarks._common import header, thesis_samples
from benchmarks._kept import RESULTS, Kept
from benchmarks.discrepancy._adaptation import (
    BOOKS,
    RIDGES,
    artificial,
    errors_of,
    kept_errors,
    kept_weights,
    of_reviews,
    standardised,
    unit_length,
    weigh,
)
from benchmarks.discrepancy.published import traces

LIMIT = 10.0
"""CPU seconds after which an engine counts as not having got there."""

CAPS = {"discrepancy, exact": {}, "discrepancy, cap 2": {"cap": 2.0}}
"""What `weigh` is asked for, by model."""

AS_DRAWN = {
    "SA-DA, ten iterations": {"method": "sa-da", "tol": 1e-12, "max_iter": 10},
    "mmw at 10 %": {"method": "mmw", "tol": 0.1, "time_limit": 300.0},
}

HALFWAY = "half cap 2, half uniform"
"""Weights shrunk towards uniform ones: ||M|| is at most the mean of the two."""

STYLES = {
    "uniform": "C7o-",
    "discrepancy, exact": "C3s:",
    "discrepancy, cap 2": "C0o-",
    HALFWAY: "C4v-",
    "kitchen labels alone": "C2^-.",
    "SA-DA, ten iterations": "C1s:",
    "mmw at 10 %": "C0o-",
    "trained on the target": "kD--",
}

kept_times, kept_values = Kept(RESULTS / "times.jsonl"), Kept(RESULTS / "values.jsonl")


def seconds_to(method, tol, size, draw):
    """CPU seconds to a certified gap, or None; those of ten iterations where there is no tol."""
    problem = Discrepancy(*thesis_samples(2 * size // 5, 3 * size // 5, 200, seed=draw))
    start = time.process_time()
    if tol is None:
        ml.solve(problem, method, tol=1e-12, max_iter=10)
        return time.process_time() - start
    late = lambda event: time.process_time() - start > LIMIT
    solution = ml.solve(problem, method, tol=tol, callback=late, time_limit=8 * LIMIT)
    return time.process_time() - start if solution.gap <= tol else None


def figure_6_1(draws, sizes=(50, 100, 200, 400)):
    """{(method, tol): (sizes, draws) CPU seconds}, nan where it did not get there."""
    first = Discrepancy(*thesis_samples(4, 6, 8))
    methods = [name for name in ml.methods(first) if name not in {"reference", "multiplicative-weights", "sa-da"}]
    runs = {
        ("interior-point", 1e-6): None,
        **{(name, 0.1): None for name in methods},
        ("sa-da", None): None,
    }
    for method, tol in runs:
        ml.solve(first, method, tol=tol or 0.1, max_iter=10)  # imports
        seconds = np.full((len(sizes), draws), np.nan)
        for s, size in enumerate(sizes):
            for draw in range(draws):
                spent = kept_times([method, tol, size, draw], lambda key=(method, tol, size, draw): seconds_to(*key))
                if spent is None:
                    print(f"6.1 {method} {tol}: not within {LIMIT:g} CPU s at m + n = {size}, draw {draw}", flush=True)
                    break  # the others would take as long
                seconds[s, draw] = spent
            if np.isnan(seconds[s]).any():
                seconds[s] = np.nan
                break
            print(
                f"6.1 {method} {tol or '10 iterations'}: m + n = {size}: {seconds[s].mean():.3f} s "
                f"(sd {seconds[s].std():.3f})",
                flush=True,
            )
        runs[method, tol] = seconds
    return sizes, runs, traces()


def draw_6_1(figure, result):
    sizes, runs, published = result
    axes, gaps = figure.subplots(1, 2, width_ratios=(3, 2))
    slowest_first = sorted(runs, key=lambda run: -np.nanmax(runs[run][:3].mean(axis=1)))
    for k, (method, tol) in enumerate(slowest_first):
        seconds = runs[method, tol]
        label = f"{method}, {'ten iterations' if tol is None else f'{tol:g}'}"
        style = "k^:" if tol is None else f"C{k}o-" if tol == 0.1 else f"C{k}s--"
        axes.errorbar(sizes, seconds.mean(axis=1), seconds.std(axis=1), fmt=style, ms=4, capsize=2, label=label)
    for (name, of_sizes), color in zip(published.items(), ("k", "0.55"), strict=True):
        ended = {size: [run["seconds"] for run in found if run["ended"] != "limit"] for size, found in of_sizes.items()}
        means = {size: np.mean(seconds) for size, seconds in ended.items() if seconds}
        if means:
            axes.plot(list(means), list(means.values()), "D-", color=color, ms=5, label=name)
        late = [(size, run["seconds"]) for size, found in of_sizes.items() for run in found if run["ended"] == "limit"]
        axes.plot(*zip(*late, strict=True), "^", color=color, mfc="w", ms=7, label=f"{name}: not yet")
        ends = {}
        for (size, found), width in zip(of_sizes.items(), (0.8, 1.2, 1.8, 2.6), strict=True):
            times, values = np.array([*found[0]["gaps"], [found[0]["seconds"], found[0]["gaps"][-1][1]]]).T
            gaps.step(times, values, where="post", color=color, lw=width)
            ends.setdefault(round(values[-1], 2), []).append((times[-1], size))
        for value, those in ends.items():
            words, low = ", ".join(str(size) for _, size in those), 0.04 * (color == "k") * (value == 1)
            gaps.text(max(those)[0], value + low, f"  {words}", color=color, va="center", fontsize=8)
    gaps.axhline(0.1, color="C3", lw=0.8, ls=":")
    gaps.set(xscale="log", xlim=(0.1, 700), ylim=(0, 1.05), xlabel="CPU seconds", ylabel="certified gap")
    gaps.set_title("published schedule, draw 0", fontsize=10)
    axes.set(xscale="log", yscale="log", xlabel="m + n", ylabel="CPU seconds to the certified gap", title="6.1  time")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False)


def values_of(draw):
    problem = Discrepancy(*thesis_samples(50, 150, 200, seed=100 + draw))
    return [
        problem.uniform_value(),
        ml.solve(problem, "sa-da", tol=1e-12, max_iter=10).upper,
        ml.solve(problem, "mmw", tol=0.1, time_limit=60).upper,
        ml.solve(problem, tol=1e-6).upper,
    ]


def figure_6_2(draws):
    values = np.array([kept_values([draw], lambda draw=draw: values_of(draw)) for draw in range(draws)])
    names = ("uniform", "SA-DA, ten iterations", "mmw at 10 %", "certified optimum")
    for name, column in zip(names, values.T, strict=True):
        print(
            f"6.2 {name}: {column.mean():.3f} (sd {column.std():.3f}), at most {np.max(column / values[:, -1]):.3f} "
            f"times the optimum; below SA-DA in {np.sum(column < values[:, 1])} of {draws} draws"
        )
    return names, values


def draw_6_2(figure, result):
    names, values = result
    axes = figure.subplots()
    for name, column, style in zip(names, values.T, ("C3o-", "C0s--", "C2^:", "k.-"), strict=True):
        axes.plot(np.arange(1, len(column) + 1), column, style, ms=5, label=name)
    axes.set(xlabel="realization", ylabel=r"$\|M(z)\|_2$", title="6.2  value, m = 50, n = 150")
    axes.set_ylim(bottom=0)
    axes.set_xticks(np.arange(1, len(values) + 1, 2 if len(values) > 10 else 1))
    figure.legend(loc="outside lower center", ncols=2, frameon=False)


def study(features, sample, sizes, draws, caps=CAPS):
    """RMSE {model: (sizes, draws, labels, ridges)}; ``sample(draw, n)`` gives a task, ``features`` names it."""
    errors = {}
    for n in sizes:
        found = []
        for draw in range(draws):
            task = lru_cache(lambda draw=draw, n=n: sample(draw, n))
            solved = {
                name: kept_weights([features, n, draw, how], lambda how=how, task=task: weigh(task(), **how))
                for name, how in caps.items()
            }
            weights = {name: np.array(one["weights"]) for name, one in solved.items()}
            if "discrepancy, cap 2" in weights:
                capped = weights["discrepancy, cap 2"]
                weights[HALFWAY] = (capped + 1 / len(capped)) / 2
            judge = lambda task=task, weights=weights: errors_of(task(), weights)
            for name, rmse in kept_errors([features, n, draw, list(weights)], judge).items():
                errors.setdefault(name, {}).setdefault(n, []).append(rmse)
            found.append(solved)
        say_weights(f"{features}, n = {n}", found)
    return {name: np.array([of_n[n] for n in sizes]) for name, of_n in errors.items()}


def say_weights(title, found):
    """What the weights of all draws cost, and what they are."""
    every = [one for solved in found for one in solved.values()]
    print(
        f"{title}: {np.mean([one['seconds'] for one in every]):.1f} CPU s a solve, largest certified gap "
        f"{max(1 - one['lower'] / one['upper'] for one in every):.1e}"
    )
    for name in found[0]:
        ones = [solved[name] for solved in found]
        weights = [np.array(one["weights"]) for one in ones]
        print(
            f"    {name}: ||M(z)|| {np.mean([one['upper'] / one['uniform'] for one in ones]):.2f} of uniform's, "
            f"effective size {np.mean([effective_sample_size(z) for z in weights]):.0f} of {len(weights[0])}"
            + (f", {np.mean([z[BOOKS:].sum() for z in weights]):.2f} on kitchen" if len(weights[0]) > BOOKS else ""),
            flush=True,
        )


class Panel:
    """RMSE against n, for one kind of labels: ``errors`` is {model: (sizes, draws, ridges)}."""

    def __init__(self, title, sizes, errors):
        self.title, self.sizes, self.errors = title, sizes, errors
        self.best = int(np.argmin(errors["trained on the target"].mean(axis=(0, 1))))
        self.say(f"lambda {RIDGES[self.best]:.1e}", {name: e[:, :, self.best] for name, e in errors.items()})
        self.say("each its own best lambda", {name: e.min(axis=2) for name, e in errors.items()})

    def say(self, note, errors):
        """Means, wins over uniform weights, and the sign test."""
        from scipy.stats import binomtest

        draws = len(errors["uniform"][0])
        print(f"{self.title}, {note}: RMSE (wins over uniform in {draws}, p) at n = {self.sizes}")
        for name, of_sizes in errors.items():
            cells = []
            for e, uniform in zip(of_sizes, errors["uniform"], strict=True):
                wins = int(np.sum(e < uniform))
                test = "" if name == "uniform" else f" ({wins:2d}, {binomtest(wins, draws).pvalue:.0e})"
                cells.append(f"{e.mean():.4f}{test}")
            print(f"{name:>24}  " + "  ".join(cells), flush=True)

    def draw(self, axes):
        for k, (name, errors) in enumerate(self.errors.items()):
            mean, spread = errors[:, :, self.best].mean(axis=1), errors[:, :, self.best].std(axis=1)
            shift = (self.sizes[-1] / self.sizes[0]) ** (0.01 * (k - len(self.errors) / 2))  # bars side by side
            at = np.array(self.sizes) * shift
            axes.errorbar(at, mean, spread, fmt=STYLES[name], ms=4, capsize=2, lw=1.2, elinewidth=0.8, label=name)
        axes.set(xlabel="unlabelled target points n", title=self.title, xscale="log")
        axes.set_xticks(self.sizes, [str(n) for n in self.sizes])
        axes.minorticks_off()


def figure_6_3(draws, sizes=(50, 100, 200, 400, 800)):
    errors = study("artificial", artificial, sizes, draws)
    return [Panel("6.3  artificial data, m = 100", sizes, {name: e[:, :, 0] for name, e in errors.items()})]


def figure_6_4(draws, sizes=(300, 700, 1300)):
    panels = []
    for features, title, labels, caps in (
        (standardised, "standardised counts", ("stars", "smoothed stars"), CAPS),
        (unit_length, "log counts of unit length", ("stars",), {"discrepancy, cap 2": {"cap": 2.0}}),
    ):
        errors = study(features.__name__, partial(of_reviews, features), sizes, draws, caps)
        panels += [
            Panel(f"6.4  {title}, {label}", sizes, {name: e[:, :, k] for name, e in errors.items()})
            for k, label in enumerate(labels)
        ]
    return panels


def figure_6_4_as_drawn(draws, sizes=(300, 500)):
    errors = study("standardised", partial(of_reviews, standardised), sizes, draws, AS_DRAWN)
    return [
        Panel(f"6.4  {label}", sizes, {name: e[:, :, k] for name, e in errors.items()})
        for k, label in enumerate(("stars", "smoothed stars"))
    ]


def draw_panels(figure, panels):
    every = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel in zip(every, panels, strict=True):
        panel.draw(axes)
    every[0].set_ylabel("RMSE on the target")
    handles = {label: handle for axes in every for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols={1: 2, 2: 3}.get(len(panels), 6),
        frameon=False,
    )


FIGURES = {
    "6.1": (figure_6_1, draw_6_1, (11, 4.2)),
    "6.2": (figure_6_2, draw_6_2, (6, 4)),
    "6.3": (figure_6_3, draw_panels, (6, 4.5)),
    "6.4": (figure_6_4, draw_panels, (13, 4.4)),
    "6.4a": (figure_6_4_as_drawn, draw_panels, (9, 4.4)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", nargs="+", default=list(FIGURES), choices=list(FIGURES))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    given = parser.parse_args()
    header(f"figures of the thesis, {given.draws} realizations")
    from matplotlib.figure import Figure

    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.figures:
        compute, draw, size = FIGURES[name]
        figure = Figure(figsize=size, layout="constrained")
        draw(figure, compute(given.draws))
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(given.out / f"thesis_{name.replace('.', '_')}.png", dpi=90)


if __name__ == "__main__":
    main()
