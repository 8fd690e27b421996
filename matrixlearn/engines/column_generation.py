"""Column generation: the interior point on few of the columns, and all of them priced exactly.

    restricted   v_I = min over y in Y with y_j at a bound for j outside I   >=  v       (`Game.at`)
    pricing      r_j = c_j - <A_j, X> + theta w_j for every j, X the restricted matrix, theta the multiplier of its row

A y of the restricted game is a point of Y and its X a point of S: both are certified for the whole game, so that the
gap is the true one. A column at its lower bound with r_j < 0, or at its upper one with r_j > 0, improves the restricted
game; where there is none, min over Y of (c - A*(X)).y is attained on the face that I moves in, so that X proves of v
what it proves of v_I. Hence the loop: interior-point iterations until the restricted gap is a fraction ``closeness`` of
the true one, then pricing; the worst columns join I, a share ``growth`` of what it holds. Columns that have come close
to a bound leave, but only when the true gap has fallen by a tenth since: no I returns.

Where columns joined or left, the next interior point starts from ``warmth`` of the last one and the rest of a cold
start: S is linear in (y, t), so that both sides stay positive definite. Capped weights need nothing more: y_j at a cap
is a column outside I like another.

A discrepancy has few active points, however many points there are; memory is that of the points and of I x I.

References
----------
Gondzio, Gonzalez-Brevis and Munari (2013), the primal-dual column generation method; Skajaa, Andersen and Ye (2013),
the warm start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from matrixlearn.engines.base import GameEngine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.interior_point import InteriorPoint
from matrixlearn.engines.interior_state import InteriorState, mixed
from matrixlearn.engines.newton import lacking_interior
from matrixlearn.problems.blocks import assembled, semidefinite_blocks
from matrixlearn.problems.game import Game
from matrixlearn.problems.played import Played

AHEAD_FROM, AHEAD_PER_DIMENSION = 400, 3
"""Columns from which it was ahead of interior-point on all of them, and how many for each dimension: level at 400 x 20,
1.3 to 1.7 times at 450 x 150 and 300 x 60, ten times at 1500 x 150; at 300 x 150 and 200 x 20 it lost, at 200 x 5 by
half (benchmarks/engines/column_generation.py --crossover)."""

NEAR = 1e-3
"""A column leaves I where its distance to a bound is below this part of the largest one in I."""

PATIENCE = 30
"""Pricings in which the true gap does not fall by a tenth, after which no more is expected."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Some columns of a game, and the restricted game in which only their y_j vary.

    Parameters
    ----------
    whole : Game
    index : ndarray of int, shape (k,)
        The coordinates that move.
    fixed : ndarray, shape (m,)
        The values of the others.
    """

    whole: Game
    index: np.ndarray
    fixed: np.ndarray

    @cached_property
    def game(self) -> Game:
        """The restricted game."""
        return self.whole.at(self.index, self.fixed)

    def embedded(self, y: np.ndarray) -> np.ndarray:
        """The point of Y that y, (k,), stands for, (m,)."""
        out = self.fixed.copy()
        out[self.index] = y
        return out


@dataclass(frozen=True, kw_only=True)
class ColumnState(State):
    """A restricted game, the interior point in it, and what is known of it."""

    columns: Columns
    inner: InteriorState
    known: Incumbent
    """Bounds of the restricted game."""
    warm: bool = False
    """Whether the interior point started from an earlier one."""
    width: float = np.inf
    """upper - lower of the whole game when it last fell by a tenth."""
    idle: int = 0
    """Pricings since."""


@dataclass(frozen=True)
class ColumnGeneration(GameEngine):
    """Interior point on few columns with exact pricing, for games with many columns and few active ones.

    Parameters
    ----------
    inner : InteriorPoint
    closeness : float
        Price when the restricted gap is this fraction of the true one.
    growth : float
        Columns that join, as a share of those that are there.
    warmth : float
        Share of the last interior point in the next one's start.
    """

    inner: InteriorPoint = field(default_factory=InteriorPoint)
    closeness: float = 0.3
    growth: float = 0.3
    warmth: float = 0.95

    name = "column-generation"

    def objection_to(self, game: Game) -> str:
        return super().objection_to(game) or lacking_interior(self.name, game)

    def preferred(self, game: Game, tol: float) -> str:
        Y, n = game.Y, game.S.n
        on_simplex = Y.weights is not None and Y.row_lower == Y.row_upper
        if not on_simplex or Y.size < max(AHEAD_PER_DIMENSION * n, AHEAD_FROM):
            return ""
        return (
            f"measured ahead of interior-point for weights on a simplex from m = {AHEAD_FROM} on, where m is at least "
            f"{AHEAD_PER_DIMENSION} times the dimension n; here m = {Y.size}, n = {n}"
        )

    def init(self, game: Game, incumbent: Incumbent) -> ColumnState:
        index, y = _first_columns(game, incumbent)
        return self._cold(Columns(game, index, y))

    def _cold(self, columns: Columns) -> ColumnState:
        known = Incumbent(Played(columns.game))
        return ColumnState(columns=columns, inner=self.inner.init(columns.game, known), known=known)

    def step(self, game: Game, state: ColumnState, incumbent: Incumbent) -> ColumnState:
        inner = self.inner.step(state.columns.game, state.inner, state.known)
        known = state.known
        for proposal in inner.proposals:
            known = known.shown(proposal)
        state = replace(state, inner=inner, known=known, proposals=())
        if known.X is None or known.y is None:  # no step was possible from this start
            return self._restarted(state)
        hidden = self.closeness * (incumbent.upper - incumbent.lower)
        if not inner.finished and known.upper - known.lower > hidden:
            return state
        return self._priced(game, state, state.columns.embedded(known.y), incumbent)

    def _restarted(self, state: ColumnState) -> ColumnState:
        """The state after a cold start, where the interior point failed from a warm one."""
        if not state.warm:
            return replace(state, finished=state.inner.finished)
        cold = self._cold(state.columns)
        return replace(state, inner=cold.inner, known=cold.known, warm=False)

    # -- pricing ----------------------------------------------------------------------------------

    def _priced(self, game: Game, state: ColumnState, best: np.ndarray, incumbent: Incumbent) -> ColumnState:
        """The certificate of the whole game, the columns that join, and those that leave."""
        columns = state.columns
        width = incumbent.upper - incumbent.lower
        progress = width < 0.9 * state.width
        state = replace(
            state,
            proposals=(Proposal(X=state.known.X, y=best),),
            width=width if progress else state.width,
            idle=0 if progress else state.idle + 1,
        )
        if width <= 4 * game.rounding(best):
            return replace(state, finished="the bounds differ by their allowance for rounding: numerical limit")
        if state.idle > PATIENCE:
            return replace(state, finished=f"the gap has not moved for {PATIENCE} pricings: numerical limit")
        reduced = self._reduced_costs(game, state)
        joining = self._joining(columns, reduced)
        y = columns.embedded(state.inner.y)
        staying = columns.index
        if progress:
            staying, y = self._staying(columns, y)
        if len(joining) == 0 and state.inner.finished:
            return self._restarted(state)
        if len(joining) == 0 and len(staying) > 0.7 * len(columns.index):  # not worth another start
            return state
        return self._moved_to(game, state, np.union1d(staying, joining), y, reduced)

    @staticmethod
    def _reduced_costs(game: Game, state: ColumnState) -> np.ndarray:
        """The reduced costs r, (m,)."""
        Y, scalars = game.Y, state.inner.scalars
        assert scalars is not None
        prices = game.prices(assembled(semidefinite_blocks(state.columns.game), state.inner.X, game.S.n))
        return prices if Y.weights is None else prices + scalars.theta * Y.weights

    def _joining(self, columns: Columns, reduced: np.ndarray) -> np.ndarray:
        """The columns outside I that gain most, a unit of the row."""
        Y, n = columns.whole.Y, columns.whole.S.n
        gain = np.where(columns.fixed <= Y.lower, -reduced, reduced) / (1.0 if Y.weights is None else Y.weights)
        gain[columns.index] = 0.0
        gain[Y.lower == Y.upper] = 0.0
        better = np.flatnonzero(gain > 0)
        most = max(int(self.growth * max(len(columns.index), n)), 1)
        return better[np.argsort(-gain[better], kind="stable")[:most]]

    def _staying(self, columns: Columns, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(columns of I that are not close to a bound, y with the others put there); all where too few would move."""
        index, Y = columns.index, columns.whole.Y
        below, above = y[index] - Y.lower[index], Y.upper[index] - y[index]
        distance = np.minimum(below, above)
        near = distance < NEAR * np.max(distance)
        out = y.copy()
        out[index[near]] = np.where(below < above, Y.lower[index], Y.upper[index])[near]
        staying = index[~near]
        if len(staying) < 2 or lacking_interior(self.name, columns.whole.at(staying, out)):
            return index, y
        return staying, out

    def _moved_to(
        self, game: Game, state: ColumnState, index: np.ndarray, y: np.ndarray, reduced: np.ndarray
    ) -> ColumnState:
        """The state on other columns: ``warmth`` of the last interior point, the rest a cold start."""
        before, columns = state.columns, Columns(game, index, y)
        cold = self._cold(columns)
        state = replace(state, known=cold.known, columns=columns)
        if state.inner.finished:
            return replace(state, inner=cold.inner, warm=False)
        return replace(state, inner=self._mixed(before, state.inner, columns, cold.inner, y, reduced), warm=True)

    def _mixed(
        self,
        before: Columns,
        last: InteriorState,
        columns: Columns,
        first: InteriorState,
        y: np.ndarray,
        reduced: np.ndarray,
    ) -> InteriorState:
        """The convex combination of two strictly feasible points; a new column's multiplier is its reduced cost."""
        index, old = columns.index, last.scalars
        assert old is not None
        p, q = np.maximum(reduced, 0.0), np.maximum(-reduced, 0.0)
        p[before.index], q[before.index[before.game.Y.capped]] = old.p, old.q
        here = replace(last, y=y[index], scalars=replace(old, p=p[index], q=q[index[columns.game.Y.capped]]))
        return mixed(here, first, self.warmth)


def _first_columns(game: Game, incumbent: Incumbent) -> tuple[np.ndarray, np.ndarray]:
    """(I, y with the other columns at bounds): the support of the best y where that is small; else those about the
    margin of the cheapest y for the prices of the best X, and as many spread evenly.
    """
    Y, n = game.Y, game.S.n
    prices = game.c if incumbent.X is None else game.prices(incumbent.X)
    y = incumbent.y
    if y is None or 2 * np.count_nonzero((Y.lower < y) & (y < Y.upper)) > Y.size:
        y = Y.minimize(prices)[1]
    order = np.argsort(prices if Y.weights is None else prices / Y.weights, kind="stable")
    margin = int(np.count_nonzero((y >= Y.upper) & (Y.lower < Y.upper)))
    half = max(n, 8) // 2 + 1
    near = order[max(0, margin - half) : margin + half]
    spread = np.arange(0, Y.size, max(1, Y.size // (2 * half)))
    inside = np.flatnonzero((Y.lower < y) & (y < Y.upper))
    return np.unique(np.concatenate([near, spread, inside])), y
