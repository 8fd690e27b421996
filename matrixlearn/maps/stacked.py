"""Two maps side by side: the matrices of the first, then those of the second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.linalg import sym
from matrixlearn.maps.base import LinearMap
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class StackedMap(LinearMap):
    """A_1, ..., A_k of ``first``, then those of ``second``, which are few."""

    first: LinearMap
    """The map whose matrices come first."""
    second: LinearMap
    """The map of the few that follow."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.first.shape[0] + self.second.shape[0], self.first.shape[1]

    @property
    def norms(self) -> np.ndarray:
        return np.concatenate([self.first.norms, self.second.norms])

    @property
    def sizes(self) -> np.ndarray:
        return np.concatenate([self.first.sizes, self.second.sizes])

    @property
    def terms(self) -> int:
        return self.first.terms + self.second.terms

    def matrix(self, j: int) -> Array:
        k = self.first.shape[0]
        return self.first.matrix(j) if j < k else self.second.matrix(j - k)

    def at(self, index: np.ndarray) -> LinearMap:
        k = self.first.shape[0]
        own, others = index[index < k], index[index >= k] - k
        if len(others) == 0:
            return self.first.at(own)
        if np.any(np.diff(index) <= 0):
            return super().at(index)
        return StackedMap(self.first.at(own), self.second.at(others)) if len(own) else self.second.at(others)

    def compressed(self, V: Array) -> LinearMap:
        return StackedMap(self.first.compressed(V), self.second.compressed(V))

    def principal(self, block: slice) -> LinearMap:
        return StackedMap(self.first.principal(block), self.second.principal(block))

    def pattern(self) -> tuple[np.ndarray, np.ndarray] | None:
        parts = self.first.pattern(), self.second.pattern()
        if parts[0] is None or parts[1] is None:
            return None
        return np.concatenate([parts[0][0], parts[1][0]]), np.concatenate([parts[0][1], parts[1][1]])

    def apply(self, y: np.ndarray) -> Array:
        k = self.first.shape[0]
        return self.first.apply(y[:k]) + self.second.apply(y[k:])

    def adjoint(self, X: Array) -> np.ndarray:
        return np.concatenate([self.first.adjoint(X), self.second.adjoint(X)])

    def schur(self, U: Array, V: Array) -> np.ndarray:
        k, few = self.first.shape[0], self.second.shape[0]
        H = np.empty((k + few, k + few))
        H[:k, :k] = self.first.schur(U, V)
        for j in range(few):
            column = self.adjoint(sym(U @ self.second.matrix(j) @ V))
            H[:, k + j] = H[k + j, :] = column
        return H
