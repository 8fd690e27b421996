"""Which engines can solve a problem, and which of them does."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from matrixlearn.engines import Engine
from matrixlearn.exceptions import CapabilityError, PluginError, ProblemError
from matrixlearn.problems.base import Problem, require_problem
from matrixlearn.reductions import Reduction, reduction_of
from matrixlearn.registry import registered_engines

PREFERRED = registered_engines().own
"""The library's engines, in the order in which ``auto`` prefers them."""


def methods(problem: Problem) -> list[str]:
    """The names of the engines that can solve a problem.

    Raises
    ------
    ProblemError
        Where ``problem`` is none.
    """
    require_problem(problem)
    reduction = reduction_of(problem)
    able = _able(_first_choices(problem), reduction) + _able(_others(problem), reduction)
    return [engine.name for engine in able]


def _first_choices(problem: Problem) -> list[Engine]:
    """The problem's own engines, then those of the library."""
    return [engine() for engine in registered_engines().several((*problem.engines, *PREFERRED))]


def _others(problem: Problem) -> list[Engine]:
    """The registered engines that neither the problem nor the library names, but for those that fail to load."""
    found = []
    for name in registered_engines():
        if name not in problem.engines and name not in PREFERRED:
            with contextlib.suppress(PluginError):
                found.append(registered_engines()[name]())
    return found


def _able(candidates: list[Engine], reduction: Reduction) -> list[Engine]:
    """Those that have no objection to the program, as it is or with bounds on y."""
    return [engine for engine in candidates if not objection_to(reduction, engine)]


def objection_to(reduction: Reduction, engine: Engine) -> str:
    """Why an engine cannot solve a program, neither as it is nor with bounds on y; empty where it can."""
    why = engine.objection(reduction.program)
    bounded = reduction.between() if why else None
    return why if bounded is None else engine.objection(bounded)


@dataclass(frozen=True)
class Choice:
    """An engine, and why it was chosen."""

    engine: Engine
    why: str


def chosen(reduction: Reduction, method: str | Engine, tol: float) -> Choice:
    """The engine that was asked for, or one that measurements prefer, or the first that can.

    Raises
    ------
    ProblemError
        Where ``method`` is none.
    CapabilityError
        Where the engine, or every engine, cannot solve the problem.
    """
    if isinstance(method, str) and method == "auto":
        return _best(reduction, tol)
    title = reduction.program.title
    engine = method if isinstance(method, Engine) else _named(reduction, method)
    lacking = objection_to(reduction, engine)
    if lacking:
        msg = f"{engine.name} cannot solve this {title}: {lacking}"
        raise CapabilityError(msg)
    return Choice(engine, f"{engine.name}: asked for")


def _named(reduction: Reduction, method: object) -> Engine:
    """The engine of a name."""
    program = reduction.program
    if isinstance(method, type) and issubclass(method, Engine):
        msg = f"method must be an instance of an engine: {method.__name__}(), not the class"
        raise ProblemError(msg)
    if not isinstance(method, str) or method not in registered_engines():
        names = sorted(engine.name for engine in _able(_first_choices(program) + _others(program), reduction))
        msg = f"method must be 'auto' or, for a {program.title}, one of {names}, got {method!r}"
        raise ProblemError(msg)
    return registered_engines()[method]()


def _best(reduction: Reduction, tol: float) -> Choice:
    """The engine that ``auto`` takes."""
    program = reduction.program
    candidates = _first_choices(program)
    able = [engine for engine in candidates if not engine.objection(program)]  # bounds are dear to look for
    able = able or _able(candidates, reduction) or _able(_others(program), reduction)
    if not able:
        why = "; ".join(objection_to(reduction, engine) for engine in candidates)
        msg = f"no engine can solve a {program.title}: {why}"
        raise CapabilityError(msg)
    for engine in able:
        why = engine.preferred(engine.subject(program), tol)
        if why:
            return Choice(engine, f"auto: {engine.name}, {why}")
    names = [engine.name for engine in able]
    return Choice(able[0], f"auto: {able[0].name}, the first of {names} in order of preference")
