"""One round of the picture that every method here shares, and the plain engine of such rounds.

    X = mirror(G);   answer = oracle(X);   stop if it is done;   G <- accumulate(G, loss, step)

A problem gives both by `Problem.play`. Arora-Kale (`engines.mmw`) puts a search for the value around the rounds of a
game; a stream (MEG), the most violated constraint (DefiniteBoost) and blocks in turn (FETR) are played as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from matrixlearn.engines.base import Engine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.exponents import Exponent, brought_near
from matrixlearn.oracles import Done, Move, Oracle
from matrixlearn.problems.base import Problem
from matrixlearn.problems.play import Play
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


@dataclass(frozen=True)
class Calls:
    """How often the routines of a play were called."""

    exponent: int = 0
    oracle: int = 0

    def more(self, oracle: int = 1) -> Calls:
        """After one more matrix, and the answers to it."""
        return Calls(self.exponent + 1, self.oracle + oracle)

    def told(self, exponent: Exponent, oracle: Oracle) -> str:
        """Both names, for `Solution.explain`, and what a routine with a memory says of itself."""
        own = getattr(exponent, "remarks", "")
        return (
            f"exponent routine: {routine_name(exponent)}, called {self.exponent} times{own and f' ({own})'}; "
            f"oracle: {routine_name(oracle)}, called {self.oracle} times"
        )


NONE = Calls()


def routine_name(routine: Any) -> str:
    """The name of a function, or of the class of an object that is called."""
    return str(getattr(routine, "__name__", type(routine).__name__))


@dataclass(frozen=True, kw_only=True)
class MirrorState(State):
    """The losses so far, the exponent and the oracle of the next round, and the last round."""

    G: Array
    exponent: Exponent
    oracle: Oracle
    rounds: int = 0
    check_at: int = 1
    last: Round | None = None
    calls: Calls = NONE


class MirrorDescent(Engine):
    """Rounds until the oracle is done, for problems whose `Problem.play` has an oracle that chooses its own steps.

    The oracle of the play is that of the first round; an answer with ``then`` brings that of the next. At the end the
    last point and the last y are certified.
    """

    name = "mirror"

    def objection(self, problem: Problem) -> str:
        if problem.game is not None:
            return "the oracle of a game is asked at levels, which mmw chooses"
        if problem.play() is None:
            return f"a {problem.title} has no rounds: give it a `play` with an exponent routine and an oracle"
        return ""

    def played(self, problem: Any) -> Play:
        """What is played: the problem's own routines, by default."""
        played: Play = problem.play()
        return played

    def remarks(self, state: MirrorState) -> str:
        return state.calls.told(state.exponent, state.oracle)

    def init(self, problem: Any, incumbent: Incumbent) -> State:
        played = self.played(problem)
        start = played.exponent.zero(problem.like) if played.start is None else played.start
        return MirrorState(G=start, exponent=played.exponent, oracle=played.oracle)

    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> State:
        played, calls = play(state.exponent, state.oracle, state.G), state.calls.more()
        answer = played.answer
        point = played.X if answer.point is None else answer.point
        if isinstance(answer, Done):
            before = state.last.answer if state.last is not None else None
            y = before.y if isinstance(before, Move) else None
            shown = (Proposal(X=point, y=y),)
            return replace(state, proposals=shown, finished=answer.reason, last=played, calls=calls)
        rounds = state.rounds + 1
        checked = rounds >= state.check_at
        return MirrorState(
            proposals=(Proposal(X=point, y=answer.y),) if checked else (),
            G=played.G,
            exponent=played.exponent,
            oracle=state.oracle if answer.then is None else answer.then,
            rounds=rounds,
            check_at=next_check(rounds) if checked else state.check_at,
            last=played,
            calls=calls,
        )
