"""What machines compute in a round, from their rows and what they hold: pure functions of a block.

    prox:   u_i = argmin over u of  ||u - t_i||^2 / 2 a_i + F_i(u),      so that u_i = t_i - a_i grad F_i(u_i)

for the square loss by one decomposition for all rounds, for smooth losses by Newton's method, for losses with a
corner by an interior-point method on the dual; all machines of a block at once.
"""

from __future__ import annotations

import numpy as np

from matrixlearn.losses import Loss
from matrixlearn.machines import Block

EPS = float(np.finfo(np.float64).eps)
STEPS = 60
HALVINGS = 40

SHARP, NEAR = 1e-12, 1e-8
"""The part of a machine's own objective to which its interior-point method goes, and from where on it may end before."""


def slope(block: Block, W: np.ndarray, loss: Loss) -> np.ndarray:
    """The gradients of F_i at w_i, (k, d)."""
    return block.adjoint(block.shares * loss.gradient(block.predict(W), block.y))


def curvature(block: Block, W: np.ndarray, loss: Loss) -> np.ndarray:
    """The Hessians of F_i at w_i, (k, d, d)."""
    return block.gram(block.shares * loss.curvature(block.predict(W), block.y))


def proximal(block: Block, T: np.ndarray, a: np.ndarray, start: np.ndarray, loss: Loss) -> np.ndarray:
    """u_i, (k, d), for targets T (k, d) and steps a (k,); for smooth losses."""
    if loss.strong_convexity > 0:  # the square: f = weight (p - y)^2 / 2
        values, E = block.spectra
        right = loss.strong_convexity * block.moments[1] + T / a[:, None]
        turned = np.matmul(right[:, None], E)[:, 0]
        return np.matmul(E, (turned / (loss.strong_convexity * values + 1 / a[:, None]))[:, :, None])[:, :, 0]
    return _by_newton(block, T, a, start, loss)


def _by_newton(block: Block, T: np.ndarray, a: np.ndarray, U: np.ndarray, loss: Loss) -> np.ndarray:
    """Newton's method with halved steps, each machine its own."""
    near, inverse = np.eye(block.width), 1 / a

    def total(V: np.ndarray) -> np.ndarray:
        each = block.summed(block.shares * loss.value(block.predict(V), block.y))
        return each + inverse * np.sum((V - T) ** 2, axis=1) / 2

    value = total(U)
    for _ in range(STEPS):
        pull = inverse[:, None] * (U - T)
        G = slope(block, U, loss)
        gradient = G + pull
        size = np.linalg.norm(gradient, axis=1)
        if np.all(size <= 8 * EPS * (np.linalg.norm(G, axis=1) + np.linalg.norm(pull, axis=1)) + 1e-300):
            break
        H = curvature(block, U, loss) + inverse[:, None, None] * near
        D = -np.linalg.solve(H, gradient[:, :, None])[:, :, 0]
        slopes, length = np.sum(D * gradient, axis=1), np.ones(len(block))
        for _ in range(HALVINGS):
            trial = total(U + length[:, None] * D)
            bad = trial > value + 1e-4 * length * slopes + 4 * EPS * np.abs(value)
            if not bad.any():
                break
            length = np.where(bad, length / 2, length)
        moved = length[:, None] * D
        U, value = U + moved, trial
        if np.all(np.abs(moved).max(axis=1) <= 4 * EPS * np.abs(U).max(axis=1)):
            break
    return U


def proximal_pair(block: Block, T: np.ndarray, a: np.ndarray, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """u_i (k, d) and the slopes y_j (n,) with u_i = t_i - a_i sum_j s_j y_j x_j, for losses with a corner.

    The dual of a machine is a quadratic over a box: with q_j = x_j . t_i and z = s y,

        min over lower <= y <= upper of  sum_j s_j (f*(y_j) - q_j y_j) + a_i/2 ||X_i^T z||^2

    Mehrotra's predictor and corrector, a d x d system a machine in each step.
    """
    s, b = block.shares, block.y
    lower, upper = (np.broadcast_to(np.asarray(end, dtype=float), b.shape) for end in loss.domain(b))
    width = upper - lower
    # f* = c y on the box for these losses: c from its two ends
    cost = s * ((loss.conjugate(upper, b) - loss.conjugate(lower, b)) / width - block.predict(T))
    to_low, to_high = width / 2, width / 2  # each kept by itself: near an end a difference has no digits
    middle = (lower + upper) / 2
    first = cost + s * block.predict(a[:, None] * block.adjoint(s * middle))
    size = np.maximum(block.summed(np.abs(first)) / block.sizes, 1e-300)
    # multipliers of the two ends, such that the gradient of the Lagrangian is 0
    low, high = np.maximum(first, 0.0) + block.spread(size), np.maximum(-first, 0.0) + block.spread(size)
    best_gap, best = np.full(len(block), np.inf), middle
    for _ in range(STEPS):
        y = np.where(to_low < to_high, lower + to_low, upper - to_high)
        bent = s * block.predict(a[:, None] * block.adjoint(s * y))
        gradient = cost + bent
        mu = block.summed(low * to_low + high * to_high) / (2 * block.sizes)
        residual = gradient - low + high
        worth = block.summed((np.abs(cost) + np.abs(bent)) * width) + EPS * size
        gap = 2 * block.sizes * mu + np.abs(block.summed(residual * width))
        better = gap < best_gap
        best_gap, best = np.where(better, gap, best_gap), np.where(block.spread(better), y, best)
        open_still = (gap > SHARP * worth) & (better | (best_gap > NEAR * worth))  # else rounding has the last word
        if not open_still.any():
            break
        diagonal = low / to_low + high / to_high
        # eigenvalues >= 1, however large the largest
        values, E = np.linalg.eigh(np.eye(block.width) + a[:, None, None] * block.gram(s**2 / diagonal))
        inner = np.matmul(E / np.maximum(values, 1.0)[:, None, :], E.transpose(0, 2, 1))

        def solved(right: np.ndarray, diagonal: np.ndarray = diagonal, inner: np.ndarray = inner) -> np.ndarray:
            """(diag + a s X X^T s)^-1 right, by d x d systems."""
            down = right / diagonal
            pulled = np.matmul(inner, (a[:, None] * block.adjoint(s * down))[:, :, None])[:, :, 0]
            return down - s * block.predict(pulled) / diagonal

        def direction(low_goal: np.ndarray, high_goal: np.ndarray, residual: np.ndarray = residual) -> tuple[np.ndarray, ...]:
            right = -residual - (low - low_goal / to_low) + (high - high_goal / to_high)
            move = solved(right)
            return move, low_goal / to_low - low - low / to_low * move, high_goal / to_high - high + high / to_high * move

        zero = np.zeros_like(y)
        move, d_low, d_high = direction(zero, zero)
        length = block.spread(_longest(block, (to_low, move), (to_high, -move), (low, d_low), (high, d_high)))
        ahead = block.summed(
            (low + length * d_low) * (to_low + length * move) + (high + length * d_high) * (to_high - length * move)
        ) / (2 * block.sizes)
        centre = block.spread(np.minimum(1.0, (ahead / np.maximum(mu, 1e-300)) ** 3) * mu)
        move, d_low, d_high = direction(centre - move * d_low, centre + move * d_high)
        longest = 0.995 * _longest(block, (to_low, move), (to_high, -move), (low, d_low), (high, d_high))
        length = block.spread(np.where(open_still, longest, 0.0))
        to_low, to_high = to_low + length * move, to_high - length * move
        low, high = low + length * d_low, high + length * d_high
    y = np.clip(best, lower, upper)
    return T - a[:, None] * block.adjoint(s * y), y


def _longest(block: Block, *pairs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """For each machine the largest step in (0, 1] that keeps all values positive, (k,)."""
    longest = np.ones(len(block))
    for value, move in pairs:
        ratio = np.where(move < 0, value / np.where(move < 0, -move, 1.0), np.inf)
        longest = np.minimum(longest, np.minimum.reduceat(ratio, block.ends[:-1]))
    return longest
