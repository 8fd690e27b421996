"""What a point proves of a linear program over matrices, in floating point.

    v = max <C, X>   subject to   <A_j, X> = b_j (j in E),   <A_j, X> <= b_j (j not in E),   X >= 0

Upper bounds need no feasible matrix.  Where y_j >= 0 outside E and A(y) - C >= 0 is proved by a Cholesky
factorization, v <= b.y (weak duality).

Lower bounds need a feasible matrix, and a floating point X meets an equality only to its rounding.  Let r be a bound
on |b_E - A_E(X)|, rounding included, and sigma > 0 a proved lower bound of the least singular value of A_E. Then

    D = A_E^*(G^{-1} (b_E - A_E(X))),   G = A_E A_E^*,   A_E(X + D) = b_E  exactly,   ||D||_F <= delta = ||r|| / sigma,

so that, where X - delta I >= 0 is proved and every other row has a slack of ||A_j||_F delta, the matrix X + D is
feasible, and

    v >= <C, X> - ||C||_F delta.

An X on the boundary of the cone has no such margin. It is moved first (`Proof.toward`): to the affine space by D, as
computed, and then towards a strictly feasible X_0, (1 - theta) X + theta X_0, by the least theta that gives the margin.
The same for y: (1 - theta) y + theta y_0, A(y_0) - C > 0. What a moved point proves, it proves alone.

References
----------
Jansson, Chaykin and Keil (2007), "Rigorous error bounds for the optimal value in semidefinite programming".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.linalg import frobenius
from matrixlearn.linalg.verified import (
    INF,
    approximate_least,
    inner_bounded,
    is_definite,
    least_eigenvalue,
)
from matrixlearn.maps import CompressedMap, LinearMap
from matrixlearn.maps.bounded import apply_error, congruence_error
from matrixlearn.problems.linear.equalities import ROOM, Equalities, apart_bounded
from matrixlearn.problems.linear.exact import multiples
from matrixlearn.problems.linear.members import applied, rounded_inner
from matrixlearn.problems.linear.metric import within_the_cone

TERMS = 1e-12
"""Part of the sum of |C_ik X_ik| that bounds may differ by without a gap: an optimum of 0 has no size of its own."""

NEARLY = 1e-12
"""Part of the size of a matrix below which its trace may be 0."""

CANCELLED = 1e-3
"""Part of that sum below which its terms cancel; above, |<C, X>| is a size."""

MOVES = tuple(4.0**k for k in range(12))
"""Times the estimated move towards an interior point that are tried."""


@dataclass(frozen=True, eq=False)
class Proof:
    """The theorems about one program, NumPy data.

    Parameters
    ----------
    C : ndarray, shape (n, n)
    family : LinearMap
        The A_j.
    b : ndarray, shape (m,)
    equal : ndarray of bool, shape (m,)
        E.
    cost_error : float
        The true C is within this of ``C``, in the Frobenius norm: 0 but on a face.
    whole : Proof, optional
        On a face, the program whose X is V W V^T.
    """

    C: np.ndarray
    family: LinearMap
    b: np.ndarray
    equal: np.ndarray
    cost_error: float = 0.0
    whole: Proof | None = None
    basis: np.ndarray | None = None
    """V, on a face."""

    @cached_property
    def cost_size(self) -> float:
        """||C||_F."""
        return frobenius(self.C)

    @cached_property
    def without_cost(self) -> Proof:
        """The same rows with C = 0: what a ray is a matter of."""
        whole = None if self.whole is None else self.whole.without_cost
        return replace(self, C=np.zeros_like(self.C), cost_error=0.0, whole=whole)

    @cached_property
    def restricted(self) -> dict[bytes, Proof | None]:
        """The program on subspaces that were looked at: what `spanned` has computed once."""
        return {}

    @cached_property
    def equations(self) -> dict[bytes, Any]:
        """The equations (A(z) - C) V = 0 that were looked at: what `kernel.with_kernel` has computed once."""
        return {}

    @cached_property
    def zero_is_feasible(self) -> bool:
        """Whether X = 0 meets every row."""
        return bool(np.all(self.b[self.equal] == 0) and np.all(self.b >= 0))

    @cached_property
    def equalities(self) -> Equalities:
        """The rows in E, or others that say the same."""
        if np.all(self.equal):
            return Equalities.of(self.family, self.b)
        return Equalities.of(self.family.at(np.flatnonzero(self.equal)), self.b[self.equal])

    # -- matrices ---------------------------------------------------------------------------------

    def lower(self, X: np.ndarray) -> tuple[float, float]:
        """(a proved lower bound of v, -inf where X proves none; what it adds up to, `terms`)."""
        value, error = inner_bounded(self.C, X)
        size = self.terms(X)
        margin = self.margin(X)
        if not math.isfinite(margin.delta):
            return -INF, size
        if np.any(margin.slack < 0) or not is_definite(X, margin.delta):
            return -INF, size
        error += self.cost_error * frobenius(X) * ROOM
        return value - error - (self.cost_size + self.cost_error) * margin.delta, size

    def terms(self, X: np.ndarray) -> float:
        """sum_ik |C_ik X_ik|, of all dimensions: the same in all units of the basis."""
        if self.whole is not None and self.basis is not None:
            return self.whole.terms(self.basis @ X @ self.basis.T)
        return float(np.vdot(np.abs(self.C), np.abs(X)))

    def rounding(self, X: np.ndarray) -> float:
        """`TERMS` sum_ik |C_ik X_ik| where the terms cancel, 64 n eps sum_ik |C_ik| (X_ii X_kk)^1/2 where <C, X> is
        less than a thousandth of that sum; both are the same in all units of the rows and of the basis. An entry of a
        semidefinite X is known to a part of (X_ii X_kk)^1/2 only, be it 0.
        """
        if self.whole is not None and self.basis is not None:
            return self.whole.rounding(self.basis @ X @ self.basis.T)
        value, terms = abs(inner_bounded(self.C, X)[0]), self.terms(X)
        roots = np.sqrt(np.maximum(np.real(np.diagonal(X)), 0.0))
        most = float(roots @ np.abs(self.C) @ roots)
        cancelled = TERMS * terms if value < CANCELLED * terms else 0.0
        return max(cancelled, 64 * len(X) * EPS * most if value < CANCELLED * most else 0.0)

    def margin(self, X: np.ndarray) -> Margin:
        """What the rows leave of X: how far the feasible matrix may be, and the slack of the others beyond that."""
        delta, slack = self.equalities.delta(X), np.full(len(self.b), INF)
        if not np.all(self.equal):
            apart, error = apart_bounded(self.family, self.b, X)
            slack = np.where(self.equal, INF, apart - error)
            if 0 < delta < INF:
                slack = slack - ROOM * self.family.sizes * delta
        return Margin(delta, slack)

    def on_the_rows(self, X: np.ndarray) -> np.ndarray:
        """X + D: the equalities met to rounding."""
        return self.equalities.onto(X)

    def toward(self, X: np.ndarray, interior: np.ndarray | None) -> np.ndarray:
        """X on the rows, moved towards a strictly feasible X_0 by as little as a proof takes; not proved."""
        near = self.on_the_rows(X)
        if self.proves(near):
            return near
        within = within_the_cone(self.equalities, X)
        X = near if within is None else max(near, within, key=self._room)
        if interior is None or self.proves(X):
            return X
        onto = self.on_the_rows(interior)  # what it misses the rows by would be the room that X is given
        interior = onto if self.proves(onto) else interior
        least, inside = (approximate_least(A) for A in (X, interior))
        here, there = self.margin(X), self.margin(interior)
        if not (inside > there.delta and np.all(there.slack > 0)):
            return X
        want = 4 * max(here.delta if math.isfinite(here.delta) else 0.0, there.delta, len(X) * EPS * frobenius(X))
        theta = _way(least, want, inside)
        lacking = here.slack < 0
        if np.any(lacking):
            theta = max(theta, float(np.max(-here.slack[lacking] / (there.slack[lacking] - here.slack[lacking]))))
        theta = max(theta * (1 + 1e-6), 4 * EPS)
        for times in MOVES:
            if theta * times >= 1:
                break
            moved = X + theta * times * (interior - X)
            if self.proves(moved):
                return moved
        return interior

    def _room(self, X: np.ndarray) -> float:
        """About what the least eigenvalue of X has beyond what a proof needs."""
        return approximate_least(X) - self.margin(X).delta

    def proves(self, X: np.ndarray) -> bool:
        """Whether a feasible matrix is proved near X."""
        margin = self.margin(X)
        return bool(math.isfinite(margin.delta) and np.all(margin.slack >= 0)) and is_definite(X, margin.delta)

    # -- multipliers ------------------------------------------------------------------------------

    def signed(self, y: np.ndarray) -> np.ndarray:
        """y with y_j >= 0 outside E; of two rows that are the sides of one, l <= <A, X> <= u, one multiplier at most is
        not 0: what both have in common adds nothing to A(y), and its part of u - l >= 0 to b.y.
        """
        y = np.where(self.equal, y, np.maximum(y, 0.0))
        for i, j, k in self._sides:
            common = min(y[i], y[j] / k)
            if common > 0:
                y[i], y[j] = (0.0, y[j] - k * y[i]) if common == y[i] else (y[i] - y[j] / k, 0.0)
        return y

    @cached_property
    def _sides(self) -> list[tuple[int, int, float]]:
        """(i, j, k) with A_i + k A_j = 0, k > 0, inequalities both."""
        rows = np.flatnonzero(~self.equal)
        if len(rows) < 2 or isinstance(self.family, CompressedMap):
            return []
        traces, sizes = self.family.adjoint(np.eye(len(self.C)))[rows], self.family.sizes[rows]
        if np.all(traces > NEARLY * sizes) or np.all(traces < -NEARLY * sizes):
            return []  # none is the negative of another
        out = []
        for group in multiples(self.family.at(rows)):
            for one in (member for member in group if member.factor > 0):
                out += [
                    (int(rows[one.i]), int(rows[other.i]), float(-one.factor / other.factor))
                    for other in group
                    if other.factor < 0
                ]
        return out

    def value(self, y: np.ndarray) -> tuple[float, float]:
        """(an upper bound of b.y, 0 where it is; the sum of |b_j y_j|): nothing is rounded but the result."""
        value, error, size = rounded_inner(self.b, y)
        return value + error, size

    def slack(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """(A(y) - C, a bound on the norm of its error).

        On a face, V^T (A(y) - C) V less e V^T V, e a bound on the error of A(y) - C: what is off by e in all dimensions
        is off by e V^T V on the face, which a basis that is not orthonormal makes larger in few directions only.
        """
        if self.whole is not None and isinstance(self.family, CompressedMap):
            V = self.family.V
            C = self.whole.C
            F = self.family.base.apply(y) - C
            F = (F + F.conj().T) / 2
            lost = apply_error(self.family.base, y) + 2 * EPS * (frobenius(F) + frobenius(C))
            error = congruence_error(F, V)
            G = V.T @ F @ V
            G = (G + G.conj().T) / 2 - ROOM * lost * (V.T @ V)
            return G, error + 2 * EPS * (frobenius(G) + lost * frobenius(V) ** 2)
        F, lost = applied(self.family, y)
        F = F - self.C
        F = (F + F.conj().T) / 2
        return F, lost + 2 * EPS * (frobenius(F) + self.cost_size) + self.cost_error

    def upper(self, y: np.ndarray) -> tuple[float, float]:
        """(a proved upper bound of v, inf where y proves none; what it adds up to), for y = signed(y)."""
        value, size = self.value(y)
        F, error = self.slack(y)
        return (value if is_definite(F, error) else INF), size

    def shift(self, y: np.ndarray) -> float:
        """About the least t >= 0 with A(y) - C + t I >= 0 proved."""
        F, error = self.slack(y)
        return max(0.0, 2 * error - least_eigenvalue(F))

    def is_ray(self, y: np.ndarray) -> bool:
        """Whether A(y) >= 0 and b.y < 0 are proved: then no X >= 0 is feasible."""
        if not self.value(y)[0] < 0:
            return False
        A = self.family.apply(y)
        A = (A + A.conj().T) / 2
        return is_definite(A, apply_error(self.family, y) + EPS * frobenius(A))

    def toward_dual(self, y: np.ndarray, interior: np.ndarray | None) -> np.ndarray:
        """y moved towards a y_0 with A(y_0) - C > 0 by as little as a proof takes; not proved."""
        y = self.signed(y)
        F, error = self.slack(y)
        if interior is None or is_definite(F, error):
            return y
        F0, error0 = self.slack(interior)
        least, inside = approximate_least(F), approximate_least(F0)
        if not inside > error0:
            return y
        want = 4 * max(error, error0, len(F) * EPS * frobenius(F))
        theta = max(_way(least, want, inside), 4 * EPS)
        for times in MOVES:
            if theta * times >= 1:
                break
            moved = self.signed(y + theta * times * (interior - y))
            if is_definite(*self.slack(moved)):
                return moved
        return interior


@dataclass(frozen=True)
class Margin:
    """How far from X a matrix that meets the equalities may be, and what is left of the slack of the other rows."""

    delta: float
    slack: np.ndarray


def _way(least: float, want: float, inside: float) -> float:
    """theta with (1 - theta) least + theta inside = want: 0 where least is enough, 1 where inside is no more."""
    if least >= want:
        return 0.0
    return (want - least) / (inside - least) if inside > least else 1.0
