"""A demonstration on real air: which of 48 series of pollution go together, learned pair by pair.

A round is a pair of series and its mean squared difference in one week: mean (z_a - z_b)^2 / d = tr(W X) + noise, with
X = (e_a - e_b)(e_a - e_b)^T and W = C / d, C the correlation matrix, of trace one. The weeks come in their order.
First online, beside the bound of Lemma 3.2; then the same examples at once, certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from matrixlearn import solve
from matrixlearn_meg.data import Series, load_beijing_days
from matrixlearn_meg.instances import Pair
from matrixlearn_meg.learner import MEGLearner
from matrixlearn_meg.problem import MEGRegression

WEEK, PAIRS = 7, 40
"""Days of a week, pairs that are seen of it."""
TOL = 1e-5


def examples(series: Series, pairs: int = PAIRS, seed: int = 0) -> Iterator[tuple[Pair, float]]:
    """(X_t, y_t): some pairs of series in every week."""
    rng, d = np.random.default_rng(seed), len(series.names)
    for start in range(0, len(series.z), WEEK):
        z = series.z[start : start + WEEK]
        for _ in range(pairs):
            a, b = (int(i) for i in rng.choice(d, 2, replace=False))
            yield Pair(a, b, d), float(np.mean((z[:, a] - z[:, b]) ** 2)) / d


def correlations(W: np.ndarray) -> np.ndarray:
    """W_ij / sqrt(W_ii W_jj)."""
    s = np.sqrt(np.diag(W))
    return W / np.outer(s, s)


def run(say: Callable[[str], None]) -> Any:
    """The demonstration: tells its results, returns a matplotlib figure, or None without matplotlib."""
    series = load_beijing_days()
    d = len(series.names)
    C = series.z.T @ series.z / len(series.z)
    say("Daily air quality in Beijing (UCI data set 501, CC BY 4.0): 4 pollutants at 12 stations, 48 series.")
    say(f"A round: two series, their mean squared difference in a week; {PAIRS} pairs a week, {len(series.z)} days.")
    learner = MEGLearner(d, "adaptive", comparator=C / d).learn(examples(series))
    meter = learner.meter
    say("")
    say(f"Online, MEG: {learner.rounds} rounds cost {meter.total:.4f}, at most {meter.bound:.4f} by Lemma 3.1;")
    say(f"  the correlations of all days would have cost {np.sum(meter.comparator_losses):.4f}")
    shown = list(examples(series))
    X, y = [x for x, _ in shown], np.array([value for _, value in shown])
    solution = solve(MEGRegression(X, y), tol=TOL)
    say(f"At once: the mean loss of the best W, {solution.lower:.9f} <= optimum <= {solution.upper:.9f}")
    say(f"  gap {solution.gap:.1e}, {solution.status}; {solution.iterations} iterations, {solution.seconds:.2f} s")
    W = np.asarray(solution.matrix)
    say("")
    say("Root mean squared error of the correlations, against those of all pairs on all days")
    off = ~np.eye(d, dtype=bool)
    for label, found in (("nothing learned, I / d", np.eye(d)), ("MEG, online", learner.W), ("at once", W)):
        say(f"  {label:<24}{np.sqrt(np.mean((correlations(found) - C)[off] ** 2)):.3f}")
    return _picture(series, learner, C, W)


def _picture(series: Series, learner: MEGLearner, C: np.ndarray, W: np.ndarray) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    axes = figure.subplots(1, 4)
    learner.meter.plot(axes[0])
    shown = ((C, "all pairs on all days"), (correlations(learner.W), "MEG, online"), (correlations(W), "at once"))
    for ax, (matrix, title) in zip(axes[1:], shown, strict=True):
        image = ax.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set_xticks(np.arange(4) * 12 + 5.5, list(dict.fromkeys(v for v, _ in series.names)))
        ax.set(title=title, yticks=[])
    figure.colorbar(image, ax=axes[3], label="correlation")
    return figure
