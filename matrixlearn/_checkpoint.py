"""Checkpoints: the loop of a solve in a file, written whole or not at all, from which the same iterates go on.

A state is a value of any class that an engine has, so that the file is a pickle: to be read where it was written, not
from strangers. The problem itself is not in it, only a digest of its data. What is read may be made of the classes of
the library, of NumPy and SciPy, and of the distributions of the problem and the engine, and of nothing else.
"""

from __future__ import annotations

import io
import os
import pickle
import re
from types import FunctionType, MethodType
from typing import Any

from matrixlearn._saved import digest
from matrixlearn.clock import clock_time
from matrixlearn.engines import Engine
from matrixlearn.engines.snapshot import Snapshot
from matrixlearn.exceptions import CapabilityError, MatrixLearnError
from matrixlearn.files import name_of, read_bytes, replacing
from matrixlearn.problems.base import Problem

MAGIC = b"matrixlearn checkpoint 1\n"

SHARE = 20.0
"""A checkpoint is written once this many times the seconds of the last one have passed: a twentieth of the time."""

LIBRARIES = {"numpy", "scipy", "array", "collections", "functools", "copyreg"}
PACKAGES = LIBRARIES | {"matrixlearn"}
"""Of whose classes a state may be made; of the library and of plugins also of functions, never of LIBRARIES'."""

BUILTINS = {"object", "set", "frozenset", "complex", "slice", "range", "bytearray", "zip", "iter", "enumerate"}


class Checkpoint:
    """Where the snapshots of a solve go, and the one that it goes on from.

    Loops are numbered in their order: those before the one in the file are run again.

    Parameters
    ----------
    problem : Problem
        As the user gave it.
    path, resume : path, optional
    """

    def __init__(
        self, problem: Problem, path: str | os.PathLike[str] | None, resume: str | os.PathLike[str] | None
    ) -> None:
        self.path, self.resume = path, resume
        self.data = digest(problem) if path is not None or resume is not None else ""
        self.loop = -1
        self.live: dict[str, Any] = {}
        self.engine = ""
        self.next = 0.0
        self.unwritten: Snapshot | None = None
        self.packages = PACKAGES | {type(problem).__module__.split(".")[0]}

    @property
    def goes_on(self) -> bool:
        """Whether a file was given to go on from."""
        return self.resume is not None

    def begin(self, engine: Engine, problem: Problem) -> Snapshot | None:
        """The snapshot of the file, if it is of this loop."""
        self.loop += 1
        self.engine, self.unwritten = _said(engine), None
        self.live = {"problem": problem, "game": problem.game, "subject": engine.subject(problem), "engine": engine}
        if self.resume is None:
            return None
        said, packed = self._read(self.resume)
        if said["loop"] != self.loop:
            return None
        if said["engine"] != self.engine:
            msg = f"{name_of(self.resume)} is a checkpoint of {said['engine']}, and {self.engine} was to go on from it"
            raise MatrixLearnError(msg)
        try:
            snapshot: Snapshot = _Reader(packed, self.live, self.packages | _package(engine)).load()
        except Exception as error:  # a damaged file raises what it pleases
            msg = f"{name_of(self.resume)} is no whole checkpoint: {error}"
            raise MatrixLearnError(msg) from error
        return snapshot

    def keep(self, snapshot: Snapshot, *, at_the_end: bool = False) -> None:
        """Write it, where enough time has passed; at the end, the last one that was not."""
        if self.path is None or snapshot.state is None:
            return
        if not at_the_end and clock_time() < self.next:
            self.unwritten = snapshot
            return
        if at_the_end and self.unwritten is None:
            return
        began = clock_time()
        said = {"loop": self.loop, "engine": self.engine, "data": self.data}
        content = io.BytesIO()
        try:
            _Writer(content, self.live).dump(snapshot)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            msg = f"a checkpoint cannot hold the state of {self.engine}: {error}"
            raise CapabilityError(msg) from error
        with replacing(self.path) as file:
            file.write(MAGIC + pickle.dumps(said) + content.getvalue())
        self.unwritten = None
        ended = clock_time()
        self.next = ended + SHARE * (ended - began)

    def _read(self, path: str | os.PathLike[str]) -> tuple[dict[str, Any], io.BytesIO]:
        """(what the file says of itself, the rest) of a checkpoint of this problem."""
        raw = read_bytes(path)
        if not raw.startswith(MAGIC):
            msg = f"{name_of(path)} is no checkpoint: solve(..., checkpoint=path) writes them"
            raise MatrixLearnError(msg)
        stream = io.BytesIO(raw[len(MAGIC) :])
        try:
            said = dict(_Reader(stream, {}, set()).load())
            known = (int(said["loop"]), str(said["engine"]), str(said["data"]))
        except Exception as error:
            msg = f"{name_of(path)} is no whole checkpoint: {error}"
            raise MatrixLearnError(msg) from error
        if known[2] != self.data:
            msg = f"{name_of(path)} is a checkpoint of another problem, or of other data"
            raise MatrixLearnError(msg)
        return said, stream


def _said(engine: Engine) -> str:
    """The engine and its parameters, the same in every process."""
    return re.sub(r" object at 0x[0-9a-f]+", "", repr(engine))


def _package(engine: Engine) -> set[str]:
    return {type(engine).__module__.split(".")[0]}


class _Writer(pickle.Pickler):
    """The problem, what the engine gets of it and the engine are named, and not written."""

    def __init__(self, file: io.BytesIO, live: dict[str, Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.names = {id(value): name for name, value in live.items() if value is not None}

    def persistent_id(self, obj: Any) -> str | None:
        return self.names.get(id(obj))


class _Reader(pickle.Unpickler):
    """Objects of known distributions only."""

    def __init__(self, file: io.BytesIO, live: dict[str, Any], packages: set[str]) -> None:
        super().__init__(file)
        self.live, self.packages = live, packages

    def persistent_load(self, pid: Any) -> Any:
        return self.live[str(pid)]

    def method_of(self, owner: Any, name: str) -> Any:
        """A bound method of an object of these distributions, in the place of `getattr`."""
        found = getattr(owner, name)
        if not isinstance(found, MethodType) or type(owner).__module__.split(".")[0] not in self.packages - LIBRARIES:
            msg = f"it holds {name!r} of a {type(owner).__name__}, which is no method of an engine or a problem"
            raise pickle.UnpicklingError(msg)
        return found

    def find_class(self, module: str, name: str) -> Any:
        top = module.split(".")[0]
        if module == "builtins" and name in BUILTINS:
            return super().find_class(module, name)
        if top in self.packages:
            found = super().find_class(module, name)
            home = getattr(found, "__module__", "").split(".")[0]  # no os.system by way of a module that imports os
            rebuilds = top in ("numpy", "array", "copyreg") and (name.startswith("_") or name == "scalar")
            function = isinstance(found, FunctionType) and top not in LIBRARIES
            if rebuilds or ((isinstance(found, type) or function) and home in self.packages | {"builtins"}):
                return found
        elif (module, name) == ("builtins", "getattr"):
            return self.method_of
        msg = f"it holds {module}.{name}, which no checkpoint of this engine needs"
        raise pickle.UnpicklingError(msg)
