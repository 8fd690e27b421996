"""The choice of a solver for a weight equation."""

from __future__ import annotations

from matrixlearn.multitask.equation import WeightEquation
from matrixlearn.multitask.own_solvers import ConjugateGradients, TaskByTask
from matrixlearn.multitask.shared_solvers import Diagonalised, FewTasks, Tridiagonalised
from matrixlearn.multitask.solvers import BartelsStewart, GradientDescent, Kronecker, WeightSolver

SOLVERS: tuple[WeightSolver, ...] = (
    Diagonalised(),
    Tridiagonalised(),
    FewTasks(),
    TaskByTask(),
    ConjugateGradients(),
    Kronecker(),
    BartelsStewart(),
    GradientDescent(),
)
"""All strategies."""

SMALL = 300
"""The order d m up to which one dense factorization is quickest where tasks have data of their own."""

LARGE = 100
"""The number of features from which eigenvectors are dearer than a loop over them."""

DESCENT = ConjugateGradients(tol=3e-2)
"""A correction need not be exact: the next one is of what it left."""


def solver_for(equation: WeightEquation) -> WeightSolver:
    """The strategy that suits the structure of an equation; measured in benchmarks/fetr/weights.py."""
    (d, m), prior = equation.moments.shape, equation.prior
    if prior.task.is_scalar:
        return TaskByTask()
    if not equation.moments.is_shared:
        return Kronecker() if d * m <= SMALL else DESCENT
    if not prior.feature.is_scalar and d >= LARGE and m**3 <= 2 * d**2:
        return FewTasks()
    return Diagonalised() if prior.feature.is_scalar or prior.is_singular or d < LARGE else Tridiagonalised()
