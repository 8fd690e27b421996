"""A game in other coordinates and other units: k U (.) U^H."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn.maps import LinearMap
from matrixlearn.problems import Game


def turned(M: Any, U: np.ndarray) -> Any:
    """U M U^H; U M for the diagonal of a matrix."""
    A = np.asarray(as_numpy(M))
    if A.ndim == 1:
        return from_numpy(np.real(U) @ A, M)
    out = U @ A @ U.conj().T
    return from_numpy((out + out.conj().T) / 2, M)


@dataclass(frozen=True, eq=False)
class TurnedMap(LinearMap):
    """y -> k U A(y) U^H."""

    base: LinearMap
    k: float
    U: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def norms(self) -> np.ndarray:
        return self.k * self.base.norms

    def apply(self, y: np.ndarray) -> Any:
        return self.k * turned(self.base.apply(y), self.U)

    def adjoint(self, X: Any) -> np.ndarray:
        return self.k * self.base.adjoint(turned(X, self.U.conj().T))


def in_coordinates(game: Game, k: float, U: np.ndarray) -> Game:
    """v(k U C U^H, k c, k U A U^H) = k v(C, c, A), on the same sets: S is invariant under U.

    U is a rotation; a permutation where blocks or a diagonal leave no other.
    """
    return Game(k * turned(game.C, U), TurnedMap(game.A, k, U), k * game.c, game.S, game.Y, size=k * game.scale)
