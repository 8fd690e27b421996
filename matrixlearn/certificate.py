"""Certificates: bounds from a problem's data alone, never from what an engine says of itself.

    lower <= optimum <= upper,    gap = (upper - lower) / max(|upper|, |lower|, FLOOR * scale)

``upper`` and ``lower`` hold an allowance for rounding (`SpectralGame.rounding`: some 4 (n + m) eps times the
size of everything that is added up, which covers the backward error of one full Hermitian
eigendecomposition). A certificate of rigour ``checked`` took the full decomposition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from matrixlearn._threads import governed
from matrixlearn.exceptions import CertificateError, ProblemError
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import INF, Bound, Problem, Rigour, require_problem
from matrixlearn.problems.game import SpectralGame
from matrixlearn.typing import Array

FLOOR = 1e-3
"""The fraction of a problem's scale below which its gap is absolute: an optimum of 0 ends."""


def relative_gap(lower: float, upper: float, scale: float) -> float:
    """(upper - lower) / max(|upper|, |lower|, FLOOR * scale), inf where a bound is missing."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return INF
    size = max(abs(upper), abs(lower), FLOOR * scale)
    return max(0.0, upper - lower) / size if size > 0 else 0.0


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimum of a problem, and the two points that prove them.

    Attributes
    ----------
    lower, upper : float
        Certified bounds; infinite where no point proves one.
    gap : float
        Relative gap, see `relative_gap`.
    rigour : {"checked", "blockwise", "probabilistic", "estimate"}
        Only ``checked`` may call an answer optimal; ``blockwise`` may call it stationary.
    X, y : array or None
        The feasible points that the bounds belong to.
    problem : Problem
        The data they are about.
    """

    lower: float
    upper: float
    rigour: Rigour
    X: Array | None = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    problem: Problem = field(repr=False)

    @property
    def gap(self) -> float:
        """The width of the bounds over the size of the larger, or over FLOOR * scale, as in `relative_gap`."""
        return relative_gap(self.lower, self.upper, self._scale)

    @property
    def _scale(self) -> float:
        return self.problem.scale_at(self.y, self.upper)

    def verify(self) -> Certificate:
        """Compute the bounds again from the problem's data; return the certificate that results.

        Raises
        ------
        CertificateError
            Where the data do not prove what this certificate says.
        """
        fresh = certify(self.problem, X=self.X, y=self.y)
        slack = 1e-12 * max(abs(self.lower) if math.isfinite(self.lower) else 0.0, self.problem.scale)
        if math.isfinite(self.upper - self.lower):
            slack = max(slack, 1e-6 * (self.upper - self.lower))  # what rounding may move, where multipliers are large
        if fresh.lower < self.lower - slack or fresh.upper > self.upper + slack:
            msg = (
                f"the data prove [{fresh.lower:.17g}, {fresh.upper:.17g}], not the claimed "
                f"[{self.lower:.17g}, {self.upper:.17g}]"
            )
            raise CertificateError(msg)
        return fresh

    def __str__(self) -> str:
        bounds, floor = f"{self.lower:.9g} <= optimum <= {self.upper:.9g}", FLOOR * self._scale
        if max(abs(self.lower), abs(self.upper)) < floor:  # said, or the bounds would not look like their gap
            return f"{bounds}, gap {self.gap:.2e} of {floor:.3g}, a small part of the data's scale ({self.rigour})"
        return f"{bounds}, relative gap {self.gap:.2e} ({self.rigour})"


def _require_shape(X: Array, shape: tuple[int, ...]) -> None:
    if tuple(X.shape) != tuple(shape):
        msg = f"X must have shape {tuple(shape)}, got {tuple(X.shape)}"
        raise ProblemError(msg)


CHARGE = 4.0
"""Times what a residual is worth at y, that it costs. The optimum is concave in the right hand sides: the worth at y is
the least it may be. Where it goes with the root of the residual, as without an interior, it is twice that.
"""


def charged(from_matrix: Bound, y: np.ndarray | None) -> float:
    """``lower`` less CHARGE |y| . residual, where there is one; without prices it proves nothing."""
    if from_matrix.residual is None:
        return from_matrix.lower
    return -INF if y is None else from_matrix.lower - CHARGE * float(np.abs(y) @ from_matrix.residual)


def lower_of(from_matrix: Bound, from_vector: Bound) -> float:
    """The better lower bound of two; what a matrix misses of its equations is charged at the multipliers y.

    The optimum v(b) is concave in the right hand sides, with -y among its gradients: v(b) >= v(b - r) - |y| . |r| to
    first order in r, at most what a problem tolerates; `CHARGE` covers more than the first order.
    """
    return max(charged(from_matrix, from_vector.point), from_vector.lower)


def combine(problem: Problem, from_matrix: Bound, from_vector: Bound) -> Certificate:
    """The certificate of two bounds."""
    order = get_args(Rigour)
    return Certificate(
        lower=lower_of(from_matrix, from_vector),
        upper=min(from_matrix.upper, from_vector.upper),
        rigour=max(from_matrix.rigour, from_vector.rigour, key=order.index),
        X=from_matrix.point,
        y=from_vector.point,
        problem=problem,
    )


def certify(problem: Problem, X: Array | None = None, y: Array | None = None) -> Certificate:
    """Certify an answer from anywhere: the bounds that X and y prove for the problem.

    The points are moved into their sets first (eigenvalues clipped, trace and weights scaled), so
    that the answer of another solver, feasible to its own tolerance, may be passed as it is.

    Parameters
    ----------
    problem : Problem
    X : array or FactoredMatrix, optional
        The matrix side.
    y : array, shape (m,), optional
        The vector side.

    Raises
    ------
    ProblemError
        For NaN or misshaped points.
    """
    require_problem(problem)
    from_matrix, from_vector = Bound(), Bound()
    if X is not None:
        from matrixlearn._array import moved
        from matrixlearn._validation import as_array, as_hermitian

        if isinstance(X, FactoredMatrix):
            as_array("X (its factor)", X.factor)
            _require_shape(X, (problem.spectral_set.n,) * 2 if isinstance(problem, SpectralGame) else X.shape)
        else:
            X = as_array("X", X)
            cost = getattr(problem, "cost", None)
            if cost is not None:
                _require_shape(X, cost.shape)
                X = moved(as_hermitian("X", X) if X.ndim == 2 else X, cost)
        with governed(problem):
            from_matrix = problem.bound_from_matrix(X)
    if y is not None:
        from matrixlearn._validation import as_real_vector

        size = getattr(getattr(problem, "dual_set", None), "size", None)
        with governed(problem):
            from_vector = problem.bound_from_vector(as_real_vector("y", y, size))
    return combine(problem, from_matrix, from_vector)
