"""Burer-Monteiro factors: the law on random instances, the KKT conditions, saddle points, the proof of the bound."""

import dataclasses
import decimal
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from matrixlearn.engines import Incumbent, LowRank
from matrixlearn.engines.low_rank import _at
from matrixlearn.linalg import FactoredMatrix, largest
from matrixlearn.problems import UnitDiagonalProblem
from matrixlearn.testing.reference import optimum

seeds = st.integers(0, 2**32 - 1)


def graph(n, degree=4, seed=0, weights=lambda rng, k: np.ones(k)):
    """A sparse random graph with n vertices."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, degree * n // 2))
    keep = i != j
    W = sp.coo_array((weights(rng, keep.sum()), (i[keep], j[keep])), shape=(n, n)).tocsr()
    return sp.csr_array(W + W.T)


def dense_bound(problem, y):
    """sum y + n lambda_max(C - Diag y), from the definition."""
    return y.sum() + len(y) * np.linalg.eigvalsh(problem.game.C - np.diag(y))[-1]


@dataclasses.dataclass(frozen=True, eq=False)
class Correlation(UnitDiagonalProblem):
    """The nearest thing to a stranger's spec: a symmetric C and nothing else."""

    C: np.ndarray
    name = "correlation"

    @property
    def cost(self):
        return self.C

    @classmethod
    def random(cls, rng):
        n = int(rng.integers(1, 10))
        root = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-6, 6)
        return cls(root + root.T)


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
@pytest.mark.parametrize("cls", [MaxCut, Correlation])
def test_the_law_holds_and_every_instance_is_solved(cls, tol):
    for seed in range(60):
        problem = cls.random(np.random.default_rng(seed))
        judge = optimum(problem)
        solution = ml.solve(problem, "low-rank", tol=tol, max_iter=1000)
        assert solution.status == "optimal", f"seed {seed}: {solution.summary()}"
        assert solution.lower <= judge.value + judge.error, seed
        assert solution.upper >= judge.value - judge.error, seed
        solution.certificate.verify()
        X = solution.matrix
        np.testing.assert_allclose(np.diag(X), 1.0, rtol=1e-14)
        assert np.linalg.eigvalsh(X)[0] >= -1e-12 * len(X)


@pytest.mark.parametrize("seed", range(5))
def test_the_multipliers_are_those_of_the_kkt_conditions(seed):
    """At the end S V = 0 and S >= 0 for S = Diag(y) - C, and sum y is the value."""
    problem = MaxCut(graph(40, seed=seed, weights=lambda rng, k: rng.uniform(-1, 2, k)))
    engine = LowRank()
    state = engine.init(problem, Incumbent(problem))
    for _ in range(400):
        state = engine._descended(state)
    S = np.diag(state.y) - problem.game.C
    assert np.linalg.norm(S @ state.V) <= 1e-6 * problem.scale
    assert np.linalg.eigvalsh(S)[0] >= -1e-7 * problem.game.cost_norm
    assert state.y.sum() == pytest.approx(np.sum(problem.game.C * (state.V @ state.V.T)), rel=1e-12)
    assert ml.solve(problem, "interior-point", tol=1e-8).value == pytest.approx(state.y.sum(), rel=1e-7)


@given(seed=seeds)
def test_steps_descend_along_the_spheres(seed):
    problem = MaxCut.random(np.random.default_rng(seed))
    engine = LowRank(rank=int(seed % 3) + 1)
    states = [engine.init(problem, Incumbent(problem))]
    for _ in range(25):
        states.append(engine._descended(states[-1]))
        if states[-1].finished:
            break
    for before, after in pairwise(states):
        assert after.f <= before.f + 1e-13 * abs(before.f)
        np.testing.assert_allclose(np.sum(after.V**2, axis=1), 1.0, rtol=1e-12)
        # the gradient is tangent, and is that of f
        assert np.abs(np.sum(after.gradient * after.V, axis=1)).max() <= 1e-12 * (1 + problem.game.cost_norm)
    rng = np.random.default_rng(seed)
    D = rng.standard_normal(after.V.shape)
    D -= np.sum(D * after.V, axis=1)[:, None] * after.V
    values = [_at(after.C, (V := after.V + h * D) / np.linalg.norm(V, axis=1)[:, None])["f"] for h in (1e-5, -1e-5)]
    assert (values[0] - values[1]) / 2e-5 == pytest.approx(
        np.vdot(after.gradient, D), rel=1e-4, abs=1e-4 * problem.scale
    )


@pytest.mark.parametrize("n", [5, 7, 13])
def test_a_saddle_point_is_left_by_a_new_column(n):
    """Of an odd cycle every cut is stationary at rank one; the optimum has rank two."""
    problem = MaxCut(nx.cycle_graph(n))
    solution = ml.solve(problem, LowRank(rank=1), tol=1e-6, max_iter=3000)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(n * (1 - np.cos(np.pi * (n - 1) / n)) / 2, rel=1e-6)
    assert np.linalg.matrix_rank(solution.matrix, tol=1e-3) >= 2


def test_the_rank_grows_only_where_it_must():
    problem = MaxCut(graph(60))
    engine = LowRank()
    state, incumbent = engine.init(problem, Incumbent(problem)), Incumbent(problem)
    first = state.V.shape[1]
    for _ in range(150):
        state = engine.step(problem, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
    assert incumbent.gap <= 1e-5
    assert state.V.shape[1] == first


@pytest.mark.parametrize("make", [lambda n: sp.csr_array((n, n)), nx.empty_graph])
def test_a_graph_without_edges(make):
    solution = ml.solve(MaxCut(make(3)), "low-rank", tol=1e-6)
    assert solution.status == "optimal"
    assert abs(solution.value) <= 1e-9


@pytest.mark.parametrize("k", [1e-8, 1.0, 1e8])
def test_the_units_of_the_weights_do_not_matter(k):
    W = graph(130)
    one, scaled = ml.solve(MaxCut(W), "low-rank", tol=1e-6), ml.solve(MaxCut(k * W), "low-rank", tol=1e-6)
    assert abs(scaled.iterations - one.iterations) <= 2
    assert scaled.value == pytest.approx(k * one.value, rel=1e-9)


def test_the_limit_of_double_precision_ends_it_with_the_best_bounds():
    solution = ml.solve(MaxCut(graph(50)), "low-rank", tol=1e-16, atol=0)
    assert solution.status == "stopped"
    assert "numerical limit" in solution.explain()
    assert solution.gap <= 1e-9
    solution.certificate.verify()


def test_other_games_are_refused_before_the_first_step():
    program = ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 1.0)
    assert "low-rank" not in ml.methods(program)
    with pytest.raises(ml.exceptions.CapabilityError, match="UnitDiagonalProblem"):
        ml.solve(program, "low-rank")


def test_auto_takes_it_where_it_was_measured_ahead():
    small, large = MaxCut(graph(99)), MaxCut(graph(100))
    assert ml.solve(small, tol=1e-2).method == "interior-point"
    solution = ml.solve(large, tol=1e-2)
    assert solution.method == "low-rank"
    assert "measured ahead of interior-point" in solution.explain()
    assert ml.solve(large, tol=1e-9, max_iter=0).method == "interior-point"


# -- sparse graphs, and the proof of the largest eigenvalue ------------------------------------------


def test_sparse_and_dense_weights_are_one_problem():
    W = graph(120, weights=lambda rng, k: rng.uniform(-1, 2, k))
    sparse, dense = MaxCut(W), MaxCut(W.toarray())
    assert sp.issparse(sparse.cost_operator)
    np.testing.assert_allclose(sparse.cost, dense.cost, atol=1e-15)
    np.testing.assert_allclose(sparse.cost_operator.toarray(), sparse.cost, atol=1e-15)
    y = np.random.default_rng(0).standard_normal(120)
    np.testing.assert_allclose(sparse.shifted_operator(y).toarray(), sparse.game.image(y), atol=1e-15)
    a, b = ml.solve(sparse, tol=1e-6), ml.solve(dense, tol=1e-6)
    assert a.value == pytest.approx(b.value, rel=2e-6)


def test_the_dense_matrices_are_formed_when_asked_for():
    problem = MaxCut(graph(1000))
    assert not {"weights", "cost"} & set(vars(problem))
    problem.cut_weight(np.ones(1000))
    engine = LowRank()
    state = engine.init(problem, Incumbent(problem))
    engine._descended(state)
    assert not {"weights", "cost"} & set(vars(problem))


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])), "differ from their transpose by 1"),
        (sp.csr_array(np.array([[0.0, np.nan], [np.nan, 0.0]])), "NaN"),
        (sp.csr_array((2, 3)), "square"),
        (sp.csr_array(np.array([[0.0, 1j], [-1j, 0.0]])), "real"),
    ],
)
def test_sparse_weights_are_checked(W, message):
    with pytest.raises(ml.exceptions.ProblemError, match=message):
        MaxCut(W)


def test_the_users_sparse_weights_are_left_alone():
    W = graph(30)
    W.setdiag(1.0)
    before = W.copy()
    problem = MaxCut(W)
    assert (before != W).nnz == 0
    assert np.all(problem.weights.diagonal() == 0)
    problem.adjacency.data[:] = 0
    assert (before != W).nnz == 0


@given(seed=seeds)
def test_the_proven_eigenvalue_is_no_smaller_than_the_largest(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    A = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-8, 8)
    A = A + A.T
    saved = largest.PROVE_FROM, largest.ALL_BELOW
    try:
        largest.PROVE_FROM, largest.ALL_BELOW = 1, 12  # ARPACK wants some room
        proven = largest.checked_largest(A)
    finally:
        largest.PROVE_FROM, largest.ALL_BELOW = saved
    exact, size = np.linalg.eigvalsh(A)[-1], largest.row_sum_norm(A)
    assert exact - 1e-13 * n * size <= proven <= exact + 1e-4 * size


def test_a_guess_too_low_is_never_believed(monkeypatch):
    """The guess is only where to begin: with a wrong one the bound still holds."""
    A = np.diag(np.arange(30.0))
    for theta, index in ((3.0, 3), (-100.0, 0), (29.0, 29)):
        monkeypatch.setattr(largest, "PROVE_FROM", 1)
        monkeypatch.setattr(largest, "guess_largest", lambda A, t=theta, i=index: (t, np.eye(30)[i]))
        assert largest.checked_largest(A) >= 29.0 - 1e-10


def test_arpack_that_does_not_converge_is_survived():
    problem = MaxCut(graph(400))
    theta, u = largest.guess_largest(problem.cost_operator, tol=1e-14, maxiter=1)
    exact = np.linalg.eigvalsh(problem.game.C)[-1]
    assert theta <= exact * (1 + 1e-12)
    assert np.linalg.norm(u) == pytest.approx(1.0)
    zero, u = largest.guess_largest(0 * problem.cost_operator)
    assert zero == 0.0 and np.linalg.norm(u) == pytest.approx(1.0)


def test_bounds_by_factorization_are_those_by_eigenvalues(monkeypatch):
    problem = MaxCut(graph(300))
    solution = ml.solve(problem, "low-rank", tol=1e-5)
    by_eigenvalues = problem.bound_from_vector(solution.y).upper
    monkeypatch.setattr(sys.modules[UnitDiagonalProblem.__module__], "PROVE_FROM", 1)
    monkeypatch.setattr(largest, "PROVE_FROM", 1)
    proven = MaxCut(graph(300)).bound_from_vector(solution.y).upper
    assert dense_bound(problem, solution.y) <= proven
    assert proven == pytest.approx(by_eigenvalues, rel=1e-5)  # the margin of the factorization
    assert ml.solve(MaxCut(graph(300)), "low-rank", tol=1e-5).status == "optimal"


def test_points_of_low_rank_are_proven_feasible_without_eigenvalues(monkeypatch):
    problem = MaxCut(graph(80))
    V = np.random.default_rng(0).standard_normal((80, 3))
    X = V @ V.T
    monkeypatch.setattr("matrixlearn.sets.spectral.eigh", None)  # it would fail if it were called
    bound = problem.bound_from_matrix(X)
    assert np.linalg.eigvalsh(bound.point)[0] >= -1e-13 * 80
    again = problem.bound_from_matrix(bound.point)
    assert again.lower == pytest.approx(bound.lower, abs=1e-12 * problem.scale)


def test_a_certificate_of_some_size_verifies():
    """Repairing a repaired point must not move it: 8 n^2 eps of the value is more than `verify` forgives."""
    solution = ml.solve(MaxCut(graph(300)), tol=1e-3)
    again = solution.certificate.verify()
    assert again.lower == pytest.approx(solution.lower, rel=1e-12)  # 8 n^2 eps is 1.6e-10


@pytest.mark.parametrize(("n", "r"), [(1, 1), (2, 5), (7, 2), (300, 2)])
def test_factors_prove_no_more_than_the_matrix_whose_diagonal_is_one(n, r):
    """<C, D V V^T D> with D V of unit rows, in whole numbers: rows v_i of a common length whose root is not whole."""
    rng = np.random.default_rng(n)
    V = rng.integers(-3, 4, (n, r))
    V[:, 0] += 10 * (np.sum(V**2, axis=1) == 0)
    C = rng.integers(-9, 10, (n, n)) * 2**20
    problem = Correlation(C + C.T)
    bound = problem.bound_from_matrix(FactoredMatrix(V / 7.0))
    with decimal.localcontext(prec=40):
        roots = [decimal.Decimal(int(v @ v)).sqrt() for v in V]
        terms = (C + C.T) * (V @ V.T)
        exact = sum(int(terms[i, j]) / (roots[i] * roots[j]) for i in range(n) for j in range(n))
        assert bound.lower <= exact <= bound.lower + 1e-12 * n * np.linalg.norm(C)
    np.testing.assert_allclose(bound.point.diagonal(), 1.0, rtol=1e-14)
    assert problem.bound_from_matrix(bound.point).point is bound.point
    assert problem.bound_from_matrix(bound.point.dense()).lower == pytest.approx(bound.lower, rel=1e-7)


@pytest.mark.parametrize("k", [1e-9, 1, 1e9])
@pytest.mark.parametrize(
    ("W", "value"),
    [
        (np.zeros((1, 1), dtype=int), 0.0),
        (np.array([[0, 3], [3, 0]]), 3.0),
        (np.array([[5, 3], [3, 7]]), 3.0),  # self-loops are never cut
        (nx.to_numpy_array(nx.complete_bipartite_graph(3, 4), dtype=int), 12.0),  # every edge
        (nx.to_numpy_array(nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))), 4.5),  # 9/4 each
        (nx.to_numpy_array(nx.disjoint_union(nx.complete_graph(3), nx.empty_graph(4))), 2.25),  # isolated vertices
        (-nx.to_numpy_array(nx.complete_graph(6)), 0.0),  # nothing worth cutting
        (nx.to_numpy_array(nx.complete_graph(6)), 9.0),  # n^2 / 4
    ],
    ids=["one", "two", "loops", "bipartite", "two-triangles", "isolated", "negative", "complete"],
)
@pytest.mark.parametrize("sparse", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_graphs_with_a_closed_form(W, value, k, sparse):
    problem = MaxCut(sparse(k * W if k != 1 else W))
    solution = ml.solve(problem, "low-rank", tol=1e-6)
    slack = 1e-12 * problem.scale
    assert solution.status == "optimal", solution.summary()
    assert solution.lower - slack <= k * value <= solution.upper + slack
    assert problem.round(solution).weight <= solution.upper + slack
