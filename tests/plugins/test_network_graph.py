"""Graphs: the Laplacian is right, helpers give what they say, and what cannot be the graph of the tasks is named."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_network import Graph, GraphWarning, as_graph, complete, neighbours, of_edges, variogram
from matrixlearn_network.coupling import Coupling, MeanGram

from matrixlearn.exceptions import ProblemError

seeds = st.integers(0, 2**31 - 2)


def drawn(seed, most=8):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, most))
    A = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.6), 1)
    return A + A.T, rng


@given(seeds)
def test_the_laplacian_is_that_of_the_differences(seed):
    A, rng = drawn(seed)
    graph, V = Graph(A), rng.standard_normal((len(A), 3))
    by_differences = sum(A[i, k] * np.sum((V[i] - V[k]) ** 2) for i in range(len(A)) for k in range(i))
    L = np.diag(A.sum(axis=1)) - A
    np.testing.assert_allclose(graph.roughness(V), by_differences, atol=1e-12)
    np.testing.assert_allclose(np.vdot(V, graph.apply(V)), by_differences, atol=1e-12)
    np.testing.assert_allclose(graph.apply(V), L @ V, atol=1e-12)
    np.testing.assert_allclose(graph.largest, np.linalg.eigvalsh(L)[-1], atol=1e-10)
    assert graph.parts == nx.number_connected_components(nx.from_numpy_array(A))


@given(seeds, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_inverse_of_m_takes_weighted_averages(seed, eta, tau):
    A, rng = drawn(seed)
    coupling = Coupling(Graph(A), eta, tau)
    inverse = coupling.solve(np.eye(len(A)))
    assert inverse.min() >= -1e-12
    np.testing.assert_allclose(inverse.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(coupling.apply(inverse), np.eye(len(A)), atol=1e-8)
    np.testing.assert_allclose(
        coupling.precision.dense(), coupling.apply(np.eye(len(A))), rtol=1e-9, atol=1e-9 * tau / eta
    )


def test_large_graphs_are_solved_by_sparse_factors_as_small_ones_by_dense(monkeypatch):
    rng = np.random.default_rng(0)
    graph = neighbours(rng.random((40, 2)), 3)
    V, mean = rng.standard_normal((40, 3)), np.diag([0.0, 1.0, 5.0])
    dense = Coupling(graph, 0.1, 2.0).solve(V), MeanGram(mean, graph, 0.1, 2.0).solve(V)
    monkeypatch.setattr("matrixlearn_network.coupling.DENSE", 10)
    sparse = Coupling(graph, 0.1, 2.0).solve(V), MeanGram(mean, graph, 0.1, 2.0).solve(V)
    np.testing.assert_allclose(sparse[0], dense[0], atol=1e-10)
    np.testing.assert_allclose(sparse[1], dense[1], atol=1e-10)
    residual = dense[1] @ mean + 0.1 * dense[1] + 2.0 * graph.apply(dense[1]) - V
    np.testing.assert_allclose(residual, 0, atol=1e-10)


def test_a_hundred_thousand_nodes_are_no_trouble():
    rng = np.random.default_rng(0)
    graph = neighbours(rng.random((100_000, 2)), 2)
    assert len(graph) == 100_000 and 100_000 < graph.edges < 200_000
    assert 0 < graph.largest <= 2 * graph.degrees.max()
    V = Coupling(graph, 1.0, 1.0).solve(np.ones((100_000, 1)))
    np.testing.assert_allclose(V, 1.0, rtol=1e-9)


def test_graphs_come_in_the_forms_that_people_have_them_in():
    A = np.array([[0, 2.0, 0], [2.0, 0, 1.0], [0, 1.0, 0]])
    named = nx.relabel_nodes(nx.from_numpy_array(A), dict(enumerate("cab")))
    tasks = ("a", "b", "c")
    by_name = np.array([[0, 1.0, 2.0], [1.0, 0, 0], [2.0, 0, 0]])
    for graph in (named, [("a", "b"), ("c", "a", 2.0)], Graph(A, tuple("cab"))):
        np.testing.assert_array_equal(as_graph(graph, tasks).weights.toarray(), by_name)
    for graph in (A, A.tolist(), sp.coo_matrix(A), Graph(A)):
        np.testing.assert_array_equal(as_graph(graph, tasks).weights.toarray(), A)
    explicit = sp.csr_array(sp.coo_array(([2.0, 2.0, 1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]))))
    assert as_graph(explicit, tasks).edges == 2  # a zero that is kept as an entry is no edge
    nx.set_node_attributes(named, {"a": (0, 1), "b": (2, 3), "c": (4, 5)}, "pos")
    np.testing.assert_array_equal(as_graph(named, tasks).coordinates, [[0, 1], [2, 3], [4, 5]])
    np.testing.assert_allclose(as_graph(None, tasks).laplacian.toarray(), np.eye(3) - 1 / 3)


BAD = {
    "must be symmetric, but a\\[0, 1\\] = 1 .* np.maximum": np.array([[0, 1.0], [0.0, 0]]),
    "negative weight -1": np.array([[0, -1.0], [-1.0, 0]]),
    "NaN": np.array([[0, np.nan], [np.nan, 0]]),
    "square": np.ones((2, 3)),
    "has 3 nodes, and there are 2 tasks": np.zeros((3, 3)),
    "directed": nx.DiGraph([("a", "b")]),
    "task 'b' is no node": nx.Graph([("a", "c")]),
    "node 'c' of the graph is no task": nx.Graph([("a", "b"), ("b", "c")]),
    "ends at 'z', which is no task": [("a", "z")],
    "given twice": [("a", "b", 1.0), ("b", "a", 2.0)],
    "edges \\(task, task\\)": ["ab"],
}


@pytest.mark.parametrize("message", BAD)
def test_a_graph_that_cannot_be_is_named(message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        with pytest.raises(ProblemError, match=message):
            as_graph(BAD[message], ("a", "b"))


def test_a_graph_that_is_not_what_it_seems_is_said():
    with pytest.warns(GraphWarning, match="self-loops"):
        assert Graph(np.array([[3.0, 1.0], [1.0, 0.0]])).degrees.tolist() == [1.0, 1.0]
    with pytest.warns(GraphWarning, match="no edges"):
        as_graph(np.zeros((2, 2)), (0, 1))
    with pytest.warns(GraphWarning, match="2 parts"):
        as_graph([(0, 1), (2, 3)], (0, 1, 2, 3))
    with pytest.raises(ProblemError, match="once"):
        Graph(np.zeros((2, 2)), ("a", "a"))


def test_neighbours_by_place():
    line = np.arange(6.0)[:, None] * [1.0, 0.0]
    graph = neighbours(line, 1)
    np.testing.assert_allclose(graph.degrees.sum(), 6)  # tr L = m
    assert graph.weights[0, 1] > 0 and graph.weights[0, 3] == 0
    assert neighbours(np.zeros((3, 2)), 1).edges >= 2  # places that coincide
    for k in (0, 6):
        with pytest.raises(ProblemError, match="k must be from 1 to m - 1 = 5"):
            neighbours(line, k)
    with pytest.raises(ProblemError, match="coordinates"):
        neighbours(np.full((3, 2), np.nan))
    with pytest.raises(ProblemError, match="complete graph of 20000"):
        complete(20_000)
    with pytest.raises(ProblemError, match="'b', which is no task; tasks are 'a'"):
        of_edges([("a", "b")], ("a",))


def test_the_variogram_is_that_of_the_common_times_and_refuses_infinity():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((30, 3)) + 100.0
    Y[3:9, 0] = np.nan
    graph = variogram(Y)
    A = np.zeros((3, 3))
    for i in range(3):
        for k in range(i):
            both = ~np.isnan(Y[:, i]) & ~np.isnan(Y[:, k])
            A[i, k] = A[k, i] = 1 / np.var(Y[both, i] - Y[both, k])
    np.testing.assert_allclose(graph.weights.toarray(), A * 3 / A.sum(), rtol=1e-9)
    with pytest.raises(ProblemError, match=r"tasks 0 and 1 differ by a constant.*infinite"):  # erratum E14
        variogram(np.column_stack([Y[:, 1], Y[:, 1] + 2.0]))
    apart = np.full((4, 2), np.nan)
    apart[:2, 0], apart[2:, 1] = 1.0, 2.0
    with pytest.raises(ProblemError, match="share 0 times"):
        variogram(apart)
