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
from matrixlearn.problems.linear.span import whole_range
from matrixlearn.typing import Array

if TYPE_CHECKING:
    import cvxpy

UNUSED = 1e-6
"""Part of the largest term of A(y) below which that of an inequality counts as 0."""

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


def exposing(family: LinearMap, b: np.ndarray, equal: np.ndarray, y: np.ndarray, X: np.ndarray) -> np.ndarray | None:
    """w near a multiple of y with A(w) V = 0 and b.w = 0 exactly, V the range of X; None where none is found."""
    m, n = family.shape
    if np.iscomplexobj(X) or m * n * n > MOST or not (np.isfinite(X).all() and np.isfinite(y).all()):
        return None
    V, terms = whole_range(X), np.abs(y) * family.sizes
    used = np.flatnonzero(equal | (terms > UNUSED * np.max(terms, initial=0.0)))
    if V is None or V.shape[1] == n or not len(used):
        return None
    lines = [np.append((np.real(family.matrix(int(j))) @ V).reshape(-1), b[j]) for j in used]
    found = dependence(np.stack(lines))
    free = None if found is None else found.null_vectors()
    if free is None or free.shape[1] == 0:
        return None
    free = free * one_over(np.max(np.abs(free), axis=0))
    times = np.linalg.lstsq(free, y[used], rcond=None)[0]
    w = np.zeros(m)
    w[used] = free @ np.rint(2.0**DIGITS * one_over(np.max(np.abs(times))) * times)
    return w
