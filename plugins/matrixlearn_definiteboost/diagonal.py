"""The diagonal ancestors as fast vectors: exponentiated gradient, Hedge, AdaBoost.  O(d) a round.

    EG        w_i <- w_i exp(-eta g_i) / Z,   g = 2 (w.x - y) x for the square loss
    Hedge     w_ti = exp(-eta sum_{s<t} l_si) / Z
    AdaBoost  w_i <- w_i exp(-alpha m_i) / Z,   m_i = y_i h(x_i),   r = w.m,   alpha = 1/2 log((1 + r) / (1 - r))

AdaBoost is DefiniteBoost with C_j = diag(y_i h_j(x_i)) and W_1 = I/d (Section 4.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Limits, MirrorDescent, run
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import DiagonalExponent
from matrixlearn.oracles import Done, Move
from matrixlearn.problems import Bound, Play, Problem
from matrixlearn.sets import ScaledSimplex
from matrixlearn.validation import as_array, as_real_vector
from matrixlearn_definiteboost.oracle import closed_form_step


def eg_step(w: Any, x: Any, y: float, rate: float) -> np.ndarray:
    """One step of EG regression on the square loss (w.x - y)^2: w_i exp(-2 rate (w.x - y) x_i) / Z.

    Parameters
    ----------
    w : array, shape (d,)
        A probability vector with positive entries.
    x : array, shape (d,)
    y : float
    rate : float
    """
    w, x = as_real_vector("w", w), as_real_vector("x", x, np.shape(w)[0])
    if np.any(w <= 0) or abs(float(w.sum()) - 1) > 1e-9:
        msg = f"w must be positive and sum to one, got min {w.min():.3g}, sum {w.sum():.9g}"
        raise ProblemError(msg)
    losses = 2 * rate * (float(w @ x) - y) * x - np.log(w)
    return np.asarray(DiagonalExponent(ScaledSimplex(len(w), 1.0))(losses))


def hedge(losses: Any, rate: float) -> np.ndarray:
    """The weights before each round: w_ti = exp(-rate sum_{s<t} l_si) / Z_t, shape (T, n) -> (T, n).

    Parameters
    ----------
    losses : array, shape (T, n)
        Losses of n experts in T rounds.
    rate : float
    """
    L = np.asarray(as_array("losses", losses))
    if L.ndim != 2:
        msg = f"losses must have shape (T, n), got {L.shape}"
        raise ProblemError(msg)
    before = -rate * np.vstack([np.zeros(L.shape[1]), np.cumsum(L, axis=0)[:-1]])
    weights = np.exp(before - before.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def multiplicative_weights(losses: Any, epsilon: float, width: float = 1.0) -> np.ndarray:
    """The weights before each round by the printed rule, shape (T, n) -> (T, n):

        w_{t+1,i} = w_ti (1 - epsilon)^{l_ti / rho}   where l_ti >= 0
                  = w_ti (1 + epsilon)^{-l_ti / rho}  where l_ti < 0

    and they pay sum_t <w_t, l_t> <= `multiplicative_weights_bound` where epsilon <= 1/2 (4.1).

    Parameters
    ----------
    losses : array, shape (T, n)
        In [-rho, rho].
    epsilon : float
        In (0, 1/2].
    width : float
        rho > 0.

    Source: thesis, Section 4.1, after Arora, Hazan and Kale (2005).
    """
    L = _losses_of_width(losses, epsilon, width)
    rate = np.where(L >= 0, -np.log1p(-epsilon), np.log1p(epsilon))
    return hedge(rate * L / width, 1.0)


def multiplicative_weights_bound(losses: Any, epsilon: float, width: float = 1.0) -> float:
    """rho ln n / epsilon + min over i of (1 + epsilon) sum_{l_ti >= 0} l_ti + (1 - epsilon) sum_{l_ti < 0} l_ti."""
    L = _losses_of_width(losses, epsilon, width)
    paid = np.where(L >= 0, (1 + epsilon) * L, (1 - epsilon) * L).sum(axis=0)
    return float(width * np.log(L.shape[1]) / epsilon + paid.min())


def _losses_of_width(losses: Any, epsilon: float, width: float) -> np.ndarray:
    """The losses, where they are what (4.1) is about."""
    L = np.asarray(as_array("losses", losses))
    if L.ndim != 2:
        msg = f"losses must have shape (T, n), got {L.shape}"
        raise ProblemError(msg)
    if not 0 < epsilon <= 0.5:
        msg = f"epsilon must lie in (0, 1/2], got {epsilon!r}"
        raise ProblemError(msg)
    if not np.max(np.abs(L), initial=0.0) <= width:
        msg = f"width must be at least the largest loss, {np.max(np.abs(L), initial=0.0):g}; got {width!r}"
        raise ProblemError(msg)
    return L


@dataclass(frozen=True, eq=False)
class EdgeProblem(Problem):
    """min KL(w, 1/d) over probability vectors subject to sum_i w_i M_ji <= 0: no hypothesis has an edge.

    Where some combination of the hypotheses has a margin, there is no such w, and the dual passes ln d.

    Parameters
    ----------
    margins : array, shape (m, d)
        M_ji = y_i h_j(x_i) in [-1, 1].
    """

    margins: Any

    def __post_init__(self) -> None:
        M = np.asarray(as_array("margins", self.margins))
        if M.ndim != 2 or np.iscomplexobj(M) or np.max(np.abs(M)) > 1:
            msg = f"margins must be a real (m, d) array of y_i h_j(x_i) in [-1, 1], got shape {M.shape}"
            raise ProblemError(msg)
        object.__setattr__(self, "margins", M)

    @property
    def scale(self) -> float:
        return max(1.0, self.ceiling)

    @property
    def ceiling(self) -> float:
        """What no probability vector exceeds, rounding included: a dual value above it proves that there is none."""
        return math.log(self.margins.shape[1]) + 1e-12

    @property
    def like(self) -> np.ndarray:
        """An array of the shape of w."""
        return np.asarray(self.margins[0])

    @property
    def multipliers(self) -> int:
        """The number m of examples."""
        return len(self.margins)

    def play(self) -> Play:
        """The O(d) mirror map; the hypothesis with the largest edge."""
        return Play(DiagonalExponent(ScaledSimplex(self.margins.shape[1], 1.0)), LargestEdge(self.margins))

    def bound_from_matrix(self, X: np.ndarray) -> Bound:
        if np.max(self.margins @ X) > 1e-15 * len(X):
            return Bound(point=X)
        held = X[X > 0]
        return Bound(point=X, upper=float(held @ np.log(held)) + math.log(len(X)) + 1e-14 * len(X))

    def objective_at(self, X: np.ndarray | None, y: np.ndarray | None) -> float:
        return math.inf if X is None else self.bound_from_matrix(X).upper

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        """-log (1/d sum_i exp(-sum_j y_j M_ji)): minus the log of the exponential loss."""
        y = np.maximum(y, 0.0)
        lower = self.dual_value(y)
        return Bound(point=y, lower=math.inf if lower > self.ceiling else lower)

    def dual_value(self, y: np.ndarray) -> float:
        """Minus the log of the exponential loss of y >= 0, less an allowance."""
        e = -(y @ self.margins)
        value = float(np.log(np.mean(np.exp(e - e.max()))) + e.max())
        return -value - 1e-15 * len(e) * (1 + float(y.sum()))

    def reference(self) -> Any:
        """KL by cvxpy's relative entropy."""
        import cvxpy as cp

        d = self.margins.shape[1]
        w = cp.Variable(d, name="X")
        return cp.Problem(
            cp.Minimize(-cp.sum(cp.entr(w)) + math.log(d)), [cp.sum(w) == 1, w >= 0, self.margins @ w <= 0]
        )

    @classmethod
    def random(cls, rng: np.random.Generator) -> EdgeProblem:
        """Up to 8 hypotheses on up to 12 examples."""
        return cls(rng.uniform(-1, 1, (int(rng.integers(1, 9)), int(rng.integers(1, 13)))))


@dataclass(frozen=True, eq=False)
class LargestEdge:
    """w -> the hypothesis that ``choose`` names (the largest edge), with AdaBoost's step."""

    margins: np.ndarray
    choose: Callable[[np.ndarray], int] = lambda edges: int(np.argmax(edges))
    y: np.ndarray | None = None
    steps: tuple[tuple[int, float, np.ndarray], ...] = ()

    def __call__(self, X: np.ndarray) -> Move | Done:
        edges = self.margins @ X
        j = self.choose(edges)
        r = float(edges[j])
        alpha = closed_form_step(r, 1.0, 1.0)
        if r <= 0 or alpha is None:
            return Done("satisfied" if r <= 0 else "a hypothesis is perfect", evidence=self.steps)
        y = np.zeros(len(self.margins)) if self.y is None else self.y.copy()
        y[j] += alpha
        row = self.margins[j]
        return Move(row, alpha, y=y, then=replace(self, y=y, steps=(*self.steps, (j, alpha, X))))


@dataclass(frozen=True)
class Boosted:
    """AdaBoost's rounds: the hypotheses chosen, their weights alpha, and the examples' weights before each round."""

    chosen: np.ndarray
    """The hypothesis of each round, (rounds,)."""
    alphas: np.ndarray
    """Their weights, (rounds,)."""
    weights: np.ndarray
    """Of the examples before each round, (rounds, d)."""
    reason: str
    """Why the rounds ended."""


def adaboost(margins: Any, rounds: int, choose: Callable[[np.ndarray], int] | None = None) -> Boosted:
    """AdaBoost (Schapire and Singer, 1999) on weak hypotheses given by their margins, through the mirror loop.

    Parameters
    ----------
    margins : array, shape (m, d)
        y_i h_j(x_i) in [-1, 1] for hypotheses j and examples i.
    rounds : int
    choose : callable, optional
        Edges (m,) -> a hypothesis; that of the largest edge by default.

    Notes
    -----
    scikit-learn's SAMME estimator weights are 2 alpha.
    """
    problem = EdgeProblem(margins)
    oracle = LargestEdge(problem.margins) if choose is None else LargestEdge(problem.margins, choose)
    given = _From(problem.margins, oracle)
    done = run(MirrorDescent(), given, tol=-1.0, limits=Limits(max_iter=rounds))
    state: Any = done.state
    if state is None:
        return Boosted(np.zeros(0, dtype=int), np.zeros(0), np.zeros((0, problem.margins.shape[1])), "no rounds")
    steps = state.last.answer.evidence if isinstance(state.last.answer, Done) else state.oracle.steps
    weights = np.array([w for _, _, w in steps]).reshape(len(steps), problem.margins.shape[1])
    return Boosted(
        np.array([j for j, _, _ in steps], dtype=int), np.array([a for _, a, _ in steps]), weights, done.ended
    )


@dataclass(frozen=True, eq=False)
class _From(EdgeProblem):
    """An edge problem that starts from a given oracle, and whose rounds go on where no such w is left."""

    first: Any = None

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = np.maximum(y, 0.0)
        return Bound(point=y, lower=self.dual_value(y))

    def play(self) -> Play:
        return replace(super().play(), oracle=self.first)
