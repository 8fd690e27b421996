"""The commuting case: exponentiated gradient, Hedge, AdaBoost.  O(n), no eigendecomposition."""

from __future__ import annotations

from dataclasses import dataclass

from matrixlearn.exponents.base import Accumulating
from matrixlearn.exponents.dense import gibbs_weights
from matrixlearn.sets import ScaledSimplex
from matrixlearn.typing import Array


@dataclass(frozen=True)
class DiagonalExponent(Accumulating):
    """x(g) = R exp(-g) / sum exp(-g) for vectors g of shape (n,)."""

    on: ScaledSimplex

    def __call__(self, G: Array) -> Array:
        return gibbs_weights(-G, self.on.trace, 0)
