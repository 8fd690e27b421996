"""Graphs of tasks, and ways to have one: neighbours by place, the variogram, all with all.

L = D - A,      D = diag(deg),  deg_i = sum_k a_ik,      tr(W L W^T) = sum over edges of a_ik ||w_i - w_k||^2
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Links
from matrixlearn.validation import as_array, as_samples

DENSE = 500
"""Tasks up to which a dense decomposition of the Laplacian is quickest."""

MOST = 10_000
"""Tasks of a complete graph at the most."""

TOLERANCE = 1e-10
"""Asymmetry, relative to the largest weight, that is rounding."""


class GraphWarning(UserWarning):
    """A graph that is not what it seems: self-loops, no edges, several parts."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A weighted graph of m tasks, a_ik = a_ki >= 0, a_ii = 0.

    Parameters
    ----------
    weights : CSR array, shape (m, m)
    names : tuple of m names, optional
        Of the nodes, the labels of the tasks; without any, nodes are tasks in their order.
    coordinates : array, shape (m, 2), optional
        Where to draw the nodes.
    """

    weights: Any
    names: tuple[Hashable, ...] | None = None
    coordinates: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _checked(self.weights))
        if self.names is not None:
            names = tuple(np.asarray(self.names).tolist()) if isinstance(self.names, np.ndarray) else tuple(self.names)
            if len(names) != len(self) or len(set(names)) < len(self):
                msg = f"names must name each of the {len(self)} nodes once, got {len(set(names))} different names"
                raise ProblemError(msg)
            object.__setattr__(self, "names", names)

    def __len__(self) -> int:
        return int(self.weights.shape[0])

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} tasks, {self.edges} edges>"

    @property
    def edges(self) -> int:
        """|E|."""
        return int(self.weights.nnz) // 2

    @cached_property
    def degrees(self) -> np.ndarray:
        """deg, (m,)."""
        return np.asarray(self.weights.sum(axis=1)).reshape(-1)

    @cached_property
    def parts(self) -> int:
        """How many pieces hang together in themselves."""
        from scipy.sparse.csgraph import connected_components

        return int(connected_components(self.weights, directed=False, return_labels=False))

    @cached_property
    def diameter(self) -> int:
        """The most edges between two nodes of the same part: O(m |E|)."""
        from scipy.sparse.csgraph import shortest_path

        far = shortest_path(self.weights, directed=False, unweighted=True)
        return int(far[np.isfinite(far)].max())

    @cached_property
    def links(self) -> Links:
        """The directed edges."""
        entries = self.weights.tocoo()
        return Links(entries.col, entries.row, len(self))

    @cached_property
    def link_weights(self) -> np.ndarray:
        """The weight of each of `links`."""
        return np.asarray(self.weights.tocoo().data)

    @cached_property
    def once(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each edge once: its ends and its weight."""
        upper = sp.triu(self.weights).tocoo()
        return upper.row, upper.col, upper.data

    @cached_property
    def incidence(self) -> Any:
        """The CSR array (m, |E|) with 1 and -1 at the two ends of each edge of `once`."""
        i, k, _ = self.once
        edges = np.tile(np.arange(len(i)), 2)
        signs = np.repeat([1.0, -1.0], len(i))
        return sp.csr_array((signs, (np.concatenate([i, k]), edges)), shape=(len(self), len(i)))

    def apply(self, V: np.ndarray) -> np.ndarray:
        """L V for V by task, (m, d)."""
        return np.asarray(self.degrees[:, None] * V - self.weights @ V)

    def roughness(self, V: np.ndarray) -> float:
        """tr(V^T L V), by differences: a sum of terms >= 0."""
        i, k, a = self.once
        return float(a @ np.sum((V[i] - V[k]) ** 2, axis=1))

    @cached_property
    def laplacian(self) -> Any:
        """L, sparse, (m, m)."""
        return sp.csr_array(sp.diags_array(self.degrees) - self.weights)

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of L, ascending and not negative, and eigenvectors: O(m^3)."""
        values, vectors = np.linalg.eigh(self.laplacian.toarray())
        return np.maximum(values, 0.0), vectors

    @cached_property
    def largest(self) -> float:
        """lambda_max(L), or not much above it; at most twice the largest degree."""
        bound = 2 * float(self.degrees.max(initial=0.0))
        if len(self) <= DENSE:
            return min(bound, float(self.spectrum[0][-1]))
        try:
            found = sp.linalg.eigsh(self.laplacian, k=1, which="LA", tol=1e-3, return_eigenvectors=False)
        except sp.linalg.ArpackError:
            return bound
        return min(bound, 1.01 * float(found[0]))

    def scaled(self, trace: float | None = None) -> Graph:
        """The graph with tr L = trace, m by default: then tau means the same for graphs of all kinds."""
        total = float(self.degrees.sum())
        if total == 0:
            return self
        return Graph(self.weights * ((len(self) if trace is None else trace) / total), self.names, self.coordinates)

    def ordered(self, tasks: Sequence[Hashable]) -> Graph:
        """The graph with its nodes in the order of the tasks.

        Raises
        ------
        ProblemError
            For a node that is no task, and a task that is no node.
        """
        if self.names is None:
            if len(self) != len(tasks):
                msg = f"graph has {len(self)} nodes, and there are {len(tasks)} tasks; it needs one for each"
                raise ProblemError(msg)
            return Graph(self.weights, tuple(tasks), self.coordinates)
        place = {name: at for at, name in enumerate(self.names)}
        lacking = [task for task in tasks if task not in place]
        strange = set(self.names) - set(tasks)
        if lacking:
            msg = f"task {_some(lacking)} is no node of the graph, whose nodes are {_some(self.names)}"
            raise ProblemError(msg)
        if strange:
            msg = f"node {_some(sorted(strange, key=str))} of the graph is no task: leave it out, or give it rows"
            raise ProblemError(msg)
        order = np.array([place[task] for task in tasks])
        where = None if self.coordinates is None else self.coordinates[order]
        return Graph(self.weights[order][:, order], tuple(tasks), where)


def _some(names: Iterable[Any]) -> str:
    listed = [repr(name) for name in names]
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} others" if len(listed) > 4 else "")


def _checked(weights: Any) -> Any:
    """Symmetric weights >= 0 without a diagonal, as CSR."""
    W = sp.csr_array(weights) if hasattr(weights, "tocsr") else sp.csr_array(np.asarray(as_array("graph", weights)))
    W = W.astype(float)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not W.shape[0]:
        msg = f"graph must be a square matrix of weights, one row for each task, got shape {W.shape}"
        raise ProblemError(msg)
    if W.nnz and not np.all(np.isfinite(W.data)):
        msg = "graph holds weights that are NaN or infinite; leave such edges out"
        raise ProblemError(msg)
    if W.nnz and W.data.min() < 0:
        msg = f"graph holds the negative weight {W.data.min():g}; weights say how alike tasks are, and are >= 0"
        raise ProblemError(msg)
    difference = abs(W - W.T)
    if W.nnz and difference.max() > TOLERANCE * W.data.max():
        i, k = (int(end[int(np.argmax(difference.tocoo().data))]) for end in difference.tocoo().coords)
        msg = (
            f"graph must be symmetric, but a[{i}, {k}] = {W[i, k]:g} and a[{k}, {i}] = {W[k, i]:g}: with neighbours "
            f"that are not mutual the method minimises nothing. Take np.maximum(A, A.T), or (A + A.T) / 2"
        )
        raise ProblemError(msg)
    W = sp.csr_array((W + W.T) / 2)
    if np.any(W.diagonal()):
        warnings.warn(
            "graph has self-loops, which the Laplacian cancels: they are left out", GraphWarning, stacklevel=4
        )
        W = W - sp.diags_array(W.diagonal())
    W = sp.csr_array(W)
    W.eliminate_zeros()
    W.sort_indices()
    return W


def as_graph(graph: Any, tasks: Sequence[Hashable]) -> Graph:
    """The graph of these tasks, from whatever a user has.

    Parameters
    ----------
    graph : Graph, networkx graph, array or sparse array (m, m), sequence of edges, or None
        Edges are tuples (task, task) or (task, task, weight). None is `complete`.
    tasks : sequence of m labels

    Raises
    ------
    ProblemError
        For what cannot be the graph of the tasks; the message says why.
    """
    if graph is None:
        found = complete(len(tasks), tasks)
    elif isinstance(graph, Graph):
        found = graph.ordered(tasks)
    elif hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        found = _of_networkx(graph).ordered(tasks)
    elif isinstance(graph, list | tuple) and not _is_matrix(graph):
        found = of_edges(graph, tasks)
    else:
        found = Graph(graph).ordered(tasks)
    if len(found) > 1 and found.edges == 0:
        warnings.warn("graph has no edges: every task is alone, whatever tau is", GraphWarning, stacklevel=3)
    elif found.parts > 1:
        msg = f"graph is not connected: its {found.parts} parts learn nothing from each other"
        warnings.warn(msg, GraphWarning, stacklevel=3)
    return found


def _is_matrix(graph: Any) -> bool:
    """Rows are lists, edges are tuples."""
    return len(graph) > 0 and all(isinstance(row, list) and len(row) == len(graph) for row in graph)


def _of_networkx(graph: Any) -> Graph:
    import networkx as nx

    if graph.is_directed():
        msg = "graph is directed, but tasks must be neighbours of each other: take graph.to_undirected()"
        raise ProblemError(msg)
    where = nx.get_node_attributes(graph, "pos")
    names = tuple(graph.nodes)
    coordinates = np.array([where[name] for name in names], dtype=float) if len(where) == len(names) else None
    return Graph(nx.to_scipy_sparse_array(graph, dtype=float), names, coordinates)


def of_edges(edges: Iterable[Sequence[Any]], tasks: Sequence[Hashable]) -> Graph:
    """The graph of edges (task, task) or (task, task, weight), each given once.

    Raises
    ------
    ProblemError
        For an end that is no task, and for an edge that is given twice with different weights.
    """
    place = {name: at for at, name in enumerate(tasks)}
    known: dict[tuple[int, int], float] = {}
    for edge in edges:
        if not hasattr(edge, "__len__") or len(edge) not in (2, 3) or isinstance(edge, str):
            msg = f"graph as a sequence holds edges (task, task) or (task, task, weight), got {edge!r}"
            raise ProblemError(msg)
        a, b, weight = (*edge, 1.0)[:3]
        for end in (a, b):
            if end not in place:
                msg = f"edge {tuple(edge)!r} ends at {end!r}, which is no task; tasks are {_some(tasks)}"
                raise ProblemError(msg)
        i, k = sorted((place[a], place[b]))
        if known.setdefault((i, k), float(weight)) != float(weight):
            msg = f"the edge of {a!r} and {b!r} is given twice, with weights {known[i, k]:g} and {float(weight):g}"
            raise ProblemError(msg)
    ends = np.array(list(known), dtype=int).reshape(-1, 2)
    half = sp.coo_array((np.array(list(known.values())), (ends[:, 0], ends[:, 1])), shape=(len(tasks),) * 2).tocsr()
    loops = sp.diags_array(half.diagonal()) if half.shape[0] else 0
    return Graph(sp.csr_array(half + half.T - loops), tuple(tasks))


# -- ways to have one ------------------------------------------------------------------------------


def complete(tasks: int, names: Sequence[Hashable] | None = None) -> Graph:
    """All with all, a_ik = 1 / m: tr(W L W^T) = sum_i ||w_i - mean||^2, the mean-regularised tasks."""
    if tasks < 1:
        msg = f"a graph needs a task, got {tasks}"
        raise ProblemError(msg)
    if tasks > MOST:
        msg = f"the complete graph of {tasks} tasks is too large: give one with few neighbours for each"
        raise ProblemError(msg)
    return Graph(np.full((tasks, tasks), 1.0 / tasks) - np.eye(tasks) / tasks, None if names is None else tuple(names))


def neighbours(coordinates: Any, k: int = 4, names: Sequence[Hashable] | None = None) -> Graph:
    """The k nearest of each, a = exp(-(distance / s)^2), s the median distance to the k-th.

    An edge has the larger weight of its two directions. tr L = m, so that tau means the same for all graphs.

    Parameters
    ----------
    coordinates : array, shape (m, c)
        In units in which distances mean something: kilometres, not degrees. The first two are those of the picture.
    k : int
        From 1 to m - 1.
    names : sequence of m labels, optional

    Raises
    ------
    ProblemError
        For coordinates that are no numbers, and for k out of its range.
    """
    from scipy.spatial import cKDTree

    places = np.asarray(as_samples("coordinates", coordinates))
    m = len(places)
    if not 1 <= k < m:
        msg = f"k must be from 1 to m - 1 = {m - 1}, got {k}"
        raise ProblemError(msg)
    distance, other = cKDTree(places).query(places, k + 1)
    mine = np.repeat(np.arange(m), k + 1)
    far, near = distance.reshape(-1), other.reshape(-1)
    kept = mine != near  # of places that coincide any one may come first
    scale = float(np.median(distance[:, k])) or 1.0
    weight = np.maximum(np.exp(-((far[kept] / scale) ** 2)), 1e-12)  # the far ones stay neighbours
    W = sp.coo_array((weight, (mine[kept], near[kept])), shape=(m, m)).tocsr()
    drawn = places[:, :2] if places.shape[1] > 1 else np.column_stack([places, np.zeros(m)])
    return Graph(W.maximum(W.T), None if names is None else tuple(names), drawn).scaled()


def variogram(Y: Any, names: Sequence[Hashable] | None = None) -> Graph:
    """a_ik = 1 / var(y_i - y_k) over the times that both have: the modified inverse variogram of GSpartan.

    Parameters
    ----------
    Y : array, shape (times, m)
        NaN where a task has no value.
    names : sequence of m labels, optional

    Raises
    ------
    ProblemError
        Where two series differ by a constant, so that the weight is infinite, or share fewer than two times.
    """
    Y = np.asarray(Y, dtype=float)
    if Y.ndim != 2 or np.isinf(Y).any():
        msg = f"Y must be a matrix (times, tasks) of numbers or NaN, got shape {Y.shape}"
        raise ProblemError(msg)
    m = Y.shape[1]
    label = tuple(range(m)) if names is None else tuple(names)
    there = (~np.isnan(Y)).astype(float)
    centre = np.nansum(Y, axis=0) / np.maximum(there.sum(axis=0), 1)  # variances do not see it, sums of squares do
    filled = np.where(there > 0, Y - centre, 0.0)
    both = there.T @ there
    total = filled.T @ there
    square = (filled**2).T @ there
    mean = (total - total.T) / np.maximum(both, 1)
    variance = (square + square.T - 2 * filled.T @ filled) / np.maximum(both, 1) - mean**2
    size = (square + square.T) / np.maximum(both, 1)
    for i, k in zip(*np.triu_indices(m, 1), strict=True):
        if both[i, k] < 2:
            msg = (
                f"tasks {label[i]!r} and {label[k]!r} share {int(both[i, k])} times, and a variogram needs two or more"
            )
            raise ProblemError(msg)
        if not variance[i, k] > 1e-12 * size[i, k]:
            msg = (
                f"tasks {label[i]!r} and {label[k]!r} differ by a constant: their weight 1 / var would be infinite. "
                f"Make one task of them, or give the graph as weights"
            )
            raise ProblemError(msg)
    W = np.zeros((m, m))
    off = ~np.eye(m, dtype=bool)
    W[off] = 1.0 / variance[off]
    return Graph((W + W.T) / 2, None if names is None else label).scaled()
