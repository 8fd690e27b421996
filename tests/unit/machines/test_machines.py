"""Machines: a block computes what its rows say, shards are checked by name, the ledger counts every number."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Ledger, Links, Local, Machines, Mail, Shards

seeds = st.integers(0, 2**31 - 2)


def rows(seed, even=False, long=False):
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    sizes = np.full(k, 3) if even else rng.integers(1, 6, k) + (70 if long else 0)
    task = rng.permutation(np.repeat(np.arange(k), sizes))
    n = len(task)
    return rng.standard_normal((n, d)), rng.standard_normal(n), task, rng.random(n) + 0.1, rng


@given(seeds, st.sampled_from(["even", "short", "long", "sparse"]))
def test_a_block_computes_what_the_rows_of_each_machine_say(seed, form):
    X, y, task, weight, rng = rows(seed, even=form == "even", long=form == "long")
    block = Shards.of(sp.csr_array(X) if form == "sparse" else X, y, task, weight).block()
    k, d = len(block), X.shape[1]
    W, u = rng.standard_normal((k, d)), rng.standard_normal(len(y))
    u_by_row = np.empty_like(u)
    order = np.argsort(task, kind="stable")
    u_by_row[order] = u
    predicted, adjoint, gram = block.predict(W), block.adjoint(u), block.gram(block.counts)
    np.testing.assert_allclose(predicted, np.sum(X * W[task], axis=1)[order], atol=1e-12)
    for i in range(k):
        mine = task == i
        np.testing.assert_allclose(adjoint[i], u_by_row[mine] @ X[mine], atol=1e-12)
        np.testing.assert_allclose(gram[i], (weight[mine, None] * X[mine]).T @ X[mine], atol=1e-11)
    # the two maps are adjoint, the shares of a machine sum to one
    np.testing.assert_allclose(np.vdot(predicted, u), np.vdot(W, adjoint), atol=1e-11)
    np.testing.assert_allclose(block.summed(block.shares), 1.0)
    np.testing.assert_allclose(block.norms, np.linalg.norm(X[order], axis=1))
    np.testing.assert_array_equal(block.y, y[order])


def test_shards_come_from_files_and_loaders_and_say_which_machine_failed(tmp_path):
    rng = np.random.default_rng(0)
    paths = {}
    for name in ("north", "south"):
        paths[name] = tmp_path / f"{name}.npz"
        np.savez(paths[name], X=rng.standard_normal((4, 2)), y=rng.standard_normal(4))

    def read(path):
        with np.load(path) as data:
            return data["X"], data["y"]

    block = Shards.from_files(paths, read).block()
    assert block.ids == ("north", "south")
    assert block.sizes.tolist() == [4, 4]

    def make(n, d):
        return np.ones((n, d)), np.ones(n)

    assert Shards.loaded(make, [(3, 2), (1, 2)]).block().sizes.tolist() == [3, 1]
    with pytest.raises(ProblemError, match=r"loader of machine 'east' raised FileNotFoundError"):
        Shards.from_files({"east": tmp_path / "none.npz"}, read).block()
    with pytest.raises(ProblemError, match=r"same features, but 0 has 2 and 1 has 3"):
        Shards.loaded(make, [(3, 2), (1, 3)]).block()
    with pytest.raises(ProblemError, match=r"machine 1 has no rows"):
        Shards.loaded(make, [(3, 2), (0, 2)]).block()
    with pytest.raises(ProblemError, match=r"X of machine 0.*NaN"):
        Shards.loaded(lambda n: (np.full((n, 2), np.nan), np.ones(n)), [3]).block()
    with pytest.raises(ProblemError, match=r"y of machine 0 must be a vector of 3 targets"):
        Shards.loaded(lambda n: (np.ones((n, 2)), np.ones(n - 1)), [3]).block()
    with pytest.raises(ProblemError, match=r"weights of machine 0 is zero for every row"):
        Shards.of(np.ones((2, 1)), np.ones(2), [0, 0], np.zeros(2)).block()
    with pytest.raises(ProblemError, match="no machines"):
        Shards((), ()).block()


def test_local_refuses_what_no_network_does():
    for wrong in ({"delay": -1}, {"delay": 0.5}, {"loss": 1.0}, {"loss": -0.1}):
        with pytest.raises(ProblemError, match=next(iter(wrong))):
            Local(**wrong)
    assert isinstance(Local(), Machines)
    assert Local().reliable and not Local(delay=1).reliable and not Local(loss=0.1).reliable


def test_the_ledger_counts_every_number_once():
    links = Links(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1]), 3)
    held = Local().hold(Shards.of(np.ones((3, 2)), np.ones(3), [0, 1, 2]))
    ledger = held.opened(2)
    W = np.arange(6.0).reshape(3, 2)
    mail = held.exchange(held.mail(links, W), W)
    np.testing.assert_array_equal(mail.held, W[[0, 1, 1, 2]])
    held.gather(W)
    held.scatter(W[:, 0])
    ledger.end_round()
    assert (ledger.between, ledger.up, ledger.down) == (8, 6, 3)
    assert ledger.numbers == 17 and ledger.vectors == 8.5 and ledger.bits == 17 * 64
    assert ledger.vectors_after(0) == 0 and ledger.vectors_after(1) == 8.5 == ledger.vectors_after(9)
    assert "1 rounds, 4 vectors between neighbours" in str(ledger)
    assert "nothing sent" in str(Ledger(3))


@given(seeds, st.integers(0, 4), st.sampled_from([0.0, 0.5, 0.9]))
def test_late_mail_is_at_most_as_late_as_agreed_and_depends_on_the_seed_alone(seed, delay, loss):
    m = 4
    links = Links(np.repeat(np.arange(m), m), np.tile(np.arange(m), m), m)
    one = other = Mail.first(links, np.full((m, 1), -1.0))
    for t in range(12):
        sent = np.full((m, 1), float(t))  # a message says when it was sent
        before = one.held
        one, other = one.late(sent, delay, loss, seed), other.late(sent, delay, loss, seed)
        np.testing.assert_array_equal(one.held, other.held)
        arrived = one.held != before
        assert np.all(one.held[arrived] >= t - delay)
        assert np.all(one.held <= t)
        if loss == 0:
            assert np.all(one.held >= t - delay)
