"""Batch regression by a density matrix: the optimum over a finite set, certified.

    min over W >= 0, tr W = 1 of    f(W) = sum_t c_t l(tr(W X_t), y_t)

where c_t is 1 / T, or the share that the weight of an instance has in all weight. Convexity proves both bounds from one
W, and Fenchel's duality proves a lower one from any multipliers u:

    f(W) >= f* >= f(W) - <grad f(W), W> + lambda_min(grad f(W))
            f* >= lambda_min(sum_t u_t X_t) - sum_t c_t l*(u_t / c_t, y_t)

the first being the second at u_t = c_t l'(tr(W X_t), y_t).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import DenseExponent
from matrixlearn.linalg import adjoint, inner
from matrixlearn.losses import LOSSES
from matrixlearn.oracles import ResponseOracle
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, Play, Problem
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn.validation import as_array, as_number, as_real_vector, as_weights
from matrixlearn_meg.instances import Pair, as_instance
from matrixlearn_meg.learner import MEGLearner
from matrixlearn_meg.losses import loss_of
from matrixlearn_meg.stacks import DenseStack, DyadStack

if TYPE_CHECKING:
    import cvxpy


EPS = float(np.finfo(np.float64).eps)


@presented_by("matrixlearn_meg.present:DensityPresenter")
@dataclass(frozen=True, eq=False)
class MEGRegression(Problem):
    """min over density matrices W of the (weighted) mean over t of l(tr(W X_t), y_t).

    Parameters
    ----------
    X : array, shape (T, d, d) or (T, d), or sequence of instances
        Square matrices, through their symmetric (Hermitian) part; or vectors x_t, for X_t = x_t x_t^H; or a
        list of matrices, sparse matrices and `Pair`, `LowRank` ... instances.
    y : array, shape (T,)
        Labels; -1 and 1 for losses of the margin.
    loss : str or Loss
        "square", which is (p - y)^2 here, or "huber", or an object of `matrixlearn.losses` or its name, such as
        "logistic" or "smoothed-hinge(gamma=0.5)".
    delta : float
        Of the Huber loss: where the square turns into the absolute value.
    sample_weight : array, shape (T,), optional
        What each instance counts in the mean, >= 0. Those of weight 0 are left out, here and in ``y`` of a solution.

    Notes
    -----
    ``matrix`` of a solution is W, ``y`` the multipliers u. Engines: ``newton`` (to any gap) and ``online`` (one pass,
    a round an example). Online learning, where there is no optimum but a bound on what predictions cost, is
    `MEGLearner`: two classes, since they answer two questions.
    """

    X: Any
    y: Any
    loss: Any = "square"
    delta: float = 1.0
    sample_weight: Any = None
    stack: Any = field(init=False, repr=False)
    """The instances."""

    name = "meg"
    objective = "minimize"
    engines = ("newton", "online")
    routines = ("DenseExponent", "ResponseOracle")

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", as_number("delta", self.delta))
        loss = loss_of(self.loss, self.delta)
        X = _stacked(self.X)
        y = as_real_vector("y", self.y)
        if len(y) != len(X):
            msg = f"X and y must have one row each, got {len(X)} and {len(y)}"
            raise ProblemError(msg)
        if self.sample_weight is not None:
            weights = as_weights("sample_weight", self.sample_weight, len(y))
            X, y, weights = (each[weights > 0] for each in (X, y, weights))
            object.__setattr__(self, "sample_weight", weights)
        loss.check_labels(y)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "stack", DenseStack(X) if X.ndim == 3 else DyadStack(X))
        object.__setattr__(self, "loss", loss)

    # -- what engines use -------------------------------------------------------------------------

    @property
    def d(self) -> int:
        """Side length of W."""
        return int(self.stack.d)

    @cached_property
    def cost(self) -> np.ndarray:
        """Zeros of the shape and the dtype of W."""
        return np.zeros((self.d, self.d), dtype=self.stack.dtype)

    @property
    def like(self) -> np.ndarray:
        return self.cost

    @property
    def spectral_set(self) -> Spectraplex:
        """{W >= 0, tr W = 1}."""
        return Spectraplex(self.d, 1.0)

    @cached_property
    def share(self) -> np.ndarray:
        """c, what each instance counts; they add up to 1."""
        weights = np.ones(self.stack.T) if self.sample_weight is None else self.sample_weight / self.sample_weight.max()
        return np.asarray(weights / weights.sum())

    @cached_property
    def dual_set(self) -> KnapsackSet:
        """u_t between the least and the greatest c_t l'(p, y_t) for |p| <= ||X_t||_F."""
        ends = [self.share * self.loss.gradient(s * self.stack.sizes, self.y) for s in (-1, 1)]
        return KnapsackSet.box(np.minimum(*ends), np.maximum(*ends))

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the range of l'; where one of the two is infinite, a number in its place that is beyond all l'
        of |p| <= ||X_t||_F.
        """
        low, high = (np.broadcast_to(end, self.y.shape) for end in self.loss.domain(self.y))
        least, greatest = self.dual_set.lower / self.share, self.dual_set.upper / self.share
        below, above = np.isneginf(low) & np.isfinite(high), np.isposinf(high) & np.isfinite(low)
        return (
            np.where(below, 2 * least - np.where(below, high, 0.0) - 1, low),
            np.where(above, 2 * greatest - np.where(above, low, 0.0) + 1, high),
        )

    def learner(self, comparator: Any = None) -> MEGLearner:
        """The online learner of this problem, before the first example."""
        return MEGLearner(self.d, loss=self.loss, comparator=comparator)

    def examples(self) -> Iterator[tuple[np.ndarray, float]]:
        """(X_t, y_t), or (x_t, y_t) for dyads, in their order."""
        return zip(self.X, self.y, strict=True)

    def play(self) -> Play:
        """The saddle of f: u_t = c_t l'(tr(W X_t), y_t) is the best response of the conjugates to W, a corner of the
        box where the loss is absolute.
        """
        room = self.spectral_set.trace * float(np.log(self.d + 1))
        return Play(DenseExponent(self.spectral_set), ResponseOracle(partial(type(self).response, self), room))

    def response(self, W: Any) -> tuple[np.ndarray, np.ndarray]:
        """(sum_t u_t X_t, u) at the best response u to W."""
        u = self.multipliers_at(W)
        return self.stack.apply(u), u

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        W = self.spectral_set.center(self.cost)
        return [(W, self.multipliers_at(W))]

    @cached_property
    def slope_size(self) -> float:
        """The largest that ||sum_t u_t X_t|| can be, as far as norms tell."""
        ends = np.maximum(np.abs(self.dual_set.lower), np.abs(self.dual_set.upper))
        return float(ends @ self.stack.sizes)

    # -- bounds -----------------------------------------------------------------------------------

    @cached_property
    def scale(self) -> float:
        """The mean over t of the largest loss with |p| <= ||X_t||_F."""
        n = self.stack.sizes
        worst = np.maximum(self.loss.value(-n, self.y), self.loss.value(n, self.y))
        return float(self.share @ worst) or 1.0

    @property
    def multipliers(self) -> int:
        """The number T of instances."""
        return len(self.y)

    def predict(self, W: Any) -> np.ndarray:
        """tr(W X_t), shape (T,)."""
        return self.stack.adjoint(np.asarray(W))

    def value_of(self, W: Any) -> float:
        """f(W)."""
        return float(self.share @ self.loss.value(self.predict(W), self.y))

    def multipliers_at(self, W: Any) -> np.ndarray:
        """u_t = c_t l'(tr(W X_t), y_t)."""
        return np.asarray(self.share * self.loss.gradient(self.predict(W), self.y))

    def rounding(self, u: np.ndarray, value: float) -> float:
        """4 (d^2 + T) eps times all that is added up: d^2 products in a prediction, T matrices in a gradient."""
        added = float(np.abs(u) @ (self.stack.sizes + np.abs(self.y))) + abs(value)
        return self.unit * added

    @property
    def unit(self) -> float:
        """4 (d^2 + T) eps."""
        return 4 * (self.d**2 + self.stack.T) * EPS

    def steepest(self, u: np.ndarray) -> np.ndarray:
        """The largest c_t |l'| at predictions that differ by their rounding from those where it is u_t."""
        if not np.isfinite(self.loss.smoothness):
            return np.maximum(np.abs(self.dual_set.lower), np.abs(self.dual_set.upper))
        return np.abs(u) + self.share * self.loss.smoothness * self.unit * self.stack.sizes

    def bound_from_matrix(self, X: Any) -> Bound:
        W = self.spectral_set.project(np.asarray(X))
        value, u = self.value_of(W), self.multipliers_at(W)
        gradient = self.stack.apply(u)
        slack = self.rounding(self.steepest(u), value)
        lower = value - inner(gradient, W) + float(np.linalg.eigvalsh(gradient)[0])
        return Bound(point=W, lower=max(0.0, lower - slack), upper=value + slack)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        u = np.clip(y, self.dual_set.lower, self.dual_set.upper)
        v = np.clip(u / self.share, *self.loss.domain(self.y))  # l* is infinite outside, where a quotient may round to
        conjugate = self.share * self.loss.conjugate(v, self.y)
        lower = float(np.linalg.eigvalsh(self.stack.apply(u))[0]) - float(np.sum(conjugate))
        slack = self.rounding(u, float(np.sum(np.abs(conjugate))))
        return Bound(point=u, lower=max(0.0, lower - slack))

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return float("nan") if X is None else self.value_of(X)

    def parameters(self) -> Mapping[str, Any]:
        weight = self.sample_weight
        return {"X": self.X, "y": self.y, "loss": str(self.loss), "delta": self.delta, "sample_weight": weight}

    def reference(self) -> cvxpy.Problem:
        """The same in cvxpy."""
        import cvxpy as cp

        d = self.d
        is_complex = np.issubdtype(self.stack.dtype, np.complexfloating)
        W = (
            cp.Variable((d, d), hermitian=True, name="X")
            if is_complex
            else cp.Variable((d, d), symmetric=True, name="X")
        )
        X = self.X if self.X.ndim == 3 else self.X[:, :, None] * self.X.conj()[:, None, :]
        flat = X.conj().reshape(len(X), -1)  # <X, W> = Re sum conj(X_ij) W_ij
        vec = cp.reshape(W, (d * d,), order="C")
        p = cp.real(flat @ vec) if is_complex else flat.real @ vec
        trace = cp.real(cp.trace(W)) if is_complex else cp.trace(W)
        return cp.Problem(cp.Minimize(self.share @ self.loss.as_cvxpy(p, self.y)), [W >> 0, trace == 1])

    def read_reference(self, program: cvxpy.Problem) -> tuple[Any, None]:
        """W from cvxpy's answer."""
        return next(v.value for v in program.variables() if v.name() == "X"), None

    @classmethod
    def random(cls, rng: np.random.Generator) -> MEGRegression:
        """d in 1-5, T in 1-12; dense and dyads, real and complex, labels with and without noise, every loss."""
        d, T, scale = int(rng.integers(1, 6)), int(rng.integers(1, 13)), 10.0 ** rng.uniform(-2, 2)
        loss = tuple(LOSSES)[rng.integers(len(LOSSES))]
        of_margin = loss == "logistic" or "hinge" in loss
        scale = 1.0 if of_margin else scale
        X = rng.standard_normal((T, d, d) if rng.random() < 0.7 else (T, d))
        if rng.random() < 0.3:
            X = X + 1j * rng.standard_normal(X.shape)
        A = rng.standard_normal((d, int(rng.integers(1, d + 1))))
        U = A @ A.T / np.sum(A * A)
        X = scale * X if X.ndim == 3 else np.sqrt(scale) * X
        p = cls(X, np.zeros(T)).predict(U)
        y = p + (scale * rng.standard_normal(T) if rng.random() < 0.7 else 0.0)
        if of_margin:
            y = np.where(y > 0, 1.0, -1.0)
        return cls(X, y, loss, float(scale * rng.uniform(0.1, 2.0)))


def _stacked(X: Any) -> np.ndarray:
    """(T, d, d) Hermitian matrices or (T, d) vectors of dyads, from what `MEGRegression` takes."""
    if isinstance(X, list | tuple) and any(_is_instance(x) for x in X):
        instances = [as_instance(x, name=f"X[{t}]") for t, x in enumerate(X)]
        d = instances[0].d
        for t, instance in enumerate(instances):
            if instance.d != d:
                msg = f"X[{t}] must be {d} x {d} like X[0], got {instance.d} x {instance.d}"
                raise ProblemError(msg)
        if all(isinstance(x, Pair) and x.weight >= 0 for x in instances):
            return np.stack([np.sqrt(s[0]) * U[:, 0] for U, s in (x.factors() for x in instances)])
        parts = [(U * s) @ adjoint(U) for U, s in (x.factors() for x in instances)]
        return np.stack([(P + adjoint(P)) / 2 for P in parts])
    array = np.asarray(as_array("X", X))
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[1] != array.shape[2]):
        msg = f"X must have shape (T, d, d), or (T, d) for dyads, got {array.shape}"
        raise ProblemError(msg)
    return array if array.ndim == 2 else (array + np.conj(np.swapaxes(array, 1, 2))) / 2


def _is_instance(x: Any) -> bool:
    return hasattr(x, "tocoo") or hasattr(x, "factors")
