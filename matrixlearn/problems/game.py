"""Spectral games: one spec, and every engine applies.

    v = min over y in Y  max over X in S   <C, X> + c.y - <A(y), X>

A spec gives the data C, c, the two sets and the two linear maps

    forward(y) = C - A(y),      adjoint(X)_j = <A_j, X>.

From these alone follow weak duality and both bounds,

    any y in Y  proves  v <= c.y + sigma_S(C - A(y)),       sigma_S the support function of S
    any X in S  proves  v >= <C, X> + min over y in Y of (c - A*(X)).y

so that no engine has to be believed. Three more primitives make engines fast and have defaults:
``schur(U, V)_ij = Re tr(A_i U A_j V)``, ``constraint_norms`` >= ||A_j||_2 and ``family_at(index)``, some of the A_j.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import EPS, as_numpy, from_numpy, moved, namespace, zeros
from matrixlearn.exponents import Exponent, entropy_on
from matrixlearn.linalg import cholesky, frobenius, inner, plus_identity, spectral_norm, sym, trace
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.maps import DenseMap, LinearMap, NewtonTerms
from matrixlearn.problems.base import INF, Bound, Problem
from matrixlearn.problems.cells import Cell
from matrixlearn.problems.parts import require_maps, require_parts
from matrixlearn.sets import KnapsackSet, SpectralSet
from matrixlearn.typing import Array

if TYPE_CHECKING:
    import cvxpy


RESPONSE_BELOW = 600
"""Dimensions from which the best response to the centre of Y is not computed before an engine asks."""


class SpectralGame(Problem):
    """A saddle point of a matrix in a spectral set S and a vector in a polytope Y.

    Subclasses give ``cost``, ``offset``, ``spectral_set``, ``dual_set``, ``forward`` and ``adjoint``.
    """

    # -- what a spec must say ---------------------------------------------------------------------

    @property
    @abstractmethod
    def cost(self) -> Array:
        """C, Hermitian, shape (n, n)."""

    @property
    @abstractmethod
    def offset(self) -> np.ndarray:
        """c, shape (m,)."""

    @property
    @abstractmethod
    def spectral_set(self) -> SpectralSet:
        """S, where X lives."""

    @property
    @abstractmethod
    def dual_set(self) -> KnapsackSet:
        """Y, where y lives.  Engines need it bounded; see `phase_one`."""

    @abstractmethod
    def forward(self, y: np.ndarray) -> Array:
        """C - A(y), shape (m,) -> (n, n)."""

    @abstractmethod
    def adjoint(self, X: Array) -> np.ndarray:
        """A*(X), the vector of <A_j, X> = Re tr(A_j^H X), shape (n, n) -> (m,)."""

    @property
    def like(self) -> Array | None:
        """C: X is of its shape and namespace."""
        return self.cost

    @property
    def multipliers(self) -> int | None:
        """m."""
        return self.dual_set.size

    # -- what a spec may say better ---------------------------------------------------------------

    def apply(self, y: np.ndarray) -> Array:
        """A(y) = sum_j y_j A_j.  Worth giving: C - (C - A(y)) loses the digits of a small y, which an
        interior-point step near the optimum divides by a nearly singular matrix.
        """
        return self.cost - self.forward(y)

    def loss(self, y: np.ndarray) -> Array:
        """A(y) - C: what the matrix player loses by."""
        return self.apply(y) - self.cost

    def constraint(self, j: int) -> Array:
        """A_j, shape (n, n)."""
        unit = np.zeros(self.dual_set.size)
        unit[j] = 1.0
        return self.apply(unit)

    @cached_property
    def constraint_norms(self) -> np.ndarray:
        """Numbers a_j >= ||A_j||_2, shape (m,)."""
        return np.array([spectral_norm(self.constraint(j)) for j in range(self.dual_set.size)])

    @property
    def constraint_sizes(self) -> np.ndarray:
        """Numbers >= ||A_j||_F, shape (m,)."""
        return np.asarray(np.sqrt(self.spectral_set.n) * self.constraint_norms)

    @property
    def most_terms(self) -> int:
        """The most A_j that share an entry."""
        return self.dual_set.size

    def schur(self, U: Array, V: Array) -> np.ndarray:
        """H_ij = Re tr(A_i U A_j V) for Hermitian U and V, shape (m, m): here m products of n^3."""
        m = self.dual_set.size
        H = np.empty((m, m))
        for j in range(m):
            H[:, j] = self.adjoint(sym(U @ self.constraint(j) @ V))
        return H

    def moments(self, U: Array, V: Array) -> NewtonTerms:
        """<A_j, U>, <A_j, sym(U V)> and `schur(U, V)`: what interior methods ask for in each iteration."""
        return NewtonTerms(U, V, self.adjoint(U), self.adjoint(sym(U @ V)), self.schur(U, V))

    def family_at(self, index: np.ndarray) -> LinearMap:
        """The A_j of an index, (k,), by themselves.  Worth giving where they have a structure: here they are stacked,
        dense.
        """
        return DenseMap(namespace(self.cost).stack([self.constraint(int(j)) for j in index]))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Its semidefinite matrices, one by one, as interior methods keep them: one for each sign."""
        return tuple(Cell(sign, slice(0, self.spectral_set.n)) for sign in self.spectral_set.signs)

    def assembled(self, X: Sequence[Array]) -> Array:
        """sum_c s_c X_c over the cells."""
        cells, n = self.cells, self.spectral_set.n
        if cells[0].size == n:
            out = X[0]  # the first sign is +1
            for cell, part in zip(cells[1:], X[1:], strict=True):
                out = out + cell.sign * part
            return out
        out = zeros((n, n), X[0])
        for cell, part in zip(cells, X, strict=True):
            out[cell.block, cell.block] += cell.sign * part
        return out

    def exponent(self) -> Exponent:
        """The exponent routine that suits S."""
        return entropy_on(self.spectral_set)

    def repair(self, X: Array) -> Array | None:
        """A point of S near X that is also feasible for constraints whose multipliers Y bounds
        only by an estimate; None where X is all there is.
        """
        return None

    def dual_set_at(self, level: float) -> KnapsackSet:
        """D_alpha: a part of Y that holds an optimal y if the optimum is at most ``level`` (all of Y, by
        default).  Where no y in it has value(X, y) <= level, `repair` turns X into a point that proves
        more than ``level`` (Lemma 4.2.1).  The smaller, the smaller the width of an oracle.
        """
        return self.dual_set

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """The centres of S and Y, and the best response to the latter while it is cheap: with all eigenvectors."""
        Y = self.dual_set
        y = Y.center() if Y.is_bounded else np.clip(0.0, Y.lower, Y.upper)
        if self.spectral_set.n >= RESPONSE_BELOW:
            return [(None, y)]
        return [(self.spectral_set.center(self.cost), y), (self.spectral_set.best_response(self.forward(y)), None)]

    def check(self) -> None:
        """Parts of the wrong kind, size or symmetry, and parts with NaN; a game that its construction validates says so
        by an empty override.
        """
        require_parts(self)
        require_maps(self)

    # -- bounds, from the data alone --------------------------------------------------------------

    constant: float = 0.0
    """What every value holds besides: c.y of the y_j that are fixed, in a restriction."""

    @cached_property
    def cost_norm(self) -> float:
        """||C||_2."""
        if self.cost.ndim == 1:
            return float(np.max(np.abs(as_numpy(self.cost))))
        return spectral_norm(self.cost)

    @cached_property
    def scale(self) -> float:
        """R ||C||_2; where C = 0, the largest |c_j| + R ||A_j||_2 times the largest |y_j| where Y bounds it."""
        R = self.spectral_set.trace
        if self.cost_norm > 0:
            return R * self.cost_norm
        extent = self.dual_set.extent
        return float(np.max((np.abs(self.offset) + R * self.constraint_norms) * np.where(extent < INF, extent, 1.0)))

    def rounding(self, y: np.ndarray) -> float:
        """An allowance for everything that rounding does to the value of the game at y.

        4 eps ((n + k) R (||C||_F + sum_j |y_j| ||A_j||_F) + (n + m) sum_j |y_j c_j|), k the most terms that an entry of
        A(y) adds up: the backward errors of the products that form C - A(y), of one Hermitian eigendecomposition
        (Householder and implicit QL, a small multiple of n eps ||.||_F), and of the inner products.
        """
        return self._rounding_of(self._cost_size, y)

    def _rounding_of(self, cost: float, y: np.ndarray) -> float:
        """`rounding` for a C of the given size R ||C||_F: a ray is judged without one."""
        return 4 * EPS * ((self.spectral_set.n + self.most_terms) * cost + float(np.abs(y) @ self._sizes))

    @cached_property
    def _cost_size(self) -> float:
        """R ||C||_F."""
        return self.spectral_set.trace * frobenius(self.cost)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """(n + k) R ||A_j||_F + (n + m) |c_j|, (m,)."""
        n, R = self.spectral_set.n, self.spectral_set.trace
        matrices = (n + self.most_terms) * R * self.constraint_sizes
        return np.asarray(matrices + (n + len(self.offset)) * np.abs(self.offset))

    def value_at(self, X: Array, y: np.ndarray) -> float:
        """<C, X> + c.y - <A(y), X>."""
        return inner(self.cost, X) + float((self.offset - self.adjoint(X)) @ y) + self.constant

    def upper_value(self, y: np.ndarray) -> float:
        """c.y + sigma_S(C - A(y)), without the allowance."""
        return float(self.offset @ y) + self.spectral_set.support(self.forward(y)) + self.constant

    def lower_value(self, X: Array) -> tuple[float, np.ndarray]:
        """<C, X> + min over Y of (c - A*(X)).y and a minimizer, without the allowance."""
        least, y = self.dual_set.minimize(self.offset - self.adjoint(X))
        return inner(self.cost, X) + least + self.constant, y

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = self.dual_set.project(np.asarray(y, dtype=float))
        return Bound(point=y, upper=self.upper_value(y) + self.rounding(y))

    def bound_from_matrix(self, X: Array) -> Bound:
        if isinstance(X, FactoredMatrix):  # a spec that can do better overrides this
            X = moved(X.dense(), self.cost)
        return self._bound_from_member(self.spectral_set.project(X))

    def _bound_from_member(self, point: Array) -> Bound:
        """What a point of S proves."""
        repaired = self.repair(point)
        if repaired is not None:  # an answer is feasible as returned, even where a penalty would prove more
            point = repaired
        value, y = self.lower_value(point)
        return Bound(point=point, lower=value - self.rounding(y) if value > -INF else value)

    def bounds_from_interior(self, X: Sequence[Array], y: np.ndarray, t: float) -> tuple[Bound, Bound]:
        """What a strictly feasible pair proves by Cholesky factorizations, taken here: X_k > 0 and
        S_k = t I - s_k (C - A(y)) > 0.

            sum_k s_k X_k R / sum_k Tr X_k  in S,        sigma_S(C - A(y)) <= R t

        Nearly as good as all eigenvalues near an interior method's optimum, and next to nothing in cost. Nothing is
        proved where one of them fails. A factorization proves S_k > 0 up to (n + 2) eps Tr S_k (Demmel 1989; Rump
        2006).
        """
        spectral, n = self.spectral_set, self.spectral_set.n
        inside = self.dual_set.project(y)
        F = self.forward(inside)
        from_matrix, from_vector = Bound(), Bound()
        if all(cholesky(x) is not None for x in X):
            member = self.assembled(X) * spectral.clip_scale(sum(trace(x) for x in X))
            from_matrix = self._bound_from_member(member)
        S = [plus_identity(-cell.sign * cell.part(F), t) for cell in self.cells]
        if all(cholesky(s) is not None for s in S):
            t += (n + 2) * EPS * max(trace(s) for s in S)
            upper = float(self.offset @ inside) + spectral.trace * t + self.constant
            from_vector = Bound(point=inside, upper=upper + self.rounding(inside))
        return from_matrix, from_vector

    def objective_at(self, X: Array | None, y: np.ndarray | None) -> float:
        if self.objective == "minimize":
            return INF if y is None else self.upper_value(y)
        return -INF if X is None else self.lower_value(X)[0]

    # -- the judge --------------------------------------------------------------------------------

    def reference(self) -> cvxpy.Problem:
        """min c.y + R t  subject to  t I - s (C - A(y)) >= 0 for the signs s of S, y in Y."""
        import cvxpy as cp

        m, n, S = self.dual_set.size, self.spectral_set.n, self.spectral_set
        C = as_numpy(self.cost)
        if C.ndim == 1:
            C = np.diag(C)
        y, t = cp.Variable(m, name="y"), cp.Variable(name="t")
        A = np.stack([as_numpy(self.constraint(j)) for j in range(m)])
        if A.ndim == 2:
            A = np.stack([np.diag(a) for a in A])
        F = C - cp.reshape(A.reshape(m, n * n).T @ y, (n, n), order="C")
        hermitian = np.iscomplexobj(C) or np.iscomplexobj(A)
        constraints: list[Any] = [(t * np.eye(n) - s * (F + (F.H if hermitian else F.T)) / 2) >> 0 for s in S.signs]
        if S.slack:
            constraints.append(t >= 0)
        return cp.Problem(cp.Minimize(self.offset @ y + S.trace * t), constraints + self.dual_constraints(y))

    def dual_constraints(self, y: Any) -> list[Any]:
        """Y as cvxpy constraints on the expression y."""
        Y = self.dual_set
        out = []
        for value, sign in ((Y.lower, 1), (Y.upper, -1)):
            finite = np.flatnonzero(np.isfinite(value))
            if len(finite):
                out.append(sign * y[finite] >= sign * value[finite])
        if Y.weights is not None:
            row = Y.weights @ y
            if Y.row_lower == Y.row_upper:
                return [*out, row == Y.row_upper]
            if np.isfinite(Y.row_lower):
                out.append(row >= Y.row_lower)
            if np.isfinite(Y.row_upper):
                out.append(row <= Y.row_upper)
        return out

    def read_reference(self, reference: cvxpy.Problem) -> tuple[Array | None, np.ndarray | None]:
        """(X, y) from a solved `reference`: the multipliers of the semidefinite constraints, and y."""
        variables = {variable.name(): variable for variable in reference.variables()}
        y = variables["y"].value
        duals = [c.dual_value for c in reference.constraints if type(c).__name__ == "PSD"]
        if y is None or any(dual is None for dual in duals):
            return None, y
        X = sum(s * dual for s, dual in zip(self.spectral_set.signs, duals, strict=True))
        X = (X + X.conj().T) / 2
        if self.cost.ndim == 1:
            X = np.diag(X).copy()
        return from_numpy(X, self.cost), y
