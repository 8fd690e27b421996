"""Discrepancy minimization for domain adaptation."""

from typing import TYPE_CHECKING

from matrixlearn.late import late as _late
from matrixlearn_discrepancy.bounds import admissible_bound, discrepancy_bound, discrepancy_distance
from matrixlearn_discrepancy.data import AirQuality, load_beijing_air
from matrixlearn_discrepancy.path import discrepancy_path
from matrixlearn_discrepancy.problem import Discrepancy, effective_sample_size
from matrixlearn_discrepancy.samples import summarize_target
from matrixlearn_discrepancy.sampling import discrepancy_of_distributions, rademacher_complexity, sampling_bound
from matrixlearn_discrepancy.selection import Choice, DiscrepancyBound, Evidence, ImportanceWeighted, Rule, Trials
from matrixlearn_discrepancy.smoother import Smoother
from matrixlearn_discrepancy.spread import SpreadDiscrepancy

if TYPE_CHECKING:
    from matrixlearn_discrepancy.classifier import DiscrepancyClassifier
    from matrixlearn_discrepancy.estimator import DiscrepancyRegressor, FewPointsWarning
    from matrixlearn_discrepancy.estimator_cv import DiscrepancyRegressorCV
    from matrixlearn_discrepancy.generalized import GeneralizedDiscrepancy

__all__ = [
    "AirQuality",
    "Choice",
    "Discrepancy",
    "DiscrepancyBound",
    "DiscrepancyClassifier",
    "DiscrepancyRegressor",
    "DiscrepancyRegressorCV",
    "Evidence",
    "FewPointsWarning",
    "GeneralizedDiscrepancy",
    "ImportanceWeighted",
    "Rule",
    "Smoother",
    "SpreadDiscrepancy",
    "Trials",
    "admissible_bound",
    "discrepancy_bound",
    "discrepancy_distance",
    "discrepancy_of_distributions",
    "discrepancy_path",
    "effective_sample_size",
    "load_beijing_air",
    "rademacher_complexity",
    "sampling_bound",
    "summarize_target",
]


_LATE = {
    "DiscrepancyClassifier": "classifier",
    "DiscrepancyRegressor": "estimator",
    "DiscrepancyRegressorCV": "estimator_cv",
    "FewPointsWarning": "estimator",
    "GeneralizedDiscrepancy": "generalized",
}
"""Modules by name, imported when they are asked for: they need scikit-learn, or load SciPy."""

__getattr__ = _late(__name__, _LATE)
