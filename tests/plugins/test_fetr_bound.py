"""FETR's lower bound subtracts the most that a block can gain, whichever block and majorizer it is."""

import numpy as np
import pytest
from matrixlearn_fetr import FETR


def gain(X, Y, W, S1, S2, eta):
    """loss(W) + eta tr(S1 W S2 W^T) less its minimum over W, by one system for all entries."""
    d, m = W.shape

    def value(V):
        return np.sum((Y - X @ V) ** 2) + eta * np.trace(S1 @ V @ S2 @ V.T)

    A = np.kron(X.T @ X, np.eye(m)) + eta * np.kron(S1, S2)
    best = np.linalg.solve(A, (X.T @ Y).ravel()).reshape(d, m)
    return value(W) - value(best)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3)])
def test_the_bound_subtracts_the_larger_of_both_gains(shape):
    rng, larger = np.random.default_rng(0), set()
    for _ in range(30):
        X, Y = rng.standard_normal((12, shape[0])), rng.standard_normal((12, shape[1]))
        p = FETR(X, Y, eta=10.0 ** rng.uniform(-1, 2), lower=0.1, upper=10.0)
        W = 10.0 ** rng.uniform(-1, 0.5) * rng.standard_normal(shape)
        bound = p.bound_from_matrix(W)
        pair = bound.estimate.precisions
        first = pair.majorizers()[0]
        gains = [gain(X, Y, W, q.feature.dense(), q.task.dense(), p.eta) for q in (pair, first)]
        value = p.objective_at(W, None)
        larger.add(bool(gains[0] > gains[1]))
        assert bound.lower <= value - max(gains) + 1e-9 * p.scale
    assert larger == {True, False} or shape[0] == shape[1]
