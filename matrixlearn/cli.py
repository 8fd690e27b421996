"""The command ``matrixlearn``: list, solve, verify, check, demo (needs the extra ``cli``)."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without click, say how to get it."""
    try:
        from matrixlearn._commands import cli  # late: click is an extra
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("The command line of matrixlearn needs click: pip install 'matrixlearn[cli]'\n")
        raise SystemExit(1) from None
    cli()
