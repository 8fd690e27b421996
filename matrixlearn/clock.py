"""The clock that long inner pieces ask: a time limit holds within an iteration, not only between two.

`matrixlearn.engines.base.run` sets it; decompositions and inner loops ask it. Where the time is up they end by an
exception that no ``except Exception`` takes, as Ctrl-C does, and the run goes on with the best points that it knows.

What follows a run, the certificate of its last points, is not limited: without it nothing would be known. A search for
better ones is no part of it, and asks `there_is_time`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline = ContextVar("_deadline", default=math.inf)
_end = ContextVar("_end", default=math.inf)


def clock_time() -> float:
    """Seconds, from an arbitrary beginning."""
    return time.perf_counter()


class TimeIsUp(BaseException):
    """The time limit has passed; caught by the run that set it."""


@contextmanager
def _no_later(end: ContextVar[float], seconds: float) -> Iterator[None]:
    """An end so many seconds from now, unless one around this is earlier."""
    before = end.set(min(end.get(), clock_time() + seconds))
    try:
        yield
    finally:
        end.reset(before)


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """So many seconds from now, or fewer where a run around this one has set an earlier end."""
    with _no_later(_deadline, seconds):
        yield


@contextmanager
def ending_after(seconds: float) -> Iterator[None]:
    """A solve that is given so many seconds from now; the earlier end counts where one is within another."""
    with _no_later(_end, seconds):
        yield


def time_left() -> float:
    """The seconds that the solve that calls has left, below 0 afterwards; inf outside of one."""
    return _end.get() - clock_time()


def there_is_time() -> bool:
    """Whether the solve that calls has time left; outside of one there is."""
    return time_left() >= 0


def ask_the_clock() -> None:
    """Nothing while there is time.

    Raises
    ------
    TimeIsUp
        Afterwards.
    """
    if clock_time() > _deadline.get():
        raise TimeIsUp
