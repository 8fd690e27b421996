"""Maximum likelihood of a quantum state: the laws of a problem, cvxpy's optimum, duality, invariances."""

import itertools
import warnings
from functools import reduce

import cvxpy as cp
import matrixlearn_quantum.factored as factored
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrixlearn_quantum import (
    ExponentiatedGradient,
    Factored,
    PauliMeasurement,
    StateTomography,
    all_settings,
    fidelity,
    ghz_state,
    random_state,
    sample_counts,
    w_state,
)

import matrixlearn as ml
from matrixlearn.engines import Incumbent, run
from matrixlearn.linalg.lbfgs import Memory
from matrixlearn.testing import parametrize_with_checks
from matrixlearn.testing.asserts import assert_density

pytestmark = pytest.mark.usefixtures("cpu_clock")

seeds = st.integers(0, 2**32 - 1)
VECTORS = {
    "X": np.array([[1, 1], [1, -1]]) / np.sqrt(2),
    "Y": np.array([[1, 1j], [1, -1j]]) / np.sqrt(2),
    "Z": np.eye(2),
}
"""Rows: the eigenvectors of the eigenvalues 1 and -1."""


@parametrize_with_checks([StateTomography])
def test_quantum(check):
    check()


def projectors(settings):
    """All E_k as matrices, shape (S, 2^q, d, d), by their definition."""
    out = []
    for setting in settings:
        for bits in itertools.product((0, 1), repeat=len(setting)):
            v = reduce(np.kron, [VECTORS[letter][bit] for letter, bit in zip(setting, bits, strict=True)])
            out.append(np.outer(v, v.conj()))
    d = len(out[0])
    return np.array(out).reshape(len(settings), d, d, d)


def optimum(problem):
    """f* by a dense model of its own, or NaN where the judge is not sure."""
    d, n = problem.d, problem.counts.reshape(-1)
    E = projectors(problem.settings).swapaxes(-1, -2).reshape(-1, d * d)[n > 0]
    rho = cp.Variable((d, d), hermitian=True)
    p = cp.real(E @ cp.reshape(rho, (d * d,), order="C"))  # tr(E rho), all at once: an atom for each takes seconds
    program = cp.Problem(cp.Maximize(n[n > 0] / n.sum() @ cp.log(p)), [rho >> 0, cp.real(cp.trace(rho)) == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a judge that says "inaccurate" is not heard
        value = program.solve(solver="CLARABEL")
    return -value if program.status == "optimal" else np.nan


def test_it_is_registered_and_takes_the_engine_in_factors():
    assert ml.registered_problems()["tomography"] is StateTomography
    problem = StateTomography.random(np.random.default_rng(0))
    assert ml.methods(problem)[:2] == ["factored", "exponentiated-gradient"]
    assert ml.solve(problem).method == "factored"


@given(seeds, st.sampled_from(["factored", "exponentiated-gradient"]))
@settings(max_examples=settings().max_examples // 2)
def test_against_cvxpy(seed, method):
    problem = StateTomography.random(np.random.default_rng(seed))
    best = optimum(problem)
    assume(np.isfinite(best))
    solution = ml.solve(problem, method, tol=1e-6 if method == "factored" else 1e-4)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(best, abs=1e-5 if method == "factored" else 1e-4 * problem.scale)
    assert solution.lower <= best + 1e-6 and best <= solution.upper + 1e-6
    assert_density(solution.matrix)
    assert np.iscomplexobj(solution.matrix)


@given(seeds)
def test_any_state_and_any_multipliers_prove_bounds(seed):
    rng = np.random.default_rng(seed)
    problem = StateTomography.random(rng)
    best = ml.solve(problem, tol=1e-7)
    E = projectors(problem.settings).reshape(-1, problem.d, problem.d)
    f = problem.counts.reshape(-1) / problem.counts.sum()
    for rank in (1, problem.d):
        rho = random_state(problem.measurement.q, rank, rng)
        y = rng.exponential(size=len(f)) * (rng.random(len(f)) < 0.9)  # unseen outcomes may have multipliers, too
        for certificate in (ml.certify(problem, X=rho), ml.certify(problem, y=y)):
            assert certificate.lower <= best.upper and best.lower <= certificate.upper
        p = np.real(np.einsum("kij,ji->k", E, rho))
        if np.any(p[f > 0] < 1e-6):
            continue
        rounded = 1e-12 + 16 * np.finfo(float).eps / np.min(p[f > 0])  # p is known to a few eps, f / p to so much
        bound, value = problem.bound_from_matrix(rho), -f[f > 0] @ np.log(p[f > 0])
        R = np.einsum("k,kij->ij", np.where(f > 0, f / p, 0.0), E)
        largest = np.linalg.eigvalsh(R)[-1]
        assert bound.upper == pytest.approx(value, abs=1e-9) and bound.upper >= value - rounded
        assert bound.lower == pytest.approx(value - np.log(largest), abs=1e-9)
        assert bound.lower <= value - np.log(largest) + rounded
        assert bound.lower >= value + 1 - largest - 1e-9  # plain convexity never proves more
        at = problem.bound_from_vector(problem.multipliers_at(problem.probabilities(rho)))
        assert at.lower == pytest.approx(bound.lower, abs=rounded)
        assert np.linalg.eigvalsh(np.einsum("k,kij->ij", at.point, E))[-1] == pytest.approx(1, abs=rounded)


@given(seeds)
def test_the_optimum_has_the_operator_of_the_identity(seed):
    """R <= I and R rho = rho, so that p_k >= f_k: no outcome that was seen is thought less likely than it was."""
    problem = StateTomography.random(np.random.default_rng(seed))
    solution = ml.solve(problem, tol=1e-9)
    assume(solution.status == "optimal")
    p = problem.probabilities(solution.matrix)
    R = problem.operator(problem.frequencies / p)
    assert np.linalg.eigvalsh(R)[-1] <= 1 + 1e-4  # the square of the distance is what the gap bounds
    np.testing.assert_allclose(R @ solution.matrix, solution.matrix, atol=1e-4)
    assert np.all(p >= problem.frequencies * (1 - 1e-4))


@given(seeds)
def test_armijo_steps_never_raise_the_objective_and_keep_their_promise(seed):
    rng = np.random.default_rng(seed)
    problem = StateTomography.random(rng)
    engine = ExponentiatedGradient(sufficient=float(rng.uniform(0.01, 0.9)), first=float(10 ** rng.uniform(-2, 2)))
    incumbent = Incumbent.first(problem)
    state, before = engine.init(problem, incumbent), None
    for _ in range(60):
        state = engine.step(problem, state, incumbent)
        if state.finished:
            break
        now, rho = state.oracle, state.last.X
        if before is not None and now.R is not before.R:  # accepted
            assert now.value <= before.value - engine.sufficient * (np.vdot(before.R, rho).real - 1)
            assert now.value <= before.value + 1e-15
            assert now.value == pytest.approx(problem.value_at(problem.probabilities(rho)), rel=1e-12)
        assert_density(rho)
        before = now


@pytest.mark.parametrize("state", [ghz_state(3), w_state(3), random_state(3, 2, 0), random_state(3, None, 0)])
@pytest.mark.parametrize("shots", [3, 10_000])
def test_the_state_is_positive_with_trace_one_and_certified(state, shots):
    """Also where most counts are zero: exactly positive, since Cholesky's factorization exists."""
    problem = StateTomography(all_settings(3), sample_counts(state, all_settings(3), shots, 0))
    solution = ml.solve(problem, tol=1e-8)
    assert solution.status == "optimal"
    rho = solution.matrix
    np.linalg.cholesky(rho)
    np.testing.assert_array_equal(rho, rho.conj().T)
    assert abs(np.trace(rho) - 1) <= 1e-14
    assert np.all(problem.probabilities(rho) > 0)


def test_many_shots_find_the_state():
    for state in (ghz_state(3), w_state(3), random_state(3, None, 5)):
        problem = StateTomography(all_settings(3), sample_counts(state, all_settings(3), 100_000, 1), target=state)
        solution = ml.solve(problem, tol=1e-6)
        assert fidelity(solution.matrix, state) > 0.999
        assert f"fidelity {fidelity(solution.matrix, state):.6g}" in solution.summary()


def test_exact_frequencies_give_the_state_and_the_entropy():
    """For f_sb = p_sb / S the optimum is rho itself, and f* the mean entropy of the settings."""
    rho = random_state(2, None, 3)
    measurement = PauliMeasurement(all_settings(2))
    p = measurement.probabilities(rho)
    solution = ml.solve(StateTomography(measurement.settings, p), tol=1e-9)
    assert solution.value == pytest.approx(-np.sum(p * np.log(p)) / len(p), abs=1e-8)
    np.testing.assert_allclose(solution.matrix, rho, atol=1e-4)


@given(seeds)
def test_zero_counts_and_settings_without_counts_change_nothing(seed):
    problem = StateTomography.random(np.random.default_rng(seed))
    q = problem.measurement.q
    padded = StateTomography([*problem.settings, "Y" * q], np.vstack([problem.counts, np.zeros(2**q)]))
    rows = problem.counts.any(axis=1)
    fewer = StateTomography(problem.settings[rows], problem.counts[rows])
    split = StateTomography(np.repeat(problem.settings, 2), np.repeat(problem.counts / 2, 2, axis=0))
    solutions = [ml.solve(p, tol=1e-6) for p in (problem, padded, fewer, split)]
    for other in solutions[1:]:
        assert other.lower <= solutions[0].upper and solutions[0].lower <= other.upper


@given(seeds, st.floats(1e-8, 1e8))
def test_units_and_order_of_the_qubits(seed, k):
    """The optimum is that of k n; and qubits in another order are the same qubits."""
    rng = np.random.default_rng(seed)
    state = random_state(2, int(rng.integers(1, 5)), rng)
    settings = all_settings(2)
    n = sample_counts(state, settings, 200, rng)
    swapped = [setting[::-1] for setting in settings]
    m = n.reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1, 4)
    data = (settings, n), (settings, k * n), (swapped, m)
    a, b, c = (ml.solve(StateTomography(*given), tol=1e-7) for given in data)
    for other in (b, c):
        assert other.lower <= a.upper and a.lower <= other.upper
    turned = c.matrix.reshape(2, 2, 2, 2).transpose(1, 0, 3, 2).reshape(4, 4)
    assert fidelity(turned, a.matrix) > 1 - 1e-3


# (X, Y, Z) -> (Y, Z, X), a rotation by 120 degrees; (X, Y, Z) -> (X, -Y, -Z), one by 180
TURNS = {
    "XYZ->YZX": (np.array([[1, -1j], [1, 1j]]) / np.sqrt(2), {"X": "Y", "Y": "Z", "Z": "X"}, ""),
    "flip": (np.array([[0, 1], [1, 0]]), {"X": "X", "Y": "Y", "Z": "Z"}, "YZ"),
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("shots", [20, 2000])
def test_a_rotation_of_one_qubit_relabels_its_settings(turn, shots):
    U, names, flipped = TURNS[turn]
    W = np.kron(np.eye(2), U)
    for letter in "XYZ":  # the table is right: U P U^H = +- P'
        (P, Q) = (VECTORS[s].T @ np.diag([1, -1]) @ VECTORS[s].conj() for s in (letter, names[letter]))
        np.testing.assert_allclose(U @ P @ U.conj().T, -Q if letter in flipped else Q, atol=1e-12)
    settings = all_settings(2)
    n = sample_counts(random_state(2, 3, 7), settings, shots, 8)
    relabelled = [s[0] + names[s[1]] for s in settings]
    m = np.array([row[[1, 0, 3, 2]] if s[1] in flipped else row for s, row in zip(settings, n, strict=True)])
    a = ml.solve(StateTomography(settings, n), tol=1e-8)
    b = ml.solve(StateTomography(relabelled, m), tol=1e-8)
    assert a.value == pytest.approx(b.value, abs=1e-7)
    assert fidelity(W @ a.matrix @ W.conj().T, b.matrix) > 1 - 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_a_factor_that_lost_rank_finds_its_way_out(seed):
    """Columns that are exactly zero have no gradient: L-BFGS alone would end at the best state of rank one."""
    n = sample_counts(random_state(2, None, seed), all_settings(2), 500, seed)
    problem = StateTomography(all_settings(2), n)
    A = np.zeros((4, 4), dtype=complex)
    A[:, 0] = np.linalg.eigh(random_state(2, 1, seed + 10))[1][:, -1]

    class Stuck(Factored):
        def init(self, problem, incumbent):
            return factored.FactorState(memory=Memory(12), **factored._at(problem, A))

    done = run(Stuck(), problem, tol=1e-6)
    assert done.ended == "optimal"
    assert done.certificate.upper == pytest.approx(ml.solve(problem, tol=1e-6).value, abs=1e-5)


@pytest.mark.parametrize("method", ["factored", "exponentiated-gradient"])
def test_an_accuracy_beyond_rounding_is_not_claimed(method):
    problem = StateTomography(all_settings(2), sample_counts(random_state(2, 2, 0), all_settings(2), 100, 0))
    solution = ml.solve(problem, method, tol=1e-16, max_iter=20_000, time_limit=5)
    assert solution.status == "stopped"
    assert solution.gap < 1e-6


def test_a_warm_start_helps_and_answers_of_others_are_certified():
    settings = all_settings(3)
    n = sample_counts(random_state(3, 2, 0), settings, 1000, 0)
    first = ml.solve(StateTomography(settings, n), tol=1e-6)
    more = StateTomography(settings, n + sample_counts(random_state(3, 2, 0), settings, 20, 1))
    cold, warm = ml.solve(more, tol=1e-4), ml.solve(more, tol=1e-4, warm_start=first)
    assert warm.status == cold.status == "optimal"
    assert warm.iterations < cold.iterations
    assert ml.certify(more, X=warm.matrix).gap <= 1e-3
    assert ml.certify(more, X=np.diag([1.0] + [0.0] * 7)).gap == np.inf  # what was seen has no probability there


def test_the_picture_shows_both_parts():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    solution = ml.solve(StateTomography(all_settings(2), sample_counts(ghz_state(2), all_settings(2), 50, 0)))
    figure = solution.plot()
    shown = figure.axes[2].images[0].get_array()
    np.testing.assert_array_equal(shown[:, :4], solution.matrix.real)
    np.testing.assert_array_equal(shown[:, 5:], solution.matrix.imag)
    plt.close(figure)
