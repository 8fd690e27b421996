"""A demonstration on real air: a model of summer days is wanted for winter, at other stations.

First the weights of the source, certified: lower <= min ||M(z)||_2 <= upper. Then the error on the
target of the same ridge regression, trained on differently weighted sources.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn import Solution, solve
from matrixlearn.late import needed_by
from matrixlearn_discrepancy.data import Adaptation, load_beijing_air, summer_to_winter
from matrixlearn_discrepancy.problem import Discrepancy, effective_sample_size

if TYPE_CHECKING:
    from matrixlearn_discrepancy.estimator import ReweightedRegressor

TOL = 1e-4
DRAWS = 5


@dataclass(frozen=True)
class Study:
    """Root mean squared errors on the target, shape (draws, models), and effective sample sizes."""

    models: tuple[str, ...]
    errors: np.ndarray
    effective: np.ndarray


def study(
    draws: int = DRAWS, caps: tuple[float | None, ...] = (None, 2.0), alpha: float = 1.0, **regressor: Any
) -> Study:
    """The errors of uniform, reweighted, chosen and target-trained ridge regression, draw by draw.

    Parameters
    ----------
    draws : int
        Random draws of stations and days, with the seeds 0, 1, ...
    caps : tuple
        A reweighted model for each ``max_weight``; beside them one that chooses, `DiscrepancyRegressorCV`.
    alpha, **regressor
        Parameters of `DiscrepancyRegressor`, the same for all models but for the one that chooses its ridge.
    """
    # late: without scikit-learn `run` says what to install
    from matrixlearn_discrepancy.estimator import DiscrepancyRegressor, FewPointsWarning
    from matrixlearn_discrepancy.estimator_cv import DiscrepancyRegressorCV

    kernel = {key: value for key, value in regressor.items() if key != "gamma"}
    if "gamma" in regressor:
        kernel["gammas"] = [regressor["gamma"]]
    air = load_beijing_air()
    errors, effective = [], []
    for draw in range(draws):
        data = summer_to_winter(air, draw)
        source = (data.X_source, data.y_source)
        fits = [DiscrepancyRegressor(alpha=alpha, **regressor).fit(*source)]
        with warnings.catch_warnings():  # the report shows the effective sample size
            warnings.simplefilter("ignore", FewPointsWarning)
            fits += [
                DiscrepancyRegressor(alpha=alpha, max_weight=cap, **regressor).fit(*source, X_target=data.X_target)
                for cap in caps
            ]
        fits.append(DiscrepancyRegressorCV(**kernel).fit(*source, X_target=data.X_target))
        fits.append(DiscrepancyRegressor(alpha=alpha, **regressor).fit(data.X_labelled, data.y_labelled))
        errors.append([_error(fit, data) for fit in fits])
        effective.append([fit.effective_sample_size_ for fit in fits])
    names = ["exact weights" if cap is None else f"cap {cap:g}" for cap in caps]
    return Study(("uniform", *names, "chosen", "target labels"), np.array(errors), np.array(effective))


def _error(fit: ReweightedRegressor, data: Adaptation) -> float:
    return float(np.sqrt(np.mean((fit.predict(data.X_test) - data.y_test) ** 2)))


def run(say: Callable[[str], None]) -> Any:
    """The demonstration: tells its results, returns a matplotlib figure, or None without matplotlib."""
    with needed_by("the demonstration"):
        import sklearn  # noqa: F401
    data = summer_to_winter(load_beijing_air())
    m, n = len(data.y_source), len(data.X_target)
    say("Daily air quality in Beijing (UCI data set 501, CC BY 4.0): log PM2.5 from 9 features.")
    say(f"Source: {m} days, nearly all of summer, at 6 stations.  Target: {n} winter days at the 6 others, no labels.")
    solutions = {}
    for cap in (None, 2.0):
        solution = solve(Discrepancy(data.X_source, data.X_target, max_weight=cap), tol=TOL)
        solutions[cap] = solution
        say("")
        say(f"min ||M(z)||_2, {'exactly as in the thesis' if cap is None else f'no weight above {cap:g} / m'}")
        for line in _certificate(solution):
            say("  " + line)
    say("")
    say(f"RMSE of ridge regression on {len(data.y_test)} other winter days, {DRAWS} draws of stations and days")
    result = study()
    say("  " + "".join(f"{name:>16}" for name in ("draw", *result.models)))
    for draw, errors in enumerate(result.errors):
        say("  " + f"{draw:>16}" + "".join(f"{error:>16.3f}" for error in errors))
    say("  " + f"{'mean':>16}" + "".join(f"{error:>16.3f}" for error in result.errors.mean(axis=0)))
    say("  " + f"{'effective size':>16}" + "".join(f"{size:>16.0f}" for size in result.effective.mean(axis=0)))
    say("")
    for line in _verdict(result):
        say(line)
    return _picture(solutions, result)


def _certificate(solution: Solution) -> list[str]:
    problem: Any = solution.problem
    assert solution.y is not None
    return [
        f"{solution.lower:.6f} <= optimum <= {solution.upper:.6f}   gap {solution.gap:.1e}, {solution.status}",
        f"uniform weights have {problem.uniform_value():.6f}",
        f"{solution.method}, {solution.iterations} iterations, {solution.seconds:.2f} s; "
        f"effective sample size {effective_sample_size(solution.y):.0f} of {len(solution.y)}",
    ]


def _verdict(result: Study) -> list[str]:
    """What the table says, whichever way it falls."""
    uniform, exact, capped, chosen, target = result.errors.mean(axis=0)
    better, better_chosen = (int(np.sum(result.errors[:, k] < result.errors[:, 0])) for k in (2, 3))
    draws = len(result.errors)
    return [
        f"Against uniform weights, the cap changes the error by {capped / uniform - 1:+.1%} (better in {better} of "
        f"{draws} draws), the exact minimizer by {exact / uniform - 1:+.1%};",
        f"DiscrepancyRegressorCV, which chooses ridge and weights and may stay uniform, by {chosen / uniform - 1:+.1%} "
        f"({better_chosen} of {draws});",
        f"100 labels on the target, which none of them sees, by {target / uniform - 1:+.1%}.",
        "Whether to reweight depends on the data: docs/when-it-helps.md.",
    ]


def _picture(solutions: dict[float | None, Solution], result: Study) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    bounds, weights, errors = figure.subplots(1, 3)
    for cap, color in ((None, "C3"), (2.0, "C0")):
        solution, label = solutions[cap], "exact" if cap is None else f"cap {cap:g}"
        assert solution.y is not None
        at = solution.history.column("iteration")
        upper, lower = solution.history.column("upper"), solution.history.column("lower")
        bounds.plot(at, upper, color=color, label=f"{label}: gap {solution.gap:.0e}")
        bounds.plot(at, lower, color=color)
        bounds.fill_between(at, lower, upper, color=color, alpha=0.15)
        z = np.sort(solution.y)[::-1] * len(solution.y)
        size = effective_sample_size(solution.y)
        weights.plot(np.arange(1, len(z) + 1), z, color=color, label=f"{label}: effective size {size:.0f}")
    bounds.set(title="certified bounds", xlabel="iteration", ylabel=r"$\|M(z)\|_2$")
    bounds.legend(frameon=False)
    weights.axhline(1, color="0.6", lw=1, label="uniform")
    weights.set(title="weights of the source", xlabel="source day, by weight", ylabel="weight / uniform weight")
    weights.set_yscale("symlog", linthresh=1)  # linear to 1, then logarithmic: zero is shown
    weights.set_ylim(-0.05, 100)
    weights.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    weights.legend(frameon=False)
    place = np.arange(len(result.models))
    means = result.errors.mean(axis=0)
    for x, draws, mean, color in zip(place, result.errors.T, means, ("0.5", "C3", "C0", "C4", "C2"), strict=True):
        errors.scatter(np.full(len(draws), x), draws, color=color, s=22, alpha=0.6, lw=0)
        errors.plot([x - 0.28, x + 0.28], [mean, mean], color=color, lw=3, solid_capstyle="round")
    errors.set_xticks(place, [f"{name}\n{mean:.3f}" for name, mean in zip(result.models, means, strict=True)])
    errors.set_xlim(-0.5, len(place) - 0.5)
    errors.set(title=f"error on winter days ({len(result.errors)} draws, mean)", ylabel="RMSE of log PM2.5")
    for axes in (bounds, weights, errors):
        axes.spines[["top", "right"]].set_visible(False)
    return figure
