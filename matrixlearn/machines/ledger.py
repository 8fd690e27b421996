"""The ledger of what machines send, in numbers, vectors, bits and rounds."""

from __future__ import annotations

from dataclasses import dataclass, field

BITS = 64
"""Of a number; nothing is compressed."""


@dataclass
class Ledger:
    """What was sent, by direction; counted as the algorithm sends it, whatever carries it.

    Attributes
    ----------
    vector : int
        Numbers of a vector, d.
    rounds : int
        Ends of rounds so far.
    between, up, down : int
        Numbers sent along edges, to the hub, and from it.
    by_round : list of int
        All numbers sent by the end of each round.
    moved : int
        Bytes that the transport has carried, both ways, data at hand and the checks of points among them; 0 where all
        machines are in this process.
    """

    vector: int = 1
    rounds: int = 0
    between: int = 0
    up: int = 0
    down: int = 0
    by_round: list[int] = field(default_factory=list)
    moved: int = 0

    @property
    def numbers(self) -> int:
        """All numbers sent."""
        return self.between + self.up + self.down

    @property
    def vectors(self) -> float:
        """All numbers sent, in vectors."""
        return self.numbers / self.vector

    @property
    def bits(self) -> int:
        """All numbers sent, in bits."""
        return BITS * self.numbers

    def end_round(self) -> None:
        """Close a round: all that was sent in it has arrived."""
        self.rounds += 1
        self.by_round.append(self.numbers)

    def vectors_after(self, rounds: int) -> float:
        """Vectors sent by the end of so many rounds, from 0 on."""
        return self.by_round[min(rounds, len(self.by_round)) - 1] / self.vector if rounds and self.by_round else 0.0

    @property
    def brief(self) -> str:
        """For a line that changes: rounds, and megabytes as sent or as moved, whichever is more."""
        return f"{self.rounds} rounds, {max(self.bits / 8, self.moved) / 1e6:.3g} MB"

    def __str__(self) -> str:
        ways = (("between neighbours", self.between), ("to the hub", self.up), ("from the hub", self.down))
        parts = [f"{numbers / self.vector:,.6g} vectors {way}" for way, numbers in ways if numbers]
        sent = ", ".join(parts) if parts else "nothing sent"
        carried = f"; {self.moved / 1e6:.3g} MB moved" if self.moved else ""
        return f"{self.rounds} rounds, {sent} ({self.vector} numbers each, {self.bits / 8e6:.3g} MB in all){carried}"
