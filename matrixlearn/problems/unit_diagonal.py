"""Games on correlation matrices: the contract that the engine ``low-rank`` needs.

    max <C, X>   subject to   X_ii = 1,  X >= 0

As a game: A_i = e_i e_i^T, c = 1, S = {X >= 0, Tr X = n}. Adding a constant to y changes nothing, so
that sum y = 0 may be asked; and since an optimal y + v/n has y_i + v/n >= C_ii with the sum v, every optimal y
lies in the box

    C_ii - U/n  <=  y_i  <=  C_ii + U - Tr C - B/n,        B = Tr C (from X = I) <= v <= U, n lambda_max(C) <= U.

A spec gives ``cost``, dense; where C is sparse also ``cost_operator``. Everything else is here: both bounds (by a
factorization, sparse or dense, where all eigenvalues would be dearer; of rigour ``probabilistic`` where a sparse one
would fill in, as those of random graphs do), the repair, and the geometry. Matrices may come
as factors X = V V^T: rows of norm one are all that they need to be feasible, and no n x n array is formed of a sparse C
from `FACTORED_FROM` on. Real, NumPy only.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS, is_sparse
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.linalg.fill import predicted_work
from matrixlearn.linalg.largest import (
    ALL_BELOW,
    DENSE_BELOW,
    PROVE_FROM,
    checked_largest,
    gershgorin,
    guess_largest,
    row_sum_norm,
)
from matrixlearn.linalg.random_start import probable_largest
from matrixlearn.maps import DiagonalMap
from matrixlearn.problems.base import Bound, Rigour
from matrixlearn.problems.game import Game
from matrixlearn.problems.played import GameProblem
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn.validation import ROUNDED, as_array, as_hermitian, require_square

FACTORED_FROM = 2000
"""Size from which the first X is a random cut: I would be 32 MB, and a Cholesky factorization to prove it."""

WORK = 4e9
"""Multiplications up to which a sparse factorization proves an upper bound: 1 to 2 seconds, several times a bound."""


class CorrelationSet(Spectraplex):
    """{X >= 0, Tr X = n}, with a cheaper projection of points of low rank."""

    def project(self, X: np.ndarray) -> np.ndarray:
        """X with its trace brought to n, where a Cholesky factorization proves X + delta I > 0; delta, 8 n eps Tr X,
        is what X is known to.
        """
        X = self.hermitian_blocks(X)
        for shift in (0.0, 8 * self.n * EPS * self.trace):
            candidate = X.copy()
            candidate[np.diag_indices_from(candidate)] += shift
            scaled = self._scaled_cone_point(candidate)
            if scaled is not None:
                return scaled
        return super().project(X)


class UnitDiagonalProblem(GameProblem):
    """max <C, X> subject to X_ii = 1, X >= 0.

    Subclasses give ``cost``, and ``cost_operator`` where C is sparse.
    """

    objective = "maximize"
    routines = ("DenseExponent", "LevelOracle")
    cost: Any
    """C, dense."""

    def check(self) -> None:
        """C = C^H is finite: all else follows from it."""
        C = self.cost_operator
        if not is_sparse(C):
            as_hermitian("cost", C)
            return
        require_square("cost_operator", C)
        if C.nnz:
            as_array("cost_operator", C.data)
        if abs(C - C.conj().T).max() > ROUNDED * abs(C).max():
            msg = "cost_operator must be symmetric; pass (C + C.T) / 2 if that is what you mean"
            raise ProblemError(msg)

    @property
    def cost_operator(self) -> Any:
        """C as a scipy sparse array, for products with few vectors; C itself by default."""
        return self.cost

    # -- the game ---------------------------------------------------------------------------------

    @cached_property
    def size(self) -> int:
        """The order n of X."""
        return int(self.cost_operator.shape[0])

    @cached_property
    def game(self) -> Game:
        """C, the diagonal and its box; C stays sparse until an engine asks for more than its products."""
        n, norm = self.size, self._largest_cost[1]
        S = CorrelationSet(n, float(n))
        return Game(
            self.cost_operator if self._is_sparse else self.cost,
            DiagonalMap(n),
            np.ones(n),
            S,
            self._box,
            size=n * norm or 1.0,
            cost_norm=norm,
            repair=scaled_to_unit_diagonal,
        )

    @cached_property
    def _box(self) -> KnapsackSet:
        """The set Y."""
        n, d = self.size, self.cost_operator.diagonal()
        upper, lower = n * self._largest_cost[0], float(d.sum())
        # a margin keeps the box open where a row of C is empty, or where the bounds meet
        margin = 1e-3 * self._largest_cost[1] or 1.0
        return KnapsackSet(
            d - upper / n - margin,
            d + (upper - lower) - lower / n + margin,
            np.ones(n),
            0.0,
            0.0,
        )

    @property
    def like(self) -> np.ndarray:
        """Of the shape of X, without its entries."""
        return np.broadcast_to(np.zeros(()), (self.size, self.size))

    @cached_property
    def _largest_cost(self) -> tuple[float, float]:
        """(t >= lambda_max(C) but for rounding, ||C||_2; the latter as ARPACK finds it where n is large)."""
        if self.size < (ALL_BELOW if self._is_sparse else PROVE_FROM):
            w = np.linalg.eigvalsh(self.cost)
            return float(w[-1]), float(np.max(np.abs(w)))
        C = self.cost_operator
        if not self._factorizes:
            return gershgorin(C), row_sum_norm(C)
        largest = checked_largest(C)
        d = C.diagonal()
        if float(np.max(abs(C).sum(axis=1) - np.abs(d) - d)) <= largest:  # Gershgorin: lambda_min(C) >= -largest
            return largest, largest
        return largest, max(abs(largest), abs(guess_largest(-1 * C)[0]))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        """I and y = 0; a best response, of rank one, would be repaired to a cut that proves little.  Where an n x n
        array is too much, a random cut for I: it proves as much on average.
        """
        n = self.size
        if n < FACTORED_FROM:
            return [(np.eye(n), np.zeros(n))]
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, 1))
        return [(FactoredMatrix(signs), np.zeros(n))]

    # -- bounds -----------------------------------------------------------------------------------

    @cached_property
    def _is_sparse(self) -> bool:
        return not isinstance(self.cost_operator, np.ndarray)

    @cached_property
    def _factorizes(self) -> bool:
        """Whether a factorization of C - Diag(y) is affordable, whatever y."""
        if not self._is_sparse or self.size < DENSE_BELOW:
            return True
        return predicted_work(self.cost_operator, WORK) <= WORK

    def shifted_operator(self, y: np.ndarray) -> Any:
        """C - Diag(y), sparse where C is."""
        return self.game.A.subtracted(self.game.operator, y)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = self.game.Y.project(np.asarray(y, dtype=float))
        rigour: Rigour
        if not np.any(y):
            largest, rigour = self._largest_cost[0], "checked"
        elif self._factorizes:
            largest, rigour = checked_largest(self.shifted_operator(y)), "checked"
        else:
            largest, rigour = probable_largest(self.shifted_operator(y)), "probabilistic"
        upper = float(y.sum()) + self.size * largest + self.game.rounding(y)
        return Bound(point=y, upper=upper, rigour=rigour)

    def bound_from_matrix(self, X: Any) -> Bound:
        """Of factors: V with its rows v_i normalized is feasible as it stands, and <C, V V^T> its bound.

        Norms of rows are 1 to (10 + r) eps / 2, and a sum of rows of products of r and n terms rounds by n + r of them:
        with |v_i.v_j| <= 1, (n + 2 r + 12) eps n ||C||_F in all, which the allowance exceeds.
        """
        if not isinstance(X, FactoredMatrix):
            return super().bound_from_matrix(np.real(X))  # of X >= 0 it is another, with the same value and diagonal
        V = X.factor
        rows = unit_rows(np.hstack([V.real, V.imag]) if np.iscomplexobj(V) else V)
        point = X if rows is V else FactoredMatrix(rows)
        allowed = self.game.rounding(np.zeros(self.size)) * (1 + (point.rank + 6) / self.size)
        return Bound(point=point, lower=point.inner(self.cost_operator) - allowed)

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        if isinstance(X, FactoredMatrix):
            return X.inner(self.cost_operator)
        return super().objective_at(X, y)


def unit_rows(V: np.ndarray) -> np.ndarray:
    """The rows of V at norm one, V itself where they are but for rounding; a row of zeros becomes a unit vector."""
    norms = np.sqrt(np.einsum("ij,ij->i", V, V))
    if np.all(np.abs(norms - 1) <= 4 * EPS):
        return V
    if np.any(norms == 0):
        V = V.copy()
        V[norms == 0, 0] = 1.0
        norms = np.where(norms == 0, 1.0, norms)
    return np.asarray(V / norms[:, None])


def scaled_to_unit_diagonal(X: np.ndarray) -> np.ndarray:
    """D^{-1/2} X D^{-1/2}, D the diagonal of X: feasible to the last bit.

    X is known to rounding, 8 n eps Tr X of it; that much of the identity is added first, since the
    rows with X_ii near 0 are divided by its root and would leave the cone. X itself where X_ii = 1.
    """
    if np.all(np.diagonal(X) == 1.0):
        return X
    n = len(X)
    d = np.maximum(np.diagonal(X), 0.0) + 8 * n * EPS * n
    root = 1.0 / np.sqrt(d)
    out = X * np.outer(root, root)
    np.fill_diagonal(out, 1.0)
    return out
