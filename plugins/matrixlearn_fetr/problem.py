"""FETR: least squares for several tasks, with the relations of features and of tasks learned.

    min over W, S1, S2 of    sum_i ||y_i - X_i w_i||^2 + eta tr(S1 W S2 W^T) - eta (m log det S1 + d log det S2)
    subject to    l I <= S1, S2 <= u I

What does not depend on the loss is in `relations`; here are the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Local, Machines, Shards
from matrixlearn.multitask import (
    Moments,
    as_names,
    as_rows,
    as_targets,
    is_listed,
    is_sparse,
    known_targets,
    require_rows,
    stacked,
)
from matrixlearn.validation import as_array, as_hermitian, as_number, as_weights, require_real
from matrixlearn_fetr.means import MEANS
from matrixlearn_fetr.relations import RelationProblem, WeightLoss
from matrixlearn_fetr.weights import SquaredLoss

HERE: Machines = Local()


@dataclass(frozen=True, eq=False)
class FETR(RelationProblem):
    """min over W and lower I <= S1, S2 <= upper I of
    sum_i ||y_i - X_i w_i||^2 + eta tr(S1 W S2 W^T) - eta (m log det S1 + d log det S2).

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d); or list of m such
        Instances, shared by all tasks or each task's own. Add a column of ones for an intercept. Stays sparse until
        its Gram matrix is formed.
    Y : array, shape (n, m) or (n,); or list of m arrays, shapes (n_i,)
        Targets; a column for each task where the instances are shared (`with_missing`, where some are missing).
    eta : float
        Weight of the prior, > 0.
    lower, upper : float
        0 < lower <= upper, the bounds l and u of the eigenvalues of S1 and S2. Where they are equal both matrices
        are lower I: ridge regression.
    mean : {"zero", "shared"}
        Around what the columns of W scatter: 0, or a mean w0 learned with them.
    task : array, shape (n,), optional
        With X (n, d) and Y (n,): the label, a string or a number, of each row's task. Tasks are in the order in
        which they first appear. Otherwise, shape (m,): names of the tasks.
    gram, cross, square : arrays, shapes (d, d) or (m, d, d), (d, m), (m,), optional
        In place of X and Y: X^T X, X^T Y and ||y_i||^2 (`from_batches` for rows that do not fit memory).
    sample_weight : array, shape (n,); or list of m arrays, shapes (n_i,), optional
        What each row's loss counts, >= 0: a row of weight 2 is one that is there twice.

    Notes
    -----
    ``matrix`` of a solution is W, shape (d, m), or [W, w0], shape (d, m + 1), for a shared mean; `estimate` gives it
    with S1 and S2. The status is "stationary": F is not convex, and another start may end lower. The first point
    is the ridge solution with S1 = S2 = I (as near as the bounds allow).

    ``value`` is this less `floor`, the residual of least squares and the -2 eta d m log(upper) that both log-dets have
    at W = 0: what prior and fit cost above the least they can. It is never negative, and gaps are relative to it.
    Directions of W that neither the data nor the prior determine (features that are constant within a task) may
    still be far from where a smaller ``tol`` takes them; what the weights predict is not.

    Where features are collinear, a shared mean is not unique; the one taken is that of least S1-norm.

    Engines: ``joint`` (default), ``pruning`` (lower values, of smaller rank), ``alternating`` (as published),
    ``gradient`` and ``flip-flop`` (its rivals), and ``proximal-gradient``, the gradient method that keeps up with them.

    References
    ----------
    Zhao, Stretcu, Smola and Gordon, "Efficient multitask feature and relationship learning" (UAI 2019).
    """

    X: Any = None
    Y: Any = None
    eta: float = 1.0
    lower: float = 1e-3
    upper: float = 1e3
    mean: str = "zero"
    task: Any = None
    gram: Any = None
    cross: Any = None
    square: Any = None
    sample_weight: Any = None

    name = "fetr"
    objective = "minimize"

    def __post_init__(self) -> None:
        self._check_prior()

        def put(**values: Any) -> None:
            for name, value in values.items():
                object.__setattr__(self, name, value)

        if (self.X is None) == (self.gram is None):
            msg = "X and Y, or gram, cross and square must be given, and not both"
            raise ProblemError(msg)
        if self.X is None:
            put(**_checked_moments(self.gram, self.cross, self.square))
        elif is_listed(self.X):
            put(**stacked(self.X, self.Y, self.task, self.sample_weight))
        else:
            X, Y = as_rows("X", self.X), as_targets("Y", self.Y)
            require_rows(X, Y)
            put(X=X, Y=Y)
        if self.sample_weight is not None:
            if self.X is None:
                msg = "sample_weight needs X and Y; gram, cross and square are of rows that have been weighted"
                raise ProblemError(msg)
            put(sample_weight=as_weights("sample_weight", self.sample_weight, len(self.Y)))
        if self.task is not None:
            put(task=as_names(self.task))
        wanted = len(self.Y) if self.has_own_rows else self.moments.shape[1]
        if self.task is not None and len(self.task) != wanted:
            msg = f"task must have a label for each of the {wanted} rows or tasks, got {len(self.task)}"
            raise ProblemError(msg)
        if self.task is not None and not self.has_own_rows and len(set(self.task.tolist())) < wanted:
            msg = f"task must name each of the {wanted} tasks once, got {self.task.tolist()}"
            raise ProblemError(msg)

    def _check_prior(self) -> None:
        for name in ("eta", "lower", "upper"):
            object.__setattr__(self, name, as_number(name, getattr(self, name)))
        if not 0 < self.eta < np.inf:
            msg = f"eta must be positive and finite, got {self.eta:g}; without a prior there is nothing to learn about"
            raise ProblemError(msg)
        if not 0 < self.lower < np.inf:
            msg = f"lower must be positive and finite, got {self.lower:g}"
            raise ProblemError(msg)
        if not self.lower <= self.upper < np.inf:
            msg = f"upper must be finite and at least lower = {self.lower:g}, got {self.upper:g}"
            raise ProblemError(msg)
        for name in ("eta", "lower", "upper"):
            as_array(name, [getattr(self, name)])  # within the range of all numbers
        if self.mean not in MEANS:
            msg = f"mean must be one of {sorted(MEANS)}, got {self.mean!r}"
            raise ProblemError(msg)

    def with_prior(self, **options: Any) -> FETR:
        """The same data with another prior: what has been computed of them is not computed again.

        Parameters
        ----------
        options :
            ``eta``, ``lower``, ``upper``, ``mean``.
        """
        other = copy(self)
        for name in ("scale", "floor"):  # what has been computed of the prior
            vars(other).pop(name, None)
        for name, value in options.items():
            if name not in ("eta", "lower", "upper", "mean"):
                msg = f"with_prior takes eta, lower, upper and mean, got {name!r}"
                raise ProblemError(msg)
            object.__setattr__(other, name, value)
        other._check_prior()
        return other

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[Any, Any]], **options: Any) -> FETR:
        """The problem of rows that arrive in blocks (X, Y), each read once: for n beyond memory.

        Parameters
        ----------
        batches : iterable of (X, Y)
            Shapes (n_k, d) and (n_k, m); slices of a memory map, a generator.
        options :
            ``eta``, ``lower``, ``upper``, ``mean``, ``task``.
        """
        moments = Moments.of_batches(batches)
        return cls(gram=moments.gram, cross=moments.cross, square=moments.square, **options)

    @classmethod
    def from_shards(cls, shards: Shards, machines: Machines = HERE, **options: Any) -> FETR:
        """The problem of tasks whose rows stay on machines: moments come once, d (d + 3) / 2 + 1 numbers a task.

        Parameters
        ----------
        shards : Shards
            The rows and targets of each task; its names are the tasks. What rows count there, they count here.
        machines : Machines
            Where they are kept; let go as soon as the moments are here.
        options :
            ``eta``, ``lower``, ``upper``, ``mean``.
        """
        held = machines.hold(shards)
        try:
            moments = Moments.of_machines(held)
        finally:
            held.rest()
        options = {"gram": moments.gram, "cross": moments.cross, "square": moments.square} | options
        return cls(task=[str(name) for name in shards.ids], **options)

    @classmethod
    def with_missing(cls, X: Any, Y: Any, **options: Any) -> FETR:
        """The problem of shared instances X (n, d) and targets Y (n, m) that are NaN where one is missing.

        Each task has the rows that it has targets for, as if they had been given as lists.

        Parameters
        ----------
        X, Y :
            As above; every task needs a target.
        options :
            ``eta``, ``lower``, ``upper``, ``mean``, ``sample_weight``; ``task``, the names of the m tasks.
        """
        known = known_targets(Y)
        if known is None:
            return cls(X, Y, **options)
        X, Y = as_rows("X", X), np.asarray(Y, dtype=float)
        require_rows(X, Y)
        if options.get("sample_weight") is not None:
            weights = as_weights("sample_weight", options["sample_weight"], len(Y))
            options["sample_weight"] = [weights[k] for k in known.T]
        return cls([X[k] for k in known.T], [y[k] for y, k in zip(Y.T, known.T, strict=True)], **options)

    # -- the data, as engines use them --------------------------------------------------------------

    @property
    def has_own_rows(self) -> bool:
        """Whether each row is of one task only."""
        return self.X is not None and self.task is not None and self.Y.shape[1] == 1 and len(self.task) > 1

    @cached_property
    def tasks(self) -> np.ndarray:
        """The names of the tasks, (m,): labels in the order of their first appearance, or 0, ..., m - 1."""
        if self.task is None:
            return np.arange(self.moments.shape[1])
        labels, first = np.unique(self.task, return_index=True)
        return np.asarray(labels[np.argsort(first, kind="stable")])

    @cached_property
    def moments(self) -> Moments:
        """Gram matrices and the like, computed once."""
        if self.X is None:
            return Moments(self.gram, self.cross, self.square)
        if not self.has_own_rows:
            return Moments.of_rows(self.X, self.Y, None, self.Y.shape[1], self.sample_weight)
        _, first, code = np.unique(self.task, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first, kind="stable"))
        return Moments.of_rows(self.X, self.Y[:, 0], place[code], len(first), self.sample_weight)

    @cached_property
    def loss(self) -> WeightLoss:
        return SquaredLoss(self.moments)

    def parameters(self) -> Mapping[str, Any]:
        given = dict(super().parameters())
        if is_sparse(self.X):
            given["X"] = self.X.toarray()
        if self.has_own_rows:
            given["Y"] = self.Y[:, 0]
        return given

    # -- instances for tests ------------------------------------------------------------------------

    @classmethod
    def random(cls, rng: np.random.Generator) -> FETR:
        d, m, n = (int(rng.integers(1, 6)) for _ in range(3))
        X = rng.standard_normal((n * m, d)) * 10.0 ** rng.uniform(-1, 1)
        W = rng.standard_normal((d, 1)) + rng.standard_normal((d, 1)) * rng.standard_normal(m)
        noise = 10.0 ** rng.uniform(-2, 0)
        options = {
            "eta": 10.0 ** rng.uniform(-2, 2),
            "lower": 10.0 ** rng.uniform(-2, 0),
            "upper": 10.0 ** rng.uniform(0, 2),
            "mean": str(rng.choice(["zero", "shared"])),
        }
        if rng.random() < 0.5:
            return cls(X, X @ W + noise * rng.standard_normal((n * m, m)), **options)
        task = np.repeat(np.arange(m), n)
        y = np.sum(X * W.T[task], axis=1) + noise * rng.standard_normal(n * m)
        return cls(X, y, task=task, **options)


def _checked_moments(gram: Any, cross: Any, square: Any) -> dict[str, np.ndarray]:
    """Moments that can be those of some data."""
    gram, cross, square = (
        np.asarray(require_real(name, as_array(name, value)))
        for name, value in (("gram", gram), ("cross", cross), ("square", square))
    )
    if cross.ndim != 2:
        msg = f"cross must have shape (features, tasks), got {cross.shape}"
        raise ProblemError(msg)
    d, m = cross.shape
    if gram.shape not in ((d, d), (m, d, d)):
        msg = f"gram must have shape {(d, d)} or {(m, d, d)}, got {gram.shape}"
        raise ProblemError(msg)
    for i, block in enumerate(gram.reshape(-1, d, d)):
        as_hermitian("gram" if gram.ndim == 2 else f"gram[{i}]", block)
    if square.shape != (m,) or np.any(square < 0):
        msg = f"square must hold {m} numbers >= 0, got shape {square.shape}"
        raise ProblemError(msg)
    return {"gram": gram, "cross": cross, "square": square}
