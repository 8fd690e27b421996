"""Classic semidefinite programs as a newcomer would write them from the quickstart: is the answer right?

The judge is a closed form, another algorithm, or cvxpy on the program's own formulation, never on ours. Each answer is
evaluated again here, from the data: feasibility of X, and the bound that its multipliers prove.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import matrixlearn as ml
from matrixlearn.maps import DenseMap, SparseMap
from matrixlearn.problems import Game, GameProblem
from matrixlearn.sets import KnapsackSet, SpectralBall, Spectraplex, TraceBall

cp = pytest.importorskip("cvxpy")


def entries(n, *terms):
    """A with A . X = sum v Re X_ij over the terms (i, j, v)."""
    A = sp.lil_array((n, n))
    for i, j, v in terms:
        A[i, j] += v / 2
        A[j, i] += v / 2
    return A.tocsr()


def imaginary(n, i, j):
    """A with Re tr(A^H X) = Im X_ij."""
    return sp.csr_array((np.array([0.5j, -0.5j]), ([i, j], [j, i])), shape=(n, n))


def pairs(n, k=1):
    return list(zip(*np.triu_indices(n, k), strict=True))


def solved(C, A, b, senses, R, tol=1e-6, status="optimal"):
    """An answer of that status, its feasibility and its bound computed here."""
    problem = ml.LinearSDP.with_senses(C, A, b, senses, trace_bound=R)
    solution = ml.solve(problem, tol=tol)
    assert solution.status == status, solution.explain()
    X, multipliers = solution.matrix, problem.row_multipliers(solution.y)
    A = [np.asarray(a.todense()) for a in A]
    reached = np.array([np.vdot(a, X).real for a in A])
    size = 1e-6 * (1 + np.abs(b) + max(np.abs(b)) * np.array([np.abs(a).sum(axis=1).max() for a in A]))
    each = [senses] * len(A) if isinstance(senses, str) else senses
    for value, right, allowed, sense, u in zip(reached, b, size, each, multipliers, strict=True):
        if sense != ">=":
            assert value <= right + allowed
        if sense != "<=":
            assert value >= right - allowed
        assert sense == "==" or (u >= 0) == (sense == "<=") or u == 0
    assert np.linalg.eigvalsh(X)[0] >= -1e-12 * R
    assert np.trace(X).real <= R * (1 + 1e-12)
    slack = np.linalg.eigvalsh(C - sum(u * a for u, a in zip(multipliers, A, strict=True)))[-1]
    proven = float(np.dot(b, multipliers)) + R * max(0.0, slack)  # of the exact program
    assert np.vdot(C, X).real == pytest.approx(solution.value, rel=1e-9, abs=1e-12)
    return solution, proven


def right(found, optimum, rel=1e-5):
    """The value, and the bound on the exact program, which holds whatever the equalities' tolerance."""
    solution, proven = found
    assert solution.value == pytest.approx(optimum, rel=rel, abs=1e-9)
    assert proven >= optimum - 1e-7 * abs(optimum)
    assert proven == pytest.approx(optimum, rel=rel, abs=1e-6)


def judged(program, solver="CLARABEL"):
    return float(program.solve(solver=solver))


# -- graphs -------------------------------------------------------------------------------------------


def theta(n, edges, also=()):
    """Lovasz's theta; with all other pairs nonnegative, Schrijver's."""
    A = [sp.eye_array(n, format="csr"), *(entries(n, (i, j, 1.0)) for i, j in (*edges, *also))]
    senses = ["=="] * (1 + len(edges)) + [">="] * len(also)
    return solved(np.ones((n, n)), A, np.r_[1.0, np.zeros(len(A) - 1)], senses, 1.0)


def test_theta_of_petersens_graph_is_four():
    rim = [(i, (i + 1) % 5) for i in range(5)]
    edges = [*rim, *((i, i + 5) for i in range(5)), *((5 + i, 5 + (i + 2) % 5) for i in range(5))]
    right(theta(10, edges), 4.0)


@pytest.mark.parametrize(("n", "d"), [(3, 2), (4, 2), (4, 3)])
def test_schrijvers_theta_is_delsartes_linear_program(n, d):
    """Codes of length n and distance d: the words nearer than d are joined (Schrijver 1979)."""
    from scipy.optimize import linprog
    from scipy.special import comb

    words = np.arange(2**n)
    distance = np.array([[(a ^ b).bit_count() for b in words.tolist()] for a in words.tolist()])
    near = [(i, j) for i, j in pairs(2**n) if distance[i, j] < d]
    far = [(i, j) for i, j in pairs(2**n) if distance[i, j] >= d]
    krawtchouk = np.array(
        [
            [sum((-1) ** s * comb(i, s) * comb(n - i, k - s) for s in range(k + 1)) for i in range(n + 1)]
            for k in range(n + 1)
        ]
    )
    keep = [i for i in range(n + 1) if i == 0 or i >= d]
    K = krawtchouk[:, keep]
    bound = linprog(-np.ones(len(keep)), A_ub=-K, b_ub=np.zeros(n + 1), A_eq=[np.eye(len(keep))[0]], b_eq=[1.0])
    right(theta(2**n, near, far), -bound.fun)


def test_max_k_cut_of_a_complete_graph():
    """Frieze and Jerrum (1997): 6 vertices in 3 parts, where X = I - (J - I) / 5 respects X_ij >= -1/2."""
    n, k = 6, 3
    W = np.ones((n, n)) - np.eye(n)
    A = [entries(n, (i, i, 1.0)) for i in range(n)] + [entries(n, (i, j, 1.0)) for i, j in pairs(n)]
    b = np.r_[np.ones(n), np.full(len(pairs(n)), -1 / (k - 1))]
    solution, _ = solved(-W, A, b, ["=="] * n + [">="] * len(pairs(n)), float(n))
    assert (k - 1) / (2 * k) * (W.sum() + solution.value) == pytest.approx(2 / 6 * (30 + 6), rel=1e-5)


def test_bisection_of_two_cliques():
    """min <L, X> / 4, X_ii = 1, e.X e = 0, which no positive definite X satisfies: two cliques and one edge, cut 1."""
    n = 8
    W = np.kron(np.eye(2), np.ones((4, 4)))
    W[3, 4] = W[4, 3] = 1.0
    np.fill_diagonal(W, 0.0)
    L = np.diag(W.sum(axis=1)) - W
    A = [*(entries(n, (i, i, 1.0)) for i in range(n)), sp.csr_array(np.ones((n, n)))]
    solution, _ = solved(-L / 4, A, np.r_[np.ones(n), 0.0], "==", float(n), tol=1e-4)
    X = cp.Variable((n, n), PSD=True)
    judge = judged(cp.Problem(cp.Minimize(cp.trace(L @ X) / 4), [cp.diag(X) == 1, cp.sum(X) == 0]))
    assert -solution.value == pytest.approx(judge, rel=3e-4)


@pytest.mark.parametrize("n", [3, 5])
def test_the_fastest_chain_on_a_path_mixes_at_the_cosine(n):
    """Boyd, Diaconis, Sun and Xiao (2006): cos(pi / n).  min t: -t I <= I - L(p) - J/n <= t I, degrees of p at most 1,
    p >= 0, read as the multipliers of a program in the blocks X_+, X_- and diag(z)."""
    N = 3 * n
    C = np.zeros((N, N))
    C[:n, :n] = np.eye(n) - 1 / n
    C[n : 2 * n, n : 2 * n] = -C[:n, :n]
    C[2 * n :, 2 * n :] = -np.eye(n)
    A = [entries(N, *((i, i, 1.0) for i in range(2 * n)))]
    for i in range(n - 1):
        laplacian = [
            (o + a, o + b, s * v)
            for o, s in ((0, 1), (n, -1))
            for a, b, v in ((i, i, 1), (i + 1, i + 1, 1), (i, i + 1, -2))
        ]
        A.append(entries(N, *laplacian, (2 * n + i, 2 * n + i, -1.0), (2 * n + i + 1, 2 * n + i + 1, -1.0)))
    found = solved(C, A, np.r_[1.0, np.zeros(n - 1)], "<=", 20.0)
    right(found, np.cos(np.pi / n))
    assert found[0].y[1:] == pytest.approx(0.5, abs=1e-2)


# -- data ---------------------------------------------------------------------------------------------


def test_k_means_of_separated_clusters_is_exact():
    """Peng and Wei (2007): X is the normalized membership of the clusters."""
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1, 2], [3, 4, 2])
    points = 10 * np.eye(3)[label] + 0.1 * rng.standard_normal((9, 3))
    n, k, K = 9, 3, points @ points.T
    A = [sp.eye_array(n, format="csr"), *(entries(n, *((i, j, 1.0) for j in range(n))) for i in range(n))]
    A += [entries(n, (i, j, 1.0)) for i, j in pairs(n)]
    b = np.r_[k, np.ones(n), np.zeros(len(pairs(n)))]
    found = solved(K, A, b, ["=="] * (n + 1) + [">="] * len(pairs(n)), float(k))
    member = (label[:, None] == label) / np.bincount(label)[label]
    right(found, float(np.sum(K * member)))
    assert found[0].matrix == pytest.approx(member, abs=1e-2)


def test_completion_of_least_trace_norm():
    rng = np.random.default_rng(0)
    M = np.outer(rng.standard_normal(4), rng.standard_normal(5))
    seen = [(i, j) for i in range(4) for j in range(5) if rng.random() < 0.6]
    b = np.array([M[i, j] for i, j in seen])
    R = 2 * np.linalg.norm([[M[i, j] if (i, j) in seen else 0 for j in range(5)] for i in range(4)], "nuc")
    found = solved(-np.eye(9) / 2, [entries(9, (i, 4 + j, 1.0)) for i, j in seen], b, "==", R)
    X = cp.Variable((4, 5))
    judge = judged(cp.Problem(cp.Minimize(cp.normNuc(X)), [X[i, j] == M[i, j] for i, j in seen]))
    right(found, -judge)


def test_factor_analysis_of_least_trace():
    """max sum d, S - diag(d) >= 0, d >= 0: the dual has rows >= alone, and X is not bounded by them."""
    rng = np.random.default_rng(1)
    G = rng.standard_normal((7, 2))
    S = G @ G.T + np.diag(rng.uniform(0.5, 2, 7))
    A = [entries(7, (i, i, 1.0)) for i in range(7)]
    found = solved(-S, A, np.ones(7), ">=", float(np.trace(S) / np.linalg.eigvalsh(S)[0]))
    d = cp.Variable(7, nonneg=True)
    right(found, -judged(cp.Problem(cp.Maximize(cp.sum(d)), [S - cp.diag(d) >> 0])))


def test_a_chain_unrolls_to_a_line():
    """Maximum variance unfolding (Weinberger and Saul 2004); the centring leaves no positive definite K."""
    x = np.cumsum([0.0, 1.0, 0.5, 1.5, 0.7])
    n, spread = len(x), float(np.sum((x - x.mean()) ** 2))
    A = [sp.csr_array(np.ones((n, n)))]
    A += [entries(n, (i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -2.0)) for i in range(n - 1)]
    right(solved(np.eye(n), A, np.r_[0.0, np.diff(x) ** 2], "==", 2 * spread, tol=1e-5), spread, rel=3e-5)


def test_sensors_are_found_by_their_distances():
    """Biswas and Ye (2004): Z = [[I, P], [P^T, Y]], all distances known; Y = P^T P and nothing else."""
    rng = np.random.default_rng(0)
    P, anchors = rng.uniform(-0.5, 0.5, (4, 2)), np.array([[0.5, 0.5], [-0.5, 0.5], [0.0, -0.5]])
    N = 6
    A, b = [entries(N, (i, j, 1.0)) for i, j in ((0, 0), (1, 1), (0, 1))], [1.0, 1.0, 0.0]
    for i in range(4):
        for k in anchors:
            known = (0, 0, k[0] ** 2), (1, 1, k[1] ** 2), (0, 1, 2 * k[0] * k[1])
            A.append(entries(N, *known, (2 + i, 2 + i, 1.0), (0, 2 + i, -2 * k[0]), (1, 2 + i, -2 * k[1])))
            b.append(float(np.sum((P[i] - k) ** 2)))
    C = np.diag([0.0, 0, 1, 1, 1, 1])
    # one matrix is feasible, and the numbers that say so are not exact: no lower bound is proved
    solution, _ = solved(C, A, np.array(b), "==", 6.0, tol=1e-5, status="estimated")
    found = solution.matrix[:2, 2:].T
    assert found == pytest.approx(P, abs=1e-4)


# -- quantum, complex ---------------------------------------------------------------------------------


def test_tsirelsons_bound():
    C = np.zeros((4, 4))
    C[:2, 2:] = [[0.5, 0.5], [0.5, -0.5]]
    right(solved(C + C.T, [entries(4, (i, i, 1.0)) for i in range(4)], np.ones(4), "==", 4.0), 2 * np.sqrt(2))


def states(rng, d, k):
    G = rng.standard_normal((k, d, d)) + 1j * rng.standard_normal((k, d, d))
    rho = G @ G.conj().transpose(0, 2, 1)
    return rho / np.trace(rho, axis1=1, axis2=2).real[:, None, None]


def test_two_states_are_told_apart_as_helstrom_says():
    """max sum p_i <rho_i, M_i>, sum M_i = I, in two blocks: (1 + ||p_1 rho_1 - p_2 rho_2||_1) / 2."""
    d, p = 3, (0.3, 0.7)
    rho = states(np.random.default_rng(0), d, 2)
    C = np.zeros((2 * d, 2 * d), complex)
    for t in range(2):
        C[t * d : t * d + d, t * d : t * d + d] = p[t] * rho[t]
    A = [entries(2 * d, (i, j, 1.0), (d + i, d + j, 1.0)) for i, j in pairs(d, 0)]
    A += [imaginary(2 * d, i, j) + imaginary(2 * d, d + i, d + j) for i, j in pairs(d)]
    b = np.r_[[float(i == j) for i, j in pairs(d, 0)], np.zeros(len(pairs(d)))]
    best = (1 + np.abs(np.linalg.eigvalsh(p[0] * rho[0] - p[1] * rho[1])).sum()) / 2
    right(solved(C, A, b, "==", float(d)), best)


@pytest.mark.parametrize("d", [2, 3])
def test_no_state_of_positive_partial_transpose_overlaps_a_maximally_entangled_one_by_more_than_one_over_d(d):
    """rho and its partial transpose as two blocks, joined entry by entry."""
    D = d * d
    phi = np.eye(d).reshape(D) / np.sqrt(d)
    C = np.zeros((2 * D, 2 * D), complex)
    C[:D, :D] = np.outer(phi, phi)
    A, b = [entries(2 * D, *((i, i, 1.0) for i in range(D)))], [1.0]
    for r, c in pairs(D, 0):
        s, t = r - r % d + c % d, c - c % d + r % d
        A.append(entries(2 * D, (r, c, 1.0), (D + s, D + t, -1.0)))
        if r < c:
            other = imaginary(2 * D, D + s, D + t) if s < t else -imaginary(2 * D, D + t, D + s)
            A.append(imaginary(2 * D, r, c) - (other if s != t else 0 * other))
        b += [0.0] * (1 + (r < c))
    right(solved(C, A, np.array(b), "==", 2.0), 1 / d)


@pytest.mark.parametrize("how", ["real", "complex"])
def test_angles_without_noise_are_recovered(how):
    """Singer (2011): C = z z^H off the diagonal, X_ii = 1; the optimum is n^2 - n, at X = z z^H."""
    n = 12
    z = np.exp(2j * np.pi * np.random.default_rng(0).random(n))
    C = np.outer(z, z.conj()) - np.eye(n)
    A = [entries(n, (i, i, 1.0)).astype(complex if how == "complex" else float) for i in range(n)]
    found = solved(C, A, np.ones(n), "==", float(n))
    right(found, n * n - n)
    assert found[0].matrix == pytest.approx(np.outer(z, z.conj()), abs=1e-2)


def test_a_phase_is_lifted_from_its_magnitudes():
    """Candes, Strohmer and Voroninski (2013): min tr X, a^H X a = |a^H x|^2, with rank-one rows."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((20, 4)) + 1j * rng.standard_normal((20, 4))
    x = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    b = np.abs(a.conj() @ x) ** 2
    solution = ml.solve(ml.LinearSDP.with_senses(-np.eye(4, dtype=complex), a, b, "==", trace_bound=50.0), tol=1e-6)
    assert solution.status == "estimated"  # one matrix is feasible, and the numbers that say so are not exact
    assert solution.matrix == pytest.approx(np.outer(x, x.conj()), abs=1e-4)


# -- polynomials and binary programs ------------------------------------------------------------------


def test_the_least_value_of_a_polynomial():
    """Lasserre (2001): moments 1, x, ..., x^4 in a Hankel matrix; the judge finds the roots of p'."""
    p = np.array([0.3, -1.0, 0.5, 0.8, 1.0])  # p(x) = sum p_k x^k
    roots = np.roots(np.polyder(p[::-1]))
    least = min(np.polyval(p[::-1], r.real) for r in roots if abs(r.imag) < 1e-9)
    C = np.array([[p[0], p[1] / 2, p[2] / 3], [p[1] / 2, p[2] / 3, p[3] / 2], [p[2] / 3, p[3] / 2, p[4]]])
    A = [entries(3, (0, 0, 1.0)), entries(3, (0, 2, 1.0), (1, 1, -1.0))]
    right(solved(-C, A, np.array([1.0, 0.0]), "==", 20.0), -least)


def test_the_densest_subgraph_of_three_vertices():
    """Z = [[1, x^T], [x, X]], X_ii = x_i, sum x = k, X e = k x; the judge is cvxpy on that form."""
    n, k = 6, 3
    W = np.triu(np.random.default_rng(3).random((n, n)) < 0.5, 1).astype(float)
    W, N = W + W.T, n + 1
    A = [entries(N, (0, 0, 1.0)), *(entries(N, (i, i, 1.0), (0, i, -1.0)) for i in range(1, N))]
    A += [entries(N, *((i, i, 1.0) for i in range(1, N)))]
    A += [entries(N, *((i, j, 1.0) for j in range(1, N)), (0, i, -float(k))) for i in range(1, N)]
    C = np.zeros((N, N))
    C[1:, 1:] = W / 2
    b = np.r_[1.0, np.zeros(n), float(k), np.zeros(n)]
    found = ml.solve(ml.LinearSDP.with_senses(C, A, b, "=="), tol=1e-6)
    assert found.status == "optimal"  # on a face of dimension n, whose rows follow from each other in part
    Z = cp.Variable((N, N), PSD=True)
    x, X = Z[0, 1:], Z[1:, 1:]
    rows = [Z[0, 0] == 1, cp.diag(X) == x, cp.sum(x) == k, cp.sum(X, axis=1) == k * x]
    optimum = judged(cp.Problem(cp.Maximize(cp.sum(cp.multiply(W, X)) / 2), rows))
    assert found.value == pytest.approx(optimum, rel=2e-5)
    assert found.upper == pytest.approx(optimum, rel=2e-5)


def test_the_sum_of_the_three_largest_eigenvalues():
    """Overton and Womersley (1993): max <C, X>, 0 <= X <= I, tr X = k, with I - X as a second block."""
    n, k = 5, 3
    C = np.zeros((2 * n, 2 * n))
    G = np.random.default_rng(0).standard_normal((n, n))
    C[:n, :n] = G + G.T
    A = [entries(2 * n, *((i, i, 1.0) for i in range(n)))]
    A += [entries(2 * n, (i, j, 1.0), (n + i, n + j, 1.0)) for i, j in pairs(n, 0)]
    b = np.r_[float(k), [float(i == j) for i, j in pairs(n, 0)]]
    right(solved(C, A, b, "==", float(n)), float(np.linalg.eigvalsh(G + G.T)[-k:].sum()))


def test_a_metric_that_keeps_the_dissimilar_apart():
    """After Xing, Ng, Jordan and Russell (2002): max t, each dissimilar pair at t or more, the similar at 1 in all."""
    rng = np.random.default_rng(0)
    d, X, label = 2, rng.standard_normal((7, 2)), np.array([0, 0, 0, 1, 1, 2, 2])
    apart = [(X[i] - X[j])[:, None] * (X[i] - X[j]) for i, j in pairs(7) if label[i] != label[j]]
    near = sum((X[i] - X[j])[:, None] * (X[i] - X[j]) for i, j in pairs(7) if label[i] == label[j])
    A = [sp.block_diag([v, [[-1.0]]], format="csr") for v in apart] + [sp.block_diag([near, [[0.0]]], format="csr")]
    R = float(1 / np.linalg.eigvalsh(near)[0]) + 10.0
    b, senses = np.r_[np.zeros(len(apart)), 1.0], [">="] * len(apart) + ["<="]
    M, t = cp.Variable((d, d), PSD=True), cp.Variable()
    rows = [cp.trace(v @ M) >= t for v in apart] + [cp.trace(near @ M) <= 1]
    right(solved(np.diag([0.0, 0.0, 1.0]), A, b, senses, R), judged(cp.Problem(cp.Maximize(t), rows)))


# -- games --------------------------------------------------------------------------------------------


def played(C, A, c, S, Y):
    """min over y in Y max over X in S of <C, X> + c.y - <A(y), X>, as a problem for the occasion."""
    return type("OneOff", (GameProblem,), {"game": Game(C, A, c, S, Y)})()


def between(problem, optimum, tol=1e-6):
    solution = ml.solve(problem, tol=tol)
    assert solution.status == "optimal", solution.explain()
    slack = 3 * tol * max(abs(optimum), 1e-3 * problem.scale)
    assert solution.lower - slack <= optimum <= solution.upper + slack
    return solution


def test_sparse_principal_component():
    """D'Aspremont, El Ghaoui, Jordan and Lanckriet (2007): max <S, X> - rho |X|_1 = min over |U_ij| <= rho of
    lambda_max(S + U)."""
    rng = np.random.default_rng(0)
    n, rho = 6, 0.3
    S = np.cov(rng.standard_normal((6, 20)))
    i, j = np.triu_indices(n)
    m, off = len(i), np.flatnonzero(i != j)
    rows = sp.csr_array((np.ones(m + len(off)), (np.r_[:m, off], np.r_[i * n + j, (j * n + i)[off]])), shape=(m, n * n))
    box = KnapsackSet.box(np.full(m, -rho), np.full(m, rho))
    X = cp.Variable((n, n), PSD=True)
    judge = judged(cp.Problem(cp.Maximize(cp.trace(S @ X) - rho * cp.sum(cp.abs(X))), [cp.trace(X) == 1]))
    between(played(S, SparseMap(rows, n), np.zeros(m), Spectraplex(n, 1.0), box), judge)


def test_the_nearest_matrix_of_a_pencil_in_the_spectral_norm():
    """min ||A_0 - sum y_j A_j||_2, not square, as [[0, A], [A^T, 0]]."""
    M = np.random.default_rng(0).standard_normal((5, 4, 3))
    big = np.zeros((5, 7, 7))
    big[:, :4, 4:], big[:, 4:, :4] = M, M.transpose(0, 2, 1)
    y = cp.Variable(4)
    judge = judged(cp.Problem(cp.Minimize(cp.sigma_max(M[0] - sum(y[j] * M[j + 1] for j in range(4))))))
    box = KnapsackSet.box(np.full(4, -10.0), np.full(4, 10.0))
    between(played(big[0], DenseMap(big[1:]), np.zeros(4), SpectralBall(7, 1.0), box), judge)


def test_large_margin_nearest_neighbours():
    """Weinberger and Saul (2009): max over M >= 0 of -<P, M> less the hinges of 1 - <M, B_t>, each by a y in [0, 1]."""
    rng = np.random.default_rng(0)
    d, T, R = 3, 12, 20.0
    near, far = 0.5 * rng.standard_normal((T, d)), rng.standard_normal((T, d))
    B = far[:, :, None] * far[:, None, :] - near[:, :, None] * near[:, None, :]
    P = near.T @ near / T
    M = cp.Variable((d, d), PSD=True)
    hinges = cp.sum(cp.pos(1 - B.reshape(T, -1) @ cp.vec(M, order="C")))
    judge = judged(cp.Problem(cp.Maximize(-cp.trace(P @ M) - hinges), [cp.trace(M) <= R]))
    box = KnapsackSet.box(np.zeros(T), np.ones(T))
    between(played(-P, DenseMap(-B), -np.ones(T), TraceBall(d, R), box), judge)


def test_the_lyapunov_function_of_a_diagonal_system():
    """min t: A^T P + P A <= t I, -P <= t I, |P_ij| <= 1, A = -diag(a): P = I and t = max(-2 min a, -1)."""
    a = np.array([0.3, 0.7, 1.1])
    n, parts = 3, []
    for i, j in pairs(3, 0):
        P = np.zeros((n, n))
        P[i, j] = P[j, i] = 1.0
        block = np.zeros((2 * n, 2 * n))
        block[:n, :n], block[n:, n:] = np.diag(a) @ P + P @ np.diag(a), P
        parts.append(block)
    m = len(parts)
    box = KnapsackSet.box(np.full(m, -1.0), np.full(m, 1.0))
    between(played(np.zeros((6, 6)), DenseMap(np.stack(parts)), np.zeros(m), Spectraplex(6, 1.0, (3, 3)), box), -0.6)


# -- the same program, said otherwise -----------------------------------------------------------------

N = 5
ROWS = [entries(N, (i, i, 1.0)) for i in range(N)] + [entries(N, (i, j, 1.0)) for i, j in pairs(N)]
RIGHT = np.r_[np.ones(N), np.full(len(pairs(N)), -0.5)]
SENSES = ["=="] * N + [">="] * len(pairs(N))
COST = -np.abs(np.subtract.outer(np.arange(N), np.arange(N))).astype(float)


@pytest.fixture(scope="module")
def plain():
    return ml.solve(ml.LinearSDP.with_senses(COST, ROWS, RIGHT, SENSES, float(N)), tol=1e-6).value


@pytest.mark.parametrize("k", [1e-6, 1e6])
@pytest.mark.parametrize("what", ["cost", "matrix", "rows", "each row"])
def test_units_change_nothing(plain, what, k):
    C, A, b, R, unit = COST, ROWS, RIGHT, float(N), 1.0
    if what == "cost":
        C, unit = k * C, k
    if what == "matrix":
        b, R, unit = k * b, k * R, k
    if what in ("rows", "each row"):
        by = np.full(len(b), k) if what == "rows" else k ** np.random.default_rng(0).uniform(-1, 1, len(b))
        A, b = [f * a for f, a in zip(by, A, strict=True)], by * b
    solution = ml.solve(ml.LinearSDP.with_senses(C, A, b, SENSES, R), tol=1e-6)
    assert solution.status == "optimal"
    assert solution.value / unit == pytest.approx(plain, rel=3e-6)


def test_redundant_rows_change_nothing(plain):
    """Every row twice, the sum of all equalities, and 0 . X = 0."""
    total = sum(ROWS[1:N], start=ROWS[0])
    A, b = [*ROWS, *ROWS, total, sp.csr_array((N, N))], np.r_[RIGHT, RIGHT, N, 0.0]
    solution = ml.solve(ml.LinearSDP.with_senses(COST, A, b, [*SENSES, *SENSES, "==", "=="], float(N)), tol=1e-6)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(plain, rel=3e-6)


@pytest.mark.parametrize(
    ("row", "right", "sense"),
    [(entries(N, (0, 0, 1.0)), -1.0, "<="), (ROWS[0], 1.02, "=="), (sp.csr_array((N, N)), 1.0, "==")],
    ids=["a negative diagonal", "a row contradicted", "0 = 1"],
)
def test_what_cannot_be_is_proven_to_be_infeasible(row, right, sense):
    problem = ml.LinearSDP.with_senses(COST, [*ROWS, row], np.r_[RIGHT, right], [*SENSES, sense], float(N))
    solution = ml.solve(problem)
    assert solution.status == "infeasible"
    u = problem.row_multipliers(solution.y)
    A = sum(v * a.toarray() for v, a in zip(u, [*ROWS, row], strict=True))
    # sum u A >= -e I, and u.b below what that allows any X of trace at most N to have
    assert float(u @ np.r_[RIGHT, right]) < N * min(0.0, float(np.linalg.eigvalsh(A)[0]))
