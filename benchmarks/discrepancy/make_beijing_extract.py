"""Write plugins/matrixlearn_discrepancy/data/beijing_air.npz from the daily means of Beijing.

    python benchmarks/discrepancy/make_beijing_extract.py DATA/beijing_air/daily.npz

Whole numbers of a unit, which is far below what a station's daily mean is worth, compress to 90 kB.
"""

import sys
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy.data import MISSING, SUMMER, WINTER

UNIT = {"CO": 10.0, "TEMP": 0.1, "PRES": 0.1, "DEWP": 0.1, "RAIN": 0.1, "WSPM": 0.1}
OUTPUT = Path(__file__).parents[2] / "plugins/matrixlearn_discrepancy/data/beijing_air.npz"

with np.load(sys.argv[1]) as daily:
    X, dates, stations, variables = daily["X"], daily["date"], daily["station"], daily["variable"]
month = dates.astype("datetime64[M]").astype(int) % 12 + 1
kept = np.isin(month, SUMMER + WINTER)
unit = np.array([UNIT.get(str(name), 1.0) for name in variables])
whole = np.rint(np.moveaxis(X[:, kept], 2, 0) / unit[:, None, None])
values = np.where(np.isfinite(whole), whole, MISSING).astype("<i2")
np.savez_compressed(OUTPUT, values=values, unit=unit, variable=variables, station=stations, date=dates[kept])
print(f"{OUTPUT}: {values.shape}, {OUTPUT.stat().st_size} bytes")
