"""Classification by a certified `ERM`, in scikit-learn's form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from matrixlearn.losses import Logistic, loss_named
from matrixlearn_erm.linear import LinearERM


def _has_probabilities(model: Any) -> bool:
    """Whether the loss is the logistic one."""
    return isinstance(loss_named(model.loss), Logistic)


class ERMClassifier(ClassifierMixin, LinearERM):
    """min over x of ridge ||x||^2 / 2 + l1 ||x||_1 + mean loss of a.x against -1 and 1, to a certified gap.

    More than two classes: one such problem for each class against the rest, and a certificate for each.

    Parameters
    ----------
    loss : str or matrixlearn.losses.Loss, default="logistic"
        "logistic", "hinge", "smoothed-hinge(gamma=0.5)", "squared-hinge", "square", or an object.
    ridge, l1 : float, default=1e-3 and 0
        Weights of the penalty, which stands beside the *mean* loss: scikit-learn's C is 1 / (n ridge).
    fit_intercept : bool, default=True
        A constant feature, penalised like every other.
    intercept_scaling : float, default=1.0
        The constant: the larger, the less is an intercept penalised.
    method : str, default="auto"
        An engine of ``matrixlearn.methods``.
    tol : float, default=1e-6
        Certified relative gap.
    max_iter : int, optional
        Iterations of the engine.
    time_limit : float, optional
        Seconds for each problem; the best weights so far serve after that, with a ConvergenceWarning.
    random_state : int, Generator or RandomState, optional
        Seeds an engine that draws.

    Attributes
    ----------
    classes_ : ndarray, shape (k,)
    coef_ : ndarray, shape (1, d), or (k, d) for k > 2 classes
    intercept_ : ndarray, shape (1,) or (k,)
    solutions_ : list of matrixlearn.Solution
        The certificates, one a row of ``coef_``.
    n_iter_ : int
        Iterations, of the longest of them.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_erm import ERMClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = ERMClassifier(loss="hinge", ridge=0.1).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-3.0], [0.5]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        *,
        loss: Any = "logistic",
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ERMClassifier:
        """Solve for the weights.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
        y : array-like, shape (n,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like, shape (n,), optional
            What each row counts in the mean, >= 0.

        Returns
        -------
        self
        """
        X, y, sample_weight = self._validated(X, y, sample_weight)
        check_classification_targets(y)
        counting = y if sample_weight is None else y[sample_weight > 0]
        self.classes_ = np.unique(counting)
        if len(self.classes_) < 2:
            msg = f"y must hold two classes or more, got one class only: {self.classes_.tolist()}"
            raise ValueError(msg)
        rows = self._rows(X)
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        parts = [self._solved(rows, np.where(y == label, 1.0, -1.0), sample_weight) for label in positive]
        self.coef_ = np.stack([part[0] for part in parts])
        self.intercept_ = np.array([part[1] for part in parts])
        self.solutions_ = [part[2] for part in parts]
        self.n_iter_ = max(1, *(part[2].iterations for part in parts))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """X coef' + intercept, shape (n,) for two classes, else (n, k)."""
        scores = self._products(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, shape (n,)."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> np.ndarray:
        """1 / (1 + exp(-score)), scaled to the sum 1 over more than two classes, shape (n, k)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        shares = expit(scores)
        return shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
