"""GSpartan: tasks share few sparse base models, and neighbours mix them alike.

min over U, V >= 0 of   1/2 sum_s ||X_s U v_s - y_s||^2 + mix ||V||_1 + base ||U||_1 + tie/2 tr(U V^T L V U^T)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import loss_named
from matrixlearn.machines import Machines
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, MulticonvexProblem
from matrixlearn_network.factors import Factors, Terms, block_bounds, value_of
from matrixlearn_network.networked import HERE, NetworkProblem

if TYPE_CHECKING:
    import cvxpy

START = 1e-2
"""The ridge of the first weights, a part of the mean eigenvalue of a task's Gram matrix."""


@presented_by("matrixlearn_network.present:SpartanPresenter")
@dataclass(frozen=True, eq=False)
class GSpartan(NetworkProblem, MulticonvexProblem):
    """min over U, V >= 0 of 1/2 sum_s ||X_s U v_s - y_s||^2 + mix ||V||_1 + base ||U||_1 + tie/2 tr(U V^T L V U^T).

    W = U V^T: the weights of a task are a mixture of ``rank`` base models that all tasks share, neighbours mix alike,
    and both factors are sparse, so that they can be read.

    Parameters
    ----------
    X, Y, graph : as in `GraphMultitask`
        Rows, targets, and which tasks are alike.
    rank : int
        >= 1, the number k of base models.
    mix : float
        lambda_1 > 0, weight of sum V.
    base : float
        lambda_2 > 0, weight of sum |U|.
    tie : float
        lambda_3 >= 0, weight of the graph; 0 leaves it out.
    task, sample_weight, machines, coordinates : as in `GraphMultitask`
        The task of each row, what it counts, where it is kept, and where tasks are drawn.

    Raises
    ------
    ProblemError
        For data, a graph or parameters that cannot be right.

    Notes
    -----
    ``matrix`` of a solution is [U; V], shape (d + m, k): base models above the tasks' weights, a row a task in
    ascending order; `weights` gives W. F is convex in U and in V, and not in both: the status is "stationary", no
    factor alone improves F by more than ``tol``; another start may end elsewhere.

    The start is deterministic: ridge weights of each task, and the k strongest of their singular pairs, split by sign.

    References
    ----------
    "GSpartan" (2017), the second paper of report 16; corrections in docs/errata.md.
    """

    X: Any
    Y: Any = None
    graph: Any = None
    rank: int = 1
    mix: float = 1.0
    base: float = 1.0
    tie: float = 1.0
    task: Any = None
    sample_weight: Any = None
    machines: Machines = HERE
    coordinates: Any = None

    name = "gspartan"
    engines = ("bcd",)
    loss = loss_named("square")
    """That of a row, half the square of its residual."""
    _axes = "(features + tasks, rank)"

    def __post_init__(self) -> None:
        if not (isinstance(self.rank, int | np.integer) and not isinstance(self.rank, bool) and self.rank >= 1):
            msg = f"rank must be a number of base models, 1, 2, ..., got {self.rank!r}"
            raise ProblemError(msg)
        for name in ("mix", "base", "tie"):
            if self._weight(name) == 0 and name != "tie":
                msg = f"{name} must be > 0: with 0 a factor costs nothing, and grows as the other shrinks"
                raise ProblemError(msg)
        self._hold()

    @property
    def shape(self) -> tuple[int, int]:
        """(d + m, k)."""
        return self.features + len(self.tasks), int(self.rank)

    @property
    def terms(self) -> Terms:
        """The weights of the three terms."""
        return Terms(self.mix, self.base, self.tie)

    @cached_property
    def sizes(self) -> np.ndarray:
        """What the rows of each task count, (m,)."""
        return np.asarray(self.held.map(_counts))

    def factors(self, point: Any) -> Factors:
        """U and V of a point, V clipped at 0."""
        P = self._point(point)
        d = self.features
        return Factors(P[:d], np.maximum(P[d:], 0.0))

    def weights(self, solution: Any) -> np.ndarray:
        return self.factors(getattr(solution, "matrix", solution)).W

    # -- bounds -------------------------------------------------------------------------------------

    def value(self, at: Factors) -> float:
        """F."""
        return value_of(self.passed(at.W, at.off), self.sizes, at, self.graph, self.terms)

    @cached_property
    def scale(self) -> float:
        """F at 0."""
        return self.value(Factors.of(np.zeros(self.shape), self.features))

    def bound_from_matrix(self, X: Any) -> Bound:
        at = self.factors(X)
        lower, upper = block_bounds(self.passed(at.W, at.off), self.sizes, at, self.graph, self.terms)
        return Bound(point=at.stacked, lower=max(lower, 0.0), upper=upper, rigour="blockwise")

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        return Bound()

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return np.inf if X is None else self.value(self.factors(X))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        W = self.held.map(_own_ridge, part=START).T
        left, sizes, right = np.linalg.svd(W, full_matrices=False)
        parts = [
            (size * float(np.linalg.norm(v)), sign * u, size * v)
            for u, size, row in zip(left.T, sizes, right, strict=True)
            for sign, v in ((1.0, np.maximum(row, 0.0)), (-1.0, np.maximum(-row, 0.0)))
        ]
        parts = sorted(parts, key=lambda part: -part[0])[: self.rank]
        point = np.zeros(self.shape)
        for c, (_, u, v) in enumerate(parts):
            of_U, of_V = self.base * float(np.abs(u).sum()), self.mix * float(v.sum())
            balance = np.sqrt(of_V / of_U) if of_U > 0 and of_V > 0 else 1.0  # the cheapest way to share the size
            point[:, c] = np.concatenate([balance * u, v / balance])
        return [(point, None)]

    def block_references(self, X: Any) -> list[cvxpy.Problem]:
        """The problem in U, and that in V."""
        import cvxpy as cp

        at = self.factors(X)
        (d, k), m = at.U.shape, len(self.tasks)
        i, j, a = self.graph.once
        programs = []
        for U, V in ((cp.Variable((d, k), name="X"), at.V), (at.U, cp.Variable((m, k), name="X", nonneg=True))):
            W = U @ V.T
            total = self.mix * cp.sum(V) + self.base * cp.norm1(U)
            for s, (rows, targets, share) in enumerate(self._given_rows()):
                total += self.sizes[s] * cp.sum(cp.multiply(share, self.loss.as_cvxpy(rows @ W[:, s], targets)))
            if len(a):
                total += self.tie / 2 * cp.sum_squares((W[:, i] - W[:, j]) @ np.diag(np.sqrt(a)))
            programs.append(cp.Problem(cp.Minimize(total)))
        return programs

    # -- instances for tests ------------------------------------------------------------------------

    @classmethod
    def random(cls, rng: np.random.Generator) -> GSpartan:
        d, m, k = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
        sizes = rng.integers(1, 8, m)
        X = rng.standard_normal((int(sizes.sum()), d)) * 10.0 ** rng.uniform(-1, 1)
        task = np.repeat(np.arange(m), sizes)
        W = rng.standard_normal((d, k)) @ np.maximum(rng.standard_normal((k, m)), 0.0)
        y = np.sum(X * W.T[task], axis=1) + 10.0 ** rng.uniform(-2, 0) * rng.standard_normal(len(task))
        A = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.6), 1)
        A[np.arange(m - 1), np.arange(1, m)] += 0.1  # connected
        size = float(np.linalg.norm(y)) * float(np.linalg.norm(X)) / np.sqrt(d * m)
        mix, base, tie = size * 10.0 ** rng.uniform(-2, 0, 3)
        return cls(X, y, A + A.T, k, mix, base, tie, task=task)


# -- what machines compute ---------------------------------------------------------------------------


def _counts(block: Any) -> np.ndarray:
    return block.summed(block.counts)


def _own_ridge(block: Any, part: float) -> np.ndarray:
    H, c = block.moments
    mean = np.trace(H, axis1=1, axis2=2) / block.width
    ridge = part * mean + (mean == 0)
    return np.linalg.solve(H + ridge[:, None, None] * np.eye(block.width), c[:, :, None])[:, :, 0]
