"""Pains 23, 24, 26: metrics from pairs of rank-deficient features, at any price, in 10,000 dimensions."""

import tracemalloc

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoostKernel


def pairs_of_groups(rng, n, groups, k):
    labels = np.arange(n) % groups
    a = rng.integers(0, n, k)
    b = (a + rng.integers(1, n, k)) % n
    return labels, np.column_stack([a, b]), np.where(labels[a] == labels[b], 1, -1)


@pytest.mark.parametrize("kind", ["constant", "duplicated", "dependent", "fewer points than features"])
def test_pain_23_rank_deficient_features(kind):
    # metric-learn #43, #65, #276: "Matrix is not positive definite"
    rng = np.random.default_rng(23)
    X = rng.standard_normal((20, 4))
    labels, pairs, y = pairs_of_groups(rng, 20, 2, 60)
    X[:, 0] += 4 * labels
    rank = 4
    if kind == "constant":
        X = np.column_stack([X, np.full(20, 7.0)])
    elif kind == "duplicated":
        X = np.column_stack([X, X])
    elif kind == "dependent":
        X = np.column_stack([X, X @ [1.0, -2.0, 0.5, 3.0]])
    else:
        X, rank = np.column_stack([X, rng.standard_normal((20, 40))]), 19  # the span of 20 centred points
    model = DefiniteBoostKernel().fit(X[pairs], y)
    assert model.solution_.status == "optimal"
    assert model.rank_ == rank  # and it is said
    assert np.isfinite(model.kernel_).all()
    d = model.distances()
    order = [int(np.flatnonzero(np.all(model.points_ == x, axis=1))[0]) for x in X[np.unique(pairs)]]
    near = labels[np.unique(pairs)][:, None] == labels[np.unique(pairs)][None]
    d = d[np.ix_(order, order)]
    assert np.mean(d[near]) < 0.7 * np.mean(d[~near])


@pytest.mark.filterwarnings("ignore:pairs contradict each other")
@pytest.mark.parametrize("balance", [1e-3, 0.5, 20.0, 1e6])
def test_pain_24_every_balance_is_a_bounded_problem(balance):
    # metric-learn #154: SDML diverges at balance_param = 50, where its input turns indefinite
    rng = np.random.default_rng(24)
    X = rng.standard_normal((15, 5))
    _, pairs, y = pairs_of_groups(rng, 15, 3, 80)
    y = y * rng.choice([1, 1, 1, -1], len(y))  # contradictions
    model = DefiniteBoostKernel(slack=balance, tol=1e-3, time_limit=None if balance < 100 else 1.0).fit(X[pairs], y)
    solution = model.solution_
    assert solution.status == "optimal" or (balance > 100 and solution.status == "stopped")
    assert -1e-9 <= solution.lower <= solution.value <= solution.upper < np.inf
    assert np.linalg.eigvalsh(model.kernel_)[0] > -1e-12
    assert np.trace(model.weights_) == pytest.approx(1.0, abs=1e-12)


def test_pain_24_hard_constraints_that_contradict_are_said_to_and_the_parameter_is_named():
    with pytest.raises(ValueError, match=r"infeasible.*slack"):
        DefiniteBoostKernel(slack=None).fit([[0, 1], [0, 1]], [1, -1])


def test_pain_26_ten_thousand_features_without_a_matrix_of_that_size():
    # metric-learn #307, #3: hours and 40 GB
    rng = np.random.default_rng(26)
    labels, pairs, y = pairs_of_groups(rng, 100, 4, 150)
    X = rng.standard_normal((100, 10_000))
    X[np.arange(100), labels] += 60
    given = X[pairs]
    tracemalloc.start()
    model = DefiniteBoostKernel(tol=1e-2).fit(given, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.solution_.status == "optimal"
    assert model.rank_ <= 100
    assert peak < 6 * given.nbytes < 0.2 * (8 * 10_000**2)
