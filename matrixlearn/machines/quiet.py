"""Let the processes of an embedded cluster ignore Ctrl-C, which the terminal sends to them too.

The process that has started them ends them; until then they answer, so that what is certified can be certified again.
"""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """What Dask calls as the worker starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
