"""The laws of a loss: Fenchel and Young, Moreau, cvxpy as the judge of conjugates and proximal maps."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import (
    LOSSES,
    Absolute,
    Hinge,
    Huber,
    Logistic,
    SmoothedHinge,
    Square,
    SquaredHinge,
    loss_named,
)

EVERY = [
    Square(), Square(2.0), Huber(0.3), Absolute(), Logistic(), Hinge(), SmoothedHinge(0.5), SquaredHinge(),
]  # fmt: skip
SIGNS = (Logistic, Hinge, SmoothedHinge, SquaredHinge)


def drawn(loss, rng, n, spread=2.0):
    """Predictions, labels, and multipliers in the domain."""
    p = spread * rng.standard_normal(n)
    b = rng.choice([-1.0, 1.0], n) if isinstance(loss, SIGNS) else rng.standard_normal(n)
    lower, upper = np.broadcast_arrays(*loss.domain(b), b)[:2]
    y = rng.uniform(np.maximum(lower, -3), np.minimum(upper, 3))
    return p, b, y


@pytest.mark.parametrize("loss", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([0.01, 1.0, 100.0]))
def test_fenchel_and_young(loss, seed, spread):
    """f(p) + f*(y) >= y p, with equality where y = f'(p); f' is L-Lipschitz and m-strongly monotone."""
    p, b, y = drawn(loss, np.random.default_rng(seed), 20, spread)
    value, slope = loss.value(p, b), loss.gradient(p, b)
    size = 1 + np.abs(value) + np.abs(p)
    assert np.all(value >= 0)
    assert np.all(value + loss.conjugate(y, b) >= y * p - 1e-13 * size)
    np.testing.assert_allclose((value + loss.conjugate(slope, b) - slope * p) / size**2, 0, atol=1e-13)
    lower, upper = loss.domain(b)
    assert np.all((lower <= slope) & (slope <= upper))
    q = p + np.random.default_rng(seed).standard_normal(20)
    rise, run = loss.gradient(q, b) - slope, q - p
    assert np.all(rise * run >= loss.strong_convexity * run**2 - 1e-9 * size)
    if np.isfinite(loss.smoothness):
        assert np.all(np.abs(rise) <= loss.smoothness * np.abs(run) + 1e-12 * size)
        assert np.all(loss.curvature(p, b) <= loss.smoothness * (1 + 1e-12))


@pytest.mark.parametrize("loss", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-6, 6))
def test_moreau(loss, seed, exponent):
    """p = prox of s f at p + s prox of f* / s at p / s, and each is optimal: (p - u) / s is a subgradient at u."""
    p, b, _ = drawn(loss, np.random.default_rng(seed), 20)
    step = 10.0**exponent
    u, z = loss.prox(p, step, b), loss.prox_conjugate(p / step, 1 / step, b)
    np.testing.assert_allclose(u + step * z, p, rtol=1e-12, atol=1e-12 * (1 + step))
    np.testing.assert_array_less(0, 1 + 0 * loss.conjugate(z, b))  # finite: z is in the domain
    gap = loss.value(u, b) + loss.conjugate(z, b) - u * z
    assert np.all(np.abs(gap) <= 1e-11 * (1 + np.abs(u * z) + np.abs(loss.value(u, b))))


@pytest.mark.parametrize("loss", EVERY, ids=str)
@given(seed=st.integers(0, 2**32 - 1))
def test_cvxpy_agrees(loss, seed):
    """Value, conjugate and both proximal maps, against cvxpy."""
    rng = np.random.default_rng(seed)
    p, b, y = drawn(loss, rng, 4)
    step = 10.0 ** rng.uniform(-1, 1)
    u = cp.Variable(4)
    f = cp.sum(loss.as_cvxpy(u, b))
    u.value = p
    assert f.value == pytest.approx(float(np.sum(loss.value(p, b))), rel=1e-9, abs=1e-9)
    supremum = cp.Problem(cp.Maximize(y @ u - f)).solve(solver=cp.CLARABEL)
    assert supremum == pytest.approx(float(np.sum(loss.conjugate(y, b))), rel=1e-6, abs=1e-6)
    least = cp.Problem(cp.Minimize(step * f + cp.sum_squares(u - p) / 2)).solve(solver=cp.CLARABEL)
    at = loss.prox(p, step, b)
    assert least == pytest.approx(float(np.sum(step * loss.value(at, b) + (at - p) ** 2 / 2)), rel=1e-6, abs=1e-6)
    # min of s f*(z) + (z - y)^2 / 2 = y^2 / 2 - min of f(u) / s ... at u = y / s, Moreau's decomposition of the square
    q = 3 * y
    z = loss.prox_conjugate(q, step, b)
    envelope = cp.Problem(cp.Minimize(f + step * cp.sum_squares(u - q / step) / 2)).solve(solver=cp.CLARABEL)
    ours = float(np.sum(loss.conjugate(z, b) + (z - q) ** 2 / (2 * step)))
    assert ours + envelope == pytest.approx(float(q @ q) / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("loss", EVERY, ids=str)
def test_curvature_is_the_slope_of_the_gradient(loss):
    p, b, _ = drawn(loss, np.random.default_rng(0), 50)
    h = 1e-6
    slope = (loss.gradient(p + h, b) - loss.gradient(p - h, b)) / (2 * h)
    smooth = np.abs(p - b) > 1e-3 if loss.smoothness == np.inf else np.ones(50, bool)
    np.testing.assert_allclose(loss.curvature(p, b)[smooth], slope[smooth], atol=1e-6)


@pytest.mark.parametrize("loss", EVERY, ids=str)
@given(where=st.floats(0.001, 0.999), b=st.sampled_from([-1.0, 1.0]))
def test_the_derivative_of_the_conjugate_inverts_the_gradient(loss, where, b):
    """f'((f*)'(y)) = y where f is smooth, and (f*)'' is the slope of (f*)'."""
    lower, upper = (float(end) for end in loss.domain(b))
    least, most = max(lower, -3.0), min(upper, 3.0)
    y = np.array([least + (most - least) * where])
    p = loss.inverse(y, upper - y, y - lower, b)
    if np.isfinite(loss.smoothness):
        np.testing.assert_allclose(loss.gradient(p, b), y, atol=1e-12)
    np.testing.assert_allclose(loss.value(p, b) + loss.conjugate(y, b), y * p, atol=1e-12)
    h = 1e-8
    ahead, behind = (loss.inverse(y + s, upper - y - s, y + s - lower, b) for s in (h, -h))
    np.testing.assert_allclose(
        (ahead - behind) / (2 * h), loss.inverse_slope(y, upper - y, y - lower), rtol=1e-4, atol=1e-4
    )


def test_the_conjugate_is_infinite_outside_of_its_domain():
    for loss in EVERY:
        if isinstance(loss, SIGNS):
            assert loss.conjugate(0.5, 1.0) == np.inf
            assert np.isfinite(loss.conjugate(0.5, -1.0))


def test_the_logistic_loss_far_out():
    """No overflow and no loss of digits: f* near the ends, and proximal maps of predictions of size 1e8."""
    loss = Logistic()
    assert loss.conjugate(-1e-20, 1.0) == pytest.approx(1e-20 * np.log(1e-20) - 1e-20, rel=1e-14)
    assert loss.prox(-1e8, 1.0, 1.0) == pytest.approx(-1e8 + 1, rel=1e-15)
    assert loss.prox_conjugate(1e8, 1e-3, 1.0) <= 0
    assert loss.value(1e4, -1.0) == 1e4


def test_losses_by_name():
    for name, make in LOSSES.items():
        assert make().name == name
        assert loss_named(name) == make()
    for loss in EVERY:
        assert loss_named(str(loss)) == loss
        assert loss_named(loss) is loss
    with pytest.raises(ProblemError, match=r"loss must be one of .*'huber'.*got 'hubris'"):
        loss_named("hubris")
    with pytest.raises(ProblemError, match=r"loss must be one of .* or a Loss, got 3"):
        loss_named(3)
    with pytest.raises(ProblemError, match=r"huber\(parameter=1.0\), got 'huber' and gamma"):
        loss_named("huber", gamma=1)
    for text in ("huber(0.5)", "huber(delta=", "huber(delta=open)"):
        with pytest.raises(ProblemError, match="loss must be a name with its parameters"):
            loss_named(text)


@pytest.mark.parametrize(("make", "name"), [(Huber, "delta"), (SmoothedHinge, "gamma"), (Square, "weight")])
@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan, "1", None])
def test_parameters_are_positive_numbers(make, name, value):
    with pytest.raises(ProblemError, match=f"{name} must be"):
        make(value)


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), SmoothedHinge(), SquaredHinge()], ids=str)
def test_classes_are_signs(loss):
    with pytest.raises(ProblemError, match=rf"y must hold labels -1 and 1 for the {loss.name} loss, got \[0.0, 1.0\]"):
        loss.check_labels(np.array([0.0, 1.0]))
