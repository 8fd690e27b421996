"""FETR for classes: the logistic loss in the place of the squared one, all else as it was.

min over W, S1, S2 of    sum_k log(1 + exp(-y_k x_k . w_i)) + eta tr(S1 W S2 W^T) - eta (m log det S1 + d log det S2)
subject to    l I <= S1, S2 <= u I,      k over the rows of every task i
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import as_signs
from matrixlearn_fetr.logistic import LogisticLoss, OwnRows, SharedRows
from matrixlearn_fetr.problem import FETR


@dataclass(frozen=True, eq=False)
class LogisticFETR(FETR):
    """min over W and lower I <= S1, S2 <= upper I of
    sum_i sum_j log(1 + exp(-y_ij x_ij . w_i)) + eta tr(S1 W S2 W^T) - eta (m log det S1 + d log det S2).

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d); or list of m such
        Instances, shared by all tasks or each task's own, as in `FETR`.
    Y : array, shape (n, m) or (n,); or list of m arrays, shapes (n_i,)
        Labels, -1 and 1 or 0 and 1: a column for each task where the instances are shared. Several classes are as
        many tasks, one against the rest.
    eta : float
        Weight of the prior, > 0.
    lower, upper : float
        0 < lower <= upper, the bounds of the eigenvalues of S1 and S2.
    mean : {"zero", "shared"}
        Around what the columns of W scatter.
    task : array, optional
        The label of each row's task, shape (n,), or names of the tasks, shape (m,).
    gram, cross, square : None
        Of no use here, and refused.
    sample_weight : array, shape (n,); or list of m arrays, optional
        What each row's loss counts, as in `FETR`.

    Notes
    -----
    The rows are needed in every step, so that there are no Gram matrices and no batches to give in their place. For a
    shared mean the classes should not be separable by one w0: it has no prior, and would run to infinity.

    Examples
    --------
    >>> import numpy as np
    >>> import matrixlearn as ml
    >>> from matrixlearn_fetr import LogisticFETR
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5]])
    >>> Y = np.array([[1, 1], [0, 0], [1, 0], [0, 0]])
    >>> str(ml.solve(LogisticFETR(X, Y), tol=1e-6).status)
    'stationary'
    """

    name = "logistic-fetr"

    def __post_init__(self) -> None:
        if self.X is None:
            msg = "X and Y must be given: a logistic loss is not known by gram, cross and square"
            raise ProblemError(msg)
        super().__post_init__()
        object.__setattr__(self, "Y", as_signs("Y", self.Y))

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[Any, Any]], **options: Any) -> FETR:
        msg = "a logistic loss needs all rows in every step: give X and Y whole, not in batches"
        raise ProblemError(msg)

    @cached_property
    def loss(self) -> LogisticLoss:
        """The loss of the weights."""
        weights = np.ones(len(self.Y)) if self.sample_weight is None else self.sample_weight
        if not self.has_own_rows:
            return LogisticLoss(SharedRows(self.X, self.Y.shape[1]), self.Y, weights[:, None])
        place = {label: i for i, label in enumerate(self.tasks.tolist())}
        code = np.array([place[label] for label in self.task.tolist()])
        return LogisticLoss(OwnRows(self.X, code, len(place)), self.Y[:, 0], weights)

    @classmethod
    def random(cls, rng: np.random.Generator) -> LogisticFETR:
        """As for `FETR`, with the labels' noise that keeps a mean from infinity."""
        d, m, n = (int(rng.integers(1, 5)) for _ in range(3))
        n = 4 * (n + d)
        options = {
            "eta": 10.0 ** rng.uniform(-1, 1),
            "lower": 10.0 ** rng.uniform(-2, 0),
            "upper": 10.0 ** rng.uniform(0, 2),
            "mean": str(rng.choice(["zero", "shared"])),
        }
        X = rng.standard_normal((n * m, d))
        W = rng.standard_normal((d, 1)) + rng.standard_normal((d, m))
        if rng.random() < 0.5:
            return cls(X, np.where(X @ W + rng.logistic(size=(n * m, m)) > 0, 1.0, -1.0), **options)
        task = np.repeat(np.arange(m), n)
        margin = np.sum(X * W.T[task], axis=1) + rng.logistic(size=n * m)
        return cls(X, np.where(margin > 0, 1.0, 0.0), task=task, **options)
