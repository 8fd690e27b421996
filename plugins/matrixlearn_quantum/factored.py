"""Maximum likelihood in factors, rho = A A^H: positive by construction, no decomposition in an iteration.

    min over A in C^{d x d} of    F(A) = ||A||^2 - 1 - sum_k f_k log <E_k, A A^H>,      grad F = 2 (A - R A)

The trace need not be held: t -> F(sqrt(t) A) is least where t ||A||^2 = 1, and there F is f. Along a line the
probabilities are quadratic polynomials,

    <E_k, (A + t D)(A + t D)^H> = p_k + t <E_k, A D^H + D A^H> + t^2 <E_k, D D^H>,

so that a search by their derivative, to any accuracy, takes two transforms and no more; the directions are those of
L-BFGS. With d columns the only stationary points that are not optimal are those where A has lost rank: the
eigenvector u of lambda_max(R) > 1 and a column that A lacks give a direction u v^H of negative curvature out of it.

To a gap of 1e-4 exponentiated gradient takes about as long, the more so the more shots; to 1e-6 it took 4 to 14 times
as long from 3 to 6 qubits (benchmarks/quantum/tomography.py).

References
----------
Burer and Monteiro (2003), the factors; Liu and Nocedal (1989), L-BFGS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal, State
from matrixlearn.engines.mirror import next_check
from matrixlearn.linalg import inner, sym
from matrixlearn.linalg.lbfgs import Memory
from matrixlearn.problems.base import Problem
from matrixlearn_quantum.problem import EPS, StateTomography

MIXED = 1e-2
"""Of I / d, in a state to start from: a column that is zero stays zero, and one that is small takes long to grow."""
TINY = 1e-100
"""Put for a probability that rounding has made zero or less."""
TRIALS = 40
FLAT = 0.1
"""A line search ends where the slope is this part of the first."""
SADDLE = 1e-2
"""The gradient, in units of lambda_max(R) - 1, below which A is taken to have lost rank."""
PATIENCE = 3, 100
"""The round, a multiple of that of the least gap and so many more, at which rounding is taken to have the last word."""


@dataclass(frozen=True, kw_only=True)
class FactorState(State):
    """A factor, what is known at it, and the memory of L-BFGS, oldest first."""

    A: np.ndarray
    p: np.ndarray
    R: np.ndarray
    gradient: np.ndarray
    memory: Memory
    rounds: int = 0
    check_at: int = 4
    least: float = np.inf
    """The least gap at a check so far."""
    since: int = 0
    """The round of that check."""


@dataclass(frozen=True)
class Factored(Engine):
    """L-BFGS on rho = A A^H with exact line searches, and a way out of saddle points.

    Parameters
    ----------
    memory : int
        Pairs that L-BFGS keeps.
    """

    memory: int = 12

    name = "factored"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, StateTomography) else f"{self.name} is for StateTomography problems"

    def init(self, problem: Any, incumbent: Incumbent) -> FactorState:
        rho = problem.spectral_set.center(problem.cost)
        if incumbent.X is not None:
            rho = (1 - MIXED) * incumbent.X + MIXED * rho
        w, V = np.linalg.eigh(rho)
        return FactorState(memory=Memory(self.memory), **_at(problem, V * np.sqrt(np.maximum(w, 0.0))))

    def step(self, problem: Any, state: FactorState, incumbent: Incumbent) -> FactorState:
        state = replace(state, proposals=(), rounds=state.rounds + 1)
        if state.rounds >= state.check_at:
            state = self._checked(problem, state)
        return state if state.finished else self._descended(problem, state)

    def _checked(self, problem: StateTomography, state: FactorState) -> FactorState:
        """The state with something to certify, out of its saddle point where it is at one."""
        w, U = np.linalg.eigh(state.R)
        gap = max(EPS, float(np.log(w[-1] * inner(state.A, state.A))))  # of A A^H / tr
        if gap < 0.9 * state.least:
            state = replace(state, least=gap, since=state.rounds)
        state = replace(state, proposals=_shown(problem, state), check_at=next_check(state.rounds))
        if state.rounds > PATIENCE[0] * state.since + PATIENCE[1]:
            return replace(state, finished=f"no smaller gap since iteration {state.since}: numerical limit")
        if float(np.linalg.norm(state.gradient)) >= SADDLE * (float(w[-1]) - 1):
            return state
        u, v = U[:, -1], np.linalg.eigh(state.A.conj().T @ state.A)[1][:, 0]
        D = np.exp(1j * np.angle(np.vdot(u, state.A @ v))) * np.outer(u, v.conj())  # does not lead upwards
        A = state.A + Line.along(problem, state, D).lowest() * D
        return replace(state, memory=Memory(self.memory), **_at(problem, A))

    def _descended(self, problem: StateTomography, state: FactorState) -> FactorState:
        """One step of L-BFGS, to a point along it that a search by slopes finds."""
        D = _direction(state)
        t = Line.along(problem, state, D).lowest()
        if t == 0:
            if state.memory.pairs:  # perhaps they mislead
                return replace(state, memory=Memory(self.memory))
            return replace(state, proposals=_shown(problem, state), finished="no step descends: numerical limit")
        new = _at(problem, state.A + t * D)
        memory = state.memory.with_step(new["A"] - state.A, new["gradient"] - state.gradient)
        return replace(state, memory=memory, **new)


@dataclass(frozen=True, eq=False)
class Line:
    """F(A + t D) - F(A) = linear t + quadratic t^2 / 2 - sum_k f_k log((p_k + a_k t + b_k t^2) / p_k)."""

    f: np.ndarray
    p: np.ndarray
    a: np.ndarray
    b: np.ndarray
    linear: float
    quadratic: float

    @classmethod
    def along(cls, problem: StateTomography, state: FactorState, D: np.ndarray) -> Line:
        """The line from a state along D."""
        cross = state.A @ D.conj().T
        a, b = problem.probabilities(cross + cross.conj().T), problem.probabilities(D @ D.conj().T)
        return cls(problem.frequencies, state.p, a, b, 2 * inner(state.A, D), 2 * inner(D, D))

    def at(self, t: float) -> tuple[np.ndarray, float, float]:
        """The p_k, and the first and second derivative."""
        p = np.maximum(self.p + t * (self.a + t * self.b), TINY)  # >= 0 but for rounding
        ratio, bend = (self.a + 2 * t * self.b) / p, 2 * self.b / p
        slope = self.linear + self.quadratic * t - float(self.f @ ratio)
        return p, slope, self.quadratic - float(self.f @ bend) + float(self.f @ ratio**2)

    def rise(self, t: float, p: np.ndarray) -> float:
        """F(A + t D) - F(A), for the p_k there."""
        return self.linear * t + self.quadratic * t * t / 2 - float(self.f @ np.log(p / self.p))

    def lowest(self) -> float:
        """t > 0 where the slope is a tenth of that at 0 and F is lower; 0 where rounding hides it.

        Newton's method on the slope from t = 1, kept between the ends of a bracket.
        """
        _, first, bend = self.at(0.0)
        if first > 0:
            return 0.0
        flat = FLAT * abs(first) if first < 0 else 1e-8 * abs(bend)
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(TRIALS):
            p, slope, bend = self.at(t)
            if (
                slope >= -flat
                and self.linear * t + self.quadratic * t * t / 2 - float(self.f @ np.log(p / self.p)) > EPS
            ):
                high = t  # beyond a ridge
            elif abs(slope) <= flat:
                return t
            elif slope < 0:
                low = t
            else:
                high = t
            t = t - slope / bend if bend > 0 else np.inf
            if not low < t < min(high, 4 * low + 1):
                t = (low + high) / 2 if high < np.inf else 2 * low + 1
        return low


def _at(problem: StateTomography, A: np.ndarray) -> dict[str, Any]:
    """A factor, the probabilities of A A^H, R there, and the gradient."""
    p = np.maximum(problem.probabilities(A @ A.conj().T), TINY)
    R = problem.operator(problem.frequencies / p)
    return {"A": A, "p": p, "R": R, "gradient": 2 * (A - R @ A)}


def _shown(problem: StateTomography, state: FactorState) -> tuple[Proposal, ...]:
    return (Proposal(X=_matrix(state.A), y=problem.multipliers_at(state.p)),)


def _direction(state: FactorState) -> np.ndarray:
    """That of L-BFGS; where the memory does not descend, the gradient.  Its size is twice R - I, with R near I."""
    q = state.memory.times(state.gradient, 0.25)
    return -q if inner(state.gradient, q) > 0 else -state.gradient / 4


def _matrix(A: np.ndarray) -> np.ndarray:
    """A A^H / tr, mixed with as much of I as rounding may take from its eigenvalues, so that Cholesky proves it > 0."""
    d = len(A)
    rho = sym(A @ A.conj().T)
    rho /= float(np.trace(rho).real)
    rho[np.diag_indices(d)] += 4 * d * EPS
    return rho / (1 + 4 * d * d * EPS)
