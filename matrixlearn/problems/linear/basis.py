"""A basis for X in which it is about I: X = T X' T^T, an exactly equivalent program.

    C' = T^T C T,   A'_j = T^T A_j T,   b'_j = b_j,        X = L D L^T about,   T = L D^{1/2} in few digits

T holds whole numbers times powers of two, so that C' and A'_j are computed without rounding, and is invertible: L is
unit triangular but for the order of its rows. Where an X of an engine is nearly singular in directions that are no
coordinates, its small eigenvalues are lost in the rounding of the large ones; in this basis none is small.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import DenseMap, LinearMap
from matrixlearn.problems.linear.members import FEW, exact_matrix
from matrixlearn.problems.linear.scaling import root_powers
from matrixlearn.problems.linear.whole import exact_congruence, null_space
from matrixlearn.validation import as_real_vector

NEAR = 1.0
"""How far an entry of L may be off, in parts of what doubles the length of a small direction."""

LARGEST = 40
"""The order up to which a basis is looked for."""

NOISE = 1e-13
"""Part of the largest entry of D, of entries of one size, below which one is rounding."""


def basis_of(X: np.ndarray) -> np.ndarray | None:
    """T for an X that is about positive definite; None where T would be diagonal, and where X has no such factors.

    An entry of L has so few digits that its error in a large direction is about as long as a small one.
    """
    n = len(X)
    diagonal = np.real(np.diagonal(X))
    if not 1 < n <= LARGEST or np.iscomplexobj(X) or not (np.isfinite(X).all() and np.all(diagonal > 0)):
        return None
    units = root_powers(diagonal)
    left, L, D = X / np.outer(units, units), np.zeros((n, n)), np.zeros(n)
    rows = list(range(n))
    order: list[int] = []
    for k in range(n):
        pivot = max(rows, key=lambda i: left[i, i])
        rows.remove(pivot)
        order.append(pivot)
        D[k] = left[pivot, pivot]
        if not D[k] > NOISE * D[0]:  # singular, as far as can be told
            return None
        L[pivot, k] = 1.0
        L[rows, k] = left[rows, pivot] / D[k]
        left = left - D[k] * np.outer(L[:, k], L[:, k])
    for k in range(n):
        for i in range(k + 1, n):
            L[order[i], k] = _simplest(L[order[i], k], NEAR * float(np.sqrt(D[i] / D[k])))
    if np.count_nonzero(L) == n:
        return None
    return np.asarray(units[:, None] * L * root_powers(D))


def _simplest(value: float, room: float) -> float:
    """The multiple of 1, 1/2, 1/4, ... within ``room`` that has the fewest digits."""
    grid = 1.0
    while abs(np.rint(value / grid) * grid - value) > room:
        grid /= 2
    return float(np.rint(value / grid) * grid)


def is_invertible(T: np.ndarray) -> bool:
    """Whether T x = 0 for x = 0 only, proved in whole numbers."""
    kernel = null_space(T)
    return kernel is not None and kernel.shape[1] == 0


def in_basis(C: np.ndarray, family: LinearMap, T: np.ndarray) -> tuple[np.ndarray, LinearMap] | None:
    """(C', the A'_j), None where they are no floating point matrices or too many."""
    m, n = family.shape
    if m * n * n > FEW:
        return None
    matrices = [C, *(exact_matrix(family, j) for j in range(m))]
    parts = [None if A is None else exact_congruence(A, T) for A in matrices]
    known = [part for part in parts if part is not None]
    return (known[0], DenseMap(np.stack(known[1:]))) if len(known) == m + 1 else None


def checked_basis(units: Any, n: int) -> np.ndarray:
    """The units of the basis, or the basis itself."""
    if getattr(units, "shape", None) == (n, n):
        T = np.array(units, dtype=float)
        if not (np.isfinite(T).all() and is_invertible(T)):
            msg = "units must be an invertible matrix of few digits, or powers of two"
            raise ProblemError(msg)
        return T
    t = as_real_vector("units", units, n)
    if not np.all((t > 0) & (np.frexp(t)[0] == 0.5)):
        msg = f"units must be powers of two, got {units!r}"
        raise ProblemError(msg)
    return t
