"""The reduction of a linear program: fewer rows, even units, its face (`problems.linear.standard`); four more follow.

equalities in echelon form      where no strictly feasible X was found, or the engine can do no more
a face that y points to         where no strictly feasible X was found, and y ran away
units of the last X             where the bounds are not near enough, and the engine can do no more
the trace bound as a row        where the answer needs it
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn.certificate import nearest_proved
from matrixlearn.clock import time_left
from matrixlearn.engines.base import INTERRUPTED, Limits, Run, run
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.engines.interior_point import InteriorPoint
from matrixlearn.exceptions import ProblemError
from matrixlearn.files import LARGEST
from matrixlearn.problems.base import INF, Problem
from matrixlearn.problems.linear.basis import basis_of
from matrixlearn.problems.linear.central import RowsAlone, exposing
from matrixlearn.problems.linear.open import OpenProgram
from matrixlearn.problems.linear.program import LinearSDP
from matrixlearn.problems.linear.scaling import units_of
from matrixlearn.problems.linear.standard import Standard
from matrixlearn.reductions.base import Reduction, reduction_of
from matrixlearn.typing import Array

MOST_BASES = 3
"""The most bases that are tried, each from an X in the one before, in which more of its digits count."""

MOST_FACES = 4
"""The most faces within faces that multipliers may prove."""

CENTRAL = 20
"""Steps along the central path of the rows alone."""

SHORT = 1e-6
"""Part of R by which an X that an engine holds at R may be above it."""

FAR = 100.0
"""Times the user's trace bound, beyond which X is taken to run away; the bound becomes a row, which proves as much."""


@dataclass(frozen=True)
class LinearReduction(Reduction):
    """A `LinearSDP`, and the standard form of it that is solved."""

    problem: LinearSDP
    """The user's program."""
    standard: Standard
    """The program that is solved, and the way back."""
    why: str = ""
    bases: int = 0
    """How many bases were tried."""

    part = 0.8

    @property
    def program(self) -> OpenProgram:
        return self.standard.program

    @property
    def answer(self) -> str:
        return self.standard.answer

    @property
    def known(self) -> Proposal:
        return self.lower(Proposal(X=self.problem.interior))

    def lower(self, points: Proposal) -> Proposal:
        X, y = points.X, points.y
        fits = X is not None and getattr(X, "shape", None) == self.problem.C.shape
        return Proposal(
            X=self.standard.lowered_matrix(X) if X is not None and fits else None,
            y=self.standard.lowered_vector(y) if y is not None and len(y) == self.problem.multipliers else None,
        )

    def lift(self, points: Proposal) -> Proposal:
        """Points of a size that `certify` refuses are scaled down: they show a direction."""
        X = None if points.X is None else self.standard.lifted_matrix(points.X)
        y = None if points.y is None else self.standard.lifted_vector(points.y)
        return Proposal(
            X=None if X is None else X / max(1.0, float(np.max(np.abs(as_numpy(X)))) / LARGEST),
            y=None if y is None else y / max(1.0, float(np.max(np.abs(y))) / LARGEST),
        )

    def lift_best(self, best: Incumbent, width: float) -> Proposal:
        """Points that the way back has cost their proof are moved towards the strictly feasible ones."""
        least, most = best.from_matrix.lower - width / 10, best.from_vector.upper + width / 10
        by_limit = best.from_vector.trace_bound is not None
        X = None if best.X_as_known is None else self.program.toward(best.X_as_known, best.inside)
        found, inside = self.lift(Proposal(X=X, y=best.y)), self.lift(Proposal(X=best.inside, y=best.inside_dual))
        X, y = found.X, found.y
        if X is not None and inside.X is not None:
            X = nearest_proved(self.problem.bound_from_matrix, X, inside.X, lambda bound: bound.lower >= least)
        if y is not None and inside.y is not None:
            y = nearest_proved(
                self.problem.bound_from_vector,
                y,
                inside.y,
                lambda bound: bound.upper <= most and (bound.trace_bound is None or by_limit),
            )
        return Proposal(X=X, y=y)

    def between(self, best: Incumbent | None = None) -> Problem | None:
        if best is None:
            return self._stand_in
        return self.program.bounded(best.inside, best.upper, best.inside_dual)

    @cached_property
    def _stand_in(self) -> Problem | None:
        """The program between bounds that are not known yet: each engine is asked whether it could play it."""
        return self.program.bounded()

    def is_left_by(self, known: Incumbent) -> bool:
        """Whether X has left the user's trace bound far behind, and no y bounds the objective without it."""
        limit, X = self.program.limit, known.X
        if limit is None or limit.row is not None or X is None or known.upper < INF or known.lower == -INF:
            return False
        return self.program.trace_of(X) > FAR * limit.R

    def after(self, run: Run, tol: float, atol: float) -> LinearReduction | None:
        best = run.incumbent
        if best.upper == -INF:
            return None
        proved = best.from_matrix.rigour == "checked" and best.within(tol, atol)  # perhaps without an interior
        further = None if proved else next(self._ways(run), None)
        return further or self._within_the_trace_bound(best, tol, atol)

    def _ways(self, run: Run) -> Iterator[LinearReduction]:
        """What may end better: with a strictly feasible X at hand, it is the units that keep the bounds apart."""
        inside = run.incumbent.inside is not None
        if not inside:
            yield from self._deeper(run)
        if run.gave_up:
            if run.last.X is not None and self._is_within(run.last.X):
                yield from self._in_units_of(run.last.X)
            if inside:
                yield from self._deeper(run)

    def _is_within(self, X: Array) -> bool:
        """Whether a matrix keeps to the user's trace bound, as far as engines are exact, or that is a row."""
        limit = self.program.limit
        return limit is None or limit.row is not None or self.program.trace_of(X) <= limit.R * (1 + SHORT)

    def _in_units_of(self, X: Array) -> Iterator[LinearReduction]:
        """The same in the units of a matrix near the answer, and in a basis in which that is about I; none where
        those are about the present ones, or have more digits than floating point has.
        """
        before, standard = self.problem.units, self.standard
        t = units_of(as_numpy(standard.lifted_matrix(X))) if before is None else None
        if t is not None and not np.array_equal(t, standard.t):
            yield from self._with_units(t, "the basis in the units of the last X", self.bases)
        basis = basis_of(as_numpy(standard.without_face(X))) if self.bases < MOST_BASES else None
        if basis is not None:
            T = standard.t[:, None] * basis if standard.t.ndim == 1 else standard.t @ basis
            yield from self._with_units(T, "a basis in which the last X is about I", self.bases + 1)

    def _with_units(self, units: np.ndarray, why: str, bases: int) -> Iterator[LinearReduction]:
        """The same in other units; none where these are too large, or the matrices have too many digits there."""
        with contextlib.suppress(ProblemError):
            other = dataclasses.replace(self.problem, units=units)
            yield LinearReduction(other, other.standard, why, bases=bases)

    def _deeper(self, run: Run) -> Iterator[LinearReduction]:
        """The ways to a program that may have a strictly feasible X where this one has none, or whose equalities are
        further from depending on each other.
        """
        problem, standard, inside = self.problem, self.standard, run.incumbent.inside
        earlier = [] if problem.facial is None else list(np.atleast_2d(problem.facial))
        if inside is None and len(earlier) < MOST_FACES:
            for w in self._exposing():
                on_face = dataclasses.replace(problem, facial=np.stack([*earlier, w]))
                if len(on_face.standard.program.C) < len(standard.program.C) or on_face.standard.answer:
                    yield LinearReduction(on_face, on_face.standard, "no strictly feasible X: y proves a face")
        if problem.presolve == "rows" and np.any(standard.combined.equal):
            by_echelon = self._by_echelon()
            if by_echelon.standard.echelon is not None:
                why = f"{'no strictly feasible X: ' if inside is None else ''}equalities in echelon form"
                yield LinearReduction(by_echelon, by_echelon.standard, why)

    def _exposing(self) -> Iterator[np.ndarray]:
        """Candidates for multipliers of a face, of the rows that ``presolve`` leaves: near the end of the central path
        of the rows alone.

        Raises
        ------
        KeyboardInterrupt
            As the user asks.
        """
        standard, limits = self.standard, Limits(max_iter=CENTRAL, time_limit=time_left())
        with np.errstate(all="ignore"):  # a pair beyond floating point shows nothing
            done = run(InteriorPoint(), RowsAlone(self.program), tol=0.0, limits=limits)
        if done.ended == INTERRUPTED:
            raise KeyboardInterrupt
        X, y = done.last.X, done.last.y
        for w in () if X is None or y is None else exposing(*standard.rows_on_face(y), as_numpy(X)):
            out = np.zeros(len(standard.r))
            out[standard.rows_left] = w
            yield out * standard.r

    def _by_echelon(self) -> LinearSDP:
        """The same with its equalities in echelon form, on the face that is known where that form shows less of it."""
        plain = dataclasses.replace(self.problem, presolve="echelon", facial=None)
        standard, face = plain.standard, self.standard.face
        if standard.echelon is None or face is None or not np.any(face.weights):
            return plain
        known = [face.weights * self.standard.r] if self.problem.facial is None else np.atleast_2d(self.problem.facial)
        on_face = dataclasses.replace(plain, facial=np.stack([standard.echelon.lowered(y) for y in known]))
        return min((on_face, plain), key=lambda program: len(program.standard.program.C))

    def _within_the_trace_bound(self, best: Incumbent, tol: float, atol: float) -> LinearReduction | None:
        """The same with the user's trace bound as a row; None where the answer does not need it."""
        limit = self.program.limit
        if limit is None or limit.row is not None:
            return None
        if best.within(tol, atol) and best.X is not None and self.program.nearly_within_limit(best.X):
            return None
        with_row = self.standard.with_trace_row
        why = f"tr X <= {limit.R:g}, as given, is a row from here on"
        return None if with_row is None else LinearReduction(self.problem, with_row, why)


@reduction_of.register
def _(problem: LinearSDP) -> LinearReduction:
    return LinearReduction(problem, problem.standard, problem.standard.why)
