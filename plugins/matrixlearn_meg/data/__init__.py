"""A small real data set: daily means of four pollutants at twelve stations in Beijing.

From "Beijing Multi-Site Air Quality" by Song Chen, UCI Machine Learning Repository, 2017
(https://doi.org/10.24432/C5RK5G), licence CC BY 4.0; the choice of days and of variables, daily means and a coarser
unit are our changes. See ``PROVENANCE.txt`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np


@dataclass(frozen=True)
class Series:
    """48 series, one for each pollutant and station, over the same days.

    Attributes
    ----------
    z : ndarray, shape (614, 48)
        log(1 + .) of the daily means in ug/m3, standardized: mean 0 and variance 1 of each series.
    names : list of (str, str)
        Pollutant and station of each column, pollutant by pollutant.
    date : ndarray of datetime64[D], shape (614,)
    """

    z: np.ndarray
    names: list[tuple[str, str]]
    date: np.ndarray


def load_beijing_days() -> Series:
    """Daily pollution at twelve stations in Beijing, summers and winters of 2013 to 2017, days without a gap.

    Examples
    --------
    >>> series = load_beijing_days()
    >>> series.z.shape, series.names[0]
    ((614, 48), ('PM2.5', 'Aotizhongxin'))
    """
    with files(__package__).joinpath("beijing_days.npz").open("rb") as file, np.load(file, allow_pickle=False) as data:
        values = data["values"] * data["unit"][:, None, None]
        names = [(str(v), str(s)) for v in data["variable"] for s in data["station"]]
        date = data["date"].astype("datetime64[D]")
    z = np.log1p(values.reshape(len(names), -1)).T
    return Series((z - z.mean(axis=0)) / z.std(axis=0), names, date)
