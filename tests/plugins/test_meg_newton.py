"""The batch engine of MEG: cvxpy's optimum for every loss, the three forms of its linear system, corners, units."""

import warnings

import cvxpy as cp
import matrixlearn_meg.systems as systems
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matrixlearn_meg import MEGRegression
from matrixlearn_meg.orthogonal import Orthogonal
from matrixlearn_meg.stacks import DenseStack, DyadStack, from_coordinates, to_coordinates
from random_matrices import density

import matrixlearn as ml
from matrixlearn.losses import LOSSES
from matrixlearn.testing.asserts import assert_density
from matrixlearn.testing.strategies import rotated

seeds = st.integers(0, 2**32 - 1)


def instances(rng, T, d, dyads, complex_entries):
    X = rng.standard_normal((T, d) if dyads else (T, d, d))
    return X + 1j * rng.standard_normal(X.shape) if complex_entries else X


def of_margin(loss):
    return loss == "logistic" or "hinge" in loss


def problem_of(rng, d, T, loss, dyads=False, complex_entries=False, noise=0.3):
    X = instances(rng, T, d, dyads, complex_entries)
    y = MEGRegression(X, np.zeros(T)).predict(density(rng, d, complex_entries)) + noise * rng.standard_normal(T)
    return MEGRegression(X, np.where(y > 0, 1.0, -1.0) if of_margin(loss) else y, loss, 0.4)


def judged(problem):
    """An independent model of the same optimum."""
    X, y, T = problem.X, problem.y, len(problem.y)
    matrices = X[:, :, None] * X.conj()[:, None, :] if X.ndim == 2 else X
    W = cp.Variable((problem.d, problem.d), hermitian=True)
    p = cp.real(matrices.reshape(T, -1) @ cp.vec(W, order="F"))  # tr(X_t W), X_t by rows and W by columns
    objective = {
        "square": lambda: cp.sum_squares(p - y),
        "absolute": lambda: cp.sum(cp.abs(p - y)),
        "huber": lambda: cp.sum(cp.huber(p - y, 0.4)) / 2,
        "logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, p))),
        "hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(y, p))),
        "smoothed-hinge": lambda: cp.sum(cp.huber(cp.pos(1 - cp.multiply(y, p)), 1.0)) / 2,
        "squared-hinge": lambda: cp.sum_squares(cp.pos(1 - cp.multiply(y, p))) / 2,
    }[problem.loss.name]()
    program = cp.Problem(cp.Minimize(objective / T), [W >> 0, cp.real(cp.trace(W)) == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a judge that says "inaccurate" is not heard
        optimum = program.solve(solver="CLARABEL")
    assume(program.status == "optimal")
    return optimum


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=seeds, complex_entries=st.booleans(), dyads=st.booleans(), small=st.sampled_from([0, systems.SMALL]))
def test_every_loss_against_cvxpy(loss, seed, complex_entries, dyads, small):
    """The optimum to 1e-6, and a certified gap of 1e-7, on either side of the linear system."""
    rng = np.random.default_rng(seed)
    d, T = int(rng.integers(2, 5)), int(rng.integers(2, 30))
    problem = problem_of(rng, d, T, loss, dyads, complex_entries)
    tol = 1e-7
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systems, "SMALL", small)
        solution = ml.solve(problem, tol=tol)
    assert solution.status == "optimal" and solution.iterations <= 40
    optimum = judged(problem)
    slack = 1e-6 * abs(optimum) + 1e-7 * problem.scale  # the judge's own
    assert solution.lower <= optimum + slack
    assert abs(solution.value - optimum) <= slack + tol * max(abs(optimum), 1e-3 * problem.scale)
    assert_density(solution.matrix)
    assert np.iscomplexobj(solution.matrix) == complex_entries


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=seeds)
def test_the_tightest_gap(loss, seed):
    """1e-8, also where labels without noise leave a corner at every instance, and u is not unique."""
    rng = np.random.default_rng(seed)
    d, T, noise = int(rng.integers(2, 7)), int(rng.integers(1, 60)), rng.choice([0.0, 1.0])
    problem = problem_of(rng, d, T, loss, rng.random() < 0.5, rng.random() < 0.3, noise)
    assert ml.solve(problem, tol=1e-8).status == "optimal"


@given(seeds, st.booleans(), st.booleans())
def test_the_three_forms_of_the_system_solve_it(seed, dyads, complex_entries):
    """w + F^T du = M and du = beta (F w + h), by instances, by coordinates, with stiff ones apart, unformed."""
    rng = np.random.default_rng(seed)
    d, T = int(rng.integers(1, 5)), int(rng.integers(1, 40))
    X = instances(rng, T, d, dyads, complex_entries)
    stack = DyadStack(X) if dyads else DenseStack((X + np.conj(np.swapaxes(X, 1, 2))) / 2)
    R = instances(rng, d, d, True, complex_entries)
    beta = 10 ** rng.uniform(-3, 0, T)
    beta[rng.random(T) < 0.3] *= 1e4
    h, M = rng.standard_normal(T), rotated(rng.standard_normal(d), 1, complex_entries)
    stiff = np.flatnonzero(beta > 1)
    forms = [
        systems.system_at(stack, R, beta),
        systems.Mixed.of(stack, R, beta, stiff),
        systems.Mixed.of(stack, R, beta, stiff[:0]),
        systems.Unformed(stack, R, np.sqrt(beta)),
    ]
    b = np.sqrt(beta)
    right = b * (h + stack.adjoint(R @ M @ R.conj().T))
    condition = 1 + np.max(np.linalg.eigvalsh(b[:, None] * stack.gram(R) * b))
    for form in forms:
        du = form.multipliers(M, h)
        w = M - R.conj().T @ stack.apply(du) @ R
        error = b * (stack.adjoint(R @ w @ R.conj().T) + h) - du / b
        # eps cond by instances; by coordinates an error eps cond |w| of w, |w| <= |M| + |b h|, comes out times |b F|
        eps = 50 * np.finfo(float).eps
        accuracy = {systems.ByInstances: eps * condition, systems.Mixed: eps * condition**1.5}.get(type(form), 1e-6)
        size = np.linalg.norm(right) + np.linalg.norm(M) + np.linalg.norm(b * h)
        assert np.linalg.norm(error) <= accuracy * size


@given(seeds, st.booleans(), st.booleans(), st.floats(0, 14))
def test_the_orthogonal_factorization_solves_it_however_large_beta_is(seed, dyads, complex_entries, power):
    """Both equations, to rounding of the least-squares problem: no condition number in the second."""
    rng = np.random.default_rng(seed)
    d, T = int(rng.integers(1, 5)), int(rng.integers(1, 40))
    X = instances(rng, T, d, dyads, complex_entries)
    stack = DyadStack(X) if dyads else DenseStack((X + np.conj(np.swapaxes(X, 1, 2))) / 2)
    R = instances(rng, d, d, True, complex_entries)
    beta = 10.0**power * rng.uniform(0.1, 1, T)
    h, M = rng.standard_normal(T) / np.sqrt(beta), rotated(rng.standard_normal(d), 1, complex_entries)
    w, du = Orthogonal.of(stack, R, beta).solution(M, h)
    first = w + R.conj().T @ stack.apply(du) @ R - M
    second = np.sqrt(beta) * (stack.adjoint(R @ w @ R.conj().T) + h) - du / np.sqrt(beta)
    size = np.linalg.norm(M) + np.linalg.norm(np.sqrt(beta) * h)
    b = np.sqrt(beta) * np.linalg.norm(stack.coordinates(R, slice(None)), axis=1).max()
    eps = 50 * np.finfo(float).eps
    # the residual, w or z, is known to eps of the right side; what it is multiplied by, b F, only shows in the other
    assert np.linalg.norm(second) <= eps * (1 + b.max()) * size and np.linalg.norm(first) <= eps * (1 + b.max()) * size


@given(seeds, st.booleans(), st.sampled_from([5, 40, 600]))
def test_labels_without_noise_are_met(seed, dyads, T):
    """A corner at every instance: |tr(W X_t) - y_t| to 1e-11 of the labels' size in the mean."""
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, int(rng.integers(2, 7)), T, "absolute", dyads, noise=0.0)
    solution = ml.solve(problem, tol=1e-8)
    assert solution.status == "optimal" and solution.iterations <= 25
    assert problem.value_of(solution.matrix) <= 1e-11 * problem.scale


@given(seeds, st.integers(1, 6), st.booleans(), st.booleans())
def test_the_maps_of_a_stack(seed, d, dyads, complex_entries):
    """Adjoints, isometric coordinates, and a Gram matrix that is theirs."""
    rng = np.random.default_rng(seed)
    X = instances(rng, 7, d, dyads, complex_entries)
    stack = DyadStack(X) if dyads else DenseStack((X + np.conj(np.swapaxes(X, 1, 2))) / 2)
    matrices = X[:, :, None] * X.conj()[:, None, :] if dyads else stack.A
    S, T = (rotated(rng.standard_normal(d), k, complex_entries) for k in (1, 2))
    u, R = rng.standard_normal(7), instances(rng, d, d, True, complex_entries)
    np.testing.assert_allclose(stack.adjoint(S), [np.real(np.vdot(M, S)) for M in matrices], atol=1e-10)
    assert u @ stack.adjoint(S) == pytest.approx(np.real(np.vdot(stack.apply(u), S)), abs=1e-9)
    assert to_coordinates(S) @ to_coordinates(T) == pytest.approx(np.real(np.vdot(S, T)), abs=1e-10)
    assert to_coordinates(S).shape == (stack.m,)
    np.testing.assert_allclose(from_coordinates(to_coordinates(S), d, S.dtype), S, atol=1e-13)
    C = stack.coordinates(R, slice(None))
    np.testing.assert_allclose(C, [to_coordinates(R.conj().T @ M @ R) for M in matrices], atol=1e-9)
    np.testing.assert_allclose(stack.gram(R), C @ C.T, atol=1e-7 * (1 + np.abs(C).max() ** 2))


def test_a_large_system_is_solved_by_conjugate_gradients(monkeypatch):
    problem = problem_of(np.random.default_rng(2), 6, 40, "square", dyads=True, noise=0.1)
    direct = ml.solve(problem, tol=1e-5)
    monkeypatch.setattr(systems, "DIRECT", 3)
    iterative = ml.solve(problem, tol=1e-5)
    assert direct.status == iterative.status == "optimal"
    assert direct.value == pytest.approx(iterative.value, rel=2e-5)


@pytest.mark.parametrize("loss", ["square", "absolute", "huber"])
@pytest.mark.parametrize("k", [1e-8, 1e-3, 1e3, 1e8])
def test_units_do_not_matter(k, loss):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((12, 4, 4)), rng.standard_normal(12)
    one, other = (ml.solve(MEGRegression(s * X, s * y, loss, 0.3 * s), tol=1e-6) for s in (1, k))
    degree = 1 if loss == "absolute" else 2
    assert other.status == "optimal" and other.value / k**degree == pytest.approx(one.value, rel=2e-6)


@pytest.mark.parametrize("k", [1e-3, 1e3])
def test_logistic_margins_of_any_size(k):
    rng = np.random.default_rng(4)
    X, y = k * rng.standard_normal((40, 4, 4)), rng.choice([-1.0, 1.0], 40)
    assert ml.solve(MEGRegression(X, y, "logistic"), tol=1e-8).status == "optimal"


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_an_instance_that_is_a_multiple_of_the_identity(tol):
    """|W_11| / 4 + |3/4 tr W - 3/4|: W = e_0 e_0' has no loss, and the second instance holds the trace by itself."""
    X = np.array([np.diag([0.0, 0.25]), 0.75 * np.eye(2)])
    solution = ml.solve(MEGRegression(X, [0.0, 0.75], "absolute"), tol=tol)
    assert solution.status == "optimal"
    assert solution.lower <= 0 <= solution.upper
