"""The semidefinite matrices of a game one by one: those of its signs, and of the diagonal blocks of its set.

S_c = t I - s_c (C - A(y))_c >= 0,      X = sum_c s_c X_c,  X_c in the rows and columns of its block
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from matrixlearn.maps import LinearMap, NewtonTerms
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
    family : LinearMap, optional
        Their principal submatrices; None where the block is the whole matrix.
    """

    sign: int
    block: slice
    rows: np.ndarray | slice = field(default_factory=lambda: slice(None))
    family: LinearMap | None = None

    @property
    def size(self) -> int:
        """Its order."""
        return self.block.stop - self.block.start

    def part(self, F: Array) -> Array:
        """The block of F."""
        return F[self.block, self.block]

    def moments_at(self, U: Array, V: Array) -> NewtonTerms:
        """Of its family, one for each of the rows."""
        assert self.family is not None
        return self.family.plain_newton_terms(U, V)


def cells_in(family: LinearMap, signs: tuple[int, ...], blocks: list[slice]) -> tuple[Cell, ...]:
    """The cells of a family's game, block by block; small neighbours as one, which keeps the zeros between them."""
    blocks = together(blocks)
    parts = [family.principal(block) for block in blocks]
    rows = [np.flatnonzero(part.sizes) for part in parts]
    members = [part.at(index) for part, index in zip(parts, rows, strict=True)]
    return tuple(
        Cell(sign, block, index, member)
        for sign in signs
        for block, index, member in zip(blocks, rows, members, strict=True)
    )


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
