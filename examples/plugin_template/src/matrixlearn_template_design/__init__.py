"""E-optimal experiment design, a plugin of matrixlearn."""

from matrixlearn_template_design.problem import EOptimalDesign

__all__ = ["EOptimalDesign"]
