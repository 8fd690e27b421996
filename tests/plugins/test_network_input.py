"""Data that cannot be, or are strange: refused by name, or solved right."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_network import GraphMultitask, GraphWarning, complete

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Local, Shards
from matrixlearn.testing.reference import optimum

RNG = np.random.default_rng(0)
X, TASK = RNG.standard_normal((12, 2)), np.repeat(np.arange(3), 4)
Y = X @ [1.0, -1.0] + 0.1 * RNG.standard_normal(12)
SIGNS = np.where(Y > 0, 1.0, -1.0)


def posed(**changed):
    return GraphMultitask(**({"X": X, "Y": Y, "eta": 0.1, "tau": 1.0, "task": TASK} | changed))


REFUSED = {
    "eta must be >= 0 and finite, got -1": {"eta": -1.0},
    "tau must be >= 0 and finite, got -1": {"tau": -1.0},
    "as tau grows all tasks become one: pool the rows": {"tau": np.inf},
    "loss must be one of": {"loss": "cubic"},
    "labels -1 and 1 for the logistic loss": {"loss": "logistic"},
    "labels -1 and 1 for the hinge loss, got \\[0": {"loss": "hinge", "Y": (SIGNS > 0).astype(float)},
    "X.*NaN": {"X": np.full((12, 2), np.nan)},
    "Y.*NaN": {"Y": np.full(12, np.nan)},
    "X and Y must have one row each": {"Y": Y[:5]},
    "task must label each of the 12 rows": {"task": TASK[:5]},
    "graph has 2 nodes, and there are 3 tasks": {"graph": complete(2)},
    "Y is missing": {"Y": None},
    "coordinates must have shape \\(3, 2\\)": {"coordinates": np.zeros((2, 2))},
    "sample_weight": {"sample_weight": -np.ones(12)},
    "task holds NaN": {"task": np.where(TASK == 0, np.nan, TASK)},
    "X\\[1\\] .task 1. has no rows": {"X": [X[:4], X[:0]], "Y": [Y[:4], Y[:0]], "task": None},
    "all tasks must have the same features": {"X": [X[:4], X[4:8, :1]], "Y": [Y[:4], Y[4:8]], "task": None},
    "Y holds nothing but NaN for task 1": {"Y": np.column_stack([Y, np.full(12, np.nan)]), "task": None},
    "Shards hold targets": {"X": Shards.of(X, Y, TASK)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_by_name(message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        with pytest.raises(ProblemError, match=message):
            posed(**REFUSED[message])


STRANGE = {
    "fewer rows than features": {"X": RNG.standard_normal((12, 9))},
    "all features zero": {"X": np.zeros((12, 2))},
    "a feature constant on one machine": {"X": np.where(TASK[:, None] == 1, 1.0, X)},
    "one class only on a machine": {"loss": "logistic", "Y": np.where(TASK == 2, 1.0, SIGNS)},
    "integer rows": {"X": RNG.integers(-3, 4, (12, 2))},
    "sparse rows": {"X": sp.csr_matrix(X)},
    "one task": {"task": np.zeros(12, int)},
    "one feature": {"X": X[:, :1]},
    "all tasks equal": {"X": np.tile(X[:4], (3, 1)), "Y": np.tile(Y[:4], 3)},
    "large units": {"X": 1e6 * X, "eta": 1e11, "tau": 1e12},
    "small units": {"X": 1e-6 * X, "eta": 1e-13, "tau": 1e-12},
    "tau of zero": {"tau": 0.0},
    "targets of zero": {"Y": np.zeros(12)},
    "a row of weight zero": {"sample_weight": np.where(np.arange(12) == 3, 0.0, 1.0)},
    "shared rows": {"Y": np.column_stack([Y, -Y]), "task": None},
    "missing targets": {"Y": np.column_stack([Y, np.where(np.arange(12) < 6, np.nan, Y)]), "task": None},
    "lists": {"X": [X[:4], X[4:]], "Y": [Y[:4], Y[4:]], "task": ["b", "a"]},
    "words": {"task": np.array(["x", "y", "z"])[TASK], "graph": [("x", "y"), ("z", "x", 2.0)]},
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_strange_is_solved_right(what):
    problem = posed(**STRANGE[what])
    judged = optimum(problem)
    for method in (m for m in ml.methods(problem) if m in ("krylov", "moments", "bol")):
        solution = ml.solve(problem, method=method, tol=1e-6, max_iter=3000)
        assert solution.status == "optimal", method
        assert solution.lower <= judged.value + judged.error
        assert judged.value - judged.error <= solution.upper


def test_weights_of_lists_are_columns_in_ascending_order_of_the_names():
    problem = posed(X=[X[:4], X[4:]], Y=[Y[:4], Y[4:]], task=["b", "a"], tau=0.0, eta=1e-6)
    assert problem.tasks == ("a", "b")
    W = ml.solve(problem, tol=1e-9).matrix
    np.testing.assert_allclose(W[:, 0], np.linalg.lstsq(X[4:], Y[4:])[0], atol=1e-4)
    # and the rows of a graph that comes as an array are those of the list
    three = {"X": [X[:4], X[4:8], X[8:]], "Y": [Y[:4], Y[4:8], Y[8:]], "task": ["c", "b", "a"]}
    path = nx.to_numpy_array(nx.path_graph(3))
    path[0, 1] = path[1, 0] = 5.0  # c - b
    assert posed(**three, graph=path).graph.weights[2, 1] == 5.0


def test_machines_that_load_their_rows_give_the_answer_of_rows_at_hand():
    blocks = [(X[k == TASK], Y[k == TASK]) for k in range(3)]
    loaded = GraphMultitask(Shards.loaded(lambda k: blocks[k], range(3)), None, None, 0.1, 1.0)
    np.testing.assert_allclose(ml.solve(loaded, tol=1e-9).matrix, ml.solve(posed(), tol=1e-9).matrix, atol=1e-9)


def test_user_arrays_are_left_as_they_are():
    rows, targets, weights = X.copy(), Y.copy(), np.ones(12)
    for array in (rows, targets, weights):
        array.flags.writeable = False
    for method in ("krylov", "bol", "moments", "ssr"):
        ml.solve(posed(X=rows, Y=targets, sample_weight=weights), method=method, tol=1e-6)
    np.testing.assert_array_equal(rows, X)


def test_answers_are_saved_with_their_graph(tmp_path):
    problem = posed(machines=Local(), graph=nx.path_graph(3), coordinates=np.arange(6.0).reshape(3, 2))
    solution = ml.solve(problem, tol=1e-8)
    solution.save(tmp_path / "answer.npz")
    again = ml.Solution.load(tmp_path / "answer.npz")
    again.certificate.verify()
    np.testing.assert_array_equal(again.problem.coordinates, problem.coordinates)
    assert again.problem.graph.edges == 2
