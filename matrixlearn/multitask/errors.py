"""How predictions of rows that were held out are judged: each task counts the same."""

from __future__ import annotations

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.multitask.rows import Rows


def normalized_error(held: Rows, predicted: np.ndarray, of: Rows, prior: float = 0.0) -> float:
    """Mean over tasks of the mean squared error over the task's variance in ``of``; 1 stands for a variance of 0.

    The variance within all tasks counts as ``prior`` rows more of each: two rows that are alike must not decide.
    """
    mine = slice(None) if of.task is None else of.task
    variance = of.by_task((of.Y - of.centre.y[mine]) ** 2)
    if prior > 0:
        count = of.count_by_task
        variance = (count * variance + prior * (count @ variance) / count.sum()) / (count + prior)
    known = variance > (EPS * len(of)) ** 2 * of.by_task(of.Y**2)  # more than the rounding of a mean
    error = held.by_task((held.Y - predicted) ** 2) / np.where(known, variance, 1.0)
    return float(np.mean(error[held.is_there]))


def mean_log_loss(held: Rows, predicted: np.ndarray) -> float:
    """Mean over tasks of the mean logarithm of 1 + exp(-y p) for labels y of -1 and 1."""
    return float(np.mean(held.by_task(np.logaddexp(0.0, -held.Y * predicted))[held.is_there]))
