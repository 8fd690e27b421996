"""(4.11) in one run: theta adapted while DefiniteBoost runs, in place of a search over runs (Section 4.6).

    theta_t = min over s <= t of max_j tr(W_s C_j)  -  nu                     (Raetsch and Warmuth, 2005, for AdaBoost)
    step (4.6) along the most violated C_j - theta_t I,  whose r_t >= nu

The first term proves theta* from above. The steps y prove it from below by lambda_min(sum_j y_j S_j) / sum_j y_j, which
is theta_t at least after 2 lambda^2 ln d / nu^2 rounds, lambda >= ||C_j - theta_t I||_2, by the argument of Corollary
4.2. nu is a share of the certified interval, and falls with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, MirrorDescent
from matrixlearn.engines.base import State
from matrixlearn.exponents import DenseExponent
from matrixlearn.oracles import Move
from matrixlearn.problems import Play, Problem
from matrixlearn_definiteboost.constraints import DenseConstraints
from matrixlearn_definiteboost.minmax import MinMaxSDP
from matrixlearn_definiteboost.oracle import closed_form_step


@dataclass(frozen=True, eq=False)
class AdaptedTheta:
    """W -> a step along the constraint that exceeds theta_t most.

    Attributes
    ----------
    family : DenseConstraints
    recent : ndarray, shape (m,)
        The sum of the steps since nu was last halved: those before it would hold the proof back.
    best : float
        min over the rounds of max_j tr(W C_j).
    at : ndarray or None
        The matrix of that round.
    nu : float
        How far below it theta is.
    began_at : float
        nu when ``recent`` was last begun.
    """

    family: DenseConstraints
    recent: np.ndarray
    best: float = np.inf
    at: np.ndarray | None = None
    nu: float = 0.0
    began_at: float = np.inf

    def __call__(self, X: np.ndarray) -> Move:
        values = self.family.adjoint(X)
        j = int(np.argmax(values))
        best, at = (float(values[j]), X) if values[j] < self.best else (self.best, self.at)
        theta = best - self.nu
        smallest, largest = (float(side[j]) for side in self.family.ranges)
        r, low, high = float(values[j]) - theta, theta - smallest, largest - theta
        step = closed_form_step(r, low, high)
        if step is None:  # theta* lies in the range of every C_j, and theta to within nu
            step = r / max(abs(low), abs(high)) ** 2
        fresh = self.nu < self.began_at / 2
        recent = np.zeros_like(self.recent) if fresh else self.recent.copy()
        recent[j] += step
        then = replace(self, recent=recent, best=best, at=at, began_at=self.nu if fresh else self.began_at)
        width = max(abs(low), abs(high))
        return Move(self.family.matrix(j), step, y=recent / recent.sum(), width=width, point=at, then=then)


@dataclass(frozen=True)
class AdaptiveBoost(MirrorDescent):
    """DefiniteBoost on (4.11), theta adapted as it runs: one constraint and one decomposition a round.

    Parameters
    ----------
    share : float
        nu, in units of the certified interval; in (0, 1).
    """

    share: float = 0.75

    name = "adapted-theta"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, MinMaxSDP) else f"{self.name} is for MinMaxSDP"

    def played(self, problem: Any) -> Play:
        """The entropy, and the constraint that exceeds theta most."""
        family = DenseConstraints(problem.constraints)
        return Play(DenseExponent(problem.game.S), AdaptedTheta(family, np.zeros(len(problem.constraints))))

    def step(self, problem: Any, state: Any, incumbent: Incumbent) -> State:
        nu = self.share * (incumbent.upper - incumbent.lower)
        return super().step(problem, replace(state, oracle=replace(state.oracle, nu=nu)), incumbent)
