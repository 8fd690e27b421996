"""Rows of every sense, against cvxpy on the program as it was written."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import RankOneMap

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, hermitian):
    """A feasible program with rows of all senses."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    m = int(rng.integers(1, min(6, n * (n + 1) // 2)))

    def draw():
        G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if hermitian else 0)
        return (G + G.conj().T) / 2

    root = draw()
    X = root @ root.conj().T + 0.1 * np.eye(n)
    A = np.stack([draw() for _ in range(m)])
    senses = [str(sense) for sense in rng.choice(["<=", ">=", "=="], m)]
    room = {"<=": 1.0, ">=": -1.0, "==": 0.0}
    b = np.array([np.real(np.trace(a @ X)) + room[s] * rng.uniform(0.05, 1) for a, s in zip(A, senses, strict=True)])
    return draw(), A, b, senses, float(np.real(np.trace(X))) * 1.5


def as_written(C, A, b, senses, R):
    n = len(C)
    hermitian = np.iscomplexobj(C)
    X = cp.Variable((n, n), hermitian=hermitian, symmetric=not hermitian)
    real = cp.real if hermitian else lambda e: e
    constraints = [X >> 0, real(cp.trace(X)) <= R]
    for a, bj, sense in zip(A, b, senses, strict=True):
        left = real(cp.trace(a @ X))
        constraints.append(left <= bj if sense == "<=" else left >= bj if sense == ">=" else left == bj)
    program = cp.Problem(cp.Maximize(real(cp.trace(C @ X))), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.solve(solver=cp.CLARABEL)
    return program


@pytest.mark.parametrize("hermitian", [False, True])
@given(seed=seeds)
def test_rows_of_every_sense_against_cvxpy(hermitian, seed):
    C, A, b, senses, R = drawn(seed, hermitian)
    program = as_written(C, A, b, senses, R)
    assume(program.status == "optimal")  # a judge that doubts itself does not convict
    problem = ml.LinearSDP.with_senses(C, [*A, np.eye(len(C))], [*b, R], [*senses, "<="])
    solution = ml.solve(problem, tol=1e-5)
    assert solution.status == "optimal"
    y = problem.row_multipliers(solution.y)[:-1]
    size = max(abs(program.value), 1e-3 * R * np.linalg.norm(C, 2), solution.certificate.size)
    assert abs(solution.value - program.value) <= 3e-5 * size
    held = np.array([np.real(np.trace(a @ solution.matrix)) for a in A]) - b
    room = 1e-10 * (np.abs(b) + R * np.array([np.linalg.norm(a, 2) for a in A]))
    for value, sense, d, multiplier in zip(held, senses, room, y, strict=True):
        assert value <= d if sense == "<=" else value >= -d if sense == ">=" else abs(value) <= d
        assert multiplier >= 0 if sense == "<=" else multiplier <= 0 if sense == ">=" else True


@pytest.mark.parametrize("generous", [1.0, 30.0, 1e3, 1e4])
@given(seed=seeds)
def test_a_generous_trace_bound_changes_nothing(generous, seed):
    """The trace is given by a row, so that any larger bound asks the same; equalities used to be R ||A_j|| loose."""
    C, A, b, senses, R = drawn(seed, hermitian=False)
    n = len(C)
    A, b, senses = np.concatenate([A, np.eye(n)[None]]), np.append(b, R / 1.5), [*senses, "=="]
    program = as_written(C, A, b, senses, R)
    assume(program.status == "optimal")
    problem = ml.LinearSDP.with_senses(C, A, b, senses, generous * R)
    solution = ml.solve(problem, tol=1e-5)
    assert solution.status == "optimal"
    size = max(abs(program.value), 1e-3 * R * np.linalg.norm(C, 2), solution.certificate.size)
    assert abs(solution.value - program.value) <= 3e-5 * size
    assert abs(np.trace(solution.matrix) - b[-1]) <= 1e-9 * b[-1]


def test_maxcut_as_rows_of_equalities_is_maxcut():
    from matrixlearn_maxcut import MaxCut

    W = np.array([[0, 1, 2, 0], [1, 0, 1, 3], [2, 1, 0, 1], [0, 3, 1, 0.0]])
    cut = MaxCut(W)
    rows = RankOneMap(np.eye(4))  # e_j e_j^T
    program = ml.LinearSDP.with_senses(cut.cost, rows, np.ones(4), "==", trace_bound=5.0)
    assert ml.solve(program, tol=1e-6).value == pytest.approx(ml.solve(cut, tol=1e-8).value, rel=1e-5)


def test_a_solution_with_senses_is_saved_and_loaded(tmp_path):
    C, A, b, senses, R = drawn(5, hermitian=False)
    solution = ml.solve(ml.LinearSDP.with_senses(C, A, b, senses, R), tol=1e-4)
    solution.save(tmp_path / "s.npz")
    ml.Solution.load(tmp_path / "s.npz").certificate.verify()


@pytest.mark.parametrize(
    ("senses", "R", "word"),
    [
        ("<", 1.0, "senses"),
        (["=="], 1.0, "senses"),
        (7, 1.0, "senses"),
        ("==", 0.0, "trace_bound"),
        ("==", "x", "trace_bound"),
    ],
)
def test_bad_senses_are_named(senses, R, word):
    with pytest.raises(ProblemError, match=word):
        ml.LinearSDP.with_senses(np.eye(2), np.stack([np.eye(2)] * 2), np.ones(2), senses, R)


def test_contradicting_equalities_are_infeasible():
    program = ml.LinearSDP.with_senses(np.eye(2), np.stack([np.eye(2)] * 2), np.array([1.0, 2.0]), "==", 5.0)
    solution = ml.solve(program)
    assert solution.status == "infeasible"
    assert solution.upper == -np.inf and solution.matrix is None
    solution.certificate.verify()
