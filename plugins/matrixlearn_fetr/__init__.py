"""FETR: multitask regression that learns how features and how tasks are related."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from matrixlearn_fetr.covariance import (
    JointPrecisions,
    PrecisionPair,
    SpectralPrecision,
    feature_precision,
    joint_precisions,
    task_precision,
)
from matrixlearn_fetr.data import Moments
from matrixlearn_fetr.engines import Alternating, FlipFlop, Joint, ProjectedGradient
from matrixlearn_fetr.estimate import Estimate
from matrixlearn_fetr.problem import FETR
from matrixlearn_fetr.relations import Located, Loss, RelationProblem
from matrixlearn_fetr.weights import (
    BartelsStewart,
    ConjugateGradients,
    Diagonalised,
    FewTasks,
    GradientDescent,
    Kronecker,
    Prior,
    SquaredLoss,
    TaskByTask,
    WeightEquation,
    WeightSolver,
)

if TYPE_CHECKING:
    from matrixlearn_fetr.baselines import (
        MeanRegularizedRidge,
        MTFLRegressor,
        MTFRLRegressor,
        MTRLRegressor,
        PooledRidge,
        SingleTaskRidge,
    )
    from matrixlearn_fetr.estimator import FETRRegressor, FETRRegressorCV
    from matrixlearn_fetr.features import OrthogonalFeatures

__all__ = [
    "FETR",
    "Alternating",
    "BartelsStewart",
    "ConjugateGradients",
    "Diagonalised",
    "Estimate",
    "FETRRegressor",
    "FETRRegressorCV",
    "FewTasks",
    "FlipFlop",
    "GradientDescent",
    "Joint",
    "JointPrecisions",
    "Kronecker",
    "Located",
    "Loss",
    "MTFLRegressor",
    "MTFRLRegressor",
    "MTRLRegressor",
    "MeanRegularizedRidge",
    "Moments",
    "OrthogonalFeatures",
    "PooledRidge",
    "PrecisionPair",
    "Prior",
    "ProjectedGradient",
    "RelationProblem",
    "SingleTaskRidge",
    "SpectralPrecision",
    "SquaredLoss",
    "TaskByTask",
    "WeightEquation",
    "WeightSolver",
    "feature_precision",
    "joint_precisions",
    "task_precision",
]

LATE = {
    "FETRRegressor": "estimator",
    "FETRRegressorCV": "estimator",
    "MTFLRegressor": "baselines",
    "MTFRLRegressor": "baselines",
    "MTRLRegressor": "baselines",
    "MeanRegularizedRidge": "baselines",
    "OrthogonalFeatures": "features",
    "PooledRidge": "baselines",
    "SingleTaskRidge": "baselines",
}
"""The modules that need scikit-learn, by name: imported when they are asked for."""


def __getattr__(name: str) -> Any:
    if name not in LATE:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        return getattr(import_module(f"{__name__}.{LATE[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        from matrixlearn.exceptions import MissingExtraError

        msg = f"{name} needs scikit-learn: pip install 'matrixlearn[sklearn]'"
        raise MissingExtraError(msg) from error
