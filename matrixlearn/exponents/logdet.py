"""LogDet: h(X) = -log det X on the cone of positive definite matrices, without a bound on the trace.

    X(G) = argmin over X > 0 of <G, X> - log det X = G^{-1}                  for G > 0 only

Losses add up, as everywhere; but not every sum of losses has a matrix: G must stay positive definite,
which whoever chooses the steps has to see to (002, Section 3.1, after eq. (3.5)).
"""

from __future__ import annotations

from dataclasses import dataclass

from matrixlearn._array import identity
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents.base import Exponent
from matrixlearn.linalg import adjoint, cholesky, inverse_factor
from matrixlearn.typing import Array


@dataclass(frozen=True)
class LogDetExponent(Exponent):
    """X(G) = G^{-1}, real or complex Hermitian, by one Cholesky factorization.

    Parameters
    ----------
    n : int
        Side length.
    """

    n: int

    def __call__(self, G: Array) -> Array:
        L = cholesky(G)
        if L is None:
            msg = "the losses left the positive definite cone: take shorter steps"
            raise ProblemError(msg)
        inverse = inverse_factor(L)
        return adjoint(inverse) @ inverse

    def zero(self, like: Array) -> Array:
        """n I, whose matrix has trace one: the empty sum has no matrix."""
        return identity(self.n, like) * float(self.n)

    def accumulate(self, G: Array, loss: Array, step: float) -> Array:
        return G + step * loss
