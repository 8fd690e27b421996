"""Constraint matrices on a subspace, V^H A_j V, whose structure is that of the A_j.

Re tr(V^H A_i V U V^H A_j V W) = Re tr(A_i U' A_j W'),     U' = V U V^H,  W' = V W V^H
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from matrixlearn.linalg import adjoint, congruence, frobenius, spectral_norm, sym
from matrixlearn.maps.base import LinearMap
from matrixlearn.maps.newton_terms import NewtonTerms
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class CompressedMap(LinearMap):
    """The V^H A_j V of a family without a low rank, such as a sparse one: no m x r x r array.

    Parameters
    ----------
    base : LinearMap
        Whose `moments` are plain ones.
    V : array, shape (n, r)
        Any columns.
    """

    base: LinearMap
    V: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape[0], self.V.shape[1]

    @cached_property
    def norms(self) -> np.ndarray:
        gram = adjoint(self.V) @ self.V
        return self.base.norms * max(spectral_norm(gram), 1.0)

    @cached_property
    def sizes(self) -> np.ndarray:
        P = self._lifted_identity
        found = np.sqrt(np.maximum(np.diag(self.base.schur(P, P)), 0.0))
        for j in np.flatnonzero(found < 1e-6 * self.base.sizes):  # its square is rounding
            found[j] = frobenius(self.matrix(int(j)))
        return found

    @property
    def terms(self) -> int:
        return self.base.terms

    @property
    def _lifted_identity(self) -> Array:
        return sym(self.V @ adjoint(self.V))

    def _lifted(self, U: Array) -> Array:
        return congruence(U, adjoint(self.V))

    def matrix(self, j: int) -> Array:
        return congruence(self.base.matrix(j), self.V)

    def at(self, index: np.ndarray) -> CompressedMap:
        return CompressedMap(self.base.at(index), self.V)

    def compressed(self, V: Array) -> CompressedMap:
        return CompressedMap(self.base, self.V @ V)

    def apply(self, y: np.ndarray) -> Array:
        return congruence(self.base.apply(y), self.V)

    def adjoint(self, X: Array) -> np.ndarray:
        return self.base.adjoint(self._lifted(X))

    def schur(self, U: Array, V: Array) -> np.ndarray:
        return self.base.schur(self._lifted(U), self._lifted(V))

    def newton_terms(self, U: Array, V: Array) -> NewtonTerms:
        whole = self.base.newton_terms(self._lifted(U), self._lifted(V))
        return replace(whole, U=U, V=V, product=self.adjoint(sym(U @ V)))
