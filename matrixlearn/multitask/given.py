"""Rows as a user gives them: lists of matrices, one for each task, in one stack with the label of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn._array import is_sparse
from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask.checks import as_labels, as_rows, as_targets
from matrixlearn.validation import as_real_vector


def is_listed(X: Any) -> bool:
    """Whether X is a list of matrices, one for each task."""
    if isinstance(X, np.ndarray):
        return X.ndim == 3
    return isinstance(X, list | tuple) and len(X) > 0 and (is_sparse(X[0]) or getattr(X[0], "ndim", 0) == 2)


def as_names(task: Any) -> np.ndarray:
    """Labels in a vector; objects by their words."""
    labels = as_labels(task)
    if labels.dtype == object:
        labels = np.array([str(label) for label in labels.reshape(-1)]).reshape(labels.shape)
    if labels.ndim != 1:
        msg = f"task must be a vector of labels, got shape {labels.shape}"
        raise ProblemError(msg)
    return labels


def stacked(X: Any, Y: Any, names: Any, weights: Any) -> dict[str, Any]:
    """Rows, targets, labels and weights of tasks given as lists."""
    if not isinstance(Y, list | tuple | np.ndarray) or len(Y) != len(X):
        given = len(Y) if hasattr(Y, "__len__") else type(Y).__name__
        msg = f"Y must be a list of {len(X)} arrays, one for each of the tasks in X, got {given}"
        raise ProblemError(msg)
    names = np.arange(len(X)) if names is None else as_names(names)
    if len(names) != len(X) or len(set(names.tolist())) < len(X):
        msg = f"task must name each of the {len(X)} tasks in X once, got {names.tolist()}"
        raise ProblemError(msg)
    blocks, targets = [], []
    for i, (rows, y) in enumerate(zip(X, Y, strict=True)):
        if getattr(rows, "shape", (1,))[0] == 0:
            msg = f"X[{i}] (task {names[i]}) has no rows; leave the task out, or give it at least one"
            raise ProblemError(msg)
        blocks.append(as_rows(f"X[{i}]", rows))
        targets.append(as_targets(f"Y[{i}]", y))
        if targets[i].shape[1] != 1:
            msg = f"Y[{i}] must be a vector, the targets of one task, got shape {targets[i].shape}"
            raise ProblemError(msg)
        if blocks[i].shape[0] != len(targets[i]):
            msg = f"X[{i}] and Y[{i}] must have one row each, got {blocks[i].shape[0]} and {len(targets[i])}"
            raise ProblemError(msg)
        if blocks[i].shape[1] != blocks[0].shape[1]:
            widths = f"X[0] has {blocks[0].shape[1]} and X[{i}] {blocks[i].shape[1]}"
            msg = f"all tasks must have the same features, but {widths}"
            raise ProblemError(msg)
    if any(is_sparse(block) for block in blocks):
        import scipy.sparse as sp

        rows = sp.csr_array(sp.vstack(blocks))
    else:
        rows = np.vstack(blocks)
    label = np.repeat(names, [len(y) for y in targets])
    if weights is not None:
        if not isinstance(weights, list | tuple) or len(weights) != len(X):
            msg = f"sample_weight must be a list of {len(X)} arrays like X and Y, one for each task"
            raise ProblemError(msg)
        of_tasks = zip(weights, targets, strict=True)
        weights = np.concatenate(
            [as_real_vector(f"sample_weight[{i}]", w, len(y)) for i, (w, y) in enumerate(of_tasks)]
        )
    return {"X": rows, "Y": np.vstack(targets), "task": label, "sample_weight": weights}
