"""Machines on the workers of a Dask cluster: rows are loaded where they stay, and a lost worker costs no answer.

The m machines live in blocks, one `Keeper` a worker. A round is one message to each block and one back. Where a worker
is lost its block is loaded again elsewhere and the call repeated: rounds are pure functions, so that iterates are the
same to the last bit, and the same as with `Local`.
"""

from __future__ import annotations

import pickle
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from matrixlearn.exceptions import MachinesError, ProblemError
from matrixlearn.machines.base import Held, Machines
from matrixlearn.machines.cluster import Cluster, LostError
from matrixlearn.machines.keeper import Facts, Remembered, Terms, arrays_of, digest, versions
from matrixlearn.machines.ledger import Ledger
from matrixlearn.machines.local import Local
from matrixlearn.machines.shards import Shards, require_one_width
from matrixlearn.present import Argument
from matrixlearn.validation import as_number

HINT = "a worker may be out of memory: take more workers, or look at their logs"


@dataclass(frozen=True)
class Dask:
    """Machines on the workers of a Dask cluster (needs the extra ``distributed``).

    Parameters
    ----------
    address : str or distributed.Client, optional
        Of a scheduler, "tcp://scheduler:8786" or "tls://scheduler:8786"; or a client of yours. By default an embedded
        cluster: processes on this computer that listen on 127.0.0.1 alone and end with the solve.
    workers : int
        Processes of the embedded cluster.
    security : distributed.Security, optional
        For a ``tls://`` address.
    timeout : float
        Seconds that a round may take on a worker before it is repeated on another.
    retries : int
        How often in a row a round is repeated before the solve ends "stopped", with what is certified by then.

    Raises
    ------
    ProblemError
        For arguments that cannot be right.

    Notes
    -----
    Functions travel as pickles: who can reach a scheduler can run code on its workers. Give a remote one TLS.
    """

    address: Any = None
    workers: int = 2
    security: Any = None
    timeout: float = 600.0
    retries: int = 3

    hub = True
    """The client's process, which every worker reaches."""
    reliable = True
    """A round that fails is repeated, so that every message arrives."""

    def __post_init__(self) -> None:
        if not (self.address is None or isinstance(self.address, str) or hasattr(self.address, "submit")):
            msg = f"address must be that of a scheduler, a distributed.Client or None, got {self.address!r}"
            raise ProblemError(msg)
        for name, least in (("workers", 1), ("retries", 0)):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least):
                msg = f"{name} must be a whole number >= {least}, got {value!r}"
                raise ProblemError(msg)
        if not 0 < as_number("timeout", self.timeout) < np.inf:
            msg = f"timeout must be a number of seconds > 0, got {self.timeout!r}"
            raise ProblemError(msg)

    def hold(self, shards: Shards) -> DaskMachines:
        """The machines with their rows, each loaded on its worker.

        Raises
        ------
        MachinesError
            Where there is no cluster, no worker, or one of other versions.
        ProblemError
            For a loader that raises, and for rows that cannot be right.
        """
        return DaskMachines(self, shards)


ARGUMENTS = (
    Argument("machines", "The Dask scheduler whose workers keep the rows, such as tcp://host:8786.", str),
    Argument("workers", "Keep the rows in so many processes of this computer.", int),
)
"""Of a command line, for problems whose data may be on machines."""


def machines_of(given: Mapping[str, Any]) -> Machines:
    """What `ARGUMENTS` say: `Local` where neither is given.

    Raises
    ------
    ProblemError
        For both.
    """
    address, workers = given.get("machines"), given.get("workers")
    if address is None and workers is None:
        return Local()
    if address is not None and workers is not None:
        msg = f"give machines (workers that run) or workers (to be started here), not both: {address!r} and {workers}"
        raise ProblemError(msg)
    return Dask(address) if workers is None else Dask(workers=workers)


class DaskMachines(Held):
    """The machines of a `Dask`, in blocks on its workers.

    Parameters
    ----------
    network : Dask
    shards : Shards
    """

    def __init__(self, network: Dask, shards: Shards) -> None:
        if not len(shards):
            msg = "there are no machines: at least one with rows is needed"
            raise ProblemError(msg)
        self.network, self.shards = network, shards
        self.ledger = Ledger()
        self._lock = threading.RLock()
        self._cluster: Cluster | None = None
        self._blocks: list[range] = []
        self._keepers: list[Any] = []
        self._memories: list[Remembered] = []
        self._losses: Counter[str] = Counter()
        self._sparse = False
        try:
            self._load()
        except BaseException:
            self._closed()
            raise

    @property
    def ids(self) -> tuple[Hashable, ...]:
        return self.shards.ids

    def map(self, function: Callable[..., Any], *by_machine: np.ndarray, **common: Any) -> Any:
        import cloudpickle  # late: comes with Dask; functions that are in no module travel whole

        parts = list(zip(*(self._split(np.asarray(values)) for values in by_machine), strict=True))
        with self._lock:
            replies = self._round(cloudpickle.dumps((function, common)), parts or [()] * len(self._blocks))
        return _joined(replies)

    def rest(self) -> None:
        if self._cluster is not None and self._cluster.embedded is not None:
            self._closed()

    def __reduce__(self) -> tuple[Any, ...]:
        return DaskMachines, (self.network, self.shards)

    # -- blocks -------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Have all rows loaded for the first time, and see that they fit together."""
        m = len(self.shards)
        ends = np.linspace(0, m, min(m, len(self._opened().workers())) + 1).astype(int)
        self._blocks = [range(a, b) for a, b in pairwise(ends.tolist())]
        count = len(self._blocks)
        self._facts: list[Facts | None] = [None] * count
        self._keepers, self._memories = [None] * count, [Remembered() for _ in range(count)]
        with self._lock:
            self._round(b"", [])
            if len({facts.sparse for facts in self._known}) > 1:
                self._sparse, self._keepers, self._facts = True, [None] * count, [None] * count
                self._round(b"", [])
        require_one_width([self.ids[block[0]] for block in self._blocks], [facts.width for facts in self._known])
        self.ledger = Ledger(self._known[0].width)

    @property
    def _known(self) -> list[Facts]:
        return [facts for facts in self._facts if facts is not None]

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """The parts of an array by machine, or by row, for the blocks."""
        sizes = [len(block) for block in self._blocks]
        if len(values) != len(self.shards):
            sizes = [int(facts.sizes.sum()) for facts in self._known]
        if len(values) != sum(sizes):
            msg = f"an entry for each of {len(self.shards)} machines or {sum(sizes)} rows is needed, got {len(values)}"
            raise ProblemError(msg)
        return np.split(values, np.cumsum(sizes)[:-1])

    # -- rounds -------------------------------------------------------------------------------------

    def _round(self, task: bytes, parts: list[tuple[np.ndarray, ...]]) -> list[Any]:
        """What the keepers answer to a task, each with its part of the values; lost ones are made again."""
        replies: dict[int, Any] = {}
        why: LostError | None = None
        for _ in range(self.network.retries + 1):
            try:
                self._renew()
                self._ask(task, parts, replies)
                return [replies[b] for b in range(len(parts))]
            except LostError as lost:
                why = lost
        msg = f"machines were lost {self.network.retries + 1} times in one round ({why}); {HINT}"
        raise MachinesError(msg) from why

    def _ask(self, task: bytes, parts: list[tuple[np.ndarray, ...]], replies: dict[int, Any]) -> None:
        """Add the replies that are not there."""
        while waiting := [b for b in range(len(parts)) if b not in replies]:
            for b, kind, reply in self._answers({b: self._sent(b, task, parts[b]) for b in waiting}):
                if kind == "missing":  # it has forgotten a value: that and all others are sent again
                    self._memories[b].clear()
                else:
                    replies[b] = reply
                    for part in arrays_of(reply):
                        self._memories[b].keep(digest(part))

    def _sent(self, b: int, task: bytes, part: tuple[np.ndarray, ...]) -> Any:
        """The call under way: of each value its digest, and itself where the keeper may have forgotten it."""
        memory, message = self._memories[b], []
        for values in part:
            key = digest(values)
            message.append((key, None if key in memory else values))
        for key, _ in message:
            memory.keep(key)
        return self._call(b, "call", task, pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))

    def _call(self, b: int, name: str, *messages: bytes) -> Any:
        keeper = self._keepers[b]
        self.ledger.moved += sum(map(len, messages))
        try:
            return getattr(keeper, name)(*messages)
        except Exception as error:  # Dask knows by now that the worker is gone
            self._keepers[b] = None
            self._losses[keeper._address] += 1
            raise LostError(str(error), keeper._address) from error

    def _answers(self, sent: dict[int, Any]) -> Iterator[tuple[int, str, Any]]:
        """What came back, block by block; then, where one was lost, its `LostError`."""
        asked, lost = [(self._keepers[b], future) for b, future in sent.items()], None
        for b, packed in zip(sent, self._opened().answers(asked, self.network.timeout), strict=True):
            if isinstance(packed, LostError):
                self._keepers[b], lost = None, packed
                self._losses[packed.address] += 1
                continue
            self.ledger.moved += len(packed)
            kind, reply = pickle.loads(packed)
            if kind == "error":
                raise reply
            yield b, kind, reply
        if lost is not None:
            raise lost

    # -- keepers ------------------------------------------------------------------------------------

    def _opened(self) -> Cluster:
        """The cluster, opened where it is not; no keeper is left of an earlier one."""
        if self._cluster is None:
            self._cluster = Cluster.opened(self.network)
            self._abandoned = weakref.finalize(self, self._cluster.abandon)
            self._abandoned.atexit = False  # it closes itself then
            self._keepers = [None] * len(self._blocks)
        return self._cluster

    def _closed(self) -> None:
        if self._cluster is not None:
            self._abandoned.detach()
            self._cluster.close()
            self._cluster = None

    def _renew(self) -> None:
        """A keeper for each block that has none, its rows loaded where least was lost and least is to do."""
        cluster = self._opened()
        missing = [b for b, keeper in enumerate(self._keepers) if keeper is None]
        if not missing:
            return
        busy = Counter(keeper._address for keeper in self._keepers if keeper is not None)
        addresses = cluster.some_workers()
        chosen = []
        for _ in missing:
            chosen.append(min(addresses, key=lambda address: (self._losses[address], busy[address])))
            busy[chosen[-1]] += 1
        try:
            made = cluster.keepers(chosen)
        except LostError as lost:
            self._losses[lost.address] += 1
            raise
        for b, keeper in zip(missing, made, strict=True):
            self._keepers[b], self._memories[b] = keeper, Remembered()
        try:
            for b, _, facts in self._answers({b: self._call(b, "take", self._terms(b)) for b in missing}):
                self._facts[b] = facts
        except BaseException:  # of those that have not answered no one knows whether they have their rows
            for b in missing:
                self._keepers[b] = None
            raise

    def _terms(self, b: int) -> bytes:
        import cloudpickle

        block, facts = self._blocks[b], self._facts[b]
        shards = Shards(tuple(self.ids[i] for i in block), tuple(self.shards.loaders[i] for i in block))
        prints = None if facts is None else facts.prints
        return cloudpickle.dumps(Terms(shards, versions(), self._sparse, prints))


def _joined(replies: list[Any]) -> Any:
    """What blocks returned, end to end."""
    first = replies[0]
    if isinstance(first, tuple):
        return tuple(_joined([reply[k] for reply in replies]) for k in range(len(first)))
    return [each for reply in replies for each in reply] if isinstance(first, list) else np.concatenate(replies)
