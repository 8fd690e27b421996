"""Relations that were learned, for people: the blocks of F, the paper's Figure 4, tasks from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matrixlearn.files import read_arrays
from matrixlearn.present import Argument, Presenter, Say
from matrixlearn_fetr.picture import draw_relations
from matrixlearn_fetr.relations import DRAWN

if TYPE_CHECKING:
    from matrixlearn import Solution
    from matrixlearn.problems import Problem
    from matrixlearn_fetr.relations import RelationProblem

ARRAYS = ("X", "Y", "task", "sample_weight", "gram", "cross", "square")


class RelationsPresenter(Presenter["RelationProblem"]):
    """The weights W of the tasks, and the precisions of features and of tasks."""

    arguments = (
        Argument(
            "data",
            ".npz with X, shape (n, d), and Y, shape (n, m) for a column a task, or (n,) with task, shape (n,), the "
            "label of each row's task; perhaps sample_weight. The estimators of matrixlearn_fetr take tables.",
            required=True,
            positional=True,
        ),
        Argument("eta", "The weight of the prior, > 0; 1 by default.", float),
        Argument("lower", "Bounds the eigenvalues of S1 and S2 from below; 1e-3 by default.", float),
        Argument("upper", "Bounds them from above; 1e3 by default.", float),
        Argument("mean", "Around what the tasks scatter: zero (default) or shared.", str),
    )

    def describe(self, solution: Solution) -> list[str]:
        if solution.matrix is None:
            return []
        problem: RelationProblem = self.problem_of(solution)
        found = problem.estimate(solution)
        (low1, high1), (low2, high2) = found.feature_precision.extremes, found.task_precision.extremes
        gradient, by_feature, by_task = problem.gains(found)
        d, m = problem.shape
        return [
            f"loss       {problem.loss.value(found.weights):.9g} over {m} tasks in {d} features",
            f"floor      {problem.floor:.9g}, from which the value counts; no loss is below {problem.loss.least:.9g}",
            f"S1         eigenvalues from {low1:.3g} to {high1:.3g}",
            f"S2         eigenvalues from {low2:.3g} to {high2:.3g}",
            f"blocks     relative gradient in W {gradient:.1e}; S1 alone gains {by_feature:.1e}, S2 {by_task:.1e}",
        ]

    def plot(self, solution: Solution, axes: Any) -> bool:
        """The paper's Figure 4: correlations of features and of tasks, those beyond `DRAWN` of either left out."""
        problem: RelationProblem = self.problem_of(solution)
        d, m = problem.shape
        if solution.matrix is None or max(d, m) > DRAWN:
            return False
        found = problem.estimate(solution)
        axes.set_axis_off()
        sides = ("features", found.feature_relations, None), ("tasks", found.task_relations, problem.tasks)
        for k, (what, relations, names) in enumerate(sides):
            inset = axes.inset_axes((0.52 * k, 0.0, 0.48, 1.0))
            draw_relations(inset, what, relations, names)
            inset.yaxis.tick_right()
        return True

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> Problem:
        """The problem of the rows in a file."""
        settings = dict(given)
        return self.problem_class(**read_arrays(settings.pop("data"), ARRAYS) | settings)
