"""What may be said of a program whose outcome is known: every false word of a certificate or a solution, by name.

Bounds that are called checked are compared as fractions, without any tolerance.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from matrixlearn.testing.exact.program import INF, ExactProgram

TERMS = 1e-12
"""Of the sum of |C_ik X_ik|, that bounds may differ by and count as one."""

MISSED = 1e-7
"""Of a row's size, that the matrix of an optimal answer may miss it by."""


def _exact(value: float) -> Fraction | float:
    return Fraction(value) if math.isfinite(value) else value


def faults(program: ExactProgram, certificate: Any) -> list[str]:
    """What a certificate says that is not true."""
    lower, upper, found = float(certificate.lower), float(certificate.upper), []
    if math.isnan(lower) or math.isnan(upper):
        return ["NaN bounds"]
    proved = certificate.rigour == "checked"
    if proved and _exact(lower) > program.high:
        found.append("false lower bound")
    if _exact(upper) < program.low:  # any multipliers prove it, whatever the matrix
        found.append("false upper bound")
    if program.outcome == "unbounded" and upper < INF and getattr(certificate, "trace_bound", 0.0) is None:
        found.append("false upper bound")  # it holds among X with tr X <= R only, and does not say so
    if proved and lower > upper and not (lower == INF or upper == -INF):
        found.append("lower > upper")
    return found


def size_of(program: ExactProgram, X: np.ndarray | None, y: np.ndarray | None) -> float:
    """sum_j |b_j y_j| + |C . X|: what the bounds add up to."""
    size = 0.0 if y is None else float(np.abs(program.b) @ np.abs(y))
    return size if X is None else size + abs(float(np.sum(program.C.conj() * X).real))


def terms_of(program: ExactProgram, X: np.ndarray | None) -> float:
    """sum_ik |C_ik X_ik|: whose rounding is no gap."""
    return 0.0 if X is None else float(np.sum(np.abs(program.C) * np.abs(X)))


def solve_faults(program: ExactProgram, solution: Any, tol: float, atol: float = 0.0) -> list[str]:
    """What a solution says that is not true: its bounds, its status, its value, its matrix."""
    found, status = faults(program, solution.certificate), str(solution.status)
    value, lower, upper = float(solution.value), float(solution.lower), float(solution.upper)
    if status == "infeasible":
        return found if program.outcome == "infeasible" else [*found, "false 'infeasible'"]
    if status == "unbounded":
        return found if program.outcome == "unbounded" else [*found, "false 'unbounded'"]
    if math.isfinite(value) and solution.certificate.rigour == "checked" and not lower <= value <= upper:
        found.append("value outside its bounds")
    near = max(tol * solution.certificate.size, atol)
    if status == "estimated" and not lower - near <= value <= upper + near:
        found.append("value outside its bounds")
    if status != "optimal":
        return found
    if program.outcome != "optimal":
        return [*found, f"'optimal' where it is {program.outcome}"]
    X, y = solution.matrix, solution.y
    ends = [abs(float(end)) for end in (program.low, program.high) if math.isfinite(end)]
    size = max(size_of(program, X, y), size_of(program, program.X, program.y), *ends)
    terms = max(terms_of(program, X), terms_of(program, program.X))
    allowed = Fraction(max(tol * size, atol, TERMS * terms))
    if not program.low - allowed <= _exact(value) <= program.high + allowed:
        found.append("'optimal' and WRONG")
    if X is not None and missed(program, X) > MISSED:
        found.append("the matrix misses its rows")
    return found


def missed(program: ExactProgram, X: np.ndarray) -> float:
    """The most that X misses a row by, of the size of what the row adds up, and of an eigenvalue below 0."""
    reached = np.sum(program.A.conj() * X, axis=(1, 2)).real
    over = (reached - program.b) * program.signs
    wrong = np.where(program.equalities, np.abs(over), np.maximum(over, 0.0))
    diagonal = np.sqrt(np.maximum(np.diagonal(X).real, 0.0))  # |X_ik| <= sqrt(X_ii X_kk)
    size = np.abs(program.A) @ diagonal @ diagonal + np.abs(program.b)
    eigenvalues = np.linalg.eigvalsh(X)
    below = max(0.0, -float(eigenvalues[0])) / (float(np.abs(eigenvalues).max()) or 1.0)
    return max(float(np.max(wrong / np.where(size > 0, size, 1.0), initial=0.0)), below)
