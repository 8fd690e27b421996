"""The loop, written once.

An engine is frozen hyper-parameters and two functions: ``init`` makes a state, ``step`` turns a state
into the next. A state holds what the engine needs and, where it has something to show, proposals:
points that may improve a bound. The loop certifies them from the problem's data, keeps the best,
tells the callback, and ends at the certified gap, at a limit, at Ctrl-C, or when the engine can do
no more. No engine computes a bound that anyone believes.
"""

from __future__ import annotations

import contextlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from matrixlearn.callbacks import Callback, Event, silent
from matrixlearn.certificate import Certificate, charged, combine, lower_of, relative_gap
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import Bound, Problem
from matrixlearn.typing import Array

Record = TypeVar("Record")


def updated(record: Record, **changes: Any) -> Record:
    """`dataclasses.replace` without a call of ``__init__``, for states that are made anew each iteration: a fifth of
    its time, which was a fiftieth of an iteration in 200 dimensions.
    """
    out = object.__new__(type(record))
    out.__dict__.update(record.__dict__, **changes)
    return out


INTERRUPTED = "interrupted"
"""How a loop ended at Ctrl-C."""

DECISIVE = 3.0
"""A proposal that comes with a proof is certified by all eigenvalues only where the proven gap is at most this many
times tol: they close 5 to 50 % of it."""


@dataclass(frozen=True)
class Proposal:
    """Points worth certifying.

    Attributes
    ----------
    X, y
        The points.
    proof : tuple of two Bound, optional
        What is proved of X and of y already, e.g. by Cholesky factorizations that an interior method has taken
        (`SpectralGame.bounds_from_interior`).
    """

    X: Array | None = None
    y: np.ndarray | None = None
    proof: tuple[Bound, Bound] | None = None


@dataclass(frozen=True)
class Incumbent:
    """The best certified points so far."""

    problem: Problem
    from_matrix: Bound = field(default_factory=Bound)
    from_vector: Bound = field(default_factory=Bound)

    @property
    def lower(self) -> float:
        """The better of the two lower bounds."""
        return lower_of(self.from_matrix, self.from_vector)

    @property
    def upper(self) -> float:
        """The better of the two upper bounds."""
        return min(self.from_matrix.upper, self.from_vector.upper)

    @property
    def gap(self) -> float:
        """The relative gap between them."""
        return relative_gap(self.lower, self.upper, self.problem.scale_at(self.y, self.upper))

    @property
    def y(self) -> np.ndarray | None:
        """The best vector, or None before there is one."""
        return self.from_vector.point

    @property
    def X(self) -> Array | None:
        """The best matrix, or None before there is one; dense, where it is known by its factors."""
        point = self.from_matrix.point
        return point.dense() if isinstance(point, FactoredMatrix) else point

    @classmethod
    def first(cls, problem: Problem) -> Incumbent:
        """What the points prove that the problem knows at once."""
        incumbent = cls(problem)
        for X, y in problem.first_points():
            incumbent = incumbent.offered(Proposal(X=X, y=y))
        return incumbent

    def offered(self, proposal: Proposal) -> Incumbent:
        """The better of this and what the proposal proves."""
        out = self
        if proposal.X is not None:
            out = out._with_matrix(self.problem.bound_from_matrix(proposal.X))
        if proposal.y is not None and bool(np.all(np.isfinite(proposal.y))):
            out = out._with_vector(self.problem.bound_from_vector(proposal.y))
        return out

    def shown(self, proposal: Proposal) -> Incumbent:
        """The better of this and the proof that the proposal brings; `offered`, where it brings none."""
        if proposal.proof is None:
            return self.offered(proposal)
        from_matrix, from_vector = proposal.proof
        return self._with_matrix(from_matrix)._with_vector(from_vector)

    def _with_matrix(self, bound: Bound) -> Incumbent:
        old, y = self.from_matrix, self.from_vector.point
        better = old.point is None or _better(bound, old, charged(bound, y) > charged(old, y))
        return updated(self, from_matrix=bound) if better else self

    def _with_vector(self, bound: Bound) -> Incumbent:
        old = self.from_vector
        better = old.point is None or _better(bound, old, bound.lower > old.lower)
        return updated(self, from_vector=bound) if better else self

    def certificate(self) -> Certificate:
        """What the two points prove, for the `Solution`."""
        return combine(self.problem, self.from_matrix, self.from_vector)


def _better(new: Bound, old: Bound, gained: bool) -> bool:
    """Whether the lower bound has ``gained``, or the upper one."""
    if new.rigour == "blockwise":  # its lower bound is about the new point, and no better elsewhere
        return new.upper < old.upper
    return gained or new.upper < old.upper


@dataclass(frozen=True)
class State:
    """What every state has; engines add their own fields.

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
        return replace(self, seed=seed) if hasattr(self, "seed") else self  # type: ignore[type-var]

    @abstractmethod
    def init(self, problem: Any, incumbent: Incumbent) -> State:
        """The first state, from the best points known (a warm start among them)."""

    @abstractmethod
    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> State:
        """The next state."""


@dataclass(frozen=True)
class Limits:
    """When to stop short of the goal."""

    max_iter: float = math.inf
    time_limit: float = math.inf
    spent: float = 0.0
    """Seconds that count, from before the loop began."""


@dataclass(frozen=True)
class Run:
    """How a loop ended, and what it proved."""

    certificate: Certificate
    events: tuple[Event, ...]
    iterations: int
    seconds: float
    ended: str
    """"optimal", or why the loop ended short of it."""
    state: State | None = field(repr=False, default=None)


def run(
    engine: Engine,
    problem: Problem,
    *,
    tol: float,
    start: Incumbent | None = None,
    limits: Limits = Limits(),
    callback: Callback = silent,
    decided: Callable[[Incumbent], bool] = lambda incumbent: False,
) -> Run:
    """Run an engine to the certified gap ``tol``, or as far as the limits let it.

    ``decided`` ends the loop as soon as the bounds answer a question other than the gap.
    """
    began = time.perf_counter()
    incumbent = start or Incumbent.first(problem)
    events: list[Event] = []
    iteration, state, ended = 0, None, ""

    def now() -> Event:
        return Event(iteration, time.perf_counter() - began, incumbent.lower, incumbent.upper, incumbent.gap)

    def check() -> str:
        events.append(now())
        stop = callback(events[-1])
        if incumbent.gap <= tol:
            return "optimal"
        if decided(incumbent):
            return "decided"
        return "the callback asked to stop" if stop else ""

    try:
        ended = check()
        while not ended:
            if iteration >= limits.max_iter:
                ended = f"max_iter = {int(limits.max_iter)} reached"
                break
            if limits.spent + time.perf_counter() - began >= limits.time_limit:
                ended = f"time_limit = {limits.time_limit:g} s reached"
                break
            if state is None:
                state = engine.init(problem, incumbent)
            state = engine.step(problem, state, incumbent)
            iteration += 1
            for proposal in state.proposals:
                incumbent = incumbent.shown(proposal)
                if proposal.proof is not None and incumbent.gap <= DECISIVE * tol:
                    incumbent = incumbent.offered(proposal)
            if state.proposals or state.finished:
                ended = check() or state.finished
    except KeyboardInterrupt:
        ended = INTERRUPTED
    if state is not None and incumbent.gap > tol:  # the last points are worth all eigenvalues
        with contextlib.suppress(KeyboardInterrupt):
            last = [proposal for proposal in state.proposals if proposal.proof is not None]
            for proposal in last:
                incumbent = incumbent.offered(proposal)
            if last:
                events.append(now())
    return Run(
        certificate=incumbent.certificate(),
        events=tuple(events),
        iterations=iteration,
        seconds=time.perf_counter() - began,
        ended=ended,
        state=state,
    )
