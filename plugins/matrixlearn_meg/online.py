"""The engine `online` of `MEGRegression`: once through the examples (`newton.Newton` goes to the optimum)."""

from __future__ import annotations

from typing import Any

from matrixlearn.engines import Incumbent, MirrorDescent, State
from matrixlearn.problems import Problem
from matrixlearn_meg.problem import MEGRegression


class Online(MirrorDescent):
    """Algorithm 1: one pass through the examples, a round each; the matrices on the way are certified like any.

    The rate is `Adaptive`; for others, and for streams that are no arrays, there is `MEGLearner`.
    `Solution.plot` shows the losses of the pass beside the bound of Lemma 3.2, the paper's Figure 2.
    """

    name = "online"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, MEGRegression) else f"{self.name} is for MEGRegression problems"

    def init(self, problem: Any, incumbent: Incumbent) -> State:
        return super().init(problem.learner().reading(problem.examples()), incumbent)
