"""Engines and points that lie: what they hand over changes no bound for the worse and breaks nothing."""

import math

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoost, MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression
from matrixlearn_quantum import StateTomography

import matrixlearn as ml
from matrixlearn.engines import Engine, Proposal
from matrixlearn.engines.base import State
from matrixlearn.testing.exact import exact_program, faults

pytestmark = pytest.mark.usefixtures("cpu_clock")

PROBLEMS = (ml.LinearSDP, Discrepancy, MaxCut, DefiniteBoost, MinMaxSDP, MEGRegression, StateTomography)

POINTS = {
    "too large": lambda X, y: (50 * np.ones_like(X), 50 * np.ones_like(y)),
    "negative": lambda X, y: (-np.ones_like(X), -np.ones_like(y)),
    "NaN": lambda X, y: (np.full_like(X, math.nan), np.full_like(y, math.nan)),
    "infinite": lambda X, y: (np.full_like(X, math.inf), np.full_like(y, math.inf)),
    "zero": lambda X, y: (0 * X, 0 * y),
    "denormal": lambda X, y: (1e-310 * np.eye(len(X)), 1e-310 * np.ones_like(y)),
}


class Liar(Engine):
    """Hands over points that it was given."""

    name = "liar"

    def __init__(self, X, y):
        self.X, self.y = X, y

    def objection(self, problem):
        return ""

    def init(self, problem, incumbent):
        return State()

    def step(self, problem, state, incumbent):
        return State(proposals=(Proposal(X=self.X, y=self.y),), finished="lied")


def honest(cls, seed):
    """A problem, its answer, and the answer's points as arrays."""
    problem = cls.random(np.random.default_rng(seed))
    solution = ml.solve(problem, tol=1e-4)
    X = solution.matrix
    return problem, solution, X.dense() if hasattr(X, "dense") else X


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("cls", PROBLEMS)
def test_no_engine_is_believed(cls, points):
    for seed in range(3):
        problem, solution, X = honest(cls, seed)
        if X is None or X.ndim != 2 or solution.y is None or cls is ml.LinearSDP:
            continue  # an engine of a LinearSDP sees the reduced program: see test_soundness
        lied = ml.solve(problem, Liar(*POINTS[points](X, solution.y)), tol=1e-4)
        slack = 1e-9 * (1 + abs(solution.value))
        assert lied.lower <= solution.upper + slack
        assert lied.upper >= solution.lower - slack
        assert not math.isnan(lied.value)
        lied.certificate.verify()


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("cls", PROBLEMS)
def test_certify_says_nothing_false_of_a_lie(cls, points):
    for seed in range(3):
        problem, solution, X = honest(cls, seed)
        if X is None or X.ndim != 2 or solution.y is None:
            continue
        try:
            certificate = ml.certify(problem, *POINTS[points](X, solution.y))
        except ml.exceptions.ProblemError:
            continue
        slack = 1e-9 * (1 + abs(solution.value))
        assert certificate.lower <= solution.upper + slack
        assert certificate.upper >= solution.lower - slack


@pytest.mark.parametrize("cls", PROBLEMS)
def test_the_arrays_of_the_user_may_change_afterwards(cls):
    """Data are copied: answers and certificates stay."""
    for seed in range(3):
        given = dict(cls.random(np.random.default_rng(seed)).parameters())
        arrays = {name: value.copy() for name, value in given.items() if isinstance(value, np.ndarray)}
        problem = cls(**(given | arrays))
        before = ml.solve(problem, tol=1e-3)
        for value in arrays.values():
            if value.dtype == float and value.flags.writeable:
                value *= 3
        after = before.certificate.verify()
        assert after.lower == pytest.approx(before.lower, rel=1e-6, abs=1e-9)
        assert after.upper == pytest.approx(before.upper, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", [14, 35, 37, 83, 99, 106])
def test_certify_of_a_program_that_is_infeasible_on_a_face(seed):
    program = exact_program(seed)
    problem = program.problem()
    ml.solve(problem, tol=1e-6)
    assert faults(program, ml.certify(problem, X=np.eye(program.n), y=np.zeros(len(program.b)))) == []


@pytest.mark.parametrize("k", [1, 10, 20, 30, 40, 48])
def test_definiteboost_with_rows_that_differ_by_little(k):
    """W_00 = 1/4 and W_00 + 2^-k W_11 = 1/4 + 2^-k / 8 in four dimensions: W = diag(4, 2, 5, 5) / 16."""
    e = 2.0**-k
    rows = np.stack([np.diag([1.0, 0, 0, 0]), np.diag([1.0, e, 0, 0])])
    u = np.array([0.25, 0.25 + e / 8])
    p = np.array([4, 2, 5, 5]) / 16
    right = float(p @ np.log(4 * p))
    solution = ml.solve(DefiniteBoost(rows, upper=u, lower=u), tol=1e-3, time_limit=10)
    assert solution.lower <= right + 1e-13
    if solution.certificate.rigour == "checked":
        assert solution.upper >= right - 1e-13
    if solution.status == "optimal":
        assert solution.value == pytest.approx(right, abs=2e-3 * right + 1e-9)
    assert solution.status != "infeasible"
