"""Where the data sets lie that a benchmark reads: the folder that MATRIXLEARN_DATA names, or benchmarks/data."""

import os
import sys
from pathlib import Path

DATA = Path(os.environ.get("MATRIXLEARN_DATA", Path(__file__).parent / "data"))


def found(place: Path, *names: str, source: str) -> Path:
    """``place`` where it is one of these files, or the first of them in the folder; the end where there is none."""
    candidates = [place] if place.is_file() else [place / name for name in names]
    for path in candidates:
        if path.is_file() and path.name in {Path(name).name for name in names}:
            return path
    sys.exit(
        f"{' or '.join(names)} is not in {place}. Get it from {source}; say where it is by --data or MATRIXLEARN_DATA"
    )
