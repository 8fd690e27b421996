"""The methods of the paper's Table 1, and ridge pooled over the tasks, which it leaves out."""

from matrixlearn.multitask import MeanRegularizedRidge, PooledRidge, SingleTaskRidge
from matrixlearn_fetr.baselines.mtfl import MTFLRegressor
from matrixlearn_fetr.baselines.mtfrl import MTFRLRegressor
from matrixlearn_fetr.baselines.mtrl import MTRLRegressor

__all__ = [
    "MTFLRegressor",
    "MTFRLRegressor",
    "MTRLRegressor",
    "MeanRegularizedRidge",
    "PooledRidge",
    "SingleTaskRidge",
]
