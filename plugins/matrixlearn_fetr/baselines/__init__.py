"""The methods of the paper's Table 1, and ridge pooled over the tasks, which it leaves out."""

from matrixlearn_fetr.baselines.mean_regularized import MeanRegularizedRidge
from matrixlearn_fetr.baselines.mtfl import MTFLRegressor
from matrixlearn_fetr.baselines.mtfrl import MTFRLRegressor
from matrixlearn_fetr.baselines.mtrl import MTRLRegressor
from matrixlearn_fetr.baselines.ridge import PooledRidge, SingleTaskRidge

__all__ = [
    "MTFLRegressor",
    "MTFRLRegressor",
    "MTRLRegressor",
    "MeanRegularizedRidge",
    "PooledRidge",
    "SingleTaskRidge",
]
