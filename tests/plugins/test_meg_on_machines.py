"""MEG's stream from rows on machines: rounds by hand, bit-equal wherever the rows are, the bound of Lemma 3.1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_meg import Adaptive, Lemma32, MEGLearner

from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Dask, Shards

seeds = st.integers(0, 2**31 - 2)
D = 4


def truth(rng):
    B = rng.standard_normal((D, D))
    return B @ B.T / np.trace(B @ B.T)


def rows(seed, sizes, noise=0.0):
    """x_t, y_t = x_t^T U x_t and their machine; U."""
    rng = np.random.default_rng(seed)
    U, n = truth(rng), int(np.sum(sizes))
    X = rng.standard_normal((n, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.einsum("nd,de,ne->n", X, U, X) + noise * rng.standard_normal(n)
    return X, y, np.repeat(np.arange(len(sizes)), sizes), U


def test_a_round_is_a_batch_of_each_machine():
    """G <- G + eta mean l' x x^T over the next rows of all, W = exp(-G) / tr; a machine at its end is left out."""
    X, y, machine, _ = rows(0, [5, 2, 4])
    learner = MEGLearner(D, rate=0.4).learn_from(Shards.of(X, y, machine), batch=2)
    G, losses = np.eye(D) * np.log(D), []
    for at in (0, 2, 4):
        chosen = np.concatenate([np.flatnonzero(machine == k)[at : at + 2] for k in range(3)])
        w, V = np.linalg.eigh(-G)
        W = (V * np.exp(w)) @ V.T / np.exp(w).sum()
        off = np.einsum("nd,de,ne->n", X[chosen], W, X[chosen]) - y[chosen]
        losses.append(np.mean(off**2))
        G = G + 0.4 * np.einsum("n,nd,ne->de", 2 * off, X[chosen], X[chosen]) / len(chosen)
    w, V = np.linalg.eigh(-G)
    np.testing.assert_allclose(learner.W, (V * np.exp(w)) @ V.T / np.exp(w).sum(), atol=1e-12)
    np.testing.assert_allclose(learner.meter.losses, losses, rtol=1e-12)
    assert learner.rounds == 3
    assert learner.ledger.down == 3 * 3 * 2 * D * D  # W, and W_1 to tell divergence
    assert learner.ledger.rounds == 3


@settings(max_examples=15)
@given(seeds, st.sampled_from(["adaptive", "lemma"]))
def test_the_bound_of_lemma_3_1_holds_for_batches(seed, rule):
    X, y, machine, U = rows(seed, [30, 17, 9], noise=0.05)
    rate = Adaptive() if rule == "adaptive" else Lemma32(r=1.0, c=0.5)
    learner = MEGLearner(D, rate, comparator=U).learn_from(Shards.of(X, y, machine), batch=3)
    meter = learner.meter
    assert np.all(np.cumsum(meter.losses) <= np.array(meter.bounds) * (1 + 1e-9))
    assert len(meter.comparator_losses) == learner.rounds == 10


def test_one_row_a_round_is_the_stream():
    X, y, _, U = rows(3, [40])
    one = MEGLearner(D, comparator=U, snapshot_every=10).learn_from(Shards.of(X, y, np.zeros(40)), batch=1)
    other = MEGLearner(D, comparator=U, snapshot_every=10).partial_fit(X, y)
    np.testing.assert_allclose(one.W, other.W, atol=1e-12)
    np.testing.assert_allclose(one.meter.bounds, other.meter.bounds, rtol=1e-9)
    assert one.snapshots.keys() == other.snapshots.keys()


def test_dask_gives_the_bits_of_local(client):
    X, y, machine, _ = rows(1, [25, 9, 40, 3])
    shards = Shards.of(X, y, machine)
    here = MEGLearner(D).learn_from(shards, batch=4)
    there = MEGLearner(D).learn_from(shards, Dask(client), batch=4)
    np.testing.assert_array_equal(here.W, there.W)
    assert here.total_loss == there.total_loss
    assert there.ledger.moved > 0


def test_it_learns_and_goes_on():
    X, y, machine, U = rows(2, [400, 400])
    learner = MEGLearner(D, rate=1.0)
    shards = Shards.of(X, y, machine)
    errors = [np.linalg.norm(learner.learn_from(shards, batch=20).W - U) for _ in range(12)]
    assert learner.rounds == 240
    assert errors[-1] < 0.5 * errors[0] < 0.2


def test_what_cannot_be_is_refused_by_name():
    X, y, machine, _ = rows(0, [3, 3])
    shards = Shards.of(X, y, machine)
    with pytest.raises(ProblemError, match="batch must be a number of rows >= 1, got 0"):
        MEGLearner(D).learn_from(shards, batch=0)
    with pytest.raises(ProblemError, match="rows have 4 features, and the learner is of matrices of side 3"):
        MEGLearner(3).learn_from(shards)
    with pytest.raises(ProblemError, match="no LogDet update"):
        MEGLearner(D, 0.1, update="logdet").learn_from(shards)
    with pytest.raises(ProblemError, match="labels -1 and 1"):
        MEGLearner(D, loss="logistic").learn_from(shards)
    wild = MEGLearner(D, rate=1e9, update="unnormalized")
    with pytest.raises(ProblemError, match="round 2: diverged"):
        wild.learn_from(Shards.of(1e3 * X, -y, machine), batch=1)
