"""Regression by a certified `ERM`, in scikit-learn's form."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from matrixlearn_erm.linear import LinearERM


class ERMRegressor(RegressorMixin, LinearERM):
    """min over x of ridge ||x||^2 / 2 + l1 ||x||_1 + mean loss of a.x against y, to a certified gap.

    Parameters
    ----------
    loss : str or matrixlearn.losses.Loss, default="square"
        "square", "huber", "huber(delta=0.5)", "absolute", or an object.
    ridge, l1 : float, default=1e-3 and 0
        Weights of the penalty, which stands beside the *mean* loss: scikit-learn's ``Ridge(alpha)`` is alpha / n here.
    fit_intercept : bool, default=True
        A constant feature, penalised like every other; labels are counted from their mean.
    intercept_scaling : float, default=1.0
        The constant: the larger, the less is an intercept penalised.
    method : str, default="auto"
        An engine of ``matrixlearn.methods``.
    tol : float, default=1e-6
        Certified relative gap.
    max_iter : int, optional
        Iterations of the engine.
    time_limit : float, optional
        Seconds; the best weights so far serve after that, with a ConvergenceWarning.
    random_state : int, Generator or RandomState, optional
        Seeds an engine that draws.

    Attributes
    ----------
    coef_ : ndarray, shape (d,)
    intercept_ : float
    solution_ : matrixlearn.Solution
        The certificate.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_erm import ERMRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> model = ERMRegressor(loss="absolute", ridge=1e-6).fit(X, [1.0, 3.0, 5.0, 0.0])
    >>> model.solution_.gap < 1e-6
    True
    """

    def __init__(
        self,
        *,
        loss: Any = "square",
        ridge: float = 1e-3,
        l1: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            loss=loss, ridge=ridge, l1=l1, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            method=method, tol=tol, max_iter=max_iter, time_limit=time_limit, random_state=random_state,
        )  # fmt: skip

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ERMRegressor:
        """Solve for the weights.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
        y : array-like, shape (n,)
        sample_weight : array-like, shape (n,), optional
            What each row counts in the mean, >= 0.

        Returns
        -------
        self
        """
        X, y, sample_weight = self._validated(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        centre = float(np.average(y, weights=sample_weight)) if self.fit_intercept else 0.0
        self.coef_, intercept, self.solution_ = self._solved(self._rows(X), y - centre, sample_weight)
        self.intercept_ = intercept + centre
        self.n_iter_ = max(1, self.solution_.iterations)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """X coef + intercept, shape (n,)."""
        return self._products(X)
