"""What an interior method asks of a linear map in each iteration.

`NewtonTerms` of the A_j at two Hermitian matrices; where there are more A_j than dimensions of the symmetric matrices,
the terms of a `Basis` of these, which are fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from matrixlearn._array import from_numpy
from matrixlearn.linalg import adjoint, is_complex, sym
from matrixlearn.typing import Array

SPANNED_FROM, SPANNED_PER_DIMENSION, SPANNED_MOST = 250, 2.5, 20_000_000
"""Members, and members for each of the n (n + 1) / 2 dimensions of the symmetric matrices, from which a Newton system
in coordinates of those is solved sooner: 0.6 to 0.9 times as fast below, 2 to 4 times from twice as many on
(benchmarks/engines/column_generation.py --spanned). Then the most entries of the coordinates: 160 MB.
"""


@dataclass(frozen=True)
class Basis:
    """A_i = sum_b E_ib B_b: many matrices in the coordinates of a basis of fewer; E of shape (m, k)."""

    coordinates: np.ndarray
    """E, (m, k)."""

    def summed(self, y: np.ndarray) -> np.ndarray:
        """E^T y, the coordinates of A(y)."""
        return y @ self.coordinates

    def spread(self, z: np.ndarray) -> np.ndarray:
        """E z."""
        return self.coordinates @ z

    def scaled(self, factors: np.ndarray) -> Basis:
        """That of the factors_i A_i."""
        return Basis(self.coordinates * factors[:, None])


@dataclass(frozen=True)
class NewtonTerms:
    """What a Newton system is made of, for Hermitian U and V: the derivatives of -log det S where U = V = S^{-1}.

    Where there is a `Basis`, they are those of its k matrices.

    Attributes
    ----------
    U, V : array, shape (n, n)
    single : ndarray, shape (m,)
        <A_j, U>.
    product : ndarray, shape (m,)
        <A_j, (U V + V U) / 2>.
    second : ndarray, shape (m, m)
        Re tr(A_i U A_j V).
    """

    U: Array = field(repr=False)
    V: Array = field(repr=False)
    single: np.ndarray
    product: np.ndarray
    second: np.ndarray
    span: Basis | None = None
    """The basis that the terms are in; None where they are those of the A_j."""

    def times_V(self, t: float, y: np.ndarray, D: Array) -> Array:
        """D V for D = t I + A(y), which is given too."""
        return D @ self.V

    def between(self, t: float, y: np.ndarray, D: Array) -> Array:
        """U D V for D = t I + A(y), which is given too."""
        return self.U @ self.times_V(t, y, D)


@dataclass(frozen=True)
class RankOneNewtonTerms(NewtonTerms):
    """NewtonTerms that keep x_i^H U and x_i^H V: A(y) V = sum_i y_i x_i (x_i^H V), in 2 m n^2 flops."""

    P: Array = field(repr=False, kw_only=True)
    rows: Array = field(repr=False, kw_only=True)
    other_rows: Array = field(repr=False, kw_only=True)

    @cached_property
    def _UV(self) -> Array:
        return self.U @ self.V

    def times_V(self, t: float, y: np.ndarray, D: Array) -> Array:
        m, n = self.P.shape
        if m >= n:
            return super().times_V(t, y, D)
        return (self.P * from_numpy(y, self.P)[:, None]).mT @ self.other_rows + t * self.V

    def between(self, t: float, y: np.ndarray, D: Array) -> Array:
        m, n = self.P.shape
        if 2 * m >= 3 * n:  # U V is a product too, and serves two directions
            return super().between(t, y, D)
        return adjoint(self.rows) @ (self.other_rows * from_numpy(y, self.P)[:, None]) + t * self._UV


def in_coordinates(
    entries: Callable[[np.ndarray, np.ndarray], np.ndarray], A: Array, m: int, n: int
) -> InCoordinates | None:
    """What spans many real symmetric matrices of low order, from ``entries(a, b)``, (m, k), at index vectors a <= b;
    None where the members are too few for that, or A is not a real NumPy array.
    """
    k = n * (n + 1) // 2
    if not isinstance(A, np.ndarray) or is_complex(A) or m < max(SPANNED_FROM, SPANNED_PER_DIMENSION * k):
        return None
    if m * k > SPANNED_MOST:
        return None
    a, b = np.triu_indices(n)
    E = entries(a, b) * np.where(a == b, 1.0, np.sqrt(2.0))
    used = np.flatnonzero(np.any(E != 0, axis=0))
    return InCoordinates(a[used], b[used], Basis(E[:, used]))


@dataclass(frozen=True)
class InCoordinates:
    """Members in the orthonormal basis (e_a e_b^T + e_b e_a^T) / sqrt(2), e_a e_a^T, of the symmetric matrices."""

    a: np.ndarray
    b: np.ndarray
    basis: Basis

    def newton_terms(self, U: np.ndarray, V: np.ndarray) -> NewtonTerms:
        """Entry by entry: <e_a e_b^T, U e_c e_d^T V> = U_bc V_da, and the like."""
        a, b = self.a, self.b
        half = np.where(a == b, 0.5, np.sqrt(0.5))
        pairs = ((b, a, a, b), (b, b, a, a), (a, a, b, b), (a, b, b, a))
        second = sum(U[np.ix_(i, j)] * V[np.ix_(k, h)] for i, j, k, h in pairs)
        return NewtonTerms(
            U,
            V,
            single=2 * half * U[a, b],
            product=2 * half * sym(U @ V)[a, b],
            second=second * np.outer(half, half),
            span=self.basis,
        )
