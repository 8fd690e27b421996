"""Programs whose outcome is known exactly, and what may be said of them: the judge of certificates."""

from matrixlearn.testing.exact.closed_forms import CLOSED_FORMS, quadratic_over_linear, theta_of_cycle
from matrixlearn.testing.exact.drawing import exact_program, mixed_chain
from matrixlearn.testing.exact.faults import faults, size_of, solve_faults
from matrixlearn.testing.exact.kinds import KINDS
from matrixlearn.testing.exact.program import ExactProgram

__all__ = [
    "CLOSED_FORMS",
    "KINDS",
    "ExactProgram",
    "exact_program",
    "faults",
    "mixed_chain",
    "quadratic_over_linear",
    "size_of",
    "solve_faults",
    "theta_of_cycle",
]
