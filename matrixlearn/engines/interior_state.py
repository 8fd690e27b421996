"""The state of the interior-point method: a strictly feasible pair of a game, its multipliers and its factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from matrixlearn.engines.base import State
from matrixlearn.engines.incumbent import Interior, Proposal
from matrixlearn.linalg import cholesky, plus_identity
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.game import Game
from matrixlearn.typing import Array


@dataclass(frozen=True)
class Scalars:
    """The multipliers p and q of the finite lower and upper bounds on y, theta of the row and x_0 of t >= 0."""

    p: np.ndarray
    q: np.ndarray
    theta: float
    x0: float


def slacks(game: Game, y: np.ndarray, t: float) -> list[Array]:
    """S_k = t I - s_k (C - A(y)), block by block."""
    F = game.image(y)
    return [plus_identity(-block.sign * block.part(F), t) for block in semidefinite_blocks(game)]


@dataclass(frozen=True)
class Factors:
    """S_k, and the Cholesky factors of X_k and S_k, None where one is not positive definite."""

    S: list[Array]
    of_X: list[Array]
    of_S: list[Array]

    @classmethod
    def of(cls, game: Game, X: Sequence[Array], y: np.ndarray, t: float) -> Factors:
        S = slacks(game, y, t)
        return cls(S, [cholesky(x) for x in X], [cholesky(s) for s in S])

    @property
    def definite(self) -> bool:
        return all_definite(self.of_X) and all_definite(self.of_S)


def all_definite(factors: Sequence[Array | None]) -> bool:
    """Whether every Cholesky factorization succeeded."""
    for factor in factors:  # noqa: SIM110  (asked six times an iteration: a generator costs more than the answer)
        if factor is None:
            return False
    return True


@dataclass(frozen=True)
class InteriorState(State):
    """A strictly feasible pair."""

    X: tuple[Array, ...] = ()
    y: np.ndarray = field(default_factory=lambda: np.zeros(0))
    t: float = 0.0
    scalars: Scalars | None = None
    factors: Factors | None = None
    width: float = np.inf
    """upper - lower when it last fell by a tenth; not the relative gap, which is 1 while lower is 0."""
    idle: int = 0
    """Iterations since then."""
    missing: float = np.inf
    """The least `NewtonSystem.missing` so far."""
    mu: float = np.inf
    """The least complementarity so far."""
    trace: float = 0.0
    """R: that of S, or one that grows where Y is open."""

    def proposal(self, game: Game) -> Proposal:
        """X and y, and the pair that makes a proof by Cholesky factorizations possible."""
        factors, interior = self.factors, None
        if factors is not None and factors.definite and game.Y.is_bounded:
            interior = Interior(self.X, self.t)
        return Proposal(assembled(semidefinite_blocks(game), self.X, game.S.n), self.y, interior)


def mixed(a: InteriorState, b: InteriorState, k: float) -> InteriorState:
    """k a + (1 - k) b, without their factors: as feasible as the two are."""
    p, q = a.scalars, b.scalars
    assert p is not None and q is not None
    return replace(
        b,
        X=tuple(k * x + (1 - k) * z for x, z in zip(a.X, b.X, strict=True)),
        y=k * a.y + (1 - k) * b.y,
        t=k * a.t + (1 - k) * b.t,
        scalars=Scalars(*(k * getattr(p, f.name) + (1 - k) * getattr(q, f.name) for f in fields(Scalars))),
    )
