"""The losses of MEG: learning with each."""

import math

import numpy as np
import pytest
from matrixlearn_meg import MEGLearner
from random_matrices import density, random_square

from matrixlearn.linalg import sym


@pytest.mark.parametrize("loss", ["square", "absolute", "huber", "logistic", "hinge"])
def test_every_loss_learns_online(loss):
    rng = np.random.default_rng(3)
    U = density(rng, 4)
    learner = MEGLearner(4, "adaptive", loss=loss)

    def example():
        X = sym(random_square(rng, 4))
        p = float(np.trace(U @ X))
        return X, float(np.sign(p)) if loss in ("logistic", "hinge") else p

    learner.learn(example() for _ in range(300))
    before = learner.total_loss
    learner.learn(example() for _ in range(300))
    if loss in ("logistic", "hinge"):
        assert learner.total_loss < 0.7 * 600 * {"logistic": math.log(2), "hinge": 1.0}[loss]  # of predicting 0
    else:
        assert learner.total_loss - before < 0.5 * before
    assert learner.meter.bound == math.inf or loss == "square"
