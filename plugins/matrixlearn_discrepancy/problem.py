"""Discrepancy minimization: weights on the source that make it look like the target.

    min over z of ||M(z)||_2,    M(z) = sum_j p_j x_j x_j^T  (target)  -  sum_i z_i x_i x_i^T  (source)
    subject to z >= 0, sum z = 1, z <= max_weight / m

M(z) is the second-moment matrix of the target less that of the weighted source, and (2 Lambda)^2
||M(z)||_2 is the discrepancy of the two for linear hypotheses of norm at most Lambda (Mansour, Mohri
and Rostamizadeh, 2009; thesis, eqs. (2.10)-(2.14)). As a game: S = {||X||_* <= 1}, the signed
pair of blocks +-M; Y the simplex, or the capped simplex; A_i = x_i x_i^T.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import SignedExponent, kernel_coordinates, span_coordinates
from matrixlearn.maps import RankOneMap
from matrixlearn.oracles import LevelOracle
from matrixlearn.present import presented_by
from matrixlearn.problems import Game, GameProblem, Play
from matrixlearn.sets import KnapsackSet, SpectralBall
from matrixlearn.validation import as_hermitian, as_number, as_real_vector
from matrixlearn_discrepancy.samples import as_points, as_sparse_samples, gram_coordinates, in_order_of, is_sparse

if TYPE_CHECKING:
    import cvxpy


@presented_by("matrixlearn_discrepancy.present:WeightsPresenter")
@dataclass(frozen=True, eq=False)
class Discrepancy(GameProblem):
    """min over weights z of ||M_0 - sum_i z_i x_i x_i^T||_2.

    Parameters
    ----------
    X_source : array or sparse array, shape (m, N)
        Labelled points, whose weights are sought, real or complex (M(z) is then Hermitian). Sparse samples, which are
        real, stay sparse until their Gram matrix.
    X_target : array or sparse array, shape (n, N)
        Points of the distribution to be matched; `summarize_target` makes a small one of many batches.
    target_weights : array, shape (n,), optional
        Weights of the target points, >= 0 and summing to one; uniform by default.
    kernel : array, shape (m + n, m + n), or callable, optional
        The Gram matrix of all points, source first, in the feature space of the hypotheses; or a
        function (A, B) -> Gram matrix, e.g. from ``sklearn.metrics.pairwise``. Linear by default.
    max_weight : float, optional
        Caps each weight at ``max_weight / m``, i.e. at that multiple of the uniform weight; >= 1. The
        exact minimizer without a cap leans on few points (thesis's form); 2 to 3 generalizes better.

    Notes
    -----
    The work is in r = rank of all points (<= min(m + n, N)) dimensions. ``matrix`` of a solution is
    X_+ - X_-, in the coordinates of `points`.
    """

    X_source: Any
    X_target: Any
    target_weights: Any = None
    kernel: Any = None
    max_weight: float | None = None
    points: Any = field(init=False, repr=False)
    """Source, then target, in r coordinates: their inner products are the kernel."""

    name = "discrepancy"
    objective = "minimize"
    routines = ("SignedExponent", "LevelOracle")

    def __post_init__(self) -> None:
        object.__setattr__(self, "X_target", in_order_of(self.X_source, self.X_target))
        checked = as_sparse_samples if is_sparse(self.X_source) or is_sparse(self.X_target) else as_points
        Xs, Xt = checked("X_source", self.X_source), checked("X_target", self.X_target)
        if Xs.shape[1] != Xt.shape[1]:
            msg = f"X_source and X_target must have the same features, got {Xs.shape[1]} and {Xt.shape[1]} columns"
            raise ProblemError(msg)
        m, n = Xs.shape[0], Xt.shape[0]
        object.__setattr__(self, "X_source", Xs)
        object.__setattr__(self, "X_target", Xt)
        if self.target_weights is not None:
            p = as_real_vector("target_weights", self.target_weights, n)
            if np.any(p < 0) or abs(p.sum() - 1) > 1e-9:
                msg = f"target_weights must be >= 0 and sum to one, got min {p.min():.3g}, sum {p.sum():.9g}"
                raise ProblemError(msg)
            object.__setattr__(self, "target_weights", p)
        object.__setattr__(self, "max_weight", as_cap(self.max_weight))
        object.__setattr__(self, "points", self._coordinates(Xs, Xt, m + n))

    def check(self) -> None:
        """Construction has checked the data."""

    def with_max_weight(self, max_weight: float | None) -> Discrepancy:
        """The same points under another cap: their coordinates are not computed again."""
        other = copy(self)
        for name in ("game", "_let_in"):
            vars(other).pop(name, None)
        object.__setattr__(other, "max_weight", as_cap(max_weight))
        return other

    def _coordinates(self, Xs: Any, Xt: Any, q: int) -> Any:
        if self.kernel is None and is_sparse(Xs):
            import scipy.sparse as sp

            return gram_coordinates(sp.vstack([Xs, Xt], format="csr"))
        if self.kernel is None:
            from array_api_compat import array_namespace

            try:
                xp = array_namespace(Xs, Xt)
            except TypeError as error:
                msg = "X_source and X_target must come from one array library"
                raise ProblemError(msg) from error
            return span_coordinates(xp.concat([Xs, Xt]))
        if callable(self.kernel):
            if is_sparse(Xs):
                import scipy.sparse as sp

                P = sp.vstack([Xs, Xt], format="csr")
            else:
                P = np.concatenate([np.asarray(Xs), np.asarray(Xt)])
            K = as_hermitian("kernel", self.kernel(P, P), q)
        else:
            K = as_hermitian("kernel", self.kernel, q)
        object.__setattr__(self, "kernel", K)
        return kernel_coordinates(K)

    # -- the game ---------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """The number of dimensions that the points span."""
        return int(self.points.shape[1])

    @cached_property
    def game(self) -> Game:
        """C = M_0, the second moments of the target, and A_i = x_i x_i^T for the source points, in r dimensions."""
        m, n = self.X_source.shape[0], self.X_target.shape[0]
        p = np.full(n, 1.0 / n) if self.target_weights is None else self.target_weights
        return Game(
            RankOneMap(self.points[m:, :]).apply(p),
            RankOneMap(self.points[:m, :]),
            np.zeros(m),
            SpectralBall(self.rank, 1.0),
            KnapsackSet.simplex(m, np.inf if self.max_weight is None else self.max_weight / m),
        )

    def play(self) -> Play:
        """The signed pair of blocks +-M; the weights nearest to the best ones known that meet the inequality."""
        return Play(SignedExponent(self.game.S), LevelOracle(self.game))

    # -- files, the cvxpy reference ----------------------------------------------------------

    def uniform_value(self) -> float:
        """||M(1/m)||_2, the objective of not reweighting."""
        m = self.X_source.shape[0]
        return self.game.upper(np.full(m, 1.0 / m))

    def parameters(self) -> Mapping[str, Any]:
        return {
            "X_source": self.X_source,
            "X_target": self.X_target,
            "target_weights": self.target_weights,
            "kernel": self.kernel,
            "max_weight": self.max_weight,
        }

    def reference(self) -> cvxpy.Problem:
        """The linear matrix inequalities t I +- M(z) >= 0, in r dimensions."""
        import cvxpy as cp

        m, n, r = self.X_source.shape[0], self.X_target.shape[0], self.rank
        P, T = np.split(np.asarray(self.points), [m])
        p = np.full(n, 1 / n) if self.target_weights is None else self.target_weights
        z, t = cp.Variable(m, name="y"), cp.Variable(name="t")
        M = (T.T * p) @ T.conj() - P.T @ cp.diag(z) @ P.conj()
        M = (M + (M.H if np.iscomplexobj(P) else M.T)) / 2
        weights = [z >= 0, cp.sum(z) == 1] + ([] if self.max_weight is None else [z <= self.max_weight / m])
        return cp.Problem(cp.Minimize(t), [t * np.eye(r) - M >> 0, t * np.eye(r) + M >> 0, *weights])

    @classmethod
    def random(cls, rng: np.random.Generator) -> Discrepancy:
        """N in 1-12, m and n in 1-15, features scaled by 1e-3 to 1e3, sometimes capped, sometimes complex."""
        N, m, n = (int(rng.integers(1, high)) for high in (13, 16, 16))
        scale = 10.0 ** rng.uniform(-3, 3)
        shift = rng.uniform(-1, 1, N)
        Xs = scale * (rng.standard_normal((m, N)) + shift)
        Xt = scale * rng.standard_normal((n, N)) * rng.uniform(0.3, 1.5, N)
        cap = None if rng.random() < 0.7 else float(rng.uniform(1.0, 4.0))
        if rng.random() < 0.2:
            Xs, Xt = (X + 1j * scale * rng.standard_normal(X.shape) for X in (Xs, Xt))
        return cls(Xs, Xt, max_weight=cap)


def as_cap(max_weight: float | None) -> float | None:
    """The cap, or None for none."""
    if max_weight is None:
        return None
    cap = as_number("max_weight", max_weight)
    if not cap >= 1:
        msg = f"max_weight must be >= 1 (1 leaves uniform weights only), got {max_weight!r}"
        raise ProblemError(msg)
    return float(cap) if np.isfinite(cap) else None


def effective_sample_size(weights: np.ndarray) -> float:
    """(sum w)^2 / sum w^2: m for uniform weights, 1 for a single point."""
    return float(weights.sum() ** 2 / (weights @ weights))
