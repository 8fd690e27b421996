"""`certify`: the bounds that given points prove for a problem, whoever computed them."""

from __future__ import annotations

import numpy as np

from matrixlearn.certificate import Certificate, certified, checked_points
from matrixlearn.engines import Incumbent, InteriorPoint, Limits, Proposal, run
from matrixlearn.problems.base import Problem, require_problem
from matrixlearn.problems.conic import ConicProblem
from matrixlearn.reductions import reduction_of
from matrixlearn.typing import Array

MOST = 40
"""Iterations that `strictly_feasible` may take."""


def certify(problem: Problem, X: Array | None = None, y: Array | None = None) -> Certificate:
    """Certify an answer from anywhere: the bounds that X and y prove for the problem.

    The points are moved into their sets first: eigenvalues are clipped, trace and weights scaled, equalities met. Where
    a proof needs it, they are moved towards a strictly feasible pair that the problem finds. The answer of another
    solver, feasible to its own tolerance, may therefore be passed as it is.

    Parameters
    ----------
    problem : Problem
    X : array or FactoredMatrix, optional
        The matrix side.
    y : array, shape (m,), optional
        The vector side.

    Returns
    -------
    Certificate
        ``why`` says what is missing where a bound is infinite.

    Raises
    ------
    ProblemError
        For NaN or misshaped points.
    ContradictionError
        Where the bounds contradict each other.
    """
    require_problem(problem)
    return certified(problem, *checked_points(problem, X, y), lambda: strictly_feasible(problem))


def strictly_feasible(problem: Problem) -> tuple[Array | None, np.ndarray | None]:
    """(X, y) strictly feasible, by as many iterations of an interior-point method as both take; None for what is not
    found, or for a problem that has no use for them.
    """
    reduction = reduction_of(problem)
    if not isinstance(problem, ConicProblem) or reduction.answer:
        return None, None
    found = run(
        InteriorPoint(),
        reduction.program,
        tol=1e-6,
        start=Incumbent.first(reduction.program),
        limits=Limits(max_iter=MOST),
        decided=lambda best: best.inside is not None and best.inside_dual is not None,
    ).incumbent
    inside = reduction.lift(Proposal(X=found.inside, y=found.inside_dual))
    return inside.X, inside.y
