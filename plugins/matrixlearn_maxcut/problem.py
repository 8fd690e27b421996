"""The semidefinite relaxation of MaxCut.

    max (1/4) L . X   subject to   X_ii = 1,  X >= 0           (Goemans and Williamson, 1995)

L the Laplacian of the weights. As a spectral game: C = L / 4, A_i = e_i e_i^T, c = 1, S = {X >= 0,
Tr X = n}. Adding a constant to y changes nothing, so that sum y = 0 may be asked; and since an optimal
y + v/n has y_i + v/n >= C_ii with the sum v, every optimal y lies in the box

    C_ii - U/n  <=  y_i  <=  C_ii + U - Tr C - B/n,        B = Tr C (from X = I) <= v <= U = n lambda_max(C).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.problem import Argument, KnapsackSet, SpectralGame, Spectraplex, as_array

if TYPE_CHECKING:
    import cvxpy

    from matrixlearn import Solution


@dataclass(frozen=True)
class Cut:
    """A partition of the vertices and the weight between its sides."""

    side: np.ndarray
    """+1 or -1 for each vertex, in the order of ``MaxCut.nodes``."""
    weight: float


def _weights(graph: Any) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The symmetric weight matrix with an empty diagonal, and the names of the vertices."""
    if hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        import networkx as nx

        if graph.is_directed():
            msg = "graph must be undirected, got a directed one; use graph.to_undirected()"
            raise ProblemError(msg)
        nodes = tuple(graph.nodes)
        if not nodes:
            msg = "graph is empty: it has no vertices"
            raise ProblemError(msg)
        W = nx.to_numpy_array(graph, nodelist=list(nodes), dtype=float)
        W = as_array("graph (its weights)", W)
    else:
        W = np.array(as_array("graph", graph))
        if W.ndim != 2 or W.shape[0] != W.shape[1]:
            msg = f"graph must be a networkx graph or a square matrix of weights, got shape {W.shape}"
            raise ProblemError(msg)
        if np.iscomplexobj(W):
            msg = "graph must have real weights"
            raise ProblemError(msg)
        asymmetry = float(np.max(np.abs(W - W.T)))
        if asymmetry > 1e-10 * float(np.max(np.abs(W), initial=0.0)):
            msg = (
                f"graph must be undirected, but its weights differ from their transpose by {asymmetry:.3g}; "
                f"pass W + W.T or (W + W.T) / 2, whichever you mean"
            )
            raise ProblemError(msg)
        W = (W + W.T) / 2
        nodes = tuple(range(len(W)))
    W = np.array(W)
    np.fill_diagonal(W, 0.0)  # a self-loop is never cut
    return W, nodes


@dataclass(frozen=True, eq=False)
class MaxCut(SpectralGame):
    """max (1/4) L . X subject to X_ii = 1, X >= 0.

    Parameters
    ----------
    graph : networkx.Graph, or array or sparse matrix of shape (n, n)
        Undirected; edge attribute "weight" or 1, of any sign. Self-loops are never cut and ignored.

    Notes
    -----
    ``solution.value`` and ``solution.upper`` bound the weight of every cut from above only by
    ``upper``; `round` turns the matrix into a cut (Goemans-Williamson).
    """

    graph: Any
    weights: np.ndarray = field(init=False, repr=False)
    nodes: tuple[Any, ...] = field(init=False, repr=False)

    name = "maxcut"
    objective = "maximize"
    arguments = (
        Argument(
            "graph",
            "MatrixMarket (.mtx), Gset / rudy (header 'n m', lines 'i j w'), or an edge list ('u v' or 'u v w'); "
            "also with .gz.",
            required=True,
            positional=True,
        ),
    )

    def __post_init__(self) -> None:
        W, nodes = _weights(self.graph)
        object.__setattr__(self, "weights", W)
        object.__setattr__(self, "nodes", nodes)

    # -- the game ---------------------------------------------------------------------------------

    @cached_property
    def cost(self) -> np.ndarray:
        return (np.diag(self.weights.sum(axis=1)) - self.weights) / 4

    @cached_property
    def offset(self) -> np.ndarray:
        return np.ones(len(self.weights))

    @cached_property
    def spectral_set(self) -> Spectraplex:
        n = len(self.weights)
        return Spectraplex(n, float(n))

    @cached_property
    def dual_set(self) -> KnapsackSet:
        n, d = len(self.weights), np.diag(self.cost)
        upper, lower = n * float(np.linalg.eigvalsh(self.cost)[-1]), float(d.sum())
        # a margin keeps the box open where a vertex has no edges, or where the bounds meet
        margin = 1e-3 * self.scale / n if self.scale > 0 else 1.0
        return KnapsackSet(
            d - upper / n - margin,
            d + (upper - lower) - lower / n + margin,
            np.ones(n),
            0.0,
            0.0,
        )

    @cached_property
    def scale(self) -> float:
        """n ||C||_2; 1 for a graph without edges."""
        return len(self.weights) * self.cost_norm or 1.0

    def forward(self, y: np.ndarray) -> np.ndarray:
        return self.cost - np.diag(y)

    def apply(self, y: np.ndarray) -> np.ndarray:
        return np.diag(y)

    def adjoint(self, X: Any) -> np.ndarray:
        return np.array(np.diagonal(X))

    def constraint(self, j: int) -> np.ndarray:
        A = np.zeros_like(self.weights)
        A[j, j] = 1.0
        return A

    @property
    def constraint_norms(self) -> np.ndarray:
        return np.ones(len(self.weights))

    def schur(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        return U * V

    def repair(self, X: np.ndarray) -> np.ndarray | None:
        """D^{-1/2} X D^{-1/2}, D the diagonal of X: feasible to the last bit.

        X is known to rounding, 8 n eps Tr X of it; that much of the identity is added first, since the
        rows of a vertex with X_ii near 0 are divided by its root and would leave the cone.
        """
        n = len(X)
        d = np.maximum(np.diagonal(X), 0.0) + 8 * n * np.finfo(float).eps * n
        root = 1.0 / np.sqrt(d)
        out = X * np.outer(root, root)
        np.fill_diagonal(out, 1.0)
        return out

    # -- cuts -------------------------------------------------------------------------------------

    def cut_weight(self, side: np.ndarray) -> float:
        """The weight of the edges between the two sides."""
        return float(side @ (np.diag(self.weights.sum(axis=1)) - self.weights) @ side) / 4

    def round(self, solution: Solution, trials: int = 100, random_state: int | np.random.Generator | None = 0) -> Cut:
        """The best of ``trials`` random hyperplanes (Goemans-Williamson), improved by single moves.

        For weights >= 0 one hyperplane gives at least 0.878 of the optimum in expectation.
        """
        if solution.matrix is None:
            msg = "the solution holds no matrix to round: solve again with more time"
            raise ProblemError(msg)
        rng = np.random.default_rng(random_state)
        w, V = np.linalg.eigh(solution.matrix)
        factor = V * np.sqrt(np.maximum(w, 0.0))
        sides = np.where(factor @ rng.standard_normal((factor.shape[1], max(1, trials))) >= 0, 1.0, -1.0)
        weights = [self.cut_weight(side) for side in sides.T]
        return self._improve(sides[:, int(np.argmax(weights))].copy())

    def _improve(self, side: np.ndarray) -> Cut:
        """Move single vertices while that adds weight."""
        gain = side * (self.weights @ side)
        while gain.max() > 1e-12 * (np.abs(self.weights).max() or 1.0):
            i = int(np.argmax(gain))
            side[i] = -side[i]
            gain = side * (self.weights @ side)
        return Cut(side.astype(int), self.cut_weight(side))

    # -- words, files -----------------------------------------------------------------------------

    def describe(self, solution: Solution) -> list[str]:
        if solution.matrix is None:
            return []
        cut = self.round(solution)
        return [f"cut        weight {cut.weight:.9g}; no cut weighs more than {solution.upper:.9g}"]

    def plot(self, solution: Solution, axes: Any) -> bool:
        cut = self.round(solution)
        order = np.argsort(cut.side, kind="stable")
        shown = np.abs(self.weights[np.ix_(order, order)])
        axes.imshow(shown, cmap="Greys", interpolation="nearest")
        edge = float(np.sum(cut.side < 0)) - 0.5
        axes.axhline(edge, color="C3", lw=1)
        axes.axvline(edge, color="C3", lw=1)
        axes.set_title(f"cut of weight {cut.weight:.6g}")
        axes.set_xlabel("vertex, by side of the cut")
        return True

    def parameters(self) -> Mapping[str, Any]:
        return {"graph": self.weights}

    @classmethod
    def from_arguments(cls, given: Mapping[str, Any]) -> MaxCut:
        """The problem of a graph in a file."""
        from matrixlearn_maxcut.files import read_graph

        return cls(read_graph(given["graph"]))

    def reference(self) -> cvxpy.Problem:
        import cvxpy as cp

        n = len(self.weights)
        X = cp.Variable((n, n), name="X", PSD=True)
        return cp.Problem(cp.Maximize(cp.trace(self.cost @ X)), [cp.diag(X) == 1])

    def read_reference(self, reference: cvxpy.Problem) -> tuple[Any, np.ndarray | None]:
        X, y = reference.variables()[0].value, reference.constraints[0].dual_value
        # sum y = 0: the multiplier of the trace is the mean
        return X, None if y is None else np.asarray(y) - np.mean(y)

    @classmethod
    def random(cls, rng: np.random.Generator) -> MaxCut:
        """n in 2-12, integer or real weights, sometimes negative, sometimes without edges."""
        n = int(rng.integers(2, 13))
        W = rng.uniform(0, 1, (n, n)) if rng.random() < 0.5 else rng.integers(0, 3, (n, n)).astype(float)
        if rng.random() < 0.3:
            W = W - W.mean()
        W = np.triu(W * (rng.random((n, n)) < 0.6), 1)
        return cls(W + W.T)
