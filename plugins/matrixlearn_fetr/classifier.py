"""FETR for classes, in scikit-learn's form: logistic loss, tasks with rows of their own or classes as tasks."""

from __future__ import annotations

import numpy as np

from matrixlearn.multitask import MultitaskClassifier
from matrixlearn_fetr.estimator import ByCrossValidation, Fixed, Relations
from matrixlearn_fetr.training import LogisticTraining


class Around(Relations, MultitaskClassifier):
    """One whose shared mean w_0, where it has one, predicts the tasks that ``fit`` did not see."""

    training = LogisticTraining

    @property
    def _common(self) -> tuple[np.ndarray, float] | None:
        if self._around != "shared":
            return None
        return (self.mean_[:-1], float(self.mean_[-1])) if self.fit_intercept else (self.mean_, 0.0)


class FETRClassifier(Fixed, Around):
    """min over W, S1, S2 of sum log(1 + exp(-y w_i . x)) + eta tr(S1 V S2 V^T) - eta (m log det S1 + d log det S2).

    The tasks are those of the rows, with two classes; or the columns of an indicator matrix (several labels a row);
    or the classes, each against the rest. V and the bounds are those of `FETRRegressor`.

    Parameters
    ----------
    eta : float, default=1.0
        Weight of the prior, > 0.
    lower, upper : float, default=1e-3, 1e3
        0 < lower <= upper, the bounds of the eigenvalues of both precision matrices.
    mean : {"auto", "shared", "zero"}, default="auto"
        As in `FETRRegressor`. A shared mean has no prior: one that separates the classes runs to infinity.
    fit_intercept : bool, default=True
        Append a column of ones to X, under the prior like any feature.
    method, tol, max_iter, task_column
        As in `FETRRegressor`.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    coef_ : ndarray, shape (m, d)
    intercept_ : ndarray, shape (m,)
    mean_, feature_covariance_, feature_relations_
        As in `FETRRegressor`, the column of ones last.
    task_covariance_, task_relations_ : ndarray, shape (m, m)
    solution_ : matrixlearn.Solution
    n_iter_ : int
    tasks_ : ndarray, shape (m,), or None
        The labels, where ``fit`` was given ``task``.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_fetr import FETRClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> FETRClassifier(eta=0.1).fit(X, ["no", "no", "yes", "yes"]).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """


class FETRClassifierCV(ByCrossValidation, Around):
    """`FETRClassifier` with eta and the bounds chosen by cross-validation.

    By the mechanism of `FETRRegressorCV`; judged by the mean log loss of each task, averaged over tasks.

    Parameters
    ----------
    etas, bounds, cv, random_state, path_tol
        As in `FETRRegressorCV`.
    mean, fit_intercept, method, tol, max_iter, task_column
        As in `FETRClassifier`.

    Attributes
    ----------
    eta_, lower_, upper_ : float
        The choice.
    error_path_ : ndarray, shape (n_bounds, n_etas, n_folds)
        Mean log losses.
    classes_, coef_, intercept_, mean_, feature_covariance_, task_covariance_, feature_relations_, task_relations_,
    solution_, n_iter_, tasks_, n_features_in_
        As in `FETRClassifier`, fitted to all rows.
    """
