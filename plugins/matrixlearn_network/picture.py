"""Pictures: the graph at its coordinates, and the certified gap against rounds and against vectors sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from matrixlearn.late import needed_by
from matrixlearn_network.graph import Graph

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn_network.networked import NetworkProblem

DRAWN = 2000
"""The most tasks that are drawn."""


def places_of(graph: Graph) -> np.ndarray:
    """Where to draw the tasks, (m, 2): their coordinates, or those of the two smoothest eigenvectors of L."""
    if graph.coordinates is not None:
        return graph.coordinates
    if len(graph) < 3:
        return np.column_stack([np.arange(len(graph)), np.zeros(len(graph))])
    return graph.spectrum[1][:, 1:3]


def draw_graph(axes: Any, graph: Graph, colour: np.ndarray, label: str) -> None:
    """Edges by weight, tasks coloured by a number each."""
    from matplotlib.collections import LineCollection

    where = places_of(graph)
    i, k, a = graph.once
    strength = a / a.max() if len(a) else a
    lines = LineCollection(
        [(where[one], where[other]) for one, other in zip(i, k, strict=True)],
        linewidths=0.4 + 1.4 * strength,
        colors=[(0.4, 0.4, 0.4, 0.15 + 0.6 * s) for s in strength],
        zorder=1,
    )
    axes.add_collection(lines)
    size = float(np.clip(1500 / len(graph), 12, 120))
    points = axes.scatter(*where.T, c=colour, s=size, cmap="viridis", edgecolors="white", linewidths=0.5, zorder=2)
    axes.figure.colorbar(points, ax=axes, shrink=0.8, label=label)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)
    if graph.coordinates is not None:
        axes.set_aspect("equal")
    axes.margins(0.05)
    axes.set_title(f"{len(graph)} tasks, {graph.edges} edges")


def draw_gap(axes: Any, solution: Solution, *, by: str) -> None:
    """The certified gap against rounds or vectors sent (``by``); an iteration may be several rounds, or none."""
    at, gap = solution.history.column("iteration"), solution.history.column("gap")
    ledger = cast("NetworkProblem", solution.problem).ledger(solution.method)
    rounds = solution.iterations if ledger is None else ledger.rounds
    at = at * max(1, round(rounds / max(solution.iterations, 1)))
    label = by if by == "vectors" or 2 * rounds >= solution.iterations else "iterations at the hub"
    if by == "vectors":
        at = at if ledger is None else np.array([ledger.vectors_after(int(t)) for t in at])
    shown = np.isfinite(gap) & (gap > 0)
    marker = "o" if np.count_nonzero(shown) <= 60 else ""
    axes.plot(at[shown], gap[shown], marker=marker, markersize=3, color="C0")
    axes.axhline(solution.tol, color="C2", lw=1, ls="--", label="tol")
    axes.set_yscale("log")
    axes.set_xlabel("vectors sent" if label == "vectors" else label)
    axes.set_ylabel("certified relative gap")
    axes.set_title(f"{solution.method}: {solution.status}")
    axes.legend(frameon=False)


def draw_solution(solution: Solution, axes: Any) -> bool:
    """The graph coloured by the coefficient that varies most, for `Solution.plot`."""
    problem: Any = solution.problem
    if solution.matrix is None or len(problem.tasks) > DRAWN:
        return False
    W = problem.weights(solution)
    feature = int(np.argmax(W.std(axis=1)))
    graph = Graph(problem.graph.weights, problem.graph.names, problem.coordinates)
    draw_graph(axes, graph, W[feature], f"coefficient of feature {feature}")
    return True


def figure_of(graph: Graph, colour: np.ndarray, label: str, solution: Solution) -> Any:
    """Three pictures side by side."""
    with needed_by("plot()"):
        import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained", width_ratios=(1.3, 1, 1))
    draw_graph(axes[0], graph, colour, label)
    draw_gap(axes[1], solution, by="rounds")
    draw_gap(axes[2], solution, by="vectors")
    return figure
