"""Y = {l <= y <= u, r_0 <= w.y <= r_1}: one polytope for simplex, capped simplex, box and orthant.

Its linear minimizer is the fractional knapsack: fill the cheapest coordinates first. It is the
oracle of every game, and costs one sort.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.exceptions import ProblemError

INF = float("inf")


def _vector(name: str, value: Any) -> np.ndarray:
    """A vector of numbers, infinite ones among them, as float64."""
    try:
        given = np.asarray(value)
        vector = np.asarray(given, dtype=float) if given.dtype.kind != "c" else None
    except (TypeError, ValueError) as error:
        msg = f"{name} must be a vector of numbers, got {value!r}"
        raise ProblemError(msg) from error
    if vector is None:
        msg = f"{name} must hold real numbers, got {given.dtype}"
        raise ProblemError(msg)
    if vector.ndim != 1:
        msg = f"{name} must have shape (m,), got shape {vector.shape}: np.full(m, v) for one number"
        raise ProblemError(msg)
    if np.isnan(vector).any():
        msg = f"{name} must hold numbers, got NaN at coordinate {int(np.argmax(np.isnan(vector)))}"
        raise ProblemError(msg)
    return vector


@dataclass(frozen=True, eq=False)
class KnapsackSet:
    """{y in R^m : lower <= y <= upper, row_lower <= weights . y <= row_upper}.

    Parameters
    ----------
    lower, upper : ndarray, shape (m,)
        Bounds; infinite where there is none: -inf and inf for the multiplier of an equality.
    weights : ndarray, shape (m,), optional
        Positive coefficients of the one row; no row where None.
    row_lower, row_upper : float
        Range of the row; equal for an equality.
    """

    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray | None = None
    row_lower: float = -INF
    row_upper: float = INF

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "weights"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _vector(name, getattr(self, name)))
        ordered = self.lower.shape == self.upper.shape and bool(np.all(self.lower <= self.upper))
        if not (ordered and np.all(self.lower < INF) and np.all(self.upper > -INF)):
            msg = (
                f"lower must not exceed upper, and both must have shape (m,): got shapes {self.lower.shape} and "
                f"{self.upper.shape}"
            )
            raise ProblemError(msg)
        if self.weights is not None:
            if self.weights.shape != self.lower.shape or not np.all((self.weights > 0) & (self.weights < INF)):
                msg = (
                    f"the weights of the row must be positive and finite, one for each of {len(self.lower)} "
                    f"coordinates: got {len(self.weights)}"
                )
                raise ProblemError(msg)
            if not np.all(np.isfinite(self.lower)):
                msg = "lower must be finite where Y has a row"
                raise ProblemError(msg)
            low, high = float(self.weights @ self.lower), float(self.weights @ self.upper)
            # m coordinates at 1/m sum to one only to rounding
            rounding = 4 * len(self.weights) * EPS
            below = low - rounding * float(self.weights @ np.abs(self.lower))
            above = high + (rounding * float(self.weights @ np.abs(self.upper)) if high < INF else 0.0)
            if not (self.row_lower <= self.row_upper and below <= self.row_upper and above >= self.row_lower):
                msg = (
                    f"the set is empty: the row w.y in [{self.row_lower}, {self.row_upper}] cannot be "
                    f"met between the bounds; loosen them"
                )
                raise ProblemError(msg)

    @classmethod
    def simplex(cls, m: int, cap: float = INF) -> KnapsackSet:
        """{y >= 0, sum y = 1, y <= cap}."""
        return cls(np.zeros(m), np.full(m, cap), np.ones(m), 1.0, 1.0)

    @classmethod
    def box(cls, lower: np.ndarray, upper: np.ndarray) -> KnapsackSet:
        """{lower <= y <= upper}."""
        return cls(lower, upper)

    @classmethod
    def orthant(cls, m: int) -> KnapsackSet:
        """{y >= 0}: unbounded, so that a linear function has the minimum 0 or -inf."""
        return cls(np.zeros(m), np.full(m, INF))

    @classmethod
    def weighted_simplex(cls, weights: np.ndarray, total: float) -> KnapsackSet:
        """{y >= 0, weights . y <= total}."""
        return cls(np.zeros(len(weights)), np.full(len(weights), INF), weights, -INF, total)

    def face(self, index: np.ndarray, fixed: np.ndarray) -> KnapsackSet:
        """{y_index : y in Y, y_j = fixed_j outside the index}, of dimension len(index).

        Raises
        ------
        ProblemError
            Where no point of Y is like that.
        """
        lower, upper = self.lower[index], self.upper[index]
        if self.weights is None:
            return KnapsackSet(lower, upper)
        weights = self.weights[index]
        used = float(self.weights @ fixed) - float(weights @ fixed[index])
        low, high = float(weights @ lower), float(weights @ upper)
        rounding = 4 * self.size * EPS * float(self.weights @ np.abs(fixed))

        def met(end: float) -> float:
            """The end of the row's range, moved by no more than rounding to where the bounds meet it."""
            nearest = min(max(end, low), high)
            return nearest if abs(nearest - end) <= rounding else end

        return KnapsackSet(lower, upper, weights, met(self.row_lower - used), met(self.row_upper - used))

    @property
    def extent(self) -> np.ndarray:
        """max |y_j| over Y, (m,), by its bounds and the upper end of the row; infinite where y_j has none."""
        upper = self.upper
        if self.weights is not None:
            upper = np.minimum(upper, self.lower + (self.row_upper - float(self.weights @ self.lower)) / self.weights)
        return np.maximum(np.abs(self.lower), np.abs(upper))

    @cached_property
    def floored(self) -> np.ndarray | slice:
        """The coordinates with a finite lower bound, as an index: most often all."""
        finite = np.isfinite(self.lower)
        return slice(None) if finite.all() else np.flatnonzero(finite)

    @cached_property
    def capped(self) -> np.ndarray:
        """The coordinates with a finite upper bound, (k,)."""
        return np.flatnonzero(np.isfinite(self.upper))

    @property
    def size(self) -> int:
        """Number m of coordinates."""
        return len(self.lower)

    @property
    def is_bounded(self) -> bool:
        """Whether Y is compact: every engine needs that."""
        if self.weights is None:
            return bool(np.all(np.isfinite(self.lower)) and np.all(np.isfinite(self.upper)))
        return bool(np.all(np.isfinite(self.lower))) and (
            np.isfinite(self.row_upper) or bool(np.all(np.isfinite(self.upper)))
        )

    def minimize(self, cost: np.ndarray) -> tuple[float, np.ndarray]:
        """(min over Y of cost . y, a minimizer); the minimum is -inf where Y is unbounded that way.

        Raises
        ------
        ProblemError
            Where a cost is not finite.
        """
        if not np.isfinite(cost).all():
            msg = "a linear cost on Y is not finite"
            raise ProblemError(msg)
        if self.weights is None:
            y = np.where(cost < 0, self.upper, self.lower)
            y = np.where(cost == 0, np.clip(0.0, self.lower, self.upper), y)
            used = cost != 0
            return float(cost[used] @ y[used]), y
        rate = cost / self.weights
        if self.row_lower == self.row_upper and len(self.capped) == 0:
            best = int(np.argmin(rate))  # a vertex: no sort
            y = self.lower.copy()
            y[best] += (self.row_upper - self.weights @ self.lower) / self.weights[best]
            return float(cost @ y), y
        order = np.argsort(rate, kind="stable")
        pays = rate[order] < 0
        del rate  # m may be millions
        amount, y = self._amounts(order, pays), self.lower.copy()
        if np.any(np.isinf(amount)):
            return -INF, y
        amount /= self.weights[order]
        y[order] += amount
        np.minimum(y, self.upper, out=y)
        return float(cost @ y), y

    def multiplier(self, cost: np.ndarray) -> float:
        """theta of the row: min over Y of cost . y = min over the bounds of (cost + theta w) . y - theta times the end
        of the row's range; 0 where the row does not bind, or Y is unbounded that way.
        """
        if self.weights is None:
            return 0.0
        y, rate = self.minimize(cost)[1], cost / self.weights
        row, rounding = float(self.weights @ y), 4 * EPS * len(y) * float(self.weights @ np.abs(y))
        taken = y > self.lower
        theta = -float(np.max(rate[taken]) if taken.any() else np.min(rate))
        least = -INF if row <= self.row_lower + rounding else 0.0
        most = INF if row >= self.row_upper - rounding else 0.0
        return min(max(theta, least), most)

    def _amounts(self, order: np.ndarray, pays: np.ndarray) -> np.ndarray:
        """What the coordinates add to the row, in this order: filled while they pay, and while the row asks for it."""
        assert self.weights is not None
        room = self.upper - self.lower
        room *= self.weights
        room = room[order]
        before = np.zeros_like(room)
        np.cumsum(room[:-1], out=before[1:])
        before += float(self.weights @ self.lower)
        amount = np.where(pays, self.row_upper, self.row_lower)
        with np.errstate(invalid="ignore"):
            amount -= before
            np.minimum(room, amount, out=amount)
        return np.clip(amount, 0.0, None, out=amount)

    def project(self, y: np.ndarray) -> np.ndarray:
        """The nearest point of Y in the Euclidean norm; y itself where it is in Y.

        Where the row is not met, the nearest point is clip(y + k w) for one number k. The row's value
        is piecewise linear in k: its values at the bends by one sort, then one division.

        Raises
        ------
        ProblemError
            Where a coordinate is not finite.
        """
        if not np.isfinite(y).all():
            msg = "a point to be projected on Y is not finite"
            raise ProblemError(msg)
        inside = np.clip(y, self.lower, self.upper)
        if self.weights is None:
            return inside
        w, total = self.weights, float(self.weights @ inside)
        target = min(max(total, self.row_lower), self.row_upper)
        apart, size = abs(total - target), abs(total) + float(w @ np.abs(inside))
        if apart <= 4 * EPS * size:
            return inside
        if apart <= len(y) * EPS * size:  # what a sum of m terms may be off by: not worth a sort
            return self._polish(inside, target)
        opens, shuts = (self.lower - y) / w, (self.upper - y) / w
        closing = np.isfinite(shuts)
        bends = np.concatenate([opens, shuts[closing]])
        slopes = np.concatenate([w * w, -(w[closing] ** 2)])
        order = np.argsort(bends, kind="stable")
        bends, slopes = bends[order], np.cumsum(slopes[order])
        # the row's value at each bend, up from the first, where every coordinate is at its lower bound
        reached = float(w @ self.lower) + np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(bends))])
        k = bends[max(0, int(np.searchsorted(reached, target, side="right")) - 1)]
        free = (opens <= k) & (k < shuts)
        if np.any(free):
            k += max(0.0, target - float(w @ np.clip(y + k * w, self.lower, self.upper))) / float(w[free] @ w[free])
        return self._polish(np.clip(y + k * w, self.lower, self.upper), target)

    def move_below(self, y: np.ndarray, cost: np.ndarray, bound: float, scale: np.ndarray) -> np.ndarray:
        """The smallest move from y to a point of Y with cost . y <= bound, in the norm ||scale o (.)||_2.

        The answer is the projection of y - k cost / scale^2 for the least k >= 0 that will do; its cost
        falls with k, so that a secant between a k too small and one large enough finds it. The end
        that is large enough is taken, once it is within a hundredth of the move: the bound holds.
        A bound that Y does not reach gives the minimizer of the cost.
        """
        scaled = KnapsackSet(
            self.lower * scale,
            self.upper * scale,
            None if self.weights is None else self.weights / scale,
            self.row_lower,
            self.row_upper,
        )
        start, slope = y * scale, cost / scale

        def at(k: float) -> np.ndarray:
            return scaled.project(start - k * slope)

        point = at(0.0)
        low, low_excess = 0.0, float(slope @ point) - bound
        if low_excess <= 4 * EPS * float(np.abs(slope) @ np.abs(point)):  # met but for rounding, which no move mends
            return point / scale
        if not np.any(slope):
            return self.minimize(cost)[1]
        first_excess = low_excess
        rate = float(slope @ slope)  # at which the cost falls with k, while no bound is met
        if scaled.weights is not None and self.row_lower == self.row_upper:
            along = float(slope @ scaled.weights) ** 2 / float(scaled.weights @ scaled.weights)
            rate = max(rate - along, 1e-9 * rate)
        # a little past the answer for a Y without bounds: which side of it rounding falls on must not matter
        high = (1 + 5e-4) * low_excess / rate
        for _ in range(200):
            point = at(high)
            high_excess = float(slope @ point) - bound
            if high_excess <= 0:
                break
            # bounds that are met slow the fall: go on by the rate of the last stretch, and half as far again
            fallen = (low_excess - high_excess) / (high - low)
            step = high_excess / fallen if fallen > 0 else high
            low, low_excess, high = high, high_excess, high + min(max(1.5 * step, 0.1 * high), 100 * high)
        else:
            return self.minimize(cost)[1]
        for _ in range(60):
            if high_excess >= -1e-2 * first_excess:
                break
            # aim a little past the secant, so that the large enough end moves too
            middle = low + (high - low) * min(0.9, max(0.1, 1.05 * low_excess / (low_excess - high_excess)))
            candidate = at(middle)
            excess = float(slope @ candidate) - bound
            if excess <= 0:
                high, high_excess, point = middle, excess, candidate
            else:
                low, low_excess = middle, excess
        return point / scale

    def _polish(self, y: np.ndarray, target: float) -> np.ndarray:
        """Spread the last rounding of the row over the coordinates that are free to take it."""
        w = self.weights
        assert w is not None
        missing = target - float(w @ y)
        room = (self.upper - y) if missing > 0 else (y - self.lower)
        np.minimum(room, np.abs(y) + 1.0, out=room)
        total = float((w * room).sum())
        if total > 0 and missing != 0:
            room *= missing
            room /= total
            room += y
            return np.clip(room, self.lower, self.upper, out=room)
        return y

    def center(self) -> np.ndarray:
        """A point in the relative interior (of a bounded Y)."""
        if self.weights is None:
            return (self.lower + self.upper) / 2
        low = float(self.weights @ self.lower)
        high = min(self.row_upper, float(self.weights @ self.upper))
        if self.row_lower == self.row_upper:
            target = self.row_upper
        else:
            target = (max(self.row_lower, low) + high) / 2
        share = 1.0 / (self.weights * self.size)
        if len(self.capped) == 0:
            return self.lower + max(0.0, target - low) * share
        room = np.minimum(self.upper - self.lower, (high - low) / self.weights)
        total = float(self.weights @ room)
        fraction = min(1.0, (target - low) / total) if total > 0 else 0.0
        return self.lower + fraction * room

    def constraints(self, y: Any) -> list[Any]:
        """Y as cvxpy constraints on the expression y."""
        out = []
        for value, sign in ((self.lower, 1), (self.upper, -1)):
            finite = np.flatnonzero(np.isfinite(value))
            if len(finite):
                out.append(sign * y[finite] >= sign * value[finite])
        if self.weights is not None:
            row = self.weights @ y
            if self.row_lower == self.row_upper:
                return [*out, row == self.row_upper]
            if np.isfinite(self.row_lower):
                out.append(row >= self.row_lower)
            if np.isfinite(self.row_upper):
                out.append(row <= self.row_upper)
        return out
