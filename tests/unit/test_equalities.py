"""Equalities: free multipliers, matrices that meet them exactly, faces without a positive definite point."""

import gzip
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import CompressedMap, DenseMap, RankOneMap, SparseMap
from matrixlearn.problems.linear.combination import combination
from matrixlearn.problems.linear.face import least_face
from matrixlearn.sets import KnapsackSet

SDPLIB = Path(__file__).parents[3] / "shared/data/sdplib"
seeds = st.integers(0, 2**32 - 1)


def symmetric(rng, *shape):
    G = rng.standard_normal(shape)
    return (G + np.swapaxes(G, -1, -2)) / 2


# -- certificates -----------------------------------------------------------------------------------


@given(seed=seeds)
def test_the_bounds_are_of_the_exact_program(seed):
    """C.X <= upper for any feasible X, and A(y) - C >= 0 at the returned y, whose b.y is the upper bound."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    A, C, root = symmetric(rng, m, n, n), symmetric(rng, n, n), rng.standard_normal((n, n))
    inside = root @ root.T
    A = np.concatenate([A, np.eye(n)[None]])
    b = np.einsum("jab,ab->j", A, inside)
    solution = ml.solve(ml.LinearSDP.with_senses(C, A, b, "=="), tol=1e-7)
    size = 1e-11 * float(np.sum(np.abs(C)) * np.trace(inside))
    assert solution.status in ("optimal", "estimated")  # more rows than entries leave one X, which may be singular
    assert np.sum(C * inside) <= solution.upper + size
    assert np.linalg.eigvalsh(np.tensordot(solution.y, A, 1) - C)[0] >= -1e-12 * (1 + np.abs(solution.y).sum())
    assert solution.upper == pytest.approx(b @ solution.y, rel=1e-9, abs=size)
    np.testing.assert_allclose(np.einsum("jab,ab->j", A, solution.matrix), b, atol=1e-9 * np.abs(A).max() * b[-1])


def test_an_x_that_misses_an_equality_proves_nothing_by_itself():
    """X = [[2, 1], [1, 1]] would have C.X = 3, but X_12 = 0 is asked for."""
    off = np.array([[0, 0.5], [0.5, 0]])
    problem = ml.LinearSDP.with_senses(np.diag([1.0, 1.0]), [off], [0.0], "==", 5.0)
    far = np.array([[4.0, 1.5], [1.5, -1]])  # not positive semidefinite, nor is it without its X_12
    assert problem.bound_from_matrix(far).lower == -np.inf
    assert ml.certify(problem, X=far).lower <= 5.0  # what a matrix on the way to the interior proves
    X = np.array([[2.0, 1], [1, 1]])
    assert ml.certify(problem, X=X * np.eye(2)).lower == pytest.approx(3.0)
    for missed in (1e-9, 0.3):  # a matrix within ||A(X) - b|| / sigma is feasible, and as good but for ||C|| times that
        proved = ml.certify(problem, X=X * np.eye(2) + missed * 2 * off).lower
        assert 3.0 - 4 * missed <= proved <= 3.0  # diag(2, 1) is the nearest


def test_a_matrix_that_misses_an_equality_with_a_small_coefficient_is_far_from_feasible():
    """max X_22, X_11 + 1e-6 X_22 = 0: X = e_2 e_2^T misses the row by 1e-6, and the optimum is 0 and not 1."""
    problem = ml.LinearSDP.with_senses(np.diag([0.0, 1.0]), [np.diag([1.0, 1e-6])], [0.0], "==", 1.0)
    assert ml.certify(problem, X=np.diag([0.0, 1.0]), y=[0.0]).lower <= 0.0


def test_rows_that_contradict_each_other_are_infeasible_for_every_trace():
    """X_11 = 1 and X_11 = 1.001: y = (1, -1) has A(y) = 0 and b.y < 0."""
    e = np.diag([1.0, 0.0])
    solution = ml.solve(ml.LinearSDP.with_senses(np.diag([1.0, -2.0]), [e, e], [1.0, 1.001], "==", 3.0))
    assert solution.status == "infeasible" and solution.upper == -np.inf
    assert solution.certificate.trace_bound is None
    solution.certificate.verify()


def test_a_ray_proves_infeasibility():
    """tr X = 1 and X_11 + 2 X_22 = 3: y = (2, -1)."""
    problem = ml.LinearSDP.with_senses(np.eye(2), [np.eye(2), np.diag([1.0, 2.0])], [1.0, 3.0], "==")
    solution = ml.solve(problem)
    y = solution.y
    assert solution.status == "infeasible" and solution.upper == -np.inf and solution.matrix is None
    assert np.linalg.eigvalsh(y[0] * np.eye(2) + y[1] * np.diag([1.0, 2.0]))[0] >= 0 and y @ [1.0, 3.0] < 0


def test_free_multipliers_are_bounded_by_a_strictly_feasible_pair_or_refused_by_name():
    open_inside = ml.LinearSDP.with_senses(np.diag([1.0, 2.0]), [np.eye(2)], [1.0], "==", 2.0)
    assert ml.solve(open_inside, "mmw", tol=0.05).status == "optimal"
    rank_one = ml.LinearSDP.with_senses(np.eye(2), [np.eye(2), np.diag([1.0, 0.0])], [1.0, 1.0], "==")
    refused = ml.solve(rank_one, "mmw")
    assert refused.status == "optimal" or "no strictly feasible X was found, which mmw needs" in refused.explain()


def test_equalities_are_checked():
    for wrong in ([True], [1, 0], "=="):
        with pytest.raises(ProblemError, match="equalities"):
            ml.LinearSDP(np.eye(2), np.stack([np.eye(2)] * 2), np.ones(2), 3.0, equalities=wrong)


def test_free_coordinates_of_a_set():
    Y = KnapsackSet(np.array([0.0, -np.inf]), np.full(2, np.inf))
    assert not Y.is_bounded and list(Y.floored) == [0] and len(Y.capped) == 0
    np.testing.assert_array_equal(Y.project(np.array([-1.0, -5.0])), [0.0, -5.0])
    assert Y.minimize(np.array([1.0, 0.0]))[0] == 0.0
    assert Y.minimize(np.array([1.0, 1e-9]))[0] == -np.inf


# -- programs that the slabs of a tolerance had got wrong ----------------------------------------------


@pytest.mark.skipif(not SDPLIB.is_dir(), reason="needs shared/data")
@pytest.mark.parametrize(
    ("name", "R", "published", "digits"),
    [
        ("control1", 200.0, 17.78463, 1e-6),  # was 0.7 % off, and called optimal
        ("control2", 1e3, 8.3, 1e-4),  # 3 %
        ("control3", 1e4, 13.63327, 1e-3),  # 6 %
        ("truss1", 1e3, -8.999996, 1e-6),
        ("truss3", 1e3, -9.109996, 1e-6),
    ],
)
def test_published_optima_are_within_the_bounds(name, R, published, digits):
    solution = ml.solve(ml.LinearSDP.from_sdpa(SDPLIB / f"{name}.dat-s.gz", trace_bound=R), tol=1e-3)
    room = digits * abs(published)
    assert solution.status == "optimal"
    assert solution.lower - room <= published <= solution.upper + room
    again = ml.solve(ml.LinearSDP.from_sdpa(SDPLIB / f"{name}.dat-s.gz", trace_bound=R), tol=1e-6)
    assert again.lower == pytest.approx(published, rel=digits) and again.upper - published <= 1e-3 * abs(published)


@pytest.mark.skipif(not SDPLIB.is_dir(), reason="needs shared/data")
def test_without_a_proved_matrix_the_answer_is_not_called_optimal():
    """hinf1 has hardly an interior, and decimal data: its multipliers prove 2.0327, its matrix may prove nothing."""
    solution = ml.solve(ml.LinearSDP.from_sdpa(SDPLIB / "hinf1.dat-s.gz", trace_bound=100.0), tol=1e-3)
    assert solution.status == ("optimal" if solution.certificate.rigour == "checked" else "estimated")
    assert solution.upper == pytest.approx(2.0326, rel=1e-3) and solution.value == pytest.approx(2.0326, rel=1e-3)


@pytest.mark.parametrize("n", [60, 80])
def test_angles_of_many_signals(n):
    """Complex C, real rows, on both sides of where Lanczos finds the steps."""
    rng = np.random.default_rng(n)
    z = np.exp(1j * rng.uniform(0, 2 * np.pi, n))
    rows = [sp.coo_array(([1.0], ([i], [i])), shape=(n, n)) for i in range(n)]
    solution = ml.solve(ml.LinearSDP.with_senses(np.outer(z, z.conj()), rows, np.ones(n), "==", 1.5 * n), tol=1e-6)
    assert solution.status == "optimal" and solution.value == pytest.approx(n * n, rel=1e-6)


@pytest.mark.parametrize("R", [1.0, 1.001, 50.0])
def test_a_trace_bound_that_a_row_gives(R):
    """tr X = 1 with R = 1 leaves no X of a smaller trace: S has room of its own."""
    C = symmetric(np.random.default_rng(0), 30, 30)
    solution = ml.solve(ml.LinearSDP.with_senses(C, [np.eye(30)], [1.0], "==", R), tol=1e-8)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(np.linalg.eigvalsh(C)[-1], rel=1e-7)


@pytest.mark.parametrize("n", [40, 60])
def test_unfolding_a_chain_of_many_links(n):
    """Maximum variance unfolding, centred by <1 1^T, K> = 0: a line again, whatever n."""
    x = np.cumsum(np.r_[0.0, np.random.default_rng(n).uniform(0.5, 1.5, n - 1)])
    spread = float(np.sum((x - x.mean()) ** 2))
    pair = ([0, 1, 0, 1], [0, 1, 1, 0])
    links = [sp.coo_array(([1.0, 1, -1, -1], np.add(pair, i)), shape=(n, n)) for i in range(n - 1)]
    A, b = [sp.csr_array(np.ones((n, n))), *links], np.r_[0.0, np.diff(x) ** 2]
    solution = ml.solve(ml.LinearSDP.with_senses(np.eye(n), A, b, "==", 1.5 * spread), tol=1e-6)
    assert solution.status == "optimal" and solution.value == pytest.approx(spread, rel=1e-6)
    assert any(f"{n - 1} of {n} dimensions" in note for note in solution.notes)


# -- faces --------------------------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(2, 6), r=st.integers(1, 5), sparse=st.booleans())
def test_the_least_face_is_the_null_space_of_what_must_vanish(seed, n, r, sparse):
    """G G^T X = 0 in whole numbers: G^T V = 0 exactly. In numbers that are rounded G G^T is nothing of the kind."""
    rng = np.random.default_rng(seed)
    r = min(r, n - 1)
    G = rng.integers(-3, 4, (n, n - r)).astype(float)
    rank = int(np.linalg.matrix_rank(G))
    if rank == 0:
        return
    A = np.stack([-(G @ G.T), symmetric(rng, n, n), symmetric(rng, n, n)])
    family = SparseMap(sp.csr_array(A.reshape(3, n * n)), n) if sparse else DenseMap(A)
    face = least_face(family, np.array([0.0, 1.0, 2.0]), np.array([True, True, False]))
    assert face.V.shape == (n, n - rank) and list(face.rows) == [1, 2]
    np.testing.assert_array_equal(G.T @ face.V, 0)
    assert np.linalg.matrix_rank(face.V) == n - rank
    assert least_face(family, np.array([1e-3, 1.0, 2.0]), np.array([True, True, False])) is None
    nearly = A.copy()
    nearly[0] += 1e-13 * np.eye(n)  # indefinite, by no more than rounding
    assert least_face(DenseMap(nearly), np.array([0.0, 1.0, 2.0]), np.array([True, True, False])) is None


@given(seed=seeds)
def test_a_program_on_a_face_is_the_program(seed):
    """Judged by cvxpy on the face, which is written down: X e = 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    C, A, root = symmetric(rng, n, n), symmetric(rng, 2, n, n), rng.standard_normal((n, n))
    V = np.linalg.svd(np.ones((1, n)))[2][1:].T
    inside = V @ (V.T @ root @ root.T @ V + 0.1 * np.eye(n - 1)) @ V.T
    b, R = np.r_[0.0, np.einsum("jab,ab->j", A, inside)], 2 * float(np.trace(inside))
    problem = ml.LinearSDP.with_senses(C, [np.ones((n, n)), *A, np.eye(n)], np.r_[b, R], ["==", "==", "==", "<="])
    assert problem.standard is problem.standard  # found once
    solution = ml.solve(problem, tol=1e-7)
    W = cp.Variable((n - 1, n - 1), PSD=True)
    rows = [cp.trace(V.T @ a @ V @ W) == k for a, k in zip(A, b[1:], strict=True)]
    judge = cp.Problem(cp.Maximize(cp.trace(V.T @ C @ V @ W)), [cp.trace(W) <= R, *rows])
    judge.solve(solver="CLARABEL")
    assert solution.status == "optimal"
    size = max(abs(judge.value), 1e-3 * R * np.linalg.norm(C, 2))
    assert solution.value == pytest.approx(judge.value, abs=1e-5 * size)
    assert solution.matrix.shape == (n, n) and solution.y.shape == (4,)
    np.testing.assert_allclose(solution.matrix @ np.ones(n), 0, atol=1e-9 * R)
    # the multiplier of the facial row is large enough for a proof that knows no face
    S = C - np.tensordot(solution.y, [np.ones((n, n)), *A, np.eye(n)], 1)
    plain = np.r_[b, R] @ solution.y + R * max(0.0, np.linalg.eigvalsh(S)[-1])
    assert plain <= solution.upper + 1e-6 * R * np.linalg.norm(C, 2)
    again = ml.solve(problem, tol=1e-7, warm_start=solution)
    assert again.iterations == 0 and again.status == "optimal"


@given(seed=seeds, n=st.integers(2, 5), r=st.integers(1, 4))
def test_a_compressed_family_is_the_dense_one(seed, n, r):
    rng = np.random.default_rng(seed)
    r, m = min(r, n), 4
    A = symmetric(rng, m, n, n) * (rng.random((m, n, n)) < 0.6)
    A = A + np.swapaxes(A, 1, 2)
    V = np.linalg.qr(rng.standard_normal((n, r)))[0]
    family = SparseMap(sp.csr_array(A.reshape(m, n * n)), n).compressed(V)
    assert isinstance(family, CompressedMap)
    plain = DenseMap(np.stack([V.T @ a @ V for a in A]))
    U, W = (G @ G.T for G in rng.standard_normal((2, r, r)))
    y = rng.standard_normal(m)
    np.testing.assert_allclose(family.apply(y), plain.apply(y), atol=1e-12)
    np.testing.assert_allclose(family.adjoint(U), plain.adjoint(U), atol=1e-11)
    np.testing.assert_allclose(family.sizes, plain.sizes, atol=1e-11)
    ours, theirs = family.newton_terms(U, W), plain.newton_terms(U, W)
    for name in ("single", "product", "second"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-10)
    D = symmetric(rng, r, r)
    np.testing.assert_allclose(ours.between(0.0, y, D), U @ D @ W, atol=1e-10)


@given(seed=seeds)
def test_a_combination_is_found_where_there_is_one(seed):
    rng = np.random.default_rng(seed)
    P = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    for family, exists in ((RankOneMap(P), True), (RankOneMap(P[:3]), False)):
        y, residual = combination(family, np.ones(family.shape[0], dtype=bool), np.eye(4))
        np.testing.assert_allclose(y, 1.0, atol=1e-10)
        assert (residual <= 1e-10) == exists


def test_a_file_needs_no_trace_bound(tmp_path):
    """A file whose first row is the identity: it bounds the trace."""
    path = tmp_path / "p.dat-s.gz"
    path.write_bytes(gzip.compress(b"1\n1\n2\n3.0\n0 1 1 1 1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n"))
    solution = ml.solve(ml.LinearSDP.from_sdpa(path), tol=1e-7)
    assert solution.status == "optimal" and solution.certificate.trace_bound is None
    assert solution.value == pytest.approx(3.0, rel=1e-6)


def test_faces_and_blocks_in_another_namespace():
    xp = pytest.importorskip("array_api_strict")
    rng = np.random.default_rng(0)
    C, A, root = symmetric(rng, 4, 4), symmetric(rng, 2, 4, 4), rng.standard_normal((4, 4))
    P = np.eye(4) - 0.25
    inside = P @ root @ root.T @ P
    blocks = np.kron(np.eye(2), np.ones((2, 2)))
    centred = np.stack([np.ones((4, 4)), *A]), np.r_[0.0, np.einsum("jab,ab->j", A, inside)]
    for cost, rows, right in (
        (C, *centred),
        (C * blocks, A * blocks, np.einsum("jab,ab->j", A * blocks, root @ root.T)),
    ):
        R = 2 * float(np.trace(root @ root.T))
        ours, plain = (
            ml.solve(ml.LinearSDP.with_senses(as_array(cost), as_array(rows), right, "==", R), tol=1e-7)
            for as_array in (xp.asarray, np.asarray)
        )
        assert ours.status == plain.status and ours.status in ("optimal", "trace bound")
        assert isinstance(ours.matrix, type(xp.asarray(C)))
        assert ours.value == pytest.approx(plain.value, rel=1e-6)
        ours.certificate.verify()


# -- programs without an interior that no row shows ------------------------------------------------------


def at(n, i, j):
    """A with A . X = X_ij."""
    A = np.zeros((n, n))
    A[i, j] += 0.5
    A[j, i] += 0.5
    return A


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(6))
def test_a_pure_state_is_never_valued_too_high(seed, tol):
    """tr X = 1 and X_11 = 1: X = e_1 e_1^T, and the value goes with the root of what is missed."""
    C = 2 * symmetric(np.random.default_rng(seed), 4, 4)
    C[0, 0] = 0.3
    solution = ml.solve(ml.LinearSDP.with_senses(C, [np.eye(4), at(4, 0, 0)], [1.0, 1.0], "==", 1.0), tol=tol)
    assert solution.lower <= 0.3 * (1 + 1e-9) and solution.upper >= 0.3 * (1 - 1e-9)
    assert solution.status != "optimal" or abs(solution.value - 0.3) <= 2 * tol * 0.3


def test_a_warm_start_of_another_shape_is_ignored():
    small = ml.solve(ml.LinearSDP.with_senses(np.eye(3), [np.eye(3)], [1.0], "==", 1.0))
    whole = ml.LinearSDP.with_senses(np.eye(4), [np.ones((4, 4)), np.eye(4)], [0.0, 1.0], "==", 1.0)
    assert ml.solve(whole, warm_start=small).status == "optimal"


def test_rows_that_vanish_on_the_face_and_facial_inequalities():
    vanishing = ml.LinearSDP.with_senses(np.eye(2), [at(2, 0, 0), at(2, 0, 1)], [0.0, 0.0], ["==", "<="], 1.0)
    solution = ml.solve(vanishing)
    assert solution.status == "trace bound" and solution.certificate.trace_bound == 1.0  # X_22 <= 1 by nothing else
    assert solution.value == pytest.approx(1.0, rel=1e-3)
    rows = [at(3, 1, 1), at(3, 0, 0) + 2 * at(3, 1, 2)]  # X_22 <= 0 leaves X_23 = 0, and so X_11 = 1
    inequality = ml.LinearSDP.with_senses(-at(3, 0, 0), rows, [0.0, 1.0], ["<=", "=="], 100.0)
    solution = ml.solve(inequality, tol=1e-6)
    assert solution.status == "optimal" and solution.value == pytest.approx(-1.0, rel=1e-6)
    assert solution.y[0] >= 0


def test_the_multipliers_of_another_solver_prove_what_they_may():
    """tr X = 1 by a row: what a y lacks is made up for by the row, and no trace bound is needed."""
    rows = [np.eye(5), *(at(5, i, (i + 1) % 5) for i in range(5))]
    problem = ml.LinearSDP.with_senses(np.ones((5, 5)), rows, np.eye(1, 6)[0], "==", 1.0)
    reference = problem.reference()
    reference.solve(solver="CLARABEL")
    X, y = problem.read_reference(reference)
    certificate = ml.certify(problem, X=X, y=y)
    assert certificate.upper == pytest.approx(np.sqrt(5), rel=1e-5) and certificate.trace_bound is None
    assert certificate.lower <= np.sqrt(5)
    assert certificate.lower > -np.inf or "not proved feasible" in certificate.why


@pytest.mark.parametrize("method", ["pdhg", "mirror-prox", "smoothing"])
def test_an_interior_point_that_misses_the_rows_does_not_hold_others_back(method):
    """It proves a feasible matrix 0.09 away; an optimal X that was moved towards it as it stood lost half its value."""
    rng = np.random.default_rng(0)
    A = symmetric(rng, 6, 8, 8) * 1.0
    A[0] = np.eye(8)
    C, root = symmetric(rng, 8, 8), rng.standard_normal((8, 8))
    b = np.einsum("jab,ab->j", A, np.eye(8) + root @ root.T / 8)
    equal = np.arange(6) < 4
    program = ml.LinearSDP(C, A, np.where(equal, b, b + 0.5), equalities=equal)
    assert ml.solve(program, method=method, tol=1e-2, max_iter=500).status == "optimal"


def test_what_is_moved_towards_an_interior_point_keeps_its_value():
    """X_0 = diag(1.1, .95) misses tr X = 2 by 0.05, and still proves a feasible matrix near it."""
    program = ml.LinearSDP(np.diag([1.0, 0.0]), [np.eye(2), np.diag([0.0, -1.0])], [2.0, 0.0], equalities=[True, False])
    proof = program.standard.before
    inside = np.diag([1.1, 0.95])
    assert proof.proves(inside)
    moved = proof.toward(np.diag([2.0, 0.0]), inside)
    assert proof.lower(moved)[0] > 2.0 - 1e-9


@pytest.mark.parametrize("seed", [0, 4])
def test_multiplicative_weights_propose_the_average_whatever_the_box_of_multipliers_is(seed):
    """The box, a thousand times as wide as the multipliers, says little of X; what X proves once it is moved onto the
    rows says more. By the box alone these take 5,963 and 8,049 rounds, with the average 75 and 57.
    """
    rng = np.random.default_rng(seed)
    A, root = rng.standard_normal((29, 20, 20)), rng.standard_normal((20, 20))
    A = np.stack([np.eye(20), *(A + np.swapaxes(A, 1, 2)) / 2])
    b, C = np.einsum("jab,ab->j", A, np.eye(20) + root @ root.T / 20), rng.standard_normal((20, 20))
    equal = np.arange(30) < 15
    found = ml.solve(
        ml.LinearSDP((C + C.T) / 2, A, np.where(equal, b, b + 0.5), equalities=equal), "mmw", max_iter=1000, tol=0.1
    )
    assert found.status == "optimal"
