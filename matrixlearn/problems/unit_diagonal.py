"""Games on correlation matrices: the contract that the engine ``low-rank`` needs.

    max <C, X>   subject to   X_ii = 1,  X >= 0

As a spectral game: A_i = e_i e_i^T, c = 1, S = {X >= 0, Tr X = n}. Adding a constant to y changes nothing, so
that sum y = 0 may be asked; and since an optimal y + v/n has y_i + v/n >= C_ii with the sum v, every optimal y
lies in the box

    C_ii - U/n  <=  y_i  <=  C_ii + U - Tr C - B/n,        B = Tr C (from X = I) <= v <= U, n lambda_max(C) <= U.

A spec gives ``cost``, dense; where C is sparse also ``cost_operator``. Everything else is here: both bounds (from
n = 1200 on by a Cholesky factorization where all eigenvalues would be dearer), the repair, and the geometry. Real,
NumPy only.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg.largest import PROVE_FROM, checked_largest, guess_largest
from matrixlearn.problems.base import Bound
from matrixlearn.problems.game import SpectralGame
from matrixlearn.sets import KnapsackSet, Spectraplex


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


class UnitDiagonalGame(SpectralGame):
    """max <C, X> subject to X_ii = 1, X >= 0.

    Subclasses give ``cost``, and ``cost_operator`` where C is sparse.
    """

    objective = "maximize"

    @property
    def cost_operator(self) -> Any:
        """C as a scipy sparse array, for products with few vectors; C itself by default."""
        return self.cost

    # -- the game ---------------------------------------------------------------------------------

    @cached_property
    def size(self) -> int:
        """n."""
        return int(self.cost_operator.shape[0])

    @cached_property
    def offset(self) -> np.ndarray:
        return np.ones(self.size)

    @cached_property
    def spectral_set(self) -> Spectraplex:
        return CorrelationSet(self.size, float(self.size))

    @cached_property
    def dual_set(self) -> KnapsackSet:
        n, d = self.size, self.cost_operator.diagonal()
        upper, lower = n * self._largest_cost[0], float(d.sum())
        # a margin keeps the box open where a row of C is empty, or where the bounds meet
        margin = 1e-3 * self.scale / n if self.scale > 0 else 1.0
        return KnapsackSet(
            d - upper / n - margin,
            d + (upper - lower) - lower / n + margin,
            np.ones(n),
            0.0,
            0.0,
        )

    @cached_property
    def _largest_cost(self) -> tuple[float, float]:
        """(t >= lambda_max(C) but for rounding, ||C||_2; the latter as ARPACK finds it where n is large)."""
        if self.size < PROVE_FROM:
            w = np.linalg.eigvalsh(self.cost)
            return float(w[-1]), float(np.max(np.abs(w)))
        largest = checked_largest(self.cost, self.cost_operator)
        return largest, max(abs(largest), abs(guess_largest(-1 * self.cost_operator)[0]))

    @cached_property
    def cost_norm(self) -> float:
        """||C||_2."""
        return self._largest_cost[1]

    @cached_property
    def scale(self) -> float:
        """n ||C||_2; 1 where C = 0."""
        return self.size * self.cost_norm or 1.0

    def first_points(self) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
        """I and y = 0; a best response, of rank one, would be repaired to a cut that proves little."""
        return [(np.eye(self.size), np.zeros(self.size))]

    def forward(self, y: np.ndarray) -> np.ndarray:
        out = self.cost.copy()
        out[np.diag_indices_from(out)] -= y
        return out

    def apply(self, y: np.ndarray) -> np.ndarray:
        return np.diag(y)

    def adjoint(self, X: Any) -> np.ndarray:
        return np.array(np.diagonal(X))

    def constraint(self, j: int) -> np.ndarray:
        A = np.zeros_like(self.cost)
        A[j, j] = 1.0
        return A

    @property
    def constraint_norms(self) -> np.ndarray:
        return np.ones(self.size)

    def schur(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        return U * V

    def repair(self, X: np.ndarray) -> np.ndarray | None:
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

    # -- bounds -----------------------------------------------------------------------------------

    def shifted_operator(self, y: np.ndarray) -> Any:
        """C - Diag(y), sparse where C is."""
        operator = self.cost_operator
        if isinstance(operator, np.ndarray):
            return self.forward(y)
        import scipy.sparse as sp  # late: import time

        return sp.csr_array(operator - sp.diags_array(y))

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = self.dual_set.project(np.asarray(y, dtype=float))
        if not np.any(y):
            largest = self._largest_cost[0]
        elif self.size < PROVE_FROM:
            return super().bound_from_vector(y)
        else:
            largest = checked_largest(self.forward(y), self.shifted_operator(y))
        return Bound(point=y, upper=float(self.offset @ y) + self.size * largest + self.rounding(y))
