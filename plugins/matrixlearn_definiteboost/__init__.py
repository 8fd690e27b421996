"""DefiniteBoost: density matrices from linear constraints, and kernels from distances."""

from matrixlearn_definiteboost.engines import ApproximateProjections, Corrective, ExactProjections
from matrixlearn_definiteboost.minmax import Bisection, MinMaxSDP, bisect_theta
from matrixlearn_definiteboost.problem import DefiniteBoost

__all__ = [
    "ApproximateProjections",
    "Bisection",
    "Corrective",
    "DefiniteBoost",
    "ExactProjections",
    "MinMaxSDP",
    "bisect_theta",
]
