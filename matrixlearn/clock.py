"""The clock that long inner pieces ask: a time limit holds within an iteration, not only between two.

`matrixlearn.engines.base.run` sets it; decompositions and inner loops ask it. Where the time is up they end by an
exception that no ``except Exception`` takes, as Ctrl-C does, and the run goes on with the best points that it knows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline = ContextVar("_deadline", default=math.inf)


def clock_time() -> float:
    """Seconds, from an arbitrary beginning."""
    return time.perf_counter()


class TimeIsUp(BaseException):
    """The time limit has passed; caught by the run that set it."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """So many seconds from now, or fewer where a run around this one has set an earlier end."""
    before = _deadline.set(min(_deadline.get(), clock_time() + seconds))
    try:
        yield
    finally:
        _deadline.reset(before)


def ask_the_clock() -> None:
    """Nothing while there is time.

    Raises
    ------
    TimeIsUp
        Afterwards.
    """
    if clock_time() > _deadline.get():
        raise TimeIsUp
