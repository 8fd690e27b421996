"""The trace bound of the user: an assumption of a linear program, used where nothing else bounds the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import cholesky, frobenius, inner, inverse_factor
from matrixlearn.linalg.verified import INF, diagonal_blocks, inner_bounded, is_definite, least_eigenvalue
from matrixlearn.maps.bounded import apply_error
from matrixlearn.problems.linear.combination import combinations
from matrixlearn.problems.linear.digits import exact_combination
from matrixlearn.problems.linear.equalities import ROOM
from matrixlearn.problems.linear.proof import MOVES, Proof
from matrixlearn.problems.linear.span import Feasible, feasible

ROUNDED = 64 * EPS
"""Part of n R by which a trace, or what the rows say of it, may be above R: rounding, as far as X is known."""

NEAR, HALVINGS = 1e-9, 60
"""The part by which a number may be above the least that is proved, and the most steps of bisection."""


@dataclass(frozen=True, eq=False)
class TraceLimit:
    """Tr X <= R of the user, in the units of a program: <matrix, X> <= R.

    Attributes
    ----------
    R : float
    matrix : ndarray, shape (n, n)
        Positive definite, within ``error`` of the true one in the Frobenius norm.
    error : float
    row : tuple (int, int), optional
        (j, s): it is row j of the program, or makes that an equality; a multiplier y_j of sign s needs R.
    """

    R: float
    matrix: np.ndarray
    error: float = 0.0
    row: tuple[int, int] | None = None

    def is_used(self, y: np.ndarray) -> bool:
        """Whether multipliers of a program with its row need R."""
        return self.row is not None and bool(y[self.row[0]] * self.row[1] > 0)

    def most(self, X: np.ndarray, delta: float) -> float:
        """A proved upper bound of <matrix, X'> for every X' within delta of X, in the Frobenius norm."""
        value, rounding = inner_bounded(self.matrix, X)
        return value + rounding + self.error * frobenius(X) + (frobenius(self.matrix) + self.error) * delta

    def holds(self, proof: Proof, found: Feasible, room: float = 0.0) -> bool:
        """Whether the trace of a feasible matrix is proved to be at most R (1 + room).

        Where the rows that it meets bound the trace by R, R says nothing more.
        """
        return self.most(found.point, found.delta) <= self.R * (1 + room) or self._follows(proof, found.equal)

    def toward(self, proof: Proof, W: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """The first of W + theta (X_0 - W) whose trace is proved to be at most R; W where it is, and where none is."""

        def holds(at: np.ndarray) -> bool:
            found = feasible(proof, at)
            return found is not None and self.holds(proof, found)

        if holds(W) or not holds(inside):
            return W
        here, there = (inner(self.matrix, at) for at in (W, inside))
        theta = max((here - self.R) / (here - there), 0.0) + 4 * EPS if here > there else 1.0
        for times in MOVES:
            if theta * times >= 1:
                break
            moved = W + theta * times * (inside - W)
            if holds(moved):
                return np.asarray(moved)
        return W

    def _follows(self, proof: Proof, equal: np.ndarray) -> bool:
        """Whether rows, ``equal`` of them with equality, say that the trace is at most R, but for rounding: b.z <= R
        where A(z) is the matrix F of the trace exactly, z_j >= 0 outside these, and with ||F - A(z)|| <= e

            <F, X> <= b.z + e ||X|| <= b.z + e <F, X> / lambda_min(F)    =>    <F, X> (1 - e / lambda_min(F)) <= b.z
        """
        most = self.R * (1 + ROUNDED * len(self.matrix))
        for z in combinations(proof.family, proof.family.sizes, equal, self.matrix):
            exact = None if self.error else exact_combination(proof, self.matrix, z)
            off = 0.0 if exact is not None else self._off(proof, z)
            worth = proof.value(z if exact is None else exact)[0]
            if off < 0.5 and worth <= most * (1 - 2 * off):
                return True
        return False

    def _off(self, proof: Proof, z: np.ndarray) -> float:
        """e / lambda_min(F), e a bound on ||F - A(z)||."""
        apart = ROOM * frobenius(self.matrix - proof.family.apply(z))
        return (apart + apply_error(proof.family, z) + self.error) / self.least if self.least > 0 else INF

    @cached_property
    def _inverse_factor(self) -> np.ndarray | None:
        """L^{-1} with L L^T = matrix; None where it is not numerically definite."""
        factor = cholesky(self.matrix)
        return None if factor is None else np.asarray(inverse_factor(factor))

    @cached_property
    def least(self) -> float:
        """A lower bound of the least eigenvalue of the true matrix."""
        return max(least_eigenvalue(self.matrix) - self.error, 0.0)

    def least_times(self, missing: np.ndarray) -> float:
        """No s below it makes the diagonal of F + s matrix nonnegative; ``missing`` are the -F_ii."""
        return float(np.max(missing / np.real(np.diagonal(self.matrix))))

    def times(self, F: np.ndarray, error: float, enough: float = 0.0) -> float:
        """s >= 0 with F' + s matrix >= 0 proved of every F' within ``error`` of F, nearly least or at most ``enough``;
        inf where none is.
        """
        L = self._inverse_factor
        if L is None:
            return INF
        low, high = 0.0, 0.0
        for block in diagonal_blocks(F, self.matrix):
            inside = L[block, block] @ F[block, block] @ L[block, block].conj().T
            w = np.linalg.eigvalsh((inside + inside.conj().T) / 2)
            low, high = min(low, float(w[0])), max(high, float(w[-1]))
        step = 2 * (error / self.least if self.least > 0 else 0.0) + 4 * len(F) * EPS * max(-low, high)

        def proved(s: float) -> bool:
            lost = error + s * (self.error + 4 * EPS * frobenius(self.matrix))
            return is_definite(F + s * self.matrix, lost)

        for _ in range(20):
            guess = -low + step
            if proved(guess):
                return _least(proved, guess, enough) * (1 + 4 * EPS)
            step = 4 * step + 1e-300
        return INF


def _least(proved: Callable[[float], bool], most: float, enough: float) -> float:
    """About the least number that is proved, by bisection between 0 and one that is; ``enough`` is small enough."""
    least = (1 - NEAR) * most
    if most <= enough or not proved(least):
        return most
    least, most = 0.0, least
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (least, middle) if proved(middle) else (middle, most)
        if most - least <= max(NEAR * most, enough):
            break
    return most
