"""Restarts on the true gap, and the balance of two step sizes: what averaging methods for saddle points share.

The average of T rounds since a start has, for every pair (u, v) in S x Y,

    value(u, y_avg) - value(X_avg, v)  <=  ||(u, v) - start||^2 / (2 eta T)

so that among the points no further off than the optima are, a distance D, its gap is O(D^2 / T). Where that gap is
sharp, D <= K gap / D, a number of rounds that depends on K alone halves D, and restarts from there, again and again,
converge linearly where one long average gives 1 / T. Bilinear games over polyhedra are sharp; spectral sets are no
polyhedra, and the rate is measured (benchmarks/engines/all.py), not proven. K is not known, but every check proves a
gap: a restart is

    sufficient   when the gap is ``sufficient`` times that at the start, or less;
    necessary    when it is ``necessary`` times that at the start, or less, and has risen since the last check;
    artificial   when the rounds since the start are ``artificial`` times all rounds, or more.

The third guards against a start whose gap was luck, and happens O(log T) times by itself. After a restart the weight
omega of one side's steps against the other's moves half way, in its logarithm, to the ratio of the distances that the
two sides have gone.

References
----------
Applegate et al. (2021), "Practical large-scale linear programming using primal-dual hybrid gradient"; Applegate,
Hinder, Lu and Lubin (2023), "Faster first-order primal-dual methods for linear programming using restarts and
sharpness".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from matrixlearn.engines.mirror import next_check

PATIENCE = 2000
"""Rounds without progress, more than all before them, after which no more is expected."""

SHORTEST = 10
"""Rounds before an artificial restart."""


@dataclass(frozen=True)
class Restarts:
    """When to check, when to restart and when to give up: the rule, and where a run of it stands.

    Parameters
    ----------
    sufficient, necessary, artificial : float
        When to restart, see above.
    checks : int
        At most so many rounds between two checks.
    """

    sufficient: float = 0.2
    necessary: float = 0.8
    artificial: float = 0.36
    checks: int = 50

    rounds: int = 0
    """In all."""
    since: int = 0
    """Rounds since the start."""
    check_at: int = 1
    """The next check, in rounds since the start."""
    width_at_start: float = math.inf
    """upper - lower at the last start."""
    width_before: float = math.inf
    """upper - lower at the check before the last."""
    width: float = math.inf
    """upper - lower at the last check."""
    best: float = math.inf
    """The least width."""
    best_at: int = 0
    """The round at which the least width was last improved by a tenth."""

    def started(self, width: float) -> Restarts:
        """From a point whose bounds differ by ``width``; rounds and the least width go on."""
        here = replace(self, since=0, check_at=1, width_at_start=width, width_before=width, width=width)
        return here if self.rounds else replace(here, best=width)

    def moved(self) -> Restarts:
        """The state after one more round."""
        return replace(self, rounds=self.rounds + 1, since=self.since + 1)

    @property
    def to_check(self) -> bool:
        """Whether the round just made is one whose gap is to be computed."""
        return self.since >= self.check_at

    def checked(self, width: float) -> Restarts:
        """After a check that found bounds ``width`` apart."""
        improved = width < 0.9 * self.best
        return replace(
            self,
            check_at=min(next_check(self.since), self.since + self.checks),
            width_before=self.width,
            width=width,
            best=width if improved else self.best,
            best_at=self.rounds if improved else self.best_at,
        )

    @property
    def due(self) -> bool:
        """Whether to start again from the point last checked."""
        return (
            self.width <= self.sufficient * self.width_at_start
            or (self.width <= self.necessary * self.width_at_start and self.width > self.width_before)
            or self.since >= max(self.artificial * self.rounds, SHORTEST)
        )

    @property
    def stalled(self) -> str:
        """Why no more progress is expected; empty while it is."""
        if self.rounds <= 2 * self.best_at + PATIENCE:
            return ""
        return f"the gap has not moved for {self.rounds - self.best_at} rounds: numerical limit"


def rebalanced(omega: float, moved_X: float, moved_y: float) -> float:
    """omega half way, in its logarithm, to moved_X / moved_y; unchanged where a side has not moved."""
    return math.sqrt(omega * moved_X / moved_y) if moved_X > 0 and moved_y > 0 else omega
