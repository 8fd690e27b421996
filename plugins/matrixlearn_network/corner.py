"""The proximal step of losses with a corner, by an interior-point method on the dual, all machines of a block at once.

    u_i = argmin over u of ||u - t_i||^2 / 2 a_i + F_i(u) = t_i - a_i sum_j s_j y_j x_j

The dual of a machine is a quadratic over a box: with q_j = x_j . t_i and z = s y,

    min over lower <= y <= upper of  sum_j s_j (f*(y_j) - q_j y_j) + a_i/2 ||X_i^T z||^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.losses import Loss
from matrixlearn.machines import Block

STEPS = 60
TINY = 1e-300

SHARP, NEAR = 1e-12, 1e-8
"""The part of a machine's own objective to which the method goes, and from where on rounding may end it before."""


@dataclass(frozen=True, eq=False)
class Inside:
    """Distances of y from the two ends of its interval, and their multipliers: all positive, (n,).

    Each is kept by itself: near an end a difference has no digits.
    """

    to_low: np.ndarray
    to_high: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def moved(self, y: np.ndarray, low: np.ndarray, high: np.ndarray, length: np.ndarray) -> Inside:
        """After a step of a length by row along moves of y and of the multipliers."""
        return Inside(
            self.to_low + length * y, self.to_high - length * y, self.low + length * low, self.high + length * high
        )

    def longest(self, y: np.ndarray, low: np.ndarray, high: np.ndarray, block: Block) -> np.ndarray:
        """For each machine the largest step in (0, 1] that keeps all positive, (k,)."""
        longest = np.ones(len(block))
        for value, move in ((self.to_low, y), (self.to_high, -y), (self.low, low), (self.high, high)):
            ratio = np.where(move < 0, value / np.where(move < 0, -move, 1.0), np.inf)
            longest = np.minimum(longest, np.minimum.reduceat(ratio, block.ends[:-1]))
        return longest

    def mean(self, block: Block) -> np.ndarray:
        """The mean product of a distance and its multiplier, (k,)."""
        return block.summed(self.low * self.to_low + self.high * self.to_high) / (2 * block.sizes)


class Newton:
    """The system of one step: (diag + a s X X^T s) move = right, by d x d systems.

    Parameters
    ----------
    block : Block
    a : array, shape (k,)
    at : Inside
    residual : array, shape (n,)
        The gradient of the Lagrangian.
    """

    def __init__(self, block: Block, a: np.ndarray, at: Inside, residual: np.ndarray) -> None:
        self.block, self.a, self.at, self.residual = block, a, at, residual
        self.diagonal = at.low / at.to_low + at.high / at.to_high
        gram = block.gram(block.shares**2 / self.diagonal)
        values, E = np.linalg.eigh(np.eye(block.width) + a[:, None, None] * gram)  # >= 1, however large the largest
        self.inner = np.matmul(E / np.maximum(values, 1.0)[:, None, :], E.transpose(0, 2, 1))

    def direction(self, low_goal: np.ndarray, high_goal: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Moves of y and of both multipliers towards products of these sizes."""
        at, s = self.at, self.block.shares
        right = -self.residual - (at.low - low_goal / at.to_low) + (at.high - high_goal / at.to_high)
        down = right / self.diagonal
        pulled = np.matmul(self.inner, (self.a[:, None] * self.block.adjoint(s * down))[:, :, None])[:, :, 0]
        y = down - s * self.block.predict(pulled) / self.diagonal
        low = low_goal / at.to_low - at.low - at.low / at.to_low * y
        return y, low, high_goal / at.to_high - at.high + at.high / at.to_high * y


def proximal_pair(block: Block, T: np.ndarray, a: np.ndarray, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """u_i (k, d) and the slopes y_j (n,), for targets T (k, d) and steps a (k,): Mehrotra's predictor and corrector."""
    s, b = block.shares, block.y
    lower, upper = (np.broadcast_to(np.asarray(end, dtype=float), b.shape) for end in loss.domain(b))
    width, middle = upper - lower, (lower + upper) / 2
    # f* is linear on the box: its slope from the two ends
    cost = s * ((loss.conjugate(upper, b) - loss.conjugate(lower, b)) / width - block.predict(T))
    first = cost + s * block.predict(a[:, None] * block.adjoint(s * middle))
    size = block.spread(np.maximum(block.summed(np.abs(first)) / block.sizes, TINY))
    at = Inside(width / 2, width / 2, np.maximum(first, 0.0) + size, np.maximum(-first, 0.0) + size)
    best_gap, best, zero = np.full(len(block), np.inf), middle, np.zeros_like(middle)
    for _ in range(STEPS):
        y = np.where(at.to_low < at.to_high, lower + at.to_low, upper - at.to_high)
        bent = s * block.predict(a[:, None] * block.adjoint(s * y))
        residual = cost + bent - at.low + at.high
        mu = at.mean(block)
        gap = 2 * block.sizes * mu + np.abs(block.summed(residual * width))
        worth = block.summed((np.abs(cost) + np.abs(bent)) * width) + TINY
        better = gap < best_gap
        best_gap, best = np.where(better, gap, best_gap), np.where(block.spread(better), y, best)
        runs = (gap > SHARP * worth) & (better | (best_gap > NEAR * worth))  # else rounding has the last word
        if not runs.any():
            break
        newton = Newton(block, a, at, residual)
        ahead = newton.direction(zero, zero)
        trial = at.moved(*ahead, block.spread(at.longest(*ahead, block))).mean(block)
        centre = block.spread(np.minimum(1.0, (trial / np.maximum(mu, TINY)) ** 3) * mu)
        move, low, high = newton.direction(centre - ahead[0] * ahead[1], centre + ahead[0] * ahead[2])
        longest = 0.995 * at.longest(move, low, high, block)
        at = at.moved(move, low, high, block.spread(np.where(runs, longest, 0.0)))
    y = np.clip(best, lower, upper)
    return T - a[:, None] * block.adjoint(s * y), y
