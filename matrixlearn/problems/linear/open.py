"""The game that engines play for a linear program over matrices, in even units and on its face.

    v = min over y in Y  max over X in S   <C, X> + b.y - <A(y), X>,      Y = {y : y_j >= 0 outside E},  S = {X >= 0}

Y has no bound. An interior method needs none: it plays on {X >= 0, Tr X <= R} with an R of its own, which it raises
while X comes near it. The other engines need both sets bounded: `OpenProgram.bounded` (`linear.slater`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, identity
from matrixlearn.linalg import frobenius, inner, spectral_norm, trace
from matrixlearn.linalg.verified import INF, least_eigenvalue
from matrixlearn.maps import LinearMap
from matrixlearn.problems.base import Bound
from matrixlearn.problems.blocks import diagonal_blocks
from matrixlearn.problems.conic import ConicProblem
from matrixlearn.problems.game import Game
from matrixlearn.problems.linear.combination import combinations
from matrixlearn.problems.linear.digits import (
    exact_farkas,
    exact_multipliers,
    is_exactly_feasible,
    proved_ray,
)
from matrixlearn.problems.linear.limit import NEAR, ROUNDED, TraceLimit
from matrixlearn.problems.linear.proof import TERMS, Proof
from matrixlearn.problems.linear.recovery import recovered
from matrixlearn.problems.linear.slater import mixing, optimal_multipliers
from matrixlearn.problems.linear.span import Feasible, feasible, spanned
from matrixlearn.problems.played import GameProblem
from matrixlearn.sets import KnapsackSet, TraceBall
from matrixlearn.typing import Array

NO_TRACE = 1e-150
"""A trace that rows ask for and that is no size to go by: its square is 0."""

VANISHED = 1e-6
"""Part of the usual trace below which X is taken to go to 0, where X = 0 is feasible."""

SMALL_MULTIPLE = 2.0**-10
"""Of the largest multiple of I that the rows allow, what others are moved towards."""

ROOMS = (1e-13, 1e-8)
"""What is added to a multiple of the trace's multipliers, in the order in which it is tried."""


@dataclass(frozen=True, eq=False)
class OpenProgram(GameProblem, ConicProblem):
    """max <C, X> subject to <A_j, X> = b_j in E, <= b_j outside, X >= 0: bounds by `Proof`.

    Parameters
    ----------
    C, family, b, equal
        The data, in the namespace that engines work in.
    proof : Proof
        The same program in NumPy, exact.
    limit : TraceLimit, optional
        What the user says of the trace: used where nothing else bounds it, and said in the bound.
    interior : array, optional
        A strictly feasible X_s, which bounds Y.
    level : float
        K, with ``interior``.
    trace : float, optional
        R of S, for engines that need it.
    frame : ndarray, shape (n, n), optional
        The user's trace in these units and on this face is <frame, X>.
    size_of : callable, optional
        sum_j |b_j y_j| of the user's rows, where these were mixed.
    """

    C: Array
    family: LinearMap
    b: np.ndarray
    equal: np.ndarray
    proof: Proof = field(repr=False)
    limit: TraceLimit | None = None
    interior: Array | None = None
    level: float = INF
    trace: float | None = None
    frame: np.ndarray | None = field(default=None, repr=False)
    size_of: Callable[[np.ndarray], float] | None = field(default=None, repr=False)

    name = "sdp"
    objective = "maximize"

    @property
    def title(self) -> str:
        return "LinearSDP"

    def check(self) -> None:
        """It is made of a program that has been checked."""

    # -- the game ---------------------------------------------------------------------------------

    @cached_property
    def game(self) -> Game:
        """On {X >= 0, Tr X <= R}, R a first guess where no engine has asked for a true one."""
        S = TraceBall(self.C.shape[0], self.trace or self.usual_trace, self.blocks)
        repair = None if self.interior is None else self._repair(self.interior)
        norm = spectral_norm(self.C)
        return Game(
            self.C,
            self.family,
            self.b,
            S,
            self._multipliers,
            size=S.trace * norm or 1.0,
            cost_norm=norm,
            repair=repair,
            interior=self.interior,
        )

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of the diagonal blocks in which C and all A_j lie, as they stand; () where there is one."""
        n, places = self.C.shape[0], np.nonzero(as_numpy(self.C))
        pattern = self.family.pattern() if diagonal_blocks(n, *places) else None
        if pattern is None:
            return ()
        return diagonal_blocks(n, *(np.concatenate(pair) for pair in zip(places, pattern, strict=True)))

    @cached_property
    def usual_trace(self) -> float:
        """n max_j |b_j| / ||A_j||_F, over the rows that ask for a trace where there are any; n without."""
        n, sizes = self.C.shape[0], np.where(self.family.sizes > 0, self.family.sizes, INF)
        asked = np.where(self.equal, np.abs(self.b), np.maximum(-self.b, 0.0)) / sizes
        traces = (float(np.max(part, initial=0.0)) for part in (asked, np.abs(self.b) / sizes))
        return n * next((trace for trace in traces if trace > NO_TRACE), 1.0)

    @cached_property
    def _multipliers(self) -> KnapsackSet:
        """The set Y."""
        if self.interior is None:
            return KnapsackSet(np.where(self.equal, -INF, 0.0), np.full(len(self.b), INF))
        rounding = TERMS * self.proof.terms(as_numpy(self.interior))  # where X is optimal, no less than that is known
        room = max(self.level - inner(self.C, self.interior), rounding)
        return optimal_multipliers(self.C, self.family, self.b, self.equal, self.interior, room)

    def bounded(self, X: Array | None = None, upper: float = 1.0, y: np.ndarray | None = None) -> OpenProgram | None:
        """The same program with both sets bounded, by a strictly feasible X, twice the proved width, and a trace.
        Without X, a stand-in that tells which engines can play it.

        A y with A(y) - C > 0 bounds the trace of every matrix that is as good as X.
        """
        R = self._finite_trace
        if X is None:
            free = self.equal & False
            return replace(self, interior=0 * self.C, b=np.ones(len(self.b)), equal=free, level=upper, trace=R)
        value = inner(self.C, X)
        if y is not None and self.trace_multipliers is None:
            R = self._trace_at(y, value)
        return replace(self, interior=X, level=upper + (upper - value) + 1e-3 * abs(upper), trace=R)

    def _trace_at(self, y: np.ndarray, value: float) -> float:
        """(b.y - value) / lambda_min(A(y) - C), a trace that no feasible X with <C, X> >= value exceeds."""
        F, error = self.proof.slack(y)
        least = least_eigenvalue(F) - error
        within = (self.proof.value(y)[0] - value) / least if least > 0 else INF
        return within if 0 < within < INF else self._finite_trace

    @cached_property
    def _finite_trace(self) -> float:
        """A trace that no X of interest exceeds: by the rows, by the user, or the usual one."""
        by_rows = 0.0 if self.trace_multipliers is None else float(self.b @ self.trace_multipliers)
        if by_rows > 0:  # else X = 0 is all there is, or nothing is feasible
            return by_rows
        if self.limit is not None and self.limit.least > 0:
            return self.limit.R / self.limit.least
        return self.usual_trace

    @property
    def gap_floor(self) -> float:
        """0: each bound says what it adds up to."""
        return 0.0

    def _repair(self, interior: Array) -> Callable[[Array], Array]:
        """X moved to where all rows hold."""
        if np.any(self.equal):
            return lambda X: self.toward(X, interior)
        return mixing(self.family, self.b, interior)

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """A user's strictly feasible X, or a small multiple of I; X = 0; y = 0; what rows ask of a trace."""
        points: list[tuple[Array | None, np.ndarray | None]] = [(self.interior, np.zeros(len(self.b)))]
        if self.interior is None and np.all(self.b > 0) and not np.any(self.equal):
            eye = identity(self.C.shape[0], self.C)
            traces = self.family.adjoint(eye) / self.b
            points.append((eye * (SMALL_MULTIPLE / (float(np.max(traces, initial=0.0)) or 1.0)), None))
        if self.proof.zero_is_feasible:
            points.append((0 * self.C, None))
        elif self.limit is not None and self.limit.row is None:
            points += [(None, z) for z in self._multipliers_of(-self.limit.matrix)]
        return points

    # -- bounds -----------------------------------------------------------------------------------

    def _hermitian(self, X: Array) -> np.ndarray:
        W = as_numpy(self.game.S.hermitian_blocks(X))
        return W.astype(np.result_type(W, self.proof.C), copy=False)  # complex, where the program is

    def bound_from_matrix(self, X: Array) -> Bound:
        W = self._hermitian(X)
        found = self._feasible(W)
        if found is None:
            return Bound(point=X, size=self.proof.terms(W), rounding=self.proof.rounding(W))
        point = X if found.point is W else from_numpy(found.point, self.C)
        rounding = self.proof.rounding(found.point)
        return Bound(point=point, lower=found.lower, size=found.size, rounding=rounding, singular=found.singular)

    def _feasible(self, W: np.ndarray) -> Feasible | None:
        """The feasible matrix that W proves: 0 where W goes to 0, and is better there."""
        proof = self.proof
        if proof.zero_is_feasible and float(np.max(np.abs(W))) < VANISHED * self.usual_trace and proof.lower(W)[0] < 0:
            W = 0 * W
        return feasible(proof, W)

    def within_limit(self, X: Array, room: float = 0.0) -> bool:
        """Whether the feasible matrix that X proves, or X where it proves none, has a trace of at most R (1 + room)."""
        if self.limit is None:
            return True
        W = self._hermitian(X)
        found = self._feasible(W)
        if found is None:
            return self.trace_of(W) <= self.limit.R * (1 + room)
        return self.limit.holds(self.proof, found, room)

    def nearly_within_limit(self, X: Array) -> bool:
        """The same but for rounding, which an X whose trace is R may miss it by."""
        return self.within_limit(X, ROUNDED * self.C.shape[0])

    def ray_near(self, X: Array) -> Array | None:
        """X' >= 0 with <A_j, X'> = 0 or <= 0 and <C, X'> > 0, proved, near a multiple of X; None where none is found.

        It says that nothing bounds the objective, where any matrix is feasible. It is proved by the margins of `Proof`,
        or in small whole numbers.
        """
        D = proved_ray(self.proof, self._hermitian(X))
        return None if D is None else from_numpy(D, self.C)

    def estimate_from_matrix(self, X: Array) -> Bound:
        """<C, X> of an X that meets the rows to a part in 10^6 of their terms: a lower bound that is not proved."""
        X = self.proof.on_the_rows(self._hermitian(X))
        missed = np.maximum(np.where(self.equal, np.abs(self._apart(X)), -self._apart(X)), 0.0)
        units = np.abs(self.b) + self.family.sizes * frobenius(X)
        least = float(np.linalg.eigvalsh(X)[0]) if len(X) else 0.0
        near = bool(np.all(missed <= 1e-6 * units)) and least >= -1e-6 * frobenius(X)
        value = inner(as_numpy(self.C), X)
        point = from_numpy(X, self.C)
        return (
            Bound(point=point, lower=value, size=self.proof.terms(X), rigour="estimate") if near else Bound(point=point)
        )

    def _apart(self, X: np.ndarray) -> np.ndarray:
        return self.b - self.proof.family.adjoint(X)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        bound = self._proved_by(y)
        if self.size_of is None or bound.point is None or bound.trace_bound is not None:
            return bound
        return replace(bound, size=min(bound.size, self.size_of(bound.point)))

    def _proved_by(self, y: np.ndarray) -> Bound:
        """The bound of y; its size is that of these rows."""
        y, proof = self.proof.signed(y), self.proof
        ray = self._ray(y)
        if ray is not None:
            return ray
        if self.limit is not None and self.limit.row is not None and self.limit.is_used(y):
            without = y.copy()
            without[self.limit.row[0]] = 0.0
            upper, size = proof.upper(without)
            if upper < INF:
                return Bound(point=without, upper=upper, size=size, trace_bound=self._used(without))
        upper, size = proof.upper(y)
        if self.proof.zero_is_feasible and upper > 0 and np.any(y[self.b != 0] != 0) and np.any(y):
            free = np.where(self.b == 0, y, 0.0)  # where X = 0 is optimal, these prove it
            if proof.upper(free)[0] == 0:
                return Bound(point=free, upper=0.0, trace_bound=self._used(free))
            if (exact := exact_multipliers(proof, free)) is not None:  # b is 0 where they are not
                return Bound(point=exact, upper=0.0, trace_bound=self._used(exact), singular=True)
        if upper < INF:
            return Bound(point=y, upper=upper, size=size, trace_bound=self._used(y))
        if is_exactly_feasible(proof, y):
            return self._singular_bound(y)
        if self.trace_multipliers is not None:  # A(z) about I: t z makes up for what y lacks
            for more in ROOMS:
                moved = y + (1 + more) * proof.shift(y) * self.trace_multipliers
                upper, size = proof.upper(moved)
                if upper < INF:
                    return Bound(point=moved, upper=upper, size=size, trace_bound=self._used(moved))
        exact = exact_multipliers(proof, y)
        nearby = Bound(point=y, size=size) if exact is None else self._singular_bound(exact)
        if self.interior is None:
            return nearby
        by_limit = self.bound_by_limit(y)  # an engine between bounds plays with the trace that was given
        return by_limit if by_limit.upper < nearby.upper else nearby

    def _singular_bound(self, y: np.ndarray) -> Bound:
        """b.y, where A(y) - C >= 0 is proved without rounding."""
        upper, size = self.proof.value(y)
        return Bound(point=y, upper=upper, size=size, trace_bound=self._used(y), singular=True)

    def bound_by_limit(self, y: np.ndarray) -> Bound:
        """What y proves of the X whose trace the user's bound allows: b.y + R s, A(y) - C + s I >= 0."""
        y, proof, limit = self.proof.signed(y), self.proof, self.limit
        value, size = proof.value(y)
        if limit is None or limit.row is not None:
            return Bound(point=y, size=size)
        paid = limit.R * limit.times(*proof.slack(y), enough=NEAR * size / limit.R)
        return Bound(point=y, upper=value + paid, size=size + paid, trace_bound=limit.R)

    def _used(self, y: np.ndarray) -> float | None:
        """R, where y has a multiplier for it."""
        return self.limit.R if self.limit is not None and self.limit.is_used(y) else None

    def _ray(self, y: np.ndarray) -> Bound | None:
        """The proof that no X is feasible: A(z) >= 0 and b.z < 0, z = y as it is, with what bounds the trace, or few
        digits of it.
        """
        found = self._rounded_ray(y) if self.proof.value(y)[0] < 0 else None
        if found is not None:
            return found
        exact = exact_farkas(self.proof, y)
        return None if exact is None else Bound(point=exact, upper=-INF, trace_bound=self._used(exact))

    def _rounded_ray(self, y: np.ndarray) -> Bound | None:
        """The same of y and its multiples, by a factorization: what is semidefinite has no negative diagonal entry."""
        proof, limit = self.proof, self.limit
        unit = y / float(np.max(np.abs(y)))
        missing, value = -np.real(np.diagonal(proof.family.apply(unit))), proof.value(unit)[0]
        if not np.any(missing > 0) and proof.is_ray(y):
            return Bound(point=y, upper=-INF, trace_bound=self._used(y))
        if self.trace_multipliers is not None and np.isfinite(missing).all():
            worth = float(self.b @ self.trace_multipliers)
            if value + max(0.0, float(np.max(missing))) * max(0.0, worth) < 0:
                moved = unit + proof.without_cost.shift(unit) * self.trace_multipliers
                if proof.is_ray(moved):
                    return Bound(point=moved, upper=-INF, trace_bound=self._used(moved))
        if limit is not None and limit.row is None and value + limit.R * max(0.0, limit.least_times(missing)) < 0:
            paid = limit.R * limit.times(*proof.without_cost.slack(unit))
            if value + paid < 0:
                return Bound(point=unit, upper=-INF, trace_bound=limit.R)
        return None

    @cached_property
    def trace_multipliers(self) -> np.ndarray | None:
        """z with A(z) about I, z_j >= 0 outside E: the rows bound the trace by b.z; None where none is found."""
        return next((z for target in self._traces for z in self._multipliers_of(target)), None)

    @cached_property
    def _traces(self) -> list[np.ndarray]:
        """Matrices >= I that rows may combine to: I, and the user's I in these units and on this face."""
        eye = np.eye(self.C.shape[0])
        if self.frame is None or np.array_equal(self.frame, eye):
            return [eye]
        least = least_eigenvalue(self.frame)
        return [eye, self.frame / least] if least > 0 else [eye]

    def _multipliers_of(self, target: np.ndarray) -> Iterator[np.ndarray]:
        """z with A(z) about the target, z_j >= 0 outside E."""
        return combinations(self.proof.family, self.family.sizes, self.equal, target)

    def toward(self, X: Array, interior: Array | None) -> Array:
        """X moved to the rows and towards a strictly feasible point, as little as a proof takes."""
        inside = None if interior is None else self._hermitian(interior)
        here = self._hermitian(X)
        if not self.proof.proves(here) and spanned(self.proof, here) is not None:
            return X
        W = self.proof.toward(here, inside)
        if self.limit is not None and inside is not None:
            W = self.limit.toward(self.proof, W, inside)
        return from_numpy(W, self.C)

    def recovered(self, X: Array, y: np.ndarray) -> tuple[Array | None, np.ndarray | None]:
        """`recovery.recovered`, in the namespace of C."""
        W = self._hermitian(X)
        if not (np.isfinite(W).all() and np.isfinite(y).all()):
            return None, None
        point, z = recovered(self.proof, W, y)
        return None if point is None else from_numpy(point, self.C), z

    def toward_dual(self, y: np.ndarray, interior: np.ndarray) -> np.ndarray:
        """y moved towards a y_0 with A(y_0) - C > 0, as little as a proof takes."""
        return self.proof.toward_dual(y, interior)

    def trace_of(self, X: Array) -> float:
        """The trace of the user's X."""
        return trace(X) if self.limit is None else inner(self.limit.matrix, as_numpy(X))
