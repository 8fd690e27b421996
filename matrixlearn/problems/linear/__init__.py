"""Linear programs over semidefinite matrices: the data, the equivalent form that is solved, the proof."""

from matrixlearn.problems.linear.program import LinearSDP

__all__ = ["LinearSDP"]
