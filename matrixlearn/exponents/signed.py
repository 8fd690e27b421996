"""The signed pair: a 2n x 2n exponential of blkdiag(M, -M) by one n x n eigendecomposition.

    X(G) = X_+ - X_- = R sinh(-G) / Tr cosh(G),

since the pair has the exponential blkdiag(exp(-G), exp(G)) and the trace 2 Tr cosh(G). This is
the difference of the two blocks of eq. (5.4) of the thesis. The quotient is one quotient of
shifted exponentials: sinh and cosh are never formed apart (thesis, Section 5.4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from matrixlearn._array import namespace
from matrixlearn.exponents.dense import DenseExponent
from matrixlearn.typing import Array


def signed_gibbs_weights(exponents: Array, trace: float) -> Array:
    """trace * sinh(e_i) / sum_j cosh(e_j), overflow-safe, shape (n,) -> (n,)."""
    xp = namespace(exponents)
    top = float(xp.max(xp.abs(exponents)))
    size = xp.abs(exponents)
    # sinh(e) = sign(e) exp(|e|) (1 - exp(-2|e|)) / 2: expm1 keeps small losses exact
    sinh = xp.sign(exponents) * xp.exp(size - top) * -xp.expm1(-2 * size)
    cosh = xp.exp(size - top) + xp.exp(-size - top)
    return sinh * (trace / float(xp.sum(cosh)))


@dataclass(frozen=True)
class SignedExponent(DenseExponent):
    """The von Neumann mirror map of the pair of blocks +-G, on a `SpectralBall`."""

    def weights(self, exponents: Array) -> Array:
        return signed_gibbs_weights(exponents, self.on.trace)
