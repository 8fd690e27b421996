"""The front door: check, choose an engine, run it, certify, return a Solution."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn._array import moved
from matrixlearn._settings import limits_of, seed_of
from matrixlearn._threads import governed
from matrixlearn.callbacks import Callback, Event, Progress, silent
from matrixlearn.certificate import certified, estimate, nearest_proved
from matrixlearn.engines import Engine, Incumbent, InteriorPoint, Limits, Proposal, Run, run
from matrixlearn.engines.base import INTERRUPTED, is_finite, proves, run_from
from matrixlearn.exceptions import CapabilityError, MachinesError, PluginError, ProblemError
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import INF, Problem, require_problem
from matrixlearn.registry import registered_engines
from matrixlearn.solution import History, Solution, Status, status_of
from matrixlearn.typing import Array

PREFERRED = (
    "interior-point",
    "low-rank",
    "column-generation",
    "subspace",
    "pdhg",
    "mirror-prox",
    "mmw",
    "smoothing",
    "sa-da",
    "subgradient",
    "mirror",
    "reference",
)
"""The library's engines, in the order in which ``auto`` prefers them."""

LIFTED = 0.8
"""The part of tol and atol to which an equivalent problem is solved: the whole one is certified again."""


def methods(problem: Problem) -> list[str]:
    """The names of the engines that can solve a problem.

    Raises
    ------
    ProblemError
        Where ``problem`` is none.
    """
    require_problem(problem)
    reduction = problem.reduction()
    played = problem if reduction is None else reduction.program
    able = _able(_first_choices(problem), played) + _able(_others(problem), played)
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


def _able(candidates: list[Engine], problem: Problem) -> list[Engine]:
    """Those that have no objection to the problem, as it is or between bounds."""
    return [engine for engine in candidates if not _objection(engine, problem)]


def _objection(engine: Engine, played: Problem) -> str:
    """Why an engine cannot solve a problem, neither as it is nor between bounds; empty where it can."""
    why = engine.objection(played)
    bounded = played.bounded() if why else None
    return why if bounded is None else engine.objection(bounded)


def objection_to(problem: Problem, engine: Engine) -> str:
    """Why an engine cannot solve a problem; empty where it can."""
    reduction = problem.reduction()
    return _objection(engine, problem if reduction is None else reduction.program)


def solve(
    problem: Problem,
    method: str | Engine = "auto",
    tol: float = 1e-3,
    max_iter: int | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
    callback: Callback | None = None,
    warm_start: Solution | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    atol: float = 0.0,
) -> Solution:
    """Solve a problem until upper - lower <= max(tol * size, atol).

    Parameters
    ----------
    problem : Problem
    method : str or Engine
        "auto", or one of ``matrixlearn.methods(problem)``, or an engine with parameters of its own.
    tol : float
        The certified gap (upper - lower) / size at which to stop, between 0 and 1. ``size`` is the largest of |upper|,
        |lower| and the smaller of what the bounds add up to, such as sum_j |b_j y_j| (`certificate`).
    max_iter : int, optional
        Iterations of the engine.
    time_limit : float, optional
        Seconds; 0 returns what is certified before the first iteration.
    progress : bool, optional
        Show a live line on the terminal (off by default; needs the extra ``cli``).
    callback : callable, optional
        Gets an `Event` at every check; a true answer stops. What it raises is raised again once the answer so far is
        certified, with that answer as the attribute ``solution`` of the error.
    warm_start : Solution, optional
        An earlier answer; its bounds count for this problem only after they are computed again.
    random_state : int, Generator or RandomState, optional
        Seeds an engine that draws (the start of ``low-rank``, the random choice of DefiniteBoost's rounds). Without
        it an engine uses its own ``seed``, so that equal calls give equal answers in either case.
    atol : float
        The width upper - lower, in the units of the objective, that is good enough whatever the gap; >= 0, 0 by
        default, so that an answer does not depend on units. It ends a problem whose optimum is 0 and whose terms all
        go to 0.

    Returns
    -------
    Solution
        ``status`` "optimal" where the bounds are proved and near enough; "trace bound" where the proof needs the
        ``trace_bound`` that the user gave; "estimated" where the lower bound is not proved; "stationary" where the
        bounds are those of the blocks; "stopped" with the best certified bounds at a limit, at Ctrl-C or at the
        numerical limit; "infeasible" with the proof.

    Raises
    ------
    ProblemError
        For unusable arguments.
    CapabilityError
        Where the engine cannot solve the problem; before iteration 1.
    ContradictionError
        Where two proved bounds contradict each other: a bug, or data that were changed.
    """
    require_problem(problem)
    if callback is not None and not callable(callback):
        msg = f"callback must be a function of one Event, or None, got {callback!r}"
        raise ProblemError(msg)
    limits, seed = limits_of(tol, max_iter, time_limit, atol), seed_of(random_state)
    if warm_start is not None and not isinstance(warm_start, Solution):
        msg = f"warm_start must be a Solution, got {type(warm_start).__name__}"
        raise ProblemError(msg)
    began = time.perf_counter()
    reduction = problem.reduction()
    careful = _Careful(callback or silent)
    told = _told(type(problem).__name__, progress, careful)
    with contextlib.ExitStack() as after, governed(problem), told as tell:
        after.callback(problem.rest)
        found: Found | str
        if reduction is None:
            found = _run(problem, method, tol, atol, limits, tell, warm_start, seed)
        elif reduction.answer:
            return _answered(problem, reduction.answer, tol, began)
        else:
            problem, found = _run_reduced(problem, reduction, method, tol, atol, limits, tell, warm_start, seed)
        if isinstance(found, str):
            return _answered(problem, found, tol, began)
        solution = _solution(problem, found, tol, atol, began)
    careful.raise_with(solution)
    return solution


class _Careful:
    """The user's callback, whose error ends the run as Ctrl-C does, and is raised where the answer is known."""

    def __init__(self, user: Callback) -> None:
        self.user = user
        self.error: Exception | None = None

    def __call__(self, event: Event) -> object:
        try:
            return self.user(event)
        except Exception as error:
            self.error = error
            raise KeyboardInterrupt from error

    def raise_with(self, solution: Solution) -> None:
        """Raise what the callback raised, with the answer so far as its attribute ``solution``."""
        if self.error is not None:
            self.error.solution = solution  # type: ignore[attr-defined]
            self.error.add_note("raised by the callback of matrixlearn.solve; the answer so far is error.solution")
            raise self.error


@dataclass(frozen=True)
class Found:
    """What a run came to, as points of the problem that was asked."""

    X: Array | None
    y: np.ndarray | None
    infeasible: bool
    engine: Engine
    done: Run
    notes: tuple[str, ...]
    estimated: bool = False


def _run(
    problem: Problem,
    method: str | Engine,
    tol: float,
    atol: float,
    limits: Limits,
    tell: Callback,
    warm_start: Solution | None,
    seed: int | None,
    inside: tuple[Array | None, np.ndarray | None] = (None, None),
) -> Found:
    """Choose an engine and run it on a problem as it is."""
    notes: list[str] = []
    began = time.perf_counter()
    engine = _choose(problem, method, tol, notes)
    if seed is not None:
        engine = engine.seeded(seed)
    try:
        start = _start(problem, warm_start, inside)
    except KeyboardInterrupt:  # before anything is known
        done = Run(Incumbent(problem), (), 0, time.perf_counter() - began, INTERRUPTED)
        return Found(None, None, infeasible=False, engine=engine, done=done, notes=tuple(notes))
    if engine.objection(problem):
        problem, start = _between(problem, start, tol, limits, notes)
        if engine.objection(problem):
            notes.append(f"ended: no strictly feasible X was found, which {engine.name} needs")
            done = Run(start, (), 0, time.perf_counter() - began, notes[-1])
            return Found(start.X, start.y, start.infeasible, engine, done, tuple(notes))
    limits = replace(limits, spent=limits.spent + time.perf_counter() - began)
    done = run_from(engine, problem, tol=tol, atol=atol, start=start, limits=limits, callback=tell)
    if done.state is not None and (remarks := engine.remarks(done.state)):
        notes.append(remarks)
    best = done.incumbent
    estimated = best.from_matrix.rigour == "estimate"
    return Found(best.X_as_known, best.y, best.infeasible, engine, done, tuple(notes), estimated)


def _between(problem: Any, start: Incumbent, tol: float, limits: Limits, notes: list[str]) -> tuple[Problem, Incumbent]:
    """The problem between bounds that an interior point proves: an engine that needs them gets them."""

    def known(incumbent: Incumbent) -> bool:
        by_trace = incumbent.from_vector.trace_bound is not None and incumbent.upper < INF  # no other y will be found
        return incumbent.inside is not None and (by_trace or incumbent.inside_dual is not None)

    if not known(start):
        first = run(InteriorPoint(), problem, tol=tol, start=start, limits=limits, decided=known)
        start = first.incumbent
        notes.append(f"a strictly feasible point by interior-point in {first.iterations} iterations")
    if start.inside is None or not start.upper < INF:
        return problem, start
    bounded = problem.bounded(start.inside, start.upper, start.inside_dual)
    return bounded, replace(start, problem=bounded)


def _run_reduced(
    problem: Any,
    reduction: Any,
    method: str | Engine,
    tol: float,
    atol: float,
    limits: Limits,
    tell: Callback,
    warm_start: Solution | None,
    seed: int | None,
) -> tuple[Problem, Found | str]:
    """Run on the equivalent problem, and again where the problem has another way to put it.

    In the place of what was found, what the data of the last way say, where that is the answer.
    """
    notes = [reduction.why] if reduction.why else []
    tol, atol, began = LIFTED * tol, LIFTED * atol, time.perf_counter()
    points: list[tuple[Array | None, np.ndarray | None]] = []
    while True:
        inside = None if problem.interior is None else reduction.lowered_matrix(problem.interior)
        earlier = _lowered(problem, warm_start, reduction)
        spent = replace(limits, spent=limits.spent + time.perf_counter() - began)
        found = _run(reduction.program, method, tol, atol, spent, tell, earlier, seed, (inside, None))
        again = None
        if found.done.ended != INTERRUPTED and spent.spent < limits.time_limit:
            again = problem.reconsidered(reduction, found.done.incumbent, found.done.last, tol, atol)
        best = found.done.incumbent
        points.append(_lifted(problem, reduction, found, max(tol * best.size, atol, best.from_matrix.rounding)))
        if again is None:
            break
        notes += [*found.notes, f"ended: {found.done.ended}", again.why]
        problem, reduction = again.problem, again.reduction
        if reduction.answer:
            return problem, reduction.answer
    X, y = points[-1]
    if len(points) > 1 and not found.infeasible:
        X, y = _best_of(problem, points)
    return problem, replace(found, X=X, y=y, notes=(*notes, *found.notes))


def _best_of(
    problem: Problem, points: list[tuple[Array | None, np.ndarray | None]]
) -> tuple[Array | None, np.ndarray | None]:
    """Of the points that several runs came to, those that prove most; the last where none proves anything."""
    best = Incumbent(problem)
    for X, y in reversed(points):
        best = best.offered(Proposal(X=X, y=y))
    X = best.from_matrix.point if proves(best.from_matrix) else points[-1][0]
    return X, best.from_vector.point if best.from_vector.point is not None else points[-1][1]


def _lowered(problem: Problem, warm_start: Solution | None, reduction: Any) -> Solution | None:
    """An earlier answer, as one of the equivalent problem; None where it is of another shape."""
    if warm_start is None:
        return None
    X, y = warm_start.matrix, warm_start.y
    shape = getattr(problem.like, "shape", None)
    X = reduction.lowered_matrix(X) if X is not None and getattr(X, "shape", None) == shape else None
    y = reduction.lowered_vector(y) if y is not None and len(y) == problem.multipliers else None
    if X is None and y is None:
        return None
    return replace(warm_start, certificate=replace(warm_start.certificate, X=X, y=y, problem=reduction.program))


def _lifted(problem: Problem, reduction: Any, found: Found, width: float) -> tuple[Array | None, np.ndarray | None]:
    """The points for the whole problem, moved where the way there and back has cost them their proof.

    A tenth of ``width``, the gap that is asked for, may be lost.
    """
    best, X, y = found.done.incumbent, None, None
    least, most = best.from_matrix.lower - width / 10, best.from_vector.upper + width / 10
    by_limit = best.from_vector.trace_bound is not None
    if found.X is not None:
        X = reduction.lifted_matrix(reduction.program.toward(found.X, best.inside))
        if best.inside is not None:
            X = nearest_proved(
                problem.bound_from_matrix, X, reduction.lifted_matrix(best.inside), lambda bound: bound.lower >= least
            )
    if found.y is not None:
        y = reduction.lifted_vector(found.y)
        if best.inside_dual is not None:
            y = nearest_proved(
                problem.bound_from_vector,
                y,
                reduction.lifted_vector(best.inside_dual),
                lambda bound: bound.upper <= most and (bound.trace_bound is None or by_limit),
            )
    return X, y


def _answered(problem: Problem, why: str, tol: float, began: float) -> Solution:
    """What the data alone say of the optimum, certified as every answer is."""
    like, m = problem.like, problem.multipliers
    certificate = certified(problem, X=None, y=np.zeros(m or 0))
    if not certificate.is_infeasible and like is not None:
        certificate = certified(problem, X=0 * like, y=certificate.y)
    return Solution(
        status=status_of(certificate, tol, 0.0),
        value=certificate.value,
        certificate=certificate,
        method="presolve",
        tol=tol,
        iterations=0,
        seconds=time.perf_counter() - began,
        history=History(),
        notes=(f"ended: {why}", "0 iterations"),
    )


def _solution(problem: Problem, found: Found, tol: float, atol: float, began: float) -> Solution:
    """The answer, certified by the call that `Certificate.verify` makes."""
    done = found.done
    by_vector = done.incumbent.from_vector
    X = None if by_vector.upper == -INF or by_vector.lower == INF else found.X  # y proves that there is none
    y = found.y
    try:
        points = certified(problem, X=X, y=y)
        certificate = certified(problem, X=points.X, y=points.y)
        certificate = replace(certificate, X=points.X, y=points.y)  # those that `verify` computes the same bounds of
        if found.estimated and X is not None:
            certificate = replace(certificate, **estimate(problem, X, certificate, tol, atol))
        value = certificate.value
    except MachinesError:  # the data are out of reach: what was certified while they were not
        certificate = done.certificate
        value = certificate.upper if problem.objective == "minimize" else certificate.lower
    if certificate.upper == INF and certificate.lower > -INF and X is not None:
        certificate = replace(certificate, ray=problem.ray_near(X))
    status, why = status_of(certificate, tol, atol), done.ended
    if status is Status.INFEASIBLE:
        within = "" if certificate.trace_bound is None else f" with tr X <= {certificate.trace_bound:g}"
        why = f"y proves that nothing is feasible{within}"
    elif status is Status.UNBOUNDED:
        why = "along certificate.ray the objective grows without end"
    elif status is not Status.STOPPED:
        why = "the certified gap is at most tol" if certificate.gap <= tol else "the bounds differ by at most atol"
    elif why == "optimal":
        why = "the equivalent problem was solved to tol, but its points prove less of this one: numerical limit"
    return Solution(
        status=status,
        value=value,
        certificate=certificate,
        method=found.engine.name,
        tol=tol,
        atol=atol,
        iterations=done.iterations,
        seconds=time.perf_counter() - began,
        history=History(done.events),
        notes=(
            *found.notes,
            f"ended: {why}",
            f"{done.iterations} iterations in {done.seconds:.3g} s, {len(done.events)} checks",
        ),
    )


@contextlib.contextmanager
def _told(title: str, progress: bool | None, user: Callback) -> Iterator[Callback]:
    """The callback of the run: the user's, and the live line where asked for."""
    if not progress:
        yield user
        return
    with Progress(title) as line:

        def both(event: Event) -> object:
            line(event)
            return user(event)

        yield both


def _start(
    problem: Problem, warm_start: Solution | None, inside: tuple[Array | None, np.ndarray | None] = (None, None)
) -> Incumbent:
    """Bounds that cost next to nothing: the centres, best responses, and an earlier answer."""
    incumbent = Incumbent.first(problem).offered(Proposal(X=inside[0], y=inside[1]))
    if warm_start is None:
        return incumbent
    known = incumbent.from_matrix.point
    like = problem.like if known is None else known
    same_X = getattr(warm_start.matrix, "shape", None) == getattr(like, "shape", None)
    same_y = getattr(warm_start.y, "shape", None) == getattr(incumbent.y, "shape", None)
    X = _beside(warm_start.matrix, like) if same_X and warm_start.matrix is not None else None
    y = warm_start.y if same_y and warm_start.y is not None and bool(np.all(np.isfinite(warm_start.y))) else None
    hint = Proposal(X=X if X is not None and is_finite(X) else None, y=y)
    return replace(incumbent.offered(hint), hint=hint)


def _beside(X: Array, like: Array) -> Array:
    """X in the namespace of ``like``; factors are NumPy's, and a bound takes them as they are."""
    if isinstance(X, FactoredMatrix):
        return X
    return X if isinstance(like, FactoredMatrix) else moved(X, like)


def _choose(problem: Problem, method: str | Engine, tol: float, notes: list[str]) -> Engine:
    """The engine that was asked for, or one that measurements prefer, or the first that can."""
    if isinstance(method, Engine):
        engine = method
    elif isinstance(method, str) and method == "auto":
        able = _able(_first_choices(problem), problem) or _able(_others(problem), problem)
        able.sort(key=lambda engine: bool(engine.objection(problem)))  # those that need no more first
        if not able:
            why = "; ".join(_objection(engine, problem) for engine in _first_choices(problem))
            msg = f"no engine can solve a {problem.title}: {why}"
            raise CapabilityError(msg)
        for engine in able:
            why = engine.preferred(engine.subject(problem), tol)
            if why:
                notes.append(f"auto: {engine.name}, {why}")
                return engine
        notes.append(f"auto: {able[0].name}, the first of {[engine.name for engine in able]} in order of preference")
        return able[0]
    else:
        if isinstance(method, type) and issubclass(method, Engine):
            msg = f"method must be an instance of an engine: {method.__name__}(), not the class"
            raise ProblemError(msg)
        if not isinstance(method, str) or method not in registered_engines():
            names = sorted(engine.name for engine in _able(_first_choices(problem) + _others(problem), problem))
            msg = f"method must be 'auto' or, for a {problem.title}, one of {names}, got {method!r}"
            raise ProblemError(msg)
        engine = registered_engines()[method]()
    lacking = _objection(engine, problem)
    if lacking:
        msg = f"{engine.name} cannot solve this {problem.title}: {lacking}"
        raise CapabilityError(msg)
    notes.append(f"{engine.name}: asked for")
    return engine
