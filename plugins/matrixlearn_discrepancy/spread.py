"""A discrepancy of points that stay on machines: more of them than one process has memory for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Local, Machines, Shards, SpreadMap
from matrixlearn.maps import RankOneMap
from matrixlearn.present import presented_by
from matrixlearn.problems import Game, GameProblem
from matrixlearn.sets import KnapsackSet, SpectralBall
from matrixlearn.validation import as_samples
from matrixlearn_discrepancy.problem import as_cap

HERE: Machines = Local()


@presented_by("matrixlearn_discrepancy.present:WeightsPresenter")
@dataclass(frozen=True, eq=False)
class SpreadDiscrepancy(GameProblem):
    """min over weights z of ||M_0 - sum_i z_i x_i x_i^T||_2, the points x_i on machines.

    The matrix X goes to the machines, moments and one number a point come back. ``column-generation`` (auto) also has
    the few points come whose weights it moves; with ``mirror-prox``, ``mmw`` or ``smoothing`` no point ever does.

    Parameters
    ----------
    source : Shards
        The points whose weights are sought, at least one a machine; what loaders return beside X is ignored.
    target : Shards or array, shape (n, N)
        Points of the distribution to be matched, all of equal weight.
    max_weight : float, optional
        Caps each weight at this multiple of the uniform one; >= 1.
    machines : Machines
        Where both are kept.

    Raises
    ------
    ProblemError
        For points that cannot be right, and sides of different features.

    Notes
    -----
    As `Discrepancy`, but in the N dimensions of the features: ``matrix`` of a solution is X_+ - X_-, (N, N); ``y`` are
    the weights of the points, machine by machine. No kernel, and a file cannot hold the problem.
    """

    source: Shards
    target: Any
    max_weight: float | None = None
    machines: Machines = HERE
    family: SpreadMap = field(init=False, repr=False)
    """The matrices x_i x_i^T."""

    objective = "minimize"
    engines = ("column-generation", "mirror-prox")

    def __post_init__(self) -> None:
        if not isinstance(self.source, Shards):
            msg = f"source must be Shards, got {type(self.source).__name__}; Discrepancy takes points at hand"
            raise ProblemError(msg)
        object.__setattr__(self, "max_weight", as_cap(self.max_weight))
        object.__setattr__(self, "family", SpreadMap(self.machines.hold(self.source)))
        N, of_target = self.family.shape[1], len(self._moments)
        if of_target != N:
            msg = f"source and target must have the same features, got {N} and {of_target} columns"
            raise ProblemError(msg)
        _ = self.uniform  # while the machines are there
        self.family.held.opened(N)

    def check(self) -> None:
        """Construction has checked the data."""

    @cached_property
    def game(self) -> Game:
        """That of `Discrepancy`, in N dimensions; C = M_0, the second moments of the target."""
        m, N = self.family.shape
        cap = np.inf if self.max_weight is None else self.max_weight / m
        return Game(self._moments, self.family, np.zeros(m), SpectralBall(N, 1.0), KnapsackSet.simplex(m, cap))

    @cached_property
    def _moments(self) -> np.ndarray:
        if not isinstance(self.target, Shards):
            T = np.asarray(as_samples("target", self.target))
            return np.asarray(RankOneMap(T).apply(np.full(len(T), 1 / len(T))))
        held = self.machines.hold(self.target)
        try:
            points = SpreadMap(held)
            n = points.shape[0]
            return points.apply(np.full(n, 1 / n))
        finally:
            held.rest()

    @cached_property
    def uniform(self) -> float:
        """||M(1/m)||_2."""
        m = self.family.shape[0]
        return self.game.upper(np.full(m, 1.0 / m))

    def uniform_value(self) -> float:
        """||M(1/m)||_2, the objective of not reweighting."""
        return self.uniform

    def rest(self) -> None:
        self.family.held.rest()

    def traffic(self) -> str:
        return self.family.held.ledger.brief
