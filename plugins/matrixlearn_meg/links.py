"""How the multipliers u = c v hang on the predictions p, as far as Newton's method needs it.

    Free       p = q(v)
    Bounded    p = q(v) + a - b,    c a (high - v) = c b (v - low) = k mu,    a, b > 0,    low < v < high

c > 0 is what each instance counts, 1 / T or its share of all weight, and k = c / min c: the central path of an instance
of twice the weight is that of one that is there twice. q inverts l' between the ends of its range, low and high
(`Loss.inverse`): q(v) = y + v / 2 for the square, y + v for Huber's loss, y for the absolute one, the logit for the
logistic one. v tends to l'(p, y) as mu -> 0. Newton's step is du = beta (dp + h), beta > 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from matrixlearn.losses import Loss

if TYPE_CHECKING:
    from matrixlearn_meg.problem import MEGRegression

MOST = 10.0
"""The most that k may be: from so many times the least weight on, products fall alike."""


@dataclass(frozen=True, eq=False)
class Change:
    """A step of v, and of what else there is; the largest that leaves no bound."""

    v: np.ndarray
    room: float = np.inf
    a: np.ndarray = field(default_factory=lambda: np.zeros(0))
    b: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Link(Protocol):
    """The multipliers u, and the variables that tie them to the predictions p."""

    @property
    def u(self) -> np.ndarray:
        """c v."""

    @property
    def pairs(self) -> float:
        """How many products must fall to mu."""

    @property
    def complementarity(self) -> float:
        """Their sum."""

    @property
    def slopes(self) -> np.ndarray:
        """beta."""

    def opened(self, mu: float) -> Link:
        """With products of at least mu."""

    def raised(self, delta: float, width: float) -> Link:
        """With products below delta raised to it; a difference of p and q(v) counts as no less than what makes a whole
        range of v worth a share of ``width``.
        """

    def missing(self, p: np.ndarray, mu: float, second: Change | None) -> np.ndarray:
        """h, for products of mu less the second order of another step."""

    def change(self, du: np.ndarray, mu: float, second: Change | None) -> Change:
        """The step of everything."""

    def moved(self, change: Change, step: float) -> Link:
        """After the step."""


def link_of(problem: MEGRegression, p: np.ndarray) -> Link:
    """The link at first predictions."""
    low, high = problem.ends
    v = np.asarray(problem.loss.gradient(p, problem.y))
    if np.all(np.isfinite(high - low)):
        v = (v + (low + high) / 2) / 2
    return link_at(problem, p, v)


def link_at(problem: MEGRegression, p: np.ndarray, v: np.ndarray) -> Link:
    """The link at predictions p and multipliers c v."""
    loss, y, share, (low, high) = problem.loss, problem.y, problem.share, problem.ends
    if not np.all(np.isfinite(high - low)):
        return Free(loss, y, share, v)
    above, below = high - v, v - low
    e = p - loss.inverse(v, above, below, y)
    return Bounded(
        loss, y, share, np.minimum(share / share.min(), MOST), v, above, below, np.maximum(e, 0.0), np.maximum(-e, 0.0)
    )


@dataclass(frozen=True, eq=False)
class Free:
    """p = q(v)."""

    loss: Loss
    y: np.ndarray
    share: np.ndarray
    """c."""
    v: np.ndarray

    pairs = 0.0
    complementarity = 0.0

    @property
    def u(self) -> np.ndarray:
        return self.share * self.v

    @property
    def slopes(self) -> np.ndarray:
        return np.asarray(self.share / self.loss.inverse_slope(self.v, np.inf, np.inf))

    def opened(self, mu: float) -> Free:
        return self

    def raised(self, delta: float, width: float) -> Free:
        return self

    def missing(self, p: np.ndarray, mu: float, second: Change | None) -> np.ndarray:
        return p - self.loss.inverse(self.v, np.inf, np.inf, self.y)

    def change(self, du: np.ndarray, mu: float, second: Change | None) -> Change:
        return Change(du / self.share)

    def moved(self, change: Change, step: float) -> Free:
        return replace(self, v=self.v + step * change.v)


@dataclass(frozen=True, eq=False)
class Bounded:
    """p = q(v) + a - b, v between its ends."""

    loss: Loss
    y: np.ndarray
    share: np.ndarray
    """c."""
    times: np.ndarray
    """k."""
    v: np.ndarray
    above: np.ndarray
    """high - v, kept for its digits."""
    below: np.ndarray
    """v - low."""
    a: np.ndarray
    b: np.ndarray

    @property
    def u(self) -> np.ndarray:
        return self.share * self.v

    @property
    def pairs(self) -> float:
        return 2 * float(np.sum(self.times))

    @property
    def complementarity(self) -> float:
        return float(self.share @ (self.a * self.above + self.b * self.below))

    @property
    def slopes(self) -> np.ndarray:
        inverse = self.loss.inverse_slope(self.v, self.above, self.below)
        return np.asarray(self.share / (inverse + self.a / self.above + self.b / self.below))

    def opened(self, mu: float) -> Bounded:
        m = self.times * mu / (self.share * np.minimum(self.above, self.below))
        return replace(self, a=self.a + m, b=self.b + m)

    def raised(self, delta: float, width: float) -> Bounded:
        each, span = self.times * delta / self.share, self.above + self.below
        least, e = width / (len(self.v) * self.share * span), self.a - self.b
        high = np.maximum(self.above, np.minimum(each / np.maximum(e, least), span / 3))
        low = np.maximum(self.below, np.minimum(each / np.maximum(-e, least), span / 3))
        above, below = np.where(low > self.below, span - low, high), np.where(high > self.above, span - high, low)
        a = np.maximum(each / above, e + each / below)
        return replace(self, v=self.v + below - self.below, above=above, below=below, a=a, b=a - e)

    def lacking(self, mu: float, second: Change | None) -> tuple[np.ndarray, np.ndarray]:
        """What the two products lack of k mu / c, less the second order."""
        each = self.times * mu / self.share
        a, b = each - self.a * self.above, each - self.b * self.below
        return (a, b) if second is None else (a + second.a * second.v, b - second.b * second.v)

    def missing(self, p: np.ndarray, mu: float, second: Change | None) -> np.ndarray:
        a, b = self.lacking(mu, second)
        e = p - self.loss.inverse(self.v, self.above, self.below, self.y) - self.a + self.b
        return e - a / self.above + b / self.below

    def change(self, du: np.ndarray, mu: float, second: Change | None) -> Change:
        dv = du / self.share
        a, b = self.lacking(mu, second)
        da, db = (a + self.a * dv) / self.above, (b - self.b * dv) / self.below
        falls = np.concatenate([-da / self.a, -db / self.b, dv / self.above, -dv / self.below])
        fastest = float(np.max(falls))
        return Change(dv, 1 / fastest if fastest > 0 else np.inf, da, db)

    def moved(self, change: Change, step: float) -> Bounded:
        dv = step * change.v
        a, b = self.a + step * change.a, self.b + step * change.b
        return replace(self, v=self.v + dv, above=self.above - dv, below=self.below + dv, a=a, b=b)
