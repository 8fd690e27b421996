"""Regularised empirical risk minimisation: every method of the field behind one problem and one certified gap."""

from typing import TYPE_CHECKING, Any

from matrixlearn_erm.apcg import APCG
from matrixlearn_erm.cases import Case
from matrixlearn_erm.distributed import DADM, DisDCA
from matrixlearn_erm.interior import InteriorPoint
from matrixlearn_erm.katyusha import Katyusha
from matrixlearn_erm.newton import Newton
from matrixlearn_erm.papc import PAPC
from matrixlearn_erm.pdhg import PDHG
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.sdca import SDCA
from matrixlearn_erm.sgd import SGD
from matrixlearn_erm.spd1 import SPD1, SPD1VR
from matrixlearn_erm.spdc import SPDC
from matrixlearn_erm.svrg import SVRG

if TYPE_CHECKING:
    from matrixlearn_erm.classifier import ERMClassifier
    from matrixlearn_erm.regressor import ERMRegressor

__all__ = [
    "APCG",
    "DADM",
    "ERM",
    "PAPC",
    "PDHG",
    "SDCA",
    "SGD",
    "SPD1",
    "SPD1VR",
    "SPDC",
    "SVRG",
    "Case",
    "DisDCA",
    "ERMClassifier",
    "ERMRegressor",
    "InteriorPoint",
    "Katyusha",
    "Newton",
]

_ESTIMATORS = {"ERMClassifier": "matrixlearn_erm.classifier", "ERMRegressor": "matrixlearn_erm.regressor"}


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn only when it is asked for."""
    if name in _ESTIMATORS:
        from importlib import import_module

        try:
            return getattr(import_module(_ESTIMATORS[name]), name)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "sklearn":
                raise
            from matrixlearn.exceptions import MissingExtraError

            msg = f"{name} needs scikit-learn: pip install 'matrixlearn[sklearn]'"
            raise MissingExtraError(msg) from error
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
