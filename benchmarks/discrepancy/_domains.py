"""Real data with a source and a target: draws of labelled source, unlabelled target, and what judges them.

A `Setting` draws a `Domains`: source rows with labels, target rows without, a few labelled target rows that only the
model "target-trained" may see, and test rows of the target. Features have mean 0 and variance 1 over source and
unlabelled target, regression labels variance 1 on the source.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matrixlearn_discrepancy import load_beijing_air

from benchmarks.engines.large import distinct
from benchmarks.fetr._tables import table

SOURCE, TARGET, LABELLED, TEST = 200, 150, 100, 1000
"""Rows at most."""


@dataclass(frozen=True)
class Domains:
    """One draw."""

    X: np.ndarray
    y: np.ndarray
    T: np.ndarray
    L: np.ndarray
    y_L: np.ndarray
    E: np.ndarray
    y_E: np.ndarray


@dataclass(frozen=True)
class Setting:
    """A source and a target; ``draw(seed)`` gives one sample of both."""

    name: str
    draw: Callable[[int], Domains]
    kernel: str = "linear"
    gamma: float | None = None
    classes: bool = False


def split(P, label, Q, label_Q, seed, classes=False):
    """A draw from a pool of source rows P and one of target rows Q."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(len(P))[:SOURCE]
    order = rng.permutation(len(Q))
    n = min(TARGET, len(Q) // 2)
    t, rest = order[:n], order[n:]
    k = min(LABELLED, len(rest) // 2)
    L, E = rest[:k], rest[k : k + TEST]
    seen = np.concatenate([P[s], Q[t]])
    mean, std = seen.mean(axis=0), seen.std(axis=0)
    keep = std > 1e-9 * (1 + np.abs(mean))
    X, T, Z_L, Z_E = ((part[:, keep] - mean[keep]) / std[keep] for part in (P[s], Q[t], Q[L], Q[E]))
    size, centre = (1.0, 0.0) if classes else (label[s].std(), label[s].mean())
    y, y_L, y_E = ((part - centre) / size for part in (label[s], label_Q[L], label_Q[E]))
    return Domains(X, y, T, Z_L, y_L, Z_E, y_E)


# -- the sets ------------------------------------------------------------------------------------------


@cache
def _air():
    return load_beijing_air()


def air(seed):
    """Summer days, and 30 of winter, at six stations -> winter at six others."""
    air = _air()
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(air.station))
    there = np.isin(air.station, names[:6])
    summer = rng.permutation(np.flatnonzero(there & ~air.is_winter))[: SOURCE * 17 // 20]
    winter = rng.permutation(np.flatnonzero(there & air.is_winter))[: SOURCE * 3 // 20]
    s, t = np.concatenate([summer, winter]), np.flatnonzero(~there & air.is_winter)
    return split(air.X[s], air.y[s], air.X[t], air.y[t], seed)


@cache
def _reviews(data, name, features=400):
    with np.load(data / f"sentiment/{name}.npz") as file:
        X = sp.csr_array((file["data"], file["indices"].astype(np.int64), file["indptr"]), shape=file["shape"])
        stars, label = file["rating"].astype(float), file["label"].astype(float)
    first = distinct(X)
    return np.log1p(X[first][:, :features].toarray().astype(float)), stars[first], label[first]


def reviews(data, source, target, seed, classes=False):
    """Stars, or their sign, of one kind of goods -> another; logarithms of 1 + count of the 400 most common words."""
    (P, *of_P), (Q, *of_Q) = _reviews(data, source), _reviews(data, target)
    return split(P, of_P[int(classes)], Q, of_Q[int(classes)], seed, classes)


@cache
def _parkinsons(data):
    names, values = table(data / "parkinsons/parkinsons_updrs.csv.gz")
    voice = [k for k, name in enumerate(names) if k not in (0, 1, 2, 4, 5)]
    return values[:, voice], values[:, names.index("motor_UPDRS")], values[:, 0], values[:, 1], values[:, 2]


def parkinsons(data, by, seed):
    """Motor score from 16 voice measures and time; old patients -> young ones, or men -> women."""
    X, y, subject, age, sex = _parkinsons(data)
    side = age >= np.median(age) if by == "age" else sex == 0
    return split(X[side], y[side], X[~side], y[~side], seed)


@cache
def _school(data):
    names, values = table(data / "school/school.csv.gz")
    return values[:, [names.index(f"x{k}") for k in range(4, 28)]], values[:, -1], values[:, names.index("x4")]


def school(data, seed):
    """Exam scores; schools with few free meals -> schools with many."""
    X, y, meals = _school(data)
    poor = meals > np.quantile(meals, 0.7)
    return split(X[~poor], y[~poor], X[poor], y[poor], seed)


@cache
def _delve(data, family, member):
    with np.load(data / f"delve8/{family}8.npz") as file:
        return file[f"X_{member}"].astype(float), file[f"y_{member}"].astype(float)


def delve(data, family, source, target, seed):
    """One member of a family of simulations -> another: the labels follow another law."""
    return split(*_delve(data, family, source), *_delve(data, family, target), seed)


def biased(load, seed):
    """A sample whose inclusion leans on a random direction of the features -> the population (Cortes and Mohri)."""
    X, y = load()
    rng = np.random.default_rng(10_000 + seed)
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    along = Z @ rng.standard_normal(Z.shape[1])
    chance = 1 / (1 + np.exp(-3 * (along - along.mean()) / along.std() - 1))
    half = rng.permutation(len(X))
    pool, rest = half[: len(X) // 2], half[len(X) // 2 :]
    s = pool[rng.random(len(pool)) < chance[pool]]
    s = s[np.argsort(rng.random(len(s)))]
    return split(X[s], y[s], X[rest], y[rest], seed)


@cache
def _sarcos(data):
    with np.load(data / "sarcos/sarcos_inv_test.npz") as file:
        return file["X"].astype(float), file["Y"][:, 0].astype(float)


@cache
def _mulan(data, name, targets):
    _, values = table(data / f"mtr/{name}.csv.gz")
    return values[:, :-targets], values[:, -targets]


@cache
def _colorado(data):
    with np.load(data / "colorado_climate/colorado_monthly.npz") as file:
        warm, rain, place, height = (file[k].astype(float) for k in ("tmax", "ppt", "lon_lat", "elev_m"))
    year, month, station = np.nonzero(np.isfinite(warm) & np.isfinite(rain) & np.isfinite(height))
    angle = 2 * np.pi * month / 12
    X = np.column_stack(
        [np.sin(angle), np.cos(angle), place[station], height[station], rain[year, month, station], year]
    )
    return X, warm[year, month, station], height[station]


def colorado(data, seed):
    """Monthly temperature from season, place, height, rain and year; plains and foothills -> mountains."""
    X, y, height = _colorado(data)
    high = height > np.quantile(height, 0.7)
    return split(X[~high], y[~high], X[high], y[high], seed)


@cache
def _jura(data):
    parts = [table(data / f"jura/jura_{part}.csv.gz") for part in ("pred", "val")]
    names, values = parts[0][0], np.concatenate([part[1] for part in parts])
    metals = [names.index(k) for k in ("Xloc", "Yloc", "Co", "Cr", "Cu", "Ni", "Pb", "Zn")]
    return values[:, metals], values[:, names.index("Cd")], values[:, names.index("Xloc")]


def jura(data, seed):
    """Cadmium from six other metals and the place; west -> east."""
    X, y, west = _jura(data)
    side = west < np.median(west)
    return split(X[side], y[side], X[~side], y[~side], seed)


@cache
def _incomes():
    """Income per head of the 48 states from 1929 on; libpysal ships it. None without libpysal."""
    try:
        import libpysal
    except ImportError:
        return None
    with Path(libpysal.examples.get_path("usjoin.csv")).open() as file:
        rows = list(csv.reader(file))[1:]
    return np.log(np.array([[float(value) for value in row[2:]] for row in rows]))


def incomes(seed):
    """Growth of a state's income over five years from that of the ten before; 1939-1970 -> 1980-2004."""
    values = _incomes()
    growth = np.diff(values, axis=1)
    level = values[:, 1:] - values[:, 1:].mean(axis=0)

    def pool(years):
        X = [np.column_stack([growth[:, k - 10 : k], level[:, k - 1]]) for k in years]
        y = [growth[:, k : k + 5].mean(axis=1) for k in years]
        return np.concatenate(X), np.concatenate(y)

    return split(*pool(range(10, 41)), *pool(range(50, 75)), seed)


@cache
def _office(data, name):
    with np.load(data / f"office_caltech_surf/{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"].astype(int)
    return np.sqrt(X / np.maximum(X.sum(axis=1, keepdims=True), 1)), y


def office(data, source, target, seed):
    """Ten kinds of things in pictures of one origin -> another."""
    return split(*_office(data, source), *_office(data, target), seed, classes=True)


@cache
def _landmine(data):
    with np.load(data / "landmine/landmine.npz") as file:
        X, y, task = file["X"].astype(float), file["y"].astype(float).ravel(), file["task"].ravel()
    rng = np.random.default_rng(0)
    few = np.concatenate([np.flatnonzero(y > 0), rng.permutation(np.flatnonzero(y <= 0))[: int(2 * np.sum(y > 0))]])
    return X[few], y[few], task[few]


def landmine(data, seed):
    """Mine or not, one mine to two others; foliated ground -> bare earth."""
    X, y, task = _landmine(data)
    side = task <= 15
    return split(X[side], y[side], X[~side], y[~side], seed, classes=True)


GOODS = ("books", "dvd", "electronics", "kitchen")
OBJECTS = ("amazon", "caltech10", "dslr", "webcam")


def regressions(data):
    """All settings with a number to predict."""
    out = [Setting("air", air), Setting("air, rbf", air, "rbf", 0.03)]
    out += [Setting(f"{s} -> {t}", lambda k, s=s, t=t: reviews(data, s, t, k)) for s in GOODS for t in GOODS if s != t]
    out += [Setting(f"Parkinson, by {by}", lambda k, by=by: parkinsons(data, by, k)) for by in ("age", "sex")]
    out += [Setting("school, rich -> poor", lambda k: school(data, k))]
    out += [
        Setting(f"{family} {s} -> {t}", lambda k, f=family, s=s, t=t: delve(data, f, s, t, k), "rbf", 0.1)
        for family, s, t in (("kin", "nm", "nh"), ("puma", "nm", "fm"), ("bank", "nm", "fm"))
    ]
    out += [
        Setting("kin, biased", lambda k: biased(lambda: _delve(data, "kin", "nm"), k)),
        Setting("kin, biased, rbf", lambda k: biased(lambda: _delve(data, "kin", "nm"), k), "rbf", 0.1),
        Setting("puma, biased", lambda k: biased(lambda: _delve(data, "puma", "nm"), k)),
        Setting("bank, biased", lambda k: biased(lambda: _delve(data, "bank", "nm"), k)),
        Setting("sarcos, biased", lambda k: biased(lambda: _sarcos(data), k)),
        Setting("energy, biased", lambda k: biased(lambda: _mulan(data, "enb", 2), k)),
        Setting("Colorado, up", lambda k: colorado(data, k)),
        Setting("Colorado, up, rbf", lambda k: colorado(data, k), "rbf", 0.1),
        Setting("Jura, eastward", lambda k: jura(data, k)),
    ]
    return out if _incomes() is None else [*out, Setting("incomes, onward", incomes)]


def classifications(data):
    """All settings with classes."""
    out = [
        Setting(f"{s} -> {t}", lambda k, s=s, t=t: reviews(data, s, t, k, classes=True), classes=True)
        for s in GOODS
        for t in GOODS
        if s != t
    ]
    out += [
        Setting(f"{s} -> {t}", lambda k, s=s, t=t: office(data, s, t, k), classes=True)
        for s in OBJECTS
        for t in OBJECTS
        if s != t
    ]
    return [*out, Setting("landmine", lambda k: landmine(data, k), classes=True)]
