"""Online learning from rows that stay on machines: a round is a batch of each machine's next rows.

    G_t = G_{t-1} + eta_t M_t,    M_t = mean over the batch of l'(x^T W_t x, y) x x^T,    W_{t+1} = W(G_t)

The rounds are those of `MirrorDescent`, the oracle `Minibatches`. Lemma 3.1 holds for the mean loss of a batch with the
constant of its widest instance: M -> -ln tr exp(log W - eta M) is concave, so that what a batch gains in Delta(U, W)
is at least the mean of what its instances would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import quadratic_forms
from matrixlearn.losses import Loss
from matrixlearn.machines import Block, Held
from matrixlearn.oracles import Done, Move
from matrixlearn_meg.instances import Dense
from matrixlearn_meg.rates import Seen
from matrixlearn_meg.stream import BAD, END, Memory, Setting


@dataclass(frozen=True, eq=False)
class Minibatches:
    """The oracle: W down to all machines, the mean loss and its gradient up.

    Parameters
    ----------
    setting : Setting
        Of the learner; its stream is not used.
    memory : Memory
    held : Held
        The machines; row t of each is x_t.
    batch : int
        Rows of each machine a round; a machine that has none left sends nothing more.
    at : int
        Rows of each that have been learned.
    """

    setting: Setting
    memory: Memory
    held: Held
    batch: int
    at: int = 0

    def __call__(self, X: np.ndarray) -> Move | Done:
        its, number = self.setting, self.memory.rounds + 1
        if its.snapshots.every and self.memory.rounds % its.snapshots.every == 0:
            its.snapshots.taken[self.memory.rounds] = np.array(X)
        if not np.all(np.isfinite(X)):
            msg = f"round {number}: diverged, W is not finite any more; take a smaller rate, or larger units"
            return Done(BAD, evidence=ProblemError(msg))
        U = its.meter.comparator
        judged = np.stack([X, its.W1] if U is None else [X, its.W1, U])
        asked = {"judged": judged, "at": self.at, "size": self.batch, "loss": its.loss}
        counts, losses, slopes, widest = self.held.map(_learned, **asked)
        n, ledger = float(counts.sum()), self.held.ledger
        if n == 0:
            return Done(END)
        ledger.down += len(counts) * judged.size
        ledger.up += counts.size + losses.size + slopes.size + widest.size
        ledger.end_round()
        paid, idle, *theirs = (losses.sum(axis=0) / n).tolist()
        if not math.isfinite(paid):
            msg = f"round {number}: diverged, the batch costs {paid}; take a smaller rate, or larger units"
            return Done(BAD, evidence=ProblemError(msg))
        M, spread = Dense(slopes.sum(axis=0) / n), max(self.memory.spread, float(widest.max()))
        steep = self.memory.slopes + M.spread**2
        rate = its.rate.at(Seen(its.d, its.square, spread, self.memory.total_loss, steep))
        its.meter.add(paid, theirs[0] if theirs else math.nan, rate, spread)
        memory = its.judged(replaced(self.memory, number, paid, spread, steep), paid, idle, rate)
        return Move(M, rate, then=replace(self, memory=memory, at=self.at + self.batch))


def replaced(memory: Memory, number: int, paid: float, spread: float, slopes: float) -> Memory:
    """The memory after a round."""
    total = memory.total_loss + paid
    return memory._replace(rounds=number, total_loss=total, spread=spread, slopes=slopes)


def check_labels(block: Block, loss: Loss) -> np.ndarray:
    """Labels that the loss takes, and the number of features, (k,)."""
    loss.check_labels(block.y)
    return np.full(len(block), block.width)


def _learned(block: Block, judged: np.ndarray, at: int, size: int, loss: Any) -> tuple[np.ndarray, ...]:
    """Of the next rows of each machine: their number (k,), the losses of each matrix (k, j), the sum of l' x x^T by the
    first (k, d, d), and the largest ||x||^2 (k,).
    """
    k, d = len(block), block.width
    counts, losses = np.zeros(k), np.zeros((k, len(judged)))
    slopes, widest = np.zeros((k, d, d)), np.zeros(k)
    for i in range(k):
        start = block.ends[i] + at
        rows = slice(start, min(start + size, block.ends[i + 1]))
        if rows.start >= rows.stop:
            continue
        P, y = block.X[rows], block.y[rows]
        P = P.toarray() if hasattr(P, "toarray") else P
        forms = [quadratic_forms(P, W) for W in judged]
        counts[i] = len(y)
        losses[i] = [loss.value(p, y).sum() for p in forms]
        slopes[i] = P.T @ (loss.gradient(forms[0], y)[:, None] * P)
        widest[i] = np.max(np.einsum("nd,nd->n", P, P))
    return counts, losses, slopes, widest
