"""Regularised empirical risk minimisation, with one certified dual for every method.

    primal    min over x of   P(x) = psi(x) + sum_i c_i f(a_i.x, b_i)
    saddle    min over x, max over y of   psi(x) + sum_i c_i (y_i a_i.x - f*(y_i, b_i))
    dual      max over y of   D(y) = -psi*(-A'(c y)) - sum_i c_i f*(y_i, b_i)

c_i = 1 / n, or the share of sample i in all weight. P(x) >= optimum >= D(y) for any x and y; at the optimum
x = grad psi*(-A'(c y)) and y_i = f'(a_i.x, b_i).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.losses import LOSSES, Loss, loss_named
from matrixlearn.machines import Local, Machines, Shards
from matrixlearn.penalties import ElasticNet, Group, Nuclear, Penalty, Spectral, penalty_named
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, Problem
from matrixlearn.validation import as_real_vector, as_weights
from matrixlearn_erm.cases import Case
from matrixlearn_erm.design import UNIT, Design, as_design, gamma
from matrixlearn_erm.lipschitz import operator_norm
from matrixlearn_erm.spread import SpreadDesign, labels

if TYPE_CHECKING:
    import cvxpy

HERE: Machines = Local()
FEW = 8
"""Roundings inside of a loss or its conjugate, relative to their terms."""


@presented_by("matrixlearn_erm.present:ERMPresenter")
@dataclass(frozen=True, eq=False)
class ERM(Problem):
    """min over x of psi(x) + the (weighted) mean over samples of f(a_i.x, b_i).

    Parameters
    ----------
    A : array or scipy.sparse matrix, shape (n, d); or Shards
        One sample a row. Sparse rows stay sparse. Those of Shards stay on their machines.
    b : array, shape (n,)
        Labels; -1 and 1 for losses of the margin. None with Shards, which have them, and what samples count.
    loss : Loss or str
        An object of `matrixlearn.losses` or its name, such as "logistic" or "huber(delta=0.5)".
    penalty : Penalty or str
        An object of `matrixlearn.penalties` or its name, such as "elastic-net(ridge=0.1, l1=0.01)".
    sample_weight : array, shape (n,), optional
        What each sample counts in the mean, >= 0. Those of weight 0 are left out, here and in ``y`` of a solution.
    machines : Machines
        Where Shards are kept.

    Notes
    -----
    ``matrix`` of a solution is x, shape (d,), and ``y`` the dual point, one entry a sample, in the range of f'.
    ``docs/erm.md`` says which engine is for which case, and when to accelerate.
    """

    A: Any
    b: Any
    loss: Any
    penalty: Any
    sample_weight: Any = None
    machines: Machines = HERE
    design: Design = field(init=False, repr=False)
    """The samples."""

    name = "erm"
    objective = "minimize"
    # as measured; those after sdca are history: they work, and are compared
    engines = (
        "newton-cg", "dual-interior-point", "chambolle-pock", "sdca", "katyusha", "svrg", "spdc", "apcg", "papc",
        "disdca", "dadm", "spd1-vr", "spd1", "sgd",
    )  # fmt: skip

    def __post_init__(self) -> None:
        loss, penalty = loss_named(self.loss), penalty_named(self.penalty)
        if isinstance(self.A, Shards):
            self._spread(self.A, loss, penalty)
            return
        A, b = as_design("A", self.A), as_real_vector("b", self.b)
        if len(b) != A.shape[0]:
            msg = f"A and b must have one row for each sample, got {A.shape[0]} and {len(b)}"
            raise ProblemError(msg)
        weights = self.sample_weight
        if weights is not None:
            weights = as_weights("sample_weight", weights, len(b))
            A, b, weights = A[weights > 0], b[weights > 0], weights[weights > 0]
        self._put(Design(A), A=A, b=b, loss=loss, penalty=penalty, sample_weight=weights)

    def _spread(self, shards: Shards, loss: Loss, penalty: Penalty) -> None:
        if self.b is not None or self.sample_weight is not None:
            msg = "Shards hold labels and weights: b and sample_weight are not to be given with them"
            raise ProblemError(msg)
        held = self.machines.hold(shards)
        b, counts = held.map(labels)
        weights = None if np.all(counts == counts[0]) else counts
        self._put(SpreadDesign(None, held), b=b, loss=loss, penalty=penalty, sample_weight=weights)
        _ = self.n, self.design.norms  # while the machines are there
        held.opened(self.d)

    def _put(self, design: Design, **given: Any) -> None:
        """All parts, checked."""
        for key, value in (given | {"design": design}).items():
            object.__setattr__(self, key, value)
        self.loss.check_labels(self.b, "b")
        self.penalty.check(self.d)
        if not self.penalty.is_coercive:
            msg = (
                f"penalty must have a weight above 0, or the dual proves nothing, got {self.penalty}; give it a small "
                f"ridge"
            )
            raise ProblemError(msg)

    def rest(self) -> None:
        if isinstance(self.design, SpreadDesign):
            self.design.held.rest()

    def traffic(self) -> str:
        return self.design.held.ledger.brief if isinstance(self.design, SpreadDesign) else ""

    # -- what engines use -------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of samples that count."""
        return self.design.shape[0]

    @property
    def d(self) -> int:
        """The number of features."""
        return self.design.shape[1]

    @cached_property
    def share(self) -> np.ndarray:
        """c, what each sample counts; they add up to 1."""
        weights = np.ones(self.n) if self.sample_weight is None else self.sample_weight / self.sample_weight.max()
        return np.asarray(weights / weights.sum())

    @cached_property
    def operator_norm(self) -> float:
        """||C^(1/2) A||, C = diag(c)."""
        return operator_norm(self.design, self.share)

    @cached_property
    def R2(self) -> float:
        """R^2 = max n c_i ||a_i||^2; max ||a_i||^2 where all samples count the same."""
        return float(np.max(self.n * self.share * self.design.norms**2))

    @cached_property
    def mean_curvature(self) -> float:
        """L sum c_i ||a_i||^2 / d: no Hessian of the risk has a larger mean eigenvalue."""
        return self.loss.smoothness * float(self.share @ self.design.norms**2) / self.d

    @cached_property
    def cost(self) -> np.ndarray:
        """Zeros of the shape of x."""
        return np.zeros(self.d)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The interval of each y_i, the domain of f*."""
        lower, upper, _ = np.broadcast_arrays(*self.loss.domain(self.b), self.b)
        return lower, upper

    @cached_property
    def steepest(self) -> np.ndarray:
        """The largest |f'| of each sample; inf for the square."""
        return np.asarray(np.maximum(*np.abs(self.ends)))

    @cached_property
    def case(self) -> Case:
        """What is smooth and what strongly convex, and what follows."""
        return Case.of(self)

    def value_at(self, p: np.ndarray, x: np.ndarray) -> float:
        """P(x), with p = A x."""
        return float(self.share @ self.loss.value(p, self.b)) + float(self.penalty.value(x))

    def direction(self, y: np.ndarray) -> np.ndarray:
        """v = -A'(c y), shape (d,)."""
        return -self.design.adjoint(self.share * y)

    def dual_point(self, x: Any) -> np.ndarray:
        """y_i = f'(a_i.x, b_i): what x itself says of the dual, shape (n,)."""
        return np.asarray(self.loss.gradient(self.design.apply(np.asarray(x)), self.b))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        x = np.zeros(self.d)
        return [(x, self.dual_point(x))]

    # -- bounds -----------------------------------------------------------------------------------

    @cached_property
    def scale(self) -> float:
        """P(0)."""
        return self.value_at(np.zeros(self.n), np.zeros(self.d)) or 1.0

    @np.errstate(over="ignore", invalid="ignore")  # of points that have run away: they prove nothing
    def bound_from_matrix(self, X: Any) -> Bound:
        """P(x), and the dual at f'(A x)."""
        # Theorem. Let p be the computed A x. Then |p_i - a_i.x| <= e_i = gamma_k ||a_i|| ||x||, k the entries of a
        # row, and f is convex: f(a_i.x) <= f(p_i) + e_i max |f'| between, and that slope is at most |f'(p_i)| + L e_i,
        # and at most the largest of the domain of f*. All terms are >= 0: their sum is off by gamma_m of itself.
        x = np.array(X, dtype=float)
        _require_size("X", x, self.d)
        p = self.design.apply(x)
        e = gamma(self.design.row_terms + 2) * self.design.norms * float(np.linalg.norm(x)) * (1 + gamma(self.d + 2))
        slope = np.asarray(self.loss.gradient(p, self.b))
        steepest = self.steepest
        if np.isfinite(self.loss.smoothness):
            steepest = np.minimum(steepest, np.abs(slope) * (1 + FEW * UNIT) + self.loss.smoothness * e)
        upper = float(self.share @ (self.loss.value(p, self.b) + steepest * e)) * (1 + gamma(2 * self.n + 4 * FEW))
        upper += float(self.penalty.value(x)) * (1 + self.penalty.rounding + gamma(self.d + FEW))
        upper *= 1 + 4 * UNIT
        _, lower = self._dual(slope)
        return Bound(point=x, lower=lower, upper=upper if np.isfinite(upper) else np.inf)

    @np.errstate(over="ignore", invalid="ignore")
    def bound_from_vector(self, y: np.ndarray) -> Bound:
        """The dual value at y, moved into the domain of D."""
        _require_size("y", y, self.n)
        point, lower = self._dual(y)
        return Bound(point=point, lower=lower)

    def _dual(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """A point t y of the domain of D, and a number that D there is not below."""
        # Theorem. The computed v = -A'(c y) is off by at most gamma_m |A|'|c y|, m = 2 n + 4 (n of the sum, n of the
        # shares c), in norm at most e = gamma_m sum c_i |y_i| ||a_i||; `conjugate_within` bounds psi* in the whole
        # ball, and `domain_scale` gives t <= 1 with the whole ball in the domain. t y stays in the domain of f*, which
        # is an interval around 0, and rounding is monotone. Each term of f* is computed to a few units u of itself,
        # and the sizes of its terms add up to at most |f*| + 2 |y b|.
        y = np.clip(y, *self.ends)
        v = self.direction(y)
        e = gamma(2 * self.n + FEW) * float(np.abs(self.share * y) @ self.design.norms) * (1 + gamma(self.n + 2))
        e += 4 * UNIT * float(np.linalg.norm(v))  # of t v below
        t = self.penalty.domain_scale(v, e)
        if t < 1:
            y, v, e = t * y, t * v, t * e
        conjugates = self.loss.conjugate(y, self.b)
        sizes = float(self.share @ (np.abs(conjugates) + 2 * np.abs(y * self.b)))
        first, second = self.penalty.conjugate_within(v, e), float(self.share @ conjugates)
        slack = gamma(2 * self.n + 4 * FEW) * sizes + 4 * UNIT * (first + sizes)
        lower = -first - second - slack
        return y, max(0.0, lower) if np.isfinite(lower) else 0.0  # f >= 0 and psi >= 0

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return float("nan") if X is None else self.value_at(self.design.apply(np.asarray(X)), np.asarray(X))

    # -- files, the cvxpy reference ----------------------------------------------------------

    def parameters(self) -> Mapping[str, Any]:
        given = {"A": self.A, "b": self.b, "sample_weight": self.sample_weight}
        if isinstance(self.A, Shards):
            rows = self.A.at_hand() or {"X": self.A, "y": None, "sample_weight": None}
            given = {"A": rows["X"], "b": rows["y"], "sample_weight": rows["sample_weight"]}
        return given | {"loss": str(self.loss), "penalty": str(self.penalty)}

    def reference(self) -> cvxpy.Problem:
        import cvxpy as cp

        x = cp.Variable(self.d, name="X")
        return cp.Problem(cp.Minimize(self.share @ self.loss.as_cvxpy(self.A @ x, self.b) + self.penalty.as_cvxpy(x)))

    def read_reference(self, program: cvxpy.Problem) -> tuple[Any, np.ndarray]:
        """x from cvxpy's answer, and f'(A x)."""
        x = np.asarray(next(v.value for v in program.variables() if v.name() == "X"))
        return x, self.dual_point(x)

    @classmethod
    def random(cls, rng: np.random.Generator) -> ERM:
        """n in 1-12, d in 1-6; every loss and penalty, weighted or not, labels of any size."""
        n, d = int(rng.integers(1, 13)), int(rng.integers(1, 7))
        loss: Loss = list(LOSSES.values())[rng.integers(len(LOSSES))]()
        A = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1)
        b = A @ rng.standard_normal(d) + rng.standard_normal(n)
        b = np.where(b < 0, -1.0, 1.0) if "hinge" in loss.name or loss.name == "logistic" else b
        ridge, mu = 10.0 ** rng.uniform(-3, 0), 10.0 ** rng.uniform(-2, 0)
        penalties: list[Penalty] = [
            ElasticNet(ridge),
            ElasticNet(ridge),
            ElasticNet(ridge, mu),
            ElasticNet(l1=mu),
            Group(mu, rng.integers(0, 3, d), ridge if rng.random() < 0.5 else 0.0),
            Nuclear(mu, (1, d) if d % 2 else (2, d // 2), ridge),
            Spectral(mu, (1, d) if d % 2 else (2, d // 2), ridge),
        ]
        weights = None
        if rng.random() < 0.3:
            weights = rng.uniform(0, 2, n) * (rng.random(n) < 0.8)
            weights[0] = 1.0
        return cls(A, b, loss, penalties[rng.integers(len(penalties))], weights)


def _require_size(name: str, value: np.ndarray, size: int) -> None:
    if value.shape != (size,):
        msg = f"{name} must be a vector of shape ({size},), got shape {value.shape}"
        raise ProblemError(msg)
