"""A demonstration on real weather: 45 Swedish towns, each with six days to learn from.

A town's temperature from the means of the other towns in the south, the middle and the north of the country: a model
for each, learned in October, judged in November and December. Beside the graph of neighbours what one tries first: each
town alone, all towns as one, towns near their mean. All choose their parameters on the other days of October.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.multitask import PooledRidge, SingleTaskRidge
from matrixlearn_network import GraphRegressor
from matrixlearn_network.data import Towns, load_sweden
from matrixlearn_network.graph import complete, neighbours

OCTOBER, DAYS, DRAWS = 30, 6, 5
ETAS, TAUS = (1e-3, 1e-2, 1e-1, 1.0, 10.0), (1e-2, 1e-1, 1.0, 10.0, 100.0)
ALPHAS = tuple(10.0**k for k in range(-2, 5))


@dataclass(frozen=True)
class Season:
    """One draw of training days: rows by town and day."""

    towns: Towns
    train: np.ndarray

    @property
    def test(self) -> np.ndarray:
        """Days of November and December."""
        return np.arange(OCTOBER, self.towns.temperature.shape[1])

    def rows(self, days: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, y and the town of each row."""
        m = len(self.towns.temperature)
        X = self.towns.regions()[:, days].reshape(m * len(days), -1)
        return X, self.towns.temperature[:, days].reshape(-1), np.repeat(np.arange(m), len(days))

    @property
    def others(self) -> np.ndarray:
        """The days of October that are left: parameters are chosen on them."""
        return np.setdiff1d(np.arange(OCTOBER), self.train)

    def error(self, model: Any, days: np.ndarray) -> float:
        """Mean squared error on some days, over the variance of the towns there."""
        X, y, town = self.rows(days)
        T = self.towns.temperature[:, days]
        spread = np.mean((T - T.mean(axis=1, keepdims=True)) ** 2)
        return float(np.mean((y - model.predict(X, town)) ** 2) / spread)


def seasons(draws: int = DRAWS, days: int = DAYS) -> Iterator[Season]:
    """Draws of training days from October."""
    towns = load_sweden()
    for seed in range(draws):
        yield Season(towns, np.sort(np.random.default_rng(seed).permutation(OCTOBER)[:days]))


def models(season: Season) -> dict[str, Any]:
    """Name -> fitted model, of the parameters with the least error on the other days of October."""
    X, y, town = season.rows(season.train)
    all_alike, near = complete(len(season.towns.temperature)), neighbours(season.towns.kilometres, 4)
    grid = [(eta, tau) for eta in ETAS for tau in TAUS]
    fitted = {
        "each alone": [SingleTaskRidge(alpha).fit(X, y, town) for alpha in ALPHAS],
        "all as one": [PooledRidge(alpha).fit(X, y, town) for alpha in ALPHAS],
        "near their mean": [GraphRegressor(*each).fit(X, y, town, graph=all_alike) for each in grid],
        "near their neighbours": [GraphRegressor(*each).fit(X, y, town, graph=near) for each in grid],
    }
    return {
        name: min(candidates, key=lambda model: season.error(model, season.others))
        for name, candidates in fitted.items()
    }


def run(say: Callable[[str], None]) -> Any:
    """The demonstration: tells its results, returns a matplotlib figure, or None without matplotlib."""
    say(
        f"Temperatures in 45 Swedish towns, October to December 2014 (SMHI; M. Sundin, MIT): {DAYS} days each to learn."
    )
    say("A town from the means of the other towns, south, middle and north; judged in November and December.")
    errors: dict[str, list[float]] = {}
    for season in seasons():
        fitted = models(season)
        for name, model in fitted.items():
            errors.setdefault(name, []).append(season.error(model, season.test))
    say("")
    say(f"Squared error over the variance of each town, mean of {DRAWS} draws of the days:")
    for name, each in errors.items():
        say(f"  {name:22} {np.mean(each):.3f}")
    graph = fitted["near their neighbours"]
    solution = graph.solution_
    say("")
    say(f"The last one, certified: {solution.lower:.9g} <= optimum <= {solution.upper:.9g}, gap {solution.gap:.1e}")
    say(f"  {solution.method}: {graph.ledger_}")
    X, y, town = season.rows(season.train)
    peers = type(graph)(**(graph.get_params() | {"method": "bol"})).fit(X, y, town, graph=graph.graph_)
    say(f"  {peers.solution_.method}, without a hub: {peers.ledger_}")
    say("A graph does not help everywhere: docs/network.md has two data sets where pooling is better.")
    try:
        import matplotlib.pyplot as plt  # noqa: F401
    except ImportError:
        return None
    return peers.plot(feature=2)
