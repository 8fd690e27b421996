"""The semidefinite matrices of a game one by one: those of its signs, and of the diagonal blocks of its set.

S_c = t I - s_c (C - A(y))_c >= 0,      X = sum_c s_c X_c,  X_c in the rows and columns of its block
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from matrixlearn._array import zeros
from matrixlearn.linalg.verified import starts_of_blocks
from matrixlearn.maps import LinearMap
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class SemidefiniteBlock:
    """One matrix X_c that must be positive semidefinite, of one sign and in one diagonal block.

    Attributes
    ----------
    sign : int
    place : slice
        Its rows and columns.
    rows : ndarray of int or slice
        The A_j that have an entry there.
    A : LinearMap, optional
        Their principal submatrices; None where the block is the whole matrix.
    """

    sign: int
    place: slice
    rows: np.ndarray | slice = field(default_factory=lambda: slice(None))
    A: LinearMap | None = None

    @property
    def size(self) -> int:
        """Its order."""
        return self.place.stop - self.place.start

    def part(self, F: Array) -> Array:
        """The block of F."""
        return F[self.place, self.place]


_known: WeakKeyDictionary[Game, tuple[SemidefiniteBlock, ...]] = WeakKeyDictionary()


def semidefinite_blocks(game: Game) -> tuple[SemidefiniteBlock, ...]:
    """The blocks of a game, one for each sign and diagonal block of S, small neighbours as one, which keeps the zeros
    between them; computed once.
    """
    if game not in _known:
        places = list(game.S.slices())
        one = [SemidefiniteBlock(sign, slice(0, game.S.n)) for sign in game.S.signs]
        _known[game] = tuple(one) if len(places) == 1 else blocks_in(game.A, game.S.signs, places)
    return _known[game]


def blocks_in(A: LinearMap, signs: tuple[int, ...], places: list[slice]) -> tuple[SemidefiniteBlock, ...]:
    """One for each sign and each of several diagonal blocks."""
    places = together(places)
    submatrices = [A.principal(place) for place in places]
    rows = [np.flatnonzero(map_.sizes) for map_ in submatrices]
    members = [map_.at(index) for map_, index in zip(submatrices, rows, strict=True)]
    return tuple(
        SemidefiniteBlock(sign, place, index, member)
        for sign in signs
        for place, index, member in zip(places, rows, members, strict=True)
    )


def assembled(blocks: Sequence[SemidefiniteBlock], X: Sequence[Array], n: int) -> Array:
    """sum_c s_c X_c over the blocks, of order n."""
    if blocks[0].size == n:
        out = X[0]  # the first sign is +1
        for block, part in zip(blocks[1:], X[1:], strict=True):
            out = out + block.sign * part
        return out
    out = zeros((n, n), X[0])
    for block, part in zip(blocks, X, strict=True):
        out[block.place, block.place] += block.sign * part
    return out


SMALL = 30
"""The order up to which neighbours are one block: the calls for one cost as much as its linear algebra."""


def together(places: list[slice]) -> list[slice]:
    """Places with neighbours of at most `SMALL` rows in all as one."""
    out = places[:1]
    for place in places[1:]:
        if place.stop - out[-1].start <= SMALL:
            out[-1] = slice(out[-1].start, place.stop)
        else:
            out.append(place)
    return out


def diagonal_blocks(n: int, first: np.ndarray, second: np.ndarray) -> tuple[int, ...]:
    """Sizes of the diagonal blocks that hold all entries (first, second), as they stand; () for a single one."""
    least = np.arange(n)
    np.minimum.at(least, np.maximum(first, second), np.minimum(first, second))
    starts = starts_of_blocks(least)
    return tuple(np.diff(starts, append=n).tolist()) if len(starts) > 1 else ()
