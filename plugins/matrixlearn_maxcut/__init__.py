"""The MaxCut relaxation and Goemans-Williamson rounding."""

from matrixlearn_maxcut.problem import Cut, MaxCut

__all__ = ["Cut", "MaxCut"]
