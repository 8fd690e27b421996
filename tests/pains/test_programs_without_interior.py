"""Programs that conic solvers find hard: mixed rows, faces, no interior, generous bounds; and certificates of them.

The judge is a closed form, a matrix that is feasible by construction, or cvxpy on the program as it is written.
"""

import dataclasses
import warnings

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.exceptions import CertificateError
from matrixlearn.testing.exact import exact_program


def entry(n, i, j):
    """A with A . X = X_ij."""
    A = np.zeros((n, n))
    A[i, j] += 0.5
    A[j, i] += 0.5
    return A


def solved(C, A, b, senses, R, tol=1e-6):
    """With Tr X <= R as a row: a trace bound is an assumption."""
    each = [senses] * len(A) if isinstance(senses, str) else list(senses)
    rows, right = [*A, np.eye(len(C))], np.append(np.asarray(b, dtype=float), R)
    return ml.solve(ml.LinearSDP.with_senses(C, rows, right, [*each, "<="]), tol=tol)


def mixed(seed):
    """A program with a positive definite feasible X, rows of all senses, some twice or in units of their own."""
    rng = np.random.default_rng(seed)
    n, hermitian = int(rng.integers(2, 8)), rng.random() < 0.3

    def draw():
        G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if hermitian else 0)
        return (G + G.conj().T) / 2

    root = draw()
    X = root @ root.conj().T + 0.01 * np.eye(n)
    A = [draw() for _ in range(int(rng.integers(1, n * (n + 1) // 2)))]
    senses = list(rng.choice(["<=", ">=", "=="], len(A)))
    if rng.random() < 0.5:
        A, senses = [*A, A[0]], [*senses, senses[0]]
    reached = np.array([np.vdot(a, X).real for a in A])
    way = np.array([{"<=": 1.0, ">=": -1.0, "==": 0.0}[sense] for sense in senses])
    b = reached + way * (rng.uniform(0.01, 1, len(A)) if len(A) < 2 or A[0] is not A[-1] else 0.5)
    units = 10.0 ** rng.uniform(-6, 6, len(A)) if rng.random() < 0.3 else np.ones(len(A))
    R = float(np.trace(X).real * rng.choice([1.05, 10.0]))
    return draw(), np.stack([u * a for u, a in zip(units, A, strict=True)]), units * b, senses, R, units, X


@pytest.mark.parametrize("seed", range(24))
def test_rows_of_all_senses(seed):
    cp = pytest.importorskip("cvxpy")
    C, A, b, senses, R, units, X = mixed(seed)
    solution = solved(C, A, b, senses, R, tol=1e-5)
    assert solution.status == "optimal", solution.explain()
    n, hermitian = len(C), np.iscomplexobj(C)
    Z = cp.Variable((n, n), hermitian=hermitian, symmetric=not hermitian)
    real = cp.real if hermitian else lambda expression: expression  # cvxpy refuses the real part of a real one
    left = [real(cp.trace(a / u @ Z)) for a, u in zip(A, units, strict=True)]
    relation = {"<=": lambda x, y: x <= y, ">=": lambda x, y: x >= y, "==": lambda x, y: x == y}
    rows = [relation[sense](x, y) for sense, x, y in zip(senses, left, b / units, strict=True)]
    program = cp.Problem(cp.Maximize(real(cp.trace(C @ Z))), [Z >> 0, real(cp.trace(Z)) <= R, *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the judge's own doubts
        optimum = program.solve(solver="CLARABEL")
    assert solution.upper >= np.vdot(C, X).real  # which needs no judge
    if program.status != "optimal":
        return
    size = max(abs(optimum), 1e-3 * R * np.linalg.norm(C, 2))
    assert solution.value == pytest.approx(optimum, abs=2e-5 * size)
    assert solution.lower <= optimum + 3e-6 * size
    assert solution.upper >= optimum - 3e-6 * size


@pytest.mark.parametrize("R", [2.0, 1e3, 1e6])
@pytest.mark.parametrize("a", [1e-3, 1.0, 10.0])
def test_the_example_of_a_duality_gap(a, R):
    """max -a X_11 with X_22 = 0, X_11 + 2 X_23 = 1 is -a; without a trace bound the dual program has the value 0."""
    A = [entry(3, 1, 1), entry(3, 0, 0) + 2 * entry(3, 1, 2)]
    solution = solved(-a * entry(3, 0, 0), A, [0, 1], "==", R)
    assert solution.status == "optimal", solution.explain()
    assert solution.value == pytest.approx(-a, rel=2e-6)


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_faces_in_faces(k):
    """X_00 = 0, X_ii = X_{i-1,i+1}: one after the other is 0. CSDP and SDPA return numbers above 1 from k = 3 on."""
    n = k + 2
    A = [entry(n, 0, 0), *(entry(n, i, i) - entry(n, i - 1, i + 1) for i in range(1, k)), entry(n, n - 1, n - 1)]
    solution = solved(2 * entry(n, k - 1, n - 1), A, [0.0] * k + [1.0], "==", 10.0)
    assert solution.status == "optimal", solution.explain()
    assert abs(solution.value) <= 1e-9
    assert solution.lower <= 0.0 <= solution.upper


@pytest.mark.parametrize("R", [2.0, 1e3, 1e6])
@pytest.mark.parametrize("senses", ["==", ["<=", "=="], ["<=", ">="]])
def test_what_is_almost_feasible_for_every_larger_trace_is_infeasible(senses, R):
    """X_11 = 0, X_12 = 1: missed by 1/R."""
    solution = solved(np.eye(2), [entry(2, 0, 0), entry(2, 0, 1)], [0, 1], senses, R)
    assert solution.status == "infeasible", solution.explain()
    solution.certificate.verify()


@pytest.mark.parametrize("short", [1e-3, 1e-6])
def test_a_trace_bound_too_small_is_infeasible(short):
    A = [entry(2, 0, 0), entry(2, 1, 1)]
    assert solved(2 * entry(2, 0, 1), A, [1, 1], "==", 2.0 - short).status == "infeasible"
    assert solved(2 * entry(2, 0, 1), A, [1, 1], "==", 2.0).value == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("k", [20, 38, 44])
@pytest.mark.parametrize("sense", ["==", ">="])
def test_a_trace_bound_is_exceeded_by_rounding_only(k, sense):
    """X_00 + X_11 = 16, X_22 + X_33 = 17: tr X = 33, which is optimal at R = 33 and infeasible a part of 2^-k below."""
    D = np.diag([1.0, 1, 0, 0])
    C = np.diag([1.0, 2, 3, 5])
    of = [
        ml.LinearSDP.with_senses(C, [D, np.eye(4) - D], [16.0, 17.0], sense, trace_bound=R)
        for R in (33.0, 33 * (1 - 2.0**-k))
    ]
    solution = ml.solve(of[0], tol=1e-6)
    assert solution.status in ("optimal", "trace bound")
    assert solution.value == pytest.approx(2 * 16 + 5 * 17, rel=2e-6)
    below = ml.solve(of[1], tol=1e-6)
    assert below.status == "infeasible" and below.certificate.trace_bound == of[1].trace_bound, below.explain()


def test_an_estimate_that_is_far_from_the_upper_bound_is_no_lower_bound():
    """A chain of five squares in other rows and units: a matrix that meets them to 1e-6 had 152,959 for 0."""
    solution = ml.solve(exact_program(300257).problem(), tol=1e-6)
    assert solution.lower <= 0.0 <= solution.upper
    assert solution.status != "estimated"


@pytest.mark.parametrize("times", [1e1, 1e3, 1e5])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_generous_trace_bound_costs_no_digits(times, tol):
    """min tr X with X_11 = 1, X_22 = 4, X_12 = 1: 5."""
    A = [entry(3, 0, 0), entry(3, 1, 1), entry(3, 0, 1)]
    solution = solved(-np.eye(3), A, [1, 4, 1], ["==", ">=", "=="], 5 * times, tol)
    assert solution.status == "optimal", solution.explain()
    assert solution.value == pytest.approx(-5.0, rel=2 * tol)


def pentagon():
    A = [np.eye(5), *(entry(5, i, (i + 1) % 5) for i in range(5))]
    return ml.LinearSDP.with_senses(np.ones((5, 5)), A, np.array([1.0, 0, 0, 0, 0, 0]), "==", trace_bound=1.0)


def test_bounds_hold_wherever_it_stops():
    for most in range(15):
        solution = ml.solve(pentagon(), tol=1e-12, max_iter=most)
        assert solution.lower <= np.sqrt(5) * (1 + 1e-9)
        assert solution.upper >= np.sqrt(5) * (1 - 1e-9)


def test_a_certificate_that_was_tampered_with_is_refused(tmp_path):
    solution = ml.solve(pentagon(), tol=1e-6)
    solution.save(tmp_path / "pentagon.npz")
    certificate = ml.Solution.load(tmp_path / "pentagon.npz").certificate
    certificate.verify()
    noise = np.random.default_rng(0).standard_normal((5, 5))
    for changes in (
        {"X": certificate.X + 1e-5 * (noise + noise.T)},
        {"X": 2 * certificate.X},
        {"y": certificate.y + 1e-3},
        {"y": 0 * certificate.y},
        {"y": None},
        {"X": None},
        {"lower": certificate.lower + 0.1 * (certificate.upper - certificate.lower)},
        {"upper": certificate.upper - 0.1 * (certificate.upper - certificate.lower)},
    ):
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, **changes).verify()
