"""What rounds on a problem are made of.

    X = exponent(G);   answer = oracle(X);   stop if it is done;   G <- accumulate(G, loss, step)

This is the one hook (`Problem.play`) by which the rounds of every problem are played: those of a game at levels that a
schedule chooses, and those of a stream, a projection or blocks in turn until their oracle is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from matrixlearn.exponents import Exponent
from matrixlearn.oracles import Oracle
from matrixlearn.typing import Array


@dataclass(frozen=True)
class Play:
    """A mirror map and an oracle.

    Attributes
    ----------
    exponent : Exponent
    oracle : Oracle
        Of the first round. That of a game has ``at(level, anchor)`` (`oracles.Leveled`), and is asked at levels.
    start : array, optional
        The losses before the first round; ``exponent.zero(problem.like)`` where None.
    """

    exponent: Exponent
    oracle: Oracle
    start: Array | None = None
