"""Matrix exponentiated gradient: learning a density matrix, online and from a finite set."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
from matrixlearn_meg.instances import Dense, LowRank, Pair, Sparse
from matrixlearn_meg.learner import MEGLearner
from matrixlearn_meg.problem import MEGRegression
from matrixlearn_meg.rates import Adaptive, Fixed, Lemma32
from matrixlearn_meg.stream import DivergenceWarning

if TYPE_CHECKING:
    from matrixlearn_meg.estimator import MEGRegressor

__all__ = [
    "Adaptive",
    "Dense",
    "DivergenceWarning",
    "Fixed",
    "Lemma32",
    "LowRank",
    "MEGLearner",
    "MEGRegression",
    "MEGRegressor",
    "Pair",
    "Sparse",
]

__getattr__ = _late(__name__, {"MEGRegressor": "estimator"})
