"""Discrepancy minimization for domain adaptation."""

from matrixlearn_discrepancy.problem import Discrepancy, effective_sample_size

__all__ = ["Discrepancy", "effective_sample_size"]
