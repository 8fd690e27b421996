"""The semidefinite relaxation of MaxCut.

    max (1/4) L . X   subject to   X_ii = 1,  X >= 0           (Goemans and Williamson, 1995)

L the Laplacian of the weights: a `UnitDiagonalProblem` with C = L / 4. A sparse graph stays sparse; the dense
matrices of weights and cost are formed when an engine or a certificate asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import FactoredMatrix
from matrixlearn.present import presented_by
from matrixlearn.problems import UnitDiagonalProblem
from matrixlearn.validation import as_array

if TYPE_CHECKING:
    import cvxpy

    from matrixlearn import Solution


@dataclass(frozen=True)
class Cut:
    """A partition of the vertices and the weight between its sides."""

    side: np.ndarray
    """+1 or -1 for each vertex, in the order of ``MaxCut.nodes``."""
    weight: float
    """Of the edges between the sides."""


MOVED = 1e10
"""Trials of `MaxCut.round` times the square of the vertices, whose single moves take seconds."""

SPARSE = 0.25
"""Density up to which products with a sparse matrix are quicker."""


def _adjacency(graph: Any) -> tuple[Any, tuple[Any, ...]]:
    """The symmetric weight matrix with an empty diagonal, sparse where the graph is, and the names of the vertices."""
    if hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        import networkx as nx

        if graph.is_directed():
            msg = "graph must be undirected, got a directed one; use graph.to_undirected()"
            raise ProblemError(msg)
        nodes = tuple(graph.nodes)
        if not nodes:
            msg = "graph is empty: it has no vertices"
            raise ProblemError(msg)
        W = nx.to_scipy_sparse_array(graph, nodelist=list(nodes), dtype=float, format="csr")
    else:
        W, nodes = graph, None
    if hasattr(W, "tocsr"):
        return _without_loops(_checked_sparse(W)), nodes or tuple(range(W.shape[0]))
    W = np.array(as_array("graph", graph))
    _require_square(W)
    _require_symmetric(W, float(np.max(np.abs(W - W.T))), float(np.max(np.abs(W), initial=0.0)))
    W = (W + W.T) / 2
    np.fill_diagonal(W, 0.0)  # a self-loop is never cut
    return W, tuple(range(len(W)))


def _require_square(W: Any) -> None:
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        msg = f"graph must be a networkx graph or a square matrix of weights, got shape {W.shape}"
        raise ProblemError(msg)
    if np.iscomplexobj(W):
        msg = "graph must have real weights"
        raise ProblemError(msg)


def _require_symmetric(W: Any, asymmetry: float, largest: float) -> None:
    if asymmetry > 1e-10 * largest:
        msg = (
            f"graph must be undirected, but its weights differ from their transpose by {asymmetry:.3g}; "
            f"pass W + W.T or (W + W.T) / 2, whichever you mean"
        )
        raise ProblemError(msg)


def _checked_sparse(W: Any) -> Any:
    """A sparse matrix of weights as a CSR array of its own, or the error that it deserves."""
    import scipy.sparse as sp

    _require_square(W)
    if W.shape[0] == 0:
        msg = f"graph is empty: shape {W.shape}"
        raise ProblemError(msg)
    W = sp.csr_array(W, copy=True)
    W.data = np.array(as_array("graph (its weights)", W.data)) if W.nnz else W.data.astype(float)
    W.sum_duplicates()
    _require_symmetric(W, float(abs(W - W.T).max()), float(abs(W).max()))
    return (W + W.T) / 2


def _without_loops(W: Any) -> Any:
    import scipy.sparse as sp

    W = sp.csr_array(W - sp.diags_array(W.diagonal()))
    W.eliminate_zeros()
    return W


@presented_by("matrixlearn_maxcut.present:CutPresenter")
@dataclass(frozen=True, eq=False)
class MaxCut(UnitDiagonalProblem):
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
    adjacency: Any = field(init=False, repr=False)
    """The weights as they are kept: a CSR array where the graph came sparse."""
    nodes: tuple[Any, ...] = field(init=False, repr=False)
    """The names of the vertices, in the order of rows."""

    name = "maxcut"

    def __post_init__(self) -> None:
        W, nodes = _adjacency(self.graph)
        object.__setattr__(self, "adjacency", W)
        object.__setattr__(self, "nodes", nodes)

    def check(self) -> None:
        """Construction has checked the data."""

    # -- the game ---------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights, dense, (n, n)."""
        W = self.adjacency
        return W.toarray() if hasattr(W, "toarray") else W

    @cached_property
    def degrees(self) -> np.ndarray:
        """sum_j W_ij, (n,)."""
        return np.asarray(self.adjacency.sum(axis=1)).reshape(-1)

    @cached_property
    def cost(self) -> np.ndarray:
        """L / 4 = (Diag(degrees) - W) / 4, dense."""
        return (np.diag(self.degrees) - self.weights) / 4

    @cached_property
    def cost_operator(self) -> Any:
        W = self.adjacency
        if (np.count_nonzero(W) if isinstance(W, np.ndarray) else W.nnz) > SPARSE * W.shape[0] ** 2:
            return self.cost
        import scipy.sparse as sp

        return sp.csr_array((sp.diags_array(self.degrees) - sp.csr_array(W)) / 4)

    # -- cuts -------------------------------------------------------------------------------------

    def cut_weight(self, side: np.ndarray) -> float:
        """The weight of the edges between the two sides."""
        return float(self.degrees @ side**2 - side @ (self.adjacency @ side)) / 4

    def round(self, solution: Solution, trials: int = 100, random_state: int | np.random.Generator | None = 0) -> Cut:
        """The best of ``trials`` random hyperplanes (Goemans-Williamson), each improved by single moves; of a large
        graph, the best of them are (`MOVED`). While all are, more trials are never worse.

        For weights >= 0 one hyperplane gives at least 0.878 of the optimum in expectation.
        """
        if solution.matrix is None:
            msg = "the solution holds no matrix to round: solve again with more time"
            raise ProblemError(msg)
        rng = np.random.default_rng(random_state)
        if isinstance(solution.matrix, FactoredMatrix):
            factor = solution.matrix.factor
        else:
            w, V = np.linalg.eigh(solution.matrix)
            factor = V * np.sqrt(np.maximum(w, 0.0))
        hyperplanes = rng.standard_normal((max(1, trials), factor.shape[1]))  # more trials begin with the same ones
        sides = np.where(factor @ hyperplanes.T >= 0, 1.0, -1.0)
        best_first = np.argsort([-self.cut_weight(side) for side in sides.T], kind="stable")
        chosen = best_first[: max(1, int(MOVED / self.size**2))]
        return max((self._improve(sides[:, j].copy()) for j in chosen), key=lambda cut: cut.weight)

    def _improve(self, side: np.ndarray) -> Cut:
        """Move single vertices, the one that adds most, while that adds weight."""
        least = 1e-12 * (abs(self.adjacency).max() or 1.0)
        while (gain := side * (self.adjacency @ side)).max() > least:  # computed anew, against rounding
            while gain[i := int(np.argmax(gain))] > least:
                side[i] = -side[i]
                near, weights = self._neighbours(i)
                gain[near] += 2 * side[i] * weights * side[near]
                gain[i] = -gain[i]
        return Cut(side.astype(int), self.cut_weight(side))

    def _neighbours(self, i: int) -> tuple[Any, np.ndarray]:
        """Where row i of the weights may have entries, and these."""
        W = self.adjacency
        if isinstance(W, np.ndarray):
            return slice(None), W[i]
        row = slice(W.indptr[i], W.indptr[i + 1])
        return W.indices[row], W.data[row]

    # -- files, the cvxpy reference ----------------------------------------------------------

    def parameters(self) -> Mapping[str, Any]:
        return {"graph": self.adjacency}

    def reference(self) -> cvxpy.Problem:
        import cvxpy as cp

        n = self.size
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
