"""The contract of an engine, and the one loop that runs it.

An engine is frozen hyper-parameters and two functions: ``init`` makes a state, ``step`` turns a state
into the next. A state holds what the engine needs and, where it has something to show, proposals:
points that may improve a bound. The loop certifies them from the problem's data, keeps the best,
tells the callback, and ends at the certified gap, at a limit, at Ctrl-C, or when the engine can do
no more. No engine computes a bound that anyone believes.
"""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any

from matrixlearn.callbacks import Callback, Event, silent
from matrixlearn.certificate import Certificate
from matrixlearn.clock import TimeIsUp, clock_time, time_limited
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.snapshot import FORGETFUL, Snapshot, SnapshotKeeper
from matrixlearn.exceptions import MachinesError
from matrixlearn.problems.base import Problem
from matrixlearn.problems.conic import recovered
from matrixlearn.problems.game import Game

INTERRUPTED = "interrupted"
"""How a loop ended at Ctrl-C."""

OUT_OF_REACH = "the data are out of reach"
"""How a loop ended that has lost the machines that keep the data; the reason follows."""

DECIDED = "what is known tells what to solve next"
"""How a loop ended whose bounds answered another question than the gap."""

DECISIVE = 3.0
"""A proposal that comes with an interior is certified by all eigenvalues only where the gap that its Cholesky factors
prove is at most this many times tol: they close 5 to 50 % of it."""


@dataclass(frozen=True)
class State:
    """Base class of the states of engines, which add fields of their own.

    Attributes
    ----------
    proposals : tuple of Proposal
        To be certified after this step.
    finished : str
        Why the engine can do no more; empty while it can.
    """

    proposals: tuple[Proposal, ...] = ()
    finished: str = ""


class Engine(ABC):
    """A method that proposes points: frozen parameters and two functions, `init` and `step`."""

    name: str
    """What ``method=`` says."""

    @abstractmethod
    def objection(self, problem: Problem) -> str:
        """Why this engine cannot solve the problem, and what to do; empty where it can. Asked before iteration 1."""

    def preferred(self, problem: Any, tol: float) -> str:
        """Why ``auto`` should take this engine before those listed earlier: what was measured; empty, by default.

        Asked only where `objection` has no objection.
        """
        return ""

    def remarks(self, state: Any) -> str:
        """What `Solution.explain` should say of how it went; empty, by default."""
        return ""

    def seeded(self, seed: int) -> Engine:
        """This engine with another ``seed``, the field of an engine that draws; itself, where it draws nothing."""
        return replace(self, seed=seed) if is_dataclass(self) and hasattr(self, "seed") else self

    def subject(self, problem: Problem) -> Any:
        """What the other methods get: the problem itself, by default."""
        return problem

    @abstractmethod
    def init(self, problem: Any, incumbent: Incumbent) -> State:
        """The first state, from the best points known (a warm start among them)."""

    @abstractmethod
    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> State:
        """The next state."""


def objection_to_game(name: str, game: Game) -> str:
    """Why an engine that needs a bounded Y cannot play a game; empty where it can."""
    if game.Y.is_bounded:
        return ""
    return f"{name} needs a bounded set of multipliers Y, as a strictly feasible point gives; equalities have none"


class GameEngine(Engine):
    """An engine that plays the game of a problem: ``preferred``, ``init`` and ``step`` get the `Game`."""

    def objection(self, problem: Problem) -> str:
        if problem.game is None:
            return f"{self.name} plays games, and a {type(problem).__name__} has none: give it a `game`"
        return self.objection_to(problem.game)

    def objection_to(self, game: Game) -> str:
        """Why this engine cannot play a game; empty where it can: any game with a bounded Y, by default."""
        return objection_to_game(self.name, game)

    def subject(self, problem: Problem) -> Game | None:
        return problem.game


@dataclass(frozen=True)
class Limits:
    """When to stop short of the goal."""

    max_iter: float = math.inf
    """Steps of the engine."""
    time_limit: float = math.inf
    """Seconds, those of `spent` included."""
    spent: float = 0.0
    """Seconds that count, from before the loop began."""


@dataclass(frozen=True)
class Run:
    """How a loop ended, and what it proved."""

    incumbent: Incumbent
    """The best certified points."""
    events: tuple[Event, ...]
    """One for each check."""
    iterations: int
    """Steps of the engine."""
    seconds: float
    """Of the loop."""
    ended: str
    """"optimal", or why the loop ended short of it."""
    state: State | None = field(repr=False, default=None)
    """The last one of the engine."""
    last: Proposal = field(default_factory=Proposal)
    """The last points that the engine proposed."""

    @property
    def gave_up(self) -> bool:
        """Whether the engine ended it, for it could do no more."""
        return self.state is not None and bool(self.state.finished) and self.ended == self.state.finished

    def then(self, later: Run) -> Run:
        """This run followed by a later one, as one record."""
        return replace(
            later,
            events=(
                *self.events,
                *(
                    replace(e, iteration=e.iteration + self.iterations, seconds=e.seconds + self.seconds)
                    for e in later.events
                ),
            ),
            iterations=self.iterations + later.iterations,
            seconds=self.seconds + later.seconds,
        )

    @property
    def certificate(self) -> Certificate:
        """The certificate of the best points."""
        return self.incumbent.certificate()


def run(
    engine: Engine,
    problem: Problem,
    *,
    tol: float,
    atol: float = 0.0,
    start: Incumbent | None = None,
    limits: Limits = Limits(),
    callback: Callback = silent,
    decided: Callable[[Incumbent], bool] = lambda incumbent: False,
    keeper: SnapshotKeeper = FORGETFUL,
) -> Run:
    """Run an engine until upper - lower <= max(tol size, atol), or as far as the limits let it.

    ``decided`` ends the loop as soon as the bounds answer a question other than the gap. ``keeper`` gets a snapshot of
    each check, and may give the one to go on from: iterations and seconds are then counted from the very first.
    """
    began = clock_time()
    incumbent, subject = start or Incumbent.first(problem), engine.subject(problem)
    events: list[Event] = []
    iteration, state, ended, last, waiting = 0, None, "", Proposal(), False
    at = keeper.begin(engine, problem)
    if at is not None:
        iteration, state, incumbent, last, events = at.iteration, at.state, at.incumbent, at.last, list(at.events)
    earlier = events[-1].seconds if events else 0.0

    def event() -> Event:
        seconds, note = earlier + clock_time() - began, problem.traffic()
        return Event(iteration, seconds, incumbent.lower, incumbent.upper, incumbent.gap, note)

    def check() -> str:
        nonlocal at
        events.append(event())
        at = Snapshot(iteration, state, incumbent, last, tuple(events))
        stop = callback(events[-1])
        keeper.keep(at)
        return verdict() or ("the callback asked to stop" if stop else "")

    def verdict() -> str:
        if incumbent.within(tol, atol):
            return "optimal"
        if incumbent.infeasible:
            return "infeasible"
        if decided(incumbent):
            return DECIDED
        return state.finished if state is not None else ""

    try:
        ended = check() if at is None else verdict()
        while not ended:
            if iteration >= limits.max_iter:
                ended = f"max_iter = {int(limits.max_iter)} reached"
                break
            left = limits.time_limit - limits.spent - (clock_time() - began)
            if left <= 0:
                raise TimeIsUp
            with time_limited(left):
                if state is None:
                    state = engine.init(subject, incumbent)
                state = engine.step(subject, state, incumbent)
                iteration += 1
                for proposal in state.proposals:
                    last = proposal
                    waiting = incumbent.waits(proposal, iteration, tol)
                    if waiting:
                        continue
                    incumbent = incumbent.shown(proposal)
                    if proposal.interior is not None and incumbent.gap <= DECISIVE * tol:
                        incumbent = incumbent.offered(proposal)
            if state.proposals or state.finished:
                ended = check()
    except KeyboardInterrupt:
        ended = INTERRUPTED
    except TimeIsUp:
        ended = f"time_limit = {limits.time_limit:g} s reached"
    except MachinesError as error:
        ended = f"{OUT_OF_REACH}: {error}"
    if at is not None:
        keeper.keep(at, at_the_end=True)
    if not (incumbent.within(tol, atol) or incumbent.infeasible):
        with contextlib.suppress(KeyboardInterrupt, MachinesError):  # what is known in the end is worth all eigenvalues
            if last.interior is not None or waiting:
                incumbent = incumbent.offered(last)
            pairs = [(incumbent.X, incumbent.y), (last.X, last.y)] if iteration and ended != DECIDED else []
            for X, y in pairs:
                if X is not None and y is not None and not incumbent.within(tol, atol):
                    incumbent = incumbent.offered(Proposal(*recovered(problem, X, y)))
            if incumbent.within(tol, atol):
                ended = "optimal"
            if last.X is not None:
                incumbent = incumbent.estimated(last.X)
                events.append(event())
    return Run(
        incumbent=incumbent,
        events=tuple(events),
        iterations=iteration,
        seconds=earlier + clock_time() - began,
        ended=ended,
        state=state,
        last=last,
    )


def run_from(engine: Engine, problem: Problem, *, start: Incumbent, limits: Limits, **how: Any) -> Run:
    """`run` from an earlier answer, and again without it where the engine gave up: no start changes an answer."""
    done = run(engine, problem, start=start, limits=limits, **how)
    if (start.hint.X is None and start.hint.y is None) or not done.gave_up:
        return done
    left = replace(limits, max_iter=limits.max_iter - done.iterations, spent=limits.spent + done.seconds)
    return done.then(run(engine, problem, start=replace(done.incumbent, hint=Proposal()), limits=left, **how))
