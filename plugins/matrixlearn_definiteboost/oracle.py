"""The oracle of DefiniteBoost: one constraint, and how far to go along it.

For the chosen side s tr(W S_j) <= c let A = s S_j - c I with eigenvalues in [-low, high], r = tr(W A). Then

    alpha = log((1 + r / low) / (1 - r / high)) / (low + high)                        (4.6, errata's form)
    log Z(alpha) <= log((high - r) / (high + low) e^{alpha low} + (low + r) / (high + low) e^{-alpha high})    (E.1)

and the right side is log rho(r) (4.7) at this alpha. A step below zero takes back what earlier rounds overdid (r < 0
at a positive multiplier) and is cut at a multiplier of zero: without it, projections in turn end at *a* feasible
matrix, with it at the nearest (Bregman, 1967).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matrixlearn.oracles import Done, Move
from matrixlearn_definiteboost.dual import divided_differences, gibbs

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost

Step = Literal["approximate", "exact"]
Choice = Literal["most violated", "cyclic", "random"]


def closed_form_step(r: float, low: float, high: float) -> float | None:
    """(4.6): log((1 + r/low) / (1 - r/high)) / (low + high); None where it is undefined."""
    if low <= 0 or high <= 0 or not -low < r < high:
        return None
    return float((np.log1p(r / low) - np.log1p(-r / high)) / (low + high))


def log_partition_bound(alpha: float, r: float, low: float, high: float) -> float:
    """log of the bound (E.1) on Z(alpha) = tr exp(log W - alpha A); log rho(r) at the step (4.6)."""
    if low + high <= 0:
        return -alpha * r
    share = min(max((low + r) / (low + high), 0.0), 1.0)
    with np.errstate(divide="ignore"):
        return float(np.logaddexp(np.log(share) - alpha * high, np.log1p(-share) + alpha * low))


def exact_step(G: np.ndarray, A: np.ndarray, guess: float, least: float, most: float, far: float) -> float:
    """argmin over alpha in [least, most] of log tr exp(-G - alpha A) (4.4), by Newton's method within a bracket.

    The slope is -tr(W A), the curvature the variance of A by divided differences. Where the slope never
    vanishes (A > 0: infeasible; A >= 0: an optimum at infinity) the step ends at ``far``.
    """
    below, above = max(least, -far), min(most, far)
    alpha = min(max(guess, below), above)
    first = None
    for _ in range(60):
        w, V, p, _lse = gibbs(-G - alpha * A)
        B = V.conj().T @ A @ V
        r = float(np.real(np.diag(B)) @ p)
        first = abs(r) if first is None else max(first, abs(r))
        if abs(r) <= 1e-10 * first or above - below <= 1e-14 * (1 + abs(alpha)):
            break
        if r > 0:
            below = alpha
        else:
            above = alpha
        B[np.diag_indices_from(B)] -= r
        curvature = float(np.sum(divided_differences(w, p) * np.abs(B) ** 2))
        newton = alpha + r / curvature if curvature > 0 else np.inf * np.sign(r)
        if not below < newton < above:
            newton = (below + above) / 2 if np.isfinite(above - below) and abs(newton) != np.inf else newton
        alpha = min(max(newton, below), above)
    return alpha


@dataclass(frozen=True, eq=False)
class MostViolated:
    """W -> a violated constraint and a step, "satisfied" where all hold to ``accuracy``: Algorithm 2 as printed.

    Attributes
    ----------
    y : ndarray, shape (m,)
        The sum of the steps so far.
    G : ndarray, shape (d, d)
        The losses so far, sum_j y_j S_j - log W_1.
    log_bound : float
        Of Theorem 4.1: log of the product of the bounds on Z_t; f(y) <= log_bound.
    """

    problem: DefiniteBoost
    y: np.ndarray
    G: np.ndarray
    step: Step = "approximate"
    choice: Choice = "most violated"
    accuracy: float = 0.0
    seed: int = 0
    round: int = 0
    last: int = -1
    log_bound: float = 0.0

    @classmethod
    def of(cls, problem: DefiniteBoost, y: np.ndarray | None = None, **options: Any) -> MostViolated:
        """The oracle of the first round, from the multipliers y."""
        y = np.zeros(problem.m) if y is None else y
        start = problem.dual_value(y)
        G = problem.family.apply(y) - problem.log_initial
        return cls(problem, y, G, log_bound=-start, **options)

    def residuals(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(target, r, score): the bound that a constraint is held to, tr(W S_j) - target, what it may gain."""
        p = self.problem
        t, u, low = p.family.adjoint(W), p.upper, p.lower_bounds
        on_lower = (self.y < 0) | ((self.y == 0) & (t < low))
        target = np.where(on_lower, low, u)
        r = t - target
        outward = np.where(on_lower, -r, r)  # > 0: violated
        least, most = p.box
        violated = (outward > 0) & np.where(on_lower, self.y > least, self.y < most)
        overdone = self.taken_back(outward)
        equal = (low == u) & (((r > 0) & (self.y < most)) | ((r < 0) & (self.y > least)))
        return target, r, np.where(violated | overdone | equal, np.abs(r), 0.0)

    def taken_back(self, outward: np.ndarray) -> np.ndarray:
        """Which of the satisfied constraints may be chosen too: none, in Algorithm 2."""
        return np.zeros(len(outward), dtype=bool)

    def pick(self, score: np.ndarray) -> int:
        """The constraint of this round."""
        if self.choice == "cyclic":
            bad = np.flatnonzero(score > self._accuracies)
            later = bad[bad > self.last]
            return int(later[0] if len(later) else bad[0])
        if self.choice == "random":
            rng = np.random.default_rng((self.seed, self.round))
            return int(rng.choice(np.flatnonzero(score > self._accuracies)))
        return int(np.argmax(score))

    @property
    def _accuracies(self) -> np.ndarray:
        """``accuracy``, but never below what rounding leaves of tr(W S_j)."""
        return np.maximum(self.accuracy, self.problem.feasible.rounding)

    def __call__(self, X: np.ndarray) -> Move | Done:
        target, residual, score = self.residuals(X)
        if np.all(score <= self._accuracies):
            return Done("satisfied", evidence=self.log_bound)
        j = self.pick(np.where(score > self._accuracies, score, 0.0))
        c, r = float(target[j]), float(residual[j])
        smallest, largest = (float(side[j]) for side in self.problem.family.ranges)
        low, high = c - smallest, largest - c
        least, most = self._room(j)
        S = self.problem.family.matrix(j)
        alpha = closed_form_step(r, low, high)
        if self.step == "exact" or alpha is None:
            far = (self.problem.farthest + 60.0) / max(1e-3 * abs(r), 1e-300, -low, -high)
            A = S - c * np.eye(len(S))
            alpha = exact_step(self.G, A, 0.0 if alpha is None else alpha, least, most, far)
        alpha = min(max(alpha, least), most)
        y = self.y.copy()
        y[j] += alpha
        log_bound = self.log_bound + log_partition_bound(alpha, r, low, high)
        later = replace(self, y=y, G=self.G + alpha * S, round=self.round + 1, last=j, log_bound=log_bound)
        return Move(S, step=alpha, y=y, width=max(abs(smallest), abs(largest)), then=later)

    def _room(self, j: int) -> tuple[float, float]:
        """How far the multiplier of j may move: within its box, and not past zero in one step where l_j < u_j."""
        y = float(self.y[j])
        least, most = (float(side[j]) for side in self.problem.box)
        if self.problem.lower_bounds[j] < self.problem.upper[j]:
            if y > 0:
                least = 0.0
            elif y < 0:
                most = 0.0
        return least - y, most - y


class Correcting(MostViolated):
    """Constraints that earlier rounds overdid are chosen too, and their steps taken back: Bregman's method."""

    def taken_back(self, outward: np.ndarray) -> np.ndarray:
        """Those with a multiplier and room."""
        return (outward < 0) & (self.y != 0)
