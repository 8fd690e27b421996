"""Online MEG: the updates of 002, the lemmas of its Section 3, and their numerics."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_meg import Dense, DivergenceWarning, Fixed, Lemma32, MEGLearner, Pair
from random_matrices import density, random_square, spread

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import DenseExponent
from matrixlearn.linalg import sym
from matrixlearn.sets import Spectraplex
from matrixlearn.testing.asserts import assert_density

seeds = st.integers(0, 2**32 - 1)


def stream(rng, n, rounds, noise, complex_entries=False):
    """Square instances, their labels under a density U with noise, U, and the widest range r."""
    U = density(rng, n, complex_entries)
    Xs = [random_square(rng, n, complex_entries) * 10.0 ** rng.uniform(-0.5, 0.5) for _ in range(rounds)]
    r = max([spread(X) for X in Xs] + [1e-6])
    ys = [float(np.real(np.trace(U @ X))) + noise * r * rng.standard_normal() for X in Xs]
    return Xs, ys, U, r


def relative_entropy(U, W):
    """tr(U log U - U log W)."""
    w, v = np.linalg.eigh(U), np.linalg.eigh(W)
    u = w[0][w[0] > 0]
    return float(u @ np.log(u) - np.real(np.trace(U @ (v[1] * np.log(v[0])) @ v[1].conj().T)))


@given(seeds, st.integers(1, 5), st.integers(1, 6), st.booleans(), st.sampled_from(["normalized", "unnormalized"]))
def test_the_accumulated_form_is_the_multiplicative_form(seed, n, rounds, complex_entries, update):
    """(3.4) and (3.5), with the logarithm of every W_t."""
    rng = np.random.default_rng(seed)
    Xs, ys, _, _ = stream(rng, n, rounds, 0.1, complex_entries)
    r = max(np.linalg.norm(sym(X)) + abs(y) for X, y in zip(Xs, ys, strict=True))
    W, eta = np.eye(n) / n, 0.2 / r**2
    learner = MEGLearner(n, eta, update=update)
    for X, y in zip(Xs, ys, strict=True):
        error = float(np.real(np.trace(W @ X))) - y
        assert learner.predict(X) - y == pytest.approx(error, abs=1e-9 * r)
        W = scipy.linalg.expm(scipy.linalg.logm(W) - eta * 2 * error * sym(X))
        W = sym(W / np.real(np.trace(W)) if update == "normalized" else W)
        learner.learn([(X, y)])
        np.testing.assert_allclose(learner.W, W, atol=1e-8 * max(1.0, np.abs(W).max()))
    if update == "normalized":
        assert_density(learner.W)


@given(seeds, st.integers(1, 6), st.booleans())
def test_the_numpy_map_is_the_exponent_routine_of_the_library(seed, n, complex_entries):
    from matrixlearn_meg.maps import gibbs

    G = sym(random_square(np.random.default_rng(seed), n, complex_entries)) * 30
    np.testing.assert_allclose(gibbs(G), DenseExponent(Spectraplex(n, 1.0))(G), atol=1e-13)


@given(seeds, st.integers(1, 5), st.floats(0.05, 5.0), st.sampled_from([0.0, 0.1]), st.booleans())
def test_lemma_3_1_at_every_round(seed, n, c, noise, complex_entries):
    """eta (p - y)^2 - b (tr(U X) - y)^2 <= Delta(U, W_t) - Delta(U, W_{t+1}), b = c / r^2 with the round's own r."""
    rng = np.random.default_rng(seed)
    Xs, ys, U, _ = stream(rng, n, 8, noise, complex_entries)
    W1 = 0.9 * density(rng, n, complex_entries) + 0.1 * np.eye(n) / n
    learner = MEGLearner(n, 1.0, W1=W1)
    for X, y in zip(Xs, ys, strict=True):
        r = max(spread(X), 1e-6)
        b = c / r**2
        learner.rate = Fixed(2 * b / (2 + r**2 * b))
        before, W = learner.total_loss, learner.W
        assume(np.linalg.eigvalsh(W)[0] > 1e-10)  # or the divergence of this test is rounding
        learner.learn([(X, y)])
        paid, theirs = learner.total_loss - before, float(np.real(np.trace(U @ X)) - y) ** 2
        assume(np.linalg.eigvalsh(learner.W)[0] > 1e-10)
        progress = relative_entropy(U, W) - relative_entropy(U, learner.W)
        assert learner.rate.eta * paid - b * theirs <= progress + 1e-7 * (1 + b * theirs)


@given(seeds, st.integers(2, 6), st.integers(1, 60), st.floats(0.05, 5.0), st.sampled_from([0.0, 0.1]), st.booleans())
def test_lemma_3_2_and_the_meter(seed, n, rounds, c, noise, complex_entries):
    Xs, ys, U, r = stream(np.random.default_rng(seed), n, rounds, noise, complex_entries)
    learner = MEGLearner(n, Lemma32(r, c), comparator=U).learn(zip(Xs, ys, strict=True))
    meter = learner.meter
    theirs = sum((float(np.real(np.trace(U @ X))) - y) ** 2 for X, y in zip(Xs, ys, strict=True))
    expected = (1 + c / 2) * theirs + (0.5 + 1 / c) * r**2 * relative_entropy(U, np.eye(n) / n)
    assert meter.bound == pytest.approx(expected, rel=1e-6, abs=1e-9 * r**2)
    assert len(meter.losses) == len(meter.bounds) == rounds
    assert np.all(np.cumsum(meter.losses) <= np.array(meter.bounds) * (1 + 1e-9))
    assert meter.total == pytest.approx(learner.total_loss) and learner.rounds == rounds
    assert meter.regret == pytest.approx(meter.total - theirs, abs=1e-9 * (1 + meter.total))


@given(seeds, st.integers(2, 5), st.integers(1, 60), st.sampled_from([0.0, 0.3]))
def test_the_adaptive_rate_needs_to_know_nothing_and_has_a_bound(seed, n, rounds, noise):
    Xs, ys, U, r = stream(np.random.default_rng(seed), n, rounds, noise)
    meter = MEGLearner(n, "adaptive", comparator=U).learn(zip(Xs, ys, strict=True)).meter
    assert np.all(np.isfinite(meter.bounds))
    assert np.all(np.cumsum(meter.losses) <= np.array(meter.bounds) * (1 + 1e-9))


@given(seeds, st.integers(2, 5), st.integers(2, 12))
def test_a_rule_sees_the_past_and_the_bound_divides_by_the_least_rate(seed, n, rounds):
    """Lemma 3.1 with each round's own eta_t and the largest range so far; a rule is shown exactly these."""
    rng = np.random.default_rng(seed)
    Xs, ys, U, r = stream(rng, n, rounds, 0.3)
    etas, shown = rng.uniform(0.1, 1.5, rounds) / r**2, []

    class Given:
        def at(self, seen):
            shown.append(seen)
            return etas[len(shown) - 1]

    learner = MEGLearner(n, Given(), comparator=U)
    W = np.eye(n) / n
    widest, paid, slopes, weighted = 0.0, 0.0, 0.0, 0.0
    for t, (X, y) in enumerate(zip(Xs, ys, strict=True)):
        learner.learn([(X, y)])
        error = np.real(np.vdot(sym(X), W)) - y
        wide = Dense(X).spread
        widest, slopes = max(widest, wide), slopes + (2 * error * wide) ** 2
        assert (shown[t].spread, shown[t].square, shown[t].d) == (pytest.approx(widest), True, n)
        assert shown[t].total_loss == pytest.approx(paid) and shown[t].slopes == pytest.approx(slopes)
        paid += error**2
        left = 2 - widest**2 * etas[t]
        weighted += 2 * etas[t] / left * (np.trace(U @ X) - y) ** 2 if left > 0 else np.inf
        expected = (weighted + relative_entropy(U, np.eye(n) / n)) / etas[: t + 1].min()
        assert learner.meter.bound == pytest.approx(expected, rel=1e-6)
        W = learner.W


def test_the_rate_without_loss_is_two_over_r_squared():
    """Section 5.1: L_max = 0, r = 1: eta = 2, total loss at most r^2 d_max / 2."""
    rate = Lemma32(1.0)
    assert rate.at(_seen(4)) == 2.0
    assert Lemma32(1.0, loss_max=8.0, divergence_max=1.0).constant(4) == 0.5
    rng = np.random.default_rng(0)
    U = density(rng, 6)
    pairs = [Pair(*map(int, rng.choice(6, 2, replace=False)), 6, weight=0.5) for _ in range(400)]
    learner = MEGLearner(6, rate, comparator=U).learn((x, x.inner(U)) for x in pairs)
    assert learner.total_loss <= learner.meter.bound == pytest.approx(relative_entropy(U, np.eye(6) / 6) / 2)


def _seen(d):
    from matrixlearn_meg.rates import Seen

    return Seen(d, True, 1.0, 0.0, 0.0)


def test_eigenvalues_below_the_smallest_double_come_back():
    """W_t reaches 1e-300 and less; the unwrapped form has no logarithm to fail on."""
    X = np.diag([1.0, 0.0])
    learner = MEGLearner(2, 1e3)
    for y, extreme in ((-1.0, 0), (2.0, 1)):
        learner.learn((X, y) for _ in range(3))
        assert learner.W[extreme, extreme] < 1e-300
        assert_density(learner.W)
    learner = MEGLearner(3, 0.5, W1=np.diag([1e-300, 0.5, 0.5]))
    learner.learn((np.diag([1.0, 0, 0]), 1.0) for _ in range(2000))
    assert np.all(np.isfinite(learner.W)) and learner.W[0, 0] > 0.9
    assert_density(learner.W)


@pytest.mark.parametrize("rounds", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_w_stays_a_density_matrix(rounds):
    """PSD, trace one to 1e-14, over a long noisy stream, looked at often: ten times the rounds add nothing."""
    rng = np.random.default_rng(11)
    learner = MEGLearner(6, 0.9, snapshot_every=max(1, rounds // 200))
    u = rng.standard_normal((rounds, 6))
    with pytest.warns(DivergenceWarning):  # r^2 eta is 500: it is meant to be thrown about
        learner.learn(zip(u, rng.uniform(-1, 3, rounds), strict=True))
    assert len(learner.snapshots) >= 200
    for W in [learner.W, *learner.snapshots.values()]:
        assert abs(np.trace(W) - 1) <= 1e-14
        assert np.linalg.eigvalsh(W)[0] >= -1e-15
    assert np.all(np.isfinite(learner.meter.losses))


def test_a_rate_far_too_large_is_said():
    rng = np.random.default_rng(0)
    Xs, ys, _, r = stream(rng, 10, 300, 0.0)
    with pytest.warns(DivergenceWarning, match=r"round [0-9]+: the learning rate .* is too large"):
        MEGLearner(10, 1000 / r**2).partial_fit(Xs, ys)
    MEGLearner(10, 2 / r**2).partial_fit(Xs, ys)  # the edge of the lemma: no warning, which would be an error here
    two = [(np.diag([1.0, 2, 3]), 1.0), (np.diag([3.0, 1, 3]), 2.0)]
    with pytest.warns(DivergenceWarning, match="round 10: the learning rate 1e\\+09 is too large"):
        MEGLearner(3, 1e9).learn(two * 8)  # thrown from corner to corner: long before 50 rounds
    learner = MEGLearner(4, 1e6, update="unnormalized")
    with pytest.raises(ProblemError, match=r"round [0-9]+: diverged"):
        learner.learn((np.eye(4), y) for y in (2.0, 2.0, 2.0))
