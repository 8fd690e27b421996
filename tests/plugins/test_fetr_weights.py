"""The weight step: all ways agree, the certified decrease is right, the gradient has the factor of the errata."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_fetr import (
    BartelsStewart,
    ConjugateGradients,
    Diagonalised,
    FewTasks,
    GradientDescent,
    Kronecker,
    Moments,
    Prior,
    SpectralPrecision,
    SquaredLoss,
    TaskByTask,
    Tridiagonalised,
    WeightEquation,
    solve_weights,
)

from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import DESCENT, solver_for
from matrixlearn.testing.strategies import rotation

seeds = st.integers(0, 2**31 - 2)
sides = st.integers(1, 6)
ALL = (
    Kronecker(),
    Diagonalised(),
    Tridiagonalised(),
    FewTasks(),
    TaskByTask(),
    BartelsStewart(),
    ConjugateGradients(),
    GradientDescent(),
)


def moments(rng, d, m, shared, n=8):
    if shared:
        return Moments.of_shared(rng.standard_normal((n, d)), rng.standard_normal((n, m)))
    code = np.concatenate([np.arange(m), rng.integers(0, m, 5 * m)])
    return Moments.of_tasks(rng.standard_normal((6 * m, d)), rng.standard_normal(6 * m), code, m)


def precision(rng, n, few, low=0.1, high=10.0):
    r = int(rng.integers(0, n)) if few else n
    V = rotation(n, int(rng.integers(2**31)))[:, :r]
    return SpectralPrecision(high, np.exp(rng.uniform(np.log(low), np.log(high), r)), V)


def equation(rng, d, m, shared, few, mean):
    S1, S2 = precision(rng, d, few), precision(rng, m, few)
    form = S2.without_ones() if mean == "shared" else S2
    return WeightEquation(moments(rng, d, m, shared), Prior(S1, S2, 10.0 ** rng.uniform(-1, 1), form))


equations = {
    "seed": seeds,
    "d": sides,
    "m": sides,
    "shared": st.booleans(),
    "few": st.booleans(),
    "mean": st.sampled_from(["zero", "shared"]),
}


@given(**equations)
def test_all_ways_agree_to_1e_10(seed, d, m, shared, few, mean):
    rng = np.random.default_rng(seed)
    e = equation(rng, d, m, shared, few, mean)
    R = e.moments.cross if mean == "zero" or shared else e.apply(rng.standard_normal((d, m)))
    expected = Kronecker()(e, R)
    size = float(np.max(np.abs(expected), initial=1e-3))
    if mean == "shared":
        size *= 100  # no prior holds the mean: it is as ill-conditioned as eight random rows make it
    for solver in ALL[1:]:
        if solver.objection(e) or (solver.name == "gradient-descent" and mean == "shared"):
            continue  # without a prior on the mean gradient descent has no rate
        D = solver(e, R)
        allowed = 1e-10 * size
        if solver.name == "gradient-descent":  # ends at a residual of tol |R|: off by that over the least eigenvalue
            allowed += (
                1e-12 * np.linalg.norm(R) / (e.prior.eta * e.prior.feature.extremes[0] * e.prior.right.extremes[0])
            )
        assert np.max(np.abs(D - expected)) <= allowed, solver.name


@given(seed=seeds, d=sides, m=sides, shared=st.booleans(), mean=st.sampled_from(["zero", "shared"]))
def test_task_by_task_is_the_whole_system_where_no_task_is_coupled(seed, d, m, shared, mean):
    rng = np.random.default_rng(seed)
    S1, S2 = precision(rng, d, True), SpectralPrecision.identity(m, 3.0)
    form = S2.without_ones() if mean == "shared" else S2
    e = WeightEquation(moments(rng, d, m, shared), Prior(S1, S2, 0.7, form))
    assert isinstance(solver_for(e), TaskByTask)
    R = e.apply(rng.standard_normal((d, m)))
    D = TaskByTask()(e, R)
    np.testing.assert_allclose(e.apply(D), R, atol=1e-9 * np.max(np.abs(R)))


@given(**equations)
def test_the_chosen_way_solves_the_equation_and_its_decrease_is_certified(seed, d, m, shared, few, mean):
    """max over D of 2 <R, D> - <D, H D> lies between what was achieved and what is said to be possible at most."""
    rng = np.random.default_rng(seed)
    e = equation(rng, d, m, shared, few, mean)
    R = e.apply(rng.standard_normal((d, m)))
    best = float(np.vdot(R, Kronecker()(e, R)))
    slack = 1e-8 * (1 + best)
    for D in (solver_for(e)(e, R), DESCENT(e, R), 0 * R, rng.standard_normal((d, m))):
        moved, achieved, at_most = e.decrease(R, D)
        assert achieved == pytest.approx(2 * np.vdot(R, moved) - np.vdot(moved, e.apply(moved)), abs=slack * 10)
        assert achieved <= best + slack
        assert best <= at_most + slack
    _, achieved, at_most = e.decrease(R, solver_for(e)(e, R))
    assert best - achieved <= 1e-4 * best + slack


@given(seed=seeds, d=sides, m=sides, shared=st.booleans())
def test_the_gradient_is_twice_what_the_errata_say(seed, d, m, shared):
    """X^T (X W - Y) + eta S1 W S2, by differences of the objective: the paper turns the sign of the first term."""
    rng = np.random.default_rng(seed)
    loss = SquaredLoss(moments(rng, d, m, shared))
    prior = Prior(precision(rng, d, False), precision(rng, m, False), 0.8)
    W, E = rng.standard_normal((d, m)), rng.standard_normal((d, m))
    value = lambda A: loss.value(A) + float(np.vdot(A, prior.apply(A)))
    half = prior.apply(W) - loss.residual(W)
    step = 1e-5
    slope = (value(W + step * E) - value(W - step * E)) / (2 * step)
    assert slope == pytest.approx(2 * np.vdot(half, E), rel=1e-6, abs=1e-6 * (1 + abs(value(W))))


@settings(max_examples=settings().max_examples // 2)
@given(seed=seeds, d=sides, m=sides)
def test_proposition_4_2_has_its_rate_with_half_the_gradient(seed, d, m):
    rng = np.random.default_rng(seed)
    e = WeightEquation(moments(rng, d, m, True), Prior(precision(rng, d, False), precision(rng, m, False), 0.8))
    R = e.moments.cross
    gram = np.linalg.eigvalsh(e.moments.gram)
    (low1, high1), (low2, high2) = e.prior.feature.extremes, e.prior.task.extremes
    least, most = max(gram[0], 0) + 0.8 * low1 * low2, gram[-1] + 0.8 * high1 * high2
    t, rate = GradientDescent.step_length(e), (most - least) / (most + least)
    assert t == pytest.approx(2 / (least + most))
    best, D = Kronecker()(e, R), np.zeros((d, m))
    start = np.linalg.norm(best)
    for k in range(1, 30):
        D = D + t * (R - e.apply(D))
        assert np.linalg.norm(D - best) <= rate**k * start * (1 + 1e-9) + 1e-12 * start


def test_a_shared_mean_takes_the_least_norm_where_features_are_collinear():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 2))
    X = np.column_stack([x, x[:, 0], np.zeros(20)])
    m = 3
    data = Moments.of_shared(X, rng.standard_normal((20, m)))
    S2 = precision(rng, m, False)
    e = WeightEquation(data, Prior(SpectralPrecision.identity(4), S2, 0.5, S2.without_ones()))
    D = solver_for(e)(e, data.cross)
    np.testing.assert_allclose(e.apply(D), data.cross, atol=1e-10)
    np.testing.assert_allclose(D[0], D[2], atol=1e-10)
    np.testing.assert_allclose(D[3], 0.0, atol=1e-12)


def test_what_a_way_cannot_do_it_says():
    rng = np.random.default_rng(0)
    own, coupled = equation(rng, 3, 2, False, False, "zero"), equation(rng, 3, 2, True, False, "shared")
    assert "share their instances" in Diagonalised().objection(own)
    assert "singular" in BartelsStewart().objection(coupled)
    assert "S2 = c I" in TaskByTask().objection(own)


@pytest.mark.parametrize("mean", ["zero", "shared"])
@pytest.mark.parametrize("m", [3, 60])
def test_large_equations_take_another_way_to_the_same_answer(m, mean):
    rng = np.random.default_rng(1)
    d = 130
    S1, S2 = precision(rng, d, True), precision(rng, m, True)
    form = S2.without_ones() if mean == "shared" else S2
    e = WeightEquation(moments(rng, d, m, True, 200), Prior(S1, S2, 0.7, form))
    assert not isinstance(solver_for(e), Diagonalised) or (mean == "shared" and m == 60)
    D, expected = solver_for(e)(e, e.moments.cross), Diagonalised()(e, e.moments.cross)
    np.testing.assert_allclose(D, expected, atol=1e-10 * np.abs(expected).max())


@given(seed=seeds, d=sides, m=sides)
def test_precisions_as_matrices_give_the_same_weights(seed, d, m):
    e = equation(np.random.default_rng(seed), d, m, True, False, "zero")
    W = solve_weights(e.moments.gram, e.prior.feature.dense(), e.prior.task.dense(), e.moments.cross, e.prior.eta)
    np.testing.assert_allclose(W, Kronecker()(e, e.moments.cross), atol=1e-9 * (1 + np.abs(W).max()))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"S1": np.triu(np.ones((3, 3)))}, "S1 must be symmetric"),
        ({"S1": -np.eye(3)}, "S1 that is not"),
        ({"S2": np.zeros((2, 2))}, "S2 that is not"),
        ({"eta": 0.0}, "eta must be positive"),
        ({"cross": np.ones((2, 3))}, r"cross must have shape \(3, 2\)"),
        ({"gram": np.eye(2)}, "gram that of S1"),
        ({"cross": np.full((3, 2), np.nan)}, "NaN"),
    ],
)
def test_bad_matrices_are_named(change, says):
    with pytest.raises(ProblemError, match=says):
        solve_weights(**{"gram": np.eye(3), "S1": np.eye(3), "S2": np.eye(2), "cross": np.ones((3, 2)), **change})
