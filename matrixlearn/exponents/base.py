"""The contract of an exponent routine: losses so far -> matrix.

An exponent routine computes the mirror map of a spectral function h on a spectral set S,

    X(G) = argmin over X in S of <G, X> + h(X) = grad h*(-G),

for an accumulated loss G. What must be implemented is ``__call__``, ``zero`` and ``accumulate``;
`Accumulating` gives the last two for every map whose losses add up. A map on which the loss
*replaces* G (the clipped log-det of FETR) overrides ``accumulate`` alone.

An exponent is a value. One with a memory (the last eigenbasis, the number of the next draw) has
``near(G)`` too, which answers with its successor, as an oracle does by `Move.then`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array


@runtime_checkable
class Exponent(Protocol):
    """Losses -> matrix."""

    def __call__(self, G: Array) -> Array:
        """X(G), an element of S.  Invariant under G + c I where the trace is fixed."""

    def zero(self, like: Array) -> Array:
        """The empty sum of losses."""

    def accumulate(self, G: Array, loss: Array, step: float) -> Array:
        """The losses after one more move."""


@runtime_checkable
class OnSet(Exponent, Protocol):
    """The routine of a spectral set, which it knows."""

    on: SpectralSet
    """The set that X lies in."""


class Accumulating(Exponent):
    """Losses add up: G <- G + step * loss."""

    on: SpectralSet
    """The set that X lies in."""

    def zero(self, like: Array) -> Array:
        return 0 * self.on.center(like)

    def accumulate(self, G: Array, loss: Array, step: float) -> Array:
        return G + loss if step == 1.0 else G + step * loss


@runtime_checkable
class Remembering(Protocol):
    """An exponent with a memory."""

    def near(self, G: Array) -> Exponent:
        """The exponent to call at G, and to keep for the next round."""


def brought_near(exponent: Exponent, G: Array) -> Exponent:
    """The successor of an exponent with a memory; itself, without one."""
    # asked every round: isinstance with a Protocol takes some microseconds more
    near: Callable[[Array], Exponent] | None = getattr(exponent, "near", None)
    return exponent if near is None else near(G)
