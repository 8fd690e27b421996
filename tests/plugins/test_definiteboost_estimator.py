"""DefiniteBoostKernel: kernels from distances, near and far pairs, and comparisons."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_definiteboost import DefiniteBoostKernel
from sklearn.base import clone

from matrixlearn.exceptions import ProblemError

seeds = st.integers(0, 2**32 - 1)


def points_and_distances(rng, n, features=3):
    P = rng.standard_normal((n, features))
    return P, np.sum((P[:, None] - P[None]) ** 2, axis=2)


def all_pairs(n):
    return np.column_stack(np.triu_indices(n, 1))


@settings(max_examples=settings().max_examples // 2)
@given(seeds, st.integers(3, 9))
def test_all_distances_give_the_kernel_back(seed, n):
    P, D = points_and_distances(np.random.default_rng(seed), n, features=n)
    pairs = all_pairs(n)
    model = DefiniteBoostKernel(slack=None, tol=1e-6).fit(pairs, D[tuple(pairs.T)])
    np.testing.assert_allclose(model.distances(), D, atol=1e-6 * D.max())
    centred = np.sum((P - P.mean(axis=0)) ** 2)
    assert model.trace_ == pytest.approx(centred * n / (n - 1), rel=1e-9)
    assert np.linalg.eigvalsh(model.kernel_)[0] > -1e-10 * model.trace_


def test_the_entries_are_one_and_not_one_half():
    # errata of Section 5.1: with entries of 0.5, tr(W X) is half the squared distance, and this would read 8
    model = DefiniteBoostKernel(slack=None, trace=10.0, measurements="distances").fit([[0, 1]], [4.0], n_objects=3)
    K = model.kernel_
    assert K[0, 0] + K[1, 1] - 2 * K[0, 1] == pytest.approx(4.0, abs=1e-9)
    assert np.trace(K) == pytest.approx(10.0)


def test_noisy_distances_have_a_soft_answer_near_them():
    rng = np.random.default_rng(0)
    _, D = points_and_distances(rng, 10)
    pairs = all_pairs(10)
    y = D[tuple(pairs.T)] * rng.uniform(0.9, 1.1, len(pairs))
    model = DefiniteBoostKernel(slack=3.0).fit(pairs, y)
    assert model.solution_.status == "optimal"
    error = np.abs(model.distances() - D)[tuple(pairs.T)]
    assert np.median(error) < 0.1 * np.median(D[tuple(pairs.T)])


@given(seeds, st.integers(3, 8))
def test_near_pairs_are_near_and_far_pairs_far(seed, n):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    group[:2] = [0, 1]
    pairs = all_pairs(n)
    y = np.where(group[pairs[:, 0]] == group[pairs[:, 1]], 1, -1)
    model = DefiniteBoostKernel(slack=None).fit(pairs, y)
    d = model.distances()[tuple(pairs.T)]
    unit = 2.0 / n
    assert np.all(d[y > 0] <= 0.2 * unit + 1e-9)
    assert np.all(d[y < 0] >= unit - 1e-9)
    assert np.array_equal(model.predict(np.where(np.arange(n) < 2, group, -1))[2:], group[2:])
    if n > 3 and min(np.bincount(group)) > 1:
        assert np.array_equal(group[model.kneighbors()[1][:, 0]], group)


@settings(max_examples=settings().max_examples // 2)
@given(seeds)
def test_comparisons_are_kept(seed):
    rng = np.random.default_rng(seed)
    _, D = points_and_distances(rng, 8)
    four = np.array([rng.permutation(8)[:4] for _ in range(15)])
    wrong = D[four[:, 0], four[:, 1]] > D[four[:, 2], four[:, 3]]
    four[wrong] = four[wrong][:, [2, 3, 0, 1]]
    d = DefiniteBoostKernel(slack=None, margin=0.01).fit(four, n_objects=8).distances()
    assert np.all(d[four[:, 0], four[:, 1]] < d[four[:, 2], four[:, 3]])


def test_points_in_place_of_indices():
    rng = np.random.default_rng(3)
    P = rng.standard_normal((9, 4))
    group = np.arange(9) % 3
    P[:, 0] += 6 * group
    pairs = all_pairs(9)
    model = DefiniteBoostKernel().fit(P[pairs], np.where(group[pairs[:, 0]] == group[pairs[:, 1]], 1, -1))
    assert model.kernel_.shape == (9, 9) and model.weights_.shape == (4, 4) and model.rank_ == 4
    order = [int(np.flatnonzero(np.all(model.points_ == p, axis=1))[0]) for p in P]
    d = model.distances()[np.ix_(order, order)]
    near = group[:, None] == group[None]
    assert d[near].max() < d[~near].min()


def test_the_embedding_has_the_kernel_as_inner_products():
    rng = np.random.default_rng(4)
    pairs = all_pairs(6)
    model = DefiniteBoostKernel().fit(pairs, rng.choice([-1, 1], len(pairs)))
    Z = model.embedding()
    np.testing.assert_allclose(Z @ Z.T, model.kernel_, atol=1e-12)
    assert model.embedding(2).shape == (6, 2)
    np.testing.assert_allclose(model.embedding(2), Z[:, :2])


@given(seeds, st.integers(3, 12), st.integers(1, 15))
def test_the_metric_of_points_has_the_distances_of_the_kernel(seed, n, features):
    """More points than features, and fewer: M = L^T L, and a constant moves no distance."""
    rng = np.random.default_rng(seed)
    P = 5.0 + rng.standard_normal((n, features))
    pairs = all_pairs(n)
    y = rng.choice([-1, 1], len(pairs))
    model = DefiniteBoostKernel(slack=0.5, tol=1e-2).fit(P[pairs], y)
    learned = model.distances()
    order = [int(np.flatnonzero(np.all(model.points_ == p, axis=1))[0]) for p in P]
    expected = learned[np.ix_(order, order)][tuple(pairs.T)]
    size = 1e-9 * learned.max()
    np.testing.assert_allclose(model.pair_distance(P[pairs]) ** 2, expected, atol=size)
    Z = model.transform(P)
    np.testing.assert_allclose(np.sum((Z[pairs[:, 0]] - Z[pairs[:, 1]]) ** 2, axis=1), expected, atol=size)
    M, new = model.get_mahalanobis_matrix(), rng.standard_normal((4, 2, features))
    assert np.array_equal(M, M.T) and np.linalg.matrix_rank(M, tol=1e-12) <= model.rank_
    u = new[:, 0] - new[:, 1]
    np.testing.assert_allclose(model.pair_distance(new) ** 2, np.einsum("ki,ij,kj->k", u, M, u), rtol=1e-9, atol=1e-12)


def test_the_metric_says_what_it_cannot_measure():
    with pytest.raises(ProblemError, match="kernel of indices"):
        DefiniteBoostKernel().fit([[0, 1], [1, 2]]).transform(np.eye(3))
    model = DefiniteBoostKernel().fit(np.random.default_rng(0).standard_normal((5, 2, 3)))
    with pytest.raises(ProblemError, match="X has 4 features"):
        model.transform(np.eye(4))
    with pytest.raises(ProblemError, match="pairs must have shape"):
        model.pair_distance(np.eye(3))


def test_it_follows_the_conventions_of_scikit_learn():
    model = DefiniteBoostKernel(near=0.1, slack=None)
    assert clone(model).get_params() == model.get_params()
    assert model.fit([[0, 1], [1, 2]], [1, -1]) is model
    assert model.n_iter_ >= 1
    with pytest.raises(Exception, match="not fitted"):
        DefiniteBoostKernel().distances()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0]], [1.0]), "at least two different objects, got 1"),
        (([[0, 0], [0, 1]], [1.0, 1.0]), r"with itself.* rows \[0\]"),
        (([[0, 1], [2, 2]], [0.5, 0.7]), r"with itself.* rows \[1\]"),
        (([[0, 1], [1, 2]], [0.5, -0.7]), "negative"),
        (([[0, 1], [1, 2]], [0.5]), "y must have shape"),
        (([[0, 1], [1, 2]], [0.5, np.nan]), "NaN"),
        (([[0, 1.5]], [1.0]), "pairs must hold indices"),
        (([[0, -1]], [1.0]), "pairs must hold indices"),
        (([[0, 1, 2]], None), "two or four columns"),
        (([[1, 1]], None), "compare an object"),
        ((np.zeros((3, 2, 4)), None), "at least two different objects, got 1"),
        ((np.zeros((1, 2, 4)), None), "at least two different objects, got 1"),
        ((np.zeros((0, 2)), None), "0 sample"),
        ((np.full((3, 2, 4), np.nan), None), "NaN"),
        (([[0, 1, 2, 2]], None), "compare an object"),
    ],
)
def test_errors_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        DefiniteBoostKernel().fit(*arguments)


def test_more_errors():
    with pytest.raises(ProblemError, match="n_objects = 1"):
        DefiniteBoostKernel().fit([[0, 1]], n_objects=1)
    with pytest.raises(ProblemError, match="measurements='signs'"):
        DefiniteBoostKernel(measurements="signs").fit([[0, 1]], [0.5])
    with pytest.raises(ProblemError, match=r"status infeasible.*give a slack"):
        DefiniteBoostKernel(slack=None).fit([[0, 1], [1, 2], [0, 2]], [1, 1, -1])  # sqrt 1 > 2 sqrt 0.2
    model = DefiniteBoostKernel().fit([[0, 1], [1, 2]])
    with pytest.raises(ProblemError, match="n_neighbors"):
        model.kneighbors(3)
    with pytest.raises(ProblemError, match="labels must be integers"):
        model.predict([0.5, 1, 2])
    with pytest.raises(ProblemError, match="unknown"):
        model.predict([-1, -1, -1])


def test_an_index_that_no_memory_holds_is_refused_before_it_is_asked_for():
    with pytest.raises(ProblemError, match="the index 1000000000: a kernel of 1000000001 objects takes"):
        DefiniteBoostKernel().fit([[0, 10**9]], [1])
