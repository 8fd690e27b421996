"""Low-rank factors (Burer and Monteiro) for games on correlation matrices.

    max <C, X>,  X_ii = 1,  X >= 0      with   X = V V^T,  V in R^{n x r},  ||v_i|| = 1

The rows of V live on spheres; f(V) = -<C V, V> is minimized on their product by L-BFGS (differences of gradients
moved to the new tangent space by projection, retraction by normalizing rows). Work per step: one product of C with
r vectors, sparse where ``cost_operator`` is, and vector operations.

The KKT conditions give the multipliers: S V = 0 for S = Diag(y) - C >= 0, so that

    y_i = (C V)_i . v_i,        f'(V)_i = 2 (y_i v_i - (C V)_i),

and y is certified like any other: v <= sum y + n lambda_max(C - Diag y). A stationary V with S >= 0 is optimal; where
lambda_max(C - Diag y) > 0 with the eigenvector u instead, [V, s u] with the rows normalized is a direction of negative
curvature, so that V is a saddle point (or the rank too low) and the rank grows by that column. For r (r + 1) / 2 > n
and almost all C there are no other stationary points than optimal ones (Boumal, Voroninski and Bandeira, 2016);
``rank`` starts at half of that, which measured the same iterations at half the cost. At r = n none is left.

The contract is `UnitDiagonalProblem`: the engine uses its ``cost_operator`` and nothing else of it. Real, NumPy and
SciPy only.

References
----------
Burer and Monteiro (2003); Barvinok (1995) and Pataki (1998), the rank; Wang and Kolter (2017), the mixing method;
Absil, Mahony and Sepulchre (2008), retractions and transport.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.engines.base import Engine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.linalg.largest import guess_largest, row_sum_norm
from matrixlearn.linalg.lbfgs import Memory
from matrixlearn.problems.base import Problem
from matrixlearn.problems.unit_diagonal import UnitDiagonalProblem, unit_rows

FIRST_CHECK, GROWTH = 40, 1.5
"""Steps before the first certificate, and their growth from one to the next: one costs as much as 50 steps on G11."""

ENTRIES, LEAST_RANK = 2**22, 16
"""Of a first factor, where ``rank`` is not given: L-BFGS keeps 20 of its size, 32 MB each."""

FIRST_WARM_CHECK = 10
"""The same, from an earlier answer."""

WARM_NOISE = 1e-6
"""Of a random V, that is added to an earlier one: from a saddle point no gradient leads away."""

AHEAD_FROM = 100
"""Size from which it was ahead of interior-point at every tol down to 1e-8, on sparse and on complete graphs: 3.3 and
2.4 times at n = 100 and tol = 1e-3, 17 and 4.3 at 400, 1.3 at the least (benchmarks/engines/all.py --crossover)."""


@dataclass(frozen=True, kw_only=True)
class FactorState(State):
    """A point on the product of spheres, and the memory of L-BFGS."""

    C: Any
    V: np.ndarray
    y: np.ndarray
    f: float
    gradient: np.ndarray
    memory: Memory
    length: float
    """The step along the gradient while there is no memory: 1 / (4 ||C||)."""
    rounds: int = 0
    check_at: int = FIRST_CHECK
    shown: float = math.inf
    """The residual of S V = 0, a row, at the last certificate."""
    least: float = math.inf
    """The least norm of the gradient so far."""
    idle: int = 0
    """Rounds since it fell by a tenth."""


@dataclass(frozen=True)
class LowRank(Engine):
    """Burer-Monteiro factors with certified multipliers, for a `UnitDiagonalProblem`.

    Parameters
    ----------
    rank : int, optional
        Columns to start with; about sqrt(n / 2) by default, fewer from 40,000 rows on. Grows at saddle points.
    memory : int
        Pairs that L-BFGS keeps.
    seed : int
        Of the first V, where no better point is known.
    """

    rank: int | None = None
    memory: int = 10
    seed: int = 0

    name = "low-rank"

    def objection(self, problem: Problem) -> str:
        if not isinstance(problem, UnitDiagonalProblem):
            return "low-rank solves max <C, X> with X_ii = 1: subclass matrixlearn.problems.UnitDiagonalProblem"
        return ""

    def preferred(self, problem: UnitDiagonalProblem, tol: float) -> str:
        if problem.size < AHEAD_FROM or tol < 1e-8:
            return ""
        return f"measured ahead of interior-point on unit diagonals from n = {AHEAD_FROM} on, down to tol = 1e-8"

    def init(self, problem: UnitDiagonalProblem, incumbent: Incumbent) -> FactorState:
        n, C = problem.size, problem.cost_operator
        r = min(n, self.rank or min(math.ceil(math.sqrt(n / 2)) + 1, max(LEAST_RANK, ENTRIES // n)))
        V = unit_rows(np.random.default_rng(self.seed).standard_normal((n, r)))
        length = 1.0 / (4 * row_sum_norm(C) or 1.0)
        cold = FactorState(C=C, V=V, length=length, memory=Memory(self.memory), **_at(C, V))
        known = _factor_of(incumbent.hint.X, n, r)
        if known is None:
            return cold
        V = unit_rows(known + WARM_NOISE * V if known.shape == V.shape else known)
        warm = replace(cold, V=V, check_at=FIRST_WARM_CHECK, **_at(C, V))
        return warm if warm.f < cold.f else cold

    def step(self, problem: UnitDiagonalProblem, state: FactorState, incumbent: Incumbent) -> FactorState:
        state = self._descended(state)
        if state.rounds < state.check_at and not state.finished:
            return state
        shown = replace(
            state,
            proposals=(Proposal(X=FactoredMatrix(state.V), y=problem.game.Y.project(state.y)),),
            check_at=int(GROWTH * state.rounds) + 1,
        )
        return self._grown(problem, shown, incumbent)

    # -- descent ----------------------------------------------------------------------------------

    def _descended(self, state: FactorState) -> FactorState:
        """One step of L-BFGS with backtracking."""
        direction = -_tangent(state.memory.times(state.gradient, state.length), state.V)
        slope = float(np.vdot(state.gradient, direction))
        if not slope < 0:
            state = replace(state, memory=Memory(self.memory))
            direction = -state.length * state.gradient
            slope = float(np.vdot(state.gradient, direction))
        allowance = 8 * EPS * abs(state.f)  # f cannot tell smaller steps, its gradient can
        t = 1.0
        for _ in range(30):
            V = unit_rows(state.V + t * direction)
            new = replace(state, V=V, **_at(state.C, V))
            if new.f <= state.f + 1e-4 * t * slope + allowance:
                break
            t /= 2
        else:
            return replace(state, proposals=(), rounds=state.rounds + 1, finished="no step descends: numerical limit")
        norm = float(np.linalg.norm(new.gradient))
        progress = norm < 0.9 * state.least
        return replace(
            new,
            proposals=(),
            memory=state.memory.with_step(
                _tangent(new.V - state.V, new.V), new.gradient - _tangent(state.gradient, new.V)
            ),
            rounds=state.rounds + 1,
            least=norm if progress else state.least,
            idle=0 if progress else state.idle + 1,
        )

    # -- saddle points ----------------------------------------------------------------------------

    def _grown(self, problem: UnitDiagonalProblem, state: FactorState, incumbent: Incumbent) -> FactorState:
        """One more column where V is as good as stationary and the bounds are apart; the end where they cannot meet."""
        n, r = state.V.shape
        if incumbent.upper - incumbent.lower <= 4 * problem.game.rounding(state.y):
            return replace(state, finished="the bounds differ by their allowance for rounding: numerical limit")
        residual = float(np.linalg.norm(state.gradient)) / (2 * math.sqrt(n))
        stationary = state.shown <= 0.1 * (incumbent.upper - incumbent.lower) / n  # both of the last certificate
        state = replace(state, shown=residual)
        if stationary and r < n:
            largest, u = guess_largest(problem.shifted_operator(state.y))
            if largest > 10 * residual:
                V = unit_rows(np.column_stack([state.V, 0.5 * u]))
                return replace(
                    state, V=V, memory=Memory(self.memory), shown=math.inf, least=math.inf, idle=0, **_at(state.C, V)
                )
        if state.idle > 200:
            return replace(state, finished=f"the gradient has not fallen for {state.idle} steps: numerical limit")
        return state


def _factor_of(X: Any, n: int, r: int) -> np.ndarray | None:
    """V with V V^T about X, of r columns or of as many as the factor of X has; None where X is of another kind."""
    if isinstance(X, FactoredMatrix):
        V = np.asarray(X.factor)
    elif isinstance(X, np.ndarray) and X.shape == (n, n) and not np.iscomplexobj(X) and np.isfinite(X).all():
        w, U = np.linalg.eigh((X + X.T) / 2)
        V = U[:, -r:] * np.sqrt(np.maximum(w[-r:], 0.0))
    else:
        return None
    if V.shape[0] != n or np.iscomplexobj(V) or not np.isfinite(V).all():
        return None
    return np.pad(V, ((0, 0), (0, max(0, r - V.shape[1]))))


def _tangent(D: np.ndarray, V: np.ndarray) -> np.ndarray:
    """D without its components along the rows of V."""
    return D - np.einsum("ij,ij->i", D, V)[:, None] * V


def _at(C: Any, V: np.ndarray) -> dict[str, Any]:
    """Multipliers, value and gradient at V."""
    CV = np.asarray(C @ V)
    y = np.einsum("ij,ij->i", CV, V)
    return {"y": y, "f": -float(y.sum()), "gradient": 2 * (y[:, None] * V - CV)}
