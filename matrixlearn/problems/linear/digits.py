"""What numbers of few digits near a point prove of a linear program, without rounding.

Where no y has A(y) - C > 0, and where a ray lies on the boundary, no factorization of a rounded matrix proves anything.
Whole numbers, or multiples of 1/2, 1/4, ..., near a point are computed with exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matrixlearn.linalg import inner
from matrixlearn.maps import CompressedMap
from matrixlearn.problems.linear.face import exact_inner, exact_slack, is_semidefinite
from matrixlearn.problems.linear.kernel import with_exact_kernel
from matrixlearn.problems.linear.members import exact_matrix
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.scaling import root_powers
from matrixlearn.problems.linear.span import SMALL, spanned
from matrixlearn.problems.linear.whole import exact_congruence

SINGULAR = 1e-10
"""Part of the largest eigenvalue up to which a negative one is looked at exactly."""

NOTHING = 1e-12
"""Part of the largest diagonal entry of a ray below which one is 0."""

AWAY = 1e-2
"""Part of sum |b_j y_j| that b.y is where y has gone far along a z with b.z < 0."""


def exact_multipliers(proof: Proof, y: np.ndarray) -> np.ndarray | None:
    """Of multipliers of few digits next to y with A(z) - C >= 0, proved, those with the least b.z; None where none are
    found.
    """
    candidates = sorted(_with_few_digits(proof, y), key=lambda z: proof.value(z)[0])
    return next((z for z in candidates if is_exactly_feasible(proof, z)), None)


def is_exactly_feasible(proof: Proof, y: np.ndarray) -> bool:
    """Whether A(y) - C, of order up to `SMALL` and nearly singular, is computed without rounding and proved >= 0."""
    if len(proof.C) > SMALL:
        return False
    F, _ = proof.slack(y)
    w = np.linalg.eigvalsh(F)
    if w[0] < -SINGULAR * max(float(w[-1]), -float(w[0])):
        return False
    N = _exact_slack(proof, y)
    return N is not None and is_semidefinite(N)


def proved_ray(proof: Proof, X: np.ndarray) -> np.ndarray | None:
    """D >= 0 with <A_j, D> = 0 or <= 0 and <C, D> > 0, proved, near a multiple of X; None where none is found.

    By the margins of `Proof`, on the range of X, or in small whole numbers.
    """
    if not inner(proof.C, X) > 0:
        return None
    X = X / float(np.max(np.abs(X)))
    along = replace(proof, b=np.zeros(len(proof.b)))
    if along.lower(X)[0] > 0:
        return X
    found = spanned(along, X)
    return found.point if found is not None and found.lower > 0 else exact_ray(proof, X)


def exact_ray(proof: Proof, X: np.ndarray) -> np.ndarray | None:
    """D >= 0 near a multiple of X with <A_j, D> = 0 or <= 0 and <C, D> > 0: whole numbers, in these units or in those,
    powers of two, in which the X_ii are of one size.
    """
    if len(X) > SMALL or np.iscomplexobj(X):
        return None
    diagonal = np.diagonal(X)
    t = np.where(diagonal > NOTHING * np.max(diagonal), diagonal, 1.0)
    even = root_powers(t)
    for units in (np.ones_like(X), np.outer(even, even)):
        W = X / units
        W = W / float(np.max(np.abs(W)))
        wholes = (np.rint(q * W) * units for q in (1, 2, 3, 4, 6, 8))
        D = next((D for D in wholes if _is_exact_ray(proof, D)), None)
        if D is not None:
            return D
    return None


def exact_farkas(proof: Proof, y: np.ndarray) -> np.ndarray | None:
    """z near the direction of y, z_j >= 0 outside E, with A(z) >= 0 and b.z < 0, both without rounding: no X >= 0 is
    feasible. None where none is found.

    A y that runs away goes along such a z, whatever b.y is: z belongs to rows that contradict each other by little.
    """
    if len(proof.C) > SMALL or not np.any(y):
        return None
    rows = proof.without_cost
    unit = y / float(np.max(np.abs(y)))
    return next((z for z in _farkas_candidates(rows, unit) if _is_exact_farkas(rows, z)), None)


def _farkas_candidates(rows: Proof, unit: np.ndarray) -> Iterator[np.ndarray]:
    """Few digits of a unit and of three times it, and a z near it for which A(z) has a null space in whole numbers."""
    for q in (1.0, 3.0):
        yield from (rows.signed(z) for z in _on_grids(q * unit))
    most, size = rows.value(unit)
    found = with_exact_kernel(rows, unit) if most <= AWAY * size else None
    if found is not None:
        yield found


def _is_exact_farkas(rows: Proof, z: np.ndarray) -> bool:
    """Whether z is one."""
    return rows.value(z)[0] < 0 and is_exactly_feasible(rows, z)


def _with_few_digits(proof: Proof, y: np.ndarray) -> list[np.ndarray]:
    """Multiples of 1, 1/2, ..., and of parts of the largest, next to y; a y whose slack has a null space in whole
    numbers.
    """
    if len(proof.C) > SMALL:
        return []
    found = [proof.signed(z) for z in _on_grids(y)]
    exact = with_exact_kernel(proof, y)
    found += [] if exact is None else [exact]
    return list({z.tobytes(): z for z in found}.values())


def _on_grids(y: np.ndarray) -> Iterator[np.ndarray]:
    """Multiples of 1, 1/2, ..., 1/16, and of parts of the largest down to 2^-12, next to y."""
    largest = 2.0 ** int(np.frexp(float(np.max(np.abs(y), initial=0.0)))[1])
    for grid in dict.fromkeys([*(2.0**-k for k in range(5)), *(largest * 2.0**-k for k in range(1, 13))]):
        yield np.rint(y / grid) * grid


def exact_combination(proof: Proof, target: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """z next to y with A(z) = target exactly; None where none is found."""
    for z in _on_grids(y):
        left = exact_slack(proof.family, target, z)
        if left is not None and not np.any(left):
            return z
    return None


def _exact_slack(proof: Proof, y: np.ndarray) -> np.ndarray | None:
    """A(y) - C without rounding, None where that takes more digits; on a face by way of the whole program."""
    if not isinstance(proof.family, CompressedMap):
        return None if proof.cost_error else exact_slack(proof.family, proof.C, y)
    if proof.whole is None:
        return None
    N = exact_slack(proof.family.base, proof.whole.C, y)
    V = proof.family.V
    return None if N is None else exact_congruence(N, V if len(N) == len(V) else np.kron(np.eye(2), V))


def _is_exact_ray(proof: Proof, D: np.ndarray) -> bool:
    """Whether whole numbers D are a ray, without rounding."""
    if not np.any(D) or np.iscomplexobj(proof.C) or isinstance(proof.family, CompressedMap):
        return False
    if not exact_inner(np.real(proof.C).reshape(-1), D.reshape(-1)) > 0:
        return False
    for j in range(len(proof.b)):
        A = exact_matrix(proof.family, j)
        if A is None or (np.iscomplexobj(A) and np.any(np.imag(A))):
            return False
        value = exact_inner(np.real(A).reshape(-1), D.reshape(-1))
        if value > 0 or (proof.equal[j] and value != 0):
            return False
    return is_semidefinite(D)
