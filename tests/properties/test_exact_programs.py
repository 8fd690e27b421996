"""Laws of answers, on programs whose outcome is known as a fraction."""

import dataclasses
import inspect
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.exceptions import CertificateError, ProblemError
from matrixlearn.testing.exact import CLOSED_FORMS, exact_program, faults, size_of, solve_faults

pytestmark = pytest.mark.usefixtures("cpu_clock")

seeds = st.integers(0, 10**6)
tols = st.sampled_from([1e-3, 1e-6, 1e-9])
ATOL = getattr(inspect.signature(ml.solve).parameters.get("atol"), "default", 0.0)


def solved(program, tol=1e-6):
    return ml.solve(program.problem(), tol=tol, time_limit=3)


@given(seeds)
def test_the_proof_of_a_program_holds_in_exact_arithmetic(seed):
    program = exact_program(seed)
    assume(program.n <= 16 and (program.y is not None or program.outcome == "unbounded"))
    program.prove()


@given(seeds, tols)
def test_a_solution_says_nothing_false(seed, tol):
    program = exact_program(seed)
    assert solve_faults(program, solved(program, tol), tol, ATOL) == []


@given(seeds)
def test_verify_computes_what_the_solution_says(seed):
    certificate = solved(exact_program(seed)).certificate
    fresh = certificate.verify()
    assert fresh.rigour == certificate.rigour or certificate.rigour == "estimate"  # which proves nothing
    assert fresh.upper == pytest.approx(certificate.upper, rel=1e-9, abs=1e-12)
    if certificate.rigour == "checked":
        assert fresh.lower == pytest.approx(certificate.lower, rel=1e-9, abs=1e-12)


@given(seeds, st.floats(5, 12), st.booleans())
def test_certify_says_nothing_false_of_points_that_are_nearly_right(seed, digits, with_y):
    program = exact_program(seed)
    assume(program.X is not None)
    noise = np.random.default_rng(seed).standard_normal(program.X.shape)
    X = program.X + 10.0**-digits * (np.abs(program.X).max() or 1.0) * (noise + noise.T)
    y = program.y if with_y and program.y is not None else np.zeros(len(program.b))
    assert faults(program, ml.certify(program.problem(), X=X, y=y)) == []


@given(seeds, st.floats(-8, 8))
def test_certify_says_nothing_false_of_any_points(seed, size):
    program, rng = exact_program(seed), np.random.default_rng(seed)
    G = 10.0**size * rng.standard_normal((program.n, program.n))
    y = 10.0**size * rng.standard_normal(len(program.b))
    assert faults(program, ml.certify(program.problem(), X=G @ G.T, y=y)) == []


@given(seeds)
def test_a_multiplier_that_is_optimal_proves_the_optimum_without_a_trace_bound(seed):
    """b.y* is the optimum; A*(y*) - C is semidefinite only, so that rounding may cost a little."""
    program = dataclasses.replace(exact_program(seed), trace_bound=None)
    assume(program.outcome == "optimal" and program.y is not None and not program.faces)
    certificate = ml.certify(program.problem(), y=program.signs * program.y)
    assert certificate.upper >= program.low
    if np.all(
        np.linalg.eigvalsh(np.tensordot(program.y, program.A, axes=1) - program.C) > 1e-6 * np.abs(program.C).max()
    ):
        assert certificate.upper <= float(program.high) + 1e-9 * size_of(program, program.X, program.y)


def in_other_units(program, seed, d, row, R):
    """X -> D X D, rows times s, R -> 10^k R."""
    rng = np.random.default_rng(seed)
    D = 2.0 ** rng.integers(-abs(d), abs(d) + 1, program.n)
    units = 2.0 ** rng.integers(-abs(row), abs(row) + 1, len(program.b))
    other = program.congruent(np.diag(D), np.diag(1 / D)).scaled_rows(units)
    if other.X is not None:
        other = dataclasses.replace(other, trace_bound=10.0**R * float(np.trace(other.X)))
    return other


@given(seeds, st.integers(-13, 13), st.integers(-20, 20), st.integers(0, 10))
def test_status_value_and_bounds_do_not_depend_on_units(seed, d, row, R):
    """The bounds of both hold the same optimum, and both end optimal, whatever the units of rows, basis and trace."""
    program = CLOSED_FORMS[seed % len(CLOSED_FORMS)](np.random.default_rng(seed))
    other = in_other_units(program, seed, d, row, R)
    here, there = solved(program), solved(other)
    assert solve_faults(program, here, 1e-6, ATOL) == []
    assert solve_faults(other, there, 1e-6, ATOL) == []
    assert (here.status, there.status) == ("optimal", "optimal")
    size = size_of(program, here.matrix, here.y)
    assert abs(here.value - there.value) <= 4e-6 * size + 2 * ATOL
    assert there.upper >= here.lower - 1e-9 * size
    assert there.lower <= here.upper + 1e-9 * size


@given(seeds, st.sampled_from(["lower", "upper"]), st.sampled_from([math.nan, 1.0, 1e-3]))
def test_verify_refuses_a_bound_that_nothing_proves(seed, end, by):
    program = exact_program(seed)
    assume(program.outcome == "optimal" and program.X is not None)
    certificate = solved(program).certificate
    assume(math.isfinite(certificate.lower) and math.isfinite(certificate.upper))
    assume(certificate.rigour != "estimate" or end == "upper" or math.isnan(by))  # an estimate is no claim
    size = max(abs(certificate.upper), certificate.size)  # rounding of what the bounds add up to is forgiven
    step = by * (certificate.upper - certificate.lower + size + 1e-6)
    forged = {end: getattr(certificate, end) + (step if end == "lower" else -step)}
    other = "upper" if end == "lower" else "lower"
    forged[other] = getattr(certificate, other) + (1e6 if other == "upper" else -1e6) * abs(step if step == step else 1)
    with pytest.raises(CertificateError):
        dataclasses.replace(certificate, **forged).verify()


@given(seeds)
def test_no_nan_is_certified(seed):
    program = exact_program(seed)
    with pytest.raises(ProblemError):
        ml.certify(program.problem(), X=np.full((program.n, program.n), math.nan))
    with pytest.raises(ProblemError):
        ml.certify(program.problem(), y=np.full(len(program.b), math.nan))


@given(seeds)
def test_changing_the_arrays_of_a_program_changes_no_answer(seed):
    """Data are copied, or cannot be written to."""
    program = exact_program(seed)
    C, A, b = program.C.copy(), program.A.copy(), program.b.copy()
    problem = dataclasses.replace(program, C=C, A=A, b=b, rows="dense").problem()
    before = ml.certify(problem, X=np.eye(program.n), y=np.zeros(len(b)))
    C *= 3
    A *= 5
    b += 7
    after = ml.certify(problem, X=np.eye(program.n), y=np.zeros(len(b)))
    assert (before.lower, before.upper) == (after.lower, after.upper)
