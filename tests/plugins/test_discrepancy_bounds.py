"""The guarantees (2.6), (2.8), (2.9): they hold for pairs of trained hypotheses, and are not loose by accident."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import admissible_bound, discrepancy_bound, discrepancy_distance

from matrixlearn.exceptions import ProblemError


def ridge(X, y, p, lam):
    """argmin sum_i p_i (w.x_i - y_i)^2 + lam ||w||^2."""
    return np.linalg.solve(X.T @ (p[:, None] * X) + lam * np.eye(X.shape[1]), X.T @ (p * y))


class Pair:
    """A weighted source, a target, their two trained hypotheses, and everything that the bounds mention."""

    def __init__(self, seed, noise):
        rng = np.random.default_rng(seed)
        N, m, n = (int(k) for k in rng.integers(1, 9, 3))
        scale = 10.0 ** rng.uniform(-2, 2)
        self.Xs = scale * (rng.standard_normal((m, N)) + rng.uniform(-1, 1, N))
        self.Xt = scale * rng.standard_normal((n, N)) * rng.uniform(0.2, 2.0, N)
        self.z, self.p = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
        self.lam = scale**2 * 10.0 ** rng.uniform(-3, 1)
        self.g = rng.standard_normal(N)  # the common labelling function, or what is near it
        self.ys = self.Xs @ self.g + noise * rng.standard_normal(m)
        self.yt = self.Xt @ self.g + noise * rng.standard_normal(n)
        self.h, self.h_target = ridge(self.Xs, self.ys, self.z, self.lam), ridge(self.Xt, self.yt, self.p, self.lam)
        self.M = self.Xt.T @ (self.p[:, None] * self.Xt) - self.Xs.T @ (self.z[:, None] * self.Xs)
        Lambda = max(np.linalg.norm(w) for w in (self.g, self.h, self.h_target))
        self.disc = discrepancy_distance(np.linalg.norm(self.M, 2), Lambda)
        # the points in question: source and target with their labels
        self.X, self.y = np.concatenate([self.Xs, self.Xt]), np.concatenate([self.ys, self.yt])
        self.radius = np.linalg.norm(self.X, axis=1).max()
        losses = [(self.X @ w - self.y) ** 2 for w in (self.h, self.h_target)]
        self.difference = np.abs(losses[0] - losses[1]).max()
        self.loss_bound = max(loss.max() for loss in losses)

    def delta(self, g):
        """||E_P[(g - f_P) x] - E_Q[(g - f_Q) x]||, which bounds delta_H from above where g is in H."""
        residual_t, residual_s = self.p * (self.Xt @ g - self.yt), self.z * (self.Xs @ g - self.ys)
        return float(np.linalg.norm(residual_t @ self.Xt - residual_s @ self.Xs))


seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_with_labels_from_one_hypothesis_the_bound_2_9_holds(seed):
    pair = Pair(seed, noise=0.0)
    bound = discrepancy_bound(pair.disc, regularization=pair.lam, radius=pair.radius, loss_bound=pair.loss_bound)
    assert bound == pytest.approx(2 * pair.radius * np.sqrt(pair.loss_bound * pair.disc / pair.lam))
    assert pair.difference <= bound * (1 + 1e-9)


@given(seeds, st.floats(0.01, 10))
def test_with_any_labels_the_bound_2_8_holds(seed, noise):
    pair = Pair(seed, noise)
    bound = discrepancy_bound(
        pair.disc,
        regularization=pair.lam,
        radius=pair.radius,
        loss_bound=pair.loss_bound,
        label_difference=pair.delta(pair.g),
    )
    assert pair.difference <= bound * (1 + 1e-9)


@given(seeds, st.floats(0, 10))
def test_with_any_labels_the_bound_2_6_holds(seed, noise):
    """The squared loss is 2 sqrt(M)-admissible where all losses in play stay below M."""
    pair = Pair(seed, noise)
    g = pair.g
    in_play = [pair.loss_bound, ((pair.X @ g - pair.y) ** 2).max()]
    in_play += [((pair.X @ (w - g)) ** 2).max() for w in (pair.h, pair.h_target)]
    bound = admissible_bound(
        pair.disc,
        regularization=pair.lam,
        radius=pair.radius,
        admissibility=2 * np.sqrt(max(in_play)),
        label_distance=np.abs(pair.Xt @ g - pair.yt).max() + np.abs(pair.Xs @ g - pair.ys).max(),
    )
    assert pair.difference <= bound * (1 + 1e-9)


@given(seeds)
def test_the_distance_is_the_largest_difference_of_losses(seed):
    """disc = max |L_P(g, g') - L_Q(g, g')| over ||g||, ||g'|| <= Lambda: reached, never passed."""
    pair, rng = Pair(seed, noise=0.0), np.random.default_rng(seed)
    Lambda = float(rng.uniform(0.1, 3))
    disc = discrepancy_distance(np.linalg.norm(pair.M, 2), Lambda)

    def difference(u):
        return abs(pair.p @ (pair.Xt @ u) ** 2 - pair.z @ (pair.Xs @ u) ** 2)

    values, vectors = np.linalg.eigh(pair.M)
    u = vectors[:, np.argmax(np.abs(values))]
    assert difference(Lambda * u - (-Lambda * u)) == pytest.approx(disc, rel=1e-6, abs=1e-12)
    g, k = (Lambda * v / np.linalg.norm(v) for v in rng.standard_normal((2, len(u))))
    assert difference(g - k) <= disc * (1 + 1e-9)


def test_labels_that_agree_are_not_enough_for_2_9():
    """x = +-1 against x = 1, f = |x|: no discrepancy, equal labels, and yet two different hypotheses."""
    lam = 0.5
    Xt, Xs = np.array([[1.0], [-1.0]]), np.array([[1.0]])
    h_target = ridge(Xt, np.abs(Xt[:, 0]), np.full(2, 0.5), lam)
    h = ridge(Xs, np.abs(Xs[:, 0]), np.ones(1), lam)
    assert np.linalg.norm(Xt.T @ Xt / 2 - Xs.T @ Xs, 2) == 0
    assert h_target == pytest.approx(0) and h == pytest.approx(1 / (1 + lam))
    known = {"regularization": lam, "radius": 1.0, "loss_bound": 1.0}
    difference = abs((h[0] - 1) ** 2 - (h_target[0] - 1) ** 2)
    assert difference > 0.5 > discrepancy_bound(0.0, **known) == 0
    # delta_H: E_P[(g - f) x] - E_Q[(g - f) x] = g - (g - 1) = 1 for every g
    assert difference <= discrepancy_bound(0.0, **known, label_difference=1.0)


def test_2_6_for_the_squared_loss_and_equal_labels_is_2_9():
    arguments = {"regularization": 0.3, "radius": 2.0}
    assert admissible_bound(0.7, **arguments, admissibility=2 * np.sqrt(5.0)) == pytest.approx(
        discrepancy_bound(0.7, **arguments, loss_bound=5.0)
    )


def test_the_distance_has_the_factor_four_that_the_thesis_drops():
    assert discrepancy_distance(0.25, 1.0) == 1.0
    assert discrepancy_distance(0.25, 3.0) == 9.0


@given(seeds, st.floats(0.1, 10))
def test_a_ridge_hypothesis_is_no_longer_than_half_the_labels_over_the_root_of_lambda(seed, noise):
    pair = Pair(seed, noise)
    assert np.linalg.norm(pair.h) <= np.abs(pair.ys).max() / (2 * np.sqrt(pair.lam)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"discrepancy": -1.0}, "discrepancy"),
        ({"discrepancy": np.nan}, "discrepancy"),
        ({"regularization": 0.0}, "regularization"),
        ({"radius": np.inf}, "radius"),
        ({"loss_bound": -0.1}, "loss_bound"),
        ({"label_difference": -0.1}, "label_difference"),
    ],
)
def test_unusable_numbers_are_refused_by_name(wrong, argument):
    good = {"discrepancy": 1.0, "regularization": 1.0, "radius": 1.0, "loss_bound": 1.0, "label_difference": 0.0}
    with pytest.raises(ProblemError, match=argument):
        discrepancy_bound(**{**good, **wrong})
