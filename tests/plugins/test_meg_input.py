"""Bad input of the online learner: refused with its round, and without a trace."""

import math

import numpy as np
import pytest
import scipy.sparse
from matrixlearn_meg import (
    Adaptive,
    Dense,
    Lemma32,
    LowRank,
    MEGLearner,
    MEGRegression,
    Pair,
)

from matrixlearn.exceptions import ProblemError

GOOD = (np.diag([1.0, 2.0, 3.0]), 1.5)


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ((np.eye(3), np.nan), "round 3: y must be a number"),
        ((np.eye(3), np.inf), "round 3: y must be finite"),
        ((np.eye(2), 1.0), "round 3: X must be a 3 x 3 instance, got 2 x 2"),
        ((np.ones((3, 2)), 1.0), "round 3: X must be a square matrix"),
        ((np.full((3, 3), np.nan), 1.0), "round 3: X holds 9 NaN"),
        ((scipy.sparse.csr_array(np.diag([1.0, np.nan, 0.0])), 1.0), "round 3: X holds NaN"),
        ((scipy.sparse.csr_array(np.ones((3, 2))), 1.0), "round 3: X must be square"),
        ((Pair(0, 1, 4), 1.0), "round 3: X must be a 3 x 3 instance"),
        ((np.eye(3), 1e200), "round 3: diverged, .* for 1e\\+200 costs inf"),
        ((1e200 * np.eye(3), 1.0), "round 3: X holds values of size 1e\\+200, whose products overflow"),
        (7.0, "round 3: an example must be a pair"),
        ((np.eye(3) * 100, 1.0, 2.0), "round 3: an example must be a pair"),
        ((np.diag([0.0, 0.0, 9.0]), 1.0), r"round 3: the eigenvalues of sym\(X\) have range 9"),
    ],
)
def test_a_bad_example_in_mid_stream_names_its_round_and_does_no_harm(example, message):
    learner, untouched = (MEGLearner(3, Lemma32(2.0), comparator=np.eye(3) / 3) for _ in range(2))
    with pytest.raises(ProblemError, match=message):
        learner.learn([GOOD, GOOD, example, GOOD])
    untouched.learn([GOOD, GOOD])
    np.testing.assert_allclose(learner.W, untouched.W, atol=1e-14)
    assert learner.rounds == 2 and list(learner.meter.losses) == pytest.approx(list(untouched.meter.losses))
    learner.learn([GOOD])  # and goes on
    untouched.learn([GOOD])
    np.testing.assert_allclose(learner.W, untouched.W, atol=1e-14)


def test_an_error_of_the_stream_itself_keeps_what_was_learned():
    def examples():
        yield GOOD
        msg = "the disk is gone"
        raise OSError(msg)

    learner = MEGLearner(3, 0.1)
    with pytest.raises(OSError, match="disk") as caught:
        learner.learn(examples())
    assert learner.rounds == 1 and caught.value.__notes__ == ["while round 2 was read from the stream"]
    with pytest.raises(ProblemError, match="y has 2 rounds, the other more"):
        learner.partial_fit(np.stack([np.eye(3)] * 3), [1.0, 1.0])
    assert learner.rounds == 3


def test_an_empty_stream_changes_nothing():
    learner = MEGLearner(3, 0.1).learn([])
    assert learner.rounds == 0 and learner.total_loss == 0 == learner.meter.total
    np.testing.assert_allclose(learner.W, np.eye(3) / 3)
    assert math.isnan(learner.meter.regret) and learner.meter.bound == math.inf


def test_one_object():
    learner = MEGLearner(1, "adaptive", comparator=np.eye(1)).learn([(np.array([[2.0]]), 5.0)] * 3)
    assert learner.W.tolist() == [[1.0]] and learner.total_loss == 27.0 and learner.meter.regret == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": 0.0}, "rate must be positive"),
        ({"rate": -1.0}, "rate must be positive"),
        ({"rate": float("inf")}, "rate must be positive"),
        ({"rate": float("nan")}, "rate must be a number"),
        ({"rate": "fast"}, "'adaptive' or a Rate"),
        ({"rate": None}, "rate must be a number"),
        ({"d": 0}, "d must be a whole number"),
        ({"snapshot_every": -1}, "snapshot_every"),
        ({"loss": "hinges"}, "loss must be one of"),
        ({"update": "euclidean"}, "update must be one of"),
        ({"update": "logdet", "rate": "adaptive"}, "rate must be a number for the logdet update"),
        ({"W1": np.diag([1.0, 0.0, 0.0])}, "W1 must be positive definite"),
        ({"W1": np.eye(3)}, "W1 must have trace one"),
        ({"W1": np.eye(2) / 2}, "W1 must be a square matrix"),
        ({"W1": np.diag([1.5, -0.25, -0.25])}, "W1 must be positive definite"),
        ({"comparator": np.eye(3)}, "comparator must be positive semidefinite of trace one"),
        ({"comparator": np.diag([2.0, -0.5, -0.5])}, "comparator must be positive semidefinite"),
    ],
)
def test_bad_settings(arguments, message):
    with pytest.raises(ProblemError, match=message):
        MEGLearner(**{"d": 3, "rate": 0.1, **arguments})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pair(1, 1, 3), "a and b must differ"),
        (lambda: Pair(0, 3, 3), "objects 0 to 2"),
        (lambda: Pair(0.5, 1, 3), "objects 0 to 2, got \\(0.5, 1\\)"),
        (lambda: Pair(0, 1, 3, np.inf), "weight must be finite"),
        (lambda: Dense(np.ones((2, 3))), "X must be a square matrix"),
        (lambda: Dense(np.full((2, 2), np.nan)), "X holds 4 NaN"),
        (lambda: Adaptive(0.0), "most must be positive"),
        (lambda: Lemma32(1.0, loss_max=1.0, divergence_max=-1.0), "divergence_max must be finite and >= 0"),
        (lambda: MEGLearner(3, 0.1).learn(5), "examples must be an iterable of pairs"),
        (lambda: MEGLearner(3, 0.1, loss=["square"]), "loss must be one of"),
        (lambda: LowRank(np.ones((3, 2)), np.ones(3)), "U must have shape"),
        (lambda: Lemma32(0.0), "r must be positive"),
        (lambda: Lemma32(1.0, c=0.0), "c must be positive"),
        (lambda: Lemma32(1.0, loss_max=-1.0), "loss_max"),
        (lambda: MEGRegression(np.eye(2), [1.0, 2.0], "huber", 0.0), "delta must be positive"),
        (lambda: MEGLearner(2, 0.1, loss="logistic").learn([(np.eye(2), 0.5)]), "round 1: y must hold labels -1 and 1"),
    ],
)
def test_bad_pieces(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


@pytest.mark.parametrize("update", ["normalized", "unnormalized", "logdet"])
@pytest.mark.parametrize("zero", [np.zeros((3, 3)), np.zeros(3), scipy.sparse.csr_array((3, 3))])
def test_an_instance_of_zeros_costs_its_label_and_teaches_nothing(update, zero):
    rates = [0.1] if update != "normalized" else [0.1, "adaptive", Lemma32(1.0)]
    for rate in rates:
        learner = MEGLearner(3, rate, update=update, comparator=np.eye(3) / 3 if update == "normalized" else None)
        before = learner.W
        learner.learn([(zero, 2.0)] * 3)
        assert learner.total_loss == 12.0 and learner.rounds == 3
        np.testing.assert_allclose(learner.W, before, atol=1e-15)


def test_a_logdet_stream_beyond_double_precision_is_said():
    learner = MEGLearner(3, 1e9, update="logdet")
    with pytest.raises(ProblemError, match=r"round 2: diverged, .* larger units"):
        learner.learn([(np.ones(3), 1e9)] * 3)
    assert learner.rounds == 1


def test_rates_beyond_the_lemma_have_no_bound():
    U = np.diag([0.5, 0.5, 0.0])
    learner = MEGLearner(3, 3.0, comparator=U).learn([(np.diag([1.0, 0.0, 0.0]), 0.2)])
    assert learner.meter.bound == math.inf
    assert Adaptive().most == 10.0
