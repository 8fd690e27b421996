"""Is a game with multipliers y >= 0 strictly feasible?  Another game answers.

    max over X in S of min_j (c_j - <A_j, X>) / nu_j,      nu_j = |c_j| + R ||A_j||_2

is the spectral game with C = 0 and y on the simplex. A positive lower bound comes with a strictly
feasible X_s; a negative upper bound comes with a y that proves that no X in S is feasible.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from matrixlearn.linalg.constraints import Moments
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import KnapsackSet, SpectralSet
from matrixlearn.typing import Array


class PhaseOne(SpectralGame):
    """max over X in S of the smallest slack of a game, each row made dimensionless.

    Parameters
    ----------
    game : SpectralGame
        With Y = {y >= 0}.
    vacuous : ndarray of bool, shape (m,)
        Rows 0 <= c_j, which every X satisfies.
    """

    objective = "maximize"

    def __init__(self, game: SpectralGame, vacuous: np.ndarray) -> None:
        self.game = game
        self.vacuous = vacuous
        size = np.abs(game.offset) + game.spectral_set.trace * game.constraint_norms
        self.nu = np.where(size > 0, size, 1.0)

    @cached_property
    def cost(self) -> Array:
        return 0 * self.game.cost

    @cached_property
    def offset(self) -> np.ndarray:
        return np.where(self.vacuous, 1.0, self.game.offset / self.nu)

    @property
    def spectral_set(self) -> SpectralSet:
        return self.game.spectral_set

    @cached_property
    def dual_set(self) -> KnapsackSet:
        return KnapsackSet.simplex(len(self.nu))

    @property
    def scale(self) -> float:
        return 1e-6  # decide down to 1e-9 of the (dimensionless) rows

    @property
    def constraint_norms(self) -> np.ndarray:
        return self.game.constraint_norms / self.nu

    def forward(self, y: np.ndarray) -> Array:
        return -1 * self.apply(y)

    def apply(self, y: np.ndarray) -> Array:
        return self.game.apply(y / self.nu)

    def adjoint(self, X: Array) -> np.ndarray:
        return self.game.adjoint(X) / self.nu

    def schur(self, U: Array, V: Array) -> np.ndarray:
        return self.game.schur(U, V) / np.outer(self.nu, self.nu)

    def moments(self, U: Array, V: Array) -> Moments:
        found, units = self.game.moments(U, V), self.nu
        if found.fold is not None:
            fold = found.fold
            return replace(found, fold=replace(fold, coefficients=fold.coefficients / units))
        return Moments(U, V, found.single / units, found.product / units, found.second / np.outer(units, units))

    def ray(self, y: np.ndarray) -> np.ndarray:
        """Multipliers of the game from those of this one."""
        return y / self.nu

    @classmethod
    def random(cls, rng: np.random.Generator) -> PhaseOne:
        raise NotImplementedError
