"""Facial reduction: where constraints leave no positive definite X, the same program about fewer dimensions.

    <A_j, X> = 0 with A_j >= 0 and X >= 0   =>   A_j X = 0   =>   X = V W V^H,  W >= 0,

the columns of V an orthonormal basis of the null space. Centred Gram matrices (<1 1^T, X> = 0) and graphs cut into equal
parts are of this kind: an interior method would drive the multiplier of such a row to infinity, and gains its usual
accuracy on W. Rows that say 0 = 0 there are dropped. What shows only after a reduction is found by another; combinations
of rows are not searched.

References
----------
Borwein and Wolkowicz (1981); Permenter and Parrilo (2018), "Partial facial reduction".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import as_numpy, columns, identity
from matrixlearn.linalg import adjoint, eigh, eigvalsh, sym
from matrixlearn.linalg.constraints import ConstraintFamily
from matrixlearn.typing import Array

ZERO = 1e-12
"""Part of a matrix's size below which an eigenvalue, or what a face leaves of a constraint, counts as 0."""


@dataclass(frozen=True, eq=False)
class Face:
    """{V W V^H : W >= 0}, and the rows that say something of W.

    Attributes
    ----------
    V : array, shape (n, r)
        Orthonormal columns.
    rows : ndarray of int, shape (k,)
    family : ConstraintFamily
        V^H A_j V of these rows.
    """

    V: Array
    rows: np.ndarray
    family: ConstraintFamily

    def lifted(self, W: Array) -> Array:
        """V W V^H."""
        return sym(self.V @ W @ adjoint(self.V))

    def compressed(self, X: Array) -> Array:
        """V^H X V."""
        return sym(adjoint(self.V) @ X @ self.V)


def least_face(family: ConstraintFamily, right: np.ndarray, equalities: np.ndarray, like: Array) -> Face | None:
    """The face that the rows <A_j, X> = 0 with a semidefinite A_j leave; None where there is no such row."""
    V, rows, n = None, np.arange(len(right)), family.shape[1]
    while True:
        null = _null_space(family, equalities[rows] & (right[rows] == 0), identity(family.shape[1], like))
        if null is None or null.shape[1] == 0:
            break
        sizes = family.sizes
        family, V = family.compressed(null), null if V is None else V @ null
        says = np.flatnonzero((family.sizes > ZERO * n * sizes) | (right[rows] != 0))
        if len(says) == 0:
            says = np.array([0])  # a program has a row
        family, rows = family.at(says), rows[says]
    return None if V is None else Face(V, rows, family)


def _null_space(family: ConstraintFamily, candidates: np.ndarray, eye: Array) -> Array | None:
    """That of the sum of the semidefinite candidates, by sign and size; None where no A_j is semidefinite."""
    sizes = family.sizes
    traces = family.adjoint(eye)
    # |tr A| >= ||A||_F for semidefinite matrices: next to nothing to ask
    total = None
    for j in np.flatnonzero(candidates & (sizes > 0) & (np.abs(traces) >= (1 - ZERO) * sizes)):
        A = family.matrix(int(j)) * float(np.sign(traces[j]) / sizes[j])
        if float(eigvalsh(A)[0]) >= -ZERO:
            total = A if total is None else total + A
    if total is None:
        return None
    w, U = eigh(total)
    return columns(U, np.flatnonzero(as_numpy(w) <= ZERO * len(U) * float(w[-1])))
