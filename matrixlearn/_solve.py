"""The front door: check, choose an engine, run it, certify, return a Solution."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from matrixlearn._array import moved
from matrixlearn._threads import governed
from matrixlearn.callbacks import Callback, Event, Progress, silent
from matrixlearn.certificate import Certificate, certify
from matrixlearn.engines import Engine, Incumbent, InteriorPoint, Limits, Proposal, Run, run
from matrixlearn.engines.base import INTERRUPTED
from matrixlearn.exceptions import CapabilityError, PluginError, ProblemError
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import INF, Presolved, Problem, require_problem
from matrixlearn.registry import engines
from matrixlearn.solution import History, Solution, Status
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
"""The part of tol to which a smaller problem is solved: the whole one is certified again."""

PROVED = {"checked": Status.OPTIMAL, "blockwise": Status.STATIONARY}
"""What a gap of at most tol proves, by the rigour of the bounds."""


def methods(problem: Problem) -> list[str]:
    """The names of the engines that can solve a problem.

    Raises
    ------
    ProblemError
        Where ``problem`` is none.
    """
    require_problem(problem)
    able = _able(_first_choices(problem), _sized(problem)) + _able(_others(problem), _sized(problem))
    return [engine.name for engine in able]


def _first_choices(problem: Problem) -> list[Engine]:
    """The problem's own engines, then those of the library."""
    return [engines()[name]() for name in (*problem.engines, *PREFERRED)]


def _others(problem: Problem) -> list[Engine]:
    """The registered engines that neither the problem nor the library names, but for those that fail to load."""
    found = []
    for name in engines():
        if name not in problem.engines and name not in PREFERRED:
            with contextlib.suppress(PluginError):
                found.append(engines()[name]())
    return found


def _able(candidates: list[Engine], problem: Problem) -> list[Engine]:
    """Those that have no objection to the problem."""
    return [engine for engine in candidates if not engine.objection(problem)]


def _sized(problem: Problem) -> Problem:
    """What an engine will get: capabilities are those of the game after phase one."""
    return problem.phase_one() or problem


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
) -> Solution:
    """Solve a problem to a certified relative gap.

    Parameters
    ----------
    problem : Problem
    method : str or Engine
        "auto", or one of ``matrixlearn.methods(problem)``, or an engine with parameters of its own.
    tol : float
        The certified gap (upper - lower) / max(|upper|, |lower|, floor) at which to stop, between 0 and 1.
    max_iter : int, optional
        Iterations of the engine.
    time_limit : float, optional
        Seconds; 0 returns what is certified before the first iteration.
    progress : bool, optional
        Show a live line on the terminal (off by default; needs the extra ``cli``).
    callback : callable, optional
        Gets an `Event` at every check; a true answer stops.
    warm_start : Solution, optional
        An earlier answer; its bounds count for this problem only after they are computed again.
    random_state : int, Generator or RandomState, optional
        Seeds an engine that draws (the start of ``low-rank``, the random choice of DefiniteBoost's rounds). Without
        it an engine uses its own ``seed``, so that equal calls give equal answers in either case.

    Returns
    -------
    Solution
        ``status`` "optimal" where the checked gap is at most ``tol``, "stationary" where that of the blocks is;
        "stopped" with the best certified bounds at a limit, at Ctrl-C or at the numerical limit; "infeasible"
        with the proof.

    Raises
    ------
    ProblemError
        For unusable arguments.
    CapabilityError
        Where the engine cannot solve the problem; before iteration 1.
    """
    require_problem(problem)
    if callback is not None and not callable(callback):
        msg = f"callback must be a function of one Event, or None, got {callback!r}"
        raise ProblemError(msg)
    limits, seed = _limits(tol, max_iter, time_limit), _seed(random_state)
    began = time.perf_counter()
    smaller = problem.presolved()
    if smaller is not None:
        earlier = _lowered(warm_start, smaller)
        found = solve(
            smaller.problem, method, LIFTED * tol, max_iter, time_limit, progress, callback, earlier, random_state
        )  # fmt: skip
        return _lifted(problem, smaller, found, tol, began)
    with governed(problem), _told(type(problem).__name__, progress, callback) as tell:
        notes: list[str] = []
        if _can_begin(problem, method):
            problem = _recalled(problem, warm_start)
        else:
            problem, phase_one = _bounded(problem, limits, notes, warm_start)
            if phase_one is not None:
                return _undecided(problem, phase_one, tol, notes, warm_start)
        engine = _choose(problem, method, tol, notes)
        if seed is not None:
            engine = engine.seeded(seed)
        try:
            start = _start(problem, warm_start)
        except KeyboardInterrupt:  # before anything is known
            start = Incumbent(problem)
        limits = replace(limits, spent=time.perf_counter() - began)
        ceiling, least = problem.ceiling, problem.least_value
        done = run(
            engine,
            problem,
            tol=tol,
            start=start,
            limits=limits,
            callback=tell,
            decided=lambda incumbent: incumbent.lower > ceiling or incumbent.upper < least,
        )
    certificate = done.certificate
    why = _contradiction(certificate, ceiling, least)
    infeasible = bool(why)
    status = _status(certificate, tol)
    if infeasible:
        status, value = Status.INFEASIBLE, INF if problem.objective == "minimize" else -INF
        # what the matrix proves, it proves of nothing
        lower, upper = (certificate.lower, INF) if value > 0 else (-INF, certificate.upper)
        certificate = replace(certificate, X=None, lower=lower, upper=upper)
    else:
        why = "the certified gap is at most tol" if status in PROVED.values() else done.ended
    if done.state is not None and (remarks := engine.remarks(done.state)):
        notes.append(remarks)
    notes.append(f"ended: {why}")
    notes.append(f"{done.iterations} iterations in {done.seconds:.3g} s, {len(done.events)} checks")
    return Solution(
        status=status,
        value=value if infeasible else problem.objective_at(certificate.X, certificate.y),
        certificate=certificate,
        method=engine.name,
        tol=tol,
        iterations=done.iterations,
        seconds=time.perf_counter() - began,
        history=History(done.events),
        notes=tuple(notes),
    )


def _lowered(warm_start: Solution | None, smaller: Presolved) -> Solution | None:
    """An earlier answer, as one of the smaller problem."""
    if not isinstance(warm_start, Solution):
        return warm_start
    X, y = smaller.lowered(warm_start.matrix, warm_start.y)
    if X is None and y is None:  # of another shape
        return None
    return replace(warm_start, certificate=replace(warm_start.certificate, X=X, y=y, problem=smaller.problem))


def _lifted(problem: Problem, smaller: Presolved, found: Solution, tol: float, began: float) -> Solution:
    """The answer of the smaller problem as one of the whole, certified from the data of the whole."""
    X, y = smaller.lifted(found.matrix, found.y)
    status, certificate = found.status, replace(found.certificate, X=X, y=y, problem=problem)
    if status is not Status.INFEASIBLE:
        certificate = certify(problem, X=X, y=y)
        status = _status(certificate, tol)
    return replace(
        found,
        status=status,
        value=problem.objective_at(X, y) if status is not Status.INFEASIBLE else found.value,
        certificate=certificate,
        tol=tol,
        seconds=time.perf_counter() - began,
        notes=(smaller.why, *found.notes),
    )


def _status(certificate: Certificate, tol: float) -> Status:
    """What a certificate proves of an answer that contradicts nothing."""
    return PROVED.get(certificate.rigour, Status.STOPPED) if certificate.gap <= tol else Status.STOPPED


def _contradiction(certificate: Certificate, ceiling: float, least: float) -> str:
    """Why there is no feasible point: a proven bound beyond what any may have; empty where there may be one."""
    if certificate.rigour != "checked":
        return ""
    if certificate.lower > ceiling:
        return f"y proves a lower bound of {certificate.lower:.6g}, and no feasible point exceeds {ceiling:.6g}"
    if certificate.upper < least:
        return f"y proves an upper bound of {certificate.upper:.6g}, and no feasible point is below {least:.6g}"
    return ""


def _recalled(problem: Any, warm_start: Solution | None) -> Any:
    """The problem with the strictly feasible point of an earlier answer, which had needed one."""
    X = getattr(getattr(warm_start, "problem", None), "interior", None)
    if X is not None and problem.phase_one() is not None and X.shape == problem.cost.shape:
        with contextlib.suppress(ProblemError):  # strictly feasible there, and not here
            return problem.with_interior(moved(X, problem.cost))
    return problem


def _can_begin(problem: Problem, method: str | Engine) -> bool:
    """Whether an engine that may be chosen can do without phase one."""
    asked = [method] if isinstance(method, Engine) else _first_choices(problem) if method == "auto" else []
    if isinstance(method, str) and method in engines():
        asked = [engines()[method]()]
    return bool(_able(asked, problem))


def _is_real(value: object) -> bool:
    """A number of Python or NumPy; True is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _limits(tol: float, max_iter: int | None, time_limit: float | None) -> Limits:
    if not (_is_real(tol) and 0 < tol < 1):  # bounds 0 and 1 have a gap of 1: they say nothing
        msg = f"tol must be a positive number below 1, got {tol!r}; 1e-3 is a usual choice"
        raise ProblemError(msg)
    if max_iter is not None and not (isinstance(max_iter, Integral) and _is_real(max_iter) and max_iter >= 0):
        msg = f"max_iter must be a whole number >= 0 or None, got {max_iter!r}"
        raise ProblemError(msg)
    if time_limit is not None and not (_is_real(time_limit) and time_limit >= 0):
        msg = f"time_limit must be seconds >= 0 or None, got {time_limit!r}"
        raise ProblemError(msg)
    return Limits(
        max_iter=math.inf if max_iter is None else max_iter,
        time_limit=math.inf if time_limit is None else float(time_limit),
    )


def _seed(random_state: int | np.random.Generator | np.random.RandomState | None) -> int | None:
    """An engine's seed; a Generator is asked once."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):  # what scikit-learn's users pass
        return int(random_state.randint(2**31))
    if isinstance(random_state, Integral) and _is_real(random_state) and random_state >= 0:
        return int(random_state)
    given = f"got {random_state!r}"
    msg = f"random_state must be a whole number >= 0, a numpy.random.Generator or RandomState, or None; {given}"
    raise ProblemError(msg)


@contextlib.contextmanager
def _told(title: str, progress: bool | None, callback: Callback | None) -> Iterator[Callback]:
    """The callback of the run: the user's, and the live line where asked for."""
    user = callback or silent
    if not progress:
        yield user
        return
    with Progress(title) as line:

        def both(event: Event) -> object:
            line(event)
            return user(event)

        yield both


def _bounded(problem: Any, limits: Limits, notes: list[str], warm_start: Solution | None) -> tuple[Any, Run | None]:
    """The problem with a bounded Y, by phase one where it needs one; or the run that failed to."""
    phase_one = problem.phase_one()
    if phase_one is None:
        return problem, None
    known = (getattr(getattr(warm_start, "problem", None), "interior", None), getattr(warm_start, "matrix", None))
    done, began = None, time.perf_counter()
    for stage in phase_one.in_stages():
        start = _start(stage, None)
        for X in known:
            if X is not None and X.shape == problem.cost.shape:
                start = start.offered(Proposal(X=moved(X, problem.cost)))
        done = run(
            InteriorPoint(),
            stage,
            tol=0.5,  # well inside, not just inside
            start=start,
            limits=replace(limits, spent=time.perf_counter() - began),
            decided=lambda incumbent: incumbent.upper < 0,
        )
        found = done.certificate
        notes.append(
            f"phase one, traces up to {stage.trace:.3g}: the largest smallest slack lies in [{found.lower:.3g}, "
            f"{found.upper:.3g}] ({done.iterations} iterations, {done.seconds:.3g} s)"
        )
        if found.lower > 0:
            with contextlib.suppress(ProblemError):  # too thin an interior to be told from rounding
                return problem.with_interior(found.X), done if done.ended == INTERRUPTED else None
        if done.ended == INTERRUPTED:
            break
    return problem, done


def _undecided(problem: Any, phase_one: Run, tol: float, notes: list[str], warm_start: Solution | None) -> Solution:
    """No strictly feasible point: infeasible with its proof, or stopped without one."""
    found = phase_one.certificate
    y = None if found.y is None else problem.phase_one().ray(found.y)
    infeasible = y is not None and problem.recession_value(y) < 0
    bounds = _start(problem, warm_start).certificate()
    if infeasible:
        certificate = Certificate(-INF, -INF, "checked", None, y, problem)
        notes.append("y >= 0 with b.y + R max(0, lambda_max(-A(y))) < 0: no X is feasible")
    else:
        certificate = bounds
        notes.append(
            "ended: interrupted in phase one"
            if phase_one.ended == INTERRUPTED
            else f"ended: {phase_one.ended}; no strictly feasible X is known, so that the multipliers have no "
            f"bound: the constraints may have no interior, or a trace bound too small for one"
        )
    return Solution(
        status=Status.INFEASIBLE if infeasible else Status.STOPPED,
        value=-INF if infeasible else problem.objective_at(certificate.X, certificate.y),
        certificate=certificate,
        method=InteriorPoint.name,
        tol=tol,
        iterations=phase_one.iterations,
        seconds=phase_one.seconds,
        history=History(phase_one.events),
        notes=tuple(notes),
    )


def _start(problem: Any, warm_start: Solution | None) -> Incumbent:
    """Bounds that cost next to nothing: the centres, best responses, and an earlier answer."""
    incumbent = Incumbent.first(problem)
    if warm_start is not None:
        if not isinstance(warm_start, Solution):
            msg = f"warm_start must be a Solution, got {type(warm_start).__name__}"
            raise ProblemError(msg)
        known = incumbent.from_matrix.point
        like = problem.like if known is None and hasattr(problem, "like") else known
        same_X = getattr(warm_start.matrix, "shape", None) == getattr(like, "shape", None)
        same_y = getattr(warm_start.y, "shape", None) == getattr(incumbent.y, "shape", None)
        incumbent = incumbent.offered(
            Proposal(
                X=_beside(warm_start.matrix, like) if same_X and warm_start.matrix is not None else None,
                y=warm_start.y if same_y else None,
            )
        )
    return incumbent


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
        if not able:
            why = "; ".join(engine.objection(problem) for engine in _first_choices(problem))
            msg = f"no engine can solve a {type(problem).__name__}: {why}"
            raise CapabilityError(msg)
        for engine in able:
            why = engine.preferred(problem, tol)
            if why:
                notes.append(f"auto: {engine.name}, {why}")
                return engine
        notes.append(f"auto: {able[0].name}, the first of {[engine.name for engine in able]} in order of preference")
        return able[0]
    else:
        if isinstance(method, type) and issubclass(method, Engine):
            msg = f"method must be an instance of an engine: {method.__name__}(), not the class"
            raise ProblemError(msg)
        if not isinstance(method, str) or method not in engines():
            names = sorted(engine.name for engine in _able(_first_choices(problem) + _others(problem), problem))
            msg = f"method must be 'auto' or, for a {type(problem).__name__}, one of {names}, got {method!r}"
            raise ProblemError(msg)
        engine = engines()[method]()
    lacking = engine.objection(problem)
    if lacking:
        msg = f"{engine.name} cannot solve this {type(problem).__name__}: {lacking}"
        raise CapabilityError(msg)
    notes.append(f"{engine.name}: asked for")
    return engine
