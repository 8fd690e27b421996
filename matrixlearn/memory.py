"""How much memory there is, asked before a file or a request is believed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from matrixlearn.exceptions import ProblemError

GIB = 2**30


def available_memory() -> float:
    """Bytes that may still be asked for: of the machine and of the container; inf where neither says."""
    known = [float("inf")]
    with contextlib.suppress(OSError, ValueError, IndexError):  # Linux
        lines = Path("/proc/meminfo").read_text().splitlines()
        known.append(next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")))
    with contextlib.suppress(OSError, ValueError):  # a container; "max" where it has no limit
        group = Path("/sys/fs/cgroup")
        most, used = ((group / f"memory.{name}").read_text() for name in ("max", "current"))
        known.append(float(most) - float(used))
    if len(known) == 1 and hasattr(os, "sysconf"):
        with contextlib.suppress(OSError, ValueError):
            known.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    return max(0.0, min(known))


def require_memory(size: float, what: str) -> None:
    """Refuse what cannot fit before any of it is allocated.

    Raises
    ------
    ProblemError
        Where ``size`` bytes are more than `available_memory`; the message says what takes them.
    """
    most = available_memory()
    if size > most:
        msg = f"{what} takes {size / GIB:.3g} GiB, and {most / GIB:.3g} GiB are available"
        raise ProblemError(msg)
