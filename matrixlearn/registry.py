"""The registries of problems and of engines: entry points and `register`.

First-party plugins come through the same door as a stranger's: the groups ``matrixlearn.problems`` and
``matrixlearn.engines`` of entry points. Metadata are read at the first look-up; a plugin is imported when a name of it
is asked for. The environment variable MATRIXLEARN_PLUGINS, a comma separated list of names, limits what is offered: the
plugins of those names, and the engines of the packages that bring such a problem.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Any, Generic, TypeVar

from matrixlearn import engines
from matrixlearn.engines import Engine
from matrixlearn.exceptions import (
    PluginConflictError,
    PluginLoadError,
    PluginNotFoundError,
    ProblemError,
)
from matrixlearn.problems import LinearSDP, Problem

T = TypeVar("T", Problem, Engine)
C = TypeVar("C", bound=type)


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


def _named(entry: EntryPoint) -> str:
    return f"{entry.name!r} of the distribution {_distribution(entry)!r} ({entry.value})"


def _package(entry: EntryPoint) -> str:
    return entry.module.partition(".")[0]


def _folders() -> tuple[tuple[str, int], ...]:
    """Where distributions are looked for, and when each place last changed."""
    return tuple((path, _changed(path)) for path in sys.path)


def _changed(path: str) -> int:
    try:
        return os.stat(path or ".").st_mtime_ns  # noqa: PTH116  # a Path takes ten times as long, and every solve asks
    except OSError:
        return 0


@lru_cache(maxsize=8)
def _installed(group: str, folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group, read once as long as the folders stay: 10 ms, and a solve asks 17 times."""
    return tuple(entry_points(group=group))


class Registry(Mapping[str, type[T]], Generic[T]):
    """A read-only mapping name -> class that imports a plugin when its name is looked up.

    Parameters
    ----------
    group : str
        Of entry points.
    kind : type
        What the classes must derive from.
    own : sequence of types
        Those of the library itself.
    """

    def __init__(self, group: str, kind: type[Any], *own: type[T]) -> None:
        self.group = group
        self.kind = kind
        self.own = tuple(cls.name for cls in own)
        self._registered: dict[str, type[T]] = {cls.name: cls for cls in own}

    @property
    def noun(self) -> str:
        """What the registry is of, in words."""
        return self.kind.__name__.lower()

    def _entries(self) -> dict[str, list[EntryPoint]]:
        """Entry points by name: reading metadata, importing nothing."""
        allowed = _allow_list()
        found: dict[str, list[EntryPoint]] = {}
        for entry in _installed(self.group, _folders()):
            if allowed(entry):
                others = found.setdefault(entry.name, [])
                if all((_distribution(other), other.value) != (_distribution(entry), entry.value) for other in others):
                    others.append(entry)
        return found

    def add(self, name: str, cls: type[Any]) -> None:
        """Offer a class in this process; see `register`."""
        old = self._registered.get(name)
        if old is not None and (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            msg = f"the name {name!r} is taken by {old.__module__}.{old.__qualname__}; choose another"
            raise PluginConflictError(msg)
        entries = self._entries().get(name)
        if entries:
            msg = f"the name {name!r} is taken by the distribution {_distribution(entries[0])!r}; choose another"
            raise PluginConflictError(msg)
        cls.name = name
        self._registered[name] = cls

    @contextlib.contextmanager
    def offering(self, cls: type[T]) -> Iterator[None]:
        """A class under its own name for a while, whatever else has the name: for tests."""
        before = dict(self._registered)
        self._registered[cls.name] = cls
        try:
            yield
        finally:
            self._registered = before

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._registered, *self._entries()}))

    def __len__(self) -> int:
        return len({*self._registered, *self._entries()})

    def __contains__(self, name: object) -> bool:
        return name in self._registered or name in self._entries()

    def __getitem__(self, name: str) -> type[T]:
        return self.several([name])[0]

    def several(self, names: Iterable[str]) -> list[type[T]]:
        """The classes of some names; where distributions lie is looked at once, which takes 0.3 ms a time."""
        found = self._entries()
        return [self._named(name, found) for name in names]

    def _named(self, name: str, found: Mapping[str, list[EntryPoint]]) -> type[T]:
        if name in self._registered:
            return self._registered[name]
        entries = found.get(name, [])
        if not entries:
            msg = f"no {self.noun} is called {name!r}; known: {', '.join(self) or 'none'}{_hint()}"
            raise PluginNotFoundError(msg)
        if len(entries) > 1:
            who = " and ".join(f"{_distribution(e)} ({e.value})" for e in entries)
            msg = f"the name {name!r} is registered by {who}; uninstall one of them"
            raise PluginConflictError(msg)
        return self._loaded(entries[0])

    def _loaded(self, entry: EntryPoint) -> type[T]:
        try:
            cls = entry.load()
        except (Exception, SystemExit) as error:  # whatever a stranger's module does
            msg = f"the {self.noun} {_named(entry)} could not be loaded: {type(error).__name__}: {error}"
            raise PluginLoadError(msg) from error
        if not (isinstance(cls, type) and issubclass(cls, self.kind)):
            msg = f"the entry point {_named(entry)} is not a subclass of matrixlearn's {self.kind.__name__}"
            raise PluginLoadError(msg)
        return cls

    def origin(self, name: str) -> str:
        """The distribution (or module) that brings a name."""
        if name in self._registered:
            return self._registered[name].__module__
        return ", ".join(_distribution(entry) for entry in self._entries().get(name, []))

    def __repr__(self) -> str:
        return f"<{self.noun}s: {', '.join(self)}>"


def _allow_list() -> Callable[[EntryPoint], bool]:
    """Whether MATRIXLEARN_PLUGINS lets an entry point be offered."""
    allowed = os.environ.get("MATRIXLEARN_PLUGINS")
    if allowed is None:
        return lambda entry: True
    names = {name.strip() for name in allowed.split(",")}
    packages = {_package(entry) for entry in _installed(PROBLEMS.group, _folders()) if entry.name in names}
    return lambda entry: entry.name in names or (entry.group == ENGINES.group and _package(entry) in packages)


def _hint() -> str:
    try:
        version("matrixlearn")
    except PackageNotFoundError:
        return " (matrixlearn itself is not installed: pip install -e .)"
    return ""


PROBLEMS: Registry[Problem] = Registry("matrixlearn.problems", Problem, LinearSDP)
ENGINES: Registry[Engine] = Registry(
    "matrixlearn.engines",
    Engine,
    engines.InteriorPoint,  # in the order in which ``auto`` prefers them
    engines.LowRank,
    engines.ColumnGeneration,
    engines.Subspace,
    engines.HybridGradient,
    engines.MirrorProx,
    engines.MatrixMultiplicativeWeights,
    engines.Smoothing,
    engines.SmoothApproximation,
    engines.Subgradient,
    engines.MirrorDescent,
    engines.Reference,
)


def registered_problems() -> Registry[Problem]:
    """All registered problems, a read-only mapping {name: class} that loads lazily."""
    return PROBLEMS


def registered_engines() -> Registry[Engine]:
    """All registered engines, a read-only mapping {name: class} that loads lazily."""
    return ENGINES


def register(name: str) -> Callable[[C], C]:
    """Class decorator: offer a problem or an engine under ``name`` in this process (for notebooks).

    Raises
    ------
    PluginConflictError
        Where the name is taken by another class; registering a class again under its own name, as a
        notebook cell does when run twice, replaces it.
    ProblemError
        For a class that is neither.
    """

    def decorate(cls: C) -> C:
        for registry in (PROBLEMS, ENGINES):
            if isinstance(cls, type) and issubclass(cls, registry.kind):
                registry.add(name, cls)
                return cls
        msg = f"register({name!r}) takes a subclass of Problem or of Engine, got {cls!r}"
        raise ProblemError(msg)

    return decorate
