"""A game in which only some of the y_j move: what column generation solves.

    v_I = min over y in Y with y_j = f_j for j outside I   max over X in S   <C, X> + c.y - <A(y), X>  >=  v

is the spectral game with C - A(f), the A_j of I, and the face of Y on which the others are fixed. A y of the face is
one of Y, and proves the same bound; what X proves here it proves of v_I only, and of v after all columns are priced.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from matrixlearn.maps import LinearMap
from matrixlearn.problems.family import FamilyGame
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import KnapsackSet, SpectralSet
from matrixlearn.typing import Array


class RestrictedGame(FamilyGame):
    """A spectral game with y_j = fixed_j outside an index.

    Parameters
    ----------
    game : SpectralGame
    index : ndarray of int, shape (k,)
        The coordinates that move.
    fixed : ndarray, shape (m,)
        The values of the others; those in the index are ignored.
    """

    def __init__(self, game: SpectralGame, index: np.ndarray, fixed: np.ndarray) -> None:
        self.game, self.index = game, index
        self.fixed = fixed.copy()
        self.fixed[index] = 0.0

    @cached_property
    def family(self) -> LinearMap:
        """The A_j of the index."""
        return self.game.family_at(self.index)

    def embedded(self, y: np.ndarray) -> np.ndarray:
        """The point of Y that y, (k,), stands for, (m,)."""
        out = self.fixed.copy()
        out[self.index] = y
        return out

    @cached_property
    def cost(self) -> Array:
        return self.game.forward(self.fixed) if np.any(self.fixed) else self.game.cost

    @cached_property
    def constant(self) -> float:  # type: ignore[override]
        """c . f, which every value holds."""
        return float(self.game.offset @ self.fixed)

    @cached_property
    def offset(self) -> np.ndarray:
        return self.game.offset[self.index]

    @property
    def spectral_set(self) -> SpectralSet:
        return self.game.spectral_set

    @cached_property
    def dual_set(self) -> KnapsackSet:
        return self.game.dual_set.face(self.index, self.fixed)

    @property
    def scale(self) -> float:
        return self.game.scale

    @cached_property
    def constraint_norms(self) -> np.ndarray:
        return self.game.constraint_norms[self.index]
