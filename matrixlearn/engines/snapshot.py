"""What a loop is at a check, kept so that another can go on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from matrixlearn.callbacks import Event


@dataclass(frozen=True)
class Snapshot:
    """The values of a loop right after a check: all that the next iteration depends on."""

    iteration: int
    state: Any
    incumbent: Any
    last: Any
    events: tuple[Event, ...]


class SnapshotKeeper(Protocol):
    """Where snapshots go, and where the first one comes from."""

    @property
    def goes_on(self) -> bool:
        """Whether there is a snapshot to go on from: what leads to its loop is run to its end, then."""

    def begin(self, engine: Any, problem: Any) -> Snapshot | None:
        """The snapshot to go on from, at the begin of a loop; None for a fresh start."""

    def keep(self, snapshot: Snapshot, *, at_the_end: bool = False) -> None:
        """Keep a snapshot, or not, where one was kept a moment ago; always at the end."""


class Forgetful:
    """Keeps nothing."""

    goes_on = False

    def begin(self, engine: Any, problem: Any) -> Snapshot | None:
        return None

    def keep(self, snapshot: Snapshot, *, at_the_end: bool = False) -> None:
        """Nothing."""


FORGETFUL = Forgetful()
