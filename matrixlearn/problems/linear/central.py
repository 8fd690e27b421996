"""The face of all feasible matrices, by the rows alone.

    max 0   subject to   <A_j, X> = b_j (j in E),   <= b_j,   X >= 0

Where no feasible X is positive definite, the central path of this program ends at an X of the highest rank, in the
relative interior of what is feasible, and y goes along a w with

    A(w) >= 0,   b.w = 0,   w_j >= 0 outside E,   A(w) X = 0:      all feasible matrices live on the null space of A(w)

of the highest rank, too. With V the range of X in whole numbers, A(w) V = 0 and b.w = 0 are linear equations. They are
solved exactly, next to y. Nothing here is a proof: `face.least_face` proves what w says.

References
----------
Permenter, Friberg and Andersen (2017), "Solving conic optimization problems via self-dual embedding and facial
reduction".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.exceptions import CapabilityError
from matrixlearn.maps import LinearMap
from matrixlearn.problems.base import Bound, Problem
from matrixlearn.problems.game import Game
from matrixlearn.problems.linear.dependence import dependence
from matrixlearn.problems.linear.echelon import one_over
from matrixlearn.problems.linear.open import OpenProgram
from matrixlearn.problems.linear.span import whole_ranges
from matrixlearn.typing import Array

if TYPE_CHECKING:
    import cvxpy

UNUSED = 1e-6
"""Part of the largest term of A(y) below which that of an inequality counts as 0."""

GAPS = 1e2, 3
"""The least ratio of neighbouring eigenvalues that are taken for a gap, and how many gaps are looked at."""

NOISE = 1e-14
"""Part of the largest eigenvalue that counts as 0."""

DIGITS = 16
"""Binary digits of the multiples of null vectors."""

MOST = 30_000_000
"""The most entries of the A_j V."""


@dataclass(frozen=True, eq=False)
class RowsAlone(Problem):
    """The rows of a program, for an engine that follows a central path; no point of it is asked for a bound.

    Parameters
    ----------
    program : OpenProgram
    """

    program: OpenProgram
    name = "rows"

    @cached_property
    def game(self) -> Game:
        """That of the program without its cost."""
        return replace(self.program, C=0 * self.program.C, proof=self.program.proof.without_cost).game

    def bound_from_matrix(self, X: Array) -> Bound:
        return Bound(point=X)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        return Bound(point=y)

    def reference(self) -> cvxpy.Problem:
        msg = "rows alone have no objective"
        raise CapabilityError(msg)


def exposing(family: LinearMap, b: np.ndarray, equal: np.ndarray, y: np.ndarray, X: np.ndarray) -> Iterator[np.ndarray]:
    """w near a multiple of y with A(w) V = 0 and, first, b.w = 0 exactly: V the range of X, or, where faces lie in
    faces, the null space of the part of A(y) that is larger than the rest.
    """
    m, n = family.shape
    if np.iscomplexobj(X) or m * n * n > MOST or not (np.isfinite(X).all() and np.isfinite(y).all()):
        return
    slack, U = np.linalg.eigh(family.apply(y))
    largest = float(slack[-1])
    if not largest > 0:
        return
    inverse = (U / np.maximum(slack, NOISE * largest)) @ U.T
    terms = np.abs(y) * family.sizes
    used = np.flatnonzero(equal | (terms > UNUSED * np.max(terms)))
    for V in (*whole_ranges(X, GAPS), *whole_ranges(inverse, GAPS)):
        rows = np.stack([(family.matrix(int(j)) @ V).reshape(-1) for j in used])
        for equations in (np.column_stack([rows, b[used]]), rows):
            w = np.zeros(m)
            w[used] = _near(equations, y[used])
            if np.any(w):
                yield w


def _near(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """w near a multiple of y with sum_j w_j rows_j = 0 exactly, in few digits; 0 where none is found."""
    found = dependence(rows)
    free = None if found is None else found.null_vectors()
    if free is None or free.shape[1] == 0:
        return 0 * y
    free = free * one_over(np.max(np.abs(free), axis=0))
    times = np.linalg.lstsq(free, y, rcond=None)[0]
    return np.asarray(free @ np.rint(2.0**DIGITS * one_over(np.max(np.abs(times))) * times))
