"""A small real data set: daily temperatures in Swedish towns, where a geography helps.

From M. Sundin's repository Connected-graph-constraint (MIT), which took them from the open data of SMHI. See
``PROVENANCE.txt`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

KM = 111.2
"""Kilometres of a degree of latitude."""


@dataclass(frozen=True)
class Towns:
    """Temperatures of 45 towns on 62 days, from October to December 2014.

    Attributes
    ----------
    temperature : ndarray, shape (45, 62)
        Degrees C, daily.
    lat_lon : ndarray, shape (45, 2)
        Degrees.
    """

    temperature: np.ndarray
    lat_lon: np.ndarray

    @property
    def kilometres(self) -> np.ndarray:
        """East and north, (45, 2), near enough for distances."""
        lat, lon = self.lat_lon.T
        return KM * np.column_stack([lon * np.cos(np.deg2rad(lat.mean())), lat])

    def regions(self) -> np.ndarray:
        """Features of each town and day, (45, 62, 3): the mean temperatures of all other towns in the south, the middle
        and the north of the country, a third of the towns each.
        """
        T, lat = self.temperature, self.lat_lon[:, 0]
        region = np.digitize(lat, np.quantile(lat, [1 / 3, 2 / 3]))
        inside = (region[:, None] == np.arange(3)).astype(float)
        others = inside[None] * (1 - np.eye(len(T)))[:, :, None]  # of town i: all in the region but itself
        return np.einsum("ijr,jt->itr", others, T) / others.sum(axis=1)[:, None]


def load_sweden() -> Towns:
    """Daily temperatures in Swedish towns.

    Examples
    --------
    >>> towns = load_sweden()
    >>> towns.temperature.shape, towns.regions().shape
    ((45, 62), (45, 62, 3))
    """
    with files(__package__).joinpath("sweden.npz").open("rb") as file, np.load(file, allow_pickle=False) as data:
        return Towns(data["tenths"] / 10.0, data["lat_lon"])
