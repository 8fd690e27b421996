"""Factors are the matrix that they stand for, and need less room; the whole life of an answer that is one."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems import UnitDiagonalProblem

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, complex_=st.booleans())
def test_it_is_the_matrix_it_stands_for(seed, complex_):
    rng = np.random.default_rng(seed)
    n, r = rng.integers(1, 8, 2)
    V = rng.standard_normal((n, r)) + (1j * rng.standard_normal((n, r)) if complex_ else 0)
    A = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
    A = A + A.conj().T
    X, dense = FactoredMatrix(V), V @ V.conj().T
    assert X.shape == dense.shape and X.dtype == dense.dtype and X.rank == r
    np.testing.assert_allclose(np.asarray(X), dense, atol=1e-13)
    np.testing.assert_allclose(X.diagonal(), np.diag(dense).real, atol=1e-13)
    np.testing.assert_allclose(X @ A, dense @ A, atol=1e-11)
    assert X.trace() == pytest.approx(np.trace(dense).real)
    for form in (A, sp.csr_array(A)):
        assert X.inner(form) == pytest.approx(np.trace(A @ dense).real, abs=1e-10)


def test_an_array_is_formed_only_by_a_copy():
    with pytest.raises(ValueError, match=r"\.dense\(\)"):
        np.array(FactoredMatrix(np.eye(2)), copy=False)


@pytest.fixture(scope="module")
def torus():
    """A torus of 2,025 vertices with weights of both signs, and its answer."""
    graph = nx.grid_2d_graph(45, 45, periodic=True)
    rng = np.random.default_rng(0)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = rng.choice([-1.0, 1.0])
    return ml.solve(MaxCut(nx.to_scipy_sparse_array(graph, format="csr")), tol=1e-3)


def test_a_large_answer_is_factors_and_no_square_array_is_formed(torus):
    assert torus.status == "optimal" and torus.method == "low-rank"
    assert isinstance(torus.matrix, FactoredMatrix)
    assert not {"weights", "cost"} & set(vars(torus.problem))
    np.testing.assert_allclose(torus.matrix.diagonal(), 1.0, rtol=1e-14)


def test_its_bounds_are_those_of_the_dense_matrix(torus):
    problem = torus.problem
    assert torus.certificate.verify().lower == pytest.approx(torus.lower, rel=1e-12)
    dense = ml.certify(problem, X=torus.matrix.dense())
    assert dense.lower == pytest.approx(torus.lower, rel=1e-7)
    y = torus.y
    exact = y.sum() + len(y) * np.linalg.eigvalsh(problem.game.C - np.diag(y))[-1]
    assert exact <= torus.upper <= exact * (1 + 1e-3)


def test_it_is_saved_and_loaded_without_a_square_array(torus, tmp_path):
    torus.save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_size < 2.5e6  # the factor and the edges; X alone would be 32 MB
    again = ml.Solution.load(tmp_path / "a.npz")
    assert (again.problem.adjacency != torus.problem.adjacency).nnz == 0
    np.testing.assert_array_equal(again.matrix.factor, torus.matrix.factor)
    assert again.certificate.verify().lower == pytest.approx(torus.lower, rel=1e-12)


def test_it_is_rounded_to_a_cut(torus):
    """Goemans and Williamson, Section 3.2.1, for weights of any sign: all of them below zero are W-."""
    cut = torus.problem.round(torus)
    below = min(0.0, np.minimum(torus.problem.adjacency.data, 0).sum() / 2)
    assert 0.878 * (torus.lower - below) + below <= cut.weight <= torus.upper


def test_it_starts_another_solve(torus):
    again = ml.solve(torus.problem, tol=1e-3, warm_start=torus, max_iter=0)
    assert again.status == "optimal" and again.lower == pytest.approx(torus.lower, rel=1e-12)


def test_factors_of_another_size_or_with_nan_are_refused(torus):
    with pytest.raises(ml.exceptions.ProblemError, match=r"shape \(2025, 2025\), got \(3, 3\)"):
        ml.certify(torus.problem, X=FactoredMatrix(np.ones((3, 1))))
    with pytest.raises(ml.exceptions.ProblemError, match="factor"):
        ml.certify(torus.problem, X=FactoredMatrix(np.full((2025, 1), np.nan)))


@given(seed=seeds)
def test_every_game_takes_factors(seed):
    """Weak duality, and the bound of the dense matrix."""
    rng = np.random.default_rng(seed)
    problem = ml.LinearSDP.random(rng) if seed % 2 else MaxCut.random(rng)
    n = problem.like.shape[0]
    X = FactoredMatrix(rng.standard_normal((n, int(rng.integers(1, n + 1)))))
    factored, dense = ml.certify(problem, X=X), ml.certify(problem, X=X.dense())
    if isinstance(problem, UnitDiagonalProblem):
        D = X.factor / np.linalg.norm(X.factor, axis=1)[:, None]
        assert factored.lower == pytest.approx(np.sum(problem.game.C * (D @ D.T)), abs=1e-12 * problem.scale)
    assert factored.lower == pytest.approx(dense.lower, rel=1e-6, abs=1e-6 * dense.size)
