"""A spectral game whose matrix is confined to a subspace.

    X = V W V^H,  V^H V = I      gives      <C, X> = <V^H C V, W>,     <A_j, X> = <V^H A_j V, W>

so that W plays the same kind of game in r = rank V dimensions. The set of the X that are left is smaller: the
compressed value is a lower bound on the value, and equal to it where V holds the range of an optimal X.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn.linalg import adjoint, congruence
from matrixlearn.maps import LinearMap
from matrixlearn.problems.family import FamilyGame
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import KnapsackSet, SpectralSet
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class CompressedGame(FamilyGame):
    """``game`` for X = V W V^H.

    Parameters
    ----------
    game : SpectralGame
    V : array, shape (n, r)
        Orthonormal columns.
    """

    game: SpectralGame
    V: Array

    @cached_property
    def cost(self) -> Array:
        return congruence(self.game.cost, self.V)

    @cached_property
    def family(self) -> LinearMap:
        """The V^H A_j V."""
        return self.game.family_at(np.arange(self.game.dual_set.size)).compressed(self.V)

    @cached_property
    def offset(self) -> np.ndarray:
        return self.game.offset

    @cached_property
    def spectral_set(self) -> SpectralSet:
        S = self.game.spectral_set
        return type(S)(self.V.shape[1], S.trace)

    @cached_property
    def dual_set(self) -> KnapsackSet:
        return self.game.dual_set

    @property
    def scale(self) -> float:
        """That of the whole game: its gap is the one to be closed."""
        return self.game.scale

    def expanded(self, W: Array) -> Array:
        """X = V W V^H."""
        return congruence(W, adjoint(self.V))
