"""Instances of the online learner: every form is the same instance, none is held, none is made dense."""

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_meg import Dense, LowRank, MEGLearner, Pair
from random_matrices import density, random_square, spread

from matrixlearn.exponents import DenseExponent
from matrixlearn.linalg import sym
from matrixlearn.sets import Spectraplex

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(2, 6), st.integers(1, 3), st.booleans())
def test_every_form_of_an_instance_is_the_same_instance(seed, n, k, complex_entries):
    rng = np.random.default_rng(seed)
    U = random_square(rng, max(n, k), complex_entries)[:n, :k]
    s = rng.standard_normal(k)
    X = (U * s) @ U.conj().T
    W, G = density(rng, n, complex_entries), sym(random_square(rng, n, complex_entries))
    forms = [LowRank(U, s), Dense(X)]
    for form in forms:
        assert form.inner(W) == pytest.approx(float(np.real(np.trace(W.conj().T @ X))), abs=1e-12)
        for start in (G.copy(), np.asfortranarray(G.copy())):
            form.add_to(start, 0.7)
            np.testing.assert_allclose(start, G + 0.7 * X, atol=1e-12)
        assert form.spread >= spread(X) - 1e-9
        V, w = form.factors()
        np.testing.assert_allclose((V * w) @ V.conj().T, X, atol=1e-12)
    assert forms[0].spread == pytest.approx(spread(X), abs=1e-9)


@given(seeds, st.integers(2, 6), st.integers(1, 20))
def test_pairs_sparse_and_dense_streams_learn_the_same(seed, n, rounds):
    rng = np.random.default_rng(seed)
    pairs = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(rounds)]
    ys = rng.uniform(0, 1, rounds)
    found = []
    for form in ("pair", "vector", "dense", "sparse", "shear"):
        learner = MEGLearner(n, 0.3)

        def examples(form=form):
            for (a, b), y in zip(pairs, ys, strict=True):
                u = np.zeros(n)
                u[a], u[b] = 1, -1
                X = np.outer(u, u)
                shear = X + np.triu(np.ones((n, n)), 1) - np.tril(np.ones((n, n)), -1)  # the same sym(X)
                forms = {"pair": Pair(a, b, n), "vector": u, "dense": X, "sparse": scipy.sparse.csr_array(X)}
                yield forms.get(form, scipy.sparse.coo_array(shear)), y

        found.append(learner.learn(examples()).W)
    for W in found[1:]:
        np.testing.assert_allclose(W, found[0], atol=1e-12)


@given(seeds, st.integers(2, 6), st.floats(-3, 3))
def test_a_pair_is_its_matrix(seed, n, weight):
    rng = np.random.default_rng(seed)
    a, b = (int(i) for i in rng.choice(n, 2, replace=False))
    pair, u = Pair(a, b, n, weight), np.eye(n)[a] - np.eye(n)[b]
    X, W, G = weight * np.outer(u, u), density(rng, n), np.zeros((n, n))
    pair.add_to(G, 1.0)
    np.testing.assert_allclose(G, X)
    assert pair.inner(W) == pytest.approx(np.vdot(X, W), abs=1e-12)
    assert pair.spread == pytest.approx(spread(X), abs=1e-12)
    U, s = pair.factors()
    np.testing.assert_allclose((U * s) @ U.T, X)


def test_a_stream_is_read_one_by_one_and_never_held():
    alive = []

    def examples():
        for t in range(50):
            alive.append(t)
            yield np.eye(3) * (t % 2), 0.5

    class Watched(MEGLearner):
        pass

    learner = Watched(3, 0.1)
    for t, example in enumerate(iter(examples())):
        learner.learn(iter([example]))
        assert learner.rounds == len(alive) == t + 1


def test_a_low_rank_round_forms_no_other_matrix():
    """Peak memory of a round at d = 300: the decomposition's workspace, W and its square root, nothing for X."""
    import tracemalloc

    from matrixlearn_meg.stream import Examples, Setting

    d = 300
    learner = MEGLearner(d, 0.1)
    W, G = learner.W, learner._G
    u = np.random.default_rng(0).standard_normal((d, 2))
    examples = [(Pair(0, 1, d), 0.3), (LowRank(u, [1.0, -1.0]), 0.1), (u[:, 0], 0.2)]
    oracle = Examples(Setting(iter(examples), d, learner.loss, learner.rate, "normalized", learner.meter, W))
    move = oracle(W)
    move.loss.add_to(G, 1e-9)  # scipy is imported
    for _ in range(2):
        tracemalloc.start()
        move = move.then(W)
        move.loss.add_to(G, 1e-9)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.2 * 8 * d * d


def test_complex_examples_in_a_real_stream():
    """Pain 8: the state turns complex where the data do."""
    rng = np.random.default_rng(1)
    H = sym(random_square(rng, 3, True))
    learner = MEGLearner(3, 0.5).learn([(np.eye(3), 1.0), (H, 5.0)])
    G = math.log(3) * np.eye(3) + 0.5 * 2 * (np.real(np.trace(H)) / 3 - 5.0) * H
    np.testing.assert_allclose(learner.W, DenseExponent(Spectraplex(3, 1.0))(G), atol=1e-12)
    assert np.abs(np.imag(learner.W)).max() > 0.01
