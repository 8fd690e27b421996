"""The implicit LogDet update: closed forms, the root they are, the cone they never leave."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_meg import LowRank, MEGLearner
from matrixlearn_meg.losses import SQUARE
from random_matrices import density, random_square

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import LogDetExponent
from matrixlearn.linalg import sym

seeds = st.integers(0, 2**32 - 1)


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
        assert s == pytest.approx(_root(np.array([lam]), y, eta, SQUARE), rel=1e-9, abs=1e-12 * eta)


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
    other = _root(np.array([low, high]), y, eta, SQUARE)
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
        s = implicit.implicit_step(two, W, y, eta, SQUARE)
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
