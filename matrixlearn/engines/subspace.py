"""Cutting surfaces: the interior point on a small subspace for the matrix, which grows by eigenvectors.

    compressed   v_V = min over y in Y  max over W in S_r  of the game of V^H (C - A(y)) V   <=  v
    cut          the extreme eigenvectors of C - A(y) at its y join V:  v <= c.y + sigma_S(C - A(y))

The mirror image of column generation, on `Game.compressed`. Every X = V W V^H is a point of S and every y one of
Y: both are certified for the whole game, so that the gap is the true one. Where no eigenvector beyond V is extreme,
sigma_S(C - A(y)) is that of the compression, and v_V = v. An optimal X has a low rank r* with r* (r* + 1) / 2 <= m + 1
(Barvinok, Pataki), far less on real data (1 + 1 for reviews in 1500 dimensions): V holds a few vectors for each, and
the matrices of order n are multiplied and not factorized.

The interior point stops when its own gap is a fraction ``closeness`` of the true one: its y is then near the analytic
centre of the good y, away from the corners where Kelley's cutting planes swing; a vertex of the compressed game would
leave more eigenvalues out of bounds. Vectors join before they are needed: those whose eigenvalue is within
``reach`` of the value, up to ``vectors`` for each end of the spectrum. They need not be accurate, and come from
Lanczos at size. The next round starts from ``warmth`` of the last interior point, blkdiag(X, 0) and t raised to what
the new directions ask for, and the rest of a cold start: a convex combination of a feasible and a strictly feasible
point is strictly feasible (20 iterations instead of 43 to 1e-3 on reviews in 300 dimensions, 29 instead of 93 to 1e-6).
y and X are proposed when the Ritz values promise to halve the certified gap: a certificate costs as much as a round,
with all eigenvalues of two matrices.

References
----------
Kelley (1960); Helmberg and Rendl (2000), the spectral bundle method; Oskoorouchi and Goffin (2003), Krishnan and
Mitchell (2006), semidefinite cuts and interior points.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, columns, namespace, zeros
from matrixlearn.engines.base import GameEngine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal, updated
from matrixlearn.engines.interior_point import InteriorPoint
from matrixlearn.engines.interior_state import InteriorState, mixed
from matrixlearn.engines.newton import lacking_interior
from matrixlearn.engines.saddle import rounded_out
from matrixlearn.linalg import adjoint, congruence, eigh
from matrixlearn.linalg.largest import extreme_pairs
from matrixlearn.maps import RankOneMap
from matrixlearn.problems.game import Game
from matrixlearn.problems.played import Played
from matrixlearn.typing import Array

AHEAD_FROM, AHEAD_FROM_TIGHT = 250, 500
"""Dimensions from which it is ahead of interior-point on rank-one games, to 1e-3 and to smaller gaps: 1.1 times as fast
at 250 and 1.7 at 400 to 1e-3, level at 300 and 400 and 1.4 times at 500 to 1e-6 (benchmarks/engines/large.py, with
``--crossover --tol``).
"""

SEEN = 1e-6
"""Part of the largest eigenvalue of an earlier answer from which its vectors join the first subspace."""

PATIENCE = 30
"""Rounds in which the gap does not fall by a tenth, after which no more is expected."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A subspace for the matrix of a game, and the game on it.

    Parameters
    ----------
    whole : Game
    V : array, shape (n, r)
        Orthonormal columns.
    """

    whole: Game
    V: Array

    @cached_property
    def game(self) -> Game:
        """The compressed game."""
        return self.whole.compressed(self.V)

    def expanded(self, W: Array) -> Array:
        """X = V W V^H."""
        return congruence(W, adjoint(self.V))


@dataclass(frozen=True, kw_only=True)
class SubspaceState(State):
    """A compressed game, the interior point in it, and the best points so far."""

    frame: Frame
    inner: InteriorState
    known: Incumbent
    """Bounds of the compressed game."""
    y: np.ndarray | None = None
    """The y of the least ``upper``."""
    upper: float = np.inf
    """The value at y that the Ritz values promise."""
    lower: float = -np.inf
    W: Array = None
    """The matrix that proves ``lower``, in the coordinates of ``basis``."""
    basis: Frame
    width: float = np.inf
    """upper - lower when it last fell by a tenth."""
    idle: int = 0
    """Rounds since."""
    warm: bool = False
    """Whether the interior point started from the last one."""


@dataclass(frozen=True)
class Subspace(GameEngine):
    """Interior point on a growing subspace, for games with large matrices and an optimal X of low rank.

    Parameters
    ----------
    inner : InteriorPoint
    closeness : float
        A round ends when the compressed gap is this fraction of the true one.
    vectors : int, optional
        Eigenvectors of each end that may join in a round; a hundredth of the dimension by default, and at least 10.
    reach : float
        How large their eigenvalue must be, as a fraction of the value.
    warmth : float
        Where a round starts: so much of the last interior point, and the rest of a cold start.
    """

    inner: InteriorPoint = field(default_factory=InteriorPoint)
    closeness: float = 0.3
    vectors: int | None = None
    reach: float = 0.2
    warmth: float = 0.95

    name = "subspace"

    def objection_to(self, game: Game) -> str:
        return super().objection_to(game) or lacking_interior(self.name, game)

    def preferred(self, game: Game, tol: float) -> str:
        n = game.S.n
        needed = AHEAD_FROM if tol >= 1e-3 else AHEAD_FROM_TIGHT
        if n < needed or tol < 1e-6 or not isinstance(game.A.at(np.arange(1)), RankOneMap):
            return ""
        return f"measured ahead of interior-point for rank-one matrices from n = {needed} on at this tol; here n = {n}"

    def remarks(self, state: SubspaceState) -> str:
        n, r = state.frame.V.shape
        return f"the matrix was sought in a subspace of {r} of {n} dimensions"

    def init(self, game: Game, incumbent: Incumbent) -> SubspaceState:
        y = game.Y.center() if incumbent.y is None else incumbent.y
        values, V = self._extreme(game, y)
        frame, hint = Frame(game, V), incumbent.hint
        if hint.X is None or hint.y is None:
            return SubspaceState(basis=frame, **self._cold(frame))
        w, U = eigh(hint.X)
        sizes = np.abs(as_numpy(w))
        frame = _enlarged(frame, columns(U, np.flatnonzero(sizes > SEEN * float(sizes.max(initial=0.0)))))
        known = Incumbent(Played(frame.game), hint=Proposal(congruence(hint.X, frame.V), hint.y))
        return SubspaceState(frame=frame, basis=frame, known=known, inner=self.inner.init(frame.game, known))

    def _cold(self, frame: Frame) -> dict[str, Any]:
        """The state at a cold start in a subspace."""
        known = Incumbent(Played(frame.game))
        return {"frame": frame, "inner": self.inner.init(frame.game, known), "known": known, "warm": False}

    def _warm(self, state: SubspaceState, frame: Frame) -> SubspaceState:
        """On a larger subspace, from a convex combination of two strictly feasible points: the last one, its X without
        weight on the new directions and its t raised to what they ask for, and a cold start.
        """
        last, cold = state.inner, self._cold(frame)
        game, S = frame.game, frame.game.S
        t = max(last.t, S.support(game.image(last.y)) / S.trace)
        bordered = replace(last, X=tuple(_bordered(X, S.n) for X in last.X), t=t)
        return replace(state, **cold | {"inner": mixed(bordered, cold["inner"], self.warmth), "warm": True})

    def _extreme(self, game: Game, y: np.ndarray) -> tuple[np.ndarray, Array]:
        """Eigenvalues at the ends of the spectrum of C - A(y) that S sees, and their vectors."""
        k = self.vectors or max(10, game.S.n // 100)
        return extreme_pairs(game.image(y), k, both=-1 in game.S.signs)

    def step(self, game: Game, state: SubspaceState, incumbent: Incumbent) -> SubspaceState:
        inner = self.inner.step(state.frame.game, state.inner, state.known)
        known = state.known
        for proposal in inner.proposals:
            known = known.shown(proposal)
        state = updated(state, inner=inner, known=known, proposals=())
        if known.X is None or known.y is None:  # no step was possible
            return replace(state, **self._cold(state.frame) if state.warm else {"finished": inner.finished})
        if finished := rounded_out(game, known.y, incumbent):
            return replace(state, finished=finished)
        hidden = self.closeness * min(incumbent.upper - incumbent.lower, state.upper - state.lower)
        if not inner.finished and known.upper - known.lower > hidden:
            return state
        return self._cut(game, state, known.y, incumbent)

    def _cut(self, game: Game, state: SubspaceState, y: np.ndarray, incumbent: Incumbent) -> SubspaceState:
        """The bounds of this round, and the eigenvectors that enlarge the subspace."""
        known, S = state.known, game.S
        if state.upper < incumbent.upper and state.y is incumbent.y:  # a Ritz value promised too much
            state = replace(state, upper=incumbent.upper)
        values, vectors = self._extreme(game, y)
        upper = float(game.c @ y) + S.support_of(namespace(vectors).asarray(values))
        if upper < state.upper:
            state = replace(state, upper=upper, y=y)
        if known.lower > state.lower:
            state = replace(state, lower=known.lower, W=known.X, basis=state.frame)
        width = state.upper - state.lower
        progress = width < 0.9 * state.width
        state = replace(state, width=width if progress else state.width, idle=0 if progress else state.idle + 1)
        level = max(0.0, self.reach * (state.lower - float(game.c @ y)) / S.trace)
        frame = _enlarged(state.frame, columns(vectors, np.flatnonzero(np.abs(values) > level)))
        if state.inner.finished and frame is state.frame and state.warm:  # the warm start was at fault
            return replace(state, **self._cold(frame))
        exhausted = state.inner.finished and frame is state.frame
        late = state.idle > PATIENCE
        if width <= 0.5 * (incumbent.upper - incumbent.lower) or exhausted or late:
            state = replace(state, proposals=(Proposal(X=state.basis.expanded(state.W), y=state.y),))
        if exhausted or late:
            why = f"the gap has not moved for {PATIENCE} rounds: numerical limit" if late else state.inner.finished
            return replace(state, finished=why)
        if frame is state.frame:
            return state
        return replace(state, **self._cold(frame)) if state.inner.finished else self._warm(state, frame)


def _bordered(X: Array, n: int) -> Array:
    """X with zero rows and columns after its own, n of either."""
    out = zeros((n, n), X)
    out[: X.shape[0], : X.shape[0]] = X
    return out


def _enlarged(frame: Frame, vectors: Array) -> Frame:
    """The subspace with the span of more vectors; itself where they bring nothing new."""
    V, xp = frame.V, namespace(frame.V)
    for _ in range(2):  # twice is enough
        vectors = vectors - V @ (adjoint(V) @ vectors)
    if vectors.shape[1] == 0 or V.shape[0] == V.shape[1]:
        return frame
    fresh, sizes, _ = xp.linalg.svd(vectors, full_matrices=False)
    fresh = columns(fresh, np.flatnonzero(as_numpy(sizes) > 1e-6))
    if fresh.shape[1] == 0:
        return frame
    fresh = xp.linalg.qr(fresh - V @ (adjoint(V) @ fresh))[0]
    return Frame(frame.whole, xp.concat([V, fresh], axis=1))
