"""Jointly sparse tasks: neighbours use the same few features, and have like weights.

    P(W) = 1/m (sum_k F_k(w_k) + rho/2 tr(W L W^T) + ridge/2 ||W||^2 + eta sum over k, r of phi(||w_kr||))
    F_k(w) = 1/2n_k sum_j (x_kj . w - y_kj)^2,      w_kr = (w_rl, l in N_k)

Lower bounds: with omega fixed the penalty is sum lambda_g ||w_g||, lambda = eta omega, and for any Z with each group g
in the ball of radius lambda_g

    min over W of P >= min over W of 1/m (sum_k F_k(w_k) + rho/2 tr(W L W^T) + ridge/2 ||W||^2 + <Z, copies of W>)
                    >= D(u), the dual of `GraphMultitask` (`bounds`) with sum over pairs of z in the gradient,

u the slopes at the answer to Z, one linear solve: its residual r is charged ||r||^2 / 2 ridge.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import loss_named
from matrixlearn.machines import Machines
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, MulticonvexProblem
from matrixlearn.validation import as_array
from matrixlearn_network.bounds import EPS, LOSS_ERROR, lower_bound, ridge, upper_bound
from matrixlearn_network.coupling import Coupling
from matrixlearn_network.networked import HERE, NetworkProblem
from matrixlearn_network.rows_of_groups import TINY, Neighbourhoods, RowPenalty, row_penalty
from matrixlearn_network.splitting import DENSE_SYSTEM, Splitting

if TYPE_CHECKING:
    import cvxpy

EXACT, MOST, FEWER = 1e-8, 3000, 200
"""The residuals at which a reweighted problem counts as solved; the most iterations for it, and for a large one."""


class SharedSupport(NetworkProblem):
    """What both problems have in common: the smooth part, the groups, and the bound of a dual point."""

    rho: float
    eta: float
    ridge: float
    loss = loss_named("square")
    """That of a row, half the square of its residual."""

    @property
    @abstractmethod
    def rows_penalty(self) -> RowPenalty:
        """phi."""

    def _check_prior(self) -> None:
        self._weight("rho")
        self._weight("eta")
        self._weight("ridge", ": bounds need it", strictly=True)

    @property
    def shape(self) -> tuple[int, int]:
        """(d, m)."""
        return self.features, len(self.tasks)

    @cached_property
    def near(self) -> Neighbourhoods:
        """The N_k."""
        return Neighbourhoods(self.graph)

    @cached_property
    def coupling(self) -> Coupling:
        """I + (rho / ridge) L."""
        return Coupling(self.graph, self.ridge, self.rho)

    @cached_property
    def splitting(self) -> Splitting:
        """The method on the moments, which all machines send once: d (d + 3) / 2 numbers each."""
        grams, cross = self.held.map(_moments)
        return Splitting(grams, cross, self.graph, self.near, self.rho, self.ridge)

    # -- bounds -------------------------------------------------------------------------------------

    def lengths(self, W: np.ndarray) -> np.ndarray:
        """||w_kr||, (m, d), for W (d, m)."""
        return self.near.lengths(self.near.copies(np.ascontiguousarray(W.T)))

    def value(self, W: np.ndarray) -> float:
        """P(W)."""
        m = len(self.tasks)
        smooth = float(self.passed(W).value.sum() + ridge(W.T, self.graph, self.ridge, self.rho) / 2)
        return (smooth + self.eta * float(self.rows_penalty.value(self.lengths(W)).sum())) / m

    @cached_property
    def scale(self) -> float:
        """P(0)."""
        return self.value(np.zeros(self.shape))

    def _gamma(self) -> float:
        """By what part a sum over all groups may be off."""
        d, m = self.shape
        return (m * d + int(self.near.sizes.max()) + LOSS_ERROR) * EPS

    def _upper(self, W: np.ndarray) -> float:
        t, m = self.lengths(W), len(self.tasks)
        phi, steep = self.rows_penalty.value(t), self.rows_penalty.slope(t) * t
        penalty = self.eta * float((phi + self._gamma() * (phi + steep)).sum()) / m
        return (upper_bound(self.passed(W), W.T, self.graph, self.ridge, self.rho) + penalty) * (1 + 4 * EPS)

    def _lower(self, Z: np.ndarray, radius: np.ndarray) -> float:
        """The least of P with sum radius ||w_g|| / m in the place of its penalty is at least this; Z by pair."""
        Z = self.near.within(Z, radius)
        W = self.splitting.answer(Z)
        one = self.passed(W.T)
        pulls = self.near.gathered(Z)
        sums = np.linalg.norm(self.near.gathered(np.abs(Z)), axis=1)
        error = one.slope_error + (int(self.near.sizes.max()) + 2) * EPS * (sums + np.linalg.norm(one.slope, axis=1))
        return lower_bound(one.conjugate, one.slope + pulls, error, self.coupling)

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return np.inf if X is None else self.value(self._point(X))

    def _programme(self, W: Any, radius: np.ndarray) -> Any:
        """m P with sum radius ||w_g|| for its penalty, in cvxpy's terms."""
        import cvxpy as cp

        total = self.ridge / 2 * cp.sum_squares(W)
        for k, (rows, targets, share) in enumerate(self._given_rows()):
            total += cp.sum(cp.multiply(share, self.loss.as_cvxpy(rows @ W[:, k], targets)))
        i, j, a = self.graph.once
        if len(a):
            total += self.rho / 2 * cp.sum_squares((W[:, i] - W[:, j]) @ np.diag(np.sqrt(a)))
        for k, mine in enumerate(np.split(self.near.member, self.near.starts[1:])):
            total += radius[k] @ cp.norm(W[:, mine], 2, axis=1)
        return total

    @staticmethod
    def _drawn(rng: np.random.Generator) -> dict[str, Any]:
        """Parameters of a random instance."""
        d, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        sizes = rng.integers(1, 8, m)
        X = rng.standard_normal((int(sizes.sum()), d)) * 10.0 ** rng.uniform(-1, 1)
        task = np.repeat(np.arange(m), sizes)
        W = (rng.standard_normal((d, 1)) + 0.5 * rng.standard_normal((d, m))) * (rng.random((d, 1)) < 0.6)
        y = np.sum(X * W.T[task], axis=1) + 10.0 ** rng.uniform(-2, 0) * rng.standard_normal(len(task))
        A = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.6), 1)
        A[np.arange(m - 1), np.arange(1, m)] += 0.1  # connected
        steep = float(np.mean(np.abs(X.T @ y))) / len(y) + 0.01
        return {
            "X": X,
            "Y": y,
            "graph": A + A.T,
            "rho": 10.0 ** rng.uniform(-2, 1),
            "eta": steep * 10.0 ** rng.uniform(-2, 0.5),
            "ridge": 10.0 ** rng.uniform(-6, -1),
            "task": task,
        }


@presented_by("matrixlearn_network.present:JointPresenter")
@dataclass(frozen=True, eq=False)
class JointlySparse(SharedSupport):
    """min over W of 1/m (sum_k F_k(w_k) + rho/2 tr(W L W^T) + ridge/2 ||W||^2 + eta sum_k ||W_k||_{2,1}).

    F_k is half the mean squared error of task k, W_k has the columns of k and of its neighbours, and ||.||_{2,1} is the
    sum of the norms of the rows: a feature is used by a neighbourhood, or by none in it.

    Parameters
    ----------
    X, Y, graph : as in `GraphMultitask`
        Rows, targets, and which tasks are alike. The penalty sees which edges there are, rho their weights too.
    rho : float
        >= 0, weight of the graph.
    eta : float
        >= 0, weight of the norms.
    ridge : float
        > 0, for the bounds.
    task, sample_weight, machines, coordinates : as in `GraphMultitask`
        The task of each row, what it counts, where it is kept, and where tasks are drawn.

    Raises
    ------
    ProblemError
        For data, a graph or parameters that cannot be right.

    Notes
    -----
    ``matrix`` of a solution is W, shape (d, m); ``y`` a dual point, a number for each feature and each pair (k, l) with
    l in N_k, by k. The gradient of the penalty in w_k has a part of each neighbourhood that k is in; the stream of the
    paper (`JointlySparseLearner`) takes that of its own only, and ends elsewhere.

    References
    ----------
    "dJSMT" (2017), the third paper of report 16, (7) and (11); corrections in docs/errata.md.
    """

    X: Any
    Y: Any = None
    graph: Any = None
    rho: float = 1.0
    eta: float = 0.1
    ridge: float = 1e-6
    task: Any = None
    sample_weight: Any = None
    machines: Machines = HERE
    coordinates: Any = None

    name = "jointly-sparse"
    engines = ("joint-admm",)
    rows_penalty = row_penalty("l21", 1.0)

    def __post_init__(self) -> None:
        self._check_prior()
        self._hold()

    @property
    def radius(self) -> np.ndarray:
        """eta for each group, (m, d)."""
        d, m = self.shape
        return np.full((m, d), self.eta)

    def bound_from_matrix(self, X: Any) -> Bound:
        W = self._point(X)
        return Bound(point=W, lower=0.0, upper=self._upper(W))

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = np.asarray(as_array("y", y), dtype=float)
        if y.shape != (self.multipliers,):
            msg = f"y must hold {self.multipliers} numbers, a vector for each pair of neighbours, got shape {y.shape}"
            raise ProblemError(msg)
        Z = self.near.within(y.reshape(-1, self.features), self.radius)
        return Bound(point=Z.reshape(-1), lower=max(self._lower(Z, self.radius), 0.0))

    @property
    def multipliers(self) -> int:
        return len(self.near.member) * self.features

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        return [(np.zeros(self.shape), np.zeros(self.multipliers))]

    def reference(self) -> cvxpy.Problem:
        import cvxpy as cp

        W = cp.Variable(self.shape, name="X")
        return cp.Problem(cp.Minimize(self._programme(W, self.radius) / len(self.tasks)))

    @classmethod
    def random(cls, rng: np.random.Generator) -> JointlySparse:
        return cls(**cls._drawn(rng))


@dataclass(frozen=True, kw_only=True)
class Improved(Bound):
    """What a point proves, with what was computed to prove it: the next step costs nothing more."""

    improved: np.ndarray
    """The minimum of the reweighted problem there, (d, m)."""


@presented_by("matrixlearn_network.present:ConcavePresenter")
@dataclass(frozen=True, eq=False)
class ConcaveJointlySparse(SharedSupport, MulticonvexProblem):
    """min over W of 1/m (sum_k F_k(w_k) + rho/2 tr(W L W^T) + ridge/2 ||W||^2 + eta sum_kr phi(||w_kr||)), phi concave.

    w_kr has the weights of feature r in the neighbourhood of k. As `JointlySparse`, but large rows are spared: "rw" is
    phi(t) = log(1 + epsilon t), "l20" is 1 - exp(-epsilon t).

    Parameters
    ----------
    X, Y, graph : as in `GraphMultitask`
        Rows, targets, and which tasks are alike.
    rho, eta, ridge : float
        As in `JointlySparse`.
    penalty : {"rw", "l20"}
        phi.
    epsilon : float
        > 0, one over the size from which a row is spared.
    task, sample_weight, machines, coordinates : as in `GraphMultitask`
        The task of each row, what it counts, where it is kept, and where tasks are drawn.

    Raises
    ------
    ProblemError
        For data, a graph or parameters that cannot be right.

    Notes
    -----
    phi(t) = min over omega of omega t + psi(omega), so that P is convex in W, a weighted l21 problem, and in the
    weights omega, which are best at phi'(||w_kr||). A point W proves with these how far the next reweighting can get:
    the status is "stationary". Another start may end elsewhere; the first is the solution with omega = phi'(0).

    References
    ----------
    "dJSMT" (2017), the third paper of report 16, (13) and (16); Candes, Wakin and Boyd (2008).
    """

    X: Any
    Y: Any = None
    graph: Any = None
    rho: float = 1.0
    eta: float = 0.1
    penalty: str = "rw"
    epsilon: float = 10.0
    ridge: float = 1e-6
    task: Any = None
    sample_weight: Any = None
    machines: Machines = HERE
    coordinates: Any = None

    name = "concave-jointly-sparse"
    engines = ("reweighted",)

    def __post_init__(self) -> None:
        self._check_prior()
        if row_penalty(self.penalty, self.epsilon).name == "l21":
            msg = "penalty must be 'rw' or 'l20'; with 'l21' the problem is convex: JointlySparse"
            raise ProblemError(msg)
        self._put(epsilon=float(self.epsilon))
        self._hold()

    @property
    def rows_penalty(self) -> RowPenalty:
        return row_penalty(self.penalty, self.epsilon)

    def reweighted(self, t: np.ndarray) -> np.ndarray:
        """The radii eta phi'(t) of the groups, (m, d)."""
        return self.eta * self.rows_penalty.slope(t)

    @property
    def most(self) -> int:
        """Iterations that a bound may take: fewer where each of them solves a large sparse system."""
        return MOST if self.features * len(self.tasks) <= DENSE_SYSTEM else FEWER

    def _dual_near(self, W: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Multipliers by pair that are optimal where W is: radius w / ||w|| in groups that are not 0, and in the others
        what is left of minus the gradient of the smooth part, in equal parts.
        """
        near, V = self.near, np.ascontiguousarray(W.T)
        copies = near.copies(V)
        lengths = near.spread(near.lengths(copies))
        Z = near.spread(radius) * copies / np.maximum(lengths, TINY)
        left = -self.splitting.gradient(V) - near.gathered(Z)
        empty = (lengths == 0).astype(float)
        return Z + empty * near.copies(left / np.maximum(near.gathered(empty), 1.0))

    def bound_from_matrix(self, X: Any) -> Improved:
        W = self._point(X)
        t, m = self.lengths(W), len(self.tasks)
        radius = self.reweighted(t)
        split = self.splitting
        state = split.solution(split.started(W.T, self._dual_near(W, radius)), radius, EXACT, self.most)
        rest = self.eta * self.rows_penalty.value(t) - radius * t  # eta psi(omega)
        size = self._gamma() * float((self.eta * self.rows_penalty.value(t) + radius * t).sum())
        lower = self._lower(state.dual, radius) + (float(rest.sum()) - 4 * size) / m
        upper = self._upper(W)
        improved = split.weights(state).T
        return Improved(point=W, lower=max(lower, 0.0), upper=upper, rigour="blockwise", improved=improved)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        return Bound()

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        zero = np.zeros(self.shape)
        split, radius = self.splitting, self.reweighted(np.zeros(self.shape[::-1]))
        return [(split.weights(split.solution(split.started(zero.T), radius, 1e-6, self.most)).T, None)]

    def block_references(self, X: Any) -> list[cvxpy.Problem]:
        """The weighted problem in W, and that in omega."""
        import cvxpy as cp

        W, m = self._point(X), len(self.tasks)
        t = self.lengths(W)
        radius = self.reweighted(t)
        rest = float((self.eta * self.rows_penalty.value(t) - radius * t).sum())
        variable, omega = cp.Variable(W.shape, name="X"), cp.Variable(t.shape, name="omega")
        smooth = m * self.value(W) - self.eta * float(self.rows_penalty.value(t).sum())
        in_omega = self.eta * cp.sum(cp.multiply(t, omega) + self.rows_penalty.conjugate_as_cvxpy(omega))
        return [
            cp.Problem(cp.Minimize((self._programme(variable, radius) + rest) / m)),
            cp.Problem(cp.Minimize((smooth + in_omega) / m)),
        ]

    @classmethod
    def random(cls, rng: np.random.Generator) -> ConcaveJointlySparse:
        given = cls._drawn(rng)
        epsilon = 10.0 ** rng.uniform(-1, 1)
        given["eta"] /= epsilon
        return cls(**given, penalty=str(rng.choice(["rw", "l20"])), epsilon=epsilon)


# -- what machines compute ---------------------------------------------------------------------------


def _moments(block: Any) -> tuple[np.ndarray, np.ndarray]:
    return block.moments
