"""Matrix exponentiated gradient: learning a density matrix, online and from a finite set."""

from typing import TYPE_CHECKING, Any

from matrixlearn_meg.instances import Dense, LowRank, Pair, Sparse
from matrixlearn_meg.learner import MEGLearner
from matrixlearn_meg.losses import Absolute, Huber, Logistic, Loss, Square
from matrixlearn_meg.problem import MEGRegression
from matrixlearn_meg.rates import Adaptive, Fixed, Lemma32
from matrixlearn_meg.stream import DivergenceWarning

if TYPE_CHECKING:
    from matrixlearn_meg.estimator import MEGRegressor

__all__ = [
    "Absolute",
    "Adaptive",
    "Dense",
    "DivergenceWarning",
    "Fixed",
    "Huber",
    "Lemma32",
    "Logistic",
    "Loss",
    "LowRank",
    "MEGLearner",
    "MEGRegression",
    "MEGRegressor",
    "Pair",
    "Sparse",
    "Square",
]


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn only when it is asked for."""
    if name == "MEGRegressor":
        try:
            from matrixlearn_meg.estimator import MEGRegressor
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "sklearn":
                raise
            from matrixlearn.exceptions import MissingExtraError

            msg = "MEGRegressor needs scikit-learn: pip install 'matrixlearn[sklearn]'"
            raise MissingExtraError(msg) from error
        return MEGRegressor
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
