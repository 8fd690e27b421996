"""A matrix moved onto rows in its own metric, which keeps it semidefinite however small its eigenvalues are.

    X = F F^T,     X' = F (I + E) F^T,     <F^T A_j F, E> = b_j - <A_j, X>,     the smallest such E

Where ||E|| < 1, X' >= 0. The smallest D with X + D on the rows is smaller, but of a size that has nothing to do with
the eigenvalues of X, and an X near the boundary would have to be moved back into the cone by as much.
"""

from __future__ import annotations

import numpy as np

from matrixlearn.linalg import sym
from matrixlearn.problems.linear.equalities import Equalities

NEAR = 1e-6
"""Part of their terms that rows may be missed by."""

WORK = 1e8
"""About the most multiplications of a step: a tenth of a second."""

STEPS, LONGEST, SMALL = 3, 0.45, 1e-9
"""The most steps, the largest ||E||_F of one, and that of the last."""

DEPENDENT = 1e-15
"""Part of the largest singular value of the F^T A_j F below which one counts as 0."""


def within_the_cone(rows: Equalities, X: np.ndarray) -> np.ndarray | None:
    """X' for the equalities; None where X is far from them, complex or large."""
    equalities, right, units, n = rows.family, rows.right, rows.units, len(X)
    m = len(right)
    if m == 0 or max(m * m * n * n / 2, n**3) > WORK or np.iscomplexobj(X):
        return None
    terms = np.abs(right) + equalities.sizes * float(np.linalg.norm(X))
    if np.any(np.abs(right - equalities.adjoint(X)) > NEAR * terms):
        return None
    matrices = np.stack([np.asarray(equalities.matrix(j)) for j in range(m)]) * units[:, None, None]
    if np.iscomplexobj(matrices):
        return None
    i, k = np.triu_indices(n)
    twice = np.where(i == k, 1.0, np.sqrt(2.0))
    for _ in range(STEPS):
        w, V = np.linalg.eigh(X)
        F = V * np.sqrt(np.maximum(w, 0.0))
        X = F @ F.T
        Q, R = np.linalg.qr(((F.T @ matrices @ F)[:, i, k] * twice).T)
        e = Q @ np.linalg.lstsq(R.T, units * (right - equalities.adjoint(X)), rcond=DEPENDENT)[0]
        E, size = np.zeros((n, n)), float(np.linalg.norm(e))
        E[i, k] = E[k, i] = e / twice
        X = sym(X + min(1.0, LONGEST / max(size, LONGEST)) * (F @ E @ F.T))
        if size <= SMALL:
            break
    return X
