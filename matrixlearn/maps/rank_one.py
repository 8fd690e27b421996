"""Rank-one matrices A_j = x_j x_j^H, by the rows x_j^T alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, namespace
from matrixlearn.clock import ask_the_clock
from matrixlearn.linalg import conjugate, is_complex, quadratic_forms, real, real_product
from matrixlearn.maps.base import LinearMap, require_dimensions
from matrixlearn.maps.newton_terms import InCoordinates, NewtonTerms, RankOneNewtonTerms, in_coordinates
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class RankOneMap(LinearMap):
    """A_j = x_j x_j^H for the rows x_j^T of P, shape (m, n); never an m x n^2 array.

    schur(U, V) = (P U P^H) o conj(P V P^H), four products and no loop.
    """

    P: Array
    """The vectors x_j as rows, (m, n)."""

    def __post_init__(self) -> None:
        require_dimensions("RankOneMap", self.P, "(m, n)")

    @property
    def shape(self) -> tuple[int, int]:
        return self.P.shape[0], self.P.shape[1]

    def least_hermitian(self) -> int:
        return int(np.argmax(self.norms))  # NaN counts as the largest

    @cached_property
    def norms(self) -> np.ndarray:
        xp = namespace(self.P)
        return as_numpy(xp.linalg.vector_norm(self.P, axis=1)) ** 2

    @cached_property
    def sizes(self) -> np.ndarray:
        return self.norms

    @cached_property
    def _conjugate(self) -> Array:
        return namespace(self.P).conj(self.P) if is_complex(self.P) else self.P

    @cached_property
    def _in_coordinates(self) -> InCoordinates | None:
        P = self.P
        return in_coordinates(lambda a, b: P[:, a] * P[:, b], P, *self.shape)

    def at(self, index: np.ndarray) -> RankOneMap:
        return RankOneMap(namespace(self.P).take(self.P, from_numpy(index, self.P), axis=0))

    def compressed(self, V: Array) -> RankOneMap:
        return RankOneMap(self.P @ conjugate(V))  # V^H x, as a row

    def matrix(self, j: int) -> Array:
        return self.P[j, :][:, None] * self._conjugate[j, :][None, :]

    def apply(self, y: np.ndarray) -> Array:
        P, conjugate = self.P, self._conjugate
        if isinstance(P, np.ndarray):
            if 2 * np.count_nonzero(y) < len(y):  # an oracle's answer is sparse
                used = np.flatnonzero(y)
                P, conjugate, y = P[used], conjugate[used], y[used]
            if not is_complex(P) and (y >= 0).all():
                root = P * np.sqrt(y)[:, None]
                return root.T @ root  # a symmetric product: BLAS does half the work
        return (P * from_numpy(y, self.P)[:, None]).mT @ conjugate

    def adjoint(self, X: Array) -> np.ndarray:
        return as_numpy(quadratic_forms(self.P, X))

    def schur(self, U: Array, V: Array) -> np.ndarray:
        ask_the_clock()
        PU, PV = self._conjugate @ U @ self.P.mT, self._conjugate @ V @ self.P.mT
        return as_numpy(real_product(PU, PV))

    def newton_terms(self, U: Array, V: Array) -> NewtonTerms:
        """Four products, two where V is U: x_i^H U and x_i^H U x_j, and x_i^H U V x_i = (x_i^H U)(x_i^H V)^H."""
        if self._in_coordinates is not None:
            return self._in_coordinates.newton_terms(U, V)
        ask_the_clock()
        xp = namespace(self.P)
        rows = other_rows = self._conjugate @ U
        forms = other_forms = rows @ self.P.mT
        if V is not U:
            ask_the_clock()
            other_rows = self._conjugate @ V
            other_forms = other_rows @ self.P.mT
        return RankOneNewtonTerms(
            U=U,
            V=V,
            single=as_numpy(real(xp.linalg.diagonal(forms))),
            product=as_numpy(real(xp.linalg.vecdot(rows, other_rows))),
            second=as_numpy(real_product(forms, other_forms)),
            P=self.P,
            rows=rows,
            other_rows=other_rows,
        )
