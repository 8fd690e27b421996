"""The engine ``exponentiated-gradient``: the rounds of `StateTomography.play`, from any state, at any rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, MirrorDescent, State
from matrixlearn.engines.mirror import MirrorState
from matrixlearn.linalg import sym
from matrixlearn.problems.base import Problem
from matrixlearn_quantum.armijo import ArmijoStep
from matrixlearn_quantum.problem import EPS, StateTomography


@dataclass(frozen=True)
class ExponentiatedGradient(MirrorDescent):
    """rho <- exp(log rho + alpha R) / tr with Armijo's rule: monotone, one decomposition a round, slow near a face.

    Parameters
    ----------
    sufficient : float
        tau: the part of the first-order promise that a step must keep, in (0, 1).
    shrink, grow : float
        What a step is multiplied by where it fails, and for the round after it was accepted.
    first : float
        The first step.
    """

    sufficient: float = 0.1
    shrink: float = 0.5
    grow: float = 2.0
    first: float = 1.0

    name = "exponentiated-gradient"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, StateTomography) else f"{self.name} is for StateTomography problems"

    def init(self, problem: Any, incumbent: Incumbent) -> State:
        rho = problem.spectral_set.center(problem.cost) if incumbent.X is None else incumbent.X
        w, V = np.linalg.eigh(rho)
        G = sym(-(V * np.log(np.maximum(w, EPS))) @ V.conj().T)
        oracle = ArmijoStep(problem, self.sufficient, self.shrink, self.grow, self.first)
        return MirrorState(G=G, exponent=problem.play().exponent, oracle=oracle)
