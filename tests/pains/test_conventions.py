"""Pain 20 (sdpa-python #3, cvxopt #87, Clarabel.rs #221, diffcp #77): conventions of sign, of the order of a triangle
and of the scaling of its entries give another problem, silently.

Data without symmetry between the coordinates, so that any such exchange changes the optimum; the judge is the dense
objective, written down entry by entry, and cvxpy.
"""

import itertools

import numpy as np
import pytest
from matrixlearn_maxcut import MaxCut
from matrixlearn_maxcut.files import read_graph

import matrixlearn as ml
from matrixlearn.testing.reference import optimum

SIZES = pytest.mark.parametrize("n", [3, 4])


def uneven(n, seed=0, imaginary=False):
    """A Hermitian matrix whose entries are all of different size."""
    rng = np.random.default_rng(seed)
    G = np.tril(2.0 ** np.arange(n * n).reshape(n, n) ** 0.5 * rng.choice([-1, 1], (n, n)))
    if imaginary:
        G = G + 1j * np.tril(rng.permutation(n * n).reshape(n, n), -1)
    return G + np.tril(G, -1).conj().T


def exchanged(C):
    """What a reader makes of C that takes the rows of the lower triangle for those of the upper one, or C^T for C."""
    if np.iscomplexobj(C):
        return C.T
    n = len(C)
    out = np.zeros_like(C)
    out[np.triu_indices(n)] = C[np.tril_indices(n)]
    return out + np.triu(out, 1).T


@SIZES
@pytest.mark.parametrize("imaginary", [False, True])
def test_the_optimum_is_that_of_the_dense_objective(n, imaginary):
    seed = {3: 3, 4: 2}[n]  # where the constraint makes C and its transpose differ
    C, A = uneven(n, seed, imaginary), np.stack([uneven(n, seed + 1, imaginary), np.eye(n)])
    problem = ml.LinearSDP(C, A, [3.0, 2.0], 5.0)
    solution = ml.solve(problem, tol=1e-7)
    assert solution.status == "optimal"
    X = solution.matrix
    entries = sum((C[i, j] * X[j, i]).real for i, j in itertools.product(range(n), repeat=2))
    assert entries == pytest.approx(solution.value, rel=1e-10)
    for a, b in zip(A, (3.0, 2.0), strict=True):
        assert sum((a[i, j] * X[j, i]).real for i, j in itertools.product(range(n), repeat=2)) <= b + 1e-9
    judge = optimum(problem)
    assert abs(solution.value - judge.value) <= judge.error + 1e-6 * abs(judge.value)
    other = ml.solve(ml.LinearSDP(exchanged(C), A, [3.0, 2.0], 5.0), tol=1e-7)
    assert abs(other.value - solution.value) > 1e-2 * abs(solution.value)  # the data can tell


@SIZES
def test_duals_have_the_sign_that_proves_the_bound(n):
    C, A, b, R = uneven(n, 3), uneven(n, 4)[None], [1.0], 5.0
    solution = ml.solve(ml.LinearSDP(C, A, b, R), tol=1e-7)
    y = solution.y
    assert y.min() >= 0
    bound = b[0] * y[0] + R * max(0.0, np.linalg.eigvalsh(C - y[0] * A[0])[-1])
    assert bound == pytest.approx(solution.upper, rel=1e-6)
    assert bound >= solution.value


@SIZES
@pytest.mark.parametrize("order", ["upper", "lower", "shuffled"])
def test_graph_files_say_the_same_in_any_order(n, order, tmp_path):
    """Each edge once, whichever end comes first: the matrix that was written."""
    W = np.abs(uneven(n, 5))
    np.fill_diagonal(W, 0.0)
    edges = list(itertools.combinations(range(n), 2))
    if order == "lower":
        edges = [(j, i) for i, j in edges]
    if order == "shuffled":
        edges = [edge[:: (-1) ** k] for k, edge in enumerate(reversed(edges))]
    lines = [f"{n} {len(edges)}"] + [f"{i + 1} {j + 1} {float(W[i, j])!r}" for i, j in edges]
    path = tmp_path / "graph.txt"
    path.write_text("\n".join(lines) + "\n")
    read, dense = MaxCut(read_graph(path)), MaxCut(W)
    values = [ml.solve(problem, tol=1e-7).value for problem in (read, dense)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    by_cuts = max(
        sum(W[i, j] for i, j in itertools.combinations(range(n), 2) if s[i] != s[j])
        for s in itertools.product([0, 1], repeat=n)
    )
    assert by_cuts <= values[0] * (1 + 1e-6)
    assert values[0] <= 1.14 * by_cuts  # Goemans and Williamson: 1 / 0.878
