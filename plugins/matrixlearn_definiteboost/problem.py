"""DefiniteBoost: the density matrix nearest to W_1 that satisfies linear constraints.

    min  Delta_F(W, W_1) = tr(W log W - W log W_1)
    s.t. tr W = 1,   l_j <= tr(W S_j) <= u_j,   S_j = sym(C_j)                                        (4.1)

Any multipliers y prove a lower bound, y_j^+ = max(y_j, 0) for u_j and y_j^- = max(-y_j, 0) for l_j,

    D(y) = -log tr exp(log W_1 - sum_j y_j S_j) - sum_j (u_j y_j^+ - l_j y_j^-)                       (4.2)

and any feasible W proves an upper one. With soft constraints (a price nu_j for each unit of violation)
every W is feasible, at Delta_F + sum_j nu_j violation_j, and |y_j| <= nu_j. No W is further from W_1 than
-log lambda_min(W_1) (ln d for W_1 = I/d): a dual value above that proves that nothing is feasible (Section 4.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import DenseExponent
from matrixlearn.linalg import frobenius
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, Play, Problem
from matrixlearn.problems.linear.members import applied, rounded_inner
from matrixlearn.sets import Spectraplex
from matrixlearn.validation import require_real
from matrixlearn_definiteboost.checks import density, per_constraint, rows, stacked
from matrixlearn_definiteboost.constraints import Constraints, DenseConstraints, VectorConstraints
from matrixlearn_definiteboost.dual import EPS, Sides, log_tr_exp
from matrixlearn_definiteboost.feasible import FeasibleSet
from matrixlearn_definiteboost.oracle import Correcting
from matrixlearn_definiteboost.proof import ProjectionProof

if TYPE_CHECKING:
    import cvxpy


NEAR = 1e-6
"""How far a matrix may be from all equalities, to be taken for feasible: matrices have trace one."""

PARAMETERS = ("constraints", "upper", "lower", "initial", "slack", "vectors", "minus")


@presented_by("matrixlearn_definiteboost.present:ProjectionPresenter")
@dataclass(frozen=True, eq=False)
class DefiniteBoost(Problem):
    """min Delta_F(W, W_1) subject to tr W = 1 and lower_j <= tr(W C_j) <= upper_j.

    Parameters
    ----------
    constraints : array, shape (m, d, d), or list of m square matrices, optional
        C_1, ..., C_m, real or complex; only sym(C_j) = (C_j + C_j^H) / 2 counts.
    upper : float or array, shape (m,), default=0
        The right-hand sides u_j.
    lower : float or array, shape (m,), optional
        l_j <= u_j; -inf where there is none. l_j = u_j is an equality.
    initial : array, shape (d, d), optional
        W_1, positive definite with trace one; I/d by default.
    slack : float or array, shape (m,), optional
        The price nu_j > 0 of a unit of violation, for inconsistent data; hard constraints by default.
    vectors, minus : arrays, shape (m, d), optional
        In place of ``constraints``: C_j = p_j p_j^H - q_j q_j^H for the rows of ``vectors`` and of ``minus`` (none:
        q = 0). e_a - e_b makes tr(W C_j) the squared distance of objects a and b in the kernel W.

    Notes
    -----
    Engines: ``corrective`` (Newton on the dual, all constraints at once), ``barrier`` (interior point on the dual, for
    soft constraints of high prices), ``definiteboost`` (one constraint a
    round, closed-form step (4.6)), ``bregman`` (one constraint, exact step (4.4)); all end at the same optimum.

    An upper bound needs a feasible W. One that violates constraints by little is moved onto them, or mixed with a
    strictly feasible matrix (`interior`); that a matrix which is feasible exactly is near is proved
    (`matrixlearn_definiteboost.proof`), and the way there is paid for. Where that fails, as for equalities that depend
    on each other to rounding, the upper bound is an estimate and the status says so.

    References
    ----------
    Tsuda, Raetsch and Warmuth (2005), "Matrix exponentiated gradient updates", Section 4.
    """

    constraints: Any = None
    upper: Any = 0.0
    lower: Any = None
    initial: Any = None
    slack: Any = None
    vectors: Any = None
    minus: Any = None

    name = "definiteboost"
    objective = "minimize"
    engines = ("corrective", "barrier", "definiteboost", "bregman")
    routines = ("DenseExponent", "Correcting")

    def __post_init__(self) -> None:
        if (self.constraints is None) == (self.vectors is None):
            msg = "constraints or vectors must be given, and not both"
            raise ProblemError(msg)

        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        if self.constraints is not None:
            if self.minus is not None:
                msg = "minus goes with vectors (C_j = p_j p_j^H - q_j q_j^H), not with constraints"
                raise ProblemError(msg)
            put("constraints", stacked(self.constraints))
            m, d = self.constraints.shape[:2]
        else:
            put("vectors", rows("vectors", self.vectors))
            m, d = self.vectors.shape
            if self.minus is not None:
                put("minus", rows("minus", self.minus, (m, d)))
        put("upper", per_constraint("upper", self.upper, m))
        if self.lower is not None:
            lower = np.asarray(require_real("lower", np.asarray(self.lower)), dtype=float)
            none = np.isneginf(lower)
            lower = np.where(none, -np.inf, per_constraint("lower", np.where(none, 0.0, lower), m))
            if np.any(lower > self.upper):
                j = int(np.argmax(lower - self.upper))
                msg = f"lower must be at most upper, but lower[{j}] = {lower[j]:g} > upper[{j}] = {self.upper[j]:g}"
                raise ProblemError(msg)
            put("lower", lower)
        if self.slack is not None:
            put("slack", per_constraint("slack", self.slack, m))
            if np.any(self.slack <= 0):
                msg = f"slack must be positive (the price of a unit of violation), got {self.slack.min():g}"
                raise ProblemError(msg)
        if self.initial is not None:
            put("initial", density("initial", self.initial, d))

    # -- the data, as engines use them --------------------------------------------------------------

    @cached_property
    def family(self) -> Constraints:
        """S_1, ..., S_m."""
        if self.vectors is not None:
            return VectorConstraints(self.vectors, self.minus)
        return DenseConstraints(self.constraints)

    @property
    def m(self) -> int:
        """The number of constraints."""
        return self.family.shape[0]

    @property
    def d(self) -> int:
        """The side of W."""
        return self.family.shape[1]

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        if self.initial is None:
            return np.full(self.d, 1.0 / self.d), np.eye(self.d)
        diagonal = np.real(np.diagonal(self.initial))
        if np.array_equal(self.initial, np.diag(diagonal)):
            order = np.argsort(diagonal, kind="stable")
            return diagonal[order], np.eye(self.d)[:, order]
        w, V = np.linalg.eigh(self.initial)
        return w, V

    @cached_property
    def log_initial(self) -> np.ndarray:
        """log W_1, complex where any of the data are."""
        w, V = self._spectrum
        log = np.diag(np.log(w)) if self.initial is None else (V * np.log(w)) @ V.conj().T
        return log.astype(complex) if self.family.is_complex else log

    @property
    def initial_matrix(self) -> np.ndarray:
        """W_1."""
        w, V = self._spectrum
        return np.asarray((V * w) @ V.conj().T)

    @property
    def like(self) -> np.ndarray:
        """An array of the dtype and shape of W."""
        return self.log_initial

    @cached_property
    def lower_bounds(self) -> np.ndarray:
        """l_j, -inf where there is none."""
        return np.full(self.m, -np.inf) if self.lower is None else np.asarray(self.lower)

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The multipliers' bounds: [-nu_j or 0, nu_j], nu = inf for hard constraints."""
        price = np.full(self.m, np.inf) if self.slack is None else self.slack
        return np.where(np.isfinite(self.lower_bounds), -price, 0.0), price

    @cached_property
    def sides(self) -> Sides:
        """The constraints as s_i tr(W S_j(i)) <= c_i; trivial ones (S_j = c_j I) that hold are left out."""
        price = self.box[1]
        equal = self.lower_bounds == self.upper
        below = np.flatnonzero(np.isfinite(self.lower_bounds) & ~equal)
        index = np.concatenate([np.arange(self.m), below])
        sign = np.concatenate([np.ones(self.m), -np.ones(len(below))])
        bound = np.concatenate([self.upper, -self.lower_bounds[below]])
        low = np.where(np.concatenate([equal, np.zeros(len(below), dtype=bool)]), -price[index], 0.0)
        least, most = (side[index] for side in self.family.ranges)
        scale = np.maximum(np.abs(sign * least - bound), np.abs(sign * most - bound))
        used = scale > 8 * EPS * (self.family.norms[index] + np.abs(bound))
        return Sides(index[used], sign[used], bound[used], low[used], price[index][used], scale[used])

    @property
    def scale(self) -> float:
        """max(1, -log lambda_min(W_1)): divergences are in nats."""
        return max(1.0, self.farthest)

    @cached_property
    def farthest(self) -> float:
        """-log lambda_min(W_1), the largest Delta_F(W, W_1) of any density matrix."""
        return -float(np.log(self._spectrum[0][0]))

    @property
    def ceiling(self) -> float:
        """What no feasible matrix exceeds, rounding included: a dual value above it proves that there is none."""
        rounding = 64 * self.d * EPS * (1 + self.farthest) + 2 * self.log_error
        return np.inf if self.slack is not None else self.farthest + rounding

    @cached_property
    def log_error(self) -> float:
        """||fl(log W_1) - log W_1||_2 at most: LAPACK's pairs are those of a matrix within 2 d eps ||W_1||_F."""
        if self.initial is None:
            return 2 * EPS * self.farthest
        w, _ = self._spectrum
        rounding = (self.d + 4) * EPS * frobenius(self.log_initial)
        if not np.any(self.initial - np.diag(np.diagonal(self.initial))):
            return rounding
        moved = 2 * self.d * EPS * float(np.linalg.norm(w))
        return rounding + (moved / float(w[0] - moved) if moved < w[0] else np.inf)

    @cached_property
    def proof(self) -> ProjectionProof:
        """The proofs of upper bounds."""
        return ProjectionProof(self)

    # -- the two objectives -------------------------------------------------------------------------

    def divergence(self, W: np.ndarray) -> float:
        """Delta_F(W, W_1) (4.8)."""
        w = np.linalg.eigvalsh(W)
        w = w[w > 0]
        return float(w @ np.log(w) - np.real(np.vdot(self.log_initial, W)))

    @property
    def multipliers(self) -> int:
        """The number m of constraints."""
        return self.m

    def violations(self, W: np.ndarray) -> np.ndarray:
        """max(0, tr(W S_j) - u_j, l_j - tr(W S_j)), (m,)."""
        t = self.family.adjoint(W)
        return np.maximum(0.0, np.maximum(t - self.upper, self.lower_bounds - t))

    def dual_value(self, y: np.ndarray) -> float:
        """D(y) (4.2), (4.9), without an allowance."""
        held = y < 0
        linear = float(self.upper @ np.maximum(y, 0)) + float(self.lower_bounds[held] @ y[held])
        return -log_tr_exp(self.log_initial - self.family.apply(y)) - linear

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = np.clip(np.asarray(y, dtype=float), *self.box)
        F, error = applied(self.family, y)
        linear, lost, _ = rounded_inner(np.where(y < 0, self.lower_bounds, self.upper), y)
        size = 2 * frobenius(self.log_initial) + frobenius(F) + abs(linear)
        error += 4 * (self.d + self.m) * EPS * (1 + size) + lost + self.log_error
        lower = -log_tr_exp(self.log_initial - F) - linear - error
        if not np.isfinite(lower):  # multipliers so large that sums overflow prove nothing
            return Bound(point=y)
        return Bound(point=y, lower=np.inf if lower > self.ceiling else lower)

    def bound_from_matrix(self, X: np.ndarray) -> Bound:
        W = self.densities.project(X)
        found = self.feasible.proved_near(W)
        return Bound(point=W) if found is None else Bound(point=found.at.W, upper=found.upper)

    def estimate_from_matrix(self, X: np.ndarray) -> Bound:
        """The objective at a matrix that is feasible to rounding, where none is proved to be near; nothing where
        equalities that depend on each other nearly may make the feasible ones far.
        """
        W = self.densities.project(X)
        near = self.feasible.repaired(W)
        if near is None or self.feasible.distance(near) > NEAR:
            return Bound(point=W)
        return Bound(point=near, upper=self._objective(near), rigour="estimate")

    def _objective(self, W: np.ndarray) -> float:
        return self.divergence(W) + (0.0 if self.slack is None else float(self.slack @ self.violations(W)))

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        if X is None or (self.slack is None and not self.is_feasible(X)):
            return np.inf
        return self._objective(X)

    @property
    def densities(self) -> Spectraplex:
        """All density matrices."""
        return Spectraplex(self.d, 1.0)

    # -- feasible matrices --------------------------------------------------------------------------

    @cached_property
    def feasible(self) -> FeasibleSet:
        """The matrices that satisfy all constraints, and the ways to one."""
        return FeasibleSet(self)

    def is_feasible(self, W: np.ndarray) -> bool:
        """Whether all constraints hold to rounding."""
        return self.feasible.holds(W)

    # -- rounds -------------------------------------------------------------------------------------

    def play(self) -> Play:
        """The von Neumann mirror map around W_1; the most violated constraint, with the closed-form step."""
        return Play(DenseExponent(self.densities), Correcting.of(self), start=-self.log_initial)

    def first_points(self) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
        return [(None, np.zeros(self.m))]

    def parameters(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in PARAMETERS}

    def reference(self) -> cvxpy.Problem:
        """The entropy through the sums of the largest eigenvalues, exact, in real variables."""
        from matrixlearn_definiteboost.reference import program

        return program(self)

    @classmethod
    def random(cls, rng: np.random.Generator) -> DefiniteBoost:
        """d in 1-4, m in 1-8, real or complex, W_1 uniform or not; hard, soft, two-sided, some equalities."""
        from matrixlearn_definiteboost.instances import random_arguments

        return cls(**random_arguments(rng))
