"""Equalities of a linear program, and how far from X a matrix is that meets them.

    D = Z^*(G^{-1} (z - Z(X))),   G = Z Z^*,   Z(X + D) = z  exactly,   ||D||_F <= delta = ||z - Z(X)|| / sigma,

sigma > 0 a proved lower bound of the least singular value of Z. Where the rows depend on each other nearly, sigma is
small, and Z are short combinations of them that say the same (`linear.lattice`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import cholesky
from matrixlearn.linalg.verified import INF, SMALLEST, least_singular_value
from matrixlearn.maps import LinearMap, ScaledMap
from matrixlearn.maps.bounded import adjoint_bounded, gram_bounded
from matrixlearn.problems.linear.echelon import one_over
from matrixlearn.problems.linear.lattice import shortened
from matrixlearn.problems.linear.members import as_dense

ROOM = 1 + 1e-8
"""Covers the rounding of norms, which is relative, where they multiply a margin."""

NEARLY = 1e-4
"""The least singular value of rows of size one, up to which they depend on each other nearly."""


def apart_bounded(
    family: LinearMap, right: np.ndarray, X: np.ndarray, rounding: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(b - A*(X), a bound on the error of each entry, what underflows included), of rows known to a part of
    ``rounding``.
    """
    values, error = adjoint_bounded(family, X)
    error = error + EPS * (np.abs(right) + np.abs(values))
    if rounding:  # 0 times an X that overflows is no number
        error = error + rounding * (ROOM * family.sizes * float(np.linalg.norm(X)) + np.abs(right))
    return right - values, error + np.where((error > 0) | (right != 0), SMALLEST, 0.0)


@dataclass(frozen=True, eq=False)
class Equalities:
    """<Z_k, X> = z_k, where Z and z are known to a part of ``rounding``, entry by entry."""

    family: LinearMap
    right: np.ndarray
    rounding: float = 0.0

    @classmethod
    def of(cls, family: LinearMap, right: np.ndarray) -> Equalities:
        """Those rows, or short combinations where they depend on each other nearly."""
        given = cls(family, right)
        if len(right) < 2 or given.sigma > NEARLY:
            return given
        found = shortened(family, right)
        if found is None:
            return given
        return max(given, cls(as_dense(found.family), found.right, found.rounding), key=lambda rows: rows.sigma)

    @cached_property
    def units(self) -> np.ndarray:
        """Powers of two u_k with u_k ||Z_k||_F about 1."""
        return one_over(self.family.sizes)

    @cached_property
    def gram(self) -> tuple[np.ndarray, float]:
        """G of the rows in their units, and a bound on its error."""
        rows = ScaledMap(self.family, self.units)
        G, error = gram_bounded(rows)
        return G, error + 3 * self.rounding * float(np.sum(rows.sizes**2))

    @cached_property
    def sigma(self) -> float:
        """A proved lower bound of the least singular value of Z in its units; 0 where none is proved."""
        return INF if len(self.right) == 0 else least_singular_value(*self.gram)

    def delta(self, X: np.ndarray) -> float:
        """||D||_F at most, rounding included; inf where no bound is proved."""
        if len(self.right) == 0:
            return 0.0
        apart, error = apart_bounded(self.family, self.right, X, self.rounding)
        missed = self.units * (np.abs(apart) + error)
        largest = float(np.max(missed, initial=0.0))
        if largest == 0:  # met exactly
            return 0.0
        return ROOM * largest * float(np.linalg.norm(missed / largest)) / self.sigma if self.sigma > 0 else INF

    def onto(self, X: np.ndarray) -> np.ndarray:
        """X + D, by two steps of refinement; X itself where G is singular."""
        factor = self._factor if len(self.right) else None
        if factor is None:
            return X
        from matrixlearn.linalg._lapack import lapack

        for _ in range(2):
            missed = self.units * (self.right - self.family.adjoint(X))
            D = self.family.apply(self.units * np.asarray(lapack().dpotrs(factor.T, missed, lower=0)[0]))
            X = X + (D + D.conj().T) / 2
        return X

    @cached_property
    def _factor(self) -> np.ndarray | None:
        """The Cholesky factor of G, with a ridge where it is numerically singular."""
        G, _ = self.gram
        for ridge in (0.0, 1e-14, 1e-12):
            factor = cholesky(G + ridge * np.eye(len(G)))
            if factor is not None:
                return factor
        return None
