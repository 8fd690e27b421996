"""Minimum-weight perfect matching of two spectra: the oracle behind the clipped log-det.

    min over doubly stochastic P of a^T P b = min over permutations pi of sum_i a_i b_pi(i)        (Birkhoff)
                                            = sum_i a_i b_i,   a descending, b ascending            (Theorem 4.1)

where the middle is a minimum-weight perfect matching with the weight a_i b_j on the edge (i, j). It is the
minimum of tr(A U B U^T) over orthogonal U for symmetric A and B with these eigenvalues. `sorted_pairing` is the
answer in O(n log n); the two solvers, which know nothing of the structure of the weights, are its judges.
"""

from __future__ import annotations

import numpy as np

from matrixlearn.exceptions import ProblemError


def sorted_pairing(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The permutation pi that minimizes sum_i a_i b_pi(i): the largest a with the smallest b, and so on.

    Parameters
    ----------
    a, b : arrays, shape (n,)
        Of any sign; ties are broken by position.

    Returns
    -------
    array of int, shape (n,)
        a_i is matched with b[pi[i]].

    Source: Zhao, Stretcu, Smola and Gordon, Theorem 4.1 (the rearrangement inequality).
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        msg = f"a and b must be vectors of one length, got shapes {a.shape} and {b.shape}"
        raise ProblemError(msg)
    pairing = np.empty(len(a), dtype=int)
    pairing[np.argsort(-a, kind="stable")] = np.argsort(b, kind="stable")
    return pairing


def minimum_weight_matching(weights: np.ndarray) -> np.ndarray:
    """The permutation pi that minimizes sum_i weights[i, pi(i)], by scipy's ``linear_sum_assignment``, O(n^3).

    Parameters
    ----------
    weights : array, shape (n, n)

    Returns
    -------
    array of int, shape (n,)
    """
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(_square(weights))[1])


def bipartite_matching(weights: np.ndarray) -> np.ndarray:
    """The same by networkx's ``minimum_weight_full_matching`` on the complete bipartite graph.

    Parameters
    ----------
    weights : array, shape (n, n)

    Returns
    -------
    array of int, shape (n,)
    """
    import networkx as nx

    weights = _square(weights)
    n = len(weights)
    graph = nx.Graph()
    graph.add_nodes_from(("a", i) for i in range(n))
    graph.add_nodes_from(("b", j) for j in range(n))
    graph.add_weighted_edges_from((("a", i), ("b", j), float(weights[i, j])) for i in range(n) for j in range(n))
    matched = nx.bipartite.minimum_weight_full_matching(graph, top_nodes=[("a", i) for i in range(n)])
    return np.array([matched["a", i][1] for i in range(n)], dtype=int)


def _square(weights: np.ndarray) -> np.ndarray:
    weights = np.asarray(weights, dtype=float)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        msg = f"weights must be a square matrix, got shape {weights.shape}"
        raise ProblemError(msg)
    if not np.all(np.isfinite(weights)):
        msg = "weights must be finite: every pair may be matched"
        raise ProblemError(msg)
    return weights
