"""Small inputs on which certificates once said what is not true, each with its right value.

The right values are fractions, closed forms, or the answers on which CSDP, SDPA and Clarabel agree.
"""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from matrixlearn_definiteboost import DefiniteBoost
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn import exceptions
from matrixlearn._commands import cli
from matrixlearn.engines import Engine, Proposal
from matrixlearn.engines.base import State
from matrixlearn.exceptions import CertificateError, MatrixLearnError
from matrixlearn.testing.exact import exact_program, faults, mixed_chain, quadratic_over_linear, solve_faults

pytestmark = pytest.mark.usefixtures("cpu_clock")

L, E = ml.LinearSDP.with_senses, ml.entries


def holds(solution, optimum, tol):
    """Bounds hold the optimum, and "optimal" means that the value is it, to tol of what the bounds add up to."""
    value, lower, upper = solution.value, solution.lower, solution.upper
    if solution.certificate.rigour == "checked":
        assert lower <= optimum * (1 + np.sign(optimum) * 1e-13)
        assert upper >= optimum * (1 - np.sign(optimum) * 1e-13)
        assert lower <= value <= upper
    assert solution.status not in ("infeasible", "unbounded")
    if solution.status == "optimal":
        program, y = solution.problem, solution.y
        size = float(np.abs(program.b) @ np.abs(y)) + abs(optimum)
        assert abs(value - optimum) <= tol * size + 1e-9, f"{value!r} for {optimum!r}"


def solved(problem, optimum, tol=1e-6, status=None):
    solution = ml.solve(problem, tol=tol)
    holds(solution, optimum, tol)
    if status is not None:
        assert solution.status == status, solution.explain()
    return solution


# -- 1. equalities that a matrix misses ----------------------------------------------------------------------------

SLANTED = np.diag([1, 1e-6])


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_an_equality_with_a_small_coefficient_and_one_feasible_matrix(tol):
    """X_00 + 1e-6 X_11 = 0: X = 0."""
    solved(L(np.diag([0.0, 1]), [SLANTED], [0.0], "==", 1.0), 0.0, tol)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_an_equality_with_a_small_coefficient_and_an_interior(tol):
    A = [np.eye(3), np.diag([1, 1e-6, 0])]
    right = float(Fraction(5e-7) / Fraction(1e-6))
    solved(L(np.diag([0.0, 1, 0]), A, [1.0, 5e-7], "==", 1.0), right, tol)


@pytest.mark.parametrize("R", [1.0, 1e4])
def test_an_equality_of_nonnegative_terms_with_a_negative_right_side_is_infeasible(R):
    A = [np.eye(3), np.diag([1, 1e-6, 0])]
    assert ml.solve(L(np.diag([0.0, 1, 0]), A, [1.0, -1e-7], "==", R), tol=1e-9).status == "infeasible"


def test_certify_charges_what_a_matrix_misses():
    certificate = ml.certify(L(np.diag([0.0, 1]), [SLANTED], [0.0], "==", 1.0), X=np.diag([0.0, 1]), y=[0.0])
    assert certificate.lower <= 0 <= certificate.upper or certificate.rigour == "estimate"
    certificate = ml.certify(
        L(np.diag([1, 0.5, 0]), [np.eye(3)], [1.0], "==", 2.0), X=np.diag([1 + 1.5e-5, 0, 0]), y=[0.0]
    )
    assert certificate.lower <= 1 <= certificate.upper or certificate.rigour == "estimate"


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_face_in_mixed_rows(tol):
    """The difference of two rows says X_00 = 0."""
    A1, A2 = np.diag([1.0, 0, 0]), np.diag([0, 0, 1.0])
    A2[0, 1] = A2[1, 0] = 1
    solved(L(np.diag([0, 0, -1.0]), [A1 + A2, A1 + 2 * A2], [1.0, 2.0], "==", 1e6), -1.0, tol)


def test_definiteboost_with_nearly_dependent_rows():
    e = 1e-13
    u = [0.5, 0.5 + 0.4 * e]
    rows = np.stack([np.diag([1.0, 0, 0]), np.diag([1.0, e, 0])])
    solution = ml.solve(DefiniteBoost(rows, upper=u, lower=u), tol=1e-6)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(0.1548213209, rel=1e-6)  # of e and 0.4 e as they are rounded


@pytest.mark.parametrize("k", [1, 2, 3, 6, 12])
@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_squares_in_mixed_rows(k, seed):
    """x_0^2 <= x_1, ..., x_{k-1}^2 <= 0: max x_0 = 0."""
    program = dataclasses.replace(mixed_chain(k, seed), trace_bound=float(4 * k))
    solution = ml.solve(program.problem(), tol=1e-6)
    assert solve_faults(program, solution, 1e-6, 1e-9) == []


# -- 2. bounds that contradict each other ----------------------------------------------------------------------------


@pytest.mark.parametrize("R", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("seed", [None, *range(6)])
def test_only_zero_is_feasible(seed, R):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((3, 3))
    C, A = (np.eye(2), np.eye(2)) if seed is None else (G + G.T, np.eye(3) + G @ G.T)
    solved(L(C, [A], [0.0], "==", R), 0.0, 1e-9)


def test_the_array_of_the_user_may_change_afterwards():
    C, b = np.array([[1.0, 2], [2, -1]]), np.array([1.0, 0.3])
    program = ml.LinearSDP(C, np.stack([np.eye(2), np.diag([1.0, 0])]), b, 2.0)
    before = ml.solve(program, tol=1e-6)
    b *= 10
    after = ml.solve(program, tol=1e-6)
    assert before.value == pytest.approx(1.43303, rel=1e-5)
    assert after.value == pytest.approx(1.43303, rel=1e-5)
    before.certificate.verify()
    C *= 10
    assert ml.solve(program, tol=1e-6).value == pytest.approx(1.43303, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_large_samples_do_not_cross(seed):
    """The target is what the capped weights can reach exactly: of size eps times the samples' square, either sign."""
    rng = np.random.default_rng(seed)
    X = 5e7 * rng.standard_normal((12, int(rng.integers(2, 6))))
    for T in (X, X[:11]):
        solution = ml.solve(Discrepancy(X, T, max_weight=1 + 1 / 11), tol=1e-6)
        assert solution.lower <= solution.upper
        assert solution.lower <= 32 * np.finfo(float).eps * np.linalg.norm(X, 2) ** 2


# -- 3. faces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [8e-15, 2.0**-44, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("senses", ["==", "<="])
def test_a_row_that_is_nearly_semidefinite_is_not(e, senses):
    """max 2 X_01 with X_00 = e X_11, tr X <= 1: 2 sqrt(e) / (1 + e)."""
    program = L(np.array([[0, 1.0], [1, 0]]), [np.diag([1, -e])], [0.0], senses, 1.0)
    solution = ml.solve(program, tol=1e-6)
    right = 2 * math.sqrt(e) / (1 + e)
    assert solution.upper >= right * (1 - 1e-12)
    assert solution.lower <= right * (1 + 1e-12) or solution.certificate.rigour == "estimate"
    if senses == "==":
        assert solution.status == "trace bound", solution.explain()


def test_a_face_by_a_sum_of_squares():
    P, Q, v = np.array([0.0, -1, 1]), np.array([1.0, 0, -1]), np.ones(3)
    A = np.outer(P, P) + 2.0**-35 * np.outer(Q, Q)
    solved(L(np.outer(v, Q) + np.outer(Q, v), [A], [0.0], "==", 3.0), 0.0, 1e-6)


# -- 4. a generous trace bound ---------------------------------------------------------------------------------------


def heptagon(R):
    A = [*(E(7, (i, (i + 1) % 7, 1.0)) for i in range(7)), sp.csr_array(np.eye(7))]
    return L(np.ones((7, 7)), A, np.r_[np.zeros(7), 1.0], "==", trace_bound=R)


@pytest.mark.parametrize("R", [1, 1e3, 1e6, 1e7, 1e8, 1e10, None])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_theta_of_the_heptagon(R, tol):
    right = 7 * math.cos(math.pi / 7) / (1 + math.cos(math.pi / 7))
    solved(heptagon(R), right, tol, "optimal")


@pytest.mark.parametrize("R", [1e2, 1e8, None])
@pytest.mark.parametrize("method", ["interior-point", "column-generation"])
def test_rank_one_rows_and_a_trace_in_them(R, method):
    rng = np.random.default_rng(8)
    M, P = rng.normal(size=(6, 6)), rng.normal(size=(10, 6))
    A = np.concatenate([np.einsum("ja,jb->jab", P, P), np.eye(6)[None]])
    solution = ml.solve(ml.LinearSDP(M + M.T, A, np.r_[np.full(10, 0.5), 1.0], trace_bound=R), method, time_limit=30)
    assert solution.lower <= 3.205032
    assert solution.upper >= 3.205030
    if method == "interior-point" or solution.status == "optimal":
        assert solution.status == "optimal"
        assert solution.value == pytest.approx(3.205031, rel=3e-3)


@pytest.mark.parametrize("R", [None, 1e5, 1e7, 1e10])
@pytest.mark.parametrize("k", [1.0, 1000.0])
def test_a_minimum_of_x_and_k_squared_over_x(k, R):
    program = dataclasses.replace(quadratic_over_linear(k), trace_bound=R)
    solution = ml.solve(program.problem(), tol=1e-3)
    assert solve_faults(program, solution, 1e-3) == []
    assert solution.status == "optimal"


@pytest.mark.parametrize("R", [10.0, 1e5, 1e9, None])
def test_the_lyapunov_inequality_of_the_quickstart(R):
    rng = np.random.default_rng(3)
    k = 4
    M = rng.standard_normal((k, k)) - 4 * np.eye(k)
    basis = [E(k, (i, j, 1.0 if i == j else 2.0)).toarray() for i in range(k) for j in range(i + 1)]
    A = np.stack([-(M.T @ P + P @ M) for P in basis])
    program = L(np.eye(k), A, [np.trace(P) for P in basis], "==", R)
    # tr P of M'P + PM = -I
    vector = np.linalg.solve(np.kron(M.T, np.eye(k)) + np.kron(np.eye(k), M.T), -np.eye(k).ravel())
    solution = solved(program, float(np.trace(vector.reshape(k, k))), 1e-6, "optimal")
    assert np.trace(solution.matrix) < 10


# -- 5. a trace bound that binds -------------------------------------------------------------------------------------


def motzkin(R):
    """The moment relaxation of order 3 of x^4 y^2 + x^2 y^4 - 3 x^2 y^2 + 1: no bound for any R."""
    monomials = [(i, d - i) for d in range(4) for i in range(d + 1)]
    n = len(monomials)
    first, A = {}, [E(n, (0, 0, 1.0))]
    for p in range(n):
        for q in range(p, n):
            power = (monomials[p][0] + monomials[q][0], monomials[p][1] + monomials[q][1])
            i, j = first.setdefault(power, (p, q))
            if (i, j) != (p, q):
                A.append(E(n, (p, q, 1.0), (i, j, -1.0)))
    polynomial = {(4, 2): 1.0, (2, 4): 1.0, (2, 2): -3.0, (0, 0): 1.0}
    C = -E(n, *((*first[power], value) for power, value in polynomial.items())).toarray()
    return L(C, A, np.r_[1.0, np.zeros(len(A) - 1)], "==", R)


@pytest.mark.parametrize("R", [1e2, 1e4, 1e6, None])
def test_the_motzkin_relaxation_has_no_bound(R):
    assert ml.solve(motzkin(R), tol=1e-3, time_limit=10).status not in ("optimal", "infeasible")


@pytest.mark.parametrize("R", [100.0, 1e6])
def test_a_trace_bound_that_binds_is_said(R):
    """max X_00 - X_11, X_11 <= 1."""
    solution = ml.solve(L(np.diag([1.0, -1]), [np.diag([0.0, 1])], [1.0], "<=", R), tol=1e-6)
    assert solution.status == "trace bound"
    assert solution.certificate.trace_bound == R
    assert solution.value == pytest.approx(R, rel=1e-5)


def test_a_trace_bound_that_binds_on_a_face_is_said():
    """max X_00 + 5 X_22, X_22 = 0, tr X >= 2: without a trace bound of 2 nothing bounds it."""
    rows = [np.eye(3), np.diag([0, 0, 1.0])]
    solution = ml.solve(L(np.diag([1.0, 0, 5]), rows, [2.0, 0.0], [">=", "=="], 2.0), tol=1e-6)
    assert solution.status == "trace bound"
    assert solution.verify().trace_bound == 2.0
    assert solution.value == pytest.approx(2.0, rel=1e-5)


@pytest.mark.parametrize("seed", [700073, 700418, 701246])
def test_a_trace_bound_that_is_met_and_not_needed_is_not_used(seed):
    program = exact_program(seed)
    solution = ml.solve(program.problem(), tol=1e-3, time_limit=10)
    assert solution.status == "optimal", solution.explain()
    assert solve_faults(program, solution, 1e-3, 1e-9) == []


def test_an_unbounded_program_is_unbounded():
    solution = ml.solve(L(np.diag([1.0, -1]), [np.diag([0.0, 1])], [1.0], "<=", None), tol=1e-6)
    assert solution.status == "unbounded"


@pytest.mark.parametrize("R", [1e4, 1e10])
def test_an_optimum_that_is_not_attained(R):
    """min X_00 with X_01 = 1: 0; -1/R within the trace bound (none: test_ill_posed_programs.py)."""
    solution = ml.solve(L(np.diag([-1.0, 0]), [E(2, (0, 1, 1.0)).toarray()], [1.0], "==", R), tol=1e-3)
    assert solution.lower <= 0
    if solution.status == "optimal":
        assert abs(solution.value) <= 1e-3


@pytest.mark.parametrize("R", [0.5, 1.0, 10.0, 1e4, None])
def test_a_optimal_design_as_an_inequality(R):
    """min sum_i 1 / (w_i s_i^2), w on the simplex, s = (1, 2): (1 + 1/2)^2, w = (2/3, 1/3).

    y = (w_0, u_0, u_1), w_1 = 1 - w_0, blocks [[w_i s_i^2, 1], [1, u_i]] and w_i >= 0.
    """
    n = 6
    A = [
        E(n, (0, 0, 1.0), (2, 2, -4.0), (4, 4, 1.0), (5, 5, -1.0)),
        E(n, (1, 1, 1.0)),
        E(n, (3, 3, 1.0)),
    ]
    C = -E(n, (0, 1, 2.0), (2, 2, 4.0), (2, 3, 2.0), (5, 5, 1.0)).toarray()
    solution = ml.solve(L(C, A, [0.0, 1.0, 1.0], "==", R), tol=1e-6)
    if solution.status == "optimal":
        assert solution.value == pytest.approx(2.25, rel=1e-5)
        assert solution.y[0] == pytest.approx(2 / 3, abs=1e-2)
    if R is None:
        assert solution.status == "optimal"
    if R == 0.5:  # of 2.25 + ... that an X of the program has
        assert solution.status != "optimal"


def test_an_inequality_of_a_user_is_not_infeasible_for_a_small_price():
    """The Lyapunov inequality has solutions whatever R is."""
    M = np.array([[-1.0, 3.0], [0.0, -1.0]])
    basis = [E(2, (i, j, 1.0 if i == j else 2.0)).toarray() for i, j in ((0, 0), (1, 0), (1, 1))]
    A = np.stack([-(M.T @ P + P @ M) for P in basis])
    b = [np.trace(P) for P in basis]
    right = ml.solve(L(np.eye(2), A, b, "==", None), tol=1e-6)
    assert right.status == "optimal"
    small = ml.solve(L(np.eye(2), A, b, "==", 0.3), tol=1e-6)
    assert small.status != "optimal"
    if small.status == "infeasible":
        assert small.certificate.trace_bound == 0.3
    assert str(right.certificate.trace_bound) == "None"


# -- 6. verify -------------------------------------------------------------------------------------------------------


def test_verify_is_not_fooled():
    certificate = ml.solve(heptagon(1.0), tol=1e-6).certificate
    certificate.verify()
    for changes in (
        {"lower": math.nan},
        {"upper": math.nan},
        {"lower": math.nan, "upper": math.nan},
        {"lower": certificate.lower + 0.5, "upper": certificate.upper + 1e6},
        {"lower": certificate.lower - 1e6, "upper": certificate.upper - 0.5},
        {"lower": certificate.lower + 1e-4, "upper": certificate.upper + 1e6},
        {"rigour": "divine"},
        {"rigour": "certain"},
        {"rigour": None},
    ):
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, **changes).verify()


@pytest.mark.parametrize(
    "changes",
    [
        {"value": 999.0}, {"status": "infeasible"}, {"status": "unbounded"}, {"tol": 1e-12}, {"rigour": "estimate"},
        {"value": math.nan}, {"status": "stopped"}, {"upper": math.nan}, {"lower": 1.0},
    ],
)  # fmt: skip
def test_the_command_verify_is_not_fooled(tmp_path, changes):
    solution = ml.solve(heptagon(1.0), tol=1e-6)
    honest, forged = tmp_path / "honest.npz", tmp_path / "forged.npz"
    solution.save(honest)
    with np.load(honest, allow_pickle=False) as data:
        arrays = {key: data[key] for key in data.files}
    meta = json.loads(str(arrays["meta"])) | changes
    np.savez(forged, **(arrays | {"meta": np.array(json.dumps(meta))}))
    assert CliRunner().invoke(cli, ["verify", str(honest)]).exit_code == 0
    assert CliRunner().invoke(cli, ["verify", str(forged)]).exit_code != 0


class Liar(Engine):
    """Hands over a matrix fifty times too large, and a proof of it where there is room for one."""

    name = "liar"

    def objection(self, problem):
        return ""

    supports = objection

    def init(self, problem, incumbent):
        return State()

    def step(self, problem, state, incumbent):
        X, y = 50 * np.ones((7, 7)), np.zeros(problem.game.A.shape[0])
        bounds = tuple(type(incumbent.from_matrix)(point=p, lower=50.0, upper=50.0) for p in (X, y))
        room = {"proof": bounds} if "proof" in {part.name for part in dataclasses.fields(Proposal)} else {}
        return State(proposals=(Proposal(X=X, y=y, **room),), finished="lied")


def test_no_engine_is_believed():
    solution = ml.solve(heptagon(1.0), Liar(), tol=1e-3)
    assert solution.status != "optimal"
    assert solution.lower <= 3.317667 <= solution.upper
    solution.certificate.verify()


# -- 7. no interior --------------------------------------------------------------------------------------------------


def doubled(seed=5, n=5):
    M = np.random.default_rng(seed).normal(size=(n, n))
    return M + M.T


@pytest.mark.parametrize("R", [1.0, 2.0, 1e3, None])
def test_an_equality_as_two_inequalities(R):
    solution = solved(L(doubled(), [np.eye(5), np.eye(5)], [1.0, 1.0], ["<=", ">="], R), 2.5913009069898365)
    assert solution.status == "optimal", solution.explain()


def test_the_trace_bound_met_exactly():
    solution = solved(L(doubled(), [np.eye(5)], [2.0], [">="], 2.0), 2 * 2.5913009069898365)
    assert solution.status in ("optimal", "trace bound"), solution.explain()


@pytest.mark.parametrize("R", [2.0, 1e3, None])
def test_one_feasible_matrix(R):
    """X_00 <= 1, X_11 <= 1, X_01 >= 1."""
    A = [np.diag([1.0, 0]), np.diag([0, 1.0]), E(2, (0, 1, 1.0)).toarray()]
    solution = ml.solve(L(np.array([[1.0, 1], [1, -3]]), A, [1.0, 1, 1], ["<=", "<=", ">="], R), tol=1e-6)
    assert solution.upper >= 0
    assert solution.lower <= 0 or solution.certificate.rigour == "estimate"
    assert solution.status not in ("infeasible", "unbounded")


@pytest.mark.parametrize("R", [3.0, 1e3, None])
def test_infeasible_by_a_millionth(R):
    A = [np.diag([1.0, 0]), np.diag([0, 1.0]), E(2, (0, 1, 1.0)).toarray()]
    solution = ml.solve(L(np.array([[0, 1.0], [1, 0]]), A, [1.0, 1, 1 + 1e-6], ["==", "==", ">="], R), tol=1e-6)
    assert solution.status == "infeasible"
    assert not math.isfinite(solution.value)


# -- contradictions --------------------------------------------------------------------------------------------------


def test_bounds_that_contradict_each_other_are_an_error():
    """A problem whose bounds are wrong on purpose."""

    class Wrong(ml.LinearSDP):
        def bound_from_matrix(self, X):
            return dataclasses.replace(super().bound_from_matrix(X), lower=100.0)

    program = Wrong(np.eye(2), np.stack([np.eye(2)]), np.ones(1), 2.0)
    ContradictionError = exceptions.ContradictionError
    assert issubclass(ContradictionError, MatrixLearnError)
    with pytest.raises(ContradictionError):
        ml.solve(program, tol=1e-3)
    with pytest.raises(ContradictionError):
        ml.certify(program, X=np.eye(2) / 4, y=[1.0])


# -- the kinds, a few seeds of each ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [15, 40, 98, 1085, 17, 4, 48, 96])
def test_programs_that_once_went_wrong(seed):
    program = exact_program(seed)
    solution = ml.solve(program.problem(), tol=1e-6, time_limit=10)
    assert solve_faults(program, solution, 1e-6, 1e-9) == []
    assert faults(program, solution.certificate.verify()) == []
