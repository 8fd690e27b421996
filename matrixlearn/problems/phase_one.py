"""Is a game with multipliers y >= 0 strictly feasible?  Another game answers.

    max over X in S of min_j (c_j - <A_j, X>) / nu_j,      nu_j = |c_j| + r ||A_j||_2

r a trace that no feasible X is below (`least_trace`; R where there is none), is the spectral game with C = 0 and y on
the simplex. A positive lower bound comes with a strictly
feasible X_s; a negative upper bound comes with a y that proves that no X in S is feasible.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from matrixlearn.linalg.moments import Moments
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import KnapsackSet, SpectralSet
from matrixlearn.typing import Array

WIDER = 30.0
"""Between the traces of the stages of phase one."""


def least_trace(right: np.ndarray, norms: np.ndarray) -> float:
    """max_j right_j / ||A_j||_2: no X >= 0 with <A_j, X> >= right_j has a smaller trace; 0 where none is positive."""
    positive = (right > 0) & (norms > 0)
    return float(np.max(right[positive] / norms[positive], initial=0.0))


class PhaseOne(SpectralGame):
    """max over X in S of the smallest slack of a game, each row made dimensionless.

    Parameters
    ----------
    game : SpectralGame
        With Y = {y >= 0}.
    vacuous : ndarray of bool, shape (m,)
        Rows 0 <= c_j, which every X satisfies.
    trace : float, optional
        Of the matrices asked about, in the place of R.
    """

    objective = "maximize"

    def __init__(self, game: SpectralGame, vacuous: np.ndarray, trace: float | None = None) -> None:
        self.game = game
        self.vacuous = vacuous
        self.trace = game.spectral_set.trace if trace is None else trace
        least = least_trace(-game.offset, game.constraint_norms) or self.trace
        size = np.abs(game.offset) + least * game.constraint_norms
        self.nu = np.where(size > 0, size, 1.0)

    def in_stages(self) -> list[PhaseOne]:
        """The same question about matrices of a smaller trace, from `WIDER` times the least on, and at last this one.

        Where R is generous, the slack that a constraint asks for is lost in the rounding of R ||A_j||; a matrix that is
        strictly feasible in a smaller set is so in S.
        """
        stages, trace = [], WIDER * least_trace(-self.game.offset, self.game.constraint_norms)
        while 0 < trace < self.trace:
            stages.append(PhaseOne(self.game, self.vacuous, trace))
            trace *= WIDER
        return [*stages, self]

    @cached_property
    def cost(self) -> Array:
        return 0 * self.game.cost

    @cached_property
    def offset(self) -> np.ndarray:
        return np.where(self.vacuous, 1.0, self.game.offset / self.nu)

    @cached_property
    def spectral_set(self) -> SpectralSet:
        return replace(self.game.spectral_set, trace=self.trace)

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
        if found.span is not None:
            return replace(found, span=found.span.divided(units))
        return Moments(U, V, found.single / units, found.product / units, found.second / np.outer(units, units))

    def ray(self, y: np.ndarray) -> np.ndarray:
        """Multipliers of the game from those of this one."""
        return y / self.nu
