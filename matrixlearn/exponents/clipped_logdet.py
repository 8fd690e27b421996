"""The clipped log-det: h(X) = -weight log det X on {lower I <= X <= upper I}.

    X(G) = argmin of <G, X> - weight log det X over lower I <= X <= upper I
         = V diag(clip(weight / nu, lower, upper)) V^H          for G = V diag(nu) V^H

and ``upper`` where nu <= 0. That eigenvectors may be shared is the minimum-weight matching of the
eigenvalues of X with those of G (`oracles.sorted_pairing`); the rest is one scalar problem for each.
The loss replaces G: the map belongs to blocks in turn, where the other blocks make a new G each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, identity
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import adjoint, eigh
from matrixlearn.typing import Array


def clipped_reciprocal(nu: np.ndarray, weight: float, lower: float, upper: float) -> np.ndarray:
    """argmin over lower <= x <= upper of nu x - weight log x, entry by entry: clip(weight / nu, lower, upper).

    ``upper`` where nu <= weight / upper, zeros and negative rounding among them: no division there.
    """
    nu = np.asarray(nu, dtype=float)
    inside = nu > weight / upper
    return np.where(inside, np.maximum(lower, weight / np.where(inside, nu, 1.0)), upper)


@dataclass(frozen=True)
class ClippedLogDet:
    """X(G) = V diag(clip(weight / nu, lower, upper)) V^H, real or complex Hermitian, by one decomposition.

    Parameters
    ----------
    n : int
        Side length.
    weight : float
        Of the log-det, > 0.
    lower, upper : float
        0 < lower <= upper; where they are equal, X = lower I.

    References
    ----------
    Zhao, Stretcu, Smola and Gordon, "Efficient multitask feature and relationship learning", Algorithms 1
    and 2 (which divide by nu, 0 where the loss loses rank) and Theorem 4.1.
    """

    n: int
    weight: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not (0 < self.weight < np.inf and 0 < self.lower <= self.upper < np.inf):
            msg = (
                f"weight must be positive and 0 < lower <= upper < inf, "
                f"got weight = {self.weight}, lower = {self.lower}, upper = {self.upper}"
            )
            raise ProblemError(msg)

    def __call__(self, G: Array) -> Array:
        nu, V = eigh(G)
        size = from_numpy(clipped_reciprocal(as_numpy(nu), self.weight, self.lower, self.upper), nu)
        return (V * size) @ adjoint(V)

    def zero(self, like: Array) -> Array:
        """weight I, whose matrix is the identity, or as near to it as the bounds allow."""
        return identity(self.n, like) * float(self.weight)

    def accumulate(self, G: Array, loss: Array, step: float) -> Array:
        """The loss: it replaces G."""
        return loss
