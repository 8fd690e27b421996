"""One round of the picture that every method here shares, and the plain engine of such rounds.

    X = mirror(G);   answer = oracle(X);   stop if it is done;   G <- accumulate(G, loss, step)

Arora-Kale (`engines.mmw`) puts a search for the value around it; a stream of rounds (MEG), the most
violated constraint (DefiniteBoost) and blocks in turn (FETR) are oracles and mirror maps only, and
run through `MirrorDescent` as it stands (tests/properties/test_six_rows.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from matrixlearn.engines.base import Engine, Incumbent, Proposal, State
from matrixlearn.exponents import Exponent, brought_near
from matrixlearn.oracles import Done, Move, Oracle
from matrixlearn.problems.base import Problem
from matrixlearn.typing import Array

EARLY, LATE = 1.25, 1.35
"""Checks fall on iterations that grow by a factor, so that their cost stays a fraction of the rounds'."""


def next_check(iteration: int) -> int:
    """The iteration of the check after this one: on one geometric schedule up to 50, on a sparser one after."""
    return max(iteration + 1, int(iteration * (EARLY if iteration < 50 else LATE)))


@dataclass(frozen=True)
class Round:
    """One round: the matrix played, the answer to it, the losses after it, and the exponent of the next."""

    X: Array
    answer: Move | Done
    G: Array
    exponent: Exponent


def play(exponent: Exponent, oracle: Oracle, G: Array, at: Array | None = None) -> Round:
    """Play one round from the losses G; ``at`` replaces G in the mirror map (a rate, a hint)."""
    at = G if at is None else at
    exponent = brought_near(exponent, at)
    X = exponent(at)
    answer = oracle(X)
    if isinstance(answer, Done):
        return Round(X, answer, G, exponent)
    return Round(X, answer, exponent.accumulate(G, answer.loss, answer.step), exponent)


@dataclass(frozen=True, kw_only=True)
class MirrorState(State):
    """The losses so far, the exponent and the oracle of the next round, and the last round."""

    G: Array
    exponent: Exponent
    oracle: Oracle
    rounds: int = 0
    check_at: int = 1
    last: Round | None = None


@runtime_checkable
class Rounds(Protocol):
    """A problem that is solved in rounds of a mirror map and an oracle."""

    @property
    def like(self) -> Array:
        """An array whose namespace and dtype the losses take."""

    def exponent(self) -> Exponent:
        """The mirror map."""

    def oracle(self) -> Oracle:
        """The oracle of the first round."""


class MirrorDescent(Engine):
    """Rounds until the oracle is done: for problems that bring ``exponent()``, ``oracle()`` and ``like``,
    an array whose namespace and dtype the losses take.

    ``oracle()`` is that of the first round; an answer with ``then`` brings the oracle of the next. At
    the end the matrix just played and the last y are certified.
    """

    name = "mirror"

    def objection(self, problem: Problem) -> str:
        return (
            "" if isinstance(problem, Rounds) else "the problem lacks exponent() and oracle(), which rounds are made of"
        )

    def init(self, problem: Any, incumbent: Incumbent) -> MirrorState:
        exponent = problem.exponent()
        return MirrorState(G=exponent.zero(problem.like), exponent=exponent, oracle=problem.oracle())

    def step(self, problem: Any, state: MirrorState, incumbent: Incumbent) -> MirrorState:
        played = play(state.exponent, state.oracle, state.G)
        answer = played.answer
        if isinstance(answer, Done):
            before = state.last.answer if state.last is not None else None
            y = before.y if isinstance(before, Move) else None
            return replace(state, proposals=(Proposal(X=played.X, y=y),), finished=answer.reason, last=played)
        rounds = state.rounds + 1
        checked = rounds >= state.check_at
        return MirrorState(
            proposals=(Proposal(X=played.X, y=answer.y),) if checked else (),
            G=played.G,
            exponent=played.exponent,
            oracle=state.oracle if answer.then is None else answer.then,
            rounds=rounds,
            check_at=next_check(rounds) if checked else state.check_at,
            last=played,
        )
