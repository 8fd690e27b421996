"""Linear and kernel classifiers on a source that is reweighted to look like the target.

    h minimizes  C m sum_i z_i loss(y_i, h(x_i)) + ||h||^2 / 2,     C = 1 / alpha

with z from `Discrepancy` and the logistic or the hinge loss. The discrepancy bounds the squared loss; for these the
weights are the same surrogate that they are for any loss of the difference of two hypotheses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from matrixlearn_discrepancy.estimator import FixedWeights

LOSSES = ("logistic", "hinge")


def _is_logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        msg = "probabilities need loss='logistic'"
        raise AttributeError(msg)
    return True


class DiscrepancyClassifier(ClassifierMixin, FixedWeights, BaseEstimator):
    """min over h of m sum_i z_i loss(y_i, h(x_i)) + alpha / 2 ||h||^2, with z from `Discrepancy`.

    Parameters
    ----------
    loss : {"logistic", "hinge"}, default="logistic"
        Fitted by scikit-learn's LogisticRegression (all classes together) or SVC (one against one).
    kernel, gamma, degree, coef0
        As in `DiscrepancyRegressor`.
    alpha : float, default=1.0
        The ridge, > 0; 1 / C of scikit-learn.
    max_weight : float or None, default=2.0
    uniform_share : float, default=0.5
        As in `DiscrepancyRegressor`; half is what loses least where reweighting does not help.
    method, tol, time_limit
        As in `DiscrepancyRegressor`.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    model_ : LogisticRegression or SVC
        In the coordinates of the kernel for the logistic loss, by its Gram matrix for the hinge.
    weights_, solution_, effective_sample_size_, X_fit_, n_iter_, n_features_in_
        As in `DiscrepancyRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_discrepancy import DiscrepancyClassifier
    >>> X, target = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[0.5], [1.5]])
    >>> DiscrepancyClassifier().fit(X, ["no", "no", "yes", "yes"], X_target=target).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self,
        loss: str = "logistic",
        *,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        alpha: float = 1.0,
        max_weight: float | None = 2.0,
        uniform_share: float = 0.5,
        method: str = "auto",
        tol: float = 1e-3,
        time_limit: float | None = None,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.max_weight = max_weight
        self.uniform_share = uniform_share
        self.method = method
        self.tol = tol
        self.time_limit = time_limit

    def _check(self) -> None:
        super()._check()
        if self.loss not in LOSSES:
            msg = f"loss must be one of {LOSSES}, got {self.loss!r}"
            raise ValueError(msg)

    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = validate_data(self, X, y, dtype=np.float64)
        return X, self._labels(y)

    def _labels(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        return np.asarray(column_or_1d(y, warn=True))

    def _learn(self, X: np.ndarray, y: np.ndarray, factors: np.ndarray) -> None:
        used = factors > 0  # a row without weight may be the only one of its class
        X, y, factors = X[used], y[used], factors[used]
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            msg = (
                f"y must hold two classes or more with a positive weight, got one class, {self.classes_.tolist()[0]!r}"
            )
            raise ValueError(msg)
        self.X_fit_ = X
        if self.loss == "hinge":
            self.model_: Any = SVC(C=1 / self.alpha, kernel="precomputed", tol=1e-9)
            self.model_.fit(self._gram(X, X), y, sample_weight=factors)
            return
        self.model_ = LogisticRegression(C=1 / self.alpha, max_iter=2000)
        if self.kernel == "linear":
            self.model_.fit(X, y, sample_weight=factors)
            return
        values, vectors = np.linalg.eigh(self._gram(X, X))
        kept = values > values[-1] * len(values) * np.finfo(float).eps
        self._map = vectors[:, kept] / np.sqrt(values[kept])  # K(., X) map has the inner products of the kernel
        self.model_.fit(self._gram(X, X) @ self._map, y, sample_weight=factors)

    def _seen(self, X: Any) -> np.ndarray:
        """The points as the model knows them."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if self.loss == "logistic" and self.kernel == "linear":
            return np.asarray(X)
        K = self._gram(X, self.X_fit_)
        return K if self.loss == "hinge" else K @ self._map

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of scikit-learn's model: (n,) for two classes, else (n, n_classes)."""
        points = self._seen(X)
        return np.asarray(self.model_.decision_function(points))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each point, (n,)."""
        points = self._seen(X)
        return np.asarray(self.model_.predict(points))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, (n, n_classes); for the logistic loss."""
        points = self._seen(X)
        return np.asarray(self.model_.predict_proba(points))
