"""The descent methods of FETR: on W alone, the published alternation, and the two rivals of Section 6.1.

All run on the loop of the library, which certifies each point with the best pair of precisions for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal, State
from matrixlearn.multitask import SpectralPrecision
from matrixlearn.problems import Problem
from matrixlearn_fetr.covariance import (
    PrecisionPair,
    feature_precision,
    joint_prox,
    task_precision,
)
from matrixlearn_fetr.relations import Located, RelationProblem


class Descent(Engine):
    """The base class of the engines that lower the objective of FETR."""

    def objection(self, problem: Problem) -> str:
        return "" if isinstance(problem, RelationProblem) else f"{self.name} is for FETR and its kind"


@dataclass(frozen=True, kw_only=True)
class AheadState(State):
    """The point before the last step, and by how many times its move the next step extrapolates."""

    left: Located | None = None
    ahead: float = 1.0


class LookingAhead(Descent):
    """Descent on phi(W), F with the best pair, by steps that may start beyond the point.

    A singular value that the prior is about to give up, or that another takes over, moves slowly at first. So a step
    starts ``ahead`` times the last move further on, and ``ahead`` doubles as long as that lowers F; where it does not,
    the step starts from the point itself and is lengthened as long as *that* lowers F. So F never rises.
    """

    def init(self, problem: Any, incumbent: Incumbent) -> AheadState:
        return AheadState()

    def step(self, problem: Any, state: AheadState, incumbent: Incumbent) -> AheadState:
        here = incumbent.from_matrix
        assert isinstance(here, Located)
        if here is state.left:
            return replace(state, proposals=(), finished="no step lowers the objective: the limit of rounding")
        if state.left is not None:
            point = self._from(problem, here.point + state.ahead * (here.point - state.left.point))
            if problem.objective_at(point, None) < problem.objective_of(here.estimate):
                return self._proposed(problem, point, here, 2 * state.ahead)
        return self._proposed(problem, self._lengthened(problem, here), here, max(1.0, state.ahead / 4))

    @abstractmethod
    def _from(self, problem: RelationProblem, point: np.ndarray) -> np.ndarray:
        """Where a step from any point leads: F is no higher there."""

    @abstractmethod
    def _lengthened(self, problem: RelationProblem, here: Located) -> np.ndarray:
        """Where a step from here leads, as long as it pays."""

    def _proposed(self, problem: RelationProblem, point: np.ndarray, left: Located, ahead: float) -> AheadState:
        """The state after a step to the point."""
        return AheadState(proposals=(Proposal(X=self._chosen(problem, point)),), left=left, ahead=ahead)

    def _chosen(self, problem: RelationProblem, point: np.ndarray) -> np.ndarray:
        """The point to go on from; a subclass may know a lower one."""
        return point


@dataclass(frozen=True)
class Joint(LookingAhead):
    """Both precisions at once in closed form, the weights by the two one-sided majorizers in turn.

    F with the best pair is a function phi of W alone; each half of a step minimizes a majorizer of it
    (`JointPrecisions.majorizers`). The bounds of a point hold its first half (`Located`).
    """

    name = "joint"

    def _from(self, problem: RelationProblem, point: np.ndarray) -> np.ndarray:
        """The minimum of the first majorizer, then that of the second there."""
        first, _ = problem.estimate(point).precisions.majorizers()
        return self._second_minimum(problem, problem.weight_step(point, first)[0])

    def _lengthened(self, problem: RelationProblem, here: Located) -> np.ndarray:
        """The best of here + 2^k (end - here), k = 0, 1, ..., up to the first that is no better."""
        start, end = here.point, self._second_minimum(problem, here.improved)
        return _lowest(problem, (start + 2.0**k * (end - start) for k in count()))

    @staticmethod
    def _second_minimum(problem: RelationProblem, point: np.ndarray) -> np.ndarray:
        """The minimum of the second majorizer."""
        _, second = problem.estimate(point).precisions.majorizers()
        return problem.weight_step(point, second)[0]


def _lowest(problem: RelationProblem, points: Iterable[np.ndarray]) -> np.ndarray:
    """The last of the points before F is no lower for the first time."""
    end, least = None, np.inf
    for point in points:
        value = problem.objective_at(point, None)
        if end is not None and not value < least:
            break
        end, least = point, value
    assert end is not None
    return end


@dataclass(frozen=True)
class Pruning(Joint):
    """The joint step, and beside it what one from the point without one of its live singular values leads to: the
    lower of the two.

    Descent alone gives up no singular value that pays for itself nearby. This ends at other stationary points, up to
    18 % lower on SARCOS, of smaller rank, and sooner. A lower F need not predict better: on School and SARCOS it
    predicts worse where eta is large (docs/measurements.md), so that ``auto`` takes `Joint`.

    Parameters
    ----------
    candidates : int
        How many of the smallest live singular values are tried, each for one evaluation of the loss.
    """

    candidates: int = 10

    name = "pruning"

    def _chosen(self, problem: RelationProblem, point: np.ndarray) -> np.ndarray:
        lighter = min(_without_one(problem, point, self.candidates), default=(0.0, None), key=lambda pair: pair[0])[1]
        if lighter is None:
            return point
        lighter = self._from(problem, lighter)
        return lighter if problem.objective_at(lighter, None) < problem.objective_at(point, None) else point


def _without_one(problem: RelationProblem, point: np.ndarray, most: int) -> Iterator[tuple[float, np.ndarray]]:
    """F, up to what is the same for all, and the point, without each of the smallest singular values that the prior
    has not given up.
    """
    pair = problem.estimate(point).precisions
    charges = problem.eta * pair.penalties
    live = np.flatnonzero(pair.feature.values * pair.task.values < problem.upper**2)
    for k in live[-most:]:
        lighter = point.copy()
        W, _ = problem.around.read(lighter)
        W -= pair.singular[k] * np.outer(pair.feature.vectors[:, k], pair.task.vectors[:, k])
        yield problem.loss.value(W) - charges[k], lighter


@dataclass(frozen=True)
class ProximalGradient(LookingAhead):
    """A gradient step of the loss, and the prior exactly: both precisions and all singular values in closed form,

        T = W - t grad loss(W),    (W, w0) = argmin of ||W - T||^2 / (2 t) + eta phi(W - w0 1^T)

    with the mean w0 = T 1 / m where it is shared (phi grows with each singular value), and `joint_prox` of T - w0 1^T.
    At t = 1 / L, L the curvature of the loss, it minimizes a majorizer of F, so that F falls unless W is stationary;
    longer steps, t = 2^k / L, leap over the hump between a singular value that is kept and one that is given up.
    What is projected in `ProjectedGradient` moves by its own gradient there, whose curvature goes with u^2; here only
    the condition of the data is left.
    """

    name = "proximal-gradient"

    def _from(self, problem: RelationProblem, point: np.ndarray, longer: float = 1.0) -> np.ndarray:
        W, _ = problem.around.read(point)
        t = longer / (problem.loss.curvature or 1.0)
        T = W + 2 * t * problem.loss.residual(W)
        mean = problem.around.columns * T.mean(axis=1, keepdims=True)
        V = joint_prox(T - mean, t * problem.eta, problem.lower, problem.upper)
        return np.hstack([V + mean, mean])[:, : point.shape[1]]

    def _lengthened(self, problem: RelationProblem, here: Located) -> np.ndarray:
        return _lowest(problem, (self._from(problem, here.point, 2.0**k) for k in count()))


@dataclass(frozen=True, kw_only=True)
class BlockState(State):
    """A point, and precisions that need not be the best for it."""

    point: np.ndarray
    precisions: PrecisionPair
    value: float
    """F at both."""
    length: float = 1.0
    """The last step that lowered F, where steps have a length."""


def _at(point: np.ndarray, precisions: PrecisionPair, value: float, **rest: Any) -> BlockState:
    """The state at a point, which is proposed."""
    return BlockState(proposals=(Proposal(X=point),), point=point, precisions=precisions, value=value, **rest)


class InBlocks(Descent):
    """From the first point and S1 = S2 = I, as near as the bounds allow."""

    def init(self, problem: Any, incumbent: Incumbent) -> BlockState:
        precisions = problem.first_precisions()
        point = np.asarray(incumbent.X)
        return BlockState(point=point, precisions=precisions, value=problem.value(point, precisions))


@dataclass(frozen=True)
class Alternating(InBlocks):
    """W, then S1 (Algorithm 1), then S2 (Algorithm 2), each with the two others fixed: as published."""

    name = "alternating"

    def step(self, problem: Any, state: BlockState, incumbent: Incumbent) -> BlockState:
        point, _, _ = problem.weight_step(state.point, state.precisions)
        W, w0 = problem.around.read(point)
        V = W - w0[:, None]
        S1 = feature_precision(V, state.precisions.task, problem.lower, problem.upper)
        S2 = task_precision(V, S1, problem.lower, problem.upper)
        precisions = PrecisionPair(S1, S2)
        value = problem.value(point, precisions)
        finished = "" if value < state.value else "no block lowers the objective: the limit of rounding"
        return _at(point, precisions, value, finished=finished)


@dataclass(frozen=True)
class FlipFlop(InBlocks):
    """Zhang and Schneider's MTFRL as Section 6.1 runs it: covariances by the flip-flop update with a fudge factor,

        S1^{-1} = V S2 V^T / m + epsilon I,    S2^{-1} = V^T S1 V / d + epsilon I

    their inverses clipped to [l, u]; it need not descend, and has no fixed point at a minimum of F.

    Parameters
    ----------
    fudge : float
        epsilon.
    """

    fudge: float = 1e-3

    name = "flip-flop"

    def step(self, problem: Any, state: BlockState, incumbent: Incumbent) -> BlockState:
        point, _, _ = problem.weight_step(state.point, state.precisions)
        W, w0 = problem.around.read(point)
        V = W - w0[:, None]
        S1 = self._updated(V, state.precisions.task, problem)
        S2 = self._updated(V.T, S1, problem)
        precisions = PrecisionPair(S1, S2)
        return _at(point, precisions, problem.value(point, precisions))

    def _updated(self, V: np.ndarray, other: SpectralPrecision, problem: RelationProblem) -> SpectralPrecision:
        vectors, root, _ = np.linalg.svd(V @ other.power(0.5), full_matrices=False)
        values = 1.0 / (root**2 / V.shape[1] + self.fudge)
        rest, *inside = np.clip([1.0 / self.fudge, *values], problem.lower, problem.upper)
        return SpectralPrecision(float(rest), np.array(inside), vectors)


@dataclass(frozen=True)
class ProjectedGradient(InBlocks):
    """A step along minus the gradient of F in W, S1 and S2 at once, S1 and S2 projected onto [l, u] after it.

    One length for all three, found by halving until F falls enough (Armijo, constant 1e-4) and doubled after every
    success. For a shared mean the mean is the best one throughout.
    """

    name = "gradient"

    def step(self, problem: Any, state: BlockState, incumbent: Incumbent) -> BlockState:
        blocks, gradients = self._gradients(problem, state)
        length = state.length
        for _ in range(100):
            W, S1, S2 = (block - length * gradient for block, gradient in zip(blocks, gradients, strict=True))
            precisions = PrecisionPair(_projected(S1, problem), _projected(S2, problem))
            point = problem.around.best_point(W, precisions.task)
            value = problem.value(point, precisions)
            there = (W, precisions.feature.dense(), precisions.task.dense())
            moved = sum(np.sum((new - old) ** 2) for new, old in zip(there, blocks, strict=True))
            if value <= state.value - 1e-4 * float(moved) / length:
                return _at(point, precisions, value, length=2 * length)
            length /= 2
        return replace(state, proposals=(), finished="no step along the gradient lowers the objective")

    @staticmethod
    def _gradients(problem: RelationProblem, state: BlockState) -> tuple[Blocks, Blocks]:
        """W, S1 and S2, and the gradients of F in each."""
        W, w0 = problem.around.read(state.point)
        V = W - w0[:, None]
        (d, m), eta = V.shape, problem.eta
        S1, S2 = state.precisions.feature, state.precisions.task
        by_weights = -2 * problem.loss.residual(W) + 2 * eta * (S1 @ V @ S2)
        by_feature = eta * (V @ (V @ S2).T - m * S1.inverse.dense())
        by_task = eta * (V.T @ (S1 @ V) - d * S2.inverse.dense())
        return (W, S1.dense(), S2.dense()), (by_weights, by_feature, by_task)


Blocks = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of W, S1 and S2: values or gradients."""


def _projected(S: np.ndarray, problem: RelationProblem) -> SpectralPrecision:
    """The nearest matrix with eigenvalues in [l, u]."""
    free = SpectralPrecision.of((S + S.T) / 2)
    clipped = np.clip(free.values, problem.lower, problem.upper)
    return SpectralPrecision(float(clipped[0]), clipped, free.vectors)
