"""Regularised empirical risk minimisation: every method of the field behind one problem and one certified gap."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
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

_ESTIMATORS = {"ERMClassifier": "classifier", "ERMRegressor": "regressor"}

__getattr__ = _late(__name__, _ESTIMATORS)
