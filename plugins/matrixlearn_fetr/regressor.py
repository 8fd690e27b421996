"""FETR's regression in scikit-learn's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrixlearn.multitask import MultitaskRegressor
from matrixlearn_fetr.estimator import ByCrossValidation, Fixed, Relations
from matrixlearn_fetr.training import SquaredTraining


class AroundMean(Relations, MultitaskRegressor):
    """One whose shared mean w_0, where it has one, predicts the tasks that ``fit`` did not see."""

    @property
    def _common(self) -> tuple[np.ndarray, float] | None:
        return (self.mean_, float(np.mean(self.intercept_))) if self._around == "shared" else None


class FETRRegressor(Fixed, AroundMean):
    """min over W, S1, S2 of sum_i ||y_i - X_i w_i||^2 + eta tr(S1 V S2 V^T) - eta (m log det S1 + d log det S2).

    With lower I <= S1, S2 <= upper I; V = W - w_0 1^T for a shared mean, V = W for none. Bounds and covariances
    depend on the units of features and targets: standardize both.

    Parameters
    ----------
    eta : float, default=1.0
        Weight of the prior, > 0.
    lower, upper : float, default=1e-3, 1e3
        0 < lower <= upper, the bounds of the eigenvalues of both precision matrices.
    mean : {"auto", "shared", "zero"}, default="auto"
        Around what the weights of the tasks scatter: a mean that is learned too, or 0, as published. "auto" is
        "shared" where rows have tasks (one target, several populations), "zero" where targets share their rows.
    fit_intercept : bool, default=True
        An intercept for each task, free of the prior. False where X has a column of ones.
    method : str, default="auto"
        An engine of `FETR`: "joint", or "alternating" as published.
    tol : float, default=1e-6
        Certified relative gap at which the point counts as stationary.
    max_iter : int, default=300
        A ConvergenceWarning where they do not suffice.
    task_column : int or str, optional
        The column of X that holds the task of each row, by place, or by name in a data frame: for what hands over X and
        y alone, as ``cross_val_predict``, scorers and ``permutation_importance`` do. ``task`` must be None then.

    Attributes
    ----------
    coef_ : ndarray, shape (m, d) or (d,)
    intercept_ : ndarray, shape (m,), or float
    mean_ : ndarray, shape (d,)
        w_0; zeros where the mean is zero.
    feature_covariance_, task_covariance_ : ndarray, shapes (d, d) and (m, m)
        S1^-1 and S2^-1. Where d and m differ, the best pair has one of them at a bound, a multiple of the identity:
        the prior acts through products of their eigenvalues, and the larger log-det takes what it can.
    feature_relations_, task_relations_ : ndarray, shapes (d, d) and (m, m)
        Correlations of features and of tasks that those products imply, on both sides.
    solution_ : matrixlearn.Solution
        The certificate.
    n_iter_ : int
    tasks_ : ndarray, shape (m,), or None
        The labels, where ``fit`` was given ``task``.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_fetr import FETRRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, w = rng.standard_normal((60, 5)), rng.standard_normal(5)
    >>> task = np.repeat(["a", "b", "c"], 20)
    >>> y = X @ w + 0.1 * rng.standard_normal(60)
    >>> model = FETRRegressor(eta=0.1).fit(X, y, task)
    >>> bool(np.abs(model.mean_ - w).max() < 0.1), str(model.solution_.status)
    (True, 'stationary')
    """

    training = SquaredTraining


class FETRRegressorCV(ByCrossValidation, AroundMean):
    """`FETRRegressor` with eta and the bounds chosen by cross-validation, or with the strengths of a mixed model.

    For each pair of bounds the etas are solved in ascending order, each from the last one's solution, and so is the
    final fit up to the chosen eta: a large eta leaves a point where the precisions are at their upper bound, which
    holds the weights at their mean whatever eta comes next. Judged by the normalized mean squared error: that of each
    task over its variance, averaged over tasks.

    A grid of maxima over weights and covariances together over-fits where tasks have few rows. Beside it stand mixed
    models, intercepts and slopes scattering around a shared mean, whose variances maximize the restricted likelihood
    (REML); the errors on held-out rows choose. The weights are then those of FETR with both precisions fixed, a
    convex problem, in the features that whiten the prior.

    Parameters
    ----------
    etas : sequence of float, default=(0.01, 0.1, 1, 10, 100, 1000)
    bounds : sequence of (lower, upper), default=((1e-3, 1e3), (1e-1, 1e1))
    cv : int, splitter or iterable, default=5
        A number of folds, dealt at random within each task; or what scikit-learn accepts, its groups being the
        tasks.
    random_state : int, RandomState or None, default=0
        Deals the folds.
    path_tol : float, default=1e-4
        The gap to which all but the last fit are solved, where it is above ``tol``. On School held-out errors near the
        least are then within 3e-4 of where 1e-6 takes them; folds differ by a hundred times that.
    structures : sequence of str, default=("isotropic", "diagonal", "full")
        Covariances of the mixed models: one variance for all slopes and one for intercepts; one for each feature;
        any, up to 40 features. () for the grid alone; ``mean="zero"`` has none.
    mean, fit_intercept, method, tol, max_iter, task_column
        As in `FETRRegressor`; ``method`` is for the grid.

    Attributes
    ----------
    eta_, lower_, upper_ : float
        The choice; 1 for a mixed model, in its own features.
    structure_ : str or None
        The mixed model that was chosen; None for the grid.
    structure_errors_ : dict of ndarray, shape (n_folds,)
        Normalized mean squared errors of the mixed models.
    error_path_ : ndarray, shape (n_bounds, n_etas, n_folds)
        Normalized mean squared errors of the grid; the variance within all tasks counts as ten rows of each.
    coef_, intercept_, mean_, feature_covariance_, task_covariance_, feature_relations_, task_relations_, solution_,
    n_iter_, tasks_, n_features_in_
        As in `FETRRegressor`, fitted to all rows.
    """

    training = SquaredTraining

    def __init__(
        self,
        *,
        etas: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
        bounds: Sequence[tuple[float, float]] = ((1e-3, 1e3), (1e-1, 1e1)),
        structures: Sequence[str] = ("isotropic", "diagonal", "full"),
        cv: Any = 5,
        random_state: Any = 0,
        mean: str = "auto",
        fit_intercept: bool = True,
        method: str = "auto",
        tol: float = 1e-6,
        path_tol: float = 1e-4,
        max_iter: int = 300,
        task_column: int | str | None = None,
    ) -> None:
        super().__init__(
            etas=etas,
            bounds=bounds,
            cv=cv,
            random_state=random_state,
            mean=mean,
            fit_intercept=fit_intercept,
            method=method,
            tol=tol,
            path_tol=path_tol,
            max_iter=max_iter,
            task_column=task_column,
        )
        self.structures = structures
