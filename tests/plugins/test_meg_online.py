"""Online MEG: the updates of 002, the lemmas of its Section 3, and streams that are not what they should be."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_meg import (
    Absolute,
    Adaptive,
    Dense,
    DivergenceWarning,
    Fixed,
    Huber,
    Lemma32,
    Logistic,
    LowRank,
    MEGLearner,
    Pair,
    Square,
)

from matrixlearn.exceptions import MatrixLearnError, ProblemError
from matrixlearn.exponents import DenseExponent, LogDetExponent
from matrixlearn.problem import Spectraplex
from matrixlearn.testing.asserts import assert_density

seeds = st.integers(0, 2**32 - 1)


def random_square(rng, n, complex_entries=False):
    X = rng.standard_normal((n, n))
    return X + 1j * rng.standard_normal((n, n)) if complex_entries else X


def sym(X):
    return (X + X.conj().T) / 2


def density(rng, n, complex_entries=False):
    A = random_square(rng, n, complex_entries)
    A = A @ A.conj().T
    return A / np.real(np.trace(A))


def spread(X):
    w = np.linalg.eigvalsh(sym(X))
    return w[-1] - w[0]


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


# -- the updates ----------------------------------------------------------------------------------


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


# -- kinds of instances ---------------------------------------------------------------------------


@given(seeds, st.integers(2, 6), st.integers(1, 3), st.booleans())
def test_every_form_of_an_instance_is_the_same_instance(seed, n, k, complex_entries):
    rng = np.random.default_rng(seed)
    U = random_square(rng, max(n, k), complex_entries)[:n, :k]
    s = rng.standard_normal(k)
    X = (U * s) @ U.conj().T
    W, G = density(rng, n, complex_entries), sym(random_square(rng, n, complex_entries))
    forms = [LowRank(U, s), Dense(X)]
    for form in forms:
        assert form.inner(W) == pytest.approx(float(np.real(np.trace(W.conj().T @ X))), abs=1e-12)
        for start in (G.copy(), np.asfortranarray(G.copy())):
            form.add_to(start, 0.7)
            np.testing.assert_allclose(start, G + 0.7 * X, atol=1e-12)
        assert form.spread >= spread(X) - 1e-9
        V, w = form.factors()
        np.testing.assert_allclose((V * w) @ V.conj().T, X, atol=1e-12)
    assert forms[0].spread == pytest.approx(spread(X), abs=1e-9)


@given(seeds, st.integers(2, 6), st.integers(1, 20))
def test_pairs_sparse_and_dense_streams_learn_the_same(seed, n, rounds):
    rng = np.random.default_rng(seed)
    pairs = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(rounds)]
    ys = rng.uniform(0, 1, rounds)
    found = []
    for form in ("pair", "vector", "dense", "sparse", "shear"):
        learner = MEGLearner(n, 0.3)

        def examples(form=form):
            for (a, b), y in zip(pairs, ys, strict=True):
                u = np.zeros(n)
                u[a], u[b] = 1, -1
                X = np.outer(u, u)
                shear = X + np.triu(np.ones((n, n)), 1) - np.tril(np.ones((n, n)), -1)  # the same sym(X)
                forms = {"pair": Pair(a, b, n), "vector": u, "dense": X, "sparse": scipy.sparse.csr_array(X)}
                yield forms.get(form, scipy.sparse.coo_array(shear)), y

        found.append(learner.learn(examples()).W)
    for W in found[1:]:
        np.testing.assert_allclose(W, found[0], atol=1e-12)


def test_a_stream_is_read_one_by_one_and_never_held():
    alive = []

    def examples():
        for t in range(50):
            alive.append(t)
            yield np.eye(3) * (t % 2), 0.5

    class Watched(MEGLearner):
        pass

    learner = Watched(3, 0.1)
    for t, example in enumerate(iter(examples())):
        learner.learn(iter([example]))
        assert learner.rounds == len(alive) == t + 1


def test_a_low_rank_round_forms_no_other_matrix():
    """Peak memory of a round at d = 300: the decomposition's workspace, W and its square root, nothing for X."""
    import tracemalloc

    from matrixlearn_meg.stream import Examples, Setting

    d = 300
    learner = MEGLearner(d, 0.1)
    W, G = learner.W, learner._G
    u = np.random.default_rng(0).standard_normal((d, 2))
    examples = [(Pair(0, 1, d), 0.3), (LowRank(u, [1.0, -1.0]), 0.1), (u[:, 0], 0.2)]
    oracle = Examples(Setting(iter(examples), d, learner.loss, learner.rate, "normalized", learner.meter, W))
    move = oracle(W)
    move.loss.add_to(G, 1e-9)  # scipy is imported
    for _ in range(2):
        tracemalloc.start()
        move = move.then(W)
        move.loss.add_to(G, 1e-9)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.2 * 8 * d * d


def test_complex_examples_in_a_real_stream():
    """Pain 8: the state turns complex where the data do."""
    rng = np.random.default_rng(1)
    H = sym(random_square(rng, 3, True))
    learner = MEGLearner(3, 0.5).learn([(np.eye(3), 1.0), (H, 5.0)])
    G = math.log(3) * np.eye(3) + 0.5 * 2 * (np.real(np.trace(H)) / 3 - 5.0) * H
    np.testing.assert_allclose(learner.W, DenseExponent(Spectraplex(3, 1.0))(G), atol=1e-12)
    assert np.abs(np.imag(learner.W)).max() > 0.01


# -- losses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [Square(), Absolute(), Huber(0.3), Logistic(), Absolute().smoothed(0.1)])
def test_losses_derivatives_and_conjugates(loss):
    p = np.linspace(-3, 3, 1201) + 1e-4
    for y in (-1.0, 1.0):
        value = np.broadcast_to(loss.value(p, y), p.shape)
        slope = np.broadcast_to(loss.derivative(p, y), p.shape)
        bend = np.broadcast_to(loss.curvature(p, y), p.shape)
        h = p[1] - p[0]
        kink = np.abs(np.diff(slope)) > 0.1
        assert np.all(np.abs(np.diff(value) / h - (slope[1:] + slope[:-1]) / 2)[~kink] < 0.05)
        assert np.all(np.abs(np.diff(slope) / h - (bend[1:] + bend[:-1]) / 2)[~kink] < 5.1)
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


# -- LogDet ---------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 5), st.integers(1, 4), st.floats(1e-3, 1e4), st.floats(-50, 50), st.booleans())
def test_the_logdet_update_is_the_implicit_one(seed, n, rank, eta, y, complex_entries):
    """W_{t+1}^{-1} = W_t^{-1} + eta l'(tr(W_{t+1} X)) X, positive definite whatever eta and y."""
    rng = np.random.default_rng(seed)
    W1 = density(rng, n, complex_entries) + 0.2 * np.eye(n)
    U = random_square(rng, max(n, rank), complex_entries)[:n, :rank]
    s = rng.standard_normal(rank) if rank > 1 else np.ones(1)
    X = (U * s) @ U.conj().T
    learner = MEGLearner(n, eta, update="logdet", W1=W1)
    before = np.linalg.inv(W1)
    learner.learn([(LowRank(U, s), y)])
    after = learner._G
    w = np.linalg.eigvalsh(after)
    assert w[0] > 0
    step = np.real(np.vdot(X, after - before) / np.vdot(X, X))
    np.testing.assert_allclose(after - before, step * X, atol=1e-9 * (1 + np.abs(after).max()))
    # the objective of (3.1), Delta(W, W_1) + eta (tr(W X) - y)^2, is no lower along the line of steps
    top = np.linalg.eigvalsh(X)

    def objective(step):
        G = before + step * X
        if np.linalg.eigvalsh(G)[0] <= 0:
            return np.inf
        W = np.linalg.inv(G)
        distance = np.linalg.slogdet(G)[1] + np.real(np.trace(before @ W))
        return distance + eta * (float(np.real(np.trace(W @ X))) - y) ** 2

    best = objective(step)
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert best <= objective(step * factor) + 1e-7 * (1 + abs(best))
    assert top is not None


@pytest.mark.parametrize("loss", ["square", "absolute", "huber", "logistic"])
def test_logdet_learns_with_every_loss(loss):
    rng = np.random.default_rng(5)
    U = density(rng, 4)
    learner = MEGLearner(4, 0.5, update="logdet", loss=loss)
    for _ in range(200):
        u = rng.standard_normal(4)
        p = float(u @ U @ u)
        learner.learn([(u, (1.0 if p > 1 else -1.0) if loss == "logistic" else p)])
        assert np.linalg.eigvalsh(learner.W)[0] > 0
    assert sum(learner.meter.losses[-50:]) < sum(learner.meter.losses[:50])


def test_rank_one_logdet_is_the_closed_form():
    """q^2 + (2 eta lambda y - 1) q - 2 eta lambda^2 = 0 against the bisection that serves every rank."""
    from matrixlearn_meg.implicit import _rank_one, _root

    rng = np.random.default_rng(0)
    for _ in range(300):
        lam, eta, y = 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-3, 3), rng.normal() * 10 ** rng.uniform(-2, 2)
        s = _rank_one(lam, y, eta)
        assert 1 + s * lam > 0
        assert s == pytest.approx(_root(np.array([lam]), y, eta, Square()), rel=1e-9, abs=1e-12 * eta)


@given(
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.sampled_from([(1, 1), (-1, 1), (-1, -1)]),
    st.floats(-3, 4),
    st.floats(-1e3, 1e3),
)
def test_rank_two_logdet_is_the_root_of_its_cubic(first, second, signs, log_eta, y):
    """The residual of s = 2 eta (p(s) - y) is rounding, both 1 + s lambda > 0, and there is no other such root."""
    from matrixlearn_meg.implicit import _rank_two, _root

    low, high = sorted((signs[0] * 10**first, signs[1] * 10**second))
    eta = 10**log_eta
    s = _rank_two(low, high, y, eta)
    q = 1 + s * np.array([low, high])
    assert np.all(q > 0)
    parts = np.array([low, high]) / q
    slope = 1 + 2 * eta * float(parts @ parts)
    size = slope * abs(s) + 2 * eta * (float(np.abs(parts).sum()) + abs(y))
    assert abs(s - 2 * eta * (float(parts.sum()) - y)) <= 1e-14 * size
    other = _root(np.array([low, high]), y, eta, Square())
    assert s == pytest.approx(other, rel=1e-11, abs=1e-11 * size / slope)


@pytest.mark.parametrize("complex_entries", [False, True])
def test_rank_two_logdet_seldom_needs_the_bisection(complex_entries, monkeypatch):
    """(u v^H + v u^H) / 2, of one positive and one negative eigenvalue: Cardano's root and a few Newton steps."""
    import matrixlearn_meg.implicit as implicit

    bisected, bisection = [], implicit._root
    monkeypatch.setattr(implicit, "_root", lambda *given: bisected.append(given) or bisection(*given))
    rng = np.random.default_rng(7)
    for _ in range(200):
        n = int(rng.integers(2, 7))
        u, v = (random_square(rng, n, complex_entries)[0] for _ in range(2))
        X = sym(np.outer(u, v.conj()))
        w, V = np.linalg.eigh(X)
        two = LowRank(V[:, [0, -1]], w[[0, -1]])
        np.testing.assert_allclose((two.U * two.s) @ two.U.conj().T, X, atol=1e-12 * np.abs(X).max())
        W, y, eta = density(rng, n, complex_entries) + 0.1 * np.eye(n), rng.standard_normal(), 10 ** rng.uniform(-2, 2)
        s = implicit.implicit_step(two, W, y, eta, Square())
        after = np.linalg.inv(np.linalg.inv(W) + s * X)
        assert np.linalg.eigvalsh(after)[0] > 0
        assert s == pytest.approx(2 * eta * (float(np.real(np.vdot(X, after))) - y), rel=1e-7, abs=1e-9)
    assert len(bisected) <= 2


def test_the_logdet_map_refuses_losses_outside_its_cone():
    exponent = LogDetExponent(2)
    np.testing.assert_allclose(exponent(exponent.zero(np.eye(2))), np.eye(2) / 2)
    np.testing.assert_allclose(exponent(exponent.accumulate(np.eye(2), np.eye(2), 3.0)), np.eye(2) / 4)
    with pytest.raises(ProblemError, match="positive definite cone"):
        exponent(np.diag([1.0, -1.0]))


# -- numerics -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("rounds", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_w_stays_a_density_matrix(rounds):
    """PSD, trace one to 1e-12, over a long noisy stream, looked at often."""
    rng = np.random.default_rng(11)
    learner = MEGLearner(6, 0.9, snapshot_every=max(1, rounds // 200))
    u = rng.standard_normal((rounds, 6))
    with pytest.warns(DivergenceWarning):  # r^2 eta is 500: it is meant to be thrown about
        learner.learn(zip(u, rng.uniform(-1, 3, rounds), strict=True))
    assert len(learner.snapshots) >= 200
    for W in [learner.W, *learner.snapshots.values()]:
        assert abs(np.trace(W) - 1) <= 1e-12
        assert np.linalg.eigvalsh(W)[0] >= -1e-15
    assert np.all(np.isfinite(learner.meter.losses))


# -- life of a learner ----------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["normalized", "unnormalized", "logdet"])
def test_a_saved_learner_resumes_where_it_was(update, tmp_path):
    rng = np.random.default_rng(2)
    Xs, ys, U, r = stream(rng, 4, 30, 0.1, complex_entries=True)
    comparator = U if update == "normalized" else None

    def fresh():
        return MEGLearner(4, 0.3 / r**2, update=update, comparator=comparator, snapshot_every=10)

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


def test_one_by_one_is_the_same_as_all_at_once():
    Xs, ys, U, r = stream(np.random.default_rng(4), 3, 25, 0.1)
    at_once, one_by_one = (MEGLearner(3, "adaptive", comparator=U) for _ in range(2))
    at_once.partial_fit(np.array(Xs), np.array(ys))
    for X, y in zip(Xs, ys, strict=True):
        one_by_one.learn([(X, y)])
    np.testing.assert_array_equal(at_once.W, one_by_one.W)
    assert list(at_once.meter.losses) == list(one_by_one.meter.losses)


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
    np.testing.assert_array_equal(learner.W, same.W)


# -- bad input ------------------------------------------------------------------------------------

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
    np.testing.assert_array_equal(learner.W, untouched.W)
    assert learner.rounds == 2 and list(learner.meter.losses) == list(untouched.meter.losses)
    learner.learn([GOOD])  # and goes on
    untouched.learn([GOOD])
    np.testing.assert_array_equal(learner.W, untouched.W)


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
        ({"loss": "hinge"}, "loss must be one of"),
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
        (lambda: LowRank(np.ones((3, 2)), np.ones(3)), "U must have shape"),
        (lambda: Lemma32(0.0), "r must be positive"),
        (lambda: Lemma32(1.0, c=0.0), "c must be positive"),
        (lambda: Lemma32(1.0, loss_max=-1.0), "loss_max"),
        (lambda: Huber(0.0), "delta must be positive"),
        (lambda: MEGLearner(2, 0.1, loss="logistic").learn([(np.eye(2), 0.5)]), "round 1: y must hold labels -1 and 1"),
    ],
)
def test_bad_pieces(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_a_rate_far_too_large_is_said():
    rng = np.random.default_rng(0)
    Xs, ys, _, r = stream(rng, 10, 300, 0.0)
    with pytest.warns(DivergenceWarning, match=r"round [0-9]+: the learning rate .* is too large"):
        MEGLearner(10, 1000 / r**2).partial_fit(Xs, ys)
    MEGLearner(10, 2 / r**2).partial_fit(Xs, ys)  # the edge of the lemma: no warning, which would be an error here
    learner = MEGLearner(4, 1e6, update="unnormalized")
    with pytest.raises(ProblemError, match=r"round [0-9]+: diverged"):
        learner.learn((np.eye(4), y) for y in (2.0, 2.0, 2.0))


def test_rates_beyond_the_lemma_have_no_bound():
    U = np.diag([0.5, 0.5, 0.0])
    learner = MEGLearner(3, 3.0, comparator=U).learn([(np.diag([1.0, 0.0, 0.0]), 0.2)])
    assert learner.meter.bound == math.inf
    assert Adaptive().most == 10.0 and Absolute() != Square()
