"""The semidefinite matrices of a game one by one: those of its signs, and of the diagonal blocks of its set.

S_c = t I - s_c (C - A(y))_c >= 0,      X = sum_c s_c X_c,  X_c in the rows and columns of its block
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from matrixlearn._array import zeros
from matrixlearn.maps import LinearMap
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class Cell:
    """One of them.

    Attributes
    ----------
    sign : int
    block : slice
        Its rows and columns.
    rows : ndarray of int or slice
        The A_j that have an entry there.
    A : LinearMap, optional
        Their principal submatrices; None where the block is the whole matrix.
    """

    sign: int
    block: slice
    rows: np.ndarray | slice = field(default_factory=lambda: slice(None))
    A: LinearMap | None = None

    @property
    def size(self) -> int:
        """Its order."""
        return self.block.stop - self.block.start

    def part(self, F: Array) -> Array:
        """The block of F."""
        return F[self.block, self.block]


_known: WeakKeyDictionary[Game, tuple[Cell, ...]] = WeakKeyDictionary()


def cells_of(game: Game) -> tuple[Cell, ...]:
    """The cells of a game, one for each sign and block, small neighbouring blocks as one, which keeps the zeros between
    them; computed once.
    """
    if game not in _known:
        blocks = list(game.S.slices())
        one = [Cell(sign, slice(0, game.S.n)) for sign in game.S.signs]
        _known[game] = tuple(one) if len(blocks) == 1 else cells_in(game.A, game.S.signs, blocks)
    return _known[game]


def cells_in(A: LinearMap, signs: tuple[int, ...], blocks: list[slice]) -> tuple[Cell, ...]:
    """A cell for each sign and each block of more than one."""
    blocks = together(blocks)
    parts = [A.principal(block) for block in blocks]
    rows = [np.flatnonzero(part.sizes) for part in parts]
    members = [part.at(index) for part, index in zip(parts, rows, strict=True)]
    return tuple(
        Cell(sign, block, index, member)
        for sign in signs
        for block, index, member in zip(blocks, rows, members, strict=True)
    )


def assembled(cells: Sequence[Cell], X: Sequence[Array], n: int) -> Array:
    """sum_c s_c X_c over the cells, of order n."""
    if cells[0].size == n:
        out = X[0]  # the first sign is +1
        for cell, part in zip(cells[1:], X[1:], strict=True):
            out = out + cell.sign * part
        return out
    out = zeros((n, n), X[0])
    for cell, part in zip(cells, X, strict=True):
        out[cell.block, cell.block] += cell.sign * part
    return out


SMALL = 30
"""The order up to which neighbours share a cell: the calls for one cost as much as its linear algebra."""


def together(blocks: list[slice]) -> list[slice]:
    """Blocks with neighbours of at most `SMALL` rows in all as one."""
    out = blocks[:1]
    for block in blocks[1:]:
        if block.stop - out[-1].start <= SMALL:
            out[-1] = slice(out[-1].start, block.stop)
        else:
            out.append(block)
    return out


def diagonal_blocks(n: int, first: np.ndarray, second: np.ndarray) -> tuple[int, ...]:
    """Sizes of the diagonal blocks that hold all entries (first, second), as they stand; () for a single one."""
    reach = np.arange(n)
    np.maximum.at(reach, np.minimum(first, second), np.maximum(first, second))
    ends = np.flatnonzero(np.maximum.accumulate(reach) == np.arange(n))
    return tuple(int(size) for size in np.diff(ends, prepend=-1)) if len(ends) > 1 else ()
