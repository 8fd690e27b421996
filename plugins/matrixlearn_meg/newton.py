"""A primal-dual interior point for `MEGRegression`: Newton's method on its central path.

    min f(W) = sum_t c_t l(p_t, y_t),  p = A(W),    tr W = 1,  W >= 0
    max lambda - sum_t c_t l*(u_t / c_t, y_t),      S = A*(u) - lambda I >= 0

Every iterate has W, S > 0 and tr W = 1; W S -> mu I, u_t -> c_t l'(p_t) and mu -> 0 at once, by Mehrotra's predictor
and corrector. At a corner of l its derivative is any number between two: u is a variable with bounds of its own
(`links`) and not a function of p, which would multiply the rounding of p by 1 / mu. In the scaling R of Nesterov and
Todd, R^H S R = R^{-1} W R^{-H} = D, a step is

    w + s = K,    s = R^H (A*(du) - dlambda I) R,    du = beta (A(dW) + h),    dW = R w R^H,    tr dW = 0,

K_ij = 2 (sigma mu I - D^2 - second order)_ij / (D_i + D_j). What is left is one positive definite system, of order T
or d (d + 1) / 2 (`systems`).

References
----------
Nesterov and Todd (1997); Todd, Toh and Tutuncu (1998); Mehrotra (1992).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal, State
from matrixlearn.engines.warm import CENTRED, raised_block
from matrixlearn.linalg import cholesky, congruence, inner, sym, trace
from matrixlearn.problems import Problem
from matrixlearn_meg.links import Change, Link, link_at, link_of
from matrixlearn_meg.orthogonal import Orthogonal
from matrixlearn_meg.problem import MEGRegression
from matrixlearn_meg.systems import System, system_at

CLOSEST = 0.98
"""The fraction of the way to the boundary that a step may go."""
NOISE = 1e-8
"""What rounding may leave of an equation, relative to its right side, before more care is taken."""
WORTH = 0.3
"""The part of the cold start's mu below which a warm one is worth it."""
INWARD = 1e-12
"""The part of its range that each u keeps from the ends."""
PATIENCE = 8
"""Iterations without progress after which more cannot be expected of double precision."""


@dataclass(frozen=True, kw_only=True)
class NewtonState(State):
    """A strictly feasible pair W, S, with u and what its link to p needs."""

    W: np.ndarray
    shift: float
    """lambda."""
    link: Link
    width: float = np.inf
    """The certified gap at the last progress."""
    idle: int = 0

    def mu(self, problem: MEGRegression) -> float:
        """The mean of the products that must fall."""
        products = inner(self.W, problem.stack.apply(self.link.u)) - self.shift + self.link.complementarity
        return float(products) / (problem.d + self.link.pairs)


@dataclass(frozen=True, eq=False)
class Scaling:
    """R with R^H S R = R^{-1} W R^{-H} = diag(D)."""

    R: np.ndarray
    D: np.ndarray

    @classmethod
    def of(cls, W: np.ndarray, S: np.ndarray) -> Scaling | None:
        """None where W or S is not positive definite to working precision."""
        L, M = cholesky(W), cholesky(S)
        if L is None or M is None:
            return None
        _, D, Vh = np.linalg.svd(M.conj().T @ L)
        return cls((L @ Vh.conj().T) / np.sqrt(D), D) if D[-1] > 0 else None

    def inside(self, S: np.ndarray) -> np.ndarray:
        """R^H S R."""
        return congruence(S, self.R)

    def outside(self, w: np.ndarray) -> np.ndarray:
        """R w R^H."""
        return congruence(w, self.R.conj().T)

    def room(self, change: np.ndarray) -> float:
        """The largest step with D + step change >= 0."""
        if not np.all(np.isfinite(change)):
            return 0.0
        lowest = float(np.linalg.eigvalsh(change / np.sqrt(self.D[:, None] * self.D[None, :]))[0])
        return -1 / lowest if lowest < 0 else np.inf


@dataclass(frozen=True, eq=False)
class ConicStep:
    """A step of everything; w and s in the scaling."""

    w: np.ndarray
    s: np.ndarray
    shift: float
    link: Change


@dataclass(frozen=True, eq=False)
class Linearized:
    """Newton's equations at one iterate."""

    problem: MEGRegression
    W: np.ndarray
    link: Link
    scaling: Scaling
    system: System

    @property
    def pairs(self) -> float:
        """How many products must fall to mu."""
        return self.problem.d + self.link.pairs

    @property
    def mu(self) -> float:
        """Their mean."""
        return (float(self.scaling.D @ self.scaling.D) + self.link.complementarity) / self.pairs

    def mu_after(self, by: ConicStep, step: float) -> float:
        """Their mean after a step."""
        D = np.diag(self.scaling.D)
        both = inner(D + step * by.w, D + step * by.s) + self.link.moved(by.link, step).complementarity
        return max(0.0, both / self.pairs)

    @cached_property
    def shifted(self) -> tuple[np.ndarray, np.ndarray, float]:
        """What dlambda = 1 does to w, du and tr W."""
        w, du = self.system.solution(self.scaling.inside(np.eye(self.problem.d)), np.zeros(self.problem.stack.T))
        return w, du, trace(self.scaling.outside(w))

    def sharpened(self) -> Linearized:
        """The same, by an orthogonal factorization where rounding shows in what dlambda = 1 does."""
        stack, beta = self.problem.stack, self.link.slopes
        w, du, _ = self.shifted
        error = np.sqrt(beta) * stack.adjoint(self.scaling.outside(w)) - du / np.sqrt(beta)
        size = float(np.linalg.norm(self.scaling.inside(np.eye(self.problem.d))))
        if float(np.linalg.norm(error)) <= NOISE * size or not Orthogonal.fits(stack):
            return self
        return replace(self, system=Orthogonal.of(stack, self.scaling.R, beta))

    def direction(self, mu: float, second: ConicStep | None) -> ConicStep:
        """The step to products of mu, less the second order of another step."""
        D, scaling = self.scaling.D, self.scaling
        target = mu * np.eye(len(D)) - np.diag(D**2)
        if second is not None:
            target = target - sym(second.w @ second.s)
        p, change = self.problem.predict(self.W), None if second is None else second.link
        K = 2 * target / (D[:, None] + D[None, :])
        w, du = self.system.solution(K, self.link.missing(p, mu, change))
        w_shifted, du_shifted, gained = self.shifted
        shift = -trace(scaling.outside(w)) / gained if gained != 0 else 0.0  # an instance near I may hold the trace
        w, du = w + shift * w_shifted, du + shift * du_shifted
        s = scaling.inside(self.problem.stack.apply(du) - shift * np.eye(len(D)))
        return ConicStep(w, s, shift, self.link.change(du, mu, change))

    def room(self, by: ConicStep) -> float:
        """The largest step that leaves no cone."""
        return min(self.scaling.room(by.w), self.scaling.room(by.s), by.link.room)


class Newton(Engine):
    """Primal-dual interior point, for every loss, to any gap that double precision allows."""

    name = "newton"

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, MEGRegression) else f"{self.name} is for MEGRegression problems"

    def init(self, problem: MEGRegression, incumbent: Incumbent) -> NewtonState:
        W = np.eye(problem.d, dtype=problem.stack.dtype) / problem.d
        link = link_of(problem, problem.predict(W))
        w = np.linalg.eigvalsh(problem.stack.apply(link.u))
        spread = max(float(w[-1] - w[0]), 1e-3 * problem.slope_size)
        cold = NewtonState(W=W, shift=float(w[0]) - spread, link=link.opened(spread))
        warm = self._warm(problem, incumbent)
        return cold if warm is None or not warm.mu(problem) < WORTH * cold.mu(problem) else warm

    @staticmethod
    def _warm(problem: MEGRegression, incumbent: Incumbent) -> NewtonState | None:
        """The state at an earlier W and u, their small products raised (`engines.warm`); None where there is none."""
        W, u = incumbent.hint.X, incumbent.hint.y
        if W is None or u is None:
            return None
        v, (low, high) = u / problem.share, problem.ends
        if np.all(np.isfinite(high - low)):
            v = np.clip(v, low + INWARD * (high - low), high - INWARD * (high - low))
        link, A = link_at(problem, problem.predict(W), v), problem.stack.apply(problem.share * v)
        width = inner(W, A) - float(np.linalg.eigvalsh(A)[0]) + link.complementarity
        if not 0 < width < np.inf:
            return None
        delta = CENTRED[-1] * width / (problem.d + link.pairs)
        link = link.raised(delta, width)
        A = problem.stack.apply(link.u)
        least = float(np.linalg.eigvalsh(A)[0])
        shift = least - max(width, inner(W, A) - least)
        L = cholesky(A - shift * np.eye(problem.d))
        if L is None:
            return None
        W = raised_block(W, L, delta)
        return NewtonState(W=W / trace(W), shift=shift, link=link)

    def step(self, problem: MEGRegression, state: NewtonState, incumbent: Incumbent) -> NewtonState:
        W, link = state.W, state.link
        scaling = Scaling.of(W, problem.stack.apply(link.u) - state.shift * np.eye(problem.d))
        if scaling is None:
            return replace(state, proposals=(), finished="a Cholesky factorization failed: numerical limit")
        at = Linearized(problem, W, link, scaling, system_at(problem.stack, scaling.R, link.slopes)).sharpened()
        predictor = at.direction(0.0, None)
        step = min(1.0, at.room(predictor))
        sigma = max(min(1.0, at.mu_after(predictor, step) / at.mu) ** 3, 0.3 if step < 0.1 else 1e-6)
        chosen = at.direction(sigma * at.mu, predictor)
        step = min(1.0, CLOSEST * at.room(chosen))
        moved = W + step * scaling.outside(chosen.w)
        if not np.all(np.isfinite(moved)):
            return replace(state, proposals=(), finished="the Newton system broke down: numerical limit")
        moved, new = moved / trace(moved), link.moved(chosen.link, step)
        width = incumbent.upper - incumbent.lower
        progress = width < 0.9 * state.width
        idle = 0 if progress else state.idle + 1
        return NewtonState(
            W=moved,
            shift=state.shift + step * chosen.shift,
            link=new,
            width=width if progress else state.width,
            idle=idle,
            # a worse W is not offered: at corners it might take the place of a better one for its lower bound
            proposals=(Proposal(X=moved if problem.value_of(moved) < incumbent.upper else None, y=new.u),),
            finished=f"the gap has not moved for {PATIENCE} iterations: numerical limit" if idle > PATIENCE else "",
        )
