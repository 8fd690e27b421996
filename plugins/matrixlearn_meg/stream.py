"""Online learning of a density matrix: a stream of (X_t, y_t), one round each.

    p_t = tr(W_t X_t),    pay l(p_t, y_t),    G_t = G_{t-1} + eta_t l'(p_t, y_t) sym(X_t),    W_{t+1} = W(G_t)

Algorithm 1 of Tsuda, Raetsch and Warmuth (2005). The rounds are those of `matrixlearn.engines.MirrorDescent`:
this file brings the oracle, `Examples`, and what it remembers from one round to the next.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import Loss
from matrixlearn.oracles import Done, Move
from matrixlearn.validation import as_number
from matrixlearn_meg.implicit import implicit_step
from matrixlearn_meg.instances import Dense, Instance, as_instance
from matrixlearn_meg.losses import SQUARE
from matrixlearn_meg.meter import Meter
from matrixlearn_meg.rates import Lemma32, Seen

END = "end of stream"
BAD = "bad input"
WINDOW = 50
"""Rounds over which divergence is judged."""
WORSE = 2.0
"""Where a learner counts as diverging: its loss is this many times that of never learning. With
eta <= 1 / r^2 Lemma 3.2 forbids it over a whole stream, for the square: c <= 2 and U = W_1 give L <= 2 L(W_1)."""


FAR, SOON = 100.0, 10
"""Where r^2 eta is FAR above the 2 of Lemma 3.1, to lose to W_1 for SOON rounds is to diverge."""


class DivergenceWarning(UserWarning):
    """The learning rate is too large: predictions cost several times what those of W_1 would have."""


class Memory(NamedTuple):
    """What a learner remembers beside G.

    Attributes
    ----------
    rounds : int
        Rounds learned.
    total_loss : float
        What they cost.
    spread : float
        The largest range of eigenvalues of an instance.
    slopes : float
        sum of (l'_t r_t)^2.
    lately, idle : float
        Running means, over about `WINDOW` rounds, of the loss and of the loss of W_1.
    warned : bool
        Whether the divergence has been said.
    """

    rounds: int = 0
    total_loss: float = 0.0
    spread: float = 0.0
    slopes: float = 0.0
    lately: float = 0.0
    idle: float = 0.0
    warned: bool = False


FRESH = Memory()


@dataclass(eq=False)
class Snapshots:
    """Copies of W_t at every ``every``-th round, by round; none where ``every`` is 0."""

    every: int = 0
    taken: dict[int, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Setting:
    """What stays the same from round to round."""

    stream: Iterator[tuple[Any, Any]]
    d: int
    loss: Loss
    rate: Any
    update: str
    meter: Meter
    W1: np.ndarray
    snapshots: Snapshots = field(default_factory=Snapshots)

    @cached_property
    def square(self) -> bool:
        """Whether the loss is that of the paper."""
        return self.loss == SQUARE

    def judged(self, memory: Memory, paid: float, idle: float, rate: float) -> Memory:
        """The memory of a round that has cost ``paid``, and ``idle`` by W_1; divergence is said once."""
        lately = memory.lately + (paid - memory.lately) / WINDOW
        idle = memory.idle + (idle - memory.idle) / WINDOW
        far = self.update == "normalized" and self.square and rate * memory.spread**2 > FAR
        diverging = (memory.rounds >= WINDOW and lately > WORSE * idle) or (
            far and memory.rounds >= SOON and lately > idle
        )
        after = memory._replace(lately=lately, idle=idle, warned=memory.warned or diverging)
        if diverging and not memory.warned:
            self.warn(after, rate)
        return after

    def warn(self, memory: Memory, rate: float) -> None:
        """Say that the learner diverges."""
        safe = f"; 1 / r^2 = {1 / memory.spread**2:.3g} cannot, for the square loss" if memory.spread > 0 else ""
        ratio = memory.lately / memory.idle if memory.idle else math.inf
        msg = (
            f"round {memory.rounds}: the learning rate {rate:.3g} is too large and the learner diverges: the last "
            f"{min(WINDOW, memory.rounds)} rounds or so cost {ratio:.3g} times what predictions by W_1 would have{safe}"
        )
        warnings.warn(msg, DivergenceWarning, stacklevel=2)


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """The oracle of a stream: the next example, its loss and step; "end of stream", or "bad input".

    A bad example ends the rounds before anything has changed, with the error for evidence: what was learned
    until then stays.
    """

    setting: Setting
    memory: Memory = FRESH

    def __call__(self, X: np.ndarray) -> Move | Done:
        its, memory, W = self.setting, self.memory, X
        number = memory.rounds + 1
        if its.snapshots.every and memory.rounds % its.snapshots.every == 0:
            its.snapshots.taken[memory.rounds] = np.array(W)
        try:
            example = next(its.stream, None)
        except Exception as error:  # the stream's own: it must not cost what was learned
            error.add_note(f"while round {number} was read from the stream")
            return Done(BAD, evidence=error)
        if example is None:
            return Done(END)
        try:
            instance, y = self.checked(example, number)
            p = instance.inner(W)
            paid = float(its.loss.value(p, y))
            if not math.isfinite(paid):
                msg = (
                    f"round {number}: diverged, {p:.3g} for {y:.3g} costs {paid}; take a smaller rate, or larger units"
                )
                raise ProblemError(msg)
            slope = float(its.loss.gradient(p, y))
            spread = self.range_of(instance, number)
        except ProblemError as error:
            return Done(BAD, evidence=error)
        widest = max(memory.spread, spread)
        steep = slope * spread
        slopes = memory.slopes + steep * steep
        rate = its.rate.at(Seen(its.d, its.square, widest, memory.total_loss, slopes))
        step = rate * slope if its.update != "logdet" else implicit_step(instance, W, y, rate, its.loss)
        its.meter.record(instance, y, paid, rate, its.loss, widest)
        idle = float(its.loss.value(instance.inner(its.W1), y))
        after = its.judged(Memory(number, memory.total_loss + paid, widest, slopes, *memory[4:]), paid, idle, rate)
        return Move(instance, step, then=Examples(its, after))

    def checked(self, example: Any, number: int) -> tuple[Instance, float]:
        """The instance and the label of a round; errors name the round."""
        try:
            X, y = example
        except (TypeError, ValueError) as error:
            msg = f"round {number}: an example must be a pair (X, y), got {type(example).__name__}"
            raise ProblemError(msg) from error
        try:
            instance = as_instance(X, self.setting.d)
            label = as_number("y", y)
            if not math.isfinite(label):
                msg = f"y must be finite, got {label}"
                raise ProblemError(msg)
            self.setting.loss.check_labels(label)
        except ProblemError as error:
            msg = f"round {number}: {error}"
            raise ProblemError(msg) from error
        return instance, label

    def range_of(self, instance: Instance, number: int) -> float:
        """The range of the eigenvalues of sym(X_t), or what the rate was promised of it."""
        spread, rate = instance.spread, self.setting.rate
        if not isinstance(rate, Lemma32):
            return spread
        if spread > rate.r * (1 + 1e-9):
            if isinstance(instance, Dense):  # its spread is only an upper bound
                w = np.linalg.eigvalsh(instance.X)
                spread = float(w[-1] - w[0])
            if spread > rate.r * (1 + 1e-9):
                msg = (
                    f"round {number}: the eigenvalues of sym(X) have range {spread:.6g}, more than the "
                    f"r = {rate.r:.6g} that the rate was made for"
                )
                raise ProblemError(msg)
        return rate.r  # the b_t of Lemma 3.2


def pairs_of(X: Any, y: Any) -> Iterable[tuple[Any, Any]]:
    """(X_t, y_t), one by one; a length that differs is an error of the round where it shows."""
    xs, ys = iter(X), iter(y)
    missing = object()
    for number in count(1):
        a, b = next(xs, missing), next(ys, missing)
        if a is missing and b is missing:
            return
        if a is missing or b is missing:
            msg = f"{'X' if a is missing else 'y'} has {number - 1} rounds, the other more"
            raise ProblemError(msg)
        yield a, b
