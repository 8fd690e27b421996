"""Facial reduction: where constraints leave no positive definite X, the same program about fewer dimensions.

    <A_j, X> = 0 (or <= 0) with A_j >= 0 and X >= 0   =>   A_j X = 0   =>   X = V W V^H,  W >= 0,

the columns of V an orthonormal basis of the null space. Centred Gram matrices (<1 1^T, X> = 0) and graphs cut into
equal parts are of this kind: an interior method would drive the multiplier of such a row to infinity, and gains its
usual accuracy on W. Rows that say 0 = 0 there are dropped. What shows only after a reduction is found by another;
combinations of rows are not searched.

References
----------
Borwein and Wolkowicz (1981); Permenter and Parrilo (2018), "Partial facial reduction".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn._array import EPS, as_numpy, columns, identity
from matrixlearn.linalg import adjoint, congruence, eigh, eigvalsh, frobenius, inner
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
    weights : ndarray, shape (m,)
        N = sum_j weights_j A_j >= 0, the sum of the facial rows that were seen first, up to signs and sizes.
    least : float
        Its least positive eigenvalue.
    """

    V: Array
    rows: np.ndarray
    family: ConstraintFamily
    weights: np.ndarray
    least: float

    def where_it_says(self, values: np.ndarray) -> np.ndarray:
        """0 for the rows that say nothing of an X on the face: they hold there, but for the rounding of V."""
        out = np.zeros_like(values)
        out[self.rows] = values[self.rows]
        return out

    def lifted(self, W: Array) -> Array:
        """V W V^H."""
        return congruence(W, adjoint(self.V))

    def compressed(self, X: Array) -> Array:
        """V^H X V."""
        return congruence(X, self.V)


def least_face(family: ConstraintFamily, right: np.ndarray, equalities: np.ndarray, like: Array) -> Face | None:
    """The face that the rows <A_j, X> = 0 (or <= 0) with a semidefinite A_j leave; None where there is no such row."""
    face, rows = None, np.arange(len(right))
    while True:
        weights = _facial(family, right[rows] == 0, equalities[rows], identity(family.shape[1], like))
        if not np.any(weights):
            return face
        w, U = eigh(family.apply(weights))
        zero = as_numpy(w) <= ZERO * U.shape[0] * float(w[-1])
        if not np.any(zero):
            return face  # X = 0 is all there is
        null, sizes = columns(U, np.flatnonzero(zero)), family.sizes
        family = family.compressed(null)
        says = np.flatnonzero((family.sizes > ZERO * U.shape[0] * sizes) | (right[rows] != 0))
        says = says if len(says) else np.array([0])  # a program has a row
        family, rows = family.at(says), rows[says]
        if face is None:
            face = Face(null, rows, family, weights, float(np.min(as_numpy(w)[~zero])))
        else:
            face = replace(face, V=face.V @ null, rows=rows, family=family)


def _facial(family: ConstraintFamily, candidates: np.ndarray, equalities: np.ndarray, eye: Array) -> np.ndarray:
    """sign_j / ||A_j||_F of the semidefinite candidates, 0 elsewhere, (m,); of an inequality with A_j >= 0 only."""
    sizes, traces = family.sizes, family.adjoint(eye)
    candidates = candidates & (equalities | (traces > 0))
    out = np.zeros(len(sizes))
    # |tr A| >= ||A||_F for semidefinite matrices: next to nothing to ask
    for j in np.flatnonzero(candidates & (sizes > 0) & (np.abs(traces) >= (1 - ZERO) * sizes)):
        scale = float(np.sign(traces[j]) / sizes[j])
        if float(eigvalsh(scale * family.matrix(int(j)))[0]) >= -20 * eye.shape[0] * EPS:
            out[j] = scale
    return out


def combination(family: ConstraintFamily, rows: np.ndarray, target: Array, most: int = 30) -> tuple[np.ndarray, float]:
    """(y, ||target - sum_j y_j A_j||_F) by conjugate gradients on the normal equations, y_j = 0 outside ``rows``: exact
    after as many steps as there are different singular values, which are few where a program states what its X must be.
    """
    y, residual = np.zeros(family.shape[0]), target
    gradient = np.where(rows, family.adjoint(residual), 0.0)
    direction, square = gradient, float(gradient @ gradient)
    rounding = ZERO**2 * square
    for _ in range(most):
        image = family.apply(direction)
        curvature = inner(image, image)
        if not (square > rounding and curvature > 0):
            break
        step = square / curvature
        y, residual = y + step * direction, residual - step * image
        gradient, before = np.where(rows, family.adjoint(residual), 0.0), square
        square = float(gradient @ gradient)
        direction = gradient + square / before * direction
    return y, frobenius(residual)
