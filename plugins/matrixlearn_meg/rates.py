"""Learning rates eta_t, and the constants b_t for which Lemma 3.1 holds at them.

    eta (p_t - y_t)^2 - b (tr(U X_t) - y_t)^2 <= Delta(U, W_t) - Delta(U, W_{t+1})        (3.6)

for eta = 2b / (2 + r^2 b), i.e. b = 2 eta / (2 - r^2 eta), r the range of the eigenvalues of sym(X_t).
Rates of 2 / r^2 and more have no b, and no bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_number


def constant_b(eta: float, r: float) -> float:
    """b = 2 eta / (2 - r^2 eta), of Lemma 3.1; inf where eta >= 2 / r^2."""
    left = 2 - r * r * eta
    return 2 * eta / left if left > 0 else math.inf


class Seen(NamedTuple):
    """What a rule may look at when it chooses eta_t.

    Attributes
    ----------
    d : int
        Side length.
    square : bool
        Whether the loss is the square of the paper.
    spread : float
        The largest range of eigenvalues of an instance so far, this round's included.
    total_loss : float
        The learner's loss before this round.
    slopes : float
        sum of (l'_s r_s)^2, this round's included.
    """

    d: int
    square: bool
    spread: float
    total_loss: float
    slopes: float


@runtime_checkable
class Rate(Protocol):
    """A rule for eta_t."""

    def at(self, seen: Seen) -> float:
        """eta_t, > 0."""


@dataclass(frozen=True)
class Fixed(Rate):
    """eta_t = eta.

    Parameters
    ----------
    eta : float
        > 0.
    """

    eta: float

    def __post_init__(self) -> None:
        if not 0 < as_number("rate", self.eta) < math.inf:
            msg = f"rate must be positive and finite, got {self.eta!r}; rate='adaptive' chooses one"
            raise ProblemError(msg)

    def at(self, seen: Seen) -> float:
        return self.eta


@dataclass(frozen=True)
class Lemma32(Rate):
    """eta = 2c / (r^2 (2 + c)), for which L_MEG <= (1 + c/2) L_U + (1/2 + 1/c) r^2 Delta(U, W_1)  (3.7).

    Parameters
    ----------
    r : float
        An upper bound of the range of eigenvalues of every instance; a round beyond it is refused.
    c : float, optional
        The trade-off, > 0. Without it the tightest for the next two: c = r sqrt(2 d_max / L_max).
    loss_max : float, optional
        An upper bound of the comparator's total loss; 0 (the default) gives eta = 2 / r^2.
    divergence_max : float, optional
        An upper bound of Delta(U, W_1); ln d by default, right for W_1 = I / d.
    """

    r: float
    c: float | None = None
    loss_max: float = 0.0
    divergence_max: float | None = None

    def __post_init__(self) -> None:
        if not 0 < as_number("r", self.r) < math.inf:
            msg = f"r must be positive and finite, got {self.r!r}"
            raise ProblemError(msg)
        if self.c is not None and not as_number("c", self.c) > 0:
            msg = f"c must be positive, got {self.c!r}"
            raise ProblemError(msg)
        given = {"loss_max": self.loss_max, "divergence_max": self.divergence_max}
        for name, value in given.items():
            if value is not None and not 0 <= as_number(name, value) < math.inf:
                msg = f"{name} must be finite and >= 0, got {value!r}"
                raise ProblemError(msg)

    def constant(self, d: int) -> float:
        """c; inf where the comparator is without loss."""
        if self.c is not None:
            return self.c
        if self.loss_max == 0:
            return math.inf
        divergence = math.log(d) if self.divergence_max is None else self.divergence_max
        return self.r * math.sqrt(2 * divergence / self.loss_max)

    def at(self, seen: Seen) -> float:
        c = self.constant(seen.d)
        return 2 / self.r**2 if c == math.inf else 2 * c / (self.r**2 * (2 + c))


@dataclass(frozen=True)
class Adaptive(Rate):
    """eta_t = 2 c_t / (r_t^2 (2 + c_t)),   c_t = min(most, r_t sqrt(2 ln d / L_t)),   for the square loss.

    Lemma 3.2's choice with the learner's own loss L_t in place of the comparator's and the largest range r_t
    seen in place of r: nothing need be known. Lemma 3.1 holds at every round with its own b_t, hence

        L <= (sum_t b_t l_t(U) + Delta(U, W_1)) / min_t eta_t,

    since b_t >= 0. For other losses eta_t = sqrt(8 ln d / sum_s (l'_s r_s)^2), as for Hedge, without a theorem.

    Parameters
    ----------
    most : float
        The largest c: as long as there was little loss.
    """

    most: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < as_number("most", self.most) < math.inf:
            msg = f"most must be positive and finite, got {self.most!r}"
            raise ProblemError(msg)

    def at(self, seen: Seen) -> float:
        if seen.spread == 0 or seen.d == 1:
            return 1.0  # a multiple of the identity moves nothing
        entropy = math.log(seen.d)
        if not seen.square:
            return math.sqrt(8 * entropy / seen.slopes) if seen.slopes > 0 else 1.0
        c = self.most
        if seen.total_loss > 0:
            c = min(c, seen.spread * math.sqrt(2 * entropy / seen.total_loss))
        return 2 * c / (seen.spread**2 * (2 + c))


def rate_of(rate: Any) -> Any:
    """A number, "adaptive" or a `Rate` as a rule."""
    if isinstance(rate, Rate):
        return rate
    if isinstance(rate, str):
        if rate == "adaptive":
            return Adaptive()
        msg = f"rate must be a positive number, 'adaptive' or a Rate, got {rate!r}"
        raise ProblemError(msg)
    return Fixed(float(rate) if isinstance(rate, int | float | np.number) else as_number("rate", rate))
