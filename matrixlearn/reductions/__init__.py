"""What is solved in the place of a problem, and the maps of points there and back."""

from matrixlearn.reductions.base import Reduction, Unreduced, reduction_of
from matrixlearn.reductions.linear import LinearReduction

__all__ = ["LinearReduction", "Reduction", "Unreduced", "reduction_of"]
