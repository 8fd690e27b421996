"""The laws of a penalty: Fenchel and Young, Moreau, cvxpy as the judge of conjugates and proximal maps."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.exceptions import ProblemError
from matrixlearn.penalties import PENALTIES, ElasticNet, Group, Nuclear, Spectral, penalty_named

EVERY = [
    ElasticNet(0.7), ElasticNet(l1=0.4), ElasticNet(0.7, 0.4), Group(0.4, [0, 1, 0, 2, 2, 1]),
    Group(0.4, [0, 1, 0, 2, 2, 1], 0.7), Nuclear(0.4, (2, 3)), Nuclear(0.4, (3, 2), 0.7), Spectral(0.4, (2, 3)),
    Spectral(0.4, (3, 2), 0.7),
]  # fmt: skip


@pytest.mark.parametrize("psi", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1))
def test_fenchel_and_young(psi, seed):
    """psi(x) + psi*(v) >= v.x, with equality at a subgradient and at the gradient of psi*; N°(v) <= c ||v||."""
    rng = np.random.default_rng(seed)
    x, v = rng.standard_normal(6), rng.standard_normal(6)
    v = v if psi.ridge > 0 else v * psi.weight / psi.dual_norm(v) * (1 - 1e-12)
    assert psi.value(x) + psi.conjugate(v) >= v @ x - 1e-12
    slope = psi.gradient(x) * (1 if psi.ridge > 0 else 1 - 1e-12)
    assert psi.value(x) + psi.conjugate(slope) - slope @ x == pytest.approx(0, abs=1e-11)
    assert psi.dual_norm(v) <= psi.dual_factor * np.linalg.norm(v) * (1 + 1e-12)
    if psi.ridge > 0:
        at = psi.conjugate_gradient(v)
        assert psi.value(at) + psi.conjugate(v) - v @ at == pytest.approx(0, abs=1e-12)
    else:
        assert psi.conjugate(1.01 * v) == np.inf


@pytest.mark.parametrize("psi", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-4, 4))
def test_moreau(psi, seed, exponent):
    """x = prox of s psi at x + s prox of psi* / s at x / s; (x - u) / s is a subgradient at u."""
    x, step = np.random.default_rng(seed).standard_normal(6), 10.0**exponent
    u, z = psi.prox(x, step), psi.prox_conjugate(x / step, 1 / step)
    np.testing.assert_allclose(u + step * z, x, atol=1e-13 * (1 + step))
    z = z if psi.ridge > 0 else z * min(1.0, psi.weight / max(psi.dual_norm(z), 1e-300)) * (1 - 1e-12)
    assert psi.value(u) + psi.conjugate(z) - u @ z == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("psi", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1))
def test_cvxpy_agrees(psi, seed):
    """Value, conjugate and proximal map, against cvxpy."""
    rng = np.random.default_rng(seed)
    x, step = rng.standard_normal(6), 10.0 ** rng.uniform(-1, 1)
    u = cp.Variable(6)
    f = psi.as_cvxpy(u)
    u.value = x
    assert f.value == pytest.approx(psi.value(x), rel=1e-9)
    least = cp.Problem(cp.Minimize(step * f + cp.sum_squares(u - x) / 2)).solve(solver=cp.CLARABEL)
    at = psi.prox(x, step)
    assert step * psi.value(at) + (at - x) @ (at - x) / 2 == pytest.approx(least, rel=1e-6, abs=1e-7)
    if psi.ridge > 0:
        supremum = cp.Problem(cp.Maximize(x @ u - f)).solve(solver=cp.CLARABEL)
        assert psi.conjugate(x) == pytest.approx(supremum, rel=1e-5, abs=1e-6)
    else:
        supremum = cp.Problem(cp.Maximize(x @ u), [f <= psi.weight]).solve(solver=cp.CLARABEL)
        assert psi.dual_norm(x) == pytest.approx(supremum, rel=1e-5)


@pytest.mark.parametrize("psi", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1), error=st.sampled_from([0.0, 1e-9, 0.1, 1.0]))
def test_conjugates_of_a_whole_ball(psi, seed, error):
    """psi*(t w) <= conjugate_within(t v, t error) < inf for every w within error of v, with t = domain_scale."""
    rng = np.random.default_rng(seed)
    v, move = 3 * rng.standard_normal(6), rng.standard_normal(6)
    t = psi.domain_scale(v, error)
    assert 0 < t <= 1
    assert t == 1 or psi.ridge == 0
    bound = psi.conjugate_within(t * v, t * error)
    assert np.isfinite(bound)
    for w in (v, v + error * move / np.linalg.norm(move), v + error * v / np.linalg.norm(v)):
        assert psi.conjugate(t * w) <= bound
    if error == 0:
        assert bound <= psi.conjugate(t * v) * (1 + 1e-12) + 1e-13


def test_curvatures():
    assert ElasticNet(0.5).smoothness == ElasticNet(0.5).strong_convexity == 0.5
    assert ElasticNet(0.5, 0.1).smoothness == np.inf
    assert Nuclear(0.1, (2, 2)).strong_convexity == 0


def test_penalties_by_name():
    assert penalty_named("ridge", ridge=0.5) == ElasticNet(0.5)
    assert penalty_named("l1(l1=0.5)") == ElasticNet(l1=0.5)
    for psi in EVERY:
        again = penalty_named(str(psi))
        assert str(again) == str(psi)
        assert again.value(np.arange(6.0)) == psi.value(np.arange(6.0))
        assert penalty_named(psi) is psi
    assert {"ridge", "l1", "elastic-net", "group", "nuclear", "spectral"} == set(PENALTIES)
    with pytest.raises(ProblemError, match=r"penalty must be one of .*, got 'lasso'"):
        penalty_named("lasso")
    with pytest.raises(ProblemError, match=r"or a Penalty, got 0\.1"):
        penalty_named(0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ElasticNet(-1), "ridge must be a finite number >= 0, got -1"),
        (lambda: ElasticNet(0, np.inf), "l1 must be a finite number >= 0"),
        (lambda: Group(1, [[0, 1]]), r"groups must hold one label for each weight, shape \(d,\), got shape \(1, 2\)"),
        (lambda: Group(1, [0, 1]).check(3), "groups must name a group for each of the 3 weights, got 2"),
        (lambda: Nuclear(1, (2, 0)), r"shape must be two numbers .* got \(2, 0\)"),
        (lambda: Spectral(1, 4), "shape must be two numbers .* got 4"),
        (lambda: Nuclear(1, (2, 2)).check(3), r"shape \(2, 2\) holds 4 weights, and there are 3"),
        (lambda: Nuclear("a lot", (2, 2)), "mu must be a number, got 'a lot'"),
    ],
)
def test_bad_parameters(make, words):
    with pytest.raises(ProblemError, match=words):
        make()
