"""MinMaxSDP: the density matrix whose worst constraint is the least bad.

    theta* = min over W  max_j tr(W C_j),       W >= 0,  tr W = 1                              (4.11)

As a game the matrix maximizes, and so the game is played with the signs turned:

    v = -theta* = max over W  min over y in the simplex  -sum_j y_j tr(W S_j),     S_j = sym(C_j)

every engine of games applies, and any y proves theta* >= lambda_min(sum_j y_j S_j). By bisection on theta
(Section 4.6) each guess is a `DefiniteBoost` problem, feasible or proven not to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn import solve
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import DenseExponent
from matrixlearn.maps import DenseMap
from matrixlearn.oracles import LevelOracle
from matrixlearn.present import presented_by
from matrixlearn.problems import Game, GameProblem, Play
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn_definiteboost.checks import stacked
from matrixlearn_definiteboost.constraints import DenseConstraints
from matrixlearn_definiteboost.problem import DefiniteBoost

if TYPE_CHECKING:
    import cvxpy

    from matrixlearn import Solution
    from matrixlearn.engines import Engine


@presented_by("matrixlearn_definiteboost.present:MinMaxPresenter")
@dataclass(frozen=True, eq=False)
class MinMaxSDP(GameProblem):
    """min over density matrices W of max_j tr(W C_j), as the game of value -theta*.

    Parameters
    ----------
    constraints : array, shape (m, d, d), or list of m square matrices
        C_1, ..., C_m, real or complex; only their Hermitian parts count.

    Notes
    -----
    ``solution.value`` is that of the game; ``theta(solution)`` is max_j tr(W C_j) at its matrix, and
    ``theta_bounds(solution)`` = (-upper, -lower) holds theta*.
    """

    constraints: Any

    name = "minmax"
    objective = "maximize"
    routines = ("DenseExponent", "LevelOracle")

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", stacked(self.constraints))

    def check(self) -> None:
        """Construction has checked the data."""

    @cached_property
    def game(self) -> Game:
        """C = 0, c = 0, A_j = S_j: a density matrix against weights on the simplex."""
        m, d = self.constraints.shape[:2]
        C, S = np.zeros_like(self.constraints[0]), Spectraplex(d, 1.0)
        return Game(C, DenseMap(self.constraints), np.zeros(m), S, KnapsackSet.simplex(m))

    def play(self) -> Play:
        """Density matrices against weights of the constraints that are violated at a guess."""
        return Play(DenseExponent(self.game.S), LevelOracle(self.game))

    def reference(self) -> cvxpy.Problem:
        """min t over weights y >= 0 of sum one with t I + sum_j y_j S_j >= 0: t = -theta*."""
        import cvxpy as cp

        S = (self.constraints + np.conj(np.swapaxes(self.constraints, 1, 2))) / 2
        m, d = S.shape[:2]
        y, t = cp.Variable(m, name="y"), cp.Variable()
        mixed = t * np.eye(d) + sum(y[j] * S[j] for j in range(m))
        return cp.Problem(cp.Minimize(t), [mixed >> 0, y >= 0, cp.sum(y) == 1])

    # -- theta ----------------------------------------------------------------------------------------

    def theta(self, solution: Solution) -> float:
        """max_j tr(W C_j) at the matrix of the solution."""
        if solution.matrix is None:
            return float("inf")
        return float(np.max(self.game.A.adjoint(solution.matrix)))

    def theta_bounds(self, solution: Solution) -> tuple[float, float]:
        """Certified bounds on theta*."""
        return -solution.upper, -solution.lower

    def parameters(self) -> Mapping[str, Any]:
        return {"constraints": self.constraints}

    def at(self, theta: float) -> DefiniteBoost:
        """The feasibility problem of a guess (4.12): the density matrix nearest to I/d with tr(W C_j) <= theta."""
        return DefiniteBoost(self.constraints, upper=theta)

    @classmethod
    def random(cls, rng: np.random.Generator) -> MinMaxSDP:
        """d in 1-6, m in 1-10, real or complex, not symmetric, in units of 1e-3 to 1e3."""
        d, m = int(rng.integers(1, 7)), int(rng.integers(1, 11))
        C = rng.standard_normal((m, d, d))
        if rng.random() < 0.4:
            C = C + 1j * rng.standard_normal((m, d, d))
        return cls(C * 10.0 ** rng.uniform(-3, 3))


@dataclass(frozen=True)
class Bisection:
    """What the bisection on theta found: low < theta* <= high, each end with its proof.

    Attributes
    ----------
    low, high : float
    matrix : ndarray
        A density matrix with tr(W C_j) <= high.
    y : ndarray or None
        Multipliers whose dual value (4.2) at theta = low is above ln d; None where no guess was infeasible.
    guesses : int
    """

    low: float
    high: float
    matrix: np.ndarray
    y: np.ndarray | None
    guesses: int


def bisect_theta(problem: MinMaxSDP, tol: float = 1e-3, method: str | Engine = "corrective") -> Bisection:
    """theta* of a `MinMaxSDP` by bisection, each guess decided by DefiniteBoost (Section 4.6).

    A guess is too low where the dual passes ln d, and otherwise the matrix found lowers ``high``.

    Parameters
    ----------
    problem : MinMaxSDP
    tol : float
        high - low relative to max_j ||C_j||_2.
    method : str or Engine
        Of DefiniteBoost.

    Raises
    ------
    ProblemError
        For a tol that is not positive.
    """
    if not tol > 0:
        msg = f"tol must be positive, got {tol!r}"
        raise ProblemError(msg)
    d = problem.game.S.n
    W, y, guesses = np.asarray(problem.game.S.center(problem.game.C)), None, 0
    high = float(np.max(problem.game.A.adjoint(W)))
    low = float(np.max(DenseConstraints(problem.constraints).ranges[0]))  # tr(W C_j) >= lambda_min(C_j)
    unit = float(np.max(problem.game.A.norms)) or 1.0
    while high - low > tol * unit:
        guess, guesses = (low + high) / 2, guesses + 1
        # a feasible guess is known by any feasible matrix: the gap that solve() asks for may be wide
        found = solve(problem.at(guess), method=method, tol=0.5, max_iter=100 * d if method == "corrective" else None)
        if found.status == "infeasible":
            low, y = guess, found.y
            continue
        if found.matrix is not None:
            worst = float(np.max(problem.game.A.adjoint(found.matrix)))
            if worst < high:
                W, high = found.matrix, worst
        if high > guess + 1e-9 * unit:  # neither proven: the guess is theta* to rounding
            break
    return Bisection(low, high, W, y, guesses)
