"""SA-DA: the gradient, the smoothness, the rate and the accuracy that its theory promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Incumbent, SmoothApproximation
from matrixlearn.engines.sa_da import quadratic_minimizer, smooth_norm
from matrixlearn.linalg import inner
from matrixlearn.sets import KnapsackSet
from matrixlearn.testing.laws.engine import Opaque
from matrixlearn.testing.reference import optimum

seeds = st.integers(0, 2**32 - 1)
ENGINE = SmoothApproximation()


def gaussian(m=30, n=40, N=6, seed=0):
    rng = np.random.default_rng(seed)
    return Discrepancy(rng.standard_normal((m, N)) + 0.5, 1.5 * rng.standard_normal((n, N)))


@given(seed=seeds, p=st.sampled_from([1.0, 2.0, 7.5, 60.0]))
def test_the_smoothed_norm_its_bounds_and_its_derivative(seed, p):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    F, D = rng.standard_normal((2, n, n))
    F, D, h = F + F.T, D + D.T, 1e-6
    value, slope = smooth_norm(F, p)
    half = np.linalg.norm(F, 2) ** 2 / 2
    assert half * (1 - 1e-12) <= value <= n ** (1 / p) * half * (1 + 1e-12)
    change = (smooth_norm(F + h * D, p)[0] - smooth_norm(F - h * D, p)[0]) / (2 * h)
    assert change == pytest.approx(inner(slope, D), rel=1e-4, abs=1e-5)


@given(seed=seeds, p=st.sampled_from([1.0, 3.0, 40.0]), size=st.sampled_from([1e-3, 1.0, 30.0]))
def test_it_is_smooth_in_the_frobenius_norm(seed, p, size):
    """G(F + D) <= G(F) + <G'(F), D> + (2p - 1)/2 ||D||_F^2, and G is convex."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    F, D = rng.standard_normal((2, n, n))
    F, D = F + F.T, size * (D + D.T)
    value, slope = smooth_norm(F, p)
    moved = smooth_norm(F + D, p)[0]
    linear = value + inner(slope, D)
    allowance = 1e-10 * (1 + abs(moved) + abs(value))
    assert linear - allowance <= moved <= linear + (2 * p - 1) / 2 * np.sum(D * D) + allowance


@given(seed=seeds, cap=st.booleans())
def test_the_quadratic_program_is_solved_to_its_optimality_conditions(seed, cap):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    B = rng.standard_normal((int(rng.integers(1, m + 1)), m))
    H, g = B.T @ B, rng.standard_normal(m)
    Y = KnapsackSet.simplex(m, 1.5 / m if cap else np.inf)
    z = quadratic_minimizer(H, g, Y)
    slope = H @ z + g
    assert slope @ z - Y.minimize(slope)[0] <= 1e-7 * (1 + np.abs(slope).max())  # no feasible direction descends


@given(seed=seeds, k=st.integers(1, 8))
def test_the_rate_is_that_of_the_theory(seed, k):
    problem = Discrepancy.random(np.random.default_rng(seed))
    if ENGINE.objection(problem):
        return
    state = ENGINE.init(problem.game, Incumbent(problem))
    for _ in range(k):
        state = ENGINE.step(problem.game, state, Incumbent(problem))
    best = ml.solve(problem, "interior-point", tol=1e-8).y
    moved = best - state.first
    value = smooth_norm(problem.game.image(state.proposals[-1].y), state.p)[0]
    at_best = smooth_norm(problem.game.image(best), state.p)[0]  # an upper bound of min G: the bound holds for each y
    allowed = 2 * (2 * state.p - 1) * float(moved @ state.J @ moved) / (k * (k + 1))
    assert value <= at_best + allowed + 1e-8 * problem.scale**2


@pytest.mark.parametrize("epsilon", [0.5, 0.1])
def test_the_minimizer_is_as_good_as_p_is_chosen_for(epsilon):
    problem = gaussian(12, 20, 4)
    solution = ml.solve(problem, SmoothApproximation(epsilon, None), tol=1e-9, max_iter=400)
    exact = ml.solve(problem, tol=1e-9)
    assert exact.upper <= solution.upper * (1 + 1e-8) <= (1 + epsilon) * exact.upper


def test_the_bounds_hold_the_optimum(instances, hold_the_law):
    able = [pair for pair in instances[:30] if ENGINE.name in ml.methods(pair[0])]
    hold_the_law(ENGINE, able, 1e-3, 100)


def test_ten_iterations_as_in_the_original():
    solution = ml.solve(gaussian(), "sa-da", tol=1e-6)
    assert solution.iterations == 10 and solution.status == "stopped"
    assert "10 iterations" in solution.explain()
    judge = optimum(gaussian())
    assert solution.lower <= judge.value + judge.error and judge.value - judge.error <= solution.upper
    assert solution.upper < gaussian().uniform_value()


def test_what_it_cannot_play_is_refused():
    assert "norm" in ENGINE.objection(ml.registered_problems()["maxcut"](np.ones((3, 3)) - np.eye(3)))
    assert "plays games" in ENGINE.objection(Opaque())
    assert "interior" in ENGINE.objection(Discrepancy(np.eye(3), np.ones((2, 3)), max_weight=1.0))


def test_the_first_points_are_those_of_nesterovs_recursion():
    """v_k, w_k and u_{k+1} of the module, each step a quadratic program that cvxpy solves."""
    import cvxpy as cp

    problem, engine = gaussian(m=4, n=6, N=3), SmoothApproximation(epsilon=0.5)
    game = problem.game
    A = np.stack([game.A.matrix(j) for j in range(4)])
    J = np.einsum("iab,jab->ij", A, A)
    p = max(1.0, 1.5 * np.log(3) / 0.5)
    L, root = 2 * p - 1, np.linalg.cholesky(J + 1e-12 * np.trace(J) * np.eye(4)).T

    def nearest(center, slope):
        """argmin over the simplex of L/2 ||z - center||_J^2 + slope.z."""
        z = cp.Variable(4)
        objective = L / 2 * cp.sum_squares(root @ (z - center)) + slope @ z
        cp.Problem(cp.Minimize(objective), [z >= 0, cp.sum(z) == 1]).solve(solver="CLARABEL")
        return z.value

    first = nearest(np.zeros(4), np.zeros(4))
    u, gradients, state = first, np.zeros(4), engine.init(game, Incumbent(problem))
    for k in range(4):
        np.testing.assert_allclose(state.u, u, atol=1e-5)
        slope = smooth_norm(game.C - np.tensordot(u, A, axes=1), p)[1]
        gradient = -np.einsum("jab,ab->j", A, slope)
        gradients = gradients + (k + 1) / 2 * gradient
        v, w = nearest(u, gradient), nearest(first, gradients)
        u = 2 / (k + 3) * w + (k + 1) / (k + 3) * v
        state = engine.step(game, state, Incumbent(problem))
        np.testing.assert_allclose(state.proposals[0].y, v, atol=1e-5)
