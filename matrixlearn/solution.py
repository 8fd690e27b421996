"""Solutions: an answer, its proof, and how it was reached."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from matrixlearn._saved import read, write
from matrixlearn.callbacks import Event
from matrixlearn.certificate import Certificate
from matrixlearn.exceptions import CertificateError, MatrixLearnError, PluginError
from matrixlearn.files import name_of
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.present import presenter_of
from matrixlearn.present.picture import picture
from matrixlearn.problems.base import Problem
from matrixlearn.registry import registered_problems
from matrixlearn.typing import Array

LARGE = 2000
"""Size from which X is left as its factors: 32 MB."""

ENDED = "ended: "
"""Opens the note that says why a solve ended."""

LIMITS = ("max_iter", "time_limit", "the callback", "interrupted")
"""Ends that more time would move."""

AT_THE_END = (
    "the bounds hold, but their gap is above tol, and this method can do no more: try another method or a larger tol"
)

HALF_PROVED = (
    "one bound is proved; the other is the objective of a matrix that is not proved to be feasible, and their gap is "
    "above tol"
)

VANISHED = 1e-6
"""Part of the largest bound of a run below which both bounds are taken to go to 0."""


class Status(StrEnum):
    """How a solve ended.  Members compare equal to their plain names."""

    OPTIMAL = "optimal"
    """The certified gap is at most tol."""
    STATIONARY = "stationary"
    """No block of variables alone gains more than tol."""
    TRACE_BOUND = "trace bound"
    """Optimal among the matrices with tr X <= trace_bound only."""
    PROBABLE = "probable"
    """The gap is at most tol, but for a stated probability."""
    ESTIMATED = "estimated"
    """The gap is at most tol where a bound is not proved."""
    STOPPED = "stopped"
    """The bounds hold, and their gap is above tol."""
    INFEASIBLE = "infeasible"
    """y proves that no matrix satisfies the constraints."""
    UNBOUNDED = "unbounded"
    """The objective grows without end along the matrix."""

    @property
    def advice(self) -> str:
        """What it means and what to do."""
        return {
            "optimal": "the certified gap is at most tol",
            "stationary": "no block of variables alone improves the objective by more than tol; many small "
            "gains may be left, which a smaller tol goes on to take; the problem is not convex, and another start may "
            "end lower",
            "trace bound": "optimal among the matrices with tr X <= trace_bound only: the bound binds, or the proof "
            "needs it; give a larger one, or none, and write a trace that is meant as a constraint as a row",
            "probable": "the gap is at most tol, but for a probability of at most 1e-10 over the random start of the "
            "upper bound: a proof of this size would not end",
            "estimated": "the answer is as near as asked to the upper bound, but its own bound is not proved: no "
            'strictly feasible matrix is known; write an equality that is two inequalities as one row "=="',
            "stopped": "the bounds hold, but their gap is above tol: give more time or iterations, another "
            "method, a larger tol, or this solution as warm_start",
            "infeasible": "y proves that no matrix satisfies the constraints",
            "unbounded": "feasible matrices were found, and along the matrix X the objective grows without end",
        }[self.value]

    def __str__(self) -> str:
        return self.value


PROVED = {
    "checked": Status.OPTIMAL,
    "blockwise": Status.STATIONARY,
    "probabilistic": Status.PROBABLE,
    "estimate": Status.ESTIMATED,
}
"""What bounds that are near enough say of an answer, by their rigour."""


def status_of(certificate: Certificate, tol: float, atol: float) -> Status:
    """What a certificate says of its answer: near enough is upper - lower <= max(tol * size, atol)."""
    if certificate.is_infeasible:
        return Status.INFEASIBLE
    if certificate.ray is not None and certificate.rigour == "checked" and certificate.lower > -math.inf:
        return Status.UNBOUNDED
    if not (certificate.gap <= tol or certificate.upper - certificate.lower <= atol):
        return Status.STOPPED
    status = PROVED.get(certificate.rigour, Status.STOPPED)
    needs_trace = status is Status.OPTIMAL and certificate.trace_bound is not None
    return Status.TRACE_BOUND if needs_trace else status


class History(tuple[Event, ...]):
    """The checks of a solve, one `Event` each; columns as arrays by name."""

    __slots__ = ()

    def column(self, name: str) -> np.ndarray:
        """One field of all events, e.g. ``history.column("gap")``."""
        return np.array([getattr(event, name) for event in self], dtype=float)

    def __repr__(self) -> str:
        if not self:
            return "<History: no check>"
        last = self[-1]
        return f"<History: {len(self)} checks, {last.iteration} iterations, {last.seconds:.3g} s, gap {last.gap:.2e}>"


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer with its proof.

    Attributes
    ----------
    status : Status
        "optimal" only where the certificate is ``checked`` and its gap at most ``tol``; "stationary" where it is
        ``blockwise``.
    value : float
        The objective at the returned point, recomputed from the data.
    matrix : array or FactoredMatrix
        The matrix side, feasible to rounding; its factors where an n x n array would be too large.
    y : ndarray
        The vector side, feasible to rounding.
    lower, upper, gap : float
        Certified bounds on the optimum, and their relative gap.
    certificate : Certificate
        The bounds and the points that prove them.
    method : str
        The engine.
    tol : float
        The gap that was asked for.
    iterations, seconds
        Of the engine.
    history : History
        One record for each check.
    notes : tuple of str
        What `explain` says.
    """

    status: Status
    value: float
    certificate: Certificate
    method: str
    tol: float
    iterations: int
    seconds: float
    history: History = field(repr=False)
    notes: tuple[str, ...] = field(repr=False, default=())
    atol: float = 0.0
    """The width upper - lower that was asked for, whatever the relative gap."""

    @property
    def problem(self) -> Problem:
        """The problem that was solved."""
        return self.certificate.problem

    @cached_property
    def matrix(self) -> Array | None:
        """X, the matrix side, or None; its factors, where it is known by them and has `LARGE` rows or more."""
        X = self.certificate.X
        return X.dense() if isinstance(X, FactoredMatrix) and len(X.factor) < LARGE else X

    @property
    def y(self) -> np.ndarray | None:
        """The vector side, shape (m,), or None."""
        return self.certificate.y

    @property
    def lower(self) -> float:
        """No feasible point of a minimization lies below; -inf where nothing is proven."""
        return self.certificate.lower

    @property
    def upper(self) -> float:
        """No feasible point of a maximization lies above; inf where nothing is proven."""
        return self.certificate.upper

    @property
    def gap(self) -> float:
        """(upper - lower) / size, which ``tol`` bounds; see `certificate`."""
        return self.certificate.gap

    # -- words ------------------------------------------------------------------------------------

    @property
    def ended(self) -> str:
        """Why the solve ended, such as "time_limit = 60 s reached"; empty where nothing was noted."""
        return next((note.removeprefix(ENDED) for note in reversed(self.notes) if note.startswith(ENDED)), "")

    def summary(self) -> str:
        """The answer in a few lines."""
        at_limit = not self.ended or self.ended.startswith(LIMITS)
        advice = self.status.advice if self.status is not Status.STOPPED or at_limit else AT_THE_END
        estimated = self.certificate.rigour == "estimate"
        if estimated and self.status is Status.STOPPED:
            advice = HALF_PROVED
        elif self.status is Status.STOPPED and self._vanishes:
            width = self.upper - self.lower
            advice = (
                f"both bounds approach 0 and differ by {width:.2g}: at an optimum of 0, which perhaps no matrix "
                "attains, no relative gap closes, and atol decides, in units of the objective: "
                f"atol={_rounded_up(width):g} makes these bounds an answer"
            )
        lines = [
            f"{type(self.problem).__name__}: {self.status} ({advice})",
            f"  value      {self.value:.9g}",
            f"  {'estimated' if estimated else 'certified'}  {self.certificate}",
            f"  method     {self.method}, {self.iterations} iterations, {self.seconds:.3g} s",
        ]
        if self.status is Status.STOPPED and self.ended:
            lines.append(f"  ended      {self.ended}")
        return "\n".join(lines + [f"  {line}" for line in presenter_of(self.problem).describe(self)])

    @property
    def _vanishes(self) -> bool:
        """Whether both bounds are near 0 beside what they were in the run."""
        ends = np.abs(np.concatenate([self.history.column("lower"), self.history.column("upper")]))
        largest = float(np.max(ends[np.isfinite(ends)], initial=0.0))
        return max(abs(self.lower), abs(self.upper)) <= VANISHED * largest

    def explain(self) -> str:
        """Why this engine, what was tried, where the time went."""
        return "\n".join(self.notes)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.summary())}</pre>"

    def plot(self) -> Any:
        """Bounds against iterations, their gap against seconds, and the problem's own picture; a matplotlib figure.

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        return picture(self)

    # -- files, the proof -------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answer to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            ``.npz``: the answer, its history and the data of its problem, for `load` (no pickle); ``.json``: all but
            the data; ``.csv``: the answer alone, in columns, such as the sides of a cut.

        Raises
        ------
        MatrixLearnError
            For another end of the path.
        """
        write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Solution:
        """Read the ``.npz`` file that `save` wrote, the problem included: ``certificate.verify()`` works on it.

        Raises
        ------
        MatrixLearnError
            Where the file is not a whole solution of this format.
        PluginNotFoundError
            Where the plugin of the problem is not installed.
        FileNotFoundError
            Where there is no file.
        """
        try:
            said, arrays = read(path)
            data = {key.removeprefix("problem."): value for key, value in arrays.items() if key.startswith("problem.")}
            problem = registered_problems()[said["problem"]](**said["parameters"], **data)
            return cls(
                status=Status(said["status"]),
                value=said["value"],
                certificate=Certificate(
                    lower=said["lower"],
                    upper=said["upper"],
                    rigour=said["rigour"],
                    X=arrays.get("answer.X"),
                    y=arrays.get("answer.y"),
                    problem=problem,
                    size=said["size"],
                    rounding=said["rounding"],
                    trace_bound=said["trace_bound"],
                    ray=arrays.get("answer.ray"),
                ),
                method=said["method"],
                tol=said["tol"],
                atol=said["atol"],
                iterations=said["iterations"],
                seconds=said["seconds"],
                history=History(Event(int(i), *at) for i, *at in arrays["history"].T.tolist()),
                notes=said["notes"],
            )
        except (FileNotFoundError, PluginError):
            raise
        except Exception as error:  # a damaged file, or a forged one, raises what it pleases
            why = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
            msg = f"{name_of(path)} is not a matrixlearn solution file: {why}"
            raise MatrixLearnError(msg) from error

    def verify(self) -> Certificate:
        """Compute the bounds again, from the data, and compare all that this answer says with what they prove.

        Returns
        -------
        Certificate
            What the data prove.

        Raises
        ------
        CertificateError
            Where they do not prove the bounds, the rigour, the value, or the status at ``tol``; the message says which.
        """
        fresh = self.certificate.verify()
        if not (0 < self.tol < math.inf):
            _refute("tol", self.tol, "it must be a positive number")
        claimed = replace(
            self.certificate, lower=fresh.lower, upper=fresh.upper, size=fresh.size, rounding=fresh.rounding
        )
        if self.certificate.rigour == "estimate":
            name = "upper" if self.problem.objective == "minimize" else "lower"
            claimed = replace(claimed, **{name: getattr(self.certificate, name)})
        for certificate in (claimed, self.certificate):  # what the data prove, and what its own bounds say
            near = [status_of(certificate, self.tol * k, self.atol * k) for k in (1 + 1e-6, 1 - 1e-6)]
            if self.status not in near:
                _refute("status", self.status, f"its bounds say {near[0]!s} at tol = {self.tol:g}: {certificate}")
        value = claimed.value
        rounding = 1e-9 * max(abs(value), fresh.size) if math.isfinite(value) else 0.0
        unknown = math.isnan(self.value) and math.isnan(value)
        if not (unknown or self.value == value or abs(self.value - value) <= rounding):
            _refute("value", self.value, f"the objective at its point is {value:.9g}")
        return fresh

    def __iter__(self) -> Iterator[Any]:
        msg = "a Solution is not a tuple: use its fields, e.g. solution.value, solution.y"
        raise TypeError(msg)


def _rounded_up(width: float) -> float:
    """The next number of one digit."""
    unit = 10.0 ** math.floor(math.log10(width))
    return math.ceil(width / unit) * unit


def _refute(what: str, said: object, proved: str) -> NoReturn:
    msg = f"the answer says {what} {said!s}, but {proved}"
    raise CertificateError(msg)
