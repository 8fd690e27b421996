"""A problem that learns relations, for any loss: a convex loss of the weights W (d, m), and their matrix-normal prior.

    F(W, S1, S2) = loss(W) + eta tr(S1 V S2 V^T) - eta (m log det S1 + d log det S2) - floor,    l I <= S1, S2 <= u I
    floor = least loss - 2 eta d m log u

F is at least 0: the floor is the part of it that no choice changes, noise and the log-dets' constant, and with it taken
off a relative gap is one of what there is to choose. V = W, or V = W - w0 1^T with a mean w0 that is learned too. F is
convex in (W, w0), and for given (W, w0) the best pair (S1, S2) is known in closed form (`covariance`); it is not convex
in all together. So a point of the problem is W, or [W, w0], and what it proves is

    upper = F with the best pair,     lower = upper - at most what (W, w0) can still gain with that pair

No block alone gets below ``lower`` (rigour "blockwise"), and at a gap of 0 the point is stationary. The same holds of
the one-sided majorizer with which the engine ``joint`` begins (`JointPrecisions.majorizers`), which may gain more: the
larger of the two counts.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from matrixlearn.certificate import relative_gap
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import ClippedLogDet
from matrixlearn.multitask import EPS, Prior, SpectralPrecision
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, MulticonvexProblem, Play
from matrixlearn.validation import as_array
from matrixlearn_fetr.covariance import (
    PrecisionPair,
    feature_precision,
    joint_precisions,
    task_precision,
)
from matrixlearn_fetr.estimate import Estimate
from matrixlearn_fetr.means import MEANS, Mean
from matrixlearn_fetr.rounds import OtherBlocks

if TYPE_CHECKING:
    import cvxpy

    from matrixlearn import Solution


DRAWN = 500
"""The most features or tasks that are drawn."""

FAR = 1e-3
"""The gap by the majorizer from which on what the pair can gain is bounded without a solve."""


class WeightLoss(Protocol):
    """A convex loss of the weights."""

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""

    @property
    def size(self) -> float:
        """The loss at W = 0."""

    @property
    def least(self) -> float:
        """A lower bound of the loss over all weights."""

    @property
    def curvature(self) -> float:
        """L with loss(W + D) <= loss(W) + <gradient, D> + L ||D||^2 / 2."""

    def value(self, W: np.ndarray) -> float:
        """The loss."""

    def residual(self, W: np.ndarray) -> np.ndarray:
        """Minus half the gradient, (d, m)."""

    def left(self, W: np.ndarray, prior: Prior) -> float:
        """By how much loss(W) + eta tr(S1 W form W^T) can be lowered at most, as its gradient alone tells."""

    def step(self, W: np.ndarray, prior: Prior) -> tuple[np.ndarray, float, float]:
        """A move D of W that lowers loss(W) + eta tr(S1 W form W^T), by how much it does, and by how much any could."""

    def expression(self, W: cvxpy.Expression) -> cvxpy.Expression:
        """The loss in cvxpy's terms."""


@dataclass(frozen=True, kw_only=True)
class Located(Bound):
    """What a point proves, with what was computed to prove it: the next step costs nothing more."""

    point: np.ndarray
    estimate: Estimate
    """The point with the best pair of precisions."""
    improved: np.ndarray
    """The minimum of the first one-sided majorizer there."""


def estimate_of(solution: Solution) -> Estimate:
    """The weights and their covariances, from a solution of a `RelationProblem`."""
    return cast("RelationProblem", solution.problem).estimate(solution)


@presented_by("matrixlearn_fetr.present:RelationsPresenter")
class RelationProblem(MulticonvexProblem):
    """min over W and l I <= S1, S2 <= u I of loss(W) + eta tr(S1 V S2 V^T) - eta (m log det S1 + d log det S2).

    A subclass brings ``eta``, ``lower``, ``upper``, ``mean`` and `loss`.
    """

    objective = "minimize"
    engines = ("joint", "pruning", "alternating", "gradient", "flip-flop", "proximal-gradient")
    routines = ("ClippedLogDet", "OtherBlocks")

    eta: float
    """The weight of the prior."""
    lower: float
    """l, the least eigenvalue of both precisions."""
    upper: float
    """u, their largest eigenvalue."""
    mean: str
    """"zero" or "shared", what the weights are spread around."""

    @property
    @abstractmethod
    def loss(self) -> WeightLoss:
        """The loss of the weights."""

    @property
    @abstractmethod
    def tasks(self) -> np.ndarray:
        """The names of the tasks, (m,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.loss.shape

    @property
    def around(self) -> Mean:
        """How a point holds weights and mean."""
        return MEANS[self.mean]

    @cached_property
    def scale(self) -> float:
        """F at W = 0 and what the log-dets make of a factor e in all precisions: loss(0) - least loss + eta d m."""
        d, m = self.shape
        return self.loss.size - self.loss.least + self.eta * d * m

    @cached_property
    def floor(self) -> float:
        """least loss - 2 eta d m log u, which no point gets below: V = 0 and S1 = S2 = u I cost the prior least."""
        d, m = self.shape
        return self.loss.least - 2.0 * self.eta * d * m * float(np.log(self.upper))

    # -- values and steps ---------------------------------------------------------------------------

    def value(self, point: np.ndarray, precisions: PrecisionPair) -> float:
        """F at a point and a pair of precisions."""
        W, w0 = self.around.read(point)
        return self.loss.value(W) + self.eta * precisions.penalty(W - w0[:, None]) - self.floor

    def weight_step(self, point: np.ndarray, precisions: PrecisionPair) -> tuple[np.ndarray, float, float]:
        """argmin over (W, w0) of loss(W) + eta tr(S1 V S2 V^T), the weight step of the paper, from a point.

        Returns
        -------
        point, achieved, at_most
            The new point, by how much the objective falls, and by how much it could fall at most.
        """
        W, _ = self.around.read(point)
        D, achieved, at_most = self.loss.step(W, self._prior(precisions))
        by_mean = self.eta * self.around.excess(point, precisions)
        return self.around.best_point(W + D, precisions.task), by_mean + achieved, by_mean + at_most

    def _prior(self, precisions: PrecisionPair) -> Prior:
        return Prior(precisions.feature, precisions.task, self.eta, self.around.form(precisions.task))

    def estimate(self, solution: Solution | np.ndarray) -> Estimate:
        """Weights, mean and the best pair of precisions of a solution or of a point."""
        point = self._checked(getattr(solution, "matrix", solution))
        W, w0 = self.around.read(point)
        return Estimate(W, w0, joint_precisions(W - w0[:, None], self.lower, self.upper))

    def _checked(self, point: Any) -> np.ndarray:
        d, m = self.shape
        wanted = (d, m + self.around.columns)
        point = np.asarray(as_array("the point", point))
        if point.shape != wanted:
            msg = f"a point of this problem has shape {wanted}, got {point.shape}"
            raise ProblemError(msg)
        return point

    def bound_from_matrix(self, X: Any) -> Located:
        point = self._checked(X)
        found = self.estimate(point)
        best = found.precisions
        value = self.objective_of(found)
        improved, _, of_majorizer = self.weight_step(point, best.majorizers()[0])
        of_block = self.eta * self.around.excess(point, best) + self.loss.left(found.weights, self._prior(best))
        near = relative_gap(value - of_majorizer, value, self.gap_floor) < FAR
        if of_block > of_majorizer and near:  # else a solve would not make the gap small
            _, _, of_block = self.weight_step(point, best)
        rounding = self._rounding(found, value)
        return Located(
            point=point,
            lower=value - max(of_majorizer, of_block) - rounding,
            upper=value + rounding,
            rigour="blockwise",
            estimate=found,
            improved=improved,
        )

    def objective_of(self, found: Estimate) -> float:
        """F of an estimate."""
        return self.loss.value(found.weights) + self.eta * found.precisions.best_penalty() - self.floor

    def _rounding(self, found: Estimate, value: float) -> float:
        """An allowance for what is added up in F."""
        d, m = self.shape
        logs = m * abs(found.feature_precision.logdet) + d * abs(found.task_precision.logdet)
        return 8 * (d + m) * EPS * (self.loss.size + self.eta * logs + abs(self.floor) + abs(value))

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        return Bound()

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return np.inf if X is None else self.objective_of(self.estimate(X))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        d, m = self.shape
        return [(self.weight_step(np.zeros((d, m + self.around.columns)), self.first_precisions())[0], None)]

    def first_precisions(self) -> PrecisionPair:
        """S1 = S2 = I, or as near as the bounds allow."""
        d, m = self.shape
        size = float(np.clip(1.0, self.lower, self.upper))
        return PrecisionPair(SpectralPrecision.identity(d, size), SpectralPrecision.identity(m, size))

    def play(self) -> Play:
        """S1 by the clipped log-det; the other blocks answer it."""
        d, m = self.shape
        return Play(ClippedLogDet(d, m, self.lower, self.upper), OtherBlocks.of(self), start=m * np.eye(d))

    # -- one block at a time ------------------------------------------------------------------------

    def block_references(self, X: Any) -> list[cvxpy.Problem]:
        """The problem in (W, w0), in S1, and in S2, each with the rest as in `estimate`."""
        import cvxpy as cp

        found = self.estimate(X)
        (d, m), eta, V = self.shape, self.eta, found.deviations
        S1, S2 = found.feature_precision, found.task_precision
        logs = m * S1.logdet, d * S2.logdet
        W = cp.Variable((d, m), name="W")
        w0 = cp.Variable((d, 1), name="w0") if self.around.columns else np.zeros((d, 1))
        root = S1.power(0.5).dense() @ (W - w0 @ np.ones((1, m))) @ S2.power(0.5).dense()
        objective = self.loss.expression(W) + eta * (cp.sum_squares(root) - sum(logs)) - self.floor
        programs = [cp.Problem(cp.Minimize(objective))]
        loss = self.loss.value(found.weights) - self.floor
        for n, weight, G, other in ((d, m, V @ (V @ S2).T, logs[1]), (m, d, V.T @ (S1 @ V), logs[0])):
            S = cp.Variable((n, n), PSD=True, name="S")
            objective = loss + eta * (cp.trace((G + G.T) / 2 @ S) - weight * cp.log_det(S) - other)
            box = [S >> self.lower * np.eye(n), S << self.upper * np.eye(n)]
            programs.append(cp.Problem(cp.Minimize(objective), box))
        return programs

    # -- words and pictures -------------------------------------------------------------------------

    def gains(self, found: Estimate) -> tuple[float, float, float]:
        """How far each block is from its own minimum, measured directly.

        Returns
        -------
        gradient, by_feature, by_task
            The norm of the gradient in W, relative to those of its two parts (loss and prior), which cancel; and by
            how much S1 alone and S2 alone would lower F.
        """
        V, pair = found.deviations, found.precisions
        loss, prior = self.loss.residual(found.weights), self.eta * (pair.feature @ V @ pair.task)
        parts = float(np.linalg.norm(loss) + np.linalg.norm(prior))
        penalty = pair.penalty(V)
        S1 = feature_precision(V, pair.task, self.lower, self.upper)
        S2 = task_precision(V, pair.feature, self.lower, self.upper)
        alone = (PrecisionPair(S1, pair.task), PrecisionPair(pair.feature, S2))
        by_feature, by_task = (self.eta * (penalty - other.penalty(V)) for other in alone)
        return (float(np.linalg.norm(loss - prior)) / parts if parts else 0.0), by_feature, by_task
