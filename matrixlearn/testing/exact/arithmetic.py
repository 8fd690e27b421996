"""Matrices of rational numbers: semidefiniteness, null spaces and inner products without rounding.

A Hermitian H = R + iJ is held as the real symmetric [[R, -J], [J, R]], which is positive semidefinite where H is, and
whose inner products are twice those of H.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exactly(M: np.ndarray) -> np.ndarray:
    """The numbers of M as fractions, real and symmetric: a double is a fraction."""
    whole = np.block([[M.real, -M.imag], [M.imag, M.real]]) if np.iscomplexobj(M) else np.asarray(M, dtype=float)
    return np.array([Fraction(float(value)) for value in whole.ravel()], dtype=object).reshape(whole.shape)


def exact_inner(M: np.ndarray, N: np.ndarray) -> Fraction:
    """Re tr(M^H N), exact."""
    if np.iscomplexobj(M) or np.iscomplexobj(N):
        M, N = M.astype(complex), N.astype(complex)
        return exact_inner(M.real, N.real) + exact_inner(M.imag, N.imag)
    pairs = zip(np.asarray(M, dtype=float).ravel(), np.asarray(N, dtype=float).ravel(), strict=True)
    return sum((Fraction(float(p)) * Fraction(float(q)) for p, q in pairs if p and q), Fraction(0))


def eliminated(M: np.ndarray) -> tuple[np.ndarray, list[int]] | None:
    """The rows that symmetric elimination leaves and their pivots, or None where M is not positive semidefinite.

    M >= 0 has no negative diagonal entry, no entry beside a diagonal entry of 0, and Schur complements that are >= 0.
    """
    M = M.copy()
    rows: list[np.ndarray] = []
    pivots: list[int] = []
    left = list(range(len(M)))
    while left:
        if any(M[k, k] < 0 for k in left):
            return None
        pivot = next((k for k in left if M[k, k] > 0), None)
        if pivot is None:
            return None if any(M[i, j] != 0 for i in left for j in left) else (np.array(rows, dtype=object), pivots)
        left.remove(pivot)
        row = np.array([M[pivot, j] if j in left or j == pivot else Fraction(0) for j in range(len(M))], dtype=object)
        rows.append(row)
        pivots.append(pivot)
        for i in left:
            if M[i, pivot] != 0:
                M[i, left] = M[i, left] - M[i, pivot] / M[pivot, pivot] * M[pivot, left]
    return np.array(rows, dtype=object), pivots


def null_space(M: np.ndarray) -> np.ndarray | None:
    """A basis of {v : M v = 0}, as columns, or None where M is not positive semidefinite."""
    found = eliminated(M)
    if found is None:
        return None
    rows, pivots = found
    free = [k for k in range(len(M)) if k not in pivots]
    basis = np.full((len(M), len(free)), Fraction(0), dtype=object)
    for column, k in enumerate(free):
        basis[k, column] = Fraction(1)
        for row, pivot in zip(rows[::-1], pivots[::-1], strict=True):
            others = [j for j in range(len(M)) if j != pivot and row[j] != 0]
            basis[pivot, column] = -sum((row[j] * basis[j, column] for j in others), Fraction(0)) / row[pivot]
    return basis
