"""What machines compute in a round, from their rows and what they hold: pure functions of a block.

    prox:   u_i = argmin over u of  ||u - t_i||^2 / 2 a_i + F_i(u),      so that u_i = t_i - a_i grad F_i(u_i)

for the square loss by one decomposition for all rounds, for smooth losses by Newton's method, all machines of a block
at once. Losses with a corner are in `corner`.
"""

from __future__ import annotations

import numpy as np

from matrixlearn.losses import Loss
from matrixlearn.machines import Block

EPS = float(np.finfo(np.float64).eps)
STEPS = 60
HALVINGS = 40


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

    value, still = total(U), np.zeros(len(block), bool)  # a machine that is done waits for the others of its block
    for _ in range(STEPS):
        pull = inverse[:, None] * (U - T)
        G = slope(block, U, loss)
        gradient = G + pull
        size = np.linalg.norm(gradient, axis=1)
        still |= size <= 8 * EPS * (np.linalg.norm(G, axis=1) + np.linalg.norm(pull, axis=1)) + 1e-300
        if still.all():
            break
        H = curvature(block, U, loss) + inverse[:, None, None] * near
        D = -np.linalg.solve(H, gradient[:, :, None])[:, :, 0]
        slopes, length = np.sum(D * gradient, axis=1), np.where(still, 0.0, 1.0)
        for _ in range(HALVINGS):
            trial = total(U + length[:, None] * D)
            bad = ~still & (trial > value + 1e-4 * length * slopes + 4 * EPS * np.abs(value))
            if not bad.any():
                break
            length = np.where(bad, length / 2, length)
        moved = length[:, None] * D
        U, value = np.where(still[:, None], U, U + moved), np.where(still, value, trial)
        still |= np.abs(moved).max(axis=1) <= 4 * EPS * np.abs(U).max(axis=1)
        if still.all():
            break
    return U
