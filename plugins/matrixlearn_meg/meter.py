"""The regret meter: what the learner lost, what a comparator U would have, and the bound between them.

Lemma 3.1, summed over rounds with their own eta_t and b_t:

    L_MEG <= (sum_t b_t (tr(U X_t) - y_t)^2 + Delta(U, W_1)) / min_t eta_t,

which is Lemma 3.2 where eta_t = 2c / (r^2 (2 + c)) and b_t = c / r^2 at every round. The bound is for the
square loss and the normalized update; it is infinite as soon as some eta_t >= 2 / r_t^2 met a U with loss.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import inner
from matrixlearn.validation import as_hermitian
from matrixlearn_meg.instances import Instance
from matrixlearn_meg.rates import constant_b


def comparator_of(U: Any, d: int) -> np.ndarray:
    """A density matrix U, checked."""
    U = np.asarray(as_hermitian("comparator", U, d))
    w = np.linalg.eigvalsh(U)
    if w[0] < -1e-10 or abs(w.sum() - 1) > 1e-9:
        msg = (
            f"comparator must be positive semidefinite of trace one, got lambda_min {w[0]:.3g}, trace {w.sum():.9g}; "
            "divide it and the labels by its trace"
        )
        raise ProblemError(msg)
    return U


def divergence(U: np.ndarray, minus_log_W1: np.ndarray) -> float:
    """Delta(U, W_1) = tr(U log U - U log W_1), for trace one."""
    w = np.linalg.eigvalsh(U)
    w = w[w > 0]
    return max(0.0, float(w @ np.log(w)) + inner(U, minus_log_W1))


@dataclass(eq=False)
class Meter:
    """Loss, comparator's loss and bound, round by round.

    Parameters
    ----------
    comparator : array, shape (d, d), optional
        U; without one there is no bound.
    distance : float
        Delta(U, W_1).
    bounded : bool
        Whether Lemma 3.1 is about this learner.
    """

    comparator: np.ndarray | None = None
    distance: float = 0.0
    bounded: bool = True
    losses: array = field(default_factory=lambda: array("d"))
    """The learner's loss of every round."""
    comparator_losses: array = field(default_factory=lambda: array("d"))
    """The comparator's."""
    bounds: array = field(default_factory=lambda: array("d"))
    """The bound on the total loss, after every round."""
    weighted: float = 0.0
    least_rate: float = math.inf

    def record(self, instance: Instance, y: float, paid: float, rate: float, loss: Any, spread: float) -> None:
        """One more round."""
        if self.comparator is None:
            self.add(paid, math.nan, rate, spread)
            return
        p = instance.inner(self.comparator)
        exact = abs(p - y) <= 1e-13 * (abs(p) + abs(y))  # no loss but rounding: b may be infinite
        self.add(paid, float(loss.value(p, y)), rate, spread, counted=not exact)

    def add(self, paid: float, theirs: float, rate: float, spread: float, *, counted: bool = True) -> None:
        """One more round, by what the learner and the comparator have paid; ``counted`` is what the bound counts."""
        self.losses.append(paid)
        if self.comparator is None:
            return
        self.comparator_losses.append(theirs)
        if not self.bounded:
            return
        self.least_rate = min(self.least_rate, rate)
        self.weighted += constant_b(rate, spread) * theirs if counted and theirs > 0 else 0.0
        self.bounds.append((self.weighted + self.distance) / self.least_rate)

    @property
    def total(self) -> float:
        """The learner's total loss."""
        return float(np.sum(self.losses)) if self.losses else 0.0

    @property
    def bound(self) -> float:
        """The bound on it; inf where there is none."""
        return self.bounds[-1] if self.bounds else math.inf

    @property
    def regret(self) -> float:
        """The learner's total loss less the comparator's; NaN without a comparator."""
        return math.nan if self.comparator is None else self.total - float(np.sum(self.comparator_losses))

    def plot(self, axes: Any) -> None:
        """Figure 2, left: total loss, comparator's loss and bound against rounds, on matplotlib axes."""
        t = np.arange(1, len(self.losses) + 1)
        axes.plot(t, np.cumsum(self.losses), color="C0", label="MEG")
        if self.comparator is not None:
            axes.plot(t, np.cumsum(self.comparator_losses), color="C2", label="comparator U")
        bounds = np.array(self.bounds)
        if len(bounds) and np.any(np.isfinite(bounds)):
            axes.plot(t, bounds, color="C3", ls="--", label="bound (Lemma 3.2)")
        axes.set(xlabel="round", ylabel="total loss", title="total loss of the stream")
        axes.set_ylim(0, 1.35 * axes.get_ylim()[1])  # room for the legend above the curves
        axes.legend(frameon=False, loc="upper left")
