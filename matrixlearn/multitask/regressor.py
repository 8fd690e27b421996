"""Linear models of several tasks in scikit-learn's form: labels, intercepts, predictions.

    predict(x, task i) = w_i . x + b_i

`fit` takes targets of shape (n, m), all m tasks seeing every row of X, or one target a row with ``task``, the
task that the row belongs to. A subclass answers with W, given what the squared loss needs of the data. scikit-learn
is imported here, and by the modules that import this one.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from matrixlearn._array import is_sparse
from matrixlearn.exceptions import UnseenTaskWarning
from matrixlearn.multitask.checks import as_labels, known_targets
from matrixlearn.multitask.moments import Moments
from matrixlearn.multitask.rows import Rows


class TaskLabels:
    """The labels of tasks, and their numbers in ascending order of the labels."""

    tasks_: np.ndarray | None
    """Labels of the tasks in ascending order; None where they are the columns of y."""
    coef_: np.ndarray
    """Weights, one row a task, (m, d)."""
    intercept_: Any
    """Intercepts, (m,), or 0.0."""
    task_column: int | str | None = None
    """The column of X that holds the task of each row, by place or by name; None where X holds features only."""

    def _apart(self, X: Any, task: Any) -> tuple[Any, Any]:
        """X without the column of tasks, and that column; both as they are where there is none."""
        if self.task_column is None:
            return X, task
        if task is not None:
            msg = f"task was given beside task_column = {self.task_column!r}, which takes it from X: leave one out"
            raise ValueError(msg)
        return without_column(X, self.task_column)

    def _numbered(self, Y: np.ndarray, task: Any, counts: np.ndarray) -> np.ndarray | None:
        """The numbers of the tasks; ``tasks_`` keeps their labels, of those with a row that counts."""
        self.tasks_ = None
        if task is None:
            return None
        task = _label_of_rows(task, len(Y))
        if Y.ndim != 1:
            msg = f"with task, y must hold one target a row, got shape {Y.shape}; targets of shared rows need no task"
            raise ValueError(msg)
        self.tasks_ = np.unique(task[counts])
        return place_in(self.tasks_, task)

    def _rows(
        self, X: Any, Y: np.ndarray, number: np.ndarray | None, known: np.ndarray | None, weight: np.ndarray | None
    ) -> Rows:
        """The rows of the tasks of these numbers; or one for each known target of shared instances."""
        if known is not None:
            return Rows.of_known(X, Y, known, weight)
        return Rows(X, Y, number, Y.shape[1] if self.tasks_ is None else len(self.tasks_), weight)

    def _known(self, X: np.ndarray, task: Any) -> np.ndarray | None:
        """The numbers of tasks that ``fit`` has seen, of the rows to be predicted; None where there are no labels."""
        if self.tasks_ is None:
            if task is not None:
                msg = "task was given, but the model was fitted without one: it predicts all targets of every row"
                raise ValueError(msg)
            return None
        if task is None:
            msg = "task is missing: the model was fitted with the task of each row"
            raise ValueError(msg)
        task = _label_of_rows(task, X.shape[0])
        seen = np.isin(task, self.tasks_)
        if not np.all(seen):
            msg = f"task has labels that fit did not see: {np.unique(task[~seen])[:5].tolist()}"
            if self._common is None:
                raise ValueError(msg)
            warnings.warn(f"{msg}; they are predicted by what all tasks share", UnseenTaskWarning, stacklevel=3)
        return np.where(seen, np.searchsorted(self.tasks_, task), len(self.tasks_))

    @property
    def _common(self) -> tuple[np.ndarray, float] | None:
        """Weights (d,) and intercept that predict tasks which ``fit`` did not see; None where none are known."""
        return None

    def _by_task(self, X: Any, number: np.ndarray) -> np.ndarray:
        """w_i . x + b_i for the task i of each row; the last number stands for tasks unseen."""
        W, intercept = self.coef_.T, np.asarray(self.intercept_)
        if self._common is not None:
            w, b = self._common
            W, intercept = np.column_stack([W, w]), np.append(intercept, b)
        return Rows(X, np.empty(0), number, W.shape[1]).predicted(W, intercept)


class MultitaskRegressor(TaskLabels, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """w_i . x + b_i for task i; see the subclasses."""

    fit_intercept: bool
    """Whether each task has an intercept."""

    def fit(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> MultitaskRegressor:
        """Fit all tasks together.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Sparse rows stay sparse; the Gram matrices that are formed of them are dense, (d, d) a task.
        y : array-like, shape (n, m) or (n,)
            The targets of m tasks that share X, NaN where one is missing: the task then learns from its other rows,
            as if it had rows of its own. Or, with ``task``, one target a row.
        task : array-like, shape (n,), optional
            The task of each row: numbers or strings. What hands over X and y alone, such as ``cross_val_predict`` and
            scorers, finds it in the column ``task_column`` of X, where the estimator has that parameter.
        sample_weight : array-like, shape (n,), optional
            What each row's loss counts, >= 0: a row of weight 2 is one that is there twice, a row of weight 0 is not
            there.

        Returns
        -------
        self
        """
        self._check()
        X, task = self._apart(X, task)
        y, known = filled(y)
        X, Y = validate_data(self, X, y, accept_sparse="csr", y_numeric=True, multi_output=True, dtype=np.float64)
        Y = np.asarray(Y, dtype=np.float64)
        weight = checked_weights(sample_weight, X)
        number = self._numbered(Y, task, np.ones(len(Y), bool) if weight is None else weight > 0)
        one = number is None and Y.ndim == 1
        if number is None:
            Y = Y.reshape(len(Y), -1)
        W, intercept = self._fitted(self._rows(X, Y, number, known, weight))
        self.coef_ = W[:, 0] if one else W.T
        self.intercept_ = float(intercept[0]) if one else intercept
        return self

    @abstractmethod
    def _fitted(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """W, shape (d, m), and intercepts, shape (m,); attributes of the method are set here."""

    def _check(self) -> None:
        """Raise ValueError for unusable parameters."""

    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """w_i . x + b_i.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,), optional
            The task of each row, or of all, where ``fit`` was given one. One that it did not see is predicted around a
            shared mean by that mean and the mean intercept.

        Returns
        -------
        ndarray, shape (n, m) or (n,)
            All targets of shared rows; or that of each row's task.
        """
        check_is_fitted(self)
        X, task = self._apart(X, task)
        X = validate_data(self, X, accept_sparse="csr", reset=False, dtype=np.float64)
        number = self._known(X, task)
        if number is None:
            return X @ self.coef_.T + self.intercept_
        return self._by_task(X, number)

    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """R^2 of `predict`, averaged over targets that share X; over all rows together where rows have tasks."""
        return float(r2_score(y, self.predict(X, task), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class MomentsRegressor(MultitaskRegressor):
    """One that needs no more of the rows than their moments."""

    def _fitted(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        if not self.fit_intercept:
            return self._weights(rows.moments()), np.zeros(rows.tasks)
        W = self._weights(rows.centred_moments())
        return W, rows.centre.intercept(W)

    @abstractmethod
    def _weights(self, moments: Moments) -> np.ndarray:
        """W, shape (d, m), without intercepts; attributes of the method are set here."""


def without_column(X: Any, column: int | str) -> tuple[Any, np.ndarray]:
    """(X without a column, the column), by place, or by name in a data frame.

    Raises
    ------
    ValueError
        Where X has no such column.
    """
    if isinstance(column, str):
        if column not in getattr(X, "columns", ()):
            msg = f"X has no column {column!r}, the task_column: pass a data frame that has, or the place of the column"
            raise ValueError(msg)
        return X.drop(columns=[column]), np.asarray(X[column])
    width = np.shape(X)[1] if np.ndim(X) == 2 or is_sparse(X) else 0
    if not -width <= column < width:
        msg = f"task_column is {column}, but X has {width} columns"
        raise ValueError(msg)
    rest = [j for j in range(width) if j != column % width]
    if hasattr(X, "iloc"):
        return X.iloc[:, rest], np.asarray(X.iloc[:, column])
    if is_sparse(X):
        rows = X.tocsc()
        return rows[:, rest].tocsr(), rows[:, [column % width]].toarray()[:, 0]
    X = np.asarray(X)
    return np.ascontiguousarray(X[:, rest]), X[:, column]


def filled(y: Any) -> tuple[Any, np.ndarray | None]:
    """Targets of shared rows with 0 in the place of NaN, and where they are known; y and None, where all of it is."""
    known = known_targets(y)
    if known is None:
        return y, None
    lacking = np.flatnonzero(~known.any(axis=0))
    if len(lacking):
        msg = f"y holds nothing but NaN for task {lacking[0]}; each column needs a target, or is to be left out"
        raise ValueError(msg)
    return np.where(known, np.asarray(y, dtype=float), 0.0), known


def _label_of_rows(task: Any, rows: int) -> np.ndarray:
    """A label for each row, shape (n,); one label alone is that of all rows."""
    labels = as_labels(task)
    if labels.ndim == 0:
        labels = np.full(rows, labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (rows,):
        msg = f"task must hold one label for each of the {rows} rows, got shape {labels.shape}"
        raise ValueError(msg)
    try:
        np.unique(labels)
    except TypeError as error:
        msg = f"task must hold labels of one kind, which have an order ({error}); make all of them strings"
        raise ValueError(msg) from error
    return labels


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """A weight for each row of X, shape (n,); None where all count 1."""
    if sample_weight is None:
        return None
    if not np.any(np.asarray(sample_weight) != 0):
        msg = "sample_weight is zero for every row; at least one row must count"
        raise ValueError(msg)
    return np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))


def place_in(labels: np.ndarray, of: np.ndarray) -> np.ndarray:
    """The place of each in ascending labels; any place for one that is not there, the last at the most."""
    return np.minimum(np.searchsorted(labels, of), len(labels) - 1)
