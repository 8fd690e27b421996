"""Events that a solve reports while it runs, and a progress line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from matrixlearn.late import needed_by

__all__ = ["Callback", "Event", "Progress", "silent"]


@dataclass(frozen=True)
class Event:
    """The state of a solve at one check."""

    iteration: int
    """Of the engine, from 0."""
    seconds: float
    """Since the solve began."""
    lower: float
    """What is certified so far: no optimum is below it."""
    upper: float
    """What is certified so far: no optimum is above it."""
    gap: float
    """Relative, as `Solution.gap`."""
    note: str = ""
    """What was sent, where data are on machines; not kept in files."""


@runtime_checkable
class Callback(Protocol):
    """Called at every check; a true answer stops the solve with the best bounds so far."""

    def __call__(self, event: Event) -> object:
        """Look at the event; return True to stop."""


def silent(event: Event) -> None:
    """The null callback."""


class Progress:
    """A live line with lower bound, upper bound and gap (needs the extra ``cli``: rich)."""

    def __init__(self, title: str) -> None:
        with needed_by("progress=True"):
            from rich.console import Console
            from rich.live import Live
        self.title = title
        self._live = Live(self._line(None), console=Console(stderr=True), refresh_per_second=8)

    def _line(self, event: Event | None) -> Any:
        from rich.text import Text

        if event is None:
            return Text(f"{self.title}: starting")
        return Text(
            f"{self.title}: iteration {event.iteration:>6}  lower {event.lower:<13.7g} "
            f"upper {event.upper:<13.7g} gap {event.gap:<9.2e} {event.seconds:.1f} s"
            f"{', ' + event.note if event.note else ''}"
        )

    def __enter__(self) -> Progress:
        self._live.start()
        return self

    def __call__(self, event: Event) -> None:
        self._live.update(self._line(event))

    def __exit__(self, *exc: object) -> None:
        self._live.stop()
