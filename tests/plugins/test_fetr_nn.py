"""FETR-NN: the covariance steps on a last layer, the estimator's conventions; a clear word where PyTorch is missing."""

import importlib.util
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
seeds = st.integers(0, 2**31 - 1)


@pytest.mark.skipif(HAS_TORCH, reason="PyTorch is installed")
def test_without_torch_the_extra_is_named():
    import matrixlearn_fetr

    from matrixlearn.exceptions import MissingExtraError

    with pytest.raises(MissingExtraError, match=r"matrixlearn\[torch\]"):
        _ = matrixlearn_fetr.FETRNetwork


def data(seed=0, n=120, d=4, m=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.tanh(X @ rng.standard_normal((d, 2))) @ rng.standard_normal((2, m)) * 10.0 ** np.arange(m) + 5
    return X, Y + 0.01 * Y.std(axis=0) * rng.standard_normal((n, m))


def network(**options):
    from matrixlearn_fetr.nn import FETRNetwork

    return FETRNetwork((16, 8), **{"epochs": 40, "batch_size": 16, "learning_rate": 1e-2, "random_state": 0, **options})


@needs_torch
def test_it_is_a_regressor():
    from matrixlearn_fetr.nn import FETRNetwork
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn names the checks that it skips
        check_estimator(FETRNetwork((16,), epochs=60, learning_rate=1e-2, random_state=0), on_fail="raise")


@needs_torch
@pytest.mark.parametrize("covariances", ["joint", "alternating", "flip-flop"])
def test_it_learns_what_a_line_cannot_and_no_task_is_lost_to_its_units(covariances):
    X, Y = data()
    fitted = network(covariances=covariances, epochs=120).fit(X[:90], Y[:90])
    errors = np.mean((fitted.predict(X[90:]) - Y[90:]) ** 2, axis=0) / Y[90:].var(axis=0)
    line = np.column_stack([X, np.ones(len(X))])
    linear = line[90:] @ np.linalg.lstsq(line[:90], Y[:90], rcond=None)[0]
    assert np.all(errors < 0.7 * np.mean((linear - Y[90:]) ** 2, axis=0) / Y[90:].var(axis=0))
    assert fitted.loss_curve_[-1] < 0.2 * fitted.loss_curve_[0]


@needs_torch
def test_the_covariances_are_the_best_ones_of_the_last_layer():
    from matrixlearn_fetr.covariance import joint_precisions

    X, Y = data(1)
    fitted = network(lower=0.1, upper=10.0).fit(X, Y)
    pair = joint_precisions(fitted.coef_, 0.1, 10.0)
    np.testing.assert_allclose(fitted.task_covariance_ @ pair.task.dense(), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(fitted.feature_covariance_ @ pair.feature.dense(), np.eye(8), atol=1e-9)
    for S in (fitted.task_covariance_, fitted.feature_covariance_):
        values = np.linalg.eigvalsh(S)
        assert values[0] >= 0.1 - 1e-9 and values[-1] <= 10 + 1e-9


@needs_torch
@given(seeds)
def test_the_alternation_tends_to_the_joint_pair(seed):
    """The penalty of `alternating` falls towards that of `joint` and never below it; flip-flop is not a descent."""
    from matrixlearn_fetr import PrecisionPair, SpectralPrecision
    from matrixlearn_fetr.nn import PRIORS

    rng = np.random.default_rng(seed)
    d, m = (int(k) for k in rng.integers(1, 6, 2))
    W = rng.standard_normal((d, m)) * 10.0 ** rng.uniform(-1, 1)
    pair = PrecisionPair(SpectralPrecision.identity(d), SpectralPrecision.identity(m))
    best = PRIORS["joint"](W, pair, 0.01, 100.0).penalty(W)
    values = []
    for _ in range(30):
        pair = PRIORS["alternating"](W, pair, 0.01, 100.0)
        values.append(pair.penalty(W))
    rounding = 1e-9 * (1 + abs(best))
    assert np.all(np.diff(values) <= rounding)
    assert values[-1] >= best - rounding
    flipped = PRIORS["flip-flop"](W, pair, 0.01, 100.0)
    assert max(flipped.feature.extremes[1], flipped.task.extremes[1]) <= 100 * (1 + 1e-9)
    S2 = pair.task.dense()
    np.testing.assert_allclose(
        flipped.feature.inverse.dense(), W @ S2 @ W.T / m + np.eye(d) / 100, rtol=1e-6, atol=1e-9 * np.abs(W).max() ** 2
    )


@needs_torch
def test_a_strong_prior_shrinks_the_last_layer_and_none_leaves_it_alone():
    X, Y = data(2)
    free, plain, strong = (network(eta=eta, lower=1.0, upper=1.0).fit(X, Y).coef_ for eta in (0.0, 1e-9, 300.0))
    np.testing.assert_allclose(free, plain, rtol=1e-3, atol=1e-4)
    assert np.linalg.norm(strong) < 0.5 * np.linalg.norm(free)


@needs_torch
def test_same_seed_same_network_and_the_global_generator_is_left_alone():
    import torch

    X, Y = data(3)
    torch.manual_seed(7)
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    a, b = (network(epochs=3).fit(X, Y).predict(X) for _ in range(2))
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


@needs_torch
def test_units_of_features_and_targets_do_not_matter():
    X, Y = data(4)
    a = network(epochs=5).fit(X, Y).predict(X)
    b = network(epochs=5).fit(8 * X + 2, 4 * Y - 1).predict(8 * X + 2)
    np.testing.assert_allclose((b + 1) / 4, a, rtol=1e-4, atol=1e-3)


@needs_torch
def test_the_learned_features_end_in_the_predictions():
    X, Y = data(5)
    fitted = network(epochs=3).fit(X, Y)
    Z = fitted.features(X)
    assert Z.shape == (len(X), 8) and Z.min() >= 0
    head = Z @ fitted.coef_ + fitted.network_[-1].bias.detach().numpy()
    np.testing.assert_allclose(head * Y.std(axis=0) + Y.mean(axis=0), fitted.predict(X), rtol=1e-4, atol=1e-3)
    assert network(epochs=2).fit(X, Y[:, 0]).predict(X).shape == (len(X),)


@needs_torch
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": -1.0}, "eta must be >= 0"),
        ({"eta": np.nan}, "eta must be >= 0"),
        ({"lower": 0.0}, "lower and upper"),
        ({"lower": 2.0, "upper": 1.0}, "lower and upper"),
        ({"covariances": "best"}, "covariances must be one of"),
        ({"epochs": 0}, "epochs must be a whole number"),
        ({"batch_size": 1.5}, "batch_size must be a whole number"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"hidden": ()}, "hidden must hold"),
        ({"hidden": (3, 0)}, "hidden must hold"),
    ],
)
def test_parameters_are_checked(options, message):
    X, Y = data(6, n=10)
    with pytest.raises(ValueError, match=message):
        network().set_params(**options).fit(X, Y)
