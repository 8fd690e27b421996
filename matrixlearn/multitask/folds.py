"""Folds within tasks: each task keeps rows to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrixlearn.multitask.rows import Rows


def splits(rows: Rows, cv: Any, random_state: Any) -> Sequence[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows: a number of folds, dealt at random within each task; or what scikit-learn accepts, its
    groups being the tasks.

    Raises
    ------
    ValueError
        Where a task is left without training rows, or the folds are more than the rows.
    """
    from sklearn.model_selection import check_cv
    from sklearn.utils import check_random_state

    if isinstance(cv, int | np.integer):
        fold = dealt(rows, int(cv), check_random_state(random_state))
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(cv) if np.any(fold == k)]
    given = list(check_cv(cv).split(rows.X, rows.Y, rows.task))
    for train, _ in given:
        if not np.all(rows.take(np.arange(len(rows))[train]).is_there):
            msg = "cv leaves a task without training rows; a number of folds keeps some of each"
            raise ValueError(msg)
    return [(train, test) for train, test in given if np.any(rows.counts[test] > 0)]


def dealt(rows: Rows, folds: int, rng: np.random.RandomState) -> np.ndarray:
    """The fold of each row, shape (n,): dealt in turn within each task; -1, never held out, for a task's only row and
    for one that does not count.
    """
    counts = rows.counts > 0
    n = np.count_nonzero(counts)
    if not 2 <= folds <= n:
        msg = f"cv must be a number of folds from 2 to n_samples = {n}, got {folds}"
        raise ValueError(msg)
    fold = np.full(len(rows), -1)
    turn = 0
    for all_of_task in [np.arange(len(rows))] if rows.task is None else rows.of_task:
        of_task = all_of_task[counts[all_of_task]]
        if len(of_task) > 1:
            fold[rng.permutation(of_task)] = (turn + np.arange(len(of_task))) % folds
            turn += len(of_task)
    if np.all(fold < 0):
        msg = "cross-validation needs a task of two rows or more; or give the parameters as they are"
        raise ValueError(msg)
    return fold
