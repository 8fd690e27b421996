"""The life of an online learner: files, interrupts, streams in pieces."""

import contextlib

import numpy as np
import pytest
from matrixlearn_meg import MEGLearner

from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.testing.strategies import rotated


def stream(rounds, n, complex_entries=False):
    """Instances with eigenvalues in [-1/2, 1/2], labels under a density U with noise, and U."""
    rng = np.random.default_rng(2)
    U = rotated(rng.dirichlet(np.ones(n)), 0, complex_entries)
    Xs = [rotated(rng.uniform(-0.5, 0.5, n), t + 1, complex_entries) for t in range(rounds)]
    return Xs, [float(np.real(np.vdot(U, X))) + 0.1 * rng.standard_normal() for X in Xs], U


@pytest.mark.parametrize("update", ["normalized", "unnormalized", "logdet"])
def test_a_saved_learner_resumes_where_it_was(update, tmp_path):
    Xs, ys, U = stream(30, 4, complex_entries=True)
    comparator = U if update == "normalized" else None

    def fresh():
        return MEGLearner(4, 0.3, update=update, comparator=comparator, snapshot_every=10)

    whole = fresh().partial_fit(Xs, ys)
    first = fresh().partial_fit(Xs[:17], ys[:17])
    first.save(tmp_path / "state.npz")
    second = fresh().restore(tmp_path / "state.npz").partial_fit(Xs[17:], ys[17:])
    np.testing.assert_allclose(second.W, whole.W, rtol=0, atol=1e-13)
    assert second.rounds == whole.rounds == 30
    assert list(second.meter.losses) == pytest.approx(list(whole.meter.losses))
    assert list(second.meter.bounds) == pytest.approx(list(whole.meter.bounds))
    assert sorted(second.snapshots) == [0, 10, 20, 30][: len(second.snapshots)]
    with pytest.raises(MatrixLearnError, match="this learner"):
        MEGLearner(5, 0.1).restore(tmp_path / "state.npz")
    (tmp_path / "other.npz").write_text("no")
    with pytest.raises(MatrixLearnError, match="not the state"):
        fresh().restore(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        fresh().restore(tmp_path / "missing.npz")
    state = (tmp_path / "state.npz").read_bytes()
    for at in range(0, len(state), len(state) // 40):  # a flipped byte is the same state or one named error
        (tmp_path / "broken.npz").write_bytes(state[:at] + bytes([state[at] ^ 255]) + state[at + 1 :])
        with contextlib.suppress(MatrixLearnError):
            G = fresh().restore(tmp_path / "broken.npz").W
            np.testing.assert_array_equal(G, fresh().restore(tmp_path / "state.npz").W)


def test_one_by_one_is_the_same_as_all_at_once():
    Xs, ys, U = stream(25, 3)
    at_once, one_by_one = (MEGLearner(3, "adaptive", comparator=U) for _ in range(2))
    at_once.partial_fit(np.array(Xs), np.array(ys))
    for X, y in zip(Xs, ys, strict=True):
        one_by_one.learn([(X, y)])
    np.testing.assert_allclose(at_once.W, one_by_one.W, atol=1e-12)
    assert list(at_once.meter.losses) == pytest.approx(list(one_by_one.meter.losses), rel=1e-10)


def test_an_interrupt_keeps_the_whole_rounds():
    def examples():
        yield np.eye(2), 1.0
        yield np.diag([1.0, 0.0]), 0.1
        raise KeyboardInterrupt

    learner, same = MEGLearner(2, 0.1), MEGLearner(2, 0.1)
    with pytest.raises(KeyboardInterrupt):
        learner.learn(examples())
    same.learn([(np.eye(2), 1.0), (np.diag([1.0, 0.0]), 0.1)])
    assert learner.rounds == 2
    np.testing.assert_allclose(learner.W, same.W, atol=1e-14)
