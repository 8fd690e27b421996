"""Newton's method on the dual of DefiniteBoost: the quadratic model solved over its box.

    p = argmin g.p + p.H p / 2  over  low <= z + p <= high,       W+ = W - Gamma o (A(p) - its mean)

W+ is linear in p and has g(W+) = g + H p: as p satisfies the conditions of the model, W+ satisfies its constraints,
active ones exactly. Near the optimum it is positive semidefinite: a feasible matrix without a search for one.

A Hessian costs several times what its factors do, and these more than a gradient: each model is used for several steps,
from where the last one led, as long as f falls as it promises (Shamanskii, 1967).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn_definiteboost.dual import ARMIJO, EPS, Point, Sides, divided_differences, evaluate, gram

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost

STEPS, MOST = 3, 10
"""Of one Hessian: `STEPS` after the first, up to `MOST` where each takes a digit."""


@dataclass(eq=False)
class BoxQuadratic:
    """p -> g.p + p.H p / 2 over boxes, for one H; the factor of its last free block is kept."""

    H: np.ndarray
    _free: np.ndarray | None = field(default=None, init=False)
    _factor: Any = field(default=None, init=False)

    def minimizer(self, g: np.ndarray, low: np.ndarray, high: np.ndarray, free: np.ndarray | None = None) -> np.ndarray:
        """argmin over low <= p <= high, by a primal-dual active set, from the variables that may be ``free``.

        That set is found in a few factorizations as a rule, or cycles; then by projected Newton steps, which descend.
        """
        H = self.H
        free = np.ones(len(g), dtype=bool) if free is None else free
        at = np.where(free, 0.0, low)  # the bound at which a variable is held
        for _ in range(12):
            p = np.where(free, 0.0, at)
            p[free] = self.solved(free, -(g + H @ p))
            slope = g + H @ p
            below = np.where(free, p < low, (at == low) & (slope > 0))
            above = np.where(free, p > high, (at == high) & (slope < 0))
            now = ~(below | above)
            if np.array_equal(now, free):
                return np.clip(p, low, high)
            free, at = now, np.where(below, low, np.where(above, high, 0.0))
        p = np.clip(np.zeros(len(g)), low, high)
        size = float(np.max(np.abs(g)))
        for _ in range(60):
            slope = g + H @ p
            free = ~(((p <= low) & (slope > 0)) | ((p >= high) & (slope < 0)))
            if float(np.max(np.abs(slope[free]), initial=0.0)) <= 1e-9 * size:
                break
            step = np.zeros(len(g))
            step[free] = self.solved(free, -slope)
            length = 1.0
            while length > 1e-10:
                move = np.clip(p + length * step, low, high) - p
                if float(slope @ move) + float(move @ H @ move) / 2 <= ARMIJO * float(slope @ move) < 0:
                    break
                length /= 2
            else:
                break
            p = p + move
        return p

    def solved(self, free: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The solution of the free block of H."""
        from scipy.linalg import cho_factor, cho_solve

        if not np.any(free):
            return np.zeros(0)
        if self._free is None or not np.array_equal(free, self._free):
            block = self.H.copy() if np.all(free) else self.H[np.ix_(free, free)]
            self._factor = cho_factor(block.T, lower=True, overwrite_a=True, check_finite=False)
            self._free = free
        return np.asarray(cho_solve(self._factor, right[free], check_finite=False))


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """Where steps on one model led, and the matrix W+ of the last of them; ``there`` is None where none lowers f."""

    there: Point | None
    W: np.ndarray


def newton_step(problem: DefiniteBoost, sides: Sides, at: Point) -> NewtonStep:
    """Up to `STEPS` steps on the model at a point, the first with an Armijo search.

    Only sides that hold a multiplier or push for one enter the model.
    """
    which = np.flatnonzero((at.pushes(sides) != 0) | (at.z > sides.low))
    if len(which) == 0:
        return NewtonStep(None, at.W)
    weights = divided_differences(at.w, at.p)
    H = gram(problem, sides, at.V, weights, which)
    ridge = 1e-12 * max(float(np.max(np.diag(H))), 1e-12)
    for more in (ridge, 1e-9, 1e-6, 1e-3):  # a singular model takes more of it
        H[np.diag_indices_from(H)] += more
        model = BoxQuadratic(H)
        try:
            there, step = _first(problem, sides, at, which, model)
        except np.linalg.LinAlgError:
            continue
        if there is None:
            continue
        W = _linear(problem, sides, at, at.V, weights, which, step)
        for k in range(1, MOST):
            if np.any(np.delete(there.pushes(sides), which) != 0):
                break
            g, low, high = _local(sides, there, which)
            step = model.minimizer(g, low, high, (there.z[which] > sides.low[which]) | (g < 0))
            W = _linear(problem, sides, there, at.V, weights, which, step)
            further = _moved(problem, sides, there, which, step)
            if not _falls(sides, there, further, float(g @ step)):
                break
            before, there = there, further
            if k >= STEPS and not np.max(np.abs(there.pushes(sides))) <= 0.1 * np.max(np.abs(before.pushes(sides))):
                break
        return NewtonStep(there, W)
    g, low, high = _local(sides, at, which)
    return NewtonStep(_search(problem, sides, at, which, np.clip(-g, low, high)), at.W)


def _local(sides: Sides, at: Point, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The scaled gradient at a point and the box of steps from it."""
    z, scale = at.z[which], sides.scale[which]
    return at.gradient[which] / scale, (sides.low[which] - z) * scale, (sides.high[which] - z) * scale


def _first(
    problem: DefiniteBoost, sides: Sides, at: Point, which: np.ndarray, model: BoxQuadratic
) -> tuple[Point | None, np.ndarray]:
    """Where the model's minimizer leads, and itself."""
    g, low, high = _local(sides, at, which)
    step = model.minimizer(g, low, high)
    if not (np.all(np.isfinite(step)) and float(g @ step) < 0):
        return None, step
    return _search(problem, sides, at, which, step), step


def _moved(
    problem: DefiniteBoost, sides: Sides, at: Point, which: np.ndarray, step: np.ndarray, length: float = 1.0
) -> Point:
    """The point a scaled step away, in the box."""
    z = at.z.copy()
    z[which] = np.clip(z[which] + length * step / sides.scale[which], sides.low[which], sides.high[which])
    return evaluate(problem, sides, z)


def _linear(
    problem: DefiniteBoost,
    sides: Sides,
    at: Point,
    V: np.ndarray,
    weights: np.ndarray,
    which: np.ndarray,
    step: np.ndarray,
) -> np.ndarray:
    """W+ of a step, in the eigenbasis and with the weights of the model."""
    z = np.zeros(len(at.z))
    z[which] = step / sides.scale[which]
    T = V.conj().T @ problem.family.apply(sides.multipliers(z, problem.m)) @ V
    T[np.diag_indices_from(T)] -= np.diag(T).real @ np.diag(weights) / np.trace(weights)
    W = at.W - V @ (weights * T) @ V.conj().T
    return np.asarray((W + W.conj().T) / 2)


def _search(problem: DefiniteBoost, sides: Sides, at: Point, which: np.ndarray, step: np.ndarray) -> Point | None:
    """The first of the halved steps along which f falls."""
    length, slope = 1.0, float(at.gradient[which] / sides.scale[which] @ step)
    for _ in range(40):
        there = _moved(problem, sides, at, which, step, length)
        if _falls(sides, at, there, length * slope):
            return there
        length /= 2
    return None


def _falls(sides: Sides, at: Point, there: Point, promised: float) -> bool:
    """Whether f falls enough, or, where rounding hides that, the gradient does."""
    noise = 8 * EPS * (1 + abs(at.value) + float(np.abs(at.z) @ np.abs(sides.bound)))
    if there.value <= at.value + ARMIJO * promised:
        return True
    left, before = (float(np.max(np.abs(point.pushes(sides)))) for point in (there, at))
    return there.value <= at.value + noise and left < 0.5 * before
