"""The contract of machines: where the rows are, and how they are computed with.

Implement `Machines` (how machines are had, a frozen description) and `Held` (the machines, once they hold their rows).

An array "by machine" has one entry or row for each of the m machines, in the order of `Held.ids`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from matrixlearn.machines.ledger import Ledger
from matrixlearn.machines.mail import Links, Mail

if TYPE_CHECKING:
    from matrixlearn.machines.shards import Shards


@runtime_checkable
class Machines(Protocol):
    """A description of machines; `hold` gives them their rows."""

    @property
    def hub(self) -> bool:
        """Whether there is a hub that all machines reach; without one, messages go along edges only."""

    @property
    def reliable(self) -> bool:
        """Whether every message arrives in the round in which it is sent."""

    def hold(self, shards: Shards) -> Held:
        """The machines with their rows."""


class Held(ABC):
    """Machines that hold their rows.

    Of the four verbs `map` computes where the rows are and counts nothing, the others move numbers and count them; by
    default every message goes through this process and arrives at once.
    """

    ledger: Ledger
    """What has been sent since `opened`."""

    @property
    @abstractmethod
    def ids(self) -> tuple[Hashable, ...]:
        """The names of the machines."""

    def opened(self, vector: int) -> Ledger:
        """A new ledger in the place of the last one; it counts in vectors of ``vector`` numbers."""
        self.ledger = Ledger(vector)
        return self.ledger

    @abstractmethod
    def map(self, function: Callable[..., Any], *by_machine: np.ndarray, **common: Any) -> Any:
        """``function(block, *by_machine, **common)`` on the machines of each `Block`; what it returns, an array by
        machine or by row, a list by machine, or a tuple of such, for all machines.

        The function is pure: called again, after a fault, it returns the same; and what it returns for a machine
        depends on that machine alone, to the last bit. ``by_machine`` is what the machines hold themselves: arrays of
        an entry for each machine, or for each row.
        """

    def rest(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of what only a solve needs, such as processes; the next `map` gets it again."""

    def mail(self, links: Links, vectors: np.ndarray) -> Mail:
        """The state before the first message: all know the vectors that everyone starts with."""
        return Mail.first(links, vectors)

    def exchange(self, mail: Mail, vectors: np.ndarray) -> Mail:
        """One message of each machine to each neighbour; what has arrived by now is in the `Mail` returned."""
        self.ledger.between += len(mail.links) * vectors[0].size
        return mail.delivered(vectors)

    def gather(self, by_machine: np.ndarray) -> np.ndarray:
        """An array by machine, sent to the hub."""
        self.ledger.up += by_machine.size
        return by_machine

    def scatter(self, by_machine: np.ndarray) -> np.ndarray:
        """An array by machine, of which the hub sends each machine its own entry."""
        self.ledger.down += by_machine.size
        return by_machine
