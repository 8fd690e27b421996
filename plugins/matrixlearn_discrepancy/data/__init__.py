"""A small real data set: daily air quality in Beijing, in two seasons and at twelve stations.

From "Beijing Multi-Site Air Quality" by Song Chen, UCI Machine Learning Repository, 2017
(https://doi.org/10.24432/C5RK5G), licence CC BY 4.0; daily means and a coarser unit for each variable are
our changes. See ``PROVENANCE.txt`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

MISSING = -32768
SUMMER, WINTER = (6, 7, 8), (12, 1, 2)


@dataclass(frozen=True)
class AirQuality:
    """Daily means: rows are days at stations, without missing values.

    Attributes
    ----------
    X : ndarray, shape (n, 9)
        log(1 + .) of SO2, NO2, CO and O3 in ug/m3; temperature and dew point in degrees C, pressure in
        hPa, log(1 + rain in mm), wind speed in m/s.
    y : ndarray, shape (n,)
        Logarithm of PM2.5 in ug/m3.
    station : ndarray of str, shape (n,)
    date : ndarray of datetime64[D], shape (n,)
    features : tuple of str
        The columns of X.
    """

    X: np.ndarray
    y: np.ndarray
    station: np.ndarray
    date: np.ndarray
    features: tuple[str, ...]

    @property
    def is_winter(self) -> np.ndarray:
        """December to February; the rest is June to August."""
        return np.isin(self.date.astype("datetime64[M]").astype(int) % 12 + 1, WINTER)


@dataclass(frozen=True)
class Adaptation:
    """One draw of the task "summer, and a few winter days, at some stations -> winter at others".

    Attributes
    ----------
    X_source, y_source
        Summer days and a few winter days at six stations.
    X_target
        Winter days at the other six, for the weights: no labels.
    X_labelled, y_labelled
        More winter days there, with labels: what adaptation does without.
    X_test, y_test
        All other winter days there.
    """

    X_source: np.ndarray
    y_source: np.ndarray
    X_target: np.ndarray
    X_labelled: np.ndarray
    y_labelled: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load_beijing_air() -> AirQuality:
    """Daily air quality at twelve stations in Beijing, March 2013 to February 2017, summers and winters.

    Returns
    -------
    AirQuality
        8,432 days at stations, 9 features and the logarithm of PM2.5.

    References
    ----------
    S. Zhang, B. Guo, A. Dong, J. He, Z. Xu and S. X. Chen, "Cautionary tales on air-quality improvement
    in Beijing", Proceedings of the Royal Society A 473:20170457, 2017.

    Examples
    --------
    >>> air = load_beijing_air()
    >>> air.X.shape, len(set(air.station))
    ((8432, 9), 12)
    """
    with files(__package__).joinpath("beijing_air.npz").open("rb") as file, np.load(file, allow_pickle=False) as data:
        packed, unit, names = data["values"], data["unit"], [str(name) for name in data["variable"]]
        stations, dates = data["station"], data["date"]
    values = np.where(packed == MISSING, np.nan, packed * unit[:, None, None])
    value = dict(zip(names, values.reshape(len(names), -1), strict=True))  # one row for each station and day
    features = ("SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM")
    skewed = {"SO2", "NO2", "CO", "O3", "RAIN"}
    X = np.stack([np.log1p(value[name]) if name in skewed else value[name] for name in features], axis=1)
    y = np.log(value["PM2.5"])
    whole = np.all(np.isfinite(X), axis=1) & np.isfinite(y)
    return AirQuality(
        X[whole],
        y[whole],
        np.repeat(stations, len(dates))[whole],
        np.tile(dates.astype("datetime64[D]"), len(stations))[whole],
        features,
    )


def summer_to_winter(
    air: AirQuality,
    random_state: int | np.random.Generator = 0,
    *,
    n_summer: int = 340,
    n_winter: int = 60,
    n_target: int = 200,
    n_labelled: int = 100,
) -> Adaptation:
    """A random draw of six source stations and of days, standardised.

    The mean and the variance of each feature are 0 and 1 over the source and the unlabelled target.

    Parameters
    ----------
    air : AirQuality
    random_state : int or Generator
    n_summer, n_winter : int
        Days at the source stations.
    n_target, n_labelled : int
        Winter days at the other stations: without labels, and with.

    Returns
    -------
    Adaptation
    """
    rng = np.random.default_rng(random_state)
    names = rng.permutation(np.unique(air.station))
    at_source = np.isin(air.station, names[: len(names) // 2])
    summer = rng.permutation(np.flatnonzero(at_source & ~air.is_winter))[:n_summer]
    winter = rng.permutation(np.flatnonzero(at_source & air.is_winter))[:n_winter]
    source = np.concatenate([summer, winter])
    target, labelled, test = np.split(
        rng.permutation(np.flatnonzero(~at_source & air.is_winter)), [n_target, n_target + n_labelled]
    )
    seen = air.X[np.concatenate([source, target])]
    Z = (air.X - seen.mean(axis=0)) / seen.std(axis=0)
    return Adaptation(Z[source], air.y[source], Z[target], Z[labelled], air.y[labelled], Z[test], air.y[test])
