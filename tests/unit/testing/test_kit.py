"""The kit's own parts: what it runs, how it reports, and its judges against other judges."""

import importlib.util
import sys
from functools import cached_property
from unittest import SkipTest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_maxcut import MaxCut
from scipy.optimize import linprog

import matrixlearn as ml
from matrixlearn.exceptions import MissingExtraError
from matrixlearn.maps import DiagonalMap, LinearMap
from matrixlearn.problems import Game, Problem
from matrixlearn.sets import KnapsackSet, SpectralBall, Spectraplex, TraceBall
from matrixlearn.testing import (
    CHECKS,
    asserts,
    check_problem,
    checks,
    checks_for,
    parametrize_with_checks,
    reference,
    run_checks,
    strategies,
)


class Against(LinearMap):
    """The diagonal matrices, with an adjoint of the wrong sign."""

    def __init__(self, n):
        self.shape, self.right = (n, n), DiagonalMap(n)

    shape = None

    def apply(self, y):
        return self.right.apply(y)

    def adjoint(self, X):
        return -self.right.adjoint(X)


def against(game):
    return Game(game.C, Against(game.S.n), game.c, game.S, game.Y, repair=game.repaired)


class Upside(MaxCut):
    """max (1/4) L . X, with the wrong sign.

    Parameters
    ----------
    graph : array
    """

    game = cached_property(lambda self: against(MaxCut.game.func(self)))


class Plain(Problem):
    """No game: max 0 subject to nothing."""

    scale = 1.0

    def bound_from_matrix(self, X):
        raise NotImplementedError

    def bound_from_vector(self, y):
        raise NotImplementedError

    def reference(self):
        raise NotImplementedError

    @classmethod
    def random(cls, rng):
        return cls()


# -- running and reporting --------------------------------------------------------------------------


def test_every_check_is_listed_once_and_states_its_law():
    defined = [value for name, value in vars(checks).items() if name.startswith("check_") and name != "check_problem"]
    assert set(defined) - {checks_for} == set(CHECKS)
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert len(check.__doc__.split()) >= 5


def test_run_checks_reports_names_and_errors_lazily():
    results = run_checks(Upside, max_examples=5)
    seen = dict(next(results) for _ in range(9))
    assert seen["check_documented"] is None
    assert isinstance(seen["check_adjoint_identity"], AssertionError)


def test_run_checks_says_the_same_twice(monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.check_adjoint_identity,))
    first, second = (str(dict(run_checks(Upside, max_examples=5))) for _ in range(2))
    assert first == second
    assert "AssertionError" in first


def test_check_problem_names_the_law_that_fails(monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.check_shapes, checks.check_adjoint_identity))
    with pytest.raises(AssertionError, match=r"1 check.*\n.*check_adjoint_identity \(the class\)"):
        check_problem(Upside, max_examples=5)
    with pytest.raises(AssertionError, match=r"2 check.*\n.*\(this problem\).*\n.*\(the class\)"):
        check_problem(Upside(np.ones((3, 3))), max_examples=5)


def test_check_problem_takes_an_instance(monkeypatch):
    asked = []
    monkeypatch.setattr(MaxCut, "random", classmethod(lambda cls, rng: asked.append(rng) or cls(np.ones((2, 2)))))
    monkeypatch.setattr(checks, "CHECKS", (checks.check_shapes, checks.check_certificate_is_sound))
    graph = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.5], [1.0, 0.5, 0.0]])
    assert [error for _, error in run_checks(MaxCut(graph), max_examples=5)] == [None, None]
    assert not asked  # the instance is checked itself
    check_problem(MaxCut(graph), max_examples=5)
    assert asked  # and then its class


def test_checks_that_do_not_apply_are_left_out_or_skipped():
    names = {check.__name__ for check in checks_for(Plain)}
    assert "check_documented" in names
    assert "check_schur" not in names
    with pytest.raises(SkipTest, match="GameProblem"):
        checks.check_schur(Plain)


def test_parametrize_names_problem_and_check():
    mark = parametrize_with_checks([MaxCut, ml.LinearSDP])
    ids = [parameter.id for parameter in mark.args[1]]
    assert "maxcut-check_certificate_is_sound" in ids
    assert "sdp-check_agrees_with_cvxpy" in ids
    assert len(set(ids)) == len(ids) == sum(len(checks_for(cls)) for cls in (MaxCut, ml.LinearSDP))
    assert set(CHECKS) == {check for cls in (MaxCut, ml.registered_problems()["fetr"]) for check in checks_for(cls)}


def test_expected_failures_are_marked_and_unknown_names_refused():
    mark = parametrize_with_checks([Upside], expected_failed_checks={"check_adjoint_identity": "a known sign"})
    marked = {parameter.id: parameter.marks for parameter in mark.args[1] if parameter.marks}
    assert list(marked) == ["maxcut-check_adjoint_identity"]
    assert marked["maxcut-check_adjoint_identity"][0].kwargs["reason"] == "a known sign"
    by_class = parametrize_with_checks(
        [MaxCut, Upside], expected_failed_checks=lambda cls: {"check_schur": "why"} if cls is Upside else {}
    )
    assert sum(bool(parameter.marks) for parameter in by_class.args[1]) == 1
    with pytest.raises(ValueError, match="check_nothing"):
        parametrize_with_checks([MaxCut], expected_failed_checks={"check_nothing": "typo"})


@parametrize_with_checks([Upside], expected_failed_checks={"check_adjoint_identity": "the sign is wrong on purpose"})
def test_an_expected_failure_fails(check):
    if check.func.__name__ in ("check_adjoint_identity", "check_shapes"):
        check()


def test_a_missing_dependency_is_named(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "cvxpy" else found(name))
    monkeypatch.delitem(sys.modules, "matrixlearn.testing._extra")
    with pytest.raises(MissingExtraError, match=r"cvxpy.*matrixlearn\[test\]"):
        importlib.import_module("matrixlearn.testing._extra")


def test_the_command_line_passes_on_what_is_missing(monkeypatch):
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    monkeypatch.delitem(sys.modules, "matrixlearn.testing")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "matrixlearn.testing._extra")
    told = CliRunner().invoke(cli, ["check", "sdp"])
    assert told.exit_code == 1
    assert "matrixlearn.testing needs hypothesis and cvxpy: pip install 'matrixlearn[test]'" in told.output


# -- strategies -------------------------------------------------------------------------------------


@given(X=strategies.density_matrices(trace=3.0), Y=strategies.density_matrices(complex_entries=True))
def test_density_matrices_have_their_trace(X, Y):
    asserts.assert_density(X, 3.0)
    asserts.assert_density(Y)


@given(X=strategies.psd(), n=st.integers(1, 5), data=st.data())
def test_matrices_are_what_they_say(X, n, data):
    asserts.assert_psd(X, atol=1e-10)
    S, H = data.draw(strategies.symmetric(n)), data.draw(strategies.hermitian(n))
    assert S.shape == H.shape == (n, n)
    assert not np.iscomplexobj(S)
    assert np.iscomplexobj(H)
    asserts.assert_hermitian(H)


@given(n=st.integers(1, 6), seed=strategies.seeds(), complex_entries=st.booleans())
def test_rotations_are_unitary(n, seed, complex_entries):
    U = strategies.rotation(n, seed, complex_entries)
    asserts.assert_close(U @ U.conj().T, np.eye(n).astype(U.dtype), atol=1e-13)


@given(graph=strategies.graphs(), X=strategies.samples())
def test_graphs_and_samples_make_problems(graph, X):
    assert MaxCut(graph).weights.shape == (len(graph), len(graph))
    assert X.ndim == 2
    assert X.size > 0
    assert np.all(np.isfinite(X))


# -- judges -----------------------------------------------------------------------------------------


@st.composite
def knapsacks(draw):
    rng = np.random.default_rng(draw(strategies.seeds()))
    m = draw(st.integers(1, 6))
    lower = np.round(rng.normal(size=m), 1)
    upper = lower + np.round(rng.uniform(0, 2, m), 1)
    if draw(st.booleans()):
        return KnapsackSet(lower, upper)
    weights = np.round(rng.uniform(0.5, 2, m), 1)
    least, most = float(weights @ lower), float(weights @ upper)
    ends = sorted(rng.uniform(least, most, 2)) if draw(st.booleans()) else [rng.uniform(least, most)] * 2
    if draw(st.booleans()):
        upper = np.full(m, np.inf)
    return KnapsackSet(lower, upper, weights, *ends)


@given(Y=knapsacks(), seed=strategies.seeds())
def test_the_linear_minimum_is_that_of_a_linear_program(Y, seed):
    g = np.round(np.random.default_rng(seed).normal(size=Y.size), 1)
    rows = {} if Y.weights is None else {"A_ub": [Y.weights, -Y.weights], "b_ub": [Y.row_upper, -Y.row_lower]}
    program = linprog(g, bounds=list(zip(Y.lower, Y.upper, strict=True)), **rows)
    assert program.status == 0
    assert reference.linear_minimum(Y, g) == pytest.approx(program.fun, abs=1e-7)
    assert Y.minimize(g)[0] == pytest.approx(program.fun, abs=1e-7)


def test_the_linear_minimum_of_an_orthant():
    assert reference.linear_minimum(KnapsackSet.orthant(2), np.array([1.0, 0.0])) == 0.0
    assert reference.linear_minimum(KnapsackSet.orthant(2), np.array([1.0, -1.0])) == -np.inf


def test_the_optimum_is_cached_by_the_data_and_knows_its_error(monkeypatch):
    triangle = np.ones((3, 3))
    judged = reference.optimum(MaxCut(triangle))
    assert judged.is_sharp
    assert abs(judged.value - 9 / 4) <= judged.error <= 1e-5 * judged.size
    calls = []
    monkeypatch.setattr(reference, "optimum_of", lambda program_of, floor: calls.append(floor))
    assert reference.optimum(MaxCut(triangle.copy())) is judged
    assert calls == []
    assert reference.optimum(MaxCut(2 * triangle)) is None  # other data ask again
    assert len(calls) == 1
    reference._cache.popitem()


def test_judges_that_disagree_do_not_convict(monkeypatch):
    monkeypatch.setattr(reference, "JUDGES", (("CLARABEL", {}), ("SCS", {"max_iters": 3})))
    judged = reference.optimum_of(MaxCut(np.ones((5, 5))).reference, 1e-3)
    assert not judged.is_sharp
    monkeypatch.setattr(reference, "JUDGES", (("CLARABEL", {}), ("no such solver", {})))
    assert reference.optimum_of(MaxCut(np.ones((5, 5))).reference, 1e-3).error == np.inf


@pytest.mark.parametrize("cls", [MaxCut, ml.LinearSDP, ml.registered_problems()["discrepancy"]])
def test_the_judges_are_sharp_on_most_instances(cls):
    # a judge that abstains too often would make the checks hollow
    judged = [reference.optimum(strategies.random_instance(cls, seed)) for seed in range(20)]
    assert sum(j.is_sharp for j in judged) >= 14


def test_violations_are_those_of_the_reference():
    problem = ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 4.0)
    feasible, infeasible = np.eye(2) / 2, np.eye(2)
    assert max(v for _, v, _ in reference.violations(problem, feasible, None)) <= 1e-12
    assert max(v for _, v, _ in reference.violations(problem, infeasible, None)) == pytest.approx(1.0)


# -- assertions -------------------------------------------------------------------------------------


def test_assertions_work_on_every_back_end(backend):
    X = backend.array(np.eye(3) / 3)
    asserts.assert_density(X)
    asserts.assert_psd(X)
    asserts.assert_close(X, np.eye(3) / 3, atol=0.0)
    asserts.assert_same(X, X)
    asserts.assert_in_spectral_set(X, Spectraplex(3, 1.0))


@pytest.mark.parametrize(
    "violate",
    [
        lambda: asserts.assert_density(2 * np.eye(2)),
        lambda: asserts.assert_psd(np.diag([1.0, -1e-9])),
        lambda: asserts.assert_psd(np.array([[1.0, 0.1], [0.2, 1.0]])),
        lambda: asserts.assert_hermitian(np.ones((2, 3))),
        lambda: asserts.assert_close(np.ones(2), np.ones(3), atol=9.0),
        lambda: asserts.assert_close(1.0, float("nan"), atol=9.0),
        lambda: asserts.assert_at_most(float("nan"), 1.0),
        lambda: asserts.assert_at_most(1.1, 1.0, atol=0.05),
        lambda: asserts.assert_same(None, 1.0),
        lambda: asserts.assert_same(1.0, np.nextafter(1.0, 2.0)),
        lambda: asserts.assert_in_spectral_set(np.eye(2), Spectraplex(2, 1.0)),
        lambda: asserts.assert_in_spectral_set(np.eye(2) / 4, Spectraplex(2, 1.0)),
        lambda: asserts.assert_in_spectral_set(np.eye(2), TraceBall(2, 1.0)),
        lambda: asserts.assert_in_spectral_set(np.diag([1.0, -1.0]), SpectralBall(2, 1.0)),
        lambda: asserts.assert_in_spectral_set(np.full((2, 2), 0.5), Spectraplex(2, 1.0, (1, 1))),
        lambda: asserts.assert_in_spectral_set(np.eye(3) / 3, Spectraplex(2, 1.0)),
        lambda: asserts.assert_in_dual_set(np.array([0.5, 0.6]), KnapsackSet.simplex(2)),
        lambda: asserts.assert_in_dual_set(np.array([-0.1, 1.1]), KnapsackSet.simplex(2)),
        lambda: asserts.assert_in_dual_set(np.array([np.nan, 1.0]), KnapsackSet.simplex(2)),
        lambda: asserts.assert_in_dual_set(np.array([0.9, 0.1]), KnapsackSet.simplex(2, 0.8)),
    ],
)
def test_an_assertion_raises(violate):
    with pytest.raises(AssertionError):
        violate()


@pytest.mark.parametrize("name", ["sdp", "discrepancy"])
def test_the_laws_hold_on_every_back_end(backend, name):
    if backend.name == "numpy":
        pytest.skip("the tests of the plugins themselves")
    drawn = strategies.random_instance(ml.registered_problems()[name], 3)
    moved = {k: backend.array(v) if getattr(v, "ndim", 0) > 1 else v for k, v in drawn.parameters().items()}
    problem = type(drawn)(**moved)
    assert isinstance(problem.like, type(backend.array([1.0])))
    assert {check: str(error) for check, error in run_checks(problem, max_examples=2) if error is not None} == {}
