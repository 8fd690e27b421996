"""Hostile input: a clear error that names the argument, or the right answer; never a wrong "optimal"."""

import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from matrixlearn import LinearSDP

RNG = np.random.default_rng(2026)
XS, XT = RNG.standard_normal((6, 3)), 0.4 + RNG.standard_normal((5, 3))
I2 = np.eye(2)
PAULI_Y = np.array([[0, -1j], [1j, 0]])

ENGINES = pytest.mark.parametrize("method", ["auto", "mmw"])


def norm_at(z, Xs=XS, Xt=XT, p=None):
    """||M(z)||_2 from the definition."""
    p = np.full(len(Xt), 1 / len(Xt)) if p is None else p
    return np.linalg.norm((Xt.T * p) @ Xt - (Xs.T * z) @ Xs, 2)


def assert_honest(solution, tol=1e-3):
    """Bounds in order, status in line with the gap, bounds that the data prove again."""
    assert solution.lower <= solution.upper
    assert (solution.status == "optimal") == (solution.gap <= tol)
    solution.certificate.verify()


def refused(match):
    return pytest.raises(ValueError, match=match)


def with_entry(array, value):
    out = np.array(array, dtype=complex if isinstance(value, complex) else float)
    out.flat[0] = value
    return out


# -- samples -----------------------------------------------------------------------------------------

NAMES = pytest.mark.parametrize("name", ["X_source", "X_target"])


def discrepancy(name, value):
    return Discrepancy(**{"X_source": XS, "X_target": XT, name: value})


@NAMES
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_with_nan_or_inf(name, value):
    with refused(f"{name} holds 1 NaN or infinite"):
        discrepancy(name, with_entry(XS, value))


@NAMES
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((0, 3)), "is empty"),
        (np.zeros((4, 0)), "is empty"),
        ([], "is empty"),
        (np.zeros(3), "two-dimensional"),
        (np.zeros((2, 3, 1)), "two-dimensional"),
        (3.0, "two-dimensional"),
        ([[1.0, 2.0, 3.0], [1.0]], "ragged"),
        ([["a", "b", "c"]], "must hold numbers"),
        (np.array([["1", "2", "3"]]), "must hold numbers"),
        (np.array([["1", "2", "3"]], dtype=object), "must hold numbers"),
        (np.array([[1.0, None, 2.0]], dtype=object), "holds 1 NaN"),
        (np.array([[1.0, {}, 2.0]], dtype=object), "must hold numbers"),
        (np.array([[10**400, 1, 2]], dtype=object), "must hold numbers"),
        (np.array([["2020-01-01"] * 3], dtype="datetime64[D]"), "must hold numbers"),
        (None, "must hold numbers"),
        (np.ma.masked_array(XS, mask=XS > 1), "masked"),
    ],
)
def test_samples_of_no_use(name, value, message):
    with refused(f"{name}.*{message}"):
        discrepancy(name, value)


def test_different_feature_counts():
    with refused("X_source and X_target must have the same features, got 3 and 2"):
        Discrepancy(XS, XT[:, :2])


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.float32),
        lambda X: np.round(4 * X).astype(np.int64),
        lambda X: np.round(4 * X).astype(np.int8),
        lambda X: X > 0,
        lambda X: X.tolist(),
        lambda X: X.astype(object),
        lambda X: sp.csr_matrix(X),
        lambda X: sp.coo_array(np.round(X)),
        lambda X: np.matrix(X),
        lambda X: np.ma.masked_array(X, mask=False),
        lambda X: np.asfortranarray(X),
        lambda X: X[::-1, ::-1],
    ],
    ids=["float32", "int64", "int8", "bool", "list", "object", "csr", "coo", "matrix", "unmasked", "fortran", "views"],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_samples_of_other_kinds_give_the_answer_of_their_values(convert):
    def plain(value):
        value = value.toarray() if sp.issparse(value) else value
        return np.array(np.asarray(value), dtype=float)

    Xs, Xt = convert(XS), convert(XT)
    solution = ml.solve(Discrepancy(Xs, Xt), tol=1e-8)
    expected = ml.solve(Discrepancy(plain(Xs), plain(Xt)), tol=1e-8)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(expected.value, abs=1e-8 * expected.problem.scale)
    assert norm_at(solution.y, plain(Xs), plain(Xt)) == pytest.approx(solution.value, rel=1e-10, abs=1e-12)


@ENGINES
def test_one_source_sample_leaves_one_answer(method):
    solution = ml.solve(Discrepancy(XS[:1], XT), method=method)
    assert_honest(solution)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(norm_at(np.ones(1), XS[:1]), rel=1e-12)


@ENGINES
def test_one_target_sample(method):
    solution = ml.solve(Discrepancy(XS, XT[:1]), tol=0.02, method=method)
    assert_honest(solution, 0.02)
    assert norm_at(solution.y, Xt=XT[:1]) == pytest.approx(solution.value, rel=1e-10)


def test_one_feature_has_a_closed_form():
    """N = 1: |mean t^2 - sum z s^2| is the distance to the interval of the s^2."""
    s, t = np.array([[1.0], [2.0]]), np.array([[3.0], [3.0]])
    assert ml.solve(Discrepancy(s, t), tol=1e-8).value == pytest.approx(9 - 4, rel=1e-7)
    reachable = ml.solve(Discrepancy(s, np.array([[1.5]])), tol=1e-6)
    assert reachable.status == "optimal" and reachable.value == pytest.approx(0.0, abs=1e-8)
    assert ml.solve(Discrepancy([[2.0]], [[3.0]])).value == pytest.approx(5.0)


@ENGINES
def test_duplicate_samples_share_their_weight(method):
    """Copies change nothing: the optimum is that of the distinct points."""
    once = ml.solve(Discrepancy(XS[:3], XT), tol=1e-7)
    copies = ml.solve(
        Discrepancy(np.repeat(XS[:3], 4, axis=0), XT), tol=1e-2 if method == "mmw" else 1e-7, method=method
    )
    assert copies.status == "optimal"
    assert copies.value == pytest.approx(once.value, rel=1e-2 if method == "mmw" else 1e-6)


def test_source_equal_to_target_has_optimum_zero():
    solution = ml.solve(Discrepancy(XS, XS), tol=1e-6)
    assert_honest(solution, 1e-6)
    assert solution.status == "optimal" and solution.value == pytest.approx(0.0, abs=1e-9)


@ENGINES
def test_constant_features(method):
    """A constant feature is a direction like any other; two of them are dependent."""
    extra = np.column_stack([XS, np.ones(6), 2 * np.ones(6)]), np.column_stack([XT, np.ones(5), 2 * np.ones(5)])
    problem = Discrepancy(*extra)
    assert problem.rank == 4
    solution = ml.solve(problem, tol=0.05, method=method)
    assert_honest(solution, 0.05)
    assert norm_at(solution.y, *extra) == pytest.approx(solution.value, rel=1e-9)


@ENGINES
@pytest.mark.parametrize("shapes", [((3, 2), (2, 2)), ((1, 1), (1, 1)), ((2, 9), (1, 9))])
def test_all_zero_features_have_optimum_zero(method, shapes):
    solution = ml.solve(Discrepancy(*(np.zeros(shape) for shape in shapes)), method=method)
    assert_honest(solution)
    assert (solution.status, solution.value) == ("optimal", 0.0)
    assert solution.y.sum() == pytest.approx(1.0, rel=1e-14)


def test_zero_source_or_zero_target():
    zero_source = ml.solve(Discrepancy(np.zeros((4, 3)), XT), tol=1e-8)
    assert zero_source.value == pytest.approx(np.linalg.norm(XT.T @ XT / 5, 2), rel=1e-9)
    zero_target = ml.solve(Discrepancy(XS, np.zeros((2, 3))), tol=1e-6)
    assert zero_target.status == "optimal"
    assert norm_at(zero_target.y, Xt=np.zeros((2, 3))) == pytest.approx(zero_target.value, rel=1e-10)


# -- weights, caps, kernels ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5, 0.5, -0.25, -0.25], "target_weights must be >= 0"),
        ([0.2, 0.2, 0.2, 0.2, 0.3], "sum 1.1"),
        (np.zeros(5), "sum 0"),
        ([1.0], r"target_weights must be a real vector of shape \(5,\)"),
        (np.full((5, 1), 0.2), "target_weights must be a real vector"),
        ([0.25, 0.25, 0.25, 0.25, np.nan], "target_weights holds 1 NaN"),
        (np.full(5, 0.2j), "target_weights must be a real vector"),
        (["a"] * 5, "target_weights must hold numbers"),
    ],
)
def test_target_weights_of_no_use(weights, message):
    with refused(message):
        Discrepancy(XS, XT, target_weights=weights)


def test_target_weights_count():
    """A weight of two is a point that is there twice."""
    p = np.array([2, 1, 1, 1, 1]) / 6
    weighted = ml.solve(Discrepancy(XS, XT, target_weights=p), tol=1e-8)
    doubled = ml.solve(Discrepancy(XS, np.vstack([XT[:1], XT])), tol=1e-8)
    assert weighted.value == pytest.approx(doubled.value, rel=1e-7)


@pytest.mark.parametrize("max_weight", [0.99, 0.0, -1.0, np.nan, "2x", None.__class__, [1.0, 2.0]])
def test_caps_below_one_are_refused(max_weight):
    with refused("max_weight"):
        Discrepancy(XS, XT, max_weight=max_weight)


@ENGINES
@pytest.mark.parametrize("m", [1, 3, 6, 49])
def test_a_cap_of_one_leaves_uniform_weights(method, m):
    Xs = np.random.default_rng(m).standard_normal((m, 3))
    solution = ml.solve(Discrepancy(Xs, XT, max_weight=1), method=method)
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.y, 1 / m, rtol=1e-12)
    assert solution.value == pytest.approx(norm_at(np.full(m, 1 / m), Xs), rel=1e-12)


@ENGINES
def test_a_cap_of_one_and_a_tolerance_below_rounding_end(method):
    solution = ml.solve(Discrepancy(XS, XT, max_weight=1), method=method, tol=1e-16)
    assert solution.status == "stopped"
    assert solution.gap < 1e-11


def test_an_infinite_cap_is_none():
    assert Discrepancy(XS, XT, max_weight=np.inf).max_weight is None


def kernel_of(*points):
    P = np.vstack(points)
    return P @ P.T


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda K: K + np.triu(np.ones_like(K), 1), r"kernel must be symmetric, but max \|A - A\^H\| = 1"),
        (lambda K: -K, "kernel must be positive semidefinite, but its smallest eigenvalue is -"),
        (lambda K: K[:-1, :-1], r"kernel must be a square matrix of shape \(11, 11\)"),
        (lambda K: K[:, :-1], "kernel must be a square matrix"),
        (lambda K: with_entry(K, np.nan), "kernel holds 1 NaN"),
    ],
)
def test_kernels_of_no_use(change, message):
    with refused(message):
        Discrepancy(XS, XT, kernel=change(kernel_of(XS, XT)))


def test_a_linear_kernel_is_the_plain_problem():
    plain = ml.solve(Discrepancy(XS, XT), tol=1e-7)
    for kernel in (kernel_of(XS, XT), lambda A, B: A @ B.T):
        solution = ml.solve(Discrepancy(XS, XT, kernel=kernel), tol=1e-7)
        assert solution.value == pytest.approx(plain.value, rel=1e-6)


# -- graphs --------------------------------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize("graph", [np.zeros((3, 3)), np.zeros((1, 1)), nx.empty_graph(4), np.diag([1.0, 2.0])])
def test_graphs_without_edges_have_no_cut(method, graph):
    solution = ml.solve(MaxCut(graph), method=method)
    assert_honest(solution)
    assert solution.status == "optimal" and solution.value == pytest.approx(0.0, abs=1e-12)


def test_disconnected_graphs_add_up():
    triangle = 1 - np.eye(3)
    both = ml.solve(MaxCut(np.kron(np.eye(2), triangle)), tol=1e-7)
    assert both.value == pytest.approx(2 * 9 / 4, rel=1e-6)
    with_isolated = np.zeros((5, 5))
    with_isolated[:3, :3] = triangle
    assert ml.solve(MaxCut(with_isolated), tol=1e-7).value == pytest.approx(9 / 4, rel=1e-6)


def test_self_loops_are_never_cut():
    looped = 1 - np.eye(3) + np.diag([5.0, -7.0, 0.0])
    assert ml.solve(MaxCut(looped), tol=1e-7).value == pytest.approx(9 / 4, rel=1e-6)
    graph = nx.complete_graph(3)
    graph.add_edge(1, 1, weight=9.0)
    assert ml.solve(MaxCut(graph), tol=1e-7).value == pytest.approx(9 / 4, rel=1e-6)


def test_negative_weights():
    """No edge is worth cutting: the optimum is 0; and with both signs the frustration counts."""
    assert ml.solve(MaxCut(np.eye(3) - 1), tol=1e-7).value == pytest.approx(0.0, abs=1e-7)
    W = np.array([[0, 1.0, -2], [1, 0, 1], [-2, 1, 0]])
    assert ml.solve(MaxCut(W), tol=1e-7).value == pytest.approx(2.0, rel=1e-6)  # {1} against {0, 2}


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([(0, 1)]), "graph must be undirected, got a directed one"),
        (np.array([[0, 1.0], [0, 0]]), "graph must be undirected, but its weights differ"),
        (nx.Graph(), "graph is empty"),
        (np.zeros((0, 0)), "graph is empty"),
        (np.zeros((2, 3)), "graph must be a networkx graph or a square matrix"),
        (np.zeros(3), "graph must be a networkx graph or a square matrix"),
        (PAULI_Y, "graph must have real weights"),
        (np.array([[0, np.nan], [np.nan, 0]]), "graph holds 2 NaN"),
        (np.array([[0, np.inf], [np.inf, 0]]), "graph holds 2 NaN or inf"),
        ("petersen", "graph must hold numbers"),
    ],
)
def test_graphs_of_no_use(graph, message):
    with refused(message):
        MaxCut(graph)


def test_weights_of_networkx_graphs_are_checked():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=float("nan"))
    with refused("graph"):
        MaxCut(graph)


def test_sparse_and_integer_graphs():
    W = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    for graph in (W, sp.csr_array(W), sp.coo_matrix(W), W.astype(bool), W.astype(np.float32), nx.from_numpy_array(W)):
        assert ml.solve(MaxCut(graph), tol=1e-7).value == pytest.approx(9 / 4, rel=1e-6)


# -- linear semidefinite programs ------------------------------------------------------------------------


def sdp(**changes):
    data = {"C": np.diag([1.0, 2.0]), "A": [I2], "b": [1.0], "trace_bound": 10.0}
    return LinearSDP(**{**data, **changes})


NONSYMMETRIC = np.array([[1.0, 5.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": NONSYMMETRIC}, r"C must be symmetric, but max \|A - A\^H\| = 5"),
        ({"C": np.array([[0, 1j], [1j, 0]])}, r"C must be Hermitian, but max \|A - A\^H\| = 2"),
        ({"C": np.array([[1j, 0], [0, 0]])}, "C must be Hermitian"),
        ({"A": [NONSYMMETRIC]}, r"A\[0\] must be symmetric"),
        ({"A": np.stack([I2, NONSYMMETRIC]), "b": [1.0, 1.0]}, r"A\[1\] must be symmetric"),
        ({"A": [sp.csr_array(NONSYMMETRIC)]}, r"A\[0\] must be symmetric"),
        ({"A": sp.csr_array(I2)}, "A must be a list of sparse matrices"),
        ({"A": [np.eye(3)]}, r"A\[0\] must be a square matrix of shape \(2, 2\)"),
        ({"A": np.zeros((1, 3, 3))}, "A must have the shape"),
        ({"A": []}, "A is empty"),
        ({"A": np.zeros((0, 2, 2)), "b": []}, "A is empty"),
        ({"A": "identity"}, "A must hold numbers"),
        ({"A": None}, "A must hold numbers"),
        ({"A": [with_entry(I2, np.nan)]}, r"A\[0\] holds 1 NaN"),
        ({"A": [sp.csr_array(with_entry(I2, np.nan))]}, r"A\[0\] holds 1 NaN"),
        ({"C": with_entry(I2, np.inf)}, "C holds 1 NaN or infinite"),
        ({"C": np.zeros((0, 0))}, "C is empty"),
        ({"C": np.zeros(2)}, "C must be a square matrix"),
        ({"C": [[1.0, 2.0], [2.0]]}, "C is ragged"),
        ({"C": I2.astype(str)}, "C must hold numbers"),
        ({"b": [np.inf]}, "b holds 1 NaN or infinite"),
        ({"b": [np.nan]}, "b holds 1 NaN"),
        ({"b": [1.0, 2.0]}, r"b must be a real vector of shape \(1,\)"),
        ({"b": [1j]}, "b must be a real vector"),
        ({"b": 1.0}, "b must be a real vector"),
        ({"trace_bound": 0.0}, "trace_bound must be positive"),
        ({"trace_bound": -1.0}, "trace_bound must be positive"),
        ({"trace_bound": np.inf}, "trace_bound must be positive"),
        ({"trace_bound": np.nan}, "trace_bound must be a number"),
        ({"trace_bound": "10"}, "trace_bound must be a number"),
        ({"trace_bound": [1.0, 2.0]}, "trace_bound must be a number"),
        ({"interior": 5 * I2}, "interior must be positive definite and satisfy every constraint"),
        ({"interior": NONSYMMETRIC}, "interior must be symmetric"),
        ({"interior": np.eye(3)}, "interior must be a square matrix"),
    ],
)
def test_programs_of_no_use(changes, message):
    with refused(message):
        sdp(**changes)


def test_asymmetry_of_rounding_is_averaged_away():
    tiny = np.array([[1.0, 0.5 + 1e-13], [0.5, 1.0]])
    for A in ([tiny], np.stack([tiny]), [sp.csr_array(tiny)]):
        problem = sdp(C=tiny, A=A)
        np.testing.assert_array_equal(problem.C, problem.C.T)
        np.testing.assert_array_equal(problem.family.matrix(0), problem.family.matrix(0).T)


@ENGINES
@pytest.mark.parametrize(
    ("A", "b", "R"),
    [
        ([I2, -I2], [1.0, -2.0], 10.0),  # tr X <= 1 and tr X >= 2
        ([-I2], [-2.0], 1.0),  # tr X >= 2 within trace 1
        ([np.zeros((2, 2))], [-1.0], 1.0),  # 0 <= -1
        ([np.diag([1.0, 0]), np.array([[0, -1.0], [-1, 0]])], [-0.1, 0.0], 5.0),  # x11 <= -0.1
        ([PAULI_Y, I2], [-1.5, 1.0], 5.0),  # complex: <Y> <= -1.5 with tr X <= 1
    ],
)
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e12])
def test_infeasible_programs_come_with_a_farkas_proof(method, A, b, R, size):
    """y >= 0, b.y + R max(0, lambda_max(-A(y))) < 0: A(y) . X <= b.y fails for every X. C is no part of it."""
    problem = LinearSDP(size * np.diag([1.0, 2.0]), A, b, R)
    solution = ml.solve(problem, method=method)
    assert solution.status == "infeasible"
    y = solution.y
    assert np.all(y >= 0)
    least = np.linalg.eigvalsh(sum(yj * a for yj, a in zip(y, A, strict=True)))[0]
    size_of_proof = np.abs(y) @ (np.abs(b) + R * np.array([np.linalg.norm(a) for a in A]))
    assert float(np.dot(b, y)) - R * min(0.0, least) < -1e-14 * size_of_proof
    assert solution.value == -math.inf
    again = ml.certify(problem, y=y)  # the proof alone is enough
    assert again.upper == -math.inf
    assert "infeasible" in solution.summary()


def test_an_infeasible_solution_verifies_its_own_certificate():
    solution = ml.solve(sdp(A=[I2, -I2], b=[1.0, -2.0]))
    assert solution.certificate.verify().upper == -math.inf


@ENGINES
def test_a_program_of_one_by_one(method):
    assert ml.solve(LinearSDP([[2.0]], [[[1.0]]], [3.0], 10.0), method=method).value == pytest.approx(6.0, rel=1e-3)
    assert ml.solve(LinearSDP([[-2.0]], [[[1.0]]], [3.0], 10.0), method=method).value == pytest.approx(0.0, abs=1e-4)
    assert ml.solve(LinearSDP([[2.0]], [[[-1.0]]], [3.0], 10.0), method=method).value == pytest.approx(20.0, rel=1e-3)


def test_no_cost_no_constraint_matrix_and_both():
    assert ml.solve(sdp(C=np.zeros((2, 2)))).value == pytest.approx(0.0, abs=1e-6)
    assert ml.solve(sdp(A=np.zeros((1, 2, 2)))).value == pytest.approx(20.0, rel=1e-3)
    assert ml.solve(sdp(C=np.zeros((2, 2)), A=np.zeros((1, 2, 2)))).value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_constraints_that_say_nothing_change_nothing(sparse):
    """0 . X <= 0 has no interior of its own, and needs none."""
    wrap = sp.csr_array if sparse else np.asarray
    solution = ml.solve(sdp(A=[wrap(I2), wrap(np.zeros((2, 2)))], b=[1.0, 0.0]), tol=1e-6)
    assert solution.status == "optimal" and solution.value == pytest.approx(2.0, rel=1e-5)
    mixed = sdp(A=[wrap(I2), wrap(np.zeros((2, 2))), wrap(-I2)], b=[1.0, 0.0, -0.5])  # with phase one
    assert ml.solve(mixed, tol=1e-6).value == pytest.approx(2.0, rel=1e-5)


@ENGINES
def test_duplicate_constraints(method):
    solution = ml.solve(sdp(A=[I2] * 5, b=[1.0] * 5), method=method, tol=1e-2)
    assert solution.status == "optimal" and solution.value == pytest.approx(2.0, rel=1e-2)


def test_equality_pairs_are_never_wrongly_optimal():
    """No strictly feasible point: stopped, with bounds that hold."""
    solution = ml.solve(sdp(A=[I2, -I2], b=[1.0, -1.0]))
    assert solution.status == "stopped" or solution.value == pytest.approx(2.0, rel=1e-3)
    assert solution.lower <= 2.0 <= solution.upper


# -- options ---------------------------------------------------------------------------------------------

PROBLEMS = {
    "discrepancy": lambda: Discrepancy(XS, XT),
    "sdp": lambda: LinearSDP(
        np.diag([1.0, 2.0, 0.3]), [np.ones((3, 3)), np.diag([1.0, 3.0, 1.0]), np.eye(3)], [1.0, 1.0, 2.0]
    ),
    "maxcut": lambda: MaxCut(np.array([[0, 1, 2, 0.3], [1, 0, 0.7, 1], [2, 0.7, 0, 1.9], [0.3, 1, 1.9, 0]])),
}
EVERY = pytest.mark.parametrize("name", PROBLEMS)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("tol", value) for value in (0, -1e-3, np.nan, np.inf, "1e-3", None, 1j)),
        *(("max_iter", value) for value in (-1, 2.5, "10", np.nan)),
        *(("time_limit", value) for value in (-1, np.nan, "1", 1j)),
        ("method", "simplex"),
        ("warm_start", np.zeros(3)),
    ],
)
def test_options_of_no_use_are_named(option, value):
    with refused(option):
        ml.solve(PROBLEMS["discrepancy"](), **{option: value})


@EVERY
@ENGINES
@pytest.mark.parametrize("limit", [{"time_limit": 0}, {"max_iter": 0}])
def test_no_time_at_all_gives_finite_certified_bounds(name, method, limit):
    solution = ml.solve(PROBLEMS[name](), method=method, tol=1e-10, **limit)
    assert solution.status == "stopped" and solution.iterations == 0
    assert math.isfinite(solution.lower) and math.isfinite(solution.upper)
    assert_honest(solution, 1e-10)
    optimum = ml.solve(PROBLEMS[name](), tol=1e-9)
    assert solution.lower <= optimum.upper and optimum.lower <= solution.upper
    assert next(iter(limit)) in solution.explain()


def test_no_time_to_find_a_feasible_matrix_is_stopped_too():
    problem = sdp(A=[I2, -I2], b=[1.0, -0.5])
    for limit in ({"time_limit": 0}, {"max_iter": 0}):
        solution = ml.solve(problem, tol=1e-8, **limit)
        assert solution.status == "stopped"
        assert solution.lower <= 2.0 <= solution.upper < math.inf
        assert not solution.value > solution.upper


def assert_kept(solution, seen):
    """What was shown is kept; the last points may prove more, by eigenvalues that were not taken while it ran."""
    assert seen[-1].lower <= solution.lower <= solution.upper <= seen[-1].upper
    last = solution.history[-1]
    assert (solution.lower, solution.upper) == (last.lower, last.upper)


@EVERY
@ENGINES
def test_a_callback_that_returns_true_stops(name, method):
    seen = []
    solution = ml.solve(PROBLEMS[name](), method=method, tol=1e-10, callback=lambda e: seen.append(e) or len(seen) == 2)
    assert solution.status == "stopped" and len(seen) == 2
    assert "callback" in solution.explain()
    assert_kept(solution, seen)


@ENGINES
def test_an_error_in_a_callback_is_the_users_to_see(method):
    def broken(event):
        1 / 0

    for name, make in PROBLEMS.items():
        with pytest.raises(ZeroDivisionError, match="division") as raised:
            ml.solve(make(), method=method, callback=broken)
        kept = raised.value.solution  # nothing is lost
        assert kept.status == "stopped", name
        kept.certificate.verify()
        assert "error.solution" in raised.value.__notes__[0]


@EVERY
@ENGINES
@pytest.mark.parametrize("after", [1, 3])
def test_ctrl_c_keeps_the_best_bounds(name, method, after):
    seen = []

    def interrupt(event):
        seen.append(event)
        if len(seen) == after:
            raise KeyboardInterrupt

    solution = ml.solve(PROBLEMS[name](), method=method, tol=1e-10, callback=interrupt)
    assert solution.status == "stopped"
    assert_kept(solution, seen)
    assert math.isfinite(solution.gap)
    assert_honest(solution, 1e-10)
    assert "interrupted" in solution.explain()


@EVERY
def test_ctrl_c_during_the_first_bounds_ends_the_solve(name, monkeypatch):
    def interrupted(problem):
        raise KeyboardInterrupt

    problem = PROBLEMS[name]()
    monkeypatch.setattr(ml.engines.Incumbent, "first", interrupted)
    solution = ml.solve(problem, tol=1e-10)
    assert solution.status == "stopped" and solution.iterations == 0
    assert "interrupted" in solution.explain()


@pytest.mark.parametrize("method", ["auto", "pdhg"])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_ctrl_c_before_a_feasible_matrix_is_found_does_not_go_on(after, method, monkeypatch):
    """Ctrl-C while a strictly feasible point is sought ends the solve, not only the search."""
    steps, step = [], ml.engines.InteriorPoint.step

    def interrupted(self, *arguments):
        if len(steps) == after:
            raise KeyboardInterrupt
        steps.append(1)
        return step(self, *arguments)

    monkeypatch.setattr(ml.engines.InteriorPoint, "step", interrupted)
    rng = np.random.default_rng(3)
    A = rng.standard_normal((5, 4, 4))
    A = A + A.swapaxes(1, 2)
    b = np.array([np.trace(a @ np.ones((4, 4))) for a in A]) + 1e-3
    problem = LinearSDP(A[0], A, b, 4.5)
    solution = ml.solve(problem, method)
    assert solution.status == "stopped" and len(steps) == after
    assert "interrupted" in solution.explain()
    assert solution.upper < math.inf
    solution.certificate.verify()


@ENGINES
def test_user_arrays_are_never_written_to(method):
    Xs, Xt, p, W, C, A, b = (
        np.array(a)
        for a in (XS, XT, np.full(5, 0.2), 1 - np.eye(4), np.diag([1.0, 2.0]), np.stack([I2, -I2]), [1.0, -0.2])
    )
    arrays = (Xs, Xt, p, W, C, A, b)
    before = [a.copy() for a in arrays]
    for a in arrays:
        a.flags.writeable = False
    for problem in (Discrepancy(Xs, Xt, target_weights=p), MaxCut(W), LinearSDP(C, A, b, 3.0)):
        solution = ml.solve(problem, method=method, tol=0.05)
        ml.certify(problem, X=solution.matrix, y=solution.y)
    for a, kept in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, kept)
