"""School and SARCOS, as their public sources have them or as tables."""

import gzip
from pathlib import Path

import numpy as np

from benchmarks._data import found

SCHOOL = "MALSAR, https://github.com/jiayuzhou/MALSAR, data/school.mat"
SARCOS = "https://gaussianprocess.org/gpml/data, sarcos_inv.mat and sarcos_inv_test.mat"


def school(place: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(27 features without the bias, scores, numbers of the schools from 0)."""
    path = found(place, "school/school.csv.gz", "school.csv.gz", "school.mat", "school/school.mat", source=SCHOOL)
    if path.suffix == ".mat":
        from scipy.io import loadmat

        cells = loadmat(path)
        blocks, scores = cells["X"].ravel(), cells["Y"].ravel()
        task = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        return np.concatenate(blocks)[:, :27].astype(float), np.concatenate(scores).ravel().astype(float), task
    names, values = table(path)
    features = values[:, [names.index(f"x{k}") for k in range(1, 28)]]
    return features, values[:, -1], values[:, 0].astype(int) - 1


def sarcos(place: Path) -> tuple[np.ndarray, np.ndarray]:
    """(21 features, 7 torques) of the official test rows."""
    test = ("sarcos/sarcos_inv_test.npz", "sarcos_inv_test.npz", "sarcos_inv_test.mat", "sarcos/sarcos_inv_test.mat")
    path = found(place, *test, source=SARCOS)
    if path.suffix == ".npz":
        with np.load(path) as file:
            return file["X"], file["Y"]
    return _columns(path, "sarcos_inv_test")


def sarcos_training(place: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """The official training rows; None where the folder has them not."""
    folder = place.parent if place.is_file() else place
    for path in (folder / "sarcos_inv.mat", folder / "sarcos" / "sarcos_inv.mat"):
        if path.is_file():
            return _columns(path, "sarcos_inv")
    return None


def _columns(path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import loadmat

    rows = loadmat(path)[name].astype(float)
    return rows[:, :21], rows[:, 21:]


def table(path: Path) -> tuple[list[str], np.ndarray]:
    """A csv.gz with a header as (names, array); values that are no numbers become the rank of their names."""
    with gzip.open(path, "rt") as file:
        names = file.readline().strip().split(",")
        columns = np.loadtxt(file, delimiter=",", dtype=str, unpack=True)
    return names, np.column_stack([_numbers(column) for column in columns])


def _numbers(column: np.ndarray) -> np.ndarray:
    try:
        return column.astype(float)
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(float)
