"""Generalized discrepancy: a regression that weighs the source anew for each hypothesis.

    min over w of  lambda ||w||^2 + 1/2 max over u in B of ||w - u||_T^2 + 1/2 min over v in B of ||w - v||_T^2

T = sum_j p_j x_j x_j^T over the target. B holds the hypotheses that may be the labels: those whose weighted ridge
objective on the source, sum_i q_i (u . x_i - y_i)^2 + mu ||u||^2, is at most (1 + radius) times its least value. The
mean of the two losses is the one nearest to all that B allows, as a weighted loss of the source could at best be
(Cortes, Mohri and Munoz Medina, 2019, whose mu is 0). In coordinates s in which B is a ball of radius rho around 0 and
T is diag(t), the largest distance is a trust-region problem, hence, by its dual and exactly,

    max over |a| <= rho of sum_i t_i (s_i - a_i)^2
        =  min over nu >= max t of nu rho^2 + sum_i t_i nu / (nu - t_i) s_i^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.optimize

from matrixlearn.engines import Engine, Proposal, State
from matrixlearn.exceptions import ProblemError
from matrixlearn.problems import Bound, Problem
from matrixlearn.validation import as_number, as_real_vector, as_samples

if TYPE_CHECKING:
    import cvxpy

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class GeneralizedDiscrepancy(Problem):
    """min over w of lambda ||w||^2 + (max over B of ||w - u||_T^2 + min over B of ||w - v||_T^2) / 2.

    Parameters
    ----------
    X_source, X_target : array, shapes (m, r) and (n, r)
        Points; for a kernel, `Discrepancy.points`.
    y_source : array, shape (m,)
    weights : array, shape (m,), optional
        q, >= 0 and summing to one: those of least discrepancy. Uniform by default.
    regularization : float
        lambda > 0.
    surrogate_regularization : float
        mu > 0: makes B bounded where points do not span all directions.
    radius : float
        > 0: by how much of its least value the objective may be exceeded in B.

    Notes
    -----
    ``y`` of a solution is w, ``matrix`` the moments [[E a a^T, E a], [E a^T, 1]] of hypotheses a in B that prove the
    lower bound, in the coordinates s. Without lambda the answer is the centre of B, the weighted ridge regression
    itself: B is symmetric around it.
    """

    X_source: Any
    X_target: Any
    y_source: Any
    weights: Any = None
    regularization: float = 0.1
    surrogate_regularization: float = 0.1
    radius: float = 0.1

    name = "generalized-discrepancy"
    objective = "minimize"
    engines = ("trust-region",)

    def __post_init__(self) -> None:
        X, T = (np.asarray(as_samples(name, getattr(self, name))) for name in ("X_source", "X_target"))
        if X.shape[1] != T.shape[1]:
            msg = f"X_source and X_target must have the same features, got {X.shape[1]} and {T.shape[1]} columns"
            raise ProblemError(msg)
        y = as_real_vector("y_source", self.y_source, len(X))
        q = np.full(len(X), 1 / len(X)) if self.weights is None else as_real_vector("weights", self.weights, len(X))
        if np.any(q < 0) or abs(q.sum() - 1) > 1e-9:
            msg = f"weights must be >= 0 and sum to one, got min {q.min():.3g}, sum {q.sum():.9g}"
            raise ProblemError(msg)
        for name in ("regularization", "surrogate_regularization", "radius"):
            number = as_number(name, getattr(self, name))
            if not 0 < number < np.inf:
                msg = f"{name} must be positive and finite, got {number:g}"
                raise ProblemError(msg)
            object.__setattr__(self, name, number)
        for name, value in {"X_source": X, "X_target": T, "y_source": y, "weights": q}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def ball(self) -> Ball:
        """B, and what the objective is in its coordinates."""
        X, T, y, q = self.X_source, self.X_target, self.y_source, self.weights
        inside = (X.T * q) @ X + self.surrogate_regularization * np.eye(X.shape[1])
        centre = scipy.linalg.solve(inside, X.T @ (q * y), assume_a="pos")
        left = y - X @ centre
        least = float(q @ left**2 + self.surrogate_regularization * centre @ centre)
        root = scipy.linalg.cholesky(inside, lower=True)
        spread = scipy.linalg.solve_triangular(root, T.T, lower=True)
        t, V = np.linalg.eigh(spread @ spread.T / len(T))
        frame = scipy.linalg.solve_triangular(root, V, lower=True, trans="T")
        rho = float(np.sqrt(self.radius * max(least, EPS * float(q @ y**2), np.finfo(float).tiny)))
        return Ball(centre, frame, np.maximum(t, 0.0), rho, self.regularization)

    @property
    def multipliers(self) -> int:
        """The length r of w."""
        return int(self.X_target.shape[1])

    @property
    def scale(self) -> float:
        """The objective at the centre of B."""
        return self.ball.value(np.zeros(len(self.ball.t)))

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        """The objective at w, its largest distance by the dual, its smallest at a point of B."""
        w = np.asarray(y, dtype=float)
        value = self.ball.value(self.ball.inside(w))
        return Bound(point=w, upper=value + self.ball.allowance(value))

    def bound_from_matrix(self, X: Any) -> Bound:
        """min over w for hypotheses a that have these moments, in the place of the worst for each w."""
        moments = self.ball.feasible(np.asarray(X, dtype=float))
        value = self.ball.least_for(moments)
        return Bound(point=moments, lower=value - self.ball.allowance(value))

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        assert y is not None
        return self.ball.value(self.ball.inside(np.asarray(y)))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        moments = np.zeros((len(self.ball.t) + 1,) * 2)
        moments[-1, -1] = 1.0  # of the centre of B itself
        return [(moments, self.ball.centre)]

    def parameters(self) -> Mapping[str, Any]:
        names = ("X_source", "X_target", "y_source", "weights")
        numbers = ("regularization", "surrogate_regularization", "radius")
        return {name: getattr(self, name) for name in (*names, *numbers)}

    def reference(self) -> cvxpy.Problem:
        """By the S-lemma, a linear matrix inequality for the largest distance."""
        import cvxpy as cp

        ball = self.ball
        r, root = len(ball.t), np.sqrt(ball.t)
        s, v = cp.Variable(r, name="y"), cp.Variable(r)
        nu, tau = cp.Variable(nonneg=True), cp.Variable()
        # nu (rho^2 - |a|^2) + tau - sum t (s - a)^2 >= 0 for all a, as a Schur complement in s
        linear = cp.reshape(cp.multiply(ball.t, s), (r, 1), order="C")
        corner = cp.reshape(tau - nu * ball.rho**2, (1, 1), order="C")
        above = cp.reshape(cp.multiply(root, s), (r, 1), order="C")
        block = cp.bmat(
            [
                [nu * np.eye(r) - np.diag(ball.t), linear, np.zeros((r, r))],
                [linear.T, corner, above.T],
                [np.zeros((r, r)), above, np.eye(r)],
            ]
        )
        near = cp.sum_squares(cp.multiply(root, s - v))
        own = ball.regularization * cp.sum_squares(ball.centre + ball.frame @ s)
        return cp.Problem(cp.Minimize(own + tau / 2 + near / 2), [block >> 0, cp.norm(v) <= ball.rho])

    @classmethod
    def random(cls, rng: np.random.Generator) -> GeneralizedDiscrepancy:
        """r in 1-4, m and n in 2-12, any of its numbers from 0.01 to 1."""
        r, m, n = (int(rng.integers(low, high)) for low, high in ((1, 5), (2, 13), (2, 13)))
        numbers = 10.0 ** rng.uniform(-2, 0, 3)
        X, T = rng.standard_normal((m, r)), rng.standard_normal((n, r)) + rng.uniform(-1, 1, r)
        return cls(X, T, X @ rng.standard_normal(r) + rng.standard_normal(m), rng.dirichlet(np.ones(m)), *numbers)


@dataclass(frozen=True, eq=False)
class Ball:
    """w = centre + frame s with |s| <= rho in B, and sum_i t_i s_i^2 the squared distance on the target."""

    centre: np.ndarray
    frame: np.ndarray
    t: np.ndarray
    rho: float
    regularization: float

    @cached_property
    def own(self) -> tuple[np.ndarray, np.ndarray, float]:
        """lambda ||centre + frame s||^2 = s^T G s + 2 g . s + constant."""
        G = self.regularization * self.frame.T @ self.frame
        return (
            G,
            self.regularization * self.frame.T @ self.centre,
            self.regularization * float(self.centre @ self.centre),
        )

    def inside(self, w: np.ndarray) -> np.ndarray:
        """s of w."""
        return np.asarray(np.linalg.solve(self.frame, w - self.centre))

    def largest(self, s: np.ndarray) -> float:
        """max over |a| <= rho of sum_i t_i (s_i - a_i)^2: its dual, which no nu puts too low."""
        top, size = float(self.t.max()), float(np.sqrt(np.sum((self.t * s) ** 2)))
        if size == 0:
            return top * self.rho**2
        low, high = np.log(max(EPS * top, size / self.rho * EPS)), np.log(10 * (top + size / self.rho))

        def dual(log_above: float) -> float:
            nu = top + np.exp(log_above)
            return float(nu * self.rho**2 + np.sum(self.t * nu / (nu - self.t) * s**2))

        found = scipy.optimize.minimize_scalar(dual, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
        return float(found.fun)

    def nearest(self, s: np.ndarray) -> np.ndarray:
        """argmin over |a| <= rho of sum_i t_i (s_i - a_i)^2, feasible to rounding."""
        if s @ s <= self.rho**2:
            return s

        t = self.t / max(float(self.t.max()), np.finfo(float).tiny)  # the answer has no unit of t; small ones underflow

        def shrunk(kappa: float) -> np.ndarray:
            return np.divide(t * s, t + kappa, where=t > 0, out=np.zeros_like(s))

        def excess(kappa: float) -> float:
            return float(np.linalg.norm(shrunk(kappa))) - self.rho

        high = float(np.linalg.norm(t * s)) / self.rho
        if excess(0.0) <= 0:
            a = shrunk(0.0)
        elif excess(high) >= 0:
            a = shrunk(high)
        else:  # kappa may be of the size of the smallest t
            a = shrunk(scipy.optimize.brentq(excess, 0.0, high, xtol=np.finfo(float).tiny, maxiter=2000))
        return np.asarray(a * min(1.0, self.rho / max(float(np.linalg.norm(a)), np.finfo(float).tiny)))

    def value(self, s: np.ndarray) -> float:
        """The objective, no less than it is."""
        w = self.centre + self.frame @ s
        near = float(self.t @ (s - self.nearest(s)) ** 2)
        return self.regularization * float(w @ w) + (self.largest(s) + near) / 2

    def feasible(self, X: np.ndarray) -> np.ndarray:
        """The moments, positive semidefinite, with a last entry of 1 and trace E |a|^2 <= rho^2."""
        values, vectors = np.linalg.eigh((X + X.T) / 2)
        X = (vectors * np.maximum(values, 0.0)) @ vectors.T
        if not X[-1, -1] > 0:
            X = np.zeros_like(X)
            X[-1, -1] = 1.0
        X = X / X[-1, -1]
        size = float(np.trace(X)) - 1
        shrink = 1.0 if size <= self.rho**2 else self.rho / np.sqrt(size)
        by = np.append(np.full(len(X) - 1, shrink), 1.0)
        return np.asarray(X * np.outer(by, by))

    def least_for(self, X: np.ndarray) -> float:
        """min over s, and |v| <= rho, with moments X of a: its dual in one multiplier, which is never too high."""
        G, g, constant = self.own
        z, second = X[:-1, -1], np.diag(X)[:-1]
        h = self.t * z / 2 - g

        def dual(kappa: float) -> float:
            nearer = np.where(self.t > 0, self.t * kappa / np.maximum(self.t + kappa, np.finfo(float).tiny), 0.0)
            A = G + np.diag(self.t + nearer) / 2
            return float(h @ scipy.linalg.solve(A, h, assume_a="pos")) + kappa * self.rho**2 / 2

        best = dual(0.0)
        s = scipy.linalg.solve(G + np.diag(self.t) / 2, h, assume_a="pos")
        if s @ s > self.rho**2:
            high = float(self.t.max()) * max(1.0, float(np.linalg.norm(s)) / self.rho)
            found = scipy.optimize.minimize_scalar(dual, bounds=(0.0, high), method="bounded")
            best = min(best, float(found.fun))
        return constant + float(self.t @ second) / 2 - best

    def allowance(self, value: float) -> float:
        """A bound on the rounding error of a bound."""
        size = abs(value) + self.own[2] + float(self.t.max()) * self.rho**2
        return 100 * len(self.t) * EPS * size

    def worst_for(self, target: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The best s where the nearest point of B is ``target`` (None: s itself), and the moments that prove it.

        For fixed nu the objective is quadratic in s; the best nu is where the worst a = -t s / (nu - t) has norm rho,
        or max t where its norm stays below: what is missing is then in the direction of max t, of either sign.
        """
        G, g, _ = self.own
        pull = np.zeros(len(g)) if target is None else self.t * target / 2
        near = np.zeros(len(g)) if target is None else self.t / 2
        top = float(self.t.max())

        def at(log_above: float) -> tuple[np.ndarray, np.ndarray]:
            nu = top + np.exp(log_above)
            s = scipy.linalg.solve(G + np.diag(self.t * nu / (nu - self.t) / 2 + near), pull - g, assume_a="pos")
            return s, -self.t * s / (nu - self.t)

        def excess(log_above: float) -> float:
            return float(np.linalg.norm(at(log_above)[1])) - self.rho

        low, high = np.log(max(1e-9 * top, np.finfo(float).tiny)), np.log(max(top, np.finfo(float).tiny))
        while excess(high) > 0:
            high += 2.0
        where = low if excess(low) <= 0 else scipy.optimize.brentq(excess, low, high, xtol=1e-9)
        s, a = at(where)
        X = np.outer(np.append(a, 1.0), np.append(a, 1.0))
        k = int(np.argmax(self.t))
        X[k, k] += max(0.0, self.rho**2 - float(a @ a))
        return s, X


@dataclass(frozen=True)
class Step(State):
    """The nearest point of B that the next quadratic is taken around; None for none."""

    target: np.ndarray | None = None


@dataclass(frozen=True)
class TrustRegion(Engine):
    """The trust-region multiplier by its secular equation; the nearest point of B, where w lies outside, in turn."""

    name: str = "trust-region"

    def objection(self, problem: Problem) -> str:
        if isinstance(problem, GeneralizedDiscrepancy):
            return ""
        return "trust-region solves GeneralizedDiscrepancy; this problem is another"

    def init(self, problem: Any, incumbent: Any) -> Step:
        return Step()

    def step(self, problem: Any, state: Any, incumbent: Any) -> Step:
        ball: Ball = problem.ball
        s, X = ball.worst_for(state.target)
        nearest = ball.nearest(s)
        if state.target is None:  # s outside B is no minimizer yet, but its moments bound the optimum
            nearest = nearest if s @ s > ball.rho**2 else s
        proposal = Proposal(X=X, y=ball.centre + ball.frame @ s)
        done = state.target is None and s @ s <= ball.rho**2
        return Step((proposal,), "stationary to rounding" if done else "", nearest)
