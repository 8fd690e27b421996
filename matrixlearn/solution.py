"""Solutions: an answer, its proof, and how it was reached."""

from __future__ import annotations

import dataclasses
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, is_sparse
from matrixlearn.callbacks import Event
from matrixlearn.certificate import Certificate
from matrixlearn.exceptions import MatrixLearnError, MissingExtraError
from matrixlearn.linalg.constraints import ConstraintFamily, DenseFamily, RankOneFamily, SignedFamily
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.linalg.sparse_family import SparseFamily
from matrixlearn.problems.base import Problem
from matrixlearn.typing import Array

FORMAT = 1


class Status(StrEnum):
    """How a solve ended.  Members compare equal to their plain names."""

    OPTIMAL = "optimal"
    STATIONARY = "stationary"
    TRACE_BOUND = "trace bound"
    ESTIMATED = "estimated"
    STOPPED = "stopped"
    INFEASIBLE = "infeasible"

    @property
    def advice(self) -> str:
        """What it means and what to do."""
        return {
            "optimal": "the certified gap is at most tol",
            "stationary": "no block of variables alone improves the objective by more than tol; many small "
            "gains may be left, which a smaller tol goes on to take; the problem is not convex, and another start may "
            "end lower",
            "trace bound": "optimal among the matrices with tr X <= trace_bound only: the bound binds, or the proof needs "
            "it; give a larger one, or none, and write a trace that is meant as a constraint as a row",
            "estimated": "the answer is as near as asked to the upper bound, but its own bound is not proved: no strictly "
            "feasible matrix is known; write an equality that is two inequalities as one row \"==\"",
            "stopped": "the bounds hold, but their gap is above tol: give more time or iterations, another "
            "method, a larger tol, or this solution as warm_start",
            "infeasible": "y proves that no matrix satisfies the constraints",
        }[self.value]

    def __str__(self) -> str:
        return self.value


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

    @property
    def problem(self) -> Problem:
        """The problem that was solved."""
        return self.certificate.problem

    @property
    def matrix(self) -> Array | None:
        """X, the matrix side, or None."""
        return self.certificate.X

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
        """(upper - lower) / max(|upper|, |lower|, floor), what ``tol`` was asked for."""
        return self.certificate.gap

    # -- words ------------------------------------------------------------------------------------

    def summary(self) -> str:
        """The answer in a few lines."""
        lines = [
            f"{type(self.problem).__name__}: {self.status} ({self.status.advice})",
            f"  value      {self.value:.9g}",
            f"  certified  {self.certificate}",
            f"  method     {self.method}, {self.iterations} iterations, {self.seconds:.3g} s",
        ]
        return "\n".join(lines + [f"  {line}" for line in self.problem.describe(self)])

    def explain(self) -> str:
        """Why this engine, what was tried, where the time went."""
        return "\n".join(self.notes)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.summary())}</pre>"

    # -- pictures ---------------------------------------------------------------------------------

    def plot(self) -> Any:
        """Bounds against iterations, their gap against seconds, and the problem's own picture; a matplotlib figure.

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            msg = "plot() needs matplotlib: pip install 'matrixlearn[plot]'"
            raise MissingExtraError(msg) from error
        figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
        self._plot_bounds(axes[0])
        self._plot_gap(axes[1])
        if not self.problem.plot(self, axes[2]):
            axes[0].get_gridspec().set_width_ratios((1, 1, 1e-3))
            axes[2].remove()
            figure.set_size_inches(8.7, 3.8)
        return figure

    def _plot_bounds(self, axes: Any) -> None:
        """Both bounds against iterations; the first ones, which may be far, leave the picture."""
        at = self.history.column("iteration")
        lower, upper = self.history.column("lower"), self.history.column("upper")
        known = np.isfinite(lower) & np.isfinite(upper)
        at, lower, upper = at[known], lower[known], upper[known]
        axes.set_title(f"{self.method}: {self.status}, gap {self.gap:.1e}")
        axes.set_xlabel("iteration")
        axes.set_ylabel("objective")
        if not len(at):
            return
        if at[-1] > 100:
            at = at + 1  # a log axis has no 0
            axes.set_xscale("log")
        marker = "o" if len(at) == 1 else ""
        axes.plot(at, upper, drawstyle="steps-post", label="upper bound", color="C3", marker=marker)
        axes.plot(at, lower, drawstyle="steps-post", label="lower bound", color="C0", marker=marker)
        axes.fill_between(at, lower, upper, step="post", alpha=0.15, color="C7")
        axes.legend(frameon=False)
        middle, room = (lower[-1] + upper[-1]) / 2, 1.5 * max(upper[-1] - lower[-1], abs(lower[-1]), abs(upper[-1]))
        if 0 < room < (upper[0] - lower[0]) / 3:
            axes.set_ylim(middle - room, middle + room)

    def _plot_gap(self, axes: Any) -> None:
        """The certified gap against seconds, and the gap that was asked for."""
        seconds, gap = self.history.column("seconds"), self.history.column("gap")
        shown = np.isfinite(gap) & (gap > 0)
        axes.plot(seconds[shown], gap[shown], drawstyle="steps-post", color="C7", label="certified")
        axes.axhline(self.tol, color="C2", lw=1, ls="--", label="tol")
        axes.set_yscale("log")
        axes.set_xlabel("seconds")
        axes.set_ylabel("relative gap")
        axes.set_title("certified gap")
        axes.legend(frameon=False)

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answer, its history and the data of its problem to an .npz file (no pickle)."""
        arrays: dict[str, np.ndarray] = {}
        plain: dict[str, Any] = {}
        for key, value in self.problem.parameters().items():
            if value is None or isinstance(value, bool | int | float | str):
                plain[key] = value
            else:
                arrays |= _packed(f"problem.{key}", value)
        for key, value in (("X", self.matrix), ("y", self.y)):
            if value is not None:
                arrays |= _packed(f"answer.{key}", value)
        columns = ("iteration", "seconds", "lower", "upper", "gap")
        arrays["history"] = np.array([self.history.column(name) for name in columns])
        meta = {
            "format": FORMAT,
            "problem": self.problem.name,
            "parameters": plain,
            "status": self.status.value,
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "rigour": self.certificate.rigour,
            "method": self.method,
            "tol": self.tol,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }
        path = Path(path)
        partial = path.with_name(path.name + ".partial")
        with partial.open("wb") as file:
            np.savez_compressed(file, **{"meta": np.array(json.dumps(meta)), **arrays})  # type: ignore[arg-type]
        partial.replace(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Solution:
        """Read what `save` wrote, the problem included: ``certificate.verify()`` works on it.

        Raises
        ------
        MatrixLearnError
            Where the file is not a solution of this format.
        PluginNotFoundError
            Where the plugin of the problem is not installed.
        """
        from matrixlearn.registry import problems

        try:
            with Path(path).open("rb") as file:
                if not zipfile.is_zipfile(file):
                    msg = "not an .npz archive"
                    raise ValueError(msg)
                with np.load(file, allow_pickle=False) as data:
                    arrays = _unpacked({key: data[key] for key in data.files})
            meta = json.loads(str(arrays.pop("meta")))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            if isinstance(error, FileNotFoundError):
                raise
            why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            msg = f"{os.fspath(path)!r} is not a matrixlearn solution file: {why}"
            raise MatrixLearnError(msg) from error
        if meta.get("format") != FORMAT:
            msg = f"{os.fspath(path)!r} has the format {meta.get('format')}, this version reads {FORMAT}"
            raise MatrixLearnError(msg)
        data_of_problem = {
            key.removeprefix("problem."): value for key, value in arrays.items() if key.startswith("problem.")
        }
        problem = problems()[meta["problem"]](**meta["parameters"], **data_of_problem)
        certificate = Certificate(
            meta["lower"],
            meta["upper"],
            meta["rigour"],
            arrays.get("answer.X"),
            arrays.get("answer.y"),
            problem,
        )
        events = (
            Event(int(i), float(s), float(low), float(high), float(gap)) for i, s, low, high, gap in arrays["history"].T
        )
        return cls(
            status=Status(meta["status"]),
            value=meta["value"],
            certificate=certificate,
            method=meta["method"],
            tol=meta["tol"],
            iterations=meta["iterations"],
            seconds=meta["seconds"],
            history=History(events),
            notes=tuple(meta["notes"]),
        )

    def __iter__(self) -> Iterator[Any]:
        msg = "a Solution is not a tuple: use its fields, e.g. solution.value, solution.y"
        raise TypeError(msg)


FACTOR, ENTRIES, FAMILY = "@factor", "@entries", "@family"
"""Ends of the names under which a file holds the factor of a matrix, the entries of a sparse one, and the name of a
constraint family's class, whose fields follow under names of their own.
"""

FAMILIES: dict[str, type[Any]] = {
    family.__name__: family for family in (RankOneFamily, DenseFamily, SparseFamily, SignedFamily)
}


def _packed(name: str, value: Any) -> dict[str, np.ndarray]:
    """The arrays that hold a value in a file, by name: as many entries as the value has itself."""
    if isinstance(value, ConstraintFamily):
        if type(value) not in FAMILIES.values():
            msg = f"a file cannot hold a {type(value).__name__}: let parameters() of its problem return arrays"
            raise MatrixLearnError(msg)
        parts = {name + FAMILY: np.array(type(value).__name__)}
        for part in dataclasses.fields(type(value)):  # type: ignore[arg-type]  # each of FAMILIES is one
            parts |= _packed(f"{name}.{part.name}", getattr(value, part.name))
        return parts
    if isinstance(value, FactoredMatrix):
        return {name + FACTOR: value.factor}
    if is_sparse(value):
        entries = value.tocoo()
        held = {"rows": entries.row, "columns": entries.col, "values": entries.data, "shape": np.array(entries.shape)}
        return {f"{name}{ENTRIES}.{part}": array for part, array in held.items()}
    return {name: as_numpy(value)}


def _unpacked(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The values of `_packed`, by name."""
    out: dict[str, Any] = {}
    for key, array in arrays.items():
        name, sparse, part = key.partition(ENTRIES + ".")
        if key.endswith(FACTOR):
            out[key.removesuffix(FACTOR)] = FactoredMatrix(array)
        elif not sparse:
            out[key] = array
        elif part == "values":
            import scipy.sparse as sp  # late: import time

            at = tuple(arrays[f"{name}{ENTRIES}.{axis}"] for axis in ("rows", "columns"))
            out[name] = sp.csr_array(sp.coo_array((array, at), shape=tuple(arrays[f"{name}{ENTRIES}.shape"])))
    for key in sorted((key for key in out if key.endswith(FAMILY)), key=len, reverse=True):  # the innermost first
        name, family = key.removesuffix(FAMILY), FAMILIES[str(out.pop(key))]
        fields = [out.pop(f"{name}.{part.name}") for part in dataclasses.fields(family)]
        out[name] = family(*(field.item() if getattr(field, "ndim", 1) == 0 else field for field in fields))
    return out
