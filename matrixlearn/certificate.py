"""Certificates: bounds from a problem's data and two points, never from what an engine says of itself.

    lower <= optimum <= upper,    gap = (upper - lower) / size

``size`` is the largest of |lower|, |upper|, the smaller of what the bounds add up to at the points that prove them
(`Bound.size`, such as sum_j |b_j y_j| and sum_ik |C_ik X_ik|) and a small part of the problem's own scale. Each bound
holds an allowance for all that rounding may have done. Bounds that differ by no more than rounding of the terms of the
objective have no gap, so that an optimum of 0 is found (`Bound.rounding`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from matrixlearn._array import brought_to, namespace
from matrixlearn._threads import governed
from matrixlearn.exceptions import CertificateError, ContradictionError, ProblemError
from matrixlearn.files import SMALLEST
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.problems.base import INF, Bound, Problem, Rigour
from matrixlearn.problems.conic import ray_near, toward, toward_dual
from matrixlearn.typing import Array
from matrixlearn.validation import as_array, as_hermitian, as_real_vector

RECOMPUTED = 1e-9
"""Part of a certificate's size by which bounds may differ when they are computed again: other processors and numbers of
threads add up in another order."""


ROUNDING = 1e-12
"""The width, in units of the objective, of bounds that may differ by twice their width when they are computed again."""


def relative_gap(lower: float, upper: float, size: float, rounding: float = 0.0) -> float:
    """(upper - lower) / max(|upper|, |lower|, size); inf where a bound is missing, 0 where all is ``rounding``."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return INF
    if upper - lower <= rounding:
        return 0.0
    size = max(abs(upper), abs(lower), size)
    return max(0.0, upper - lower) / size if size > 0 else 0.0


def size_of(problem: Problem, *bounds: Bound) -> float:
    """What a gap between bounds is relative to, beside the bounds themselves: the smaller of what they add up to.

    Multipliers that run away, as they do where no X is positive definite, add up to any number.
    """
    return max(problem.gap_floor, min(bound.size for bound in bounds))


def require_agreement(lower: float, upper: float, size: float, rigour: Rigour) -> None:
    """Bounds that do not contradict each other.

    Raises
    ------
    ContradictionError
        Where lower > upper by more than rounding and both are proved: a bug, or data that changed.
    """
    if rigour != "checked" or lower <= upper or (math.isinf(lower) and math.isinf(upper)):
        return
    if math.isinf(lower - upper) or lower - upper > 1e-10 * max(abs(lower), abs(upper), size):
        msg = (
            f"the bounds contradict each other: lower {lower:.17g} > upper {upper:.17g}; one of them is false, which "
            f"is a bug of the problem's bounds or data that were changed after they were given: please report it"
        )
        raise ContradictionError(msg)


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
        The points that the bounds belong to.
    problem : Problem
        The data they are about.
    size : float
        What the bounds add up to.
    rounding : float
        The width of the bounds that counts as no gap: rounding of the terms of the objective.
    trace_bound : float or None
        R, where the upper bound holds for Tr X <= R only; None where it needs no trace bound.
    """

    lower: float
    upper: float
    rigour: Rigour
    X: Array | None = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    problem: Problem = field(repr=False)
    size: float = field(default=0.0, repr=False)
    rounding: float = field(default=0.0, repr=False)
    trace_bound: float | None = None
    ray: Array | None = field(default=None, repr=False)
    """A direction along which the objective grows without end from any feasible matrix; None where none is known."""

    @property
    def gap(self) -> float:
        """The width of the bounds over their size, as in `relative_gap`."""
        return relative_gap(self.lower, self.upper, self.size, self.rounding)

    @property
    def is_infeasible(self) -> bool:
        """Whether a bound proves that nothing is feasible."""
        if self.problem.objective == "maximize":
            return self.upper == -INF
        return self.lower == INF or self.upper == -INF

    @property
    def value(self) -> float:
        """The objective at the returned point, kept between the bounds against rounding.

        Infinite where nothing is feasible, or the point is not proved to be.
        """
        worst = -INF if self.problem.objective == "maximize" else INF
        if self.is_infeasible:
            return worst
        value = self.problem.objective_at(self.X, self.y)
        if self.rigour != "checked":
            return value
        if self.problem.objective == "maximize" and self.lower == -INF:
            return worst
        inside = min(max(value, self.lower), self.upper)
        rounding = RECOMPUTED * max(self.size, abs(value)) + self.rounding + ROUNDING
        return inside if abs(inside - value) <= rounding else value

    @property
    def why(self) -> str:
        """What is missing, where a bound is infinite; empty where both are finite."""
        out = []
        if self.lower == -INF and self.X is not None and self.problem.objective == "maximize":
            out.append("X is not proved feasible: it misses a constraint, or no strictly feasible matrix is near")
        if self.upper == INF and self.y is not None and self.problem.objective == "maximize":
            out.append("A(y) - C is not proved positive semidefinite, and nothing bounds the trace of X")
        return "; ".join(out)

    def verify(self) -> Certificate:
        """Compute the bounds again from the problem's data; return the certificate that results.

        Raises
        ------
        CertificateError
            Where the data do not prove what this certificate says: its bounds, its rigour, what they add up to, its
            ray, or that they need no trace bound, or none below its own.
        """
        if math.isnan(self.lower) or math.isnan(self.upper):
            msg = f"[{self.lower:g}, {self.upper:g}] are no bounds"
            raise CertificateError(msg)
        fresh = certified(self.problem, *checked_points(self.problem, self.X, self.y))
        slack = RECOMPUTED * max(fresh.size, abs(fresh.lower) if math.isfinite(fresh.lower) else 0.0)
        slack = max(slack, 1e-4 * fresh.rounding)
        if math.isfinite(fresh.upper - fresh.lower):  # nothing but rounding: points are moved once more
            slack = max(slack, min(2 * (fresh.upper - fresh.lower), ROUNDING), 5e-4 * (fresh.upper - fresh.lower))
        guessed, minimizes = self.rigour == "estimate", self.problem.objective == "minimize"  # an estimate is no claim
        lower_holds = (guessed and not minimizes) or self.lower <= fresh.lower + slack
        if not (lower_holds and ((guessed and minimizes) or self.upper >= fresh.upper - slack)):  # never for NaN
            msg = (
                f"the data prove [{fresh.lower:.17g}, {fresh.upper:.17g}], not the claimed "
                f"[{self.lower:.17g}, {self.upper:.17g}]"
            )
            raise CertificateError(msg)
        if self.ray is not None and ray_near(self.problem, self.ray) is None:
            msg = "the ray is not proved to be one"
            raise CertificateError(msg)
        for claimed, found in ((self.size, fresh.size), (self.rounding, fresh.rounding)):
            if self.rigour != "estimate" and not claimed <= found * (1 + 1e-6) + ROUNDING:
                msg = f"the bounds add up to {found:.6g}, not to the claimed {claimed:.6g}"
                raise CertificateError(msg)
        order = get_args(Rigour)
        if self.rigour not in order or order.index(self.rigour) < order.index(fresh.rigour):
            msg = f"the data prove bounds of rigour {fresh.rigour!r}, not the claimed {self.rigour!r}"
            raise CertificateError(msg)
        if fresh.trace_bound is not None and (self.trace_bound is None or not self.trace_bound <= fresh.trace_bound):
            msg = f"the proof needs the trace bound {fresh.trace_bound}, not the claimed {self.trace_bound}"
            raise CertificateError(msg)
        return fresh

    def __str__(self) -> str:
        within = "" if self.trace_bound is None else f", for tr X <= {self.trace_bound:.6g} only"
        bounds, width = f"{self.lower:.9g} <= optimum <= {self.upper:.9g}", self.upper - self.lower
        largest = max(abs(self.lower), abs(self.upper))
        if self.size > 10 * largest:  # said, or the bounds would not look like their gap
            return f"{bounds}, gap {self.gap:.2e} of {self.size:.3g}, what they add up to ({self.rigour}{within})"
        if not math.isfinite(width):
            return f"{bounds} ({self.rigour}{within}){': ' + self.why if self.why else ''}"
        return f"{bounds}, relative gap {self.gap:.2e}, width {width:.2e} ({self.rigour}{within})"


def _require_shape(X: Array, shape: tuple[int, ...]) -> None:
    if tuple(X.shape) != tuple(shape):
        msg = f"X must have shape {tuple(shape)}, got {tuple(X.shape)}"
        raise ProblemError(msg)


def combine(problem: Problem, from_matrix: Bound, from_vector: Bound) -> Certificate:
    """The certificate of two bounds.

    Raises
    ------
    ContradictionError
        Where they contradict each other.
    """
    order = get_args(Rigour)
    if from_matrix.beyond and from_vector.trace_bound is not None:  # the bounds are about different sets
        from_matrix = replace(from_matrix, lower=-INF)
    lower, upper = max(from_matrix.lower, from_vector.lower), min(from_matrix.upper, from_vector.upper)
    rigour = max(from_matrix.rigour, from_vector.rigour, key=order.index)
    size = size_of(problem, from_matrix, from_vector)
    rounding = max(from_matrix.rounding, from_vector.rounding)
    require_agreement(lower, upper, max(size, rounding), rigour)
    return Certificate(
        lower=lower,
        upper=upper,
        rigour=rigour,
        X=from_matrix.point,
        y=from_vector.point,
        problem=problem,
        size=size,
        rounding=rounding,
        trace_bound=from_vector.trace_bound,
    )


def flushed(point: Any) -> Any:
    """The point, and 0 in its place where all its entries are so small that their products underflow."""
    if isinstance(point, FactoredMatrix) or getattr(point, "ndim", 0) == 0 or 0 in point.shape:
        return point  # a factor is scaled to its set
    xp = namespace(point)
    return 0 * point if 0 < float(xp.max(xp.abs(point))) < SMALLEST else point


def checked_points(
    problem: Problem, X: Array | None, y: Array | None
) -> tuple[Array | FactoredMatrix | None, np.ndarray | None]:
    """Points of the right shape, without NaN, in the problem's namespace."""
    like, X, y = problem.like, flushed(X), flushed(y)
    if isinstance(X, FactoredMatrix):
        as_array("X (its factor)", X.factor)
        if like is not None and len(like.shape) == 2:
            _require_shape(X, like.shape)
    elif X is not None:
        X = as_array("X", X)
        if like is not None:
            _require_shape(X, like.shape)
            X = brought_to(as_hermitian("X", X) if X.ndim == 2 else X, like)
    return X, None if y is None else as_real_vector("y", y, problem.multipliers)


def certified(
    problem: Problem,
    X: Array | None,
    y: np.ndarray | None,
    inside: Callable[[], tuple[Array | None, np.ndarray | None]] | None = None,
) -> Certificate:
    """The bounds that points prove as they stand, or moved towards what ``inside`` gives."""
    from_matrix, from_vector = Bound(), Bound()
    X, y = flushed(X), flushed(y)
    if X is not None:
        with governed(problem):
            from_matrix = problem.bound_from_matrix(X)
            if from_matrix.lower == -INF and from_matrix.upper == INF and inside is not None:
                nearer = toward(problem, X, inside()[0])
                from_matrix = from_matrix if nearer is X else problem.bound_from_matrix(nearer)
    if y is not None:
        with governed(problem):
            from_vector = problem.bound_from_vector(y)
            if from_vector.lower == -INF and from_vector.upper == INF and inside is not None:
                interior = inside()[1]
                nearer = y if interior is None else toward_dual(problem, y, interior)
                from_vector = from_vector if nearer is y else problem.bound_from_vector(nearer)
    return combine(problem, from_matrix, from_vector)


def settled(problem: Problem, X: Array | None, y: np.ndarray | None, known: Sequence[Bound] = ()) -> Certificate:
    """The certificate of the points that X and y are moved to: `Certificate.verify` computes the same bounds.

    Bounds of ``known`` that are `Bound.settled` were computed by the same call, and are not computed again.
    """
    from_matrix, from_vector = Bound(), Bound()
    with governed(problem):
        if X is not None:
            from_matrix = _settled(problem.bound_from_matrix, X, known)
        if y is not None:
            from_vector = _settled(problem.bound_from_vector, y, known)
    return combine(problem, from_matrix, from_vector)


def _settled(bound_of: Callable[[Any], Bound], point: Any, known: Sequence[Bound]) -> Bound:
    for bound in known:
        if bound.settled and bound.point is point:
            return bound
    point = flushed(point)
    first = bound_of(point)
    if _is_same(first.point, point):
        return first
    moved = flushed(first.point)
    return first if moved is None else _no_better(replace(bound_of(moved), point=first.point), first)


def _no_better(bound: Bound, first: Bound) -> Bound:
    """The bound of a point, no better than the one that led to it: it may be that of a point further on, beyond what
    the point itself is worth.
    """
    lower = bound.lower if first.lower == -INF else min(bound.lower, first.lower)
    upper = bound.upper if first.upper == INF else max(bound.upper, first.upper)
    return replace(bound, lower=lower, upper=upper)


def bound_of_vector(problem: Problem, y: np.ndarray) -> Bound:
    """What y proves, `settled` where it stays where it is; of a copy, which no engine can change afterwards."""
    y = np.array(y)
    y.setflags(write=False)
    bound = problem.bound_from_vector(y)
    return replace(bound, point=y, settled=True) if _is_same(bound.point, y) else bound


def _is_same(point: Any, other: Any) -> bool:
    """Whether two points are the same or hold the same numbers; a list, which a stranger may show, is no array."""
    if point is other:
        return True
    if any(each is None or isinstance(each, FactoredMatrix | list) for each in (point, other)):
        return False
    return point.shape == other.shape and bool(namespace(point).all(point == other))


def nearest_proved(bound: Callable[[Any], Bound], point: Any, inside: Any, good: Callable[[Bound], bool]) -> Any:
    """The first of point + 2^-k (inside - point), k from 50 down, whose bound is good; the first that is proved where
    none is, and the point where none is proved.

    It must stay so after it went to the equivalent problem and back again.
    """
    proved = None
    for k in (INF, *range(50, -1, -2)):
        start = point if k == INF else point + 2.0**-k * (inside - point)
        found = _kept(bound, start)
        if found and all(good(each) for each in found):
            return start
        if found and proved is None:
            proved = start
    return point if proved is None else proved


def _kept(bound: Callable[[Any], Bound], point: Any) -> list[Bound]:
    """The bounds of a point, and of the points that they are of, three times; none where one of them proves nothing."""
    out: list[Bound] = []
    for _ in range(3):
        found = bound(point)
        if found.lower == -INF and found.upper == INF:
            return []
        out.append(found)
        if found.point is None or (isinstance(point, np.ndarray) and bool(np.all(found.point == point))):
            break
        point = found.point
    return out


PLAUSIBLE = 1e-3
"""The gap up to which an estimate says something."""


def estimate(problem: Problem, X: Array, certificate: Certificate, tol: float, atol: float) -> dict[str, Any]:
    """What an X that proves nothing suggests, in the place of the bound that the certificate lacks; nothing where it
    lacks none, and where that is not near the other bound: such an X may be far from all feasible ones.
    """
    if math.isfinite(certificate.upper if problem.objective == "minimize" else certificate.lower):
        return {}
    bound = problem.estimate_from_matrix(X)
    if bound.rigour != "estimate":
        return {}
    size = max(problem.gap_floor, min(certificate.size, bound.size) or bound.size)
    width = max(tol * size, atol)
    if bound.lower > certificate.upper + width or bound.upper < certificate.lower - width:
        return {}  # X misses the rows by more than it is near
    far = max(width, PLAUSIBLE * size)
    if not (certificate.upper - bound.lower <= far or bound.upper - certificate.lower <= far):
        return {}
    known = {"rigour": "estimate", "size": size, "X": bound.point}
    if problem.objective == "minimize":
        return known | {"upper": max(bound.upper, certificate.lower)}
    return known | {"lower": min(bound.lower, certificate.upper)}
