"""The engines of `ERM`, in the order in which ``auto`` prefers them: as measured, and history last."""

from __future__ import annotations

from matrixlearn.engines import Engine
from matrixlearn_erm.apcg import APCG
from matrixlearn_erm.distributed import DADM, DisDCA
from matrixlearn_erm.interior import InteriorPoint
from matrixlearn_erm.katyusha import Katyusha
from matrixlearn_erm.newton import Newton
from matrixlearn_erm.papc import PAPC
from matrixlearn_erm.pdhg import PDHG
from matrixlearn_erm.sdca import SDCA
from matrixlearn_erm.sgd import SGD
from matrixlearn_erm.spd1 import SPD1, SPD1VR
from matrixlearn_erm.spdc import SPDC
from matrixlearn_erm.svrg import SVRG

ENGINES: tuple[Engine, ...] = (
    Newton(),
    InteriorPoint(),
    PDHG(),
    SDCA(),
    Katyusha(),
    SVRG(),
    SPDC(),
    APCG(),
    PAPC(),
    DisDCA(),
    DADM(),
    SPD1VR(),
    SPD1(),
    SGD(),
)
"""For a smooth loss and an elastic net ``newton``; for a quadratic conjugate and a ridge ``interior-point``; for the
rest ``pdhg``; but ``sdca`` before the last two where it is compiled and rows are easy (`SDCA.preferred`). Those after
it are history: they work, and are compared."""
