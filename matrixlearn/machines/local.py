"""All machines in this process: the default, and the simulator of delays and lost messages."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.machines.base import Held
from matrixlearn.machines.block import Block
from matrixlearn.machines.ledger import Ledger
from matrixlearn.machines.mail import Mail
from matrixlearn.machines.shards import Shards
from matrixlearn.validation import as_number


@dataclass(frozen=True)
class Local:
    """Machines in this process, deterministic.

    Parameters
    ----------
    delay : int
        How many rounds a message along an edge may be late, drawn evenly from 0 to this for each message.
    loss : float
        The probability in [0, 1) that a message is lost; its target keeps the last one that arrived.
    seed : int
        Of delays and losses.
    hub : bool
        Whether there is a machine that all others reach.

    Raises
    ------
    ProblemError
        For numbers out of these ranges.
    """

    delay: int = 0
    loss: float = 0.0
    seed: int = 0
    hub: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.delay, int | np.integer) and self.delay >= 0):
            msg = f"delay must be a number of rounds, 0, 1, ..., got {self.delay!r}"
            raise ProblemError(msg)
        if not 0 <= as_number("loss", self.loss) < 1:
            msg = f"loss must be a probability in [0, 1), got {self.loss!r}; with 1 no message ever arrives"
            raise ProblemError(msg)

    @property
    def reliable(self) -> bool:
        """Whether every message arrives in the round in which it is sent."""
        return self.delay == 0 and self.loss == 0

    def hold(self, shards: Shards) -> LocalMachines:
        """The machines with their rows, in one block."""
        return LocalMachines(self, shards.block())


class LocalMachines(Held):
    """The machines of a `Local`, all rows in one `Block`.

    Parameters
    ----------
    network : Local
    block : Block
    """

    def __init__(self, network: Local, block: Block) -> None:
        self.network = network
        self.block = block
        self.ledger = Ledger(block.width)

    @property
    def ids(self) -> tuple[Hashable, ...]:
        return self.block.ids

    def map(self, function: Callable[..., Any], *by_machine: np.ndarray, **common: Any) -> Any:
        return function(self.block, *by_machine, **common)

    def exchange(self, mail: Mail, vectors: np.ndarray) -> Mail:
        arrived = super().exchange(mail, vectors)
        if self.network.reliable:
            return arrived
        return mail.late(vectors, self.network.delay, self.network.loss, self.network.seed)
