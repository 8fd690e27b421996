"""Discrepancy minimization for domain adaptation."""

from typing import TYPE_CHECKING, Any

from matrixlearn_discrepancy.bounds import admissible_bound, discrepancy_bound, discrepancy_distance
from matrixlearn_discrepancy.data import AirQuality, load_beijing_air
from matrixlearn_discrepancy.problem import Discrepancy, effective_sample_size
from matrixlearn_discrepancy.samples import summarize_target

if TYPE_CHECKING:
    from matrixlearn_discrepancy.estimator import DiscrepancyRegressor, FewPointsWarning

__all__ = [
    "AirQuality",
    "Discrepancy",
    "DiscrepancyRegressor",
    "FewPointsWarning",
    "admissible_bound",
    "discrepancy_bound",
    "discrepancy_distance",
    "effective_sample_size",
    "load_beijing_air",
    "summarize_target",
]


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn only when it is asked for."""
    if name in {"DiscrepancyRegressor", "FewPointsWarning"}:
        try:
            from matrixlearn_discrepancy import estimator
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "sklearn":
                raise
            from matrixlearn.exceptions import MissingExtraError

            msg = f"{name} needs scikit-learn: pip install 'matrixlearn[sklearn]'"
            raise MissingExtraError(msg) from error
        return getattr(estimator, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
