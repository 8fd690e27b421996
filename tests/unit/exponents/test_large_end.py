"""The routines of the large end: the same matrix as the dense routine, to the accuracy that each promises."""

import functools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

import matrixlearn as ml
from matrixlearn.engines import MatrixMultiplicativeWeights
from matrixlearn.exponents import (
    ActionExponent,
    DenseExponent,
    EigenUpdateExponent,
    Exponent,
    InverseIterationExponent,
    SignedExponent,
    SketchedExponent,
    TaylorExponent,
    brought_near,
)
from matrixlearn.linalg.actions import (
    chebyshev_action,
    chebyshev_coefficients,
    lanczos_action,
    taylor_action,
    taylor_terms,
)
from matrixlearn.linalg.krylov import spectral_span
from matrixlearn.linalg.rank_one import RankOneSum
from matrixlearn.sets import SpectralBall, Spectraplex, TraceBall

seeds = st.integers(0, 2**32 - 1)
ranges = st.sampled_from([1e-6, 1e-2, 1.0, 30.0, 300.0])
SETS = pytest.mark.parametrize("of", [Spectraplex, TraceBall, SpectralBall], ids=lambda of: of.__name__)
ACTIONS = pytest.mark.parametrize("action", [taylor_action, chebyshev_action, lanczos_action])
R = 1.7


def hermitian(rng, n, width, complex_=False):
    """Eigenvalues over a range of ``width``, some of them close to one another."""
    G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
    Q = np.linalg.qr(G)[0]
    w = width * np.sort(rng.uniform(0, 1, n) ** 2) + rng.normal()
    w[1 : n // 3] = w[0] + 1e-9 * width * np.arange(len(w[1 : n // 3]))
    H = (Q * w) @ Q.conj().T
    return (H + H.conj().T) / 2


def dense(on):
    return SignedExponent(on) if isinstance(on, SpectralBall) else DenseExponent(on)


def trace_norm(X):
    return np.abs(np.linalg.eigvalsh(X)).sum()


ROUTINES = {
    "taylor": TaylorExponent,
    "taylor action": functools.partial(ActionExponent, action=taylor_action),
    "chebyshev": ActionExponent,
    "lanczos": functools.partial(ActionExponent, action=lanczos_action),
    "eigen-update": EigenUpdateExponent,
}
KINDS = pytest.mark.parametrize("kind", ROUTINES)


@KINDS
@SETS
@given(seed=seeds, width=ranges, accuracy=st.sampled_from([1e-10, 1e-6, 1e-3]), complex_=st.booleans())
def test_it_is_the_dense_routine_to_the_accuracy_that_it_promises(kind, of, seed, width, accuracy, complex_):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    blocks = (n // 2, n - n // 2) if n > 1 and seed % 3 == 0 else ()
    on = of(n, R, blocks)
    G = on.hermitian_blocks(hermitian(rng, n, width, complex_))
    routine = ROUTINES[kind](on, accuracy=accuracy)
    assert isinstance(routine, Exponent)
    X = routine(G)
    assert trace_norm(X - dense(on)(G)) <= R * (accuracy + 1e-12 * max(1.0, width))
    # a point of the set whatever the accuracy
    w = np.linalg.eigvalsh(X)
    assert np.abs(w).sum() <= R * (1 + 1e-12)
    if of is not SpectralBall:
        assert w[0] >= -1e-14 * R
    if of is Spectraplex:
        assert w.sum() == pytest.approx(R, rel=1e-12)


# -- the actions -------------------------------------------------------------------------------------


def forms(rng, complex_):
    """G as an array, sparse, a linear operator, and through rank-one factors; all the same matrix."""
    q, n = rng.integers(1, 12, 2)
    P = rng.standard_normal((q, n)) + (1j * rng.standard_normal((q, n)) if complex_ else 0)
    d = rng.standard_normal(q) * (rng.random(q) < 0.8)
    sum_ = RankOneSum(P, d)
    G = (P.T * d) @ P.conj()
    return G, {"array": G, "sparse": sp.csr_array(G), "operator": aslinearoperator(G), "factors": sum_}


@ACTIONS
@given(seed=seeds, scale=st.sampled_from([1e-6, 1.0, 5.0]), accuracy=st.sampled_from([1e-12, 1e-5, 1e-2]))
def test_actions_are_the_exponential_within_their_bound(action, seed, scale, accuracy):
    rng = np.random.default_rng(seed)
    G, given_as = forms(rng, bool(seed % 2))
    t = scale / (1 + np.linalg.norm(G, 2))
    V = rng.standard_normal((len(G), 3))
    for form in given_as.values():
        span = spectral_span(form)
        assert span.low <= np.linalg.eigvalsh(G)[0] + 1e-12 * (1 + abs(span.low))
        assert span.high >= np.linalg.eigvalsh(G)[-1] - 1e-12 * (1 + abs(span.high))
        exact = scipy.linalg.expm(-t * (G - span.low * np.eye(len(G)))) @ V
        error = np.linalg.norm(action(form, V, span, t, accuracy) - exact, axis=0)
        assert np.all(error <= (accuracy + 1e-12) * np.linalg.norm(V, axis=0))
    np.testing.assert_allclose(action(G, V[:, 0], span, t, accuracy), action(G, V, span, t, accuracy)[:, 0], atol=1e-12)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-8, 1e-13])
@pytest.mark.parametrize("h", [1e-3, 0.5, 3.0, 40.0, 2000.0])
def test_the_bounds_of_the_series_hold_and_are_not_idle(h, accuracy):
    """On a grid, in the worst place: the bound holds with K terms and fails with fewer than half of them."""
    x = np.linspace(-1, 1, 2001)
    c = chebyshev_coefficients(h, accuracy)
    exact = np.exp(-h * (1 + x))
    assert np.max(np.abs(np.polynomial.chebyshev.chebval(x, c) - exact)) <= accuracy + 1e-13
    if len(c) > 5:
        assert np.max(np.abs(np.polynomial.chebyshev.chebval(x, c[: len(c) // 2]) - exact)) > accuracy
    steps = int(np.ceil(h))
    K = taylor_terms(h / steps, steps, accuracy)

    def powered(K):
        a = np.linspace(0, h / steps, 201)
        term, total = np.ones_like(a), np.ones_like(a)
        for k in range(1, K + 1):
            term = -term * a / k
            total = total + term
        return np.max(np.abs(total**steps - np.exp(-a * steps)))

    assert powered(K) <= accuracy + 1e-12
    assert K < 6 or powered(K // 2) > accuracy


@given(seed=seeds)
def test_the_branch_is_the_one_of_fewer_flops(seed):
    rng = np.random.default_rng(seed)
    q, n, columns = (int(k) for k in rng.integers(1, 60, 3))
    operator = RankOneSum(rng.standard_normal((q, n)), np.ones(q))
    chosen = operator.for_products(columns)
    through_factors, formed = 4 * q * n * columns, 2 * q * n**2 + 2 * n**2 * columns
    assert isinstance(chosen, np.ndarray) == (formed <= through_factors)
    U = rng.standard_normal((n, 2))
    np.testing.assert_allclose(chosen @ U, operator.toarray() @ U, atol=1e-10)
    np.testing.assert_allclose((0.5 * operator).toarray(), operator.toarray() / 2)


def test_powering_gives_the_products_of_the_thesis():
    """x_i^T sinh(M) x_i of (5.11) through the factors, never forming M: Section 5.4.2 with the sign of (2.16)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 40))
    d = np.concatenate([-rng.dirichlet(np.ones(4)), [0.5, 0.5]])
    M = RankOneSum(X, d)
    exact = np.einsum("ia,ab,ib->i", X, scipy.linalg.sinhm(M.toarray()), X)
    span = spectral_span(M)
    minus = np.exp(-span.low) * taylor_action(M, X.T, span, 1.0, 1e-14)
    plus = np.exp(span.high) * taylor_action(-1.0 * M, X.T, span.negated(), 1.0, 1e-14)
    np.testing.assert_allclose(np.sum(X.T * (plus - minus), axis=0) / 2, exact, rtol=1e-9)


# -- the memory --------------------------------------------------------------------------------------


@SETS
def test_the_update_follows_losses_that_move_and_says_when_it_decomposed_anew(of):
    rng = np.random.default_rng(1)
    n = 80
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    w = np.concatenate([[-70.0, -68.5, -66.0], rng.uniform(-5, 5, n - 5), [66.5, 69.5]])
    G = (Q * w) @ Q.T
    exponent = EigenUpdateExponent(of(n, R), accuracy=1e-8)
    updates = []
    for _ in range(8):
        exponent = brought_near(exponent, G)
        assert trace_norm(exponent(G) - dense(of(n, R))(G)) <= 1e-8 * R
        updates.append(exponent.updated)
        step = rng.standard_normal((n, n))
        G = G + 0.02 * (step + step.T)
    assert updates == [False] + [True] * 7
    strange = (Q[:, ::-1] * w) @ Q[:, ::-1].T  # other eigenvectors: no update leads there
    assert trace_norm(exponent(strange) - dense(of(n, R))(strange)) <= 1e-8 * R


@SETS
@pytest.mark.parametrize("complex_", [False, True])
def test_inverse_iteration_follows_all_eigenvectors_and_counts_where_it_falls_back(of, complex_):
    rng = np.random.default_rng(2)
    n = 16
    Q = np.linalg.qr(rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0))[0]
    G = (Q * np.linspace(-8, 8, n)) @ Q.conj().T
    exponent = InverseIterationExponent(of(n, R), accuracy=1e-8)
    for _ in range(8):
        exponent = brought_near(exponent, G)
        assert trace_norm(exponent(G) - dense(of(n, R))(G)) <= 1.1e-8 * R
        step = rng.standard_normal((n, n))
        G = G + 0.01 * (step + step.T)
    assert exponent.remarks == "updated 7 times, decomposed anew 1 times"
    turned = np.linalg.qr(rng.standard_normal((n, n)))[0]
    far = brought_near(exponent, turned @ G @ turned.T)
    assert trace_norm(far(far.at) - dense(of(n, R))(far.at)) <= 1.1e-8 * R
    assert (far.updates, far.decompositions) in [(7, 2), (8, 1)] and far.updated == (far.updates == 8)


@given(seed=seeds)
def test_an_eigenvalue_that_crosses_from_outside_is_not_missed(seed):
    """One that subspace iteration, started orthogonal to it, would not see: the factorization does."""
    rng = np.random.default_rng(seed)
    n = 60
    w = np.concatenate([[-70.0, -69.0], np.linspace(-2, 5, n - 2)])
    on = Spectraplex(n, R)
    exponent = EigenUpdateExponent(on).near(np.diag(w))
    unseen = int(rng.integers(30, n))
    w[unseen] = -75.0 + 10 * rng.random()
    assert trace_norm(exponent(np.diag(w)) - DenseExponent(on)(np.diag(w))) <= 1e-6 * R
    assert not exponent.near(np.diag(w)).updated


# -- the sketch --------------------------------------------------------------------------------------


@SETS
def test_sketched_traces_are_unbiased_with_the_variance_that_is_stated(of):
    rng = np.random.default_rng(2)
    n, k, draws = 12, 8, 4000
    G, A = hermitian(rng, n, 3.0), hermitian(rng, n, 1.0)
    exponent = SketchedExponent(of(n, R), accuracy=1e-8, columns=k)
    span = spectral_span(G)
    E = scipy.linalg.expm(-(G - span.low * np.eye(n)) / 2)
    samples = []
    for _ in range(draws):
        exponent = exponent.near(G)
        Z = exponent.half(G, span, 1e-9, slice(0, n))
        samples.append(np.sum(A * (Z @ Z.T)))
    variance = 2 * np.linalg.norm(E @ A @ E) ** 2 / k
    assert np.mean(samples) == pytest.approx(np.sum(A * (E @ E)), abs=5 * np.sqrt(variance / draws))
    assert np.var(samples) == pytest.approx(variance, rel=0.15)


@SETS
@pytest.mark.parametrize("complex_", [False, True])
def test_sketches_are_points_of_the_set_and_close_for_many_columns(of, complex_):
    G = hermitian(np.random.default_rng(3), 20, 4.0, complex_)
    on = of(20, R)
    few, many = SketchedExponent(on, columns=3)(G), SketchedExponent(on, columns=40_000)(G)
    w = np.linalg.eigvalsh(few)
    assert np.abs(w).sum() <= R * (1 + 1e-12)
    assert np.linalg.matrix_rank(few) <= 3 * len(on.signs)
    assert trace_norm(many - dense(on)(G)) <= 0.05 * R


def test_equal_seeds_give_equal_draws_and_each_round_another():
    G = hermitian(np.random.default_rng(4), 10, 2.0)
    make = functools.partial(SketchedExponent, Spectraplex(10, R), columns=2)
    np.testing.assert_allclose(make(random_state=5)(G), make(random_state=5)(G), atol=1e-10)
    one, two = (make(random_state=np.random.default_rng(6)) for _ in range(2))
    np.testing.assert_allclose(one(G), two(G), atol=1e-10)
    assert np.abs(make()(G) - make().near(G)(G)).max() > 1e-3


def test_a_sketch_of_sparse_losses_forms_no_square_array():
    on = Spectraplex(400, R)
    G = sp.diags_array([np.full(399, -1.0), np.linspace(0, 9, 400), np.full(399, -1.0)], offsets=[-1, 0, 1]).tocsr()
    exponent = SketchedExponent(on, columns=4)
    X = exponent.factored(G)
    assert X.rank == 4 and X.trace() == pytest.approx(R)
    np.testing.assert_allclose(X.dense(), exponent(G), atol=1e-14)
    with pytest.raises(ml.exceptions.ProblemError, match="no factor on a SpectralBall"):
        SketchedExponent(SpectralBall(400, R)).factored(G)


@SETS
@pytest.mark.parametrize("make", [SketchedExponent, ActionExponent, TaylorExponent, EigenUpdateExponent])
def test_at_any_range_it_is_the_dense_routine(of, make):
    """Sharp losses are a best response; an engine whose bounds meet asks for them."""
    G = hermitian(np.random.default_rng(9), 9, 1.0)
    on = of(9, R)
    for scale, error in ((1e6, 1e-9), (1e18, 1e-5)):  # what eps ||G|| moves, and turns within the cluster
        np.testing.assert_allclose(make(on)(scale * G), dense(on)(scale * G), atol=error * R)
        assert trace_norm(make(on)(scale * G)) <= R * (1 + 1e-12)


@pytest.mark.parametrize("make", [lambda on: SketchedExponent(on, columns=0), lambda on: TaylorExponent(on, 0.0)])
def test_bad_parameters_are_named(make):
    with pytest.raises(ml.exceptions.ProblemError, match=r"columns|accuracy"):
        make(Spectraplex(3, R))


# -- in the engine -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exponent",
    [
        EigenUpdateExponent,
        InverseIterationExponent,
        functools.partial(SketchedExponent, columns=60, random_state=1),
        ActionExponent,
    ],
)
def test_mmw_plays_with_each_and_says_so(exponent):
    from matrixlearn_maxcut import MaxCut

    rng = np.random.default_rng(7)
    W = sp.random_array((60, 60), density=0.1, rng=rng)
    problem = MaxCut(sp.csr_array(sp.triu(W, 1) + sp.triu(W, 1).T))
    solution = ml.solve(problem, MatrixMultiplicativeWeights(exponent=exponent), tol=0.05, max_iter=400)
    assert solution.status == "optimal"
    judge = ml.solve(problem, "interior-point", tol=1e-7)
    assert solution.lower <= judge.upper and solution.upper >= judge.lower
    assert getattr(exponent, "func", exponent).__name__ in solution.explain()


@pytest.mark.parametrize("columns", [None, 30])
def test_mmw_on_sparse_losses_is_sound_and_keeps_them_sparse(columns):
    from matrixlearn_maxcut import MaxCut

    W = sp.triu(sp.random_array((220, 220), density=0.02, rng=np.random.default_rng(8)), 1)
    problem = MaxCut(sp.csr_array(W + W.T))
    assert sp.issparse(problem.game.loss(np.ones(220)))
    exponent = None if columns is None else functools.partial(SketchedExponent, columns=columns)
    solution = ml.solve(problem, MatrixMultiplicativeWeights(exponent=exponent), tol=0.05, max_iter=40)
    judge = ml.solve(problem, "low-rank", tol=1e-6)
    assert solution.lower <= judge.upper and solution.upper >= judge.lower
    assert solution.gap < 0.5
