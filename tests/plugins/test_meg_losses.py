"""The losses of MEG: derivatives, conjugates, and learning with each."""

import math

import numpy as np
import pytest
from matrixlearn_meg import Absolute, Huber, Logistic, MEGLearner, Square

from matrixlearn.linalg import sym


def random_square(rng, n, complex_entries=False):
    X = rng.standard_normal((n, n))
    return X + 1j * rng.standard_normal((n, n)) if complex_entries else X


def density(rng, n, complex_entries=False):
    A = random_square(rng, n, complex_entries)
    A = A @ A.conj().T
    return A / np.real(np.trace(A))


@pytest.mark.parametrize("loss", [Square(), Absolute(), Huber(0.3), Logistic()])
def test_losses_derivatives_and_conjugates(loss):
    p = np.linspace(-3, 3, 1201) + 1e-4
    for y in (-1.0, 1.0):
        value = np.broadcast_to(loss.value(p, y), p.shape)
        slope = np.broadcast_to(loss.derivative(p, y), p.shape)
        h = p[1] - p[0]
        kink = np.abs(np.diff(slope)) > 0.1
        assert np.all(np.abs(np.diff(value) / h - (slope[1:] + slope[:-1]) / 2)[~kink] < 0.05)
        assert np.all(np.diff(slope) >= -1e-12)  # convex
        for u in slope[::100]:  # Fenchel-Young, with equality at the slope
            assert np.all(u * p - value <= loss.conjugate(u, y) + 1e-9)
        np.testing.assert_allclose(slope * p - value, loss.conjugate(slope, y), atol=1e-9)


@pytest.mark.parametrize("loss", ["square", "absolute", "huber", "logistic"])
def test_every_loss_learns_online(loss):
    rng = np.random.default_rng(3)
    U = density(rng, 4)
    learner = MEGLearner(4, "adaptive", loss=loss)

    def example():
        X = sym(random_square(rng, 4))
        p = float(np.trace(U @ X))
        return X, float(np.sign(p)) if loss == "logistic" else p

    learner.learn(example() for _ in range(300))
    before = learner.total_loss
    learner.learn(example() for _ in range(300))
    if loss == "logistic":
        assert learner.total_loss < 0.7 * 600 * math.log(2)  # of predicting 0
    else:
        assert learner.total_loss - before < 0.5 * before
    assert learner.meter.bound == math.inf or loss == "square"
