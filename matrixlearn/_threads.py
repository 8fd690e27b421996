"""The BLAS thread governor."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

ONE_THREAD_BELOW = 1000
"""Matrices smaller than this are decomposed no faster by two BLAS threads than by one, and far slower
when another process has the second core (benchmarks/threads.py)."""


@contextlib.contextmanager
def governed(problem: Any) -> Iterator[None]:
    """One BLAS thread while the matrices of a problem are small."""
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own: load it before the threads are counted

    space = getattr(problem, "spectral_set", None)  # its size without a dense n x n array
    size = getattr(getattr(problem, "cost", None), "shape", (0,))[0] if space is None else space.n
    few = size < ONE_THREAD_BELOW
    with _controller(_libraries()).limit(limits=1, user_api="blas") if few else contextlib.nullcontext():
        yield


def _libraries() -> frozenset[str]:
    """Those that are loaded of the packages with a BLAS of their own."""
    return frozenset({"numpy", "scipy", "torch", "jax", "mkl"} & sys.modules.keys())


@cache
def _controller(libraries: frozenset[str]) -> ThreadpoolController:
    """The thread pools that the libraries brought: to look for them takes most of a millisecond."""
    return ThreadpoolController()
