"""A game in other coordinates and other units: k U (.) U^H."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn.problems import SpectralGame
from matrixlearn.sets import KnapsackSet, SpectralSet


class MovedGame(SpectralGame):
    """v(k U C U^H, k c, k U A U^H) = k v(C, c, A), on the same sets: S is invariant under U.

    U is a rotation; a permutation where blocks or a diagonal leave no other.
    """

    name = "moved"

    def __init__(self, game: SpectralGame, k: float, U: np.ndarray) -> None:
        self.game, self.k, self.U = game, k, U
        self.objective = game.objective  # type: ignore[misc]

    def _turned(self, M: Any, U: np.ndarray) -> Any:
        A = np.asarray(as_numpy(M))
        if A.ndim == 1:
            return from_numpy(np.real(U) @ A, M)
        turned = U @ A @ U.conj().T
        return from_numpy((turned + turned.conj().T) / 2, M)

    @property
    def cost(self) -> Any:
        return self.k * self._turned(self.game.cost, self.U)

    @property
    def offset(self) -> np.ndarray:
        return self.k * self.game.offset

    @property
    def spectral_set(self) -> SpectralSet:
        return self.game.spectral_set

    @property
    def dual_set(self) -> KnapsackSet:
        return self.game.dual_set

    def forward(self, y: np.ndarray) -> Any:
        return self.k * self._turned(self.game.forward(y), self.U)

    def adjoint(self, X: Any) -> np.ndarray:
        return self.k * self.game.adjoint(self._turned(X, self.U.conj().T))
