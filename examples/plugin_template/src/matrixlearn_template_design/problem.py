"""E-optimal experiment design as a game."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.maps import RankOneMap
from matrixlearn.problems import Game, GameProblem
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn.validation import as_samples

if TYPE_CHECKING:
    import cvxpy


@dataclass(frozen=True, eq=False)
class EOptimalDesign(GameProblem):
    """min over w of lambda_max(-sum_i w_i x_i x_i^T)   subject to   w >= 0, sum w = 1.

    The optimum is -lambda_min of the best information matrix: how much to measure at each candidate so
    that the worst direction is known best. C = 0, A_i = x_i x_i^T, S = {X >= 0, Tr X = 1}, Y the simplex.

    Parameters
    ----------
    candidates : array, shape (m, n)
        The experiments x_i, one a row.
    """

    candidates: Any
    name = "e-optimal-design"

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", as_samples("candidates", self.candidates))

    @cached_property
    def game(self) -> Game:
        A = RankOneMap(self.candidates)
        m, n = A.shape
        return Game(0 * A.matrix(0), A, np.zeros(m), Spectraplex(n, 1.0), KnapsackSet.simplex(m))

    def reference(self) -> "cvxpy.Problem":
        """The same from the candidates alone, for the conformance kit: t I + sum_i w_i x_i x_i^T >= 0."""
        import cvxpy as cp

        m, n = self.candidates.shape
        w, t = cp.Variable(m, name="y"), cp.Variable()
        size = float(np.max(np.abs(self.candidates))) or 1.0  # cvxpy's solvers have absolute tolerances
        scaled = self.candidates / size
        information = scaled.T @ cp.diag(w) @ scaled
        return cp.Problem(cp.Minimize(size**2 * t), [t * np.eye(n) + information >> 0, w >= 0, cp.sum(w) == 1])

    @classmethod
    def random(cls, rng: np.random.Generator) -> "EOptimalDesign":
        return cls(10.0 ** rng.uniform(-3, 3) * rng.standard_normal(rng.integers(1, 9, 2)))
