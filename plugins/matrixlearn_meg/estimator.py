"""Regression by a density matrix in scikit-learn's form: fit is batch, partial_fit is online.

    predict(x) = x^T W x  (rows of a 2-D X),      tr(W X_t)  (matrices of a 3-D X),      times the trace R

scikit-learn is imported here and nowhere else.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from matrixlearn import Solution, Status, solve
from matrixlearn_meg.learner import MEGLearner
from matrixlearn_meg.losses import loss_of
from matrixlearn_meg.problem import MEGRegression


class MEGRegressor(RegressorMixin, BaseEstimator):
    """min over W >= 0, tr W = R of the mean loss of tr(W X_t) against y_t.

    ``fit`` finds the optimum, with its certificate; ``partial_fit`` learns online, one round a row, from
    where the last call left. A ``partial_fit`` after a ``fit`` starts a stream of its own.

    Parameters
    ----------
    trace : float, default=1.0
        The trace R of W, > 0. Instances are multiplied by it: W_ is R times a density matrix.
    loss : {"square", "absolute", "huber", "logistic"}, default="square"
    delta : float, default=1.0
        Of the Huber loss.
    rate : float or "adaptive", default="adaptive"
        The learning rate of ``partial_fit``, for the density matrix and instances of R X_t.
    tol : float, default=1e-3
        Certified relative gap of ``fit``.
    time_limit : float, optional
        Seconds for ``fit``; the best matrix so far serves after that, with a ConvergenceWarning.

    Attributes
    ----------
    W_ : ndarray, shape (d, d)
        The matrix, R times a density matrix.
    solution_ : matrixlearn.Solution
        After ``fit`` only: the certificate.
    learner_ : MEGLearner
        After ``partial_fit`` only: the online state, with its meter.
    n_iter_ : int
        Iterations of ``fit``.
    t_ : int
        Rounds of ``partial_fit``.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_meg import MEGRegressor
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> MEGRegressor(tol=1e-6).fit(X, [0.8, 0.2, 1.6]).W_.round(3)
    array([[0.8, 0.3],
           [0.3, 0.2]])
    """

    def __init__(
        self,
        *,
        trace: float = 1.0,
        loss: str = "square",
        delta: float = 1.0,
        rate: float | str = "adaptive",
        tol: float = 1e-3,
        time_limit: float | None = None,
    ) -> None:
        self.trace = trace
        self.loss = loss
        self.delta = delta
        self.rate = rate
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MEGRegressor:
        """The optimum over a finite set.

        Parameters
        ----------
        X : array-like, shape (T, d) or (T, d, d)
            Vectors x_t for x_t x_t^T, or square matrices, through their Hermitian part; these may be complex.
        y : array-like, shape (T,)
        sample_weight : array-like, shape (T,), optional
            What each row counts in the mean, >= 0: a row of weight 2 is one that is there twice, a row of weight 0 is
            not there.

        Returns
        -------
        self
        """
        X, y = self._validated(X, y, reset=True)
        if sample_weight is not None:
            if not np.any(np.asarray(sample_weight) != 0):
                msg = "sample_weight is zero for every row; at least one row must count"
                raise ValueError(msg)
            sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
        problem = MEGRegression(self._scaled(X), y, self.loss, self.delta, sample_weight)
        solution: Solution = solve(problem, tol=self.tol, time_limit=self.time_limit)
        if solution.status is not Status.OPTIMAL:
            msg = f"fit {solution.status}: gap {solution.gap:.2e}, {solution.status.advice}"
            warnings.warn(msg, ConvergenceWarning, stacklevel=2)
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.W_ = self.trace * np.asarray(solution.matrix)
        self.__dict__.pop("learner_", None)
        return self

    def partial_fit(self, X: Any, y: Any) -> MEGRegressor:
        """One online round for each row, in order.

        Parameters
        ----------
        X : array-like, shape (T, d) or (T, d, d)
        y : array-like, shape (T,)

        Returns
        -------
        self
        """
        first = not hasattr(self, "learner_")
        X, y = self._validated(X, y, reset=first)
        if first:
            self.learner_ = MEGLearner(X.shape[1], self.rate, loss=loss_of(self.loss, self.delta))
        self.learner_.partial_fit(self._scaled(X), y)
        self.t_ = self.learner_.rounds
        self.W_ = self.trace * self.learner_.W
        self.__dict__.pop("solution_", None)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """tr(W X_t), shape (T,)."""
        check_is_fitted(self, "W_")
        X = self._validated(X, None, reset=False)[0]
        if X.ndim == 2:
            return np.sum((X @ self.W_) * X, axis=1)
        return np.real(X.reshape(len(X), -1) @ self.W_.T.reshape(-1))

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        """R X_t."""
        return X * (self.trace if X.ndim == 3 else np.sqrt(self.trace))

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[np.ndarray, Any]:
        if not (isinstance(self.trace, int | float | np.number) and 0 < self.trace < np.inf):
            msg = f"trace must be a positive number, got {self.trace!r}"
            raise ValueError(msg)
        three = getattr(X, "ndim", None) == 3 or (isinstance(X, list | tuple) and np.ndim(X) == 3)
        if not three:
            if y is None and not reset:
                return validate_data(self, X, reset=False, dtype=np.float64), None
            return validate_data(self, X, y, reset=reset, y_numeric=True, dtype=np.float64)
        X = _checked_matrices(X)
        if X.shape[1] != X.shape[2]:
            msg = f"X must hold square matrices, got shape {X.shape}"
            raise ValueError(msg)
        if reset:
            self.n_features_in_ = X.shape[1]
        elif X.shape[1] != self.n_features_in_:
            msg = f"X has matrices of side {X.shape[1]}, but MEGRegressor was fitted with {self.n_features_in_}"
            raise ValueError(msg)
        if y is not None:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            if y.shape != (len(X),):
                msg = f"y must have shape ({len(X)},), got {y.shape}"
                raise ValueError(msg)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.regressor_tags.poor_score = True  # predictions of linear data by a quadratic form
        return tags


def _checked_matrices(X: Any) -> np.ndarray:
    """Finite matrices, real or complex, (T, d, d); scikit-learn's check refuses complex ones."""
    X = np.asarray(X)
    if not np.iscomplexobj(X):
        return np.asarray(check_array(X, allow_nd=True, dtype=np.float64))
    real, imaginary = (check_array(part, allow_nd=True, dtype=np.float64) for part in (X.real, X.imag))
    return np.asarray(real + 1j * imaginary)
