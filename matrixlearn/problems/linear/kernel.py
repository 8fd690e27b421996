"""Upper bounds from multipliers whose slack is singular: y moved to where its null space is exact.

    (A(y) - C) V = 0 exactly,  A(y) - C > 0 on a complement of V      =>      A(y) - C >= 0,  v <= b.y

Where no y has A(y) - C > 0, a rounding of y makes an eigenvalue negative, and no factorization proves a bound. V is the
null space that y is near to, in whole numbers. The linear equations for y are solved without rounding: the multipliers
that they leave free are those of y to a few digits, and the others follow. They must be floating point numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from matrixlearn.linalg.pivoting import pivot_order
from matrixlearn.maps import CompressedMap
from matrixlearn.problems.linear.members import exact_matrix
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.span import as_real, whole_range
from matrixlearn.problems.linear.whole import EXACT, odd_part, reduced_echelon, whole_numbers, without, without_divisor

SMALL = 1e-5
"""Part of the largest eigenvalue below which one counts as 0."""

UNUSED = 1e-6
"""Part of the slack below which the term of an inequality counts as 0."""

MET = 1e-9
"""Part of the right side that the equations may be missed by, to be looked at exactly."""

LARGEST = 2**900
"""The largest multiplier."""

DIGITS = 10
"""Binary digits of a free multiplier."""

WORK = 400_000
"""The most operations on whole numbers that the equations may take."""


def with_exact_kernel(proof: Proof, y: np.ndarray) -> np.ndarray | None:
    """A y near this one with (A(y) - C) V = 0 exactly; None where none is found."""
    if isinstance(proof.family, CompressedMap) or proof.cost_error or not np.any(y):
        return None
    F, _ = proof.slack(y)
    w, U = np.linalg.eigh(F)
    null = np.abs(w) <= SMALL * max(float(w[-1]), 0.0)
    if not np.any(null) or w[0] < -SMALL * float(w[-1]):
        return None
    V = whole_range(U[:, null] @ U[:, null].conj().T)
    return None if V is None else with_kernel(proof, y, V)


def with_kernel(proof: Proof, y: np.ndarray, V: np.ndarray) -> np.ndarray | None:
    """A z near y, z_j >= 0 outside E, with (A(z) - C) V = 0 exactly; None where none is found."""
    terms = np.abs(y) * proof.family.sizes
    used = np.flatnonzero(np.where(proof.equal, y != 0, terms > UNUSED * np.max(terms)))
    if not 0 < len(used) ** 2 * V.size <= WORK:
        return None
    key = V.tobytes() + used.tobytes()
    if key not in proof.equations:
        proof.equations[key] = _equations(proof, V, used)
    equations = proof.equations[key]
    found = None if equations is None else _near(equations, y[used])
    if found is None:
        return None
    out = np.zeros(len(y))
    out[used] = found
    return out if np.all(proof.equal | (out >= 0)) else None


@dataclass(frozen=True, eq=False)
class Equations:
    """(A(z) - C) V = 0 solved for as many of the z_j as it takes, whole numbers: line k is 0 at all pivots but its own.

    Attributes
    ----------
    order : ndarray of int, shape (m,)
        Of the unknowns in the lines.
    units : ndarray of int, shape (m,)
        The unknowns are z_j 2^units_j, in this order.
    pivots : list of int
    lines : list of ndarray, shape (m + 1,)
    odd : int
        What free unknowns are multiples of, so that the others have few digits.
    """

    order: np.ndarray
    units: np.ndarray
    pivots: list[int]
    lines: list[np.ndarray]
    odd: int


def _equations(proof: Proof, V: np.ndarray, used: np.ndarray) -> Equations | None:
    """Those for the multipliers in ``used``; None where they have no solution, or one of more digits."""
    matrices = [exact_matrix(proof.family, int(j)) for j in used]
    wholes = [_times(A, V) for A in (proof.C, *matrices) if A is not None]
    if len(wholes) <= len(used):
        return None
    right, unit = wholes[0]
    sizes = np.array([[float(value) for value in column] for column, _ in wholes[1:]])
    norms = np.linalg.norm(sizes, axis=1)
    scaled = (sizes / np.where(norms > 0, norms, 1.0)[:, None]).T
    aim = np.array([float(value) for value in right])
    if float(np.linalg.norm(aim - scaled @ np.linalg.lstsq(scaled, aim, rcond=None)[0])) > MET * np.linalg.norm(aim):
        return None  # no y meets the equations, exactly or not
    order = pivot_order(scaled)
    units = np.array([wholes[1 + k][1] - unit for k in order])
    whole = np.column_stack([*(wholes[1 + k][0] for k in order), right])
    m = len(order)
    pivots, lines, _ = reduced_echelon(without_divisor(row) for row in whole)
    if m in pivots:
        return None
    pivots, lines = _with_powers_of_two(pivots, lines, m)
    odd = lcm(*(odd_part(int(line[pivot])) for pivot, line in zip(pivots, lines, strict=True)))
    # beyond, the free multipliers would have more digits than floating point has
    return Equations(order, units, pivots, lines, odd) if odd <= EXACT else None


def _times(A: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, int]:
    """(whole numbers, e): A V = whole 2^e as one column, real parts before imaginary ones."""
    if np.iscomplexobj(V) or np.iscomplexobj(A):
        A, V = as_real(A.astype(complex)), as_real(V.astype(complex))
    (left, e), (right, f) = whole_numbers(A), whole_numbers(V)
    return left.dot(right).reshape(-1), e + f


def _near(equations: Equations, y: np.ndarray) -> np.ndarray | None:
    """The solution next to y, where it is one of floating point numbers."""
    m, odd, pivots, lines = len(y), equations.odd, equations.pivots, equations.lines
    guess = np.ldexp(y[equations.order], equations.units)
    u = [Fraction(0)] * m
    for k in set(range(m)) - set(pivots):
        mantissa, exponent = np.frexp(guess[k] / odd)
        u[k] = odd * Fraction(float(np.rint(mantissa * 2**DIGITS))) * Fraction(2) ** int(exponent - DIGITS)
    free = [k for k in range(m) if u[k]]
    for pivot, line in zip(pivots, lines, strict=True):
        u[pivot] = (int(line[m]) - sum(int(line[k]) * u[k] for k in free)) / Fraction(int(line[pivot]))
    if any(abs(value) > LARGEST for value in u):
        return None
    found = np.array([float(value) for value in u])
    if any(Fraction(value) != known for value, known in zip(found.tolist(), u, strict=True)):
        return None
    out = np.zeros(m)
    out[equations.order] = np.ldexp(found, -equations.units)
    return out


def _with_powers_of_two(pivots: list[int], lines: list[np.ndarray], m: int) -> tuple[list[int], list[np.ndarray]]:
    """The same equations solved for other unknowns where that divides by smaller odd numbers: dividing by a power of
    two leaves a few digits a few digits.
    """
    pivots, lines = list(pivots), list(lines)
    for i in range(len(lines)):
        line = lines[i]
        free = [k for k in range(m) if k not in pivots and line[k]]
        best = min([pivots[i], *free], key=lambda k: (odd_part(int(line[k])), -abs(int(line[k]))))
        if best != pivots[i]:
            lines = [other if j == i else without(other, line, best) for j, other in enumerate(lines)]
            pivots[i] = best
    return pivots, lines
