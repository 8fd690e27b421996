"""A Dask cluster, as machines need it: workers that answer in time, keepers on them, processes that end."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import multiprocessing
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from matrixlearn.exceptions import MachinesError
from matrixlearn.late import needed_by
from matrixlearn.machines.keeper import Keeper

if TYPE_CHECKING:
    from matrixlearn.machines.dask import Dask

T = TypeVar("T")
LOOPBACK = "127.0.0.1"
QUIET = "matrixlearn.machines.quiet"
"""What the processes of an embedded cluster load first."""
PATIENCE = 10.0
"""Seconds in which a scheduler must answer, and a first worker come to it."""
START = 60.0
"""Seconds in which the process of a worker must start, at first or again: 1 on an idle machine, 4 to 7 under load."""
GLANCE = 1.0
"""Seconds after which one looks whether the worker that one waits for is still there."""


class LostError(Exception):
    """A call did not come back: to be repeated, best on another worker than that of this address."""

    def __init__(self, why: str, address: str) -> None:
        super().__init__(why)
        self.address = address


@dataclass(eq=False)
class Cluster:
    """A client of a scheduler, and what is to be closed with it.

    Attributes
    ----------
    client : distributed.Client
    embedded : distributed.LocalCluster or None
        Processes of our own.
    owned : bool
        Whether the client is ours to close.
    """

    client: Any
    embedded: Any = None
    owned: bool = True

    @classmethod
    def opened(cls, network: Dask) -> Cluster:
        """Connected, with a worker at least.

        Raises
        ------
        MissingExtraError
            Without Dask.
        MachinesError
            Where no cluster starts, no scheduler answers, or it has no worker.
        """
        with needed_by("Dask()"):
            import distributed  # late: an extra, and half a second
        given = network.address
        if given is None:
            cluster = cls._embedded(distributed, network.workers)
        elif isinstance(given, str):
            try:
                client = distributed.Client(given, timeout=PATIENCE, set_as_default=False, security=network.security)
            except (OSError, ValueError, TypeError) as error:
                msg = f"no Dask scheduler answers at {given!r} within {PATIENCE:g} s: {_brief(error)}"
                raise MachinesError(msg) from error
            cluster = cls(client)
        else:
            cluster = cls(given, owned=False)
        try:
            cluster.some_workers(START if given is None else PATIENCE)
        except BaseException:
            cluster.close()
            raise
        atexit.register(cluster.close)
        return cluster

    @classmethod
    def _embedded(cls, distributed: Any, workers: int) -> Cluster:
        if getattr(multiprocessing.current_process(), "_inheriting", False):  # a worker imports the user's script
            raise MachinesError(UNGUARDED)
        try:
            local = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, host=LOOPBACK, silence_logs=logging.CRITICAL,
                dashboard_address=f"{LOOPBACK}:0", scheduler_kwargs={"dashboard": False}, preload=[QUIET],
            )  # fmt: skip
        except (RuntimeError, OSError, TimeoutError) as error:
            msg = f"the {workers} workers did not start: {_brief(error)}. {UNGUARDED}"
            raise MachinesError(msg) from error
        try:
            client = distributed.Client(local, timeout=START, set_as_default=False, direct_to_workers=True)
        except BaseException:
            local.close(timeout=PATIENCE)
            raise
        return cls(client, local)

    def close(self) -> None:
        """End what is ours; never raises, never waits for long."""
        atexit.unregister(self.close)
        for ours in (self.client if self.owned else None, self.embedded):
            if ours is not None:
                with contextlib.suppress(Exception):  # it is gone already
                    ours.close(timeout=PATIENCE)

    def abandon(self) -> None:
        """Close in a thread of its own, for a finalizer.

        Garbage is collected in whichever thread happens to allocate: that may be one of Dask's, or one that holds a
        lock of Dask's, and closing there would wait for itself.
        """
        threading.Thread(target=self.close, name="matrixlearn closes a cluster", daemon=True).start()

    # -- workers ------------------------------------------------------------------------------------

    def workers(self) -> list[str]:
        """The addresses of those that are there.

        Raises
        ------
        MachinesError
            Where the scheduler does not answer.
        """
        try:
            return sorted(self._awaited(self.client.scheduler.ncores, PATIENCE))
        except Exception as error:
            msg = f"the Dask scheduler does not answer: {_brief(error)}"
            raise MachinesError(msg) from error

    def some_workers(self, patience: float = START) -> list[str]:
        """Those that are there, as soon as there is one.

        Raises
        ------
        MachinesError
            Where none comes in time.
        """
        end = time.monotonic() + patience
        while True:
            if self.embedded is not None:  # one that is killed while it starts does not come again by itself
                self.embedded.scale(len(self.embedded.worker_spec))
            if found := self.workers():
                return found
            if time.monotonic() > end:
                msg = f"the Dask scheduler has no worker, and none came within {patience:g} s: start some"
                raise MachinesError(msg)
            time.sleep(0.1)

    def _awaited(self, function: Callable[[], Awaitable[T]], seconds: float) -> T:
        """What a function of Dask returns in time.

        ``callback_timeout`` of `Client.sync` is the same, but for Ctrl-C: what it cancels before it has begun it never
        awaits, and Python warns.

        Raises
        ------
        TimeoutError
        """

        async def timed() -> T:
            async with asyncio.timeout(seconds):
                return await function()

        found: T = self.client.sync(timed)
        return found

    # -- keepers ------------------------------------------------------------------------------------

    def keepers(self, addresses: Sequence[str]) -> list[Any]:
        """A new `Keeper` for each address, on that worker if it is still there.

        Raises
        ------
        LostError
            Where one could not be made.
        """
        from distributed import Actor

        made: list[Any] = []
        try:
            futures = [
                # elsewhere, too: what is bound to a worker waits for ever when that dies
                self.client.submit(Keeper, actor=True, workers=[address], allow_other_workers=True, pure=False)
                for address in addresses
            ]
            for future in futures:
                found = future.result(timeout=PATIENCE)
                with self.client.as_current():  # not the default client of someone else
                    made.append(Actor(found._cls, found._address, found.key))
        except Exception as error:
            raise LostError(_brief(error), addresses[len(made)]) from error
        return made

    def answers(self, asked: Sequence[tuple[Any, Any]], timeout: float) -> list[bytes | LostError]:
        """What keepers answer, each given with its future, or how they were lost; all are waited for together.

        Raises
        ------
        MachinesError
            Where the scheduler is gone.
        """
        found: dict[int, bytes | LostError] = {}

        async def settled() -> None:
            for i, (keeper, future) in enumerate(asked):
                if i not in found:
                    try:
                        found[i] = await future
                    except Exception as error:
                        found[i] = LostError(_brief(error), keeper._address)

        end = time.monotonic() + timeout
        while len(found) < len(asked):
            left = end - time.monotonic()
            with contextlib.suppress(TimeoutError):
                self._awaited(settled, max(0.01, min(GLANCE, left)))
                continue
            there = self.workers()
            for i, (keeper, future) in enumerate(asked):
                if i in found or future.done():
                    continue
                if left <= GLANCE:
                    found[i] = LostError(f"no answer of {keeper._address} within {timeout:g} s", keeper._address)
                elif keeper._address not in there:
                    found[i] = LostError(f"the worker {keeper._address} is gone", keeper._address)
        return [found[i] for i in range(len(asked))]


UNGUARDED = (
    "Dask() starts processes, each of which imports the script: put what the script does under "
    "`if __name__ == '__main__':`"
)


def _brief(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
