"""What someone types who has not read the documentation: a message that helps, or the thing itself."""

import copy
import dataclasses
import pickle
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.exceptions import MatrixLearnError, ProblemError
from matrixlearn.maps import DenseMap, SparseMap

pytestmark = pytest.mark.usefixtures("cpu_clock")

N = 6


def five_cycle():
    """Lovasz theta of the pentagon: max J.X, tr X = 1, X_ij = 0 on the edges; the optimum is sqrt(5)."""
    edges = [(i, (i + 1) % 5) for i in range(5)]
    A = [sp.eye_array(5)] + [sp.coo_array(([1.0, 1.0], ([i, j], [j, i])), shape=(5, 5)) for i, j in edges]
    return np.ones((5, 5)), A, np.eye(1, 6)[0], "=="


def small(seed=0):
    """C, A, b, R: the last row says tr X <= 10, so that R = 20 binds nothing."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((4, N, N))
    M = M + M.transpose(0, 2, 1)
    return M[0], np.concatenate([M[1:], np.eye(N)[None]]), np.array([1.0, 1.0, 1.0, 10.0]), 20.0


# -- the wrong thing in the right place -----------------------------------------------------------


@pytest.mark.parametrize("call", [ml.solve, ml.certify, ml.methods])
@pytest.mark.parametrize("value", [np.eye(2), "sdp", ml.LinearSDP, None])
def test_no_problem(call, value):
    with pytest.raises(ProblemError, match="problem must be an instance of a Problem"):
        call(value)


@pytest.mark.parametrize(
    ("named", "value"),
    [
        ("tol", "1e-3"), ("tol", True), ("tol", np.nan), ("max_iter", 2.5), ("max_iter", True), ("time_limit", "1"),
        ("callback", 3), ("method", ml.engines.InteriorPoint), ("method", 3), ("method", ["auto"]),
        ("random_state", "a"), ("random_state", True), ("warm_start", 3),
    ],
)  # fmt: skip
def test_arguments_of_solve(named, value):
    with pytest.raises(ProblemError, match=named):
        ml.solve(ml.LinearSDP(*small()), **{named: value})


@pytest.mark.parametrize(
    "given",
    [
        {"tol": np.float32(1e-3)}, {"max_iter": np.int64(50)}, {"time_limit": np.float32(60)},
        {"random_state": np.random.RandomState(0)}, {"random_state": np.int64(3)},
    ],
)  # fmt: skip
def test_numbers_of_numpy_are_numbers(given):
    assert ml.solve(ml.LinearSDP(*small()), **given).status == "optimal"


def test_senses_and_trace_bound_are_named():
    C, A, b, _ = small()
    for senses in (None, 3, "=", ["=="]):
        with pytest.raises(ProblemError, match="senses must hold 4"):
            ml.LinearSDP.with_senses(C, A, b, senses, 1.0)
    for bound in (np.inf, 0, -1.0):
        with pytest.raises(ProblemError, match="trace_bound must be positive and finite"):
            ml.LinearSDP.with_senses(C, A, b, "==", bound)


def test_matrices_come_as_people_hold_them():
    C, A, b, R = small()
    value = ml.solve(ml.LinearSDP(C, A, b, R), tol=1e-6).value
    held = np.empty(len(A), dtype=object)
    held[:] = [sp.csr_matrix(a) for a in A]
    for other in (list(A), tuple(A), [a.tolist() for a in A], held, DenseMap(A)):
        assert ml.solve(ml.LinearSDP(C, other, b, R), tol=1e-6).value == pytest.approx(value, rel=1e-5)
    for wrong in (iter(A), dict(enumerate(A))):
        with pytest.raises(ProblemError, match="A must be an array or a list"):
            ml.LinearSDP(C, wrong, b, R)
    with pytest.raises(ProblemError, match="A must hold matrices of shape"):
        ml.LinearSDP(C, DenseMap(np.eye(2)[None]), [1.0], R)
    with pytest.raises(ProblemError, match="of complex numbers"):
        ml.LinearSDP(C, A, b + 1j, R)


@pytest.mark.parametrize("which", ["C", "A", "b"])
def test_values_whose_squares_overflow(which):
    given = dict(zip(("C", "A", "b", "trace_bound"), small(), strict=True))
    given[which] = given[which] * 1e300
    with pytest.raises(ProblemError, match=f"{which}.* products overflow"):
        ml.LinearSDP(**given)


# -- what is printed ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ml.registered_problems()))
def test_a_problem_prints_in_a_line(name):
    problem = ml.registered_problems()[name].random(np.random.default_rng(0))
    text = repr(problem)
    assert text.startswith(type(problem).__name__ + "(") and "\n" not in text and len(text) < 400


def test_a_repr_of_ones_own_stays():
    class Mine(ml.LinearSDP):
        def __repr__(self):
            return "mine"

    class Child(Mine):
        pass

    assert repr(Mine(*small())) == repr(Child(*small())) == "mine"


def test_a_history_prints_in_a_line():
    history = ml.solve(ml.LinearSDP(*small())).history
    assert repr(history).startswith(f"<History: {len(history)} checks") and repr(ml.History()) == "<History: no check>"


# -- equalities say how far they are met ------------------------------------------------------------


@pytest.mark.parametrize("R", [1.01, 10.0, 100.0])
def test_the_summary_bounds_the_program_with_exact_equalities(R):
    problem = ml.LinearSDP.with_senses(*five_cycle(), R)
    solution = ml.solve(problem, tol=1e-6)
    line = next(line for line in solution.summary().splitlines() if "equalities" in line)
    assert "6 rows" in line and solution.status == "optimal"  # a row gives the trace: R is not needed
    assert solution.lower <= np.sqrt(5) <= solution.upper <= solution.lower * (1 + 1e-6)


def test_programs_without_equalities_say_nothing_of_them():
    assert "equalities" not in ml.solve(ml.LinearSDP(*small())).summary()
    C, A, b, R = small()
    assert "equalities" not in ml.solve(ml.LinearSDP.with_senses(C, A, b, "<=", R)).summary()


@given(seed=st.integers(0, 2**32 - 1))
def test_the_bound_of_exact_equalities_is_one(seed):
    """C.X <= bound for every X with A_j . X = b_j exactly."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((4, 4))
    X = root @ root.T
    A = rng.standard_normal((3, 4, 4))
    A = A + A.transpose(0, 2, 1)
    b, C = np.einsum("jab,ab->j", A, X), A[0] @ A[0] - 2 * A[1]
    problem = ml.LinearSDP.with_senses(C, A, b, "==", float(np.trace(X)) * 1.5)
    assert np.sum(C * X) <= ml.solve(problem, tol=1e-4).upper + 1e-12 * np.sum(np.abs(C * X))


def test_a_gap_says_what_it_is_relative_to():
    C = np.diag([1.0, -1.0])
    tiny = ml.solve(ml.LinearSDP(C, [np.diag([1e9, 0.0])], [1.0]))  # X_11 <= 1e-9: far below ||C||, and no zero
    assert tiny.status == "optimal" and tiny.upper - tiny.lower <= 1e-3 * 1e-9
    assert "relative gap" in tiny.summary()
    rows = np.stack([np.diag([1.0, 0.0]), np.diag([0.0, -1.0])])  # X_11 <= 1, X_22 >= 1: the optimum 1 - 1 = 0
    zero = ml.solve(ml.LinearSDP(C, rows, [1.0, -1.0]))
    assert zero.status == "optimal" and zero.certificate.size == pytest.approx(2.0, rel=1e-2)
    assert "what they add up to" in zero.summary()


def test_a_matrix_without_end_ends():
    """X_11 - X_22 <= 1e-9 is all: X grows without end, and no y with A(y) - C > 0 is there."""
    C = np.diag([1.0, -1.0])
    solution = ml.solve(ml.LinearSDP(C, C[None] * 1e9, [1.0]), time_limit=20)
    assert "time_limit" not in solution.explain() and solution.lower <= 1e-9 <= solution.upper


# -- pictures -------------------------------------------------------------------------------------


def test_the_picture_shows_the_end_of_the_bounds_the_gap_and_the_spectrum():
    plt = pytest.importorskip("matplotlib.pyplot")
    C, A, b, _ = small()
    solution = ml.solve(ml.LinearSDP(C, A, b, 1e4), tol=1e-6)
    first = dataclasses.replace(solution.history[0], lower=-1e6, upper=1e6, gap=1.0)  # bounds that say nothing yet
    solution = dataclasses.replace(solution, history=type(solution.history)((first, *solution.history)))
    bounds, gap, spectrum = solution.plot().axes
    low, high = bounds.get_ylim()
    assert low < solution.lower <= solution.upper < high < 10 * solution.upper < solution.history[0].upper
    assert gap.get_yscale() == "log" and gap.lines[0].get_ydata()[-1] == solution.gap
    np.testing.assert_allclose(spectrum.lines[0].get_ydata()[0], 1.0)
    infeasible = ml.solve(ml.LinearSDP(np.eye(3), -np.eye(3)[:1], [-5.0], 1.0))
    assert infeasible.status == "infeasible" and len(infeasible.plot().axes) == 2
    plt.close("all")


# -- files ----------------------------------------------------------------------------------------


def test_a_sparse_program_with_senses_in_a_file(tmp_path):
    problem = ml.LinearSDP.with_senses(*five_cycle(), 1.5)
    solution = ml.solve(problem)
    path = tmp_path / "theta.npz"
    solution.save(path)
    again = ml.Solution.load(path)
    assert isinstance(again.problem.family, SparseMap)  # as it was: no m x n x n array
    np.testing.assert_array_equal(again.problem.row_multipliers(again.y), problem.row_multipliers(solution.y))
    assert again.summary() == solution.summary()
    again.certificate.verify()
    for other in (pickle.loads(pickle.dumps(solution)), copy.deepcopy(solution)):
        assert other.summary() == solution.summary()


def test_a_file_grows_with_the_entries_not_with_m_n_n(tmp_path):
    n = 120
    A = [sp.coo_array(([1.0], ([i], [i])), shape=(n, n)) for i in range(n)]
    solution = ml.solve(ml.LinearSDP(np.eye(n), A, np.ones(n), 2.0 * n), max_iter=0)
    given = solution.problem.parameters()["A"]
    assert given.rows.nnz == n
    solution.save(tmp_path / "diagonal.npz")
    assert ml.Solution.load(tmp_path / "diagonal.npz").problem.family.rows.nnz == n


def test_files_of_another_kind(tmp_path):
    (tmp_path / "text.npz").write_text("no archive")
    np.savez(tmp_path / "other.npz", a=1)
    for name, why in (("text.npz", "not an .npz archive"), ("other.npz", "it lacks 'meta'"), (".", "directory")):
        with pytest.raises(MatrixLearnError, match=f"not a matrixlearn solution file: .*{why}"):
            ml.Solution.load(tmp_path / name)


def seconds_of(act):
    began = time.process_time()
    act()
    return time.process_time() - began


def test_sparse_rows_cost_their_entries():
    """Not n^2 each: 300 rows of one entry took 3 s at n = 1000, and 10 ms at n = 50."""

    def construct(n):
        A = [sp.csr_array(([1.0], ([i % n], [i % n])), shape=(n, n)) for i in range(300)]
        C = np.eye(n)
        return lambda: ml.LinearSDP(C, A, np.ones(300), 1.0)

    construct(50)()
    assert seconds_of(construct(1000)) < 20 * seconds_of(construct(50))


def test_sparse_rows_are_checked_each():
    right = sp.csr_array(np.diag(np.arange(3.0)))
    rounded = sp.csr_array(np.array([[0, 1, 0], [1 + 1e-15, 0, 0], [0, 0, 0]]))
    program = ml.LinearSDP(np.eye(3), [right, rounded], np.ones(2), 1.0)
    np.testing.assert_array_equal(program.family.matrix(1), program.family.matrix(1).T)
    wrong = sp.coo_array(([1.0, 0.5], ([0, 1], [1, 0])), shape=(3, 3))
    for bad, said in (
        (wrong, r"A\[1\] must be symmetric, but max \|A - A\^H\| = 0.5 at the entry \(0, 1\)"),
        (sp.csr_array(([np.nan], ([0], [0])), shape=(3, 3)), r"A\[1\] holds 1 NaN"),
        (sp.csr_array(([1e200], ([0], [0])), shape=(3, 3)), r"A\[1\] holds values of size 1e\+200"),
        (sp.csr_array((3, 4)), r"A\[1\] must be a square matrix of shape \(3, 3\), got shape \(3, 4\)"),
        (np.triu(np.ones((3, 3))), r"A\[1\] must be symmetric"),
    ):
        with pytest.raises(ProblemError, match=said):
            ml.LinearSDP(np.eye(3), [right, bad], np.ones(2), 1.0)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_entries_are_the_entries(seed, complex_):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 6)), int(rng.integers(0, 5))
    X, v = rng.standard_normal((n, n)), rng.standard_normal(k)
    if complex_:
        X, v = X + 1j * rng.standard_normal((n, n)), v + 1j * rng.standard_normal(k)
    X = (X + X.conj().T) / 2
    terms = [(int(i), int(j), u) for (i, j), u in zip(rng.integers(0, n, (k, 2)), v, strict=True)]
    A = ml.entries(n, *terms)
    assert A.shape == (n, n)
    wanted = sum((np.conj(u) * X[i, j]).real for i, j, u in terms)
    program = ml.LinearSDP(np.eye(n), [A, sp.eye_array(n)], np.ones(2), 1.0)
    assert program.family.adjoint(X)[0] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("term", [(0, 3, 1.0), (-1, 0, 1.0), (0, 0), (0.0, 0, 1.0), 3, (0, 0, "a"), (0, 0, np.nan)])
def test_a_term_is_an_entry(term):
    with pytest.raises(ProblemError, match=r"a term is \(i, j, v\)|^v (must hold|holds)"):
        ml.entries(3, (0, 1, 2.0), term)
