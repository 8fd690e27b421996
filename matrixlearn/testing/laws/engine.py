"""Laws of an engine: it is found by its name, it refuses by name what it cannot solve, and what it answers is certified
by the problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from matrixlearn._certify import certify
from matrixlearn._choice import objection_to
from matrixlearn.engines import Engine
from matrixlearn.exceptions import CapabilityError
from matrixlearn.problems import Bound, LinearSDP, Problem
from matrixlearn.reductions import reduction_of
from matrixlearn.registry import registered_engines
from matrixlearn.testing.asserts import assert_close, fail, holds
from matrixlearn.testing.laws.base import ProblemOrClass, solved
from matrixlearn.testing.limits import named
from matrixlearn.testing.reference import assert_between, optimum
from matrixlearn.testing.strategies import for_all, instances


class Opaque(Problem):
    """A problem that no engine knows: 0 <= optimum <= 1, whatever the points."""

    scale = 1.0

    def bound_from_matrix(self, X: Any) -> Bound:
        return Bound(point=X, lower=0.0, upper=1.0)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        return Bound(point=y, lower=0.0, upper=1.0)

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return 0.5

    def reference(self) -> Any:
        raise NotImplementedError


def strange_problems() -> list[Problem]:
    """A problem of an unknown kind, a game with free multipliers, one on a point."""
    free = LinearSDP.with_senses(np.diag([1.0, 2.0]), [np.diag([1.0, -1.0])], [0.0], "==", 1.0)
    return [Opaque(), free, LinearSDP(np.eye(1), [np.eye(1)], [1.0], 1.0)]


def check_engine_is_found(engine: type[Engine]) -> None:
    """``registry.registered_engines()[engine.name]`` is the engine, which is made without arguments."""
    name = engine.name
    holds(
        name in registered_engines(), f"no engine is registered as {name!r}: add an entry point of matrixlearn.engines"
    )
    holds(registered_engines()[name] is engine, f"{name!r} is {registered_engines()[name]}, not {engine}")
    holds(engine().name == name, f"{engine.__name__}() must be what is meant by method={name!r}")


def check_engine_refuses_by_name(engine: type[Engine]) -> None:
    """Where the engine objects to a problem, `solve` raises why beside the engine's name; else its bounds hold."""
    for problem in strange_problems():
        why = objection_to(reduction_of(problem), engine())
        holds(isinstance(why, str), f"objection must be a str, empty for yes, got {why!r}")
        try:
            certificate = solved(problem, method=engine(), max_iter=3).certificate
        except CapabilityError as error:
            said = str(error)
            holds(engine.name in said and len(said) > 40, f"the refusal must name the engine and say why, got {said!r}")
            continue
        holds(certificate.lower <= certificate.upper, f"the bounds contradict each other: {certificate}")
        if why and reduction_of(problem).program is problem:
            fail(f"{engine.__name__} objects ({why}), and solves a {type(problem).__name__} all the same")


def assert_same_bounds(bounds: Any, expected: Any, *, atol: float, what: str) -> None:
    """Both bounds agree, infinite ones exactly."""
    for name in ("lower", "upper"):
        first, second = getattr(bounds, name), getattr(expected, name)
        if first != second:  # infinite ones have no difference
            assert_close(first, second, atol=atol, what=f"the {name} bound, {what}")


def check_engine_is_certified(engine: type[Engine], problem: ProblemOrClass) -> None:
    """However few iterations it gets: lower <= cvxpy's optimum <= upper, the bounds are those that `certify` computes
    from its points, the engine remembers nothing, and equal calls give equal answers.
    """

    @for_all(p=instances(problem), max_iter=st.sampled_from([0, 1, 10, 100]), cost=4)
    def law(p: Any, max_iter: int) -> None:
        if objection_to(reduction_of(p), engine()):
            return
        method = engine()
        before = dict(vars(method))
        try:
            solution = solved(p, method=method, tol=1e-4, max_iter=max_iter)
        except CapabilityError:
            return
        holds(vars(method) == before, f"a solve changed {method!r}: keep what it remembers in its State")
        note(solution.summary())
        certificate = solution.certificate
        if solution.status != "infeasible":
            fresh = certify(certificate.problem, X=solution.matrix, y=solution.y)
            atol = 1e-9 * (p.scale + fresh.size + (abs(fresh.upper) if np.isfinite(fresh.upper) else 0.0))
            assert_same_bounds(certificate, fresh, atol=atol, what="and what certify() computes")
        best = optimum(p)
        if np.isfinite(best.error):
            assert_between(solution, best)
        again = solved(p, method=engine(), tol=1e-4, max_iter=max_iter)
        holds(again.iterations == solution.iterations, "the same call took another number of iterations")
        assert_same_bounds(again, solution, atol=1e-9 * (p.scale + certificate.size), what="of equal calls")

    with named("check_engine_is_certified"):
        law()


def check_engine(engine: type[Engine], *problems: ProblemOrClass) -> None:
    """All laws of an engine, the last on problems that it solves.

    Raises
    ------
    AssertionError
        Naming what does not hold.
    """
    check_engine_is_found(engine)
    check_engine_refuses_by_name(engine)
    for problem in problems:
        check_engine_is_certified(engine, problem)
