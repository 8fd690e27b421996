"""Imports that wait until they are needed: of packages that an extra brings, and of modules that few use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from matrixlearn.exceptions import MissingExtraError

EXTRAS = {
    "distributed": ("distributed", "distributed"),
    "matplotlib": ("matplotlib", "plot"),
    "rich": ("rich", "cli"),
    "sklearn": ("scikit-learn", "sklearn"),
    "torch": ("PyTorch", "torch"),
}
"""What a missing module is called, and the extra that brings it."""


@contextlib.contextmanager
def needed_by(what: str) -> Iterator[None]:
    """For the imports within it.

    Raises
    ------
    MissingExtraError
        Where one is of an extra that is not installed: ``what`` needs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in EXTRAS:
            raise
        library, extra = EXTRAS[missing]
        msg = f"{what} needs {library}: pip install 'matrixlearn[{extra}]'"
        raise MissingExtraError(msg) from error


def late(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names lie in modules that are imported when they are asked for.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    modules : mapping of str to str
        The module of the package that each name is in.

    Returns
    -------
    callable
        It raises AttributeError for other names, and MissingExtraError where a module needs an extra that is not
        installed.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807  # a module's hook
        if name not in modules:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        with needed_by(name):
            return getattr(import_module(f"{package}.{modules[name]}"), name)

    return __getattr__
