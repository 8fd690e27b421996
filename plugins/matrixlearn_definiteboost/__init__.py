"""DefiniteBoost: density matrices from linear constraints, and kernels from distances."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
from matrixlearn_definiteboost.adapted import AdaptiveBoost
from matrixlearn_definiteboost.central_path import CentralPath
from matrixlearn_definiteboost.diagonal import (
    Boosted,
    EdgeProblem,
    adaboost,
    eg_step,
    hedge,
    multiplicative_weights,
    multiplicative_weights_bound,
)
from matrixlearn_definiteboost.engines import Algorithm2, ApproximateProjections, Corrective, ExactProjections
from matrixlearn_definiteboost.independent import IndependentRows
from matrixlearn_definiteboost.minmax import Bisection, MinMaxSDP, bisect_theta
from matrixlearn_definiteboost.problem import DefiniteBoost
from matrixlearn_definiteboost.separation import Separated, boost_with_oracle

if TYPE_CHECKING:
    from matrixlearn_definiteboost.estimator import DefiniteBoostKernel

__all__ = [
    "AdaptiveBoost",
    "Algorithm2",
    "ApproximateProjections",
    "Bisection",
    "Boosted",
    "CentralPath",
    "Corrective",
    "DefiniteBoost",
    "DefiniteBoostKernel",
    "EdgeProblem",
    "ExactProjections",
    "IndependentRows",
    "MinMaxSDP",
    "Separated",
    "adaboost",
    "bisect_theta",
    "boost_with_oracle",
    "eg_step",
    "hedge",
    "multiplicative_weights",
    "multiplicative_weights_bound",
]

__getattr__ = _late(__name__, {"DefiniteBoostKernel": "estimator"})
