"""The errata of the report on empirical risk minimisation: what is printed fails here, what the code does holds."""

import cvxpy as cp
import numpy as np
import pytest
from matrixlearn_erm import ERM, SDCA, SVRG, Katyusha

import matrixlearn as ml
from matrixlearn.losses import Logistic, Square
from matrixlearn.penalties import ElasticNet


@pytest.fixture(scope="module")
def lasso():
    """X, y, the weight of the norm, and Clarabel's optimum."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 8))
    y = X[:, :3] @ np.array([1.0, -2.0, 1.5]) + 0.3 * rng.standard_normal(12)
    weight, beta = 2.0, cp.Variable(8)
    optimum = cp.Problem(cp.Minimize(cp.sum_squares(y - X @ beta) / 2 + weight * cp.norm1(beta))).solve(
        solver="CLARABEL"
    )
    return X, y, weight, optimum


def test_a_problem_that_is_not_convex_has_a_concave_dual_and_here_no_gap():
    """E29. min x'Qx over ||x|| = 1: the dual, l where Q - l I >= 0 and else -inf, is concave; both optima are equal."""
    rng = np.random.default_rng(0)
    G = rng.standard_normal((6, 6))
    Q = G + G.T
    assert np.linalg.eigvalsh(Q)[0] < 0 < np.linalg.eigvalsh(Q)[-1]  # not convex, and the equality not affine
    dual = cp.Variable()
    best = cp.Problem(cp.Maximize(dual), [Q - dual * np.eye(6) >> 0]).solve(solver="CLARABEL")
    assert best == pytest.approx(float(np.linalg.eigvalsh(Q)[0]), abs=1e-6)


def test_a_conjugate_is_a_supremum():
    """E30. <Kx, y> - f(Kx) at some x is below f*(y), and equal only where y = f'(Kx)."""
    for loss in (Square(), Logistic()):
        p, y = np.linspace(-4, 4, 81), -0.3
        printed = y * p - loss.value(p, 1.0)
        assert np.all(printed <= loss.conjugate(y, 1.0) + 1e-12)
        assert np.min(printed) < loss.conjugate(y, 1.0) - 0.5
        grid = np.linspace(-10, 10, 200_001)
        assert np.max(y * grid - loss.value(grid, 1.0)) == pytest.approx(float(loss.conjugate(y, 1.0)), abs=1e-6)


def test_the_dual_of_sdca_is_maximised():
    """E30. D, labelled primal beside a "minimize", is below P everywhere and meets it at the optimum."""
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((20, 3)), rng.choice([-1.0, 1.0], 20)
    problem = ERM(A, b, "hinge", ElasticNet(0.1))
    for _ in range(20):
        y = -b * rng.random(20)
        # (1/n) sum -phi*(-alpha) - lambda/2 ||sum alpha x / lambda n||^2, alpha = -y
        D = -np.mean(problem.loss.conjugate(y, b)) - 0.1 / 2 * float(np.sum((A.T @ -y / (0.1 * 20)) ** 2))
        x = rng.standard_normal(3)
        assert problem.value_at(A @ x, x) >= D
        assert pytest.approx(problem.bound_from_vector(y).lower, abs=1e-12) == D or D < 0
    found = ml.solve(problem, tol=1e-8)
    assert found.upper - found.lower < 1e-8


def test_pdhg_with_the_proximal_maps_of_unit_step_stays_at_zero(lasso):
    """E31. prox_{f*} and prox_g for prox_{s f*} and prox_{t g}: the lasso's threshold is never passed."""
    X, y, weight, optimum = lasso
    s = t = 0.9 / np.linalg.norm(X, 2)
    f, g = Square(), ElasticNet(l1=weight)

    def run(dual_step, primal_step):
        beta, ahead, u = np.zeros(8), np.zeros(8), np.zeros(12)
        for _ in range(3000):
            u = f.prox_conjugate(u + s * (X @ ahead), dual_step, y)
            new = g.prox(beta - t * (X.T @ u), primal_step)
            ahead, beta = 2 * new - beta, new
        return beta

    printed, right = run(1.0, 1.0), run(s, t)
    value = lambda beta: float(np.sum((y - X @ beta) ** 2) / 2 + weight * np.sum(np.abs(beta)))
    assert value(right) == pytest.approx(optimum, rel=1e-6)
    assert value(printed) > 1.05 * optimum
    found = ml.solve(ERM(X, y, "square", ElasticNet(l1=weight / 12)), method="chambolle-pock", tol=1e-7)
    assert found.value * 12 == pytest.approx(optimum, rel=1e-6)


def test_moreaus_identity_at_a_step():
    """E31. x - prox_h(x) is prox_{h*}(x) at the step 1 only; prox_{s h*}(x) = x - s prox_{h/s}(x/s)."""
    loss, x, s = Logistic(), np.linspace(-2, 2, 9), 0.3
    right = loss.prox_conjugate(x, s, 1.0)
    np.testing.assert_allclose(x - s * loss.prox(x / s, 1 / s, 1.0), right, atol=1e-12)
    np.testing.assert_allclose(x - loss.prox(x, 1.0, 1.0), loss.prox_conjugate(x, 1.0, 1.0), atol=1e-12)
    assert np.max(np.abs(x - loss.prox(x, 1.0, 1.0) - right)) > 0.1


def test_which_lasso_dual_has_the_optimum(lasso):
    """E32. The maximum of (13.6), which is (13.8), is the lasso's optimum; the minimum of (13.7) is not."""
    X, y, weight, optimum = lasso
    u = cp.Variable(12)
    feasible = [cp.norm_inf(X.T @ u) <= weight]
    of_8 = cp.Problem(cp.Maximize((y @ y - cp.sum_squares(y - u)) / 2), feasible).solve(solver="CLARABEL")
    of_7 = cp.Problem(cp.Minimize(cp.sum_squares(y - u) / 2), feasible).solve(solver="CLARABEL")
    assert of_8 == pytest.approx(optimum, rel=1e-6)
    assert abs(of_7 - optimum) > 0.1
    ours = ERM(X, y, "square", ElasticNet(l1=weight / 12)).bound_from_vector(-u.value).lower
    assert 12 * ours == pytest.approx(optimum, rel=1e-5)


def epochs(engine, ridge, error, n=200, d=15):
    """Epochs to P - P* <= error (1.6 of the design: unit rows)."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, d))
    A /= np.linalg.norm(A, axis=1)[:, None]
    b = np.sign(A @ (3 * rng.standard_normal(d)) + 0.3 * rng.standard_normal(n))
    problem = ERM(A, b, "square", ElasticNet(ridge))
    optimum = ml.solve(problem, method="newton-cg", tol=1e-13).upper
    reached = lambda event: event.upper <= optimum + error
    return ml.solve(problem, method=engine, tol=1e-13, max_iter=5000, callback=reached).iterations


def test_sdca_is_linear_where_psi_is_strongly_convex_and_f_smooth():
    """E33. Printed L^2 / sigma eps, as for SGD: 1e5 times the epochs for 1e-9 as for 1e-4; log(1 / eps) is right."""
    few, many = epochs(SDCA(batch=2), 1e-2, 1e-4), epochs(SDCA(batch=2), 1e-2, 1e-9)
    assert many <= 4 * few
    few, many = epochs(SVRG(batch=1), 1e-2, 1e-4), epochs(SVRG(batch=1), 1e-2, 1e-9)
    assert many <= 4 * few


def test_katyusha_goes_with_the_root_of_the_condition():
    """E33. Printed n + L / sigma: 16 times kappa >> n would need 13 times the epochs; its root needs 4 times."""
    few, many = epochs(Katyusha(batch=1), 1 / 3200, 1e-7), epochs(Katyusha(batch=1), 1 / 51200, 1e-7)
    assert many <= 5 * few
