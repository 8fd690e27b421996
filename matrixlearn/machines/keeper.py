"""The keeper of a block of machines on a Dask worker: their rows, and arrays of earlier rounds.

A cache, nothing more: a keeper that is lost is made again from its `Terms`, and answers as the first one would.
"""

from __future__ import annotations

import pickle
import platform
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from matrixlearn.exceptions import MachinesError, MatrixLearnError, ProblemError
from matrixlearn.machines.block import Block
from matrixlearn.machines.shards import Shards

HELD = 16
"""Arrays that either side remembers of the last rounds: what a machine has is not sent again."""


def versions() -> dict[str, str]:
    """The versions that a worker must share with the client, since numbers depend on them."""
    from importlib.metadata import version

    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "numpy": np.__version__, "matrixlearn": version("matrixlearn")}


@dataclass(frozen=True, eq=False)
class Terms:
    """The arguments that a keeper is made from.

    Attributes
    ----------
    shards : Shards
        Of its machines alone.
    versions : dict
        Those of the client.
    sparse : bool
        Whether rows are a CSR array because those of other machines are.
    prints : array, optional
        The checksums of the rows when they were first loaded, (k,).
    """

    shards: Shards
    versions: dict[str, str]
    sparse: bool = False
    prints: np.ndarray | None = None

    def block(self) -> Block:
        """The rows.

        Raises
        ------
        MachinesError
            Where this process has other versions.
        ProblemError
            For rows that cannot be right, or are not those of the first time.
        """
        here = versions()
        for package, theirs in self.versions.items():
            if here[package] != theirs:
                msg = f"a worker has {package} {here[package]}, this process has {theirs}: install the same everywhere"
                raise MachinesError(msg)
        block = self.shards.block()
        if self.sparse:
            block = block.as_sparse()
        if self.prints is not None:
            for name, now, before in zip(block.ids, block.prints(), self.prints, strict=True):
                if now != before:
                    msg = (
                        f"machine {name!r} has other rows than when they were first loaded; its loader must make the "
                        f"same each time: nothing is proved of data that change"
                    )
                    raise ProblemError(msg)
        return block


@dataclass(frozen=True, eq=False)
class Facts:
    """Shapes and checksums of a block, as the client knows them.

    Attributes
    ----------
    sizes, prints : arrays of int, shape (k,)
        The rows of each machine, and their checksums.
    width : int
        d.
    sparse : bool
        Whether they are a CSR array.
    """

    sizes: np.ndarray
    prints: np.ndarray
    width: int
    sparse: bool


class Remembered(OrderedDict[bytes, Any]):
    """The last arrays by their digests, the newest last; where it is enough that the other side has them, no arrays."""

    def keep(self, key: bytes, value: Any = None) -> None:
        """Remember, and forget the oldest."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > HELD:
            self.popitem(last=False)


def arrays_of(result: Any) -> list[np.ndarray]:
    """The arrays of what a round returns."""
    parts = result if isinstance(result, tuple) else (result,)
    return [part for part in parts if isinstance(part, np.ndarray)]


def digest(array: np.ndarray) -> bytes:
    """A number of an array's entries, equal for equal arrays only."""
    array = np.ascontiguousarray(array)
    found = blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    if array.size:
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.digest()


class Keeper:
    """The machines of a block, on a worker. Messages are pickles; a call never raises, but answers with the error."""

    def __init__(self) -> None:
        self._block: Block | None = None
        self._memory = Remembered()

    def take(self, terms: bytes) -> bytes:
        """Load the rows; what the other side must know of them."""

        def facts() -> Facts:
            given: Terms = pickle.loads(terms)
            block = self._block = given.block()
            return Facts(block.sizes, block.prints(), block.width, block.is_sparse)

        return _answer(facts)

    def call(self, task: bytes, values: bytes) -> bytes:
        """``function(block, *values, **common)``; a value is its digest, and the array where it is not remembered."""
        given: list[tuple[bytes, Any]] = pickle.loads(values)
        if any(value is None and key not in self._memory for key, value in given):
            return pickle.dumps(("missing", None))
        arrays = [self._memory[key] if value is None else value for key, value in given]
        for (key, _), array in zip(given, arrays, strict=True):
            self._memory.keep(key, array)

        def result() -> Any:
            if self._block is None:
                raise MachinesError("a round came before the rows")  # noqa: EM101
            function, common = pickle.loads(task)
            found = function(self._block, *arrays, **common)
            for part in arrays_of(found):
                self._memory.keep(digest(part), part)
            return found

        return _answer(result)


def _answer(compute: Callable[[], Any]) -> bytes:
    """("done", result) or ("error", exception), pickled."""
    error: Exception
    try:
        return pickle.dumps(("done", compute()), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        error = MachinesError("a worker has no memory left for its rows: take more workers, or fewer rows a machine")
    except Exception as caught:
        error = caught
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an exception that cannot travel
        error = MatrixLearnError(f"{type(error).__name__}: {error}")
    return pickle.dumps(("error", error))
