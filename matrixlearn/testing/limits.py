"""The time that a law has: one that would not end says so by its name."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar

from matrixlearn.clock import clock_time

PER_SOLVE = 20.0
"""Seconds for one solve of a small instance, a hundred times what any of the library's takes."""

PER_LAW = 300.0
"""Seconds for all solves of a law in `run_checks`."""

_end = ContextVar("_end", default=math.inf)


class LawIsLate(BaseException):
    """A law takes too long. No Exception: hypothesis would try the instance again, which takes as long."""


@contextlib.contextmanager
def law_limited(seconds: float) -> Iterator[None]:
    """So many seconds for the laws within, one at a time."""
    before = _end.set(clock_time() + seconds)
    try:
        yield
    finally:
        _end.reset(before)


@contextlib.contextmanager
def named(law: str) -> Iterator[None]:
    """A law that is late fails by its name.

    Raises
    ------
    AssertionError
        Where it is.
    """
    try:
        yield
    except LawIsLate as late:
        msg = f"{law} is late: {late}"
        raise AssertionError(msg) from None


def time_left() -> float:
    """Seconds for the next solve.

    Raises
    ------
    LawIsLate
        Where the law has none.
    """
    left = _end.get() - clock_time()
    if left <= 0:
        msg = "its instances took all of its time; give run_checks(seconds=) more, or draw smaller ones"
        raise LawIsLate(msg)
    return min(PER_SOLVE, left)
