"""Linear classifiers of several tasks in scikit-learn's form: tasks with rows of their own, or classes as tasks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from matrixlearn.multitask.checks import dense_where_small
from matrixlearn.multitask.regressor import TaskLabels, checked_weights, filled, place_in
from matrixlearn.multitask.rows import Rows


class MultitaskClassifier(TaskLabels, ClassifierMixin, BaseEstimator):
    """The tasks are those of the rows, with two classes; or the columns of an indicator matrix (several labels a row);
    or the classes, each against the rest.
    """

    def fit(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> MultitaskClassifier:
        """Fit all tasks together.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
        y : array-like, shape (n,) or (n, m)
            Classes; or an indicator matrix, 1 where a row has the label, NaN where it is not known: the label then
            learns from its other rows.
        task : array-like, shape (n,), optional
            The task of each row; then y holds two classes.
        sample_weight : array-like, shape (n,), optional
            What each row's loss counts, as in `MultitaskRegressor`.

        Returns
        -------
        self
        """
        self._check()
        X, task = self._apart(X, task)
        y, known = filled(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", multi_output=True, dtype=np.float64)
        X = dense_where_small(X)
        check_classification_targets(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        weight = checked_weights(sample_weight, X)
        counts = np.ones(len(y), bool) if weight is None else weight > 0
        number = self._numbered(y, task, counts)
        signs = self._signs(y, counts)
        if self.tasks_ is None:
            signs = signs.reshape(len(signs), -1)
        W, self.intercept_ = self._fitted(self._rows(X, signs, number, known, weight))
        self.coef_ = W.T
        return self

    @abstractmethod
    def _fitted(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """W, shape (d, m), and intercepts, shape (m,), for signs -1 and 1 in the place of targets."""

    def _check(self) -> None:
        """Raise ValueError for unusable parameters."""

    def _signs(self, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """-1 and 1, one column a task, or one a row; sets ``classes_``, those of rows that count."""
        if y.ndim == 2:
            if type_of_target(y) != "multilabel-indicator":
                msg = (
                    "y of shape (n, m) must be an indicator matrix of 0 and 1; one column of classes is y of shape (n,)"
                )
                raise ValueError(msg)
            self.classes_ = np.arange(y.shape[1])
            self._one_label = False
            return np.where(y > 0, 1.0, -1.0)
        self._one_label = True
        self.classes_ = np.unique(y[counts])
        code = place_in(self.classes_, y)
        if len(self.classes_) < 2:
            msg = f"y must hold two classes or more, got the one class {self.classes_.tolist()[0]!r}"
            raise ValueError(msg)
        if len(self.classes_) == 2:
            return np.where(code == 1, 1.0, -1.0)
        if self.tasks_ is not None:
            msg = f"with task, y must hold two classes, got {len(self.classes_)}"
            raise ValueError(msg)
        return np.where(code[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def decision_function(self, X: Any, task: Any = None) -> np.ndarray:
        """w_i . x + b_i, positive for the second class or for the label: shape (n,), or (n, m) for m tasks. Around a
        shared mean, which holds an intercept too, a task that ``fit`` did not see is predicted by that mean.
        """
        check_is_fitted(self)
        X, task = self._apart(X, task)
        X = validate_data(self, X, accept_sparse="csr", reset=False, dtype=np.float64)
        number = self._known(X, task)
        if number is not None:
            return self._by_task(X, number)
        margin = X @ self.coef_.T + self.intercept_
        return margin[:, 0] if margin.shape[1] == 1 else margin

    def predict_proba(self, X: Any, task: Any = None) -> np.ndarray:
        """Probabilities of the classes, shape (n, n_classes), those of one against the rest scaled to sum to one;
        or of each label of an indicator matrix.
        """
        margin = self.decision_function(X, task)
        if margin.ndim == 1:
            return np.column_stack([expit(-margin), expit(margin)])
        chance = expit(margin)
        return chance / chance.sum(axis=1, keepdims=True) if self._one_label else chance

    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """The likeliest class, or the indicator matrix of likely labels."""
        margin = self.decision_function(X, task)
        if not self._one_label:
            return (margin > 0).astype(int)
        code = (margin > 0).astype(int) if margin.ndim == 1 else np.argmax(margin, axis=1)
        return self.classes_[code]

    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X, task), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags
