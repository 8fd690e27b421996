"""What a problem shows to people: words, pictures, tables, a command line.  No problem inherits them.

A problem says what is true of it; its `Presenter` says what an answer means, draws it and reads a problem from files.
`presented_by` ties the two. A presenter that is named by its module is imported when someone looks, so that a problem
costs no matplotlib. A problem without one is shown by `Presenter` itself: its bounds, and the answer as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from matrixlearn._array import as_numpy
from matrixlearn.exceptions import MatrixLearnError, PluginLoadError, ProblemError
from matrixlearn.files import name_of

if TYPE_CHECKING:
    from matrixlearn.problems.base import Problem
    from matrixlearn.solution import Solution

P = TypeVar("P", bound="Problem")
C = TypeVar("C", bound=type)
Say = Callable[[str], None]
"""Takes one line of a report."""


@dataclass(frozen=True)
class Argument:
    """One input of ``matrixlearn solve <problem>``: what a command line shows and reads."""

    name: str
    """The key in `Presenter.from_arguments`; ``max_weight`` becomes ``--max-weight``."""
    help: str
    """What ``--help`` says."""
    type: type = Path
    """``Path`` for a file that must exist (or "-", standard input), or ``float``, ``int``, ``str``."""
    required: bool = False
    """Whether it must be given."""
    positional: bool = False
    """Whether it is given without the name of an option."""


class Presenter(Generic[P]):
    """How a problem of the class P is shown; every member may stay as it is.

    Attributes
    ----------
    problem_class : type of Problem
        The problem that is shown: the class that was registered, or a subclass of it.
    arguments : tuple of Argument
        What `from_arguments` takes; without any, ``matrixlearn solve`` names the class to use from Python.
    """

    arguments: tuple[Argument, ...] = ()

    def __init__(self, problem_class: type[P]) -> None:
        self.problem_class = problem_class

    def problem_of(self, solution: Solution) -> P:
        """The problem of a solution that this presenter shows."""
        return cast("P", solution.problem)

    def describe(self, solution: Solution) -> list[str]:
        """Lines for `Solution.summary` on what the answer means here."""
        return []

    def plot(self, solution: Solution, axes: Any) -> bool:
        """Draw the answer on matplotlib axes; False where there is nothing to draw."""
        return False

    def columns(self, solution: Solution) -> dict[str, Any]:
        """The answer as columns of one length, by name: what ``-o answer.csv`` writes.

        By default the matrix X, column by column; y where there is no matrix.
        """
        if solution.matrix is None:
            return {} if solution.y is None else {"y": solution.y}
        X = as_numpy(solution.matrix)
        names = [str(j) for j in range(1, X.shape[-1] + 1)]
        rows = np.diag(X) if X.ndim == 1 else X
        if not np.iscomplexobj(X):
            return dict(zip(names, rows.T, strict=True))
        columns = (pair for column in rows.T for pair in (column.real, column.imag))
        return dict(zip((f"{name} {part}" for name in names for part in ("real", "imag")), columns, strict=True))

    def from_arguments(self, given: Mapping[str, Any], say: Say) -> Problem:
        """The problem that a command line describes.

        Parameters
        ----------
        given : mapping
            The values of `arguments` by name, those given.
        say : callable
            Takes a line on what was read, and as what.
        """
        raise NotImplementedError

    def read(self, given: Mapping[str, Any], say: Say) -> Problem:
        """`from_arguments`, whose errors name the files: what ``matrixlearn solve`` calls.

        Raises
        ------
        MatrixLearnError
            Where the arguments describe no problem.
        """
        files = [name_of(value) for value in given.values() if isinstance(value, Path)]
        if files.count(name_of("-")) > 1:
            msg = "standard input, -, can be read once only"
            raise ProblemError(msg)
        try:
            return self.from_arguments(given, say)
        except Exception as error:  # data that break a plugin are told like those that it refuses
            why = str(error) if isinstance(error, MatrixLearnError) else f"{type(error).__name__}: {error}"
            if isinstance(error, MatrixLearnError) and any(file in why for file in files):
                raise
            msg = f"{', '.join(files)}: {why}"
            raise ProblemError(msg) from error

    def demo(self) -> Callable[[Say], Any] | None:
        """A function ``run(say)`` that shows the problem on real data, calls ``say`` with each line of its report and
        returns a matplotlib figure or None; here None, for no demonstration.
        """
        return None


_presenters: WeakKeyDictionary[type, str | type[Presenter[Any]]] = WeakKeyDictionary()


def presented_by(presenter: str | type[Presenter[Any]]) -> Callable[[C], C]:
    """Class decorator: a problem and its subclasses are shown by a presenter.

    Parameters
    ----------
    presenter : type of Presenter, or str
        ``"package.module:Class"`` is imported when someone looks.
    """

    def decorate(cls: C) -> C:
        _presenters[cls] = presenter
        return cls

    return decorate


def presenter_of(problem: Problem | type[Problem]) -> Presenter[Any]:
    """The presenter of a problem or of its class: that of the nearest class that has one.

    Raises
    ------
    PluginLoadError
        Where the presenter that was named cannot be imported, or is none.
    """
    cls: type = problem if isinstance(problem, type) else type(problem)
    named = next((_presenters[base] for base in cls.__mro__ if base in _presenters), Presenter)
    return _imported(named)(cls) if isinstance(named, str) else named(cls)


def _imported(name: str) -> type[Presenter[Any]]:
    module, _, attribute = name.partition(":")
    try:
        presenter = getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever a stranger's module does
        msg = f"the presenter {name!r} could not be loaded: {type(error).__name__}: {error}"
        raise PluginLoadError(msg) from error
    if not (isinstance(presenter, type) and issubclass(presenter, Presenter)):
        msg = f"the presenter {name!r} is no subclass of matrixlearn.present.Presenter"
        raise PluginLoadError(msg)
    return presenter
