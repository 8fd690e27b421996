"""Where the data sets lie that a benchmark reads: the folder that MATRIXLEARN_DATA names, or benchmarks/data."""

import os
from pathlib import Path

DATA = Path(os.environ.get("MATRIXLEARN_DATA", Path(__file__).parent / "data"))
