"""Newton's method for a smooth loss and an elastic net.

    g = A'(c f'(p)) + ridge x,    H = A' diag(c f''(p)) A + ridge I,    p = A x

on the weights that are not 0, or would leave 0: those W where x_j is not 0 or |g_j| > l1. There, in the orthant of the
signs s_j of x_j (of -g_j at 0), the penalty is linear: a step H_WW d = -(g + l1 s)_W by Cholesky's factorization, or by
conjugate gradients where W is large; then a search along x + t d moved into the orthant. Without l1, W is everything.

For a ridge the gap at y = f'(p) is ||g||^2 / 2 ridge exactly, by Fenchel's equality: the certificate costs nothing new.

References
----------
Andrew and Gao (2007), for orthants; Byrd, Chin, Nocedal and Oztoprak (2016).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn_erm.design import Design
from matrixlearn_erm.engine import ERMEngine, ERMState, not_elastic, rough
from matrixlearn_erm.problem import ERM

DIRECT = 256
"""Weights up to which H is written down and factorized."""
GROWTH = 2
"""Times as many weights as are not 0 that may leave 0 in one step."""
LEAST = 64
"""That may leave 0 in any case."""
DAMPING = 1e-3
"""The part of the mean curvature that is added to H at first."""
ARMIJO = 1e-4
"""The part of the predicted decrease that a step must bring."""
HALVINGS = 40
MANY = 5000
"""Rows from which on every tenth of them gives the first x."""
THINNED = 10
ROUGHLY = 10
"""Steps there."""


@dataclass(frozen=True)
class NewtonState(ERMState):
    """x, p = A x, and P(x)."""

    x: np.ndarray | None = None
    p: np.ndarray | None = None
    y: np.ndarray | None = None
    """f'(p)."""
    g: np.ndarray | None = None
    """The gradient at x, without that of the norm."""
    value: float = np.inf
    first: float = 0.0
    """The norm of the first subgradient, that the accuracy of conjugate gradients counts from."""
    size: float = np.inf
    """The norm of the last one."""


@dataclass(frozen=True)
class Newton(ERMEngine):
    """Newton's method on the weights that are not 0; H by Cholesky's factorization or conjugate gradients."""

    name = "newton-cg"
    by_rounds = True

    def lacks(self, problem: ERM) -> str:
        return rough(problem) or not_elastic(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> NewtonState:
        x = np.array(incumbent.X if incumbent.X is not None else np.zeros(problem.d))
        if problem.design.is_here and not np.any(x) and problem.n >= max(MANY, THINNED**2 * problem.d):
            x = self._from_few_rows(problem)
        p = problem.design.apply(x)
        y = problem.loss.gradient(p, problem.b)
        g = problem.penalty.ridge * x - problem.direction(y)
        return NewtonState(x=x, p=p, y=y, g=g, value=problem.value_at(p, x), advice=problem.case.advice())

    def _from_few_rows(self, problem: ERM) -> np.ndarray:
        """A first x: the optimum, roughly, of every tenth row."""
        rows = slice(None, None, THINNED)
        weights = None if problem.sample_weight is None else problem.sample_weight[rows]
        few = ERM(problem.A[rows], problem.b[rows], problem.loss, problem.penalty, weights)
        start = Incumbent(few)
        state = self.init(few, start)
        for _ in range(ROUGHLY):
            state = self.step(few, state, start)
            if state.finished or state.size < 1e-3 * state.first:
                break
        assert state.x is not None
        return state.x

    def step(self, problem: ERM, state: NewtonState, incumbent: Incumbent) -> NewtonState:
        x, p, y, g, psi = state.x, state.p, state.y, state.g, problem.penalty
        assert x is not None and p is not None and y is not None and g is not None
        signs = np.where(x != 0, np.sign(x), np.where(np.abs(g) > psi.l1, -np.sign(g), 0.0)) if psi.l1 > 0 else None
        slope = g if signs is None else np.where(signs == 0, 0.0, g + psi.l1 * signs)
        size = float(np.linalg.norm(slope))
        first = state.first or size
        if size == 0:
            return replace(state, proposals=(Proposal(X=x),), finished="the gradient is 0")
        working = None if signs is None else _working(x, slope)
        design = problem.design if working is None else problem.design.at(working)
        gradient = slope if working is None else slope[working]
        weights = problem.share * problem.loss.curvature(p, problem.b)
        # without a ridge H may be 0 where f is linear: what is added vanishes with the gradient
        added = DAMPING * problem.mean_curvature * min(1.0, size / first) if psi.ridge == 0 else 0.0
        d = _solution(design, weights, psi.ridge, added, gradient, min(0.1, np.sqrt(size / first)))
        new = _searched(problem, state, design, working, signs, gradient, d)
        if new is None and size < state.size / 2:  # rounding hides what P gains; the gradient shows it
            new = _whole(state, design, working, d)
        if new is None and psi.l1 > 0:  # in a corner of its orthant: a proximal step finds another
            new = _proximal(problem, state, g)
        if new is None:
            return replace(state, proposals=(Proposal(X=x, y=y),), finished="no step brings the objective down further")
        y = problem.loss.gradient(new.p, problem.b)
        g = psi.ridge * new.x - problem.direction(y)
        gap = float(g @ g) / (2 * psi.ridge) if psi.l1 == 0 else 0.0
        return replace(new, y=y, g=g, first=first, size=size, proposals=(Proposal(X=new.x, y=y, gap=gap),))


def _working(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Indices of weights that are not 0, and of those at 0 that would leave it, the steepest first, if not too many."""
    kept, leaving = np.flatnonzero(x), np.flatnonzero((x == 0) & (slope != 0))
    room = max(LEAST, GROWTH * len(kept))
    if len(leaving) > room:
        leaving = leaving[np.argpartition(-np.abs(slope[leaving]), room)[:room]]
    return np.sort(np.concatenate([kept, leaving]))


def _solution(
    design: Design, weights: np.ndarray, ridge: float, added: float, gradient: np.ndarray, accuracy: float
) -> np.ndarray:
    """d with (A' diag(weights) A + (ridge + added) I) d = -gradient."""
    size, ridge = design.shape[1], ridge + added
    if size <= DIRECT:
        H = design.gram(weights)
        # a ridge of rounding keeps the factorization of a singular H alive; the search looks after the step
        H[np.diag_indices(size)] += ridge + 1e-14 * float(np.trace(H)) / size + 1e-300
        return -scipy.linalg.cho_solve(scipy.linalg.cho_factor(H, check_finite=False), gradient, check_finite=False)
    inverse = 1 / np.maximum(design.squares(weights) + ridge, 1e-300)
    d, r = np.zeros(size), -gradient
    z = inverse * r
    q, rz, enough = z, float(r @ z), accuracy * float(np.linalg.norm(gradient))
    for _ in range(10 * size):
        Hq = design.adjoint(weights * design.apply(q)) + ridge * q
        curvature = float(q @ Hq)
        if curvature <= 0:
            break
        step = rz / curvature
        d, r = d + step * q, r - step * Hq
        if float(np.linalg.norm(r)) <= enough:
            break
        z = inverse * r
        rz, last = float(r @ z), rz
        q = z + (rz / last) * q
    return d if np.any(d) else -inverse * gradient


def _proximal(problem: ERM, state: NewtonState, g: np.ndarray) -> NewtonState | None:
    """A step of the proximal gradient method, which goes down wherever x is not optimal; None where P shows nothing."""
    psi, x = problem.penalty, state.x
    assert x is not None
    step = 1 / (problem.loss.smoothness * problem.operator_norm**2)
    new = psi.prox(x - step * (g - psi.ridge * x), step)
    p = problem.design.apply(new)
    value = problem.value_at(p, new)
    return replace(state, x=new, p=p, value=value) if value < state.value else None


def _whole(state: NewtonState, design: Design, working: np.ndarray | None, d: np.ndarray) -> NewtonState:
    """The whole step d."""
    assert state.x is not None and state.p is not None
    x = state.x.copy()
    x[slice(None) if working is None else working] += d
    return replace(state, x=x, p=state.p + design.apply(d))


def _searched(
    problem: ERM, state: NewtonState, design: Design, working: np.ndarray | None, signs: np.ndarray | None,
    gradient: np.ndarray, d: np.ndarray,
) -> NewtonState | None:  # fmt: skip
    """x + t d moved into the orthant, for the first t of 1, 1/2, ... that goes down; None where none does."""
    x, p, value, step = state.x, state.p, state.value, 1.0
    assert x is not None and p is not None
    Ad = design.apply(d) if working is None or signs is None else None
    for _ in range(HALVINGS):
        if Ad is not None:
            move, new_x, new_p = step * d, x + step * d, p + step * Ad
        else:
            assert working is not None and signs is not None
            kept = x[working] + step * d
            kept[kept * signs[working] < 0] = 0.0
            move, new_x = kept - x[working], x.copy()
            new_x[working], new_p = kept, p + design.apply(move)
        goal = value + ARMIJO * float(gradient @ move)
        if goal < value and (reached := problem.value_at(new_p, new_x)) <= goal:
            return replace(state, x=new_x, p=new_p, value=reached)
        step /= 2
    return None
