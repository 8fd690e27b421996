"""The front door: check, reduce, choose an engine, run it, certify, return a Solution."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from matrixlearn._array import brought_to, namespace
from matrixlearn._checkpoint import Checkpoint
from matrixlearn._choice import chosen
from matrixlearn._settings import limits_of, seed_of
from matrixlearn._threads import governed
from matrixlearn.callbacks import Callback, Event, Progress, silent
from matrixlearn.certificate import certified, estimate, settled
from matrixlearn.clock import clock_time, ending_after
from matrixlearn.engines import Engine, Incumbent, InteriorPoint, Limits, Proposal, Run, run
from matrixlearn.engines.base import INTERRUPTED, run_from
from matrixlearn.engines.incumbent import proves
from matrixlearn.engines.snapshot import FORGETFUL, SnapshotKeeper
from matrixlearn.exceptions import MachinesError, ProblemError
from matrixlearn.linalg import is_complex, real
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import INF, Problem, require_problem
from matrixlearn.problems.conic import ray_near
from matrixlearn.reductions import Reduction, reduction_of
from matrixlearn.solution import History, Solution, Status, status_of
from matrixlearn.typing import Array

MODERATE = 1e75
"""Numbers of an earlier answer are smaller: products of four are finite."""


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
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
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
    checkpoint : path, optional
        A file for the state of the engine, written whole or not at all at checks, in a twentieth of the time at most.
    resume : path, optional
        Such a file, to go on with the same iterates, for the same problem and engine; ``max_iter`` counts all of them,
        ``time_limit`` those of this call. What comes before the engine, such as a phase one, is done again. The file
        may be the same as ``checkpoint``; it is a pickle, of known classes only: take none from strangers.

    Returns
    -------
    Solution
        ``status`` "optimal" where the bounds are proved and near enough; "trace bound" where the proof needs the
        ``trace_bound`` that the user gave; "probable" where a bound is false with a probability of at most 1e-10;
        "estimated" where the lower bound is not proved; "stationary" where the bounds are those of the blocks;
        "stopped" with the best certified bounds at a limit, at Ctrl-C or at the numerical limit; "infeasible" with the
        proof.

    Raises
    ------
    ProblemError
        For unusable arguments.
    CapabilityError
        Where the engine cannot solve the problem; before iteration 1.
    MatrixLearnError
        Where ``resume`` is no checkpoint, or one of another problem or engine.
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
    earlier = Proposal() if warm_start is None else Proposal(X=warm_start.matrix, y=warm_start.y)
    keeper = Checkpoint(problem, checkpoint, resume) if (checkpoint, resume) != (None, None) else FORGETFUL
    asked = Request(method, tol, atol, limits, earlier, seed, keeper)
    careful = _Careful(callback or silent)
    told = _told(type(problem).__name__, progress, careful)
    with contextlib.ExitStack() as after, governed(problem), told as tell, ending_after(limits.time_limit):
        after.callback(problem.rest)
        solution = _solved(problem, asked, tell)
    careful.raise_with(solution)
    return solution


@dataclass(frozen=True)
class Request:
    """What the caller of `solve` asks for, checked."""

    method: str | Engine
    tol: float
    atol: float
    limits: Limits
    earlier: Proposal
    """The points of an earlier answer."""
    seed: int | None
    keeper: SnapshotKeeper
    began: float = field(default_factory=clock_time)

    def remaining(self) -> Limits:
        """The limits, and how much of the time is spent."""
        return replace(self.limits, spent=clock_time() - self.began)

    def part(self, share: float) -> Request:
        """The same to a part of the tolerances."""
        return replace(self, tol=share * self.tol, atol=share * self.atol)


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
            vars(self.error)["solution"] = solution
            self.error.add_note("raised by the callback of matrixlearn.solve; the answer so far is error.solution")
            raise self.error


@dataclass(frozen=True)
class Found:
    """A run of an engine on the program of a reduction."""

    engine: Engine
    run: Run
    notes: tuple[str, ...]


def _solved(problem: Problem, asked: Request, tell: Callback) -> Solution:
    """Run on the program of each reduction in turn, and certify the best points that were found."""
    reduction: Reduction | None = reduction_of(problem)
    notes: list[str] = []
    problems: list[Problem] = []
    points: list[Proposal] = []
    while reduction is not None:
        problem, inner = reduction.problem, asked.part(reduction.part)
        if reduction.answer:
            return _answered(problem, reduction.answer, asked)
        notes += [reduction.why] if reduction.why else []
        found = _run(reduction, inner, tell)
        best, ended = found.run.incumbent, found.run.ended
        width = max(inner.tol * best.size, inner.atol, best.from_matrix.rounding)
        problems.append(problem)
        points.append(reduction.lift_best(best, width))
        in_time = ended != INTERRUPTED and inner.remaining().spent < asked.limits.time_limit
        try:
            reduction = reduction.after(found.run, inner.tol, inner.atol) if in_time else None
        except KeyboardInterrupt:  # what is found so far is the answer
            reduction, found = None, replace(found, run=replace(found.run, ended=INTERRUPTED))
        notes += found.notes if reduction is None else [*found.notes, f"ended: {ended}"]
    final = points[-1]
    if len(points) > 1 and not best.infeasible:
        known = _without_assumption(_best_of(problems, points), points, tol=asked.tol, atol=asked.atol)
        X = known.from_matrix.point if proves(known.from_matrix) else final.X
        problem, final = known.problem, Proposal(X=X, y=final.y if known.y is None else known.y)
    return _solution(problem, final, replace(found, notes=tuple(notes)), asked, [point.X for point in points])


def _run(reduction: Reduction, asked: Request, tell: Callback) -> Found:
    """Choose an engine and run it on the program of a reduction, or on that with bounds on y, where it needs these."""
    choice = chosen(reduction, asked.method, asked.tol)
    engine = choice.engine if asked.seed is None else choice.engine.seeded(asked.seed)
    notes, began = [choice.why], clock_time()
    try:
        start = _start(reduction, asked.earlier)
    except KeyboardInterrupt:  # before anything is known
        ended = Run(Incumbent(reduction.program), (), 0, clock_time() - began, INTERRUPTED)
        return Found(engine, ended, tuple(notes))
    if engine.objection(reduction.program):
        first = _between(reduction, start, asked, notes)
        start = first.incumbent
        if first.ended == INTERRUPTED or engine.objection(start.problem):
            lacking = f"no strictly feasible X was found, which {engine.name} needs"
            why = INTERRUPTED if first.ended == INTERRUPTED else lacking
            return Found(engine, Run(start, (), 0, clock_time() - began, why), tuple(notes))
    done = run_from(
        engine,
        start.problem,
        tol=asked.tol,
        atol=asked.atol,
        start=start,
        limits=asked.remaining(),
        callback=tell,
        decided=reduction.is_left_by,
        keeper=asked.keeper,
    )
    if done.state is not None and (remarks := engine.remarks(done.state)):
        notes.append(remarks)
    return Found(engine, done, tuple(notes))


def _between(reduction: Reduction, start: Incumbent, asked: Request, notes: list[str]) -> Run:
    """An interior-point run to a strictly feasible pair; its incumbent is that of the program with bounds on y."""

    def known(incumbent: Incumbent) -> bool:
        by_trace = incumbent.from_vector.trace_bound is not None and incumbent.upper < INF  # no other y will be found
        return incumbent.inside is not None and (by_trace or incumbent.inside_dual is not None)

    first = Run(start, (), 0, 0.0, "")
    if not known(start):
        limits = asked.remaining()
        if asked.keeper.goes_on:  # the checkpoint lies behind it, and knows more than this run can find
            limits = replace(limits, time_limit=INF)
        first = run(InteriorPoint(), start.problem, tol=asked.tol, start=start, limits=limits, decided=known)
        start = first.incumbent
        notes.append(f"a strictly feasible point by interior-point in {first.iterations} iterations")
    bounded = reduction.between(start) if start.inside is not None and start.upper < INF else None
    return first if bounded is None else replace(first, incumbent=replace(start, problem=bounded))


def _start(reduction: Reduction, earlier: Proposal) -> Incumbent:
    """Bounds that cost next to nothing: the centres, best responses, what the user knows, and an earlier answer."""
    program, earlier = reduction.program, reduction.lower(earlier)
    incumbent = Incumbent.first(program).offered(reduction.known)
    known = incumbent.from_matrix.point
    like = program.like if known is None else known
    same_X = getattr(earlier.X, "shape", None) == getattr(like, "shape", None)
    same_y = getattr(earlier.y, "shape", None) == getattr(incumbent.y, "shape", None)
    X = _beside(earlier.X, like) if same_X and earlier.X is not None else None
    y = earlier.y if same_y else None
    hint = Proposal(X=X if X is None or _is_moderate(X) else None, y=y if y is None or _is_moderate(y) else None)
    return replace(incumbent.offered(hint), hint=hint)


def _is_moderate(point: Array) -> bool:
    """Whether a point, or its factor, holds numbers whose products are finite, too."""
    point = point.factor if isinstance(point, FactoredMatrix) else point
    return bool(namespace(point).all(abs(point) < MODERATE))  # NaN is not


def _beside(X: Array, like: Array) -> Array:
    """X in the namespace of ``like``, real where that is; factors are NumPy's, and a bound takes them as they are."""
    if isinstance(X, FactoredMatrix):
        return X
    if isinstance(like, FactoredMatrix):
        return real(X)
    return brought_to(X if is_complex(like) else real(X), like)


def _best_of(problems: list[Problem], points: list[Proposal]) -> Incumbent:
    """What the points that several runs came to prove, of the problem of the run for which that is most; of the last,
    where it is as much.
    """

    def lacking(known: Incumbent) -> tuple[int, float]:
        missing = sum(math.isinf(bound) for bound in (known.lower, known.upper))
        return missing, 0.0 if missing else known.upper - known.lower

    distinct = [each for k, each in enumerate(problems) if all(each is not other for other in problems[k + 1 :])]
    return min(
        (reduce(Incumbent.offered, reversed(points), Incumbent(each)) for each in reversed(distinct)), key=lacking
    )


def _without_assumption(known: Incumbent, points: list[Proposal], *, tol: float, atol: float) -> Incumbent:
    """The same with a y that needs no trace bound, where one of the points has one that is near enough."""
    if known.from_vector.trace_bound is None or not known.within(tol, atol):
        return known
    bounds = [known.problem.bound_from_vector(point.y) for point in points if point.y is not None]
    others = [replace(known, from_vector=bound) for bound in bounds if bound.trace_bound is None]
    return next((other for other in others if other.within(tol, atol)), known)


def _answered(problem: Problem, why: str, asked: Request) -> Solution:
    """The answer that the data give without a run, such as contradicting rows; certified as every answer is."""
    like, m = problem.like, problem.multipliers
    certificate = certified(problem, X=None, y=np.zeros(m or 0))
    if not certificate.is_infeasible and like is not None:
        certificate = certified(problem, X=0 * like, y=certificate.y)
    return Solution(
        status=status_of(certificate, asked.tol, 0.0),
        value=certificate.value,
        certificate=certificate,
        method="presolve",
        tol=asked.tol,
        iterations=0,
        seconds=clock_time() - asked.began,
        history=History(),
        notes=(f"ended: {why}", "0 iterations"),
    )


def _solution(problem: Problem, points: Proposal, found: Found, asked: Request, tried: list[Array | None]) -> Solution:
    """The answer, certified by the call that `Certificate.verify` makes; a ray may be near any X of ``tried``."""
    done, best, tol, atol = found.run, found.run.incumbent, asked.tol, asked.atol
    X = None if best.from_vector.upper == -INF or best.from_vector.lower == INF else points.X  # y proves there is none
    try:
        certificate = settled(problem, X=X, y=points.y, known=(best.from_vector,) if best.problem is problem else ())
        if best.from_matrix.rigour == "estimate" and X is not None:
            certificate = replace(certificate, **estimate(problem, X, certificate, tol, atol))
        value = certificate.value
    except MachinesError:  # the data are out of reach: what was certified while they were not
        certificate = done.certificate
        value = certificate.upper if problem.objective == "minimize" else certificate.lower
    if certificate.upper == INF and certificate.lower > -INF and X is not None:
        rays = (ray for near in (X, *tried) if near is not None and (ray := ray_near(problem, near)) is not None)
        certificate = replace(certificate, ray=next((ray for ray in rays if ray_near(problem, ray) is not None), None))
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
        seconds=clock_time() - asked.began,
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
