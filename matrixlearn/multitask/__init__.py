"""Linear models of several tasks: rows and their moments, the weight equation and its solvers, estimators.

    predict(x, task i) = w_i . x + b_i,        W = [w_1 ... w_m],  shape (d, m)

What any plugin for related tasks needs of labels, missing targets, weights of rows and folds. The estimators need
scikit-learn and are imported when they are asked for.
"""

from typing import TYPE_CHECKING

from matrixlearn._array import EPS, is_sparse
from matrixlearn.late import late as _late
from matrixlearn.multitask.checks import (
    as_labels,
    as_rows,
    as_signs,
    as_targets,
    known_targets,
    number_at_least,
    require_rows,
)
from matrixlearn.multitask.choice import DESCENT, SOLVERS, solver_for
from matrixlearn.multitask.equation import Prior, WeightEquation
from matrixlearn.multitask.errors import mean_log_loss, normalized_error
from matrixlearn.multitask.folds import dealt, splits
from matrixlearn.multitask.given import as_names, is_listed, stacked
from matrixlearn.multitask.moments import Moments, penalized, summed
from matrixlearn.multitask.own_solvers import ConjugateGradients, TaskByTask
from matrixlearn.multitask.precision import SpectralPrecision
from matrixlearn.multitask.rows import Centre, Rows
from matrixlearn.multitask.shared_solvers import (
    Diagonalisation,
    Diagonalised,
    FewTasks,
    Tridiagonalised,
    solve_weights,
)
from matrixlearn.multitask.solvers import BartelsStewart, GradientDescent, Kronecker, WeightSolver

if TYPE_CHECKING:
    from matrixlearn.multitask.classifier import MultitaskClassifier
    from matrixlearn.multitask.mean_regularized import MeanRegularizedRidge
    from matrixlearn.multitask.regressor import MomentsRegressor, MultitaskRegressor
    from matrixlearn.multitask.ridge import PooledRidge, SingleTaskRidge

__all__ = [
    "DESCENT",
    "EPS",
    "SOLVERS",
    "BartelsStewart",
    "Centre",
    "ConjugateGradients",
    "Diagonalisation",
    "Diagonalised",
    "FewTasks",
    "GradientDescent",
    "Kronecker",
    "MeanRegularizedRidge",
    "Moments",
    "MomentsRegressor",
    "MultitaskClassifier",
    "MultitaskRegressor",
    "PooledRidge",
    "Prior",
    "Rows",
    "SingleTaskRidge",
    "SpectralPrecision",
    "TaskByTask",
    "Tridiagonalised",
    "WeightEquation",
    "WeightSolver",
    "as_labels",
    "as_names",
    "as_rows",
    "as_signs",
    "as_targets",
    "dealt",
    "is_listed",
    "is_sparse",
    "known_targets",
    "mean_log_loss",
    "normalized_error",
    "number_at_least",
    "penalized",
    "require_rows",
    "solve_weights",
    "solver_for",
    "splits",
    "stacked",
    "summed",
]

_LATE = {
    "MeanRegularizedRidge": "mean_regularized",
    "MomentsRegressor": "regressor",
    "MultitaskClassifier": "classifier",
    "MultitaskRegressor": "regressor",
    "PooledRidge": "ridge",
    "SingleTaskRidge": "ridge",
}
"""The modules that need scikit-learn, by name."""

__getattr__ = _late(__name__, _LATE)
