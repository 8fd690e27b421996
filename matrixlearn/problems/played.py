"""A problem that is a game: its bounds, its first points and its reference follow from the game."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import as_numpy, brought_to, from_numpy
from matrixlearn.exponents import entropy_on
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.oracles import LevelOracle
from matrixlearn.problems.base import INF, Bound, Problem
from matrixlearn.problems.bounds import bound_from_member
from matrixlearn.problems.game import Game
from matrixlearn.problems.game_checks import require_game
from matrixlearn.problems.play import Play
from matrixlearn.typing import Array

if TYPE_CHECKING:
    import cvxpy

RESPONSE_BELOW = 600
"""Dimensions from which the best response to the centre of Y is not computed before an engine asks."""


class GameProblem(Problem):
    """A problem whose optimum is the value of a game.

    A subclass gives `game`; ``objective`` says whose value is the user's, the vector's ("minimize") or the matrix's.
    """

    @property
    @abstractmethod
    def game(self) -> Game:
        """The game; a cached property, as a rule."""

    @property
    def scale(self) -> float:
        return self.game.scale

    @property
    def like(self) -> Array | None:
        return self.game.C

    @property
    def multipliers(self) -> int | None:
        return self.game.Y.size

    def play(self) -> Play:
        """The entropy of S, and the smallest move of y that satisfies the inequality at a level."""
        return Play(entropy_on(self.game.S), LevelOracle(self.game))

    def check(self) -> None:
        """Parts of the wrong kind, size or symmetry, and parts with NaN; a problem that its construction validates says
        so by an empty override.
        """
        require_game(self.game)

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """The centres of S and Y, and the best response to the latter while it is cheap: with all eigenvectors."""
        game = self.game
        S, Y = game.S, game.Y
        y = Y.center() if Y.is_bounded else np.clip(0.0, Y.lower, Y.upper)
        if S.n >= RESPONSE_BELOW:
            return [(None, y)]
        return [(S.center(game.C), y), (S.best_response(game.image(y)), None)]

    # -- bounds, from the data alone --------------------------------------------------------------

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        game = self.game
        y = game.Y.project(np.asarray(y, dtype=float))
        return Bound(point=y, upper=game.upper(y) + game.rounding(y))

    def bound_from_matrix(self, X: Array) -> Bound:
        if isinstance(X, FactoredMatrix):  # a problem that can do better overrides this
            X = brought_to(X.dense(), self.game.C)
        return bound_from_member(self.game, self.game.S.project(X))

    def objective_at(self, X: Array | None, y: np.ndarray | None) -> float:
        if self.objective == "minimize":
            return INF if y is None else self.game.upper(y)
        return -INF if X is None else self.game.lower(X)[0]

    # -- the reference ----------------------------------------------------------------------------

    def reference(self) -> cvxpy.Problem:
        """min c.y + R t  subject to  t I - s (C - A(y)) >= 0 for the signs s of S, y in Y."""
        import cvxpy as cp

        game = self.game
        m, n, S = game.Y.size, game.S.n, game.S
        C = as_numpy(game.C)
        if C.ndim == 1:
            C = np.diag(C)
        y, t = cp.Variable(m, name="y"), cp.Variable(name="t")
        A = np.stack([as_numpy(game.A.matrix(j)) for j in range(m)])
        if A.ndim == 2:
            A = np.stack([np.diag(a) for a in A])
        F = C - cp.reshape(A.reshape(m, n * n).T @ y, (n, n), order="C")
        hermitian = np.iscomplexobj(C) or np.iscomplexobj(A)
        constraints: list[Any] = [(t * np.eye(n) - s * (F + (F.H if hermitian else F.T)) / 2) >> 0 for s in S.signs]
        if S.slack:
            constraints.append(t >= 0)
        return cp.Problem(cp.Minimize(game.c @ y + S.trace * t), constraints + game.Y.constraints(y))

    def read_reference(self, reference: cvxpy.Problem) -> tuple[Array | None, np.ndarray | None]:
        """(X, y) from a solved `reference`: the multipliers of its semidefinite constraints, one of order n for each
        sign of S, and the variable named "y"; None for what a program of one's own has in another form.
        """
        game, S = self.game, self.game.S
        y = next((variable.value for variable in reference.variables() if variable.name() == "y"), None)
        duals = [c.dual_value for c in reference.constraints if type(c).__name__ == "PSD"]
        if [np.shape(dual) for dual in duals] != [(S.n, S.n)] * len(S.signs):
            return None, y
        X = sum(s * dual for s, dual in zip(S.signs, duals, strict=True))
        X = (X + X.conj().T) / 2
        if game.C.ndim == 1:
            X = np.diag(X).copy()
        return from_numpy(X, game.C), y


@dataclass(frozen=True, eq=False)
class Played(GameProblem):
    """A game as a problem of its own: what an engine plays within another."""

    of: Game

    @property
    def game(self) -> Game:
        return self.of

    def check(self) -> None:
        """It is made of a game that has been checked."""
