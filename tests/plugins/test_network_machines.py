"""Where machines are changes nothing, to the last bit: all in one block, each in its own, or on workers of Dask."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrixlearn_network import ConcaveJointlySparse, GraphMultitask, GSpartan, JointlySparse

import matrixlearn as ml
from matrixlearn.machines import Block, Dask, Local, LocalMachines, Shards

ENGINES = ("krylov", "moments", "bol", "gd", "bsr", "dmtl", "ssr", "sol")
seeds = st.integers(0, 2**31 - 2)


class Apart(LocalMachines):
    """Each machine in a block of its own."""

    def map(self, function, *by_machine, **common):
        ends = np.append(0, np.cumsum(self.block.sizes))
        replies = []
        for i in range(len(self.ids)):
            block = Shards((self.ids[i],), (self.shards.loaders[i],)).block()
            rows = slice(ends[i], ends[i + 1])
            own = [v[i : i + 1] if len(v) == len(self.ids) else v[rows] for v in by_machine]
            replies.append(function(block, *own, **common))
        if isinstance(replies[0], tuple):
            return tuple(np.concatenate(parts) for parts in zip(*replies, strict=True))
        return np.concatenate(replies)


class EachAlone(Local):
    """Machines that are `Apart`."""

    def hold(self, shards):
        held = Apart(self, shards.block())
        held.shards = shards
        return held


def at(problem, machines):
    """The same problem with its rows elsewhere."""
    return type(problem)(**{**problem.parameters(), "machines": machines})


def same(one, other, method, rounds=6):
    a, b = (ml.solve(problem, method, tol=1e-9, max_iter=rounds) for problem in (one, other))
    np.testing.assert_array_equal(a.matrix, b.matrix)
    assert (a.y is None) == (b.y is None)
    if a.y is not None:
        np.testing.assert_array_equal(a.y, b.y)
    assert (a.lower, a.upper, a.iterations) == (b.lower, b.upper, b.iterations)
    if a.iterations:
        counted = [vars(problem.ledger(a.method)) | {"moved": 0} for problem in (one, other)]
        assert counted[0] == counted[1]


@given(seeds, st.sampled_from(ENGINES))
def test_what_a_machine_computes_depends_on_its_own_rows_alone(seed, method):
    problem = GraphMultitask.random(np.random.default_rng(seed))
    assume(method in ml.methods(problem))
    same(problem, at(problem, EachAlone()), method)


@settings(max_examples=20)
@given(seeds, st.sampled_from([GSpartan, JointlySparse, ConcaveJointlySparse]))
def test_so_it_is_with_sparse_tasks(seed, kind):
    problem = kind.random(np.random.default_rng(seed))
    same(problem, at(problem, EachAlone()), kind.engines[0], 2)


# -- on Dask -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["square", "logistic", "huber", "hinge"])
def test_dask_gives_the_bits_of_local(client, loss):
    rng = np.random.default_rng(4)
    m, d = 5, 3
    task = rng.permutation(np.repeat(np.arange(m), [9, 2, 70, 9, 4]))
    X = rng.standard_normal((len(task), d))
    y = np.sign(X[:, 0] + rng.standard_normal(len(task)))
    one = GraphMultitask(X, y, None, 0.1, 1.0, loss, task=task, sample_weight=rng.random(len(task)) + 0.1)
    other = at(one, Dask(client))
    for method in ENGINES:
        if method in ml.methods(one):
            same(one, other, method)
            if method != "moments" or loss != "square":
                assert other.ledger(method).moved > 0
    W = rng.standard_normal((d, m))
    assert one.bound_from_matrix(W).lower == other.bound_from_matrix(W).lower


@pytest.mark.parametrize("kind", [GSpartan, JointlySparse, ConcaveJointlySparse])
def test_dask_gives_the_bits_of_local_for_sparse_tasks(client, kind):
    problem, method = kind.random(np.random.default_rng(72)), kind.engines[0]
    assert len(problem.tasks) == 5
    other = at(problem, Dask(client))
    same(problem, other, method, 3)
    assert other.ledger(method).moved > 0


class Sealed(np.ndarray):
    """An array that cannot be sent."""

    def __reduce__(self):
        pytest.fail("a data row was to travel")


def sealed(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20_000, 4))
    return X.view(Sealed), (X @ np.ones(4) + rng.standard_normal(20_000)).view(Sealed)


def test_no_row_travels(client, monkeypatch):
    def refuse(block):
        msg = "a block was to travel"
        raise AssertionError(msg)

    client.run(lambda: setattr(Block, "__reduce__", refuse))  # on the workers: rows are in blocks there
    try:
        shards = Shards.loaded(sealed, range(4))
        problem = GraphMultitask(shards, graph=None, eta=0.1, tau=1.0, machines=Dask(client))
        for method in ("bol", "krylov"):
            solution = ml.solve(problem, method, tol=1e-6)
            assert solution.status == "optimal"
            assert problem.ledger(method).moved < 100_000 < 0.01 * 4 * 20_000 * 5 * 8 * 4  # bytes of the rows
        local = ml.solve(GraphMultitask(shards, graph=None, eta=0.1, tau=1.0), "krylov", tol=1e-6)
        np.testing.assert_array_equal(solution.matrix, local.matrix)
    finally:
        client.run(lambda: delattr(Block, "__reduce__"))


def test_what_a_machine_has_is_not_sent_again(client):
    """A round of BOL moves the vectors in and out, the slopes of the check, and little else: W is known."""
    rng = np.random.default_rng(0)
    m, n, d = 12, 5, 400
    X = rng.standard_normal((m * n, d))
    problem = GraphMultitask(X, X[:, 0], None, 0.1, 1.0, task=np.repeat(np.arange(m), n), machines=Dask(client))
    ml.solve(problem, "bol", tol=1e-12, max_iter=1)
    first = problem.ledger("bol").moved
    ml.solve(problem, "bol", tol=1e-12, max_iter=11)
    by_round = (problem.ledger("bol").moved - first) / 10
    constant = 6000  # functions, digests, heads of arrays
    assert by_round <= 1.5 * 2 * 8 * m * d + constant


def test_dense_and_sparse_machines_are_sparse_together(client):
    scipy_sparse = pytest.importorskip("scipy.sparse")

    def load(i):
        rng = np.random.default_rng(i)
        X = rng.standard_normal((6, 3)) * (rng.random((6, 3)) < 0.5)
        return (scipy_sparse.csr_array(X) if i == 3 else X), rng.standard_normal(6)

    shards = Shards.loaded(load, range(4))
    one, other = (GraphMultitask(shards, eta=0.1, machines=machines) for machines in (Local(), Dask(client)))
    same(one, other, "bol")


def test_the_embedded_cluster_ends_with_the_solve_and_comes_again(tmp_path):
    pytest.importorskip("distributed")
    import psutil

    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 2))
    before = {p.pid for p in psutil.Process().children(recursive=True)}

    def ours():
        new = (p for p in psutil.Process().children(recursive=True) if p.pid not in before)
        return [p for p in new if "spawn" in str(p.cmdline())]

    problem = GraphMultitask(X, X[:, 0], None, 0.1, task=np.repeat(np.arange(3), 4), machines=Dask(workers=1))
    assert len(ours()) == 1
    for connection in ours()[0].net_connections():
        assert not connection.laddr or connection.laddr.ip == "127.0.0.1"
    solution = ml.solve(problem)
    psutil.wait_procs(ours(), timeout=60)
    assert ours() == []
    assert "MB moved" in solution.explain()
    solution.save(tmp_path / "answer.npz")  # where rows are is not kept: it is the same problem
    assert solution.certificate.verify().lower == solution.lower == ml.Solution.load(tmp_path / "answer.npz").lower
    problem.rest()  # the check has needed it again
    psutil.wait_procs(ours(), timeout=60)
    assert ours() == []


def test_progress_says_what_was_sent(client):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 2))
    problem = GraphMultitask(X, X[:, 0], None, 0.1, task=np.repeat(np.arange(3), 4), machines=Dask(client))
    notes = []
    ml.solve(problem, "bol", callback=lambda event: notes.append(event.note))
    assert notes[-1].startswith(f"{len(notes) - 1} rounds, ") and notes[-1].endswith(" MB")


def test_rows_at_hand_are_saved_with_their_graph(tmp_path):
    rng = np.random.default_rng(0)
    X, y, task = rng.standard_normal((12, 3)), rng.standard_normal(12), np.repeat([3, 1, 2], 4)
    solution = ml.solve(GraphMultitask(Shards.of(X, y, task), eta=0.1), tol=1e-6)
    solution.save(tmp_path / "answer.npz")
    loaded = ml.Solution.load(tmp_path / "answer.npz")
    assert loaded.problem.tasks == (1, 2, 3)
    assert loaded.certificate.verify().upper == pytest.approx(solution.upper, rel=1e-12)
