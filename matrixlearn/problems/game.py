"""The saddle point of a matrix in a spectral set S and a vector in a polytope Y.

    v = min over y in Y  max over X in S   <C, X> + c.y - <A(y), X>

A `Game` is these five: C, A, c, S, Y. From them alone follow weak duality and both bounds,

    any y in Y  proves  v <= c.y + sigma_S(C - A(y)),       sigma_S the support function of S
    any X in S  proves  v >= <C, X> + min over y in Y of (c - A*(X)).y

so that no engine has to be believed. From a game come smaller ones: some columns of it (`Game.at`), or its matrix in a
subspace (`Game.compressed`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS, as_numpy, is_sparse
from matrixlearn.linalg import congruence, frobenius, inner, spectral_norm
from matrixlearn.maps import LinearMap
from matrixlearn.sets import KnapsackSet, SpectralSet
from matrixlearn.typing import Array

INF = float("inf")

SPARSE_FROM = 200
"""Order from which a loss is left sparse where C is: below, dense sums are quicker."""


class Game:
    """min over y in Y max over X in S of <C, X> + c.y - <A(y), X>: a value, not to be changed.

    Parameters
    ----------
    C : array, shape (n, n)
        Hermitian, dense or scipy sparse; a vector (n,) where S is diagonal.
    A : LinearMap
        Of m matrices of order n.
    c : ndarray, shape (m,)
    S : SpectralSet
        Where X lives.
    Y : KnapsackSet
        Where y lives; most engines need it bounded.
    size : float, optional
        A number of the size that values have, in the user's units; R ||C||_2 by default, and where C = 0 the largest
        |c_j| + R ||A_j||_2 times the largest |y_j| where Y bounds it.
    cost_norm : float, optional
        ||C||_2, where it is known.
    repair : function, optional
        A point of S moved to where it meets the constraints whose multipliers Y bounds by an estimate only.
    interior : array, optional
        X_s with A*(X_s) < c, which bounds Y = {y >= 0, w.y <= K}, w = c - A*(X_s): at a level below K + <C, X_s>, less
        of Y will do (`level_set`).
    constant : float
        What every value holds besides.
    """

    def __init__(
        self,
        C: Any,
        A: LinearMap,
        c: np.ndarray,
        S: SpectralSet,
        Y: KnapsackSet,
        *,
        size: float | None = None,
        cost_norm: float | None = None,
        repair: Callable[[Array], Array] | None = None,
        interior: Array | None = None,
        constant: float = 0.0,
    ) -> None:
        self.operator, self.A, self.c, self.S, self.Y = C, A, c, S, Y
        self.constant, self.interior = constant, interior
        self._size, self._norm, self._repair = size, cost_norm, repair

    @cached_property
    def C(self) -> Array:
        """C, dense."""
        return self.operator.toarray() if is_sparse(self.operator) else self.operator

    # -- the two linear maps ----------------------------------------------------------------------

    def image(self, y: np.ndarray) -> Array:
        """C - A(y), what X is paid."""
        return self.A.subtracted(self.C, y)

    def prices(self, X: Array) -> np.ndarray:
        """c - A*(X), what y costs."""
        return self.c - self.A.adjoint(X)

    def loss(self, y: np.ndarray) -> Any:
        """A(y) - C: what the matrix player loses by; sparse where both are and it pays."""
        if is_sparse(self.operator) and self.S.n >= SPARSE_FROM:
            return -1 * self.A.subtracted(self.operator, y)
        return self.A.apply(y) - self.C

    # -- values -----------------------------------------------------------------------------------

    def value(self, X: Array, y: np.ndarray) -> float:
        """<C, X> + c.y - <A(y), X>."""
        return inner(self.C, X) + float(self.prices(X) @ y) + self.constant

    def upper(self, y: np.ndarray) -> float:
        """c.y + sigma_S(C - A(y)), without an allowance for rounding."""
        return float(self.c @ y) + self.S.support(self.image(y)) + self.constant

    def lower(self, X: Array) -> tuple[float, np.ndarray]:
        """<C, X> + min over Y of (c - A*(X)).y and a minimizer, without an allowance for rounding."""
        least, y = self.Y.minimize(self.prices(X))
        return inner(self.C, X) + least + self.constant, y

    def repaired(self, X: Array) -> Array:
        """A point of S near X that meets the constraints whose multipliers Y bounds by an estimate only; X itself where
        there are none.
        """
        return X if self._repair is None else self._repair(X)

    def level_set(self, level: float) -> KnapsackSet:
        """D_alpha: a part of Y that holds an optimal y if the optimum is at most ``level``.  Where no y in it has
        value(X, y) <= level, `repaired` turns X into a point that proves more (Lemma 4.2.1).
        """
        Y = self.Y
        if self.interior is None or Y.weights is None:
            return Y
        room = level - inner(self.C, self.interior)
        return KnapsackSet.weighted_simplex(Y.weights, min(room, Y.row_upper)) if room > 0 else Y

    # -- sizes ------------------------------------------------------------------------------------

    @cached_property
    def cost_norm(self) -> float:
        """||C||_2."""
        if self._norm is not None:
            return self._norm
        return float(np.max(np.abs(as_numpy(self.C)))) if self.C.ndim == 1 else spectral_norm(self.C)

    @cached_property
    def scale(self) -> float:
        """The size of values, see the parameter ``size``."""
        if self._size is not None:
            return self._size
        R, extent = self.S.trace, self.Y.extent
        if self.cost_norm > 0:
            return R * self.cost_norm
        return float(np.max((np.abs(self.c) + R * self.A.norms) * np.where(extent < INF, extent, 1.0)))

    def rounding(self, y: np.ndarray) -> float:
        """An allowance for everything that rounding does to the value of the game at y.

        4 eps ((n + k) R (||C||_F + sum_j |y_j| ||A_j||_F) + (n + m) sum_j |y_j c_j|), k the most terms that an entry of
        A(y) adds up: the backward errors of the products that form C - A(y), of one Hermitian eigendecomposition
        (Householder and implicit QL, a small multiple of n eps ||.||_F), and of the inner products.
        """
        n, terms = self.S.n, self.A.terms
        matrices = (n + terms) * self.S.trace * (self._cost_size + self.A.size_at(y))
        return 4 * EPS * (matrices + (n + len(self.c)) * float(np.abs(y) @ np.abs(self.c)))

    @cached_property
    def _cost_size(self) -> float:
        """||C||_F."""
        return frobenius(self.operator.data if is_sparse(self.operator) else self.operator)

    # -- other games ------------------------------------------------------------------------------

    def at(self, index: np.ndarray, fixed: np.ndarray) -> Game:
        """The game in which only the y_j of an index move, the others fixed:

            min over y in Y with y_j = f_j outside I   max over X in S   <C, X> + c.y - <A(y), X>  >=  v

        A y of it is one of Y, and proves the same bound; what X proves here it proves of the whole game only after all
        columns are priced.
        """
        rest = fixed.copy()
        rest[index] = 0.0
        return Game(
            self.image(rest) if np.any(rest) else self.C,
            self.A.at(index),
            self.c[index],
            self.S,
            self.Y.face(index, fixed),
            size=self.scale,
            constant=self.constant + float(self.c @ rest),
        )

    def compressed(self, V: Array) -> Game:
        """The game of X = V W V^H, V^H V = I, in r = rank V dimensions:

            <C, X> = <V^H C V, W>,     <A_j, X> = <V^H A_j V, W>

        The set of the X that are left is smaller: its value is a lower bound on the value, and equal to it where V
        holds the range of an optimal X.
        """
        S = type(self.S)(V.shape[1], self.S.trace)
        C, A = congruence(self.C, V), self.A.compressed(V)
        return Game(C, A, self.c, S, self.Y, size=self.scale, constant=self.constant)
