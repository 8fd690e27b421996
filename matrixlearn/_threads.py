"""The BLAS thread governor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from threadpoolctl import threadpool_limits

ONE_THREAD_BELOW = 1000
"""Matrices smaller than this are decomposed no faster by two BLAS threads than by one, and far slower
when another process has the second core (benchmarks/threads.py)."""


@contextlib.contextmanager
def governed(problem: Any) -> Iterator[None]:
    """One BLAS thread while the matrices of a problem are small; entering costs about a millisecond."""
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own: load it before the threads are counted

    space = getattr(problem, "spectral_set", None)  # its size without a dense n x n array
    size = getattr(getattr(problem, "cost", None), "shape", (0,))[0] if space is None else space.n
    with threadpool_limits(1, user_api="blas") if size < ONE_THREAD_BELOW else contextlib.nullcontext():
        yield
