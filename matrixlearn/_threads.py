"""BLAS is held to one thread while small problems are solved."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

ONE_THREAD_BELOW = 1000
"""Matrices smaller than this are decomposed no faster by two BLAS threads than by one, and far slower
when another process has the second core (benchmarks/engines/threads.py)."""

_lock = threading.Lock()
_held: dict[tuple[str, int], list[int]] = {}
"""Of each pool that is held to one thread: how many solves hold it, and how many threads it had before the first."""


@contextlib.contextmanager
def governed(problem: Any) -> Iterator[None]:
    """One BLAS thread while the matrices of a problem are small, for as long as any such solve runs: the last one ends
    it, whichever it is.
    """
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own: load it before the threads are counted

    like = problem.like  # its size without a dense n x n array
    size = 0 if like is None else like.shape[0]
    with contextlib.ExitStack() as held:
        for pool in _pools(_libraries()) if size < ONE_THREAD_BELOW else ():
            held.enter_context(_one_thread(pool))
        yield


@contextlib.contextmanager
def _one_thread(pool: Any) -> Iterator[None]:
    """A pool held to one thread: its limit is the process's, but for OpenMP, where each thread has its own."""
    per_thread = getattr(pool, "threading_layer", "") == "openmp"
    key = pool.filepath, threading.get_ident() if per_thread else 0
    with _lock:
        solves, before = _held.get(key, [0, pool.num_threads])
        _held[key] = [solves + 1, before]
        _set(pool, 1)
    try:
        yield
    finally:
        with _lock:
            solves, before = _held.pop(key)
            if solves > 1:
                _held[key] = [solves - 1, before]
            else:
                _set(pool, before)


def _set(pool: Any, threads: int) -> None:
    """The limit of a pool; another thread may set the next one (threadpoolctl 3.8 lets only one thread do so, until it
    lets go).
    """
    pool.set_num_threads(threads)
    getattr(pool, "clear_controlling_thread", lambda: None)()


def _libraries() -> frozenset[str]:
    """Those that are loaded of the packages with a BLAS of their own."""
    return frozenset({"numpy", "scipy", "torch", "jax", "mkl"} & sys.modules.keys())


@cache
def _pools(libraries: frozenset[str]) -> tuple[Any, ...]:
    """The BLAS thread pools that the libraries brought: to look for them takes most of a millisecond."""
    return tuple(pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "blas")
