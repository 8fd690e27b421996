"""The registry of problems: entry points of the group ``matrixlearn.problems``, and `register`.

First-party plugins come through the same door as a stranger's. Metadata are read at the first look-up;
a plugin is imported when it is asked for. The environment variable MATRIXLEARN_PLUGINS, a comma
separated list of names, limits what is offered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import TypeVar

from matrixlearn.exceptions import (
    PluginConflictError,
    PluginLoadError,
    PluginNotFoundError,
)
from matrixlearn.problems import LinearSDP, Problem

GROUP = "matrixlearn.problems"
P = TypeVar("P", bound=type[Problem])

_registered: dict[str, type[Problem]] = {LinearSDP.name: LinearSDP}


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


def _entries() -> dict[str, list[EntryPoint]]:
    """Entry points by name: reading metadata, importing nothing."""
    allowed = os.environ.get("MATRIXLEARN_PLUGINS")
    names = None if allowed is None else {name.strip() for name in allowed.split(",")}
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        if names is None or entry.name in names:
            others = found.setdefault(entry.name, [])
            if all((_distribution(other), other.value) != (_distribution(entry), entry.value) for other in others):
                others.append(entry)
    return found


def register(name: str) -> Callable[[P], P]:
    """Class decorator: offer a problem under ``name`` in this process (for notebooks).

    Raises
    ------
    PluginConflictError
        Where the name is taken by another class; registering a class again under its own name, as a
        notebook cell does when run twice, replaces it.
    """

    def decorate(cls: P) -> P:
        old = _registered.get(name)
        if old is not None and (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            msg = f"the name {name!r} is taken by {old.__module__}.{old.__qualname__}; choose another"
            raise PluginConflictError(msg)
        entries = _entries().get(name)
        if entries:
            msg = f"the name {name!r} is taken by the distribution {_distribution(entries[0])!r}; choose another"
            raise PluginConflictError(msg)
        cls.name = name
        _registered[name] = cls
        return cls

    return decorate


class Registry(Mapping[str, type[Problem]]):
    """A read-only mapping name -> class that imports a plugin when its name is looked up."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*_registered, *_entries()}))

    def __len__(self) -> int:
        return len({*_registered, *_entries()})

    def __contains__(self, name: object) -> bool:
        return name in _registered or name in _entries()

    def __getitem__(self, name: str) -> type[Problem]:
        if name in _registered:
            return _registered[name]
        entries = _entries().get(name, [])
        if not entries:
            msg = f"no problem is called {name!r}; known: {', '.join(self) or 'none'}{_hint()}"
            raise PluginNotFoundError(msg)
        if len(entries) > 1:
            who = " and ".join(f"{_distribution(e)} ({e.value})" for e in entries)
            msg = f"the name {name!r} is registered by {who}; uninstall one of them"
            raise PluginConflictError(msg)
        entry = entries[0]
        try:
            cls = entry.load()
        except Exception as error:
            msg = (
                f"the problem {name!r} of the distribution {_distribution(entry)!r} ({entry.value}) "
                f"could not be loaded: {type(error).__name__}: {error}"
            )
            raise PluginLoadError(msg) from error
        if not (isinstance(cls, type) and issubclass(cls, Problem)):
            msg = (
                f"the entry point {name!r} of the distribution {_distribution(entry)!r} ({entry.value}) is not "
                f"a subclass of matrixlearn.problem.Problem"
            )
            raise PluginLoadError(msg)
        return cls

    def origin(self, name: str) -> str:
        """The distribution (or module) that brings a name."""
        if name in _registered:
            return _registered[name].__module__
        return ", ".join(f"{_distribution(e)}" for e in _entries().get(name, []))

    def __repr__(self) -> str:
        return f"<problems: {', '.join(self)}>"


def _hint() -> str:
    try:
        version("matrixlearn")
    except PackageNotFoundError:
        return " (matrixlearn itself is not installed: pip install -e .)"
    return ""


def problems() -> Registry:
    """All registered problems, a read-only mapping {name: class} that loads lazily."""
    return Registry()
