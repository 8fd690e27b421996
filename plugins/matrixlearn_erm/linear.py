"""The base class of the two estimators: validation, the constant feature, one certified solve.

scikit-learn is imported here, in `regressor` and `classifier`, and nowhere else.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from matrixlearn import Solution, Status, solve
from matrixlearn.penalties import ElasticNet
from matrixlearn_erm.problem import ERM


class LinearERM(BaseEstimator):
    """A linear model whose weights solve an `ERM`, with a certificate."""

    def __init__(
        self,
        *,
        loss: Any,
        ridge: float,
        l1: float,
        fit_intercept: bool,
        intercept_scaling: float,
        method: str,
        tol: float,
        max_iter: int | None,
        time_limit: float | None,
        random_state: Any,
    ) -> None:
        self.loss = loss
        self.ridge = ridge
        self.l1 = l1
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state

    def _validated(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> tuple[Any, Any, Any]:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, **options)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.fit_intercept and not 0 < self.intercept_scaling < np.inf:
            msg = f"intercept_scaling must be a positive number, got {self.intercept_scaling!r}"
            raise ValueError(msg)
        return X, y, sample_weight

    def _rows(self, X: Any) -> Any:
        """The rows, with the constant feature after them."""
        if not self.fit_intercept:
            return X
        column = np.full((X.shape[0], 1), float(self.intercept_scaling))
        return sp.csr_array(sp.hstack([X, column])) if sp.issparse(X) else np.hstack([X, column])

    def _solved(self, rows: Any, b: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, float, Solution]:
        """Weights, intercept, and the solution."""
        problem = ERM(rows, b, self.loss, ElasticNet(self.ridge, self.l1), sample_weight)
        solution: Solution = solve(
            problem,
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            random_state=self.random_state,
        )
        if solution.status is not Status.OPTIMAL:
            msg = f"fit {solution.status}: gap {solution.gap:.2e}, {solution.status.advice}"
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)
        x = np.asarray(solution.matrix)
        if not self.fit_intercept:
            return x, 0.0, solution
        return x[:-1], float(x[-1]) * self.intercept_scaling, solution

    def _products(self, X: Any) -> np.ndarray:
        """X coef' + intercept, shape (n, k) or (n,)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
