"""The upper bound that a matrix proves for DefiniteBoost, in floating point.

A floating point W meets tr W = 1 and tr(W S_j) = u_j to its rounding only. W is taken as F F^H, F = V diag(sqrt(w)),
and the matrix that is feasible exactly is sought near it, in W's own metric:

    W' = F (I + E) F^H,    <B_j, E> = b_j - <S_j, F F^H> for the rows that must hold,    B_j = F^H S_j F.

The smallest such E has ||E||_F <= epsilon = ||r|| / sigma, r a bound on what the rows miss, rounding included, and
sigma > 0 a proved lower bound of the least singular value of the B_j. Where epsilon < 1, W' >= 0 however small the
eigenvalues of W are, and where every other row has a slack of ||S_j||_F tr(F F^H) epsilon, W' is feasible. Eigenvalues
move by at most that part of them (Ostrowski), so that

    Delta(W') <= Delta(W) + s (sum_a w_a |log w_a| + (1 + s) sum_a w_a) + ||log W_1||_F tr(F F^H) epsilon

with s for epsilon and what V lacks of being unitary. With soft constraints only tr W = 1 must hold, and what the others
miss is paid for. The same E, computed and not proved, moves W on the rows that it misses.

References
----------
Jansson, Chaykin and Keil (2007), for the idea; Horn and Johnson (2013), theorem 4.5.9 (Ostrowski).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.clock import there_is_time
from matrixlearn.linalg.verified import approximate_least, inner_bounded, least_singular_value
from matrixlearn.maps import DenseMap, LinearMap
from matrixlearn.maps.bounded import ROOM, adjoint_bounded, congruence_error, gram_bounded
from matrixlearn.problems.linear.exact import row_data
from matrixlearn_definiteboost.dual import EPS
from matrixlearn_definiteboost.factored import Factored, OnFace
from matrixlearn_definiteboost.rows import Rows, hermitian

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost

INF = float("inf")

FARTHEST = 0.5
"""The largest ||E||_F of a move."""

SHARES = 4.0
"""Times the margin that a proof needs, which a move leaves."""

NEAR = 1e-3
"""||E||_F of a proof beyond which a move may make a better one."""

STEP = 0.45
"""The most of ||E||_F in one of them."""

MOVES = 6
"""Of one W onto the rows that it misses."""

NEARLY = 1e-4
"""The least singular value of rows of size one, up to which they depend on each other nearly."""


@dataclass(frozen=True, eq=False)
class RowSlacks:
    """The slacks of the rows at W, computed and proved.

    Attributes
    ----------
    trace, rounding : float
        tr W - 1, computed, and what rounding may do to it.
    apart, error : ndarray, shape (m,)
        u_j - tr(W S_j), computed, and what rounding may do to it.
    above, below : ndarray, shape (m,)
        The proved slack under u_j and over l_j, negative where it is missed.
    """

    trace: float
    rounding: float
    apart: np.ndarray
    error: np.ndarray
    above: np.ndarray
    below: np.ndarray


@dataclass(frozen=True, eq=False)
class Proved:
    """A matrix, ||E||_F for the feasible W' near it, and the upper bound that follows; inf where none does."""

    at: Factored
    rows: RowSlacks
    epsilon: float
    upper: float


@dataclass(frozen=True, eq=False)
class ProjectionProof:
    """The theorems about one `DefiniteBoost`, or about what it says on a face.

    Parameters
    ----------
    problem : DefiniteBoost
    face : OnFace, optional
    """

    problem: DefiniteBoost
    face: OnFace | None = None

    @cached_property
    def family(self) -> LinearMap:
        """The S_j, or the V^T S_j V that say something."""
        return self.problem.family if self.face is None else self.face.family

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(l, u) of those rows."""
        p, says = self.problem, slice(None) if self.face is None else self.face.says
        return p.lower_bounds[says], p.upper[says]

    @cached_property
    def trace(self) -> np.ndarray:
        """The matrix of the trace: I, or V^T V."""
        return np.eye(self.problem.d) if self.face is None else self.face.trace

    @cached_property
    def trivial(self) -> np.ndarray:
        """The rows that every matrix of trace one meets, exactly: S_j = c I with l_j <= c <= u_j, (m,) of bool."""
        (low, high), family = self.ends, self.family
        out = np.zeros(len(high), dtype=bool)
        along = np.abs(family.adjoint(self.trace)) / float(np.linalg.norm(self.trace))
        for j in np.flatnonzero(along >= (1 - 1e-9) * family.sizes):
            S = family.matrix(int(j))
            c = float(np.real(S[0, 0] / self.trace[0, 0]))
            out[j] = bool(np.array_equal(S, c * self.trace) and low[j] <= c <= high[j])
        return out

    @cached_property
    def equal(self) -> np.ndarray:
        """The rows that must hold with equality, an index without copies; none where constraints are soft."""
        low, high = self.ends
        if self.problem.slack is not None:
            return np.zeros(0, dtype=int)
        return self._without_copies(np.flatnonzero((low == high) & ~self.trivial))

    def _without_copies(self, which: np.ndarray) -> np.ndarray:
        """The first of the equalities that say the same, entry by entry."""
        seen: dict[Hashable, int] = {}
        for j in which:
            known = row_data(self.family, int(j))
            key = int(j) if known is None else (known[0], known[1].tobytes(), float(self.ends[1][j]))
            seen.setdefault(key, int(j))
        return np.array(sorted(seen.values()), dtype=int)

    @cached_property
    def units(self) -> np.ndarray:
        """Powers of two with units_j ||S_j||_F about 1, (m,)."""
        sizes = self.family.sizes
        return np.ldexp(1.0, -np.frexp(np.where(sizes > 0, sizes, 0.5))[1])

    # -- rows -----------------------------------------------------------------------------------------

    def rows(self, at: Factored) -> RowSlacks:
        """How far all rows are, with bounds on the rounding."""
        (low, high), family = self.ends, self.family
        t, error = adjoint_bounded(family, at.inside)
        error = error + family.sizes * at.lost * ROOM
        finite = np.where(np.isfinite(low), low, 0.0)
        error = error + EPS * (np.abs(t) + np.maximum(np.abs(high), np.abs(finite)))
        above = high - t - error
        below = np.where(np.isfinite(low), t - low, INF) - error
        total, rounding = inner_bounded(self.trace, at.inside)
        rounding += float(np.linalg.norm(self.trace)) * at.lost + EPS
        return RowSlacks(total - 1.0, rounding, high - t, error, above, below)

    def _pulled_back(self, at: Factored, which: np.ndarray) -> np.ndarray:
        """The trace and the S_j for j in ``which``, as units_j F^H S_j F, (1 + k, r, r)."""
        F, every = at.F, slice(0, at.F.shape[1])
        if self.face is None:
            B = self.problem.family.rotated(F, which, every, every)
        else:
            B = F.T @ self.face.family.A[which] @ F
        first = F.conj().T @ self.trace @ F
        return hermitian(np.concatenate([first[None], B * self.units[which][:, None, None]]))

    def epsilon(self, at: Factored, rows: RowSlacks) -> float:
        """||E||_F at most, for a W' of trace one that meets the equalities; inf where none is proved."""
        which = self.equal
        missed = self.units[which] * (np.abs(rows.apart[which]) + rows.error[which])
        missed = np.append(abs(rows.trace) + rows.rounding, missed)
        found = _smallest(self._pulled_back(at, which), missed, self._size(at))
        if found < INF or self.independent is None:
            return found
        family, right = self.independent.family, self.independent.right
        t, error = adjoint_bounded(family, at.inside)
        missed = np.abs(right - t) + error + family.sizes * at.lost * ROOM + EPS * (np.abs(t) + np.abs(right))
        missed += self.independent.rounding * (family.sizes * at.total * ROOM + np.abs(right))
        return _smallest(self.independent.pulled_back(at.F), missed, self._size(at), self.independent.rounding)

    def _size(self, at: Factored) -> float:
        """|| |F|^T |T| |F| ||_F and tr F F^H, whichever is larger: what the rounding of F^H S_j F is relative to."""
        return at.total * (1.0 if self.face is None else max(1.0, float(np.linalg.norm(self.trace))))

    @cached_property
    def independent(self) -> Rows | None:
        """Rows that say what tr W = 1 and the equalities say, where these depend on each other, or nearly; None where
        none are proved.
        """
        family, which = self.family, self.equal
        if len(which) == 0 or self.problem.family.is_complex or not isinstance(family, DenseMap):
            return None
        return Rows.of(np.concatenate([self.trace[None], family.A[which]]), np.append(1.0, self.ends[1][which]))

    @cached_property
    def depends_nearly(self) -> bool:
        """Whether tr W = 1 and the equalities depend on each other, or nearly."""
        family, which = self.family, self.equal
        if len(which) == 0 or not isinstance(family, DenseMap):
            return False
        rows = np.concatenate([self.trace[None], family.A[which]]).reshape(len(which) + 1, -1)
        rows = rows / np.linalg.norm(rows, axis=1)[:, None]
        return approximate_least(np.real(rows.conj() @ rows.T)) < NEARLY**2

    def proves(self, at: Factored, rows: RowSlacks, epsilon: float) -> bool:
        """Whether the inequalities hold at W', where constraints are hard."""
        if not math.isfinite(epsilon):
            return False
        return self.problem.slack is not None or not np.any(self._short(at, rows, epsilon) > 0)

    def _short(self, at: Factored, rows: RowSlacks, epsilon: float) -> np.ndarray:
        """What the inequalities lack of the slack that a W' within epsilon needs, (m,), negative where nothing."""
        needed = self.family.sizes * at.total * epsilon * ROOM
        short = needed - np.minimum(rows.above, rows.below)
        low, high = self.ends
        short[low == high] = -INF
        return np.where(self.trivial, -INF, short)

    # -- the bound ------------------------------------------------------------------------------------

    def proved(self, at: Factored) -> Proved:
        """The bound of F F^H, unmoved."""
        rows = self.rows(at)
        epsilon = self.epsilon(at, rows)
        holds = self.proves(at, rows, epsilon)
        return Proved(at, rows, epsilon, self._value(at, rows, epsilon) if holds else INF)

    def _value(self, at: Factored, rows: RowSlacks, epsilon: float) -> float:
        """What the objective is at most at W'."""
        p, w = self.problem, at.w[at.w > 0]
        parts = w * np.log(w)
        spread = float(np.sum(np.abs(parts)))
        s = epsilon + at.apart + epsilon * at.apart
        entropy = float(np.sum(parts)) + (len(w) + 6) * EPS * spread
        entropy += ROOM * s * (spread + (1 + s) * float(np.sum(w)))
        L, size = p.log_initial, float(np.linalg.norm(p.log_initial))
        linear, error = inner_bounded(L, at.W)
        value = entropy - linear + error + p.log_error
        if self.face is None:
            value += ROOM * size * (at.lost + at.total * epsilon)
        else:
            V = self.face.V
            stretched = float(np.linalg.norm(V)) ** 2
            value += ROOM * size * (stretched * (at.lost + at.total * epsilon) + congruence_error(at.inside, V.T))
        value += 4 * EPS * (abs(entropy) + abs(linear))
        if p.slack is None:
            return value
        missed = np.maximum(0.0, -np.minimum(rows.above, rows.below)) + self.family.sizes * at.total * epsilon * ROOM
        return value + float(p.slack @ np.where(self.trivial, 0.0, missed)) * (1 + (p.m + 4) * EPS)

    # -- moves ----------------------------------------------------------------------------------------

    def near(self, W: np.ndarray) -> Proved | None:
        """What W proves, moved onto the rows that it misses by as little as that takes; None where it does not.

        Moves and the face are looked for while a solve has time; what W proves as it stands is said in any case.
        """
        at: Factored | None = Factored.of(W, self.face)
        best: Proved | None = None
        for _ in range(MOVES + 1):
            if at is None:
                break
            found = self.proved(at)
            if found.upper < (INF if best is None else best.upper):
                best = found
            if (best is not None and found.epsilon <= NEAR) or not there_is_time():
                break
            at = self._step(at, found.rows, found.epsilon)
        if best is not None:
            return best
        if not there_is_time() and "on_face" not in self.__dict__:
            return None
        return None if self.on_face is None else self.on_face.near(W)

    @cached_property
    def on_face(self) -> ProjectionProof | None:
        """The same on the face that the rows leave; None where they leave all dimensions, or that is not proved."""
        face = OnFace.of(self.problem) if self.face is None else None
        return None if face is None else ProjectionProof(self.problem, face)

    def _step(self, at: Factored, rows: RowSlacks, epsilon: float) -> Factored | None:
        """F (I + E) F^H with the smallest E that meets the equalities and the inequalities without slack, or a part of
        E where it is too large for one step.
        """
        near = epsilon if math.isfinite(epsilon) else 0.0
        short = self._short(at, rows, near) if self.problem.slack is None else np.full(len(rows.apart), -INF)
        lacking = np.flatnonzero(short > 0)
        margin = SHARES * (rows.error + self.family.sizes * at.total * max(near, EPS))
        inward = np.where(rows.above <= rows.below, -1.0, 1.0) * (short + margin)
        B, right = self._lacking(at, rows, independently=not epsilon <= NEAR)
        B = np.concatenate([B, self._pulled_back(at, lacking)[1:]])
        right = np.append(right, self.units[lacking] * inward[lacking])
        flat = B.reshape(len(B), -1)
        E = np.tensordot(_solved(np.real(flat.conj() @ flat.T), right), B, axes=1)
        size = float(np.linalg.norm(E))
        if not size < INF:
            return None
        E = E * min(1.0, STEP / size) if size > 0 else E
        inside = at.inside + at.F @ hermitian(E[None])[0] @ at.F.conj().T
        return Factored.of(inside if self.face is None else self.face.V @ inside @ self.face.V.T, self.face)

    def _lacking(self, at: Factored, rows: RowSlacks, independently: bool) -> tuple[np.ndarray, np.ndarray]:
        """(B, r): <B_j, E> = r_j says that the trace and the equalities are met, by either rows."""
        if independently and self.independent is not None:
            rows_here = self.independent
            return rows_here.pulled_back(at.F), rows_here.right - rows_here.family.adjoint(at.inside)
        return self._pulled_back(at, self.equal), np.append(
            -rows.trace, self.units[self.equal] * rows.apart[self.equal]
        )


def _solved(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """G^{-1} r by a Cholesky factor; the smallest solution where G is singular to rounding."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        return np.asarray(cho_solve(cho_factor(gram, check_finite=False), right, check_finite=False))
    except LinAlgError:
        return np.asarray(np.linalg.lstsq(gram, right, rcond=1e-15)[0])


def _smallest(B: np.ndarray, missed: np.ndarray, total: float, rounding: float = 0.0) -> float:
    """||E||_F at most, for an E with <B_j, E> = r_j, |r_j| <= missed_j; inf where none is proved, or it is large.

    The B_j are F^H S_j F for S_j of a Frobenius norm of at most one, known to a part of ``rounding``, with their own
    rounding; tr F F^H <= total.
    """
    kind, d = (2.0 if np.iscomplexobj(B) else 1.0), B.shape[1]
    lost = (kind * (2 * d + 16) * EPS + rounding) * total * math.sqrt(len(B)) * ROOM
    sigma = least_singular_value(*gram_bounded(DenseMap(B))) / ROOM - lost
    found = ROOM * float(np.linalg.norm(missed)) / sigma if sigma > 0 else INF
    return found if found < FARTHEST else INF
