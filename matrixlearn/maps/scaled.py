"""Multiples of the matrices of another map: rows of a program negated, or brought to one size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from matrixlearn.maps.base import LinearMap
from matrixlearn.maps.newton_terms import NewtonTerms
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class ScaledMap(LinearMap):
    """y -> A(factors o y): the matrices factors_j A_j, without a copy of their data.

    Parameters
    ----------
    base : LinearMap
    factors : ndarray, shape (m,)
        Real, not zero.
    """

    base: LinearMap
    factors: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @cached_property
    def norms(self) -> np.ndarray:
        return np.abs(self.factors) * self.base.norms

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.abs(self.factors) * self.base.sizes

    @property
    def terms(self) -> int:
        return self.base.terms

    def pattern(self) -> tuple[np.ndarray, np.ndarray] | None:
        return self.base.pattern()

    def least_hermitian(self) -> int:
        return self.base.least_hermitian()

    def at(self, index: np.ndarray) -> ScaledMap:
        return ScaledMap(self.base.at(index), self.factors[index])

    def principal(self, block: slice) -> ScaledMap:
        return ScaledMap(self.base.principal(block), self.factors)

    def compressed(self, V: Array) -> ScaledMap:
        return ScaledMap(self.base.compressed(V), self.factors)

    def matrix(self, j: int) -> Array:
        return float(self.factors[j]) * self.base.matrix(j)

    def apply(self, y: np.ndarray) -> Array:
        return self.base.apply(self.factors * y)

    def adjoint(self, X: Array) -> np.ndarray:
        return self.factors * self.base.adjoint(X)

    def schur(self, U: Array, V: Array) -> np.ndarray:
        return np.outer(self.factors, self.factors) * self.base.schur(U, V)

    def newton_terms(self, U: Array, V: Array) -> NewtonTerms:
        at, factors = self.base.newton_terms(U, V), self.factors
        if at.span is not None:
            return replace(at, span=at.span.scaled(factors))
        second = np.outer(factors, factors) * at.second
        return NewtonTerms(U, V, factors * at.single, factors * at.product, second)
