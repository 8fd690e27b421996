"""FETR: multitask regression that learns how features and how tasks are related."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
from matrixlearn.multitask import (
    BartelsStewart,
    ConjugateGradients,
    Diagonalised,
    FewTasks,
    GradientDescent,
    Kronecker,
    Moments,
    Prior,
    SpectralPrecision,
    TaskByTask,
    Tridiagonalised,
    WeightEquation,
    WeightSolver,
    solve_weights,
)
from matrixlearn_fetr.classification import LogisticFETR
from matrixlearn_fetr.covariance import (
    JointPrecisions,
    PrecisionPair,
    feature_precision,
    joint_precisions,
    task_precision,
)
from matrixlearn_fetr.engines import Alternating, FlipFlop, Joint, ProjectedGradient, ProximalGradient, Pruning
from matrixlearn_fetr.estimate import Estimate
from matrixlearn_fetr.logistic import LogisticLoss, OwnRows, SharedRows
from matrixlearn_fetr.problem import FETR
from matrixlearn_fetr.relations import Located, RelationProblem, WeightLoss
from matrixlearn_fetr.weights import SquaredLoss

if TYPE_CHECKING:
    from matrixlearn_fetr.baselines import (
        MeanRegularizedRidge,
        MTFLRegressor,
        MTFRLRegressor,
        MTRLRegressor,
        PooledRidge,
        SingleTaskRidge,
    )
    from matrixlearn_fetr.classifier import FETRClassifier, FETRClassifierCV
    from matrixlearn_fetr.features import OrthogonalFeatures
    from matrixlearn_fetr.nn import FETRNetwork as FETRNetwork
    from matrixlearn_fetr.regressor import FETRRegressor, FETRRegressorCV

__all__ = [
    "FETR",
    "Alternating",
    "BartelsStewart",
    "ConjugateGradients",
    "Diagonalised",
    "Estimate",
    "FETRClassifier",
    "FETRClassifierCV",
    "FETRRegressor",
    "FETRRegressorCV",
    "FewTasks",
    "FlipFlop",
    "GradientDescent",
    "Joint",
    "JointPrecisions",
    "Kronecker",
    "Located",
    "LogisticFETR",
    "LogisticLoss",
    "MTFLRegressor",
    "MTFRLRegressor",
    "MTRLRegressor",
    "MeanRegularizedRidge",
    "Moments",
    "OrthogonalFeatures",
    "OwnRows",
    "PooledRidge",
    "PrecisionPair",
    "Prior",
    "ProjectedGradient",
    "ProximalGradient",
    "Pruning",
    "RelationProblem",
    "SharedRows",
    "SingleTaskRidge",
    "SpectralPrecision",
    "SquaredLoss",
    "TaskByTask",
    "Tridiagonalised",
    "WeightEquation",
    "WeightLoss",
    "WeightSolver",
    "feature_precision",
    "joint_precisions",
    "solve_weights",
    "task_precision",
]

LATE = {
    "FETRClassifier": "classifier",
    "FETRClassifierCV": "classifier",
    "FETRNetwork": "nn",
    "FETRRegressor": "regressor",
    "FETRRegressorCV": "regressor",
    "MTFLRegressor": "baselines",
    "MTFRLRegressor": "baselines",
    "MTRLRegressor": "baselines",
    "MeanRegularizedRidge": "baselines",
    "OrthogonalFeatures": "features",
    "PooledRidge": "baselines",
    "SingleTaskRidge": "baselines",
}
"""The modules that need scikit-learn, or PyTorch, by name: imported when they are asked for.

`FETRNetwork` is not in ``__all__``: PyTorch is in no other extra, and a star import must not need it.
"""

__getattr__ = _late(__name__, LATE)
