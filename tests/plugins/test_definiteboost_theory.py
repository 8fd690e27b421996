"""DefiniteBoost against cvxpy and the theorems of its paper (Tsuda, Raetsch and Warmuth, 2005, Section 4)."""

import math
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrixlearn_definiteboost import (
    Algorithm2,
    ApproximateProjections,
    DefiniteBoost,
    ExactProjections,
    MinMaxSDP,
    bisect_theta,
)
from matrixlearn_definiteboost.dual import divided_differences, evaluate, hessian
from matrixlearn_definiteboost.newton import newton_step
from matrixlearn_definiteboost.oracle import MostViolated, closed_form_step, exact_step, log_partition_bound
from scipy.linalg import expm
from scipy.optimize import minimize_scalar

import matrixlearn as ml
from matrixlearn.engines import Limits, MirrorDescent, run
from matrixlearn.oracles import Done, Move

seeds = st.integers(0, 2**32 - 1)


class OutwardExact(ExactProjections):
    """Algorithm 2 with the exact step (4.4)."""

    oracle = MostViolated


def judged_by_cvxpy(program):
    """The optimum, where the solver stands by it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.solve(solver="CLARABEL")
    assume(program.status == "optimal")
    return program.value


def matrices(rng, m, d, complex_entries):
    C = rng.standard_normal((m, d, d))
    return C + 1j * rng.standard_normal((m, d, d)) if complex_entries else C


def sym(C):
    return (C + C.conj().swapaxes(-1, -2)) / 2


def instance(rng, d, m, complex_entries=False, tightness=0.7):
    """Constraints that a random density matrix satisfies strictly, and I/d often does not."""
    C = matrices(rng, m, d, complex_entries)
    A = matrices(rng, 1, d, complex_entries)[0]
    inside = A @ A.conj().T + 0.1 * np.eye(d)
    inside /= np.trace(inside).real
    inside = tightness * inside + (1 - tightness) * np.eye(d) / d
    t = np.einsum("jab,ba->j", sym(C), inside).real
    return C, t + 0.05


def exponent(p, y):
    """log W_1 - sum_j y_j (sym C_j - u_j I), from the definition."""
    S = np.stack([p.family.matrix(j) for j in range(p.m)]) - p.upper[:, None, None] * np.eye(p.d)
    return p.log_initial - np.tensordot(y, S, axes=1)


# -- the optimum --------------------------------------------------------------------------------------


@settings(max_examples=settings().max_examples // 2)
@given(seeds, st.integers(2, 6), st.integers(1, 12), st.booleans())
def test_the_optimum_is_cvxpys(seed, d, m, complex_entries):
    if complex_entries:
        d = min(d, 4)  # twice the size as a real matrix
    C, upper = instance(np.random.default_rng(seed), d, m, complex_entries)
    p = DefiniteBoost(C, upper)
    solution = ml.solve(p, tol=1e-7)
    assert solution.status == "optimal"
    judged = judged_by_cvxpy(p.reference())
    assert solution.value == pytest.approx(judged, abs=1e-4)
    assert solution.value == pytest.approx(judged, rel=1e-4, abs=1e-6)


@given(seeds, st.integers(2, 5), st.integers(1, 8), st.booleans())
def test_all_engines_end_at_one_optimum(seed, d, m, complex_entries):
    C, upper = instance(np.random.default_rng(seed), d, m, complex_entries)
    p = DefiniteBoost(C, upper)
    exact = ml.solve(p, method="corrective", tol=1e-8)
    assert exact.status == "optimal"
    for engine in (
        "definiteboost",
        "bregman",
        "mirror",
        ApproximateProjections(choice="cyclic"),
        ExactProjections(choice="random", seed=3),
    ):
        found = ml.solve(p, method=engine, tol=1e-3, max_iter=4000)
        assert found.lower <= exact.upper and exact.lower <= found.upper
        if found.status == "optimal":
            assert abs(found.value - exact.value) <= 1.1e-3 * max(exact.value, 1e-3 * p.scale)
        else:
            assert found.iterations == 4000


@given(seeds, st.integers(2, 5), st.integers(1, 6))
def test_the_answer_satisfies_the_conditions_of_karush_kuhn_and_tucker(seed, d, m):
    C, upper = instance(np.random.default_rng(seed), d, m, True)
    p = DefiniteBoost(C, upper)
    solution = ml.solve(p, tol=1e-9)
    y, W = solution.y, solution.matrix
    slack = upper - np.einsum("jab,ba->j", sym(C), W).real
    assert np.min(slack) >= -1e-12 * np.abs(C).max() and np.min(y) >= 0
    assert y @ slack == pytest.approx(0, abs=1e-6)
    E = expm(exponent(p, y))
    np.testing.assert_allclose(W, E / np.trace(E).real, atol=1e-4)
    assert np.trace(W).real == pytest.approx(1, abs=1e-12) and np.linalg.eigvalsh(W)[0] > -1e-14


@given(seeds, st.integers(2, 4), st.integers(1, 5))
def test_any_multipliers_prove_a_lower_bound(seed, d, m):
    rng = np.random.default_rng(seed)
    C, upper = instance(rng, d, m)
    p = DefiniteBoost(C, upper)
    optimum = ml.solve(p, tol=1e-8)
    y = rng.exponential(1.0, m) * 10.0 ** rng.uniform(-2, 1)
    lower = ml.certify(p, y=y).lower
    assert lower <= optimum.upper
    M = exponent(p, y)  # (4.9), by another routine
    assert lower == pytest.approx(-math.log(np.trace(expm(M)).real), rel=1e-9, abs=1e-10)


@given(seeds, st.integers(2, 4), st.integers(1, 4), st.sampled_from([1e-8, 1e-3, 1e5, 1e8]))
def test_units_of_the_constraints_do_not_matter(seed, d, m, k):
    C, upper = instance(np.random.default_rng(seed), d, m)
    one, other = ml.solve(DefiniteBoost(C, upper), tol=1e-7), ml.solve(DefiniteBoost(k * C, k * upper), tol=1e-7)
    assert other.status == "optimal"
    assert other.value == pytest.approx(one.value, abs=1e-6)


# -- two-sided, equality, soft -------------------------------------------------------------------------


@settings(max_examples=settings().max_examples // 2)
@given(seeds, st.integers(2, 4), st.integers(2, 5), st.sampled_from(["two-sided", "equality", "soft"]))
def test_other_kinds_of_constraints_are_cvxpys_too(seed, d, m, kind):
    rng = np.random.default_rng(seed)
    C, upper = instance(rng, d, m)
    lower, slack = upper - 0.1, None
    if kind == "equality":
        lower = np.where(np.arange(m) < 1, upper, -np.inf)
    if kind == "soft":
        lower, slack = upper + 0.0, rng.uniform(0.05, 1.0, m)  # m equalities need not hold together
    p = DefiniteBoost(C, upper, lower, slack=slack)
    judged = judged_by_cvxpy(p.reference())
    solution = ml.solve(p, tol=1e-6)
    assert solution.status in ("optimal", "stopped")
    assert solution.lower <= judged + 1e-5 * (1 + abs(judged))
    if kind != "two-sided":
        assert solution.status == "optimal"
    if solution.status == "optimal":
        assert solution.value == pytest.approx(judged, rel=1e-4, abs=1e-5)
    if kind == "soft":
        assert np.all(np.abs(solution.y) <= slack)


def test_a_soft_constraint_of_a_high_price_is_a_hard_one():
    C, upper = instance(np.random.default_rng(5), 4, 5)
    hard = ml.solve(DefiniteBoost(C, upper), tol=1e-8)
    soft = ml.solve(DefiniteBoost(C, upper, slack=2 * hard.y.max()), tol=1e-8)
    assert soft.value == pytest.approx(hard.value, rel=1e-6)
    np.testing.assert_allclose(soft.matrix, hard.matrix, atol=1e-4)


def test_inconsistent_data_have_a_soft_answer_whose_violations_are_priced():
    S = np.diag([1.0, 0.0, 0.0])
    p = DefiniteBoost([S, -S], upper=[0.1, -0.2], slack=5.0)
    solution = ml.solve(p, tol=1e-8)
    assert solution.status == "optimal"
    assert 0.1 - 1e-9 <= solution.matrix[0, 0] <= 0.2 + 1e-9
    assert solution.value == pytest.approx(p.divergence(solution.matrix) + 5 * 0.1, rel=1e-6)


# -- the theorems ---------------------------------------------------------------------------------------


@given(
    seeds,
    st.integers(2, 5),
    st.integers(1, 6),
    st.sampled_from([Algorithm2, ApproximateProjections]),
    st.sampled_from(["most violated", "random"]),
)
def test_the_product_bound_of_theorem_4_1_holds_in_every_round(seed, d, m, kind, choice):
    C, upper = instance(np.random.default_rng(seed), d, m)
    p = DefiniteBoost(C, upper)
    engine = kind(choice=choice, accuracy=1e-3)
    for rounds in (1, 2, 5, 20):
        done = run(engine, p, tol=-1.0, limits=Limits(max_iter=rounds))
        oracle = done.state.oracle
        assert -p.dual_value(oracle.y) <= oracle.log_bound + 1e-9


@given(seeds, st.integers(2, 5), st.integers(1, 6), st.sampled_from([0.3, 0.1, 0.03]), st.booleans())
def test_rounds_are_within_corollary_4_2(seed, d, m, accuracy, exact):
    C, upper = instance(np.random.default_rng(seed), d, m)
    p = DefiniteBoost(C, upper)
    w = np.linalg.eigvalsh(sym(C) - upper[:, None, None] * np.eye(d))
    widest = float(np.max(np.abs(w)))
    engine = (OutwardExact if exact else Algorithm2)(accuracy=accuracy)
    done = run(engine, p, tol=-1.0, limits=Limits(max_iter=10**5))
    assert "within accuracy" in done.ended or f"hold to accuracy = {accuracy:g}" in done.ended
    assert done.iterations - 1 <= 2 * widest**2 * math.log(d) / accuracy**2
    assert np.max(p.violations(done.state.last.X)) <= accuracy


@given(seeds, st.integers(1, 3), st.integers(1, 6), st.booleans())
def test_every_round_makes_the_progress_that_corollary_4_2_counts(seed, half, m, complex_entries):
    """Each raises the dual by r^2 / (2 lambda^2) at least, and the dual never passes ln d: hence the corollary.

    The count alone is far from tight: steps three times too long would pass. With the eigenvalues of every C at +-1, as
    many of each, the bound of a round is nearly attained.
    """
    rng, d = np.random.default_rng(seed), 2 * half
    Q = np.linalg.qr(matrices(rng, m, d, complex_entries))[0]
    C = (Q * np.repeat([1.0, -1.0], half)) @ Q.conj().swapaxes(1, 2)
    A = matrices(rng, 1, d, complex_entries)[0]
    inside = A @ A.conj().T / np.sum(np.abs(A) ** 2)
    upper = np.einsum("jab,ba->j", C, inside).real + 0.01
    p = DefiniteBoost(C, upper)
    oracle, total = MostViolated.of(p, accuracy=1e-4), 0.0
    for _ in range(100):
        X = p.play().exponent(oracle.G)
        r = float(np.max(p.violations(X)))
        answer = oracle(X)
        if isinstance(answer, Done):
            assert r <= 1e-4
            break
        least = r**2 / (2 * (1 + np.max(np.abs(upper))) ** 2)
        assert p.dual_value(answer.y) - p.dual_value(oracle.y) >= least - 1e-12
        oracle, total = answer.then, total + least
    assert total <= math.log(d) + 1e-9


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(-0.99, 0.99))
def test_the_step_is_that_of_the_errata_and_minimizes_the_bound(low, high, share):
    r = share * (high if share > 0 else low)
    alpha = closed_form_step(r, low, high)
    assert alpha == pytest.approx(math.log((1 + r / low) / (1 - r / high)) / (low + high), rel=1e-9, abs=1e-12)
    best = log_partition_bound(alpha, r, low, high)
    rho = (high * math.log(1 - r / high) + low * math.log(1 + r / low)) / (low + high)  # log of (4.7), errata
    assert best == pytest.approx(rho, rel=1e-9, abs=1e-12) and best <= 1e-15
    for nearby in (alpha - 1e-3, alpha + 1e-3):
        assert log_partition_bound(nearby, r, low, high) >= best - 1e-15


@pytest.mark.parametrize(("r", "low", "high"), [(0.5, 0.0, 1.0), (-0.5, 1.0, 0.0), (1.0, 1.0, 1.0), (-1.0, 1.0, 1.0)])
def test_the_closed_form_is_undefined_where_the_errata_say(r, low, high):
    assert closed_form_step(r, low, high) is None


@given(seeds, st.integers(2, 5), st.booleans())
def test_the_exact_step_minimizes_the_partition_function(seed, d, complex_entries):
    rng = np.random.default_rng(seed)
    G, A = (sym(matrices(rng, 1, d, complex_entries)[0]) for _ in range(2))
    A = A - np.trace(A).real / d * np.eye(d)  # the minimum is attained
    alpha = exact_step(G, A, 0.0, -np.inf, np.inf, 1e3)

    def f(a):
        w = np.linalg.eigvalsh(-G - a * A)
        return w[-1] + np.log(np.sum(np.exp(w - w[-1])))

    best = minimize_scalar(f, bracket=(alpha - 1, alpha + 1), tol=1e-12)
    assert f(alpha) <= best.fun + 1e-12 * (1 + abs(best.fun))


@given(seeds, st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_gradient_and_hessian_are_difference_quotients(seed, d, m, complex_entries):
    rng = np.random.default_rng(seed)
    C, upper = instance(rng, d, m, complex_entries)
    if rng.random() < 0.5:
        C[0] = 0  # repeated eigenvalues of the exponent
    p = DefiniteBoost(C, upper, upper - 0.3)
    s = p.sides
    k = len(s.index)
    z, h = rng.uniform(0, 1, k) * (rng.random() < 0.7), 1e-5
    at = evaluate(p, s, z)
    H = hessian(p, s, at, np.arange(k)) * np.outer(s.scale, s.scale)
    for i in range(k):
        step = h * np.eye(k)[i]
        up, down = evaluate(p, s, z + step), evaluate(p, s, z - step)
        assert (up.value - down.value) / (2 * h) == pytest.approx(at.gradient[i], abs=1e-6)
        np.testing.assert_allclose((up.gradient - down.gradient) / (2 * h), H[i], atol=1e-6)


@given(seeds, st.integers(1, 4), st.booleans())
def test_newton_steps_bring_a_matrix_that_satisfies_the_constraints_of_the_model(seed, m, complex_entries):
    rng = np.random.default_rng(seed)
    C, upper = instance(rng, 4, m, complex_entries)
    p = DefiniteBoost(C, upper)
    at = evaluate(p, p.sides, rng.uniform(0, 2, m))
    step = newton_step(p, p.sides, at)
    assume(step.there is not None)
    assert step.there.value <= at.value
    np.testing.assert_array_equal(step.W, step.W.conj().T)
    assert np.trace(step.W).real == pytest.approx(1, abs=1e-9)
    slack = upper - np.einsum("jab,ba->j", sym(C), step.W).real
    assert np.min(slack) >= -1e-8


@given(seeds, st.integers(2, 5), st.integers(1, 3), st.booleans())
def test_the_nearest_matrix_on_equalities_is_on_them_and_nearest(seed, d, m, complex_entries):
    rng = np.random.default_rng(seed)
    C, target = instance(rng, d, m, complex_entries)
    p = DefiniteBoost(C, target - 0.05, target - 0.05)  # what a density matrix has
    W = p.initial_matrix + 0j if complex_entries else p.initial_matrix
    near = p.feasible.on_equalities(W)
    assume(near is not None and m < d)
    S = sym(C)
    np.testing.assert_allclose(np.einsum("jab,ba->j", S, near).real, p.upper, atol=1e-9)
    assert np.trace(near).real == pytest.approx(1, abs=1e-12)
    span = np.stack([*S, np.eye(d)]).reshape(m + 1, -1)  # the way there is a real combination of these
    real = np.concatenate([span.real, span.imag], axis=1)
    way = np.concatenate([(near - W).real.ravel(), (near - W).imag.ravel()])
    assert np.linalg.norm(real.T @ np.linalg.lstsq(real.T, way)[0] - way) <= 1e-9


def test_divided_differences_at_repeated_and_far_eigenvalues():
    w = np.array([-800.0, -1.0, -1.0, -1.0 + 1e-12, 0.0])
    p = np.exp(w - 0.0) / np.exp(w).sum()
    D = divided_differences(w, p)
    assert np.all(np.isfinite(D))
    assert D[1, 2] == p[1] and D[0, 0] == p[0]
    assert D[1, 3] == pytest.approx(p[1], rel=1e-9)
    assert D[1, 4] == pytest.approx((p[4] - p[1]) / (w[4] - w[1]), rel=1e-12)


# -- the other problem ------------------------------------------------------------------------------------


@settings(max_examples=settings().max_examples // 2)
@given(seeds, st.integers(2, 5), st.integers(1, 8), st.booleans())
def test_minmax_is_cvxpys_by_a_program_on_the_matrix(seed, d, m, complex_entries):
    C = matrices(np.random.default_rng(seed), m, d, complex_entries)
    p = MinMaxSDP(C)
    solution = ml.solve(p, tol=1e-6)
    W = cp.Variable((d, d), hermitian=True) if complex_entries else cp.Variable((d, d), symmetric=True)
    real = cp.real if complex_entries else (lambda expression: expression)
    worst = cp.max(cp.hstack([real(cp.trace(S @ W)) for S in sym(C)]))
    judged = judged_by_cvxpy(cp.Problem(cp.Minimize(worst), [W >> 0, real(cp.trace(W)) == 1]))
    low, high = p.theta_bounds(solution)
    slack = 1e-6 * p.scale
    assert low - slack <= judged <= high + slack
    assert p.theta(solution) == pytest.approx(judged, abs=1e-4 * p.scale)


@given(seeds, st.integers(1, 4), st.integers(1, 5))
def test_bisection_on_theta_agrees_and_proves_both_ends(seed, d, m):
    C = matrices(np.random.default_rng(seed), m, d, False)
    p = MinMaxSDP(C)
    found, game = bisect_theta(p, tol=1e-3), ml.solve(p, tol=1e-7)
    low, high = p.theta_bounds(game)
    slack = 1e-6 * p.scale
    assert found.low <= high + slack and low <= found.high + slack
    assert found.high - found.low <= 2e-3 * p.scale
    assert np.max(p.game.A.adjoint(found.matrix)) <= found.high + 1e-12 * p.scale
    if found.y is not None:  # the multipliers prove it: the dual at theta = low passes ln d
        M = -np.log(d) * np.eye(d) - np.tensordot(found.y, sym(C) - found.low * np.eye(d), axes=1)
        w = np.linalg.eigvalsh(M)
        assert -(w[-1] + np.log(np.sum(np.exp(w - w[-1])))) > math.log(d)


# -- infeasible ---------------------------------------------------------------------------------------------


def proof_of_infeasibility(C, upper, W_1, y):
    """-log tr exp(log W_1 - sum_j y_j (S_j - u_j)) > -log lambda_min(W_1), by nothing of the library."""
    w, V = np.linalg.eigh(W_1)
    M = (V * np.log(w)) @ V.conj().T - np.tensordot(y, sym(C) - upper[:, None, None] * np.eye(len(W_1)), axes=1)
    e = np.linalg.eigvalsh(M)
    return np.all(y >= 0) and -(e[-1] + np.log(np.sum(np.exp(e - e[-1])))) > -math.log(w[0])


@given(
    seeds, st.integers(1, 5), st.integers(1, 6), st.sampled_from(["corrective", "barrier", "definiteboost", "bregman"])
)
def test_an_infeasible_problem_ends_with_multipliers_that_prove_it(seed, d, m, method):
    rng = np.random.default_rng(seed)
    C = matrices(rng, m, d, bool(rng.random() < 0.5))
    game = MinMaxSDP(C)
    theta = game.theta_bounds(ml.solve(game, tol=1e-6))[0]
    upper = np.full(m, theta - 0.05 * game.scale)  # lower than any density matrix has its worst constraint
    solution = ml.solve(DefiniteBoost(C, upper), method=method, max_iter=50_000)
    assert solution.status == "infeasible"
    assert solution.matrix is None and solution.value == math.inf
    assert proof_of_infeasibility(C, upper, np.eye(d) / d, solution.y)
    solution.certificate.verify()


def test_infeasible_around_another_initial_matrix():
    W_1 = np.diag([0.7, 0.2, 0.1])
    C = np.stack([np.diag([1.0, 0, 0]), np.diag([-1.0, 0, 0])])
    upper = np.array([0.1, -0.2])
    solution = ml.solve(DefiniteBoost(C, upper, initial=W_1))
    assert solution.status == "infeasible"
    assert proof_of_infeasibility(C, upper, W_1, solution.y)


def test_a_feasible_problem_whose_optimum_is_the_largest_divergence_is_not_infeasible():
    solution = ml.solve(DefiniteBoost([np.diag([1.0, 0.0, -1.0])], upper=-1.0))  # W = e_3 e_3^T only
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(math.log(3))


def test_the_plain_mirror_engine_starts_at_the_initial_matrix():
    W_1 = np.diag([0.7, 0.2, 0.1])
    p = DefiniteBoost([np.diag([1.0, 0, 0])], upper=0.9, initial=W_1)
    first = run(MirrorDescent(), p, tol=-1.0, limits=Limits(max_iter=1)).state.last.X
    np.testing.assert_allclose(first, W_1, atol=1e-14)


@given(seeds, st.integers(1, 5))
def test_the_initial_matrix_and_its_logarithm_are_those_given(seed, d):
    C, W, _ = matrices(np.random.default_rng(seed), 3, d, True)
    W = W @ W.conj().T + 0.1 * np.eye(d)
    p = DefiniteBoost([C], initial=W / np.trace(W).real)
    np.testing.assert_allclose(p.initial_matrix, W / np.trace(W).real, atol=1e-12)
    np.testing.assert_allclose(expm(p.log_initial), p.initial_matrix, atol=1e-10)


@given(seeds, st.integers(2, 4), st.integers(1, 5))
def test_the_log_bound_adds_up_the_bounds_of_all_steps(seed, d, m):
    """Theorem 4.1: sum_t log of (E.1) at the step, r and range of each round."""
    p = DefiniteBoost(*instance(np.random.default_rng(seed), d, m))
    oracle, exponent = MostViolated.of(p), p.play().exponent
    G, expected = oracle.G, oracle.log_bound
    for _ in range(5):
        X = exponent(G)
        move = oracle(X)
        if not isinstance(move, Move):
            break
        j = int(np.flatnonzero(move.y - oracle.y)[0])
        c, w = p.upper[j], np.linalg.eigvalsh(move.loss)
        r, low, high = float(np.sum(move.loss * X)) - c, c - w[0], w[-1] - c
        share = (low + r) / (low + high)
        expected += np.log(share * np.exp(-move.step * high) + (1 - share) * np.exp(move.step * low))
        G, oracle = exponent.accumulate(G, move.loss, move.step), move.then
        assert oracle.log_bound == pytest.approx(expected, abs=1e-9)
